"""Keeping what was changed on hardware: who, when, why, before, after."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.model import Event, EventKind
from fabricctl.workflows.history import operator


class Record(Protocol):
    """Keeps one change of one host, at once."""

    def __call__(self, kind: EventKind, host: str, before: str, after: str) -> None:
        """What it was, and what it is now or was told to become."""
        ...


def forget(kind: EventKind, host: str, before: str, after: str) -> None:
    """Keep nothing: where somebody else keeps the record."""


@dataclass(frozen=True)
class Journal:
    """The events of a site's store.

    Each change is written when it happens, not at the end of a run: a command that is killed leaves what it did.

    :param reason: why; :param forced: hosts for which a guard was overridden.
    """

    location: Location
    site_name: str
    reason: str
    forced: Collection[str] = ()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __call__(self, kind: EventKind, host: str, before: str, after: str) -> None:
        """Keep one change. :raises StateError: it cannot be kept."""
        event = Event(kind, host, self.now(), operator(), self.reason, before, after, host in self.forced)
        with open_store(self.location, site=self.site_name) as store:
            store.events.add([event])
