"""A record of changes in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabricctl.nodes.model import EventKind
from provision.workflows.journal import Begun, Move


@dataclass(frozen=True)
class Kept:
    """One event as it stands now."""

    kind: EventKind
    host: str
    before: str
    after: str


class Events:
    """The ``Record`` protocol over a list."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []

    @property
    def moves(self) -> list[Move]:
        return [(event.before, event.after) for event in self.kept]

    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:
        first = len(self.kept)
        self.kept += [Kept(kind, host, before, after) for before, after in moves]
        return _Entry(self, first)

    def tell(self, number: int, after: str) -> None:
        self.kept[number] = replace(self.kept[number], after=after)


@dataclass(frozen=True)
class _Entry:
    events: Events
    first: int

    def tell(self, afters: Sequence[str]) -> None:
        for number, after in enumerate(afters, self.first):
            self.events.tell(number, after)
