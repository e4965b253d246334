"""Keeping what is changed on hardware: who, when, why, before, after."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from fabricctl.nodes.model import Event, EventKind

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location
    from fabricctl.adapters.store.store import Store

Move = tuple[str, str]
"""What something was, and what is known of it now."""


class Begun(Protocol):
    """What was begun together, and can be told what became of it."""

    def tell(self, afters: Sequence[str]) -> None:
        """What is known now, one text for each of the moves it was begun with. The last word stands."""
        ...


class Record(Protocol):
    """Keeps changes of hosts, from before they are sent."""

    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:
        """Keep what is about to be done, at once. :raises StateError: it cannot be kept, so it must not be done."""
        ...


class _Forget:
    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:  # noqa: ARG002
        return self

    def tell(self, afters: Sequence[str]) -> None:
        pass


FORGET: Record = _Forget()
"""Keeps nothing: where somebody else keeps the record."""


@dataclass(frozen=True)
class Journal:
    """The events of a site's store.

    A change is one event. It is written before the command leaves, so that a process killed at any instant leaves word
    of what it may have done, and its last column follows what is known: sent, accepted, read back.

    :param store: open for as long as the journal is used; :param reason: why; :param forced: hosts for which a guard
        was overridden.
    """

    store: Store
    reason: str
    forced: Collection[str] = ()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:
        """Keep what is about to be done. :raises StateError: it cannot be kept."""
        from fabricctl.workflows.state_place import operator

        at, who, forced = self.now(), operator(), host in self.forced
        about = [Event(kind, host, at, who, self.reason, before, after, forced) for before, after in moves]
        return _Kept(self.store, tuple(self.store.events.begin(about)))


@dataclass(frozen=True)
class _Kept:
    store: Store
    numbers: tuple[int, ...]

    def tell(self, afters: Sequence[str]) -> None:
        """Write what is known now. :raises StateError: it cannot be kept; what was kept last still stands."""
        self.store.events.tell(dict(zip(self.numbers, afters, strict=True)))


def resumed(store: Store, event: Event) -> Begun:
    """An event that another process began, to tell what came of it. :param event: as it was read."""
    return _Kept(store, (event.number,))


@contextmanager
def open_journal(
    location: Location, site_name: str, reason: str, forced: Collection[str] = ()
) -> Iterator[Journal]:
    """A journal over one open store, for one command. :raises StateError: the store cannot be used."""
    from fabricctl.adapters.store.store import open_store

    with open_store(location, site=site_name) as store:
        yield Journal(store, reason, forced)
