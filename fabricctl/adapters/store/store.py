"""The state store of a site: what later steps open.

::

    with open_store(find_location("", site_name=site.name), site=site.name) as store:
        records = store.nodes.all(["gpu001"])
        changes = plan_transitions({n: (r.state, r.version) for n, r in records.items()}, NodeState.DRAINING)
        store.nodes.change_states(changes, who=who, reason="fan tray", now=now)

Every method is one short transaction: all of it is there, or nothing. Threads may share a store; a process opens its
own. Errors are those of ``StateError`` and, where said, ``UsageError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fabricctl.adapters.store.engine import BUSY_S, Database
from fabricctl.adapters.store.events import EventStore
from fabricctl.adapters.store.facts import FactStore
from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.migrate import prepare
from fabricctl.adapters.store.nodes import NodeStore
from fabricctl.adapters.store.pins import PinStore
from fabricctl.adapters.store.runs import RunStore


class Store:
    """An open state store.

    :param runs: recorded verdicts and their findings; :param nodes: node records; :param events: every change.
    :param facts: what is known of the nodes' parts; :param pins: recorded certificates of BMCs.
    """

    def __init__(self, database: Database) -> None:
        self.location = database.location
        self.runs = RunStore(database)
        self.nodes = NodeStore(database)
        self.events = EventStore(database)
        self.facts = FactStore(database)
        self.pins = PinStore(database)


@contextmanager
def open_store(
    location: Location, *, site: str = "", create: bool = True, busy_s: float = BUSY_S
) -> Iterator[Store]:
    """Open a state store, making or upgrading its tables first.

    :param site: name of the site it must belong to; a store without a site is given this one. Empty asks nothing.
    :param create: make the file when it is not there; :param busy_s: longest wait for another writer.
    :raises StateError: it cannot be opened, belongs to another site, is damaged, or was written by a newer version.
    """
    database = Database(location, create=create, busy_s=busy_s)
    try:
        prepare(database, site)
        database.to_wal()
        yield Store(database)
    finally:
        database.close()
