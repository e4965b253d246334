"""Hosts that jobs may run on, by the node record, for papers that send people to them.

A paper warns and does not refuse. What changes hardware itself calls ``fabricctl.nodes.transitions.guard`` instead.
Nothing here is imported before a store exists: SQLAlchemy is not needed to write a work order.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import ENVIRONMENT, find_location
from fabricctl.errors import StateError
from fabricctl.nodes.model import NodeState

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


@dataclass(frozen=True, slots=True)
class Record:
    """What the node record says. :param states: host -> state; :param doubt: why it could not be read, or empty."""

    states: Mapping[str, NodeState] = field(default_factory=dict)
    doubt: str = ""


def read_states(site: Site | None, state: str = "") -> Record:
    """States of all recorded hosts; none where no store is at hand, or the site's was never written.

    :param state: text of ``--state``. :raises UsageError: what names a store cannot be used.
    :raises StateError: the store that ``--state`` names cannot be read.
    """
    if site is None and not state and not os.environ.get(ENVIRONMENT):
        return Record()
    location = find_location(
        state,
        site_name=site.name if site is not None else "",
        site_url=site.state.url if site is not None and site.state is not None else "",
        site_path=site.path if site is not None else "",
    )
    if not state and not location.written:
        return Record()
    from fabricctl.adapters.store.store import open_store

    try:
        with open_store(location, site=site.name if site is not None else "", create=False) as store:
            return Record({name: record.state for name, record in store.nodes.all().items()})
    except StateError as exc:
        if state:
            raise
        return Record(doubt=f"the node record could not be read, so hosts in service are not named: {exc}")
