"""Keeping how far the logs of nodes were read, as facts of the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.reading import read_store
from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.facts import FactTelling, NodeFact, StoredFact
from fabricctl.workflows.state_place import operator
from provision.bmc.log_marks import FIELD, Mark, latest, mark_of, read_mark
from provision.bmc.logs import LogEntry

Marks = Mapping[str, Mapping[str, Mark]]
"""Host -> log -> mark."""
_SOURCE = "bmc logs --new"


def read_marks(location: Location, site_name: str, hosts: Sequence[str]) -> Marks:
    """Marks of hosts; none where nothing was ever kept. :raises StateError: the store cannot be read."""
    with read_store(location, site_name) as store:
        held = store.facts.current(hosts, field=FIELD) if store is not None else {}
    return {host: _marks(facts) for host, facts in held.items()}


def _marks(facts: Iterable[StoredFact]) -> dict[str, Mark]:
    read = {one.fact.part: read_mark(one.fact.value) for one in facts}
    return {log: mark for log, mark in read.items() if mark is not None}


def keep_marks(location: Location, site_name: str, shown: Iterable[LogEntry], now: datetime) -> None:
    """Remember the newest entry that was shown, of every host and log that had one.

    An entry shown again for its repeats has been counted from the mark on: the sum is what is kept.

    :raises StateError: it cannot be kept.
    """
    newest = latest(shown)
    if not newest:
        return
    before = read_marks(location, site_name, [host for host, _ in newest])
    tellings: dict[str, list[NodeFact]] = {}
    for (host, log), entry in newest.items():
        mark, old = mark_of(entry), before.get(host, {}).get(log)
        if old is not None and (old.id, old.written) == (mark.id, mark.written):
            mark = Mark(mark.id, mark.written, mark.times + old.times, mark.at)
        tellings.setdefault(host, []).append(NodeFact(log, FIELD, mark.value(), _SOURCE))
    with open_store(location, site=site_name) as store:
        store.facts.tell(
            [FactTelling(host, facts) for host, facts in tellings.items()],
            who=operator(),
            reason="logs were read",
            now=now,
        )
