"""In which order plugs are moved, so that each goes into a place that is free when it gets there.

Places depend on each other: a plug can go in when everything that sat in its place is out. Pulled cables come first.
Then each move whose place is free is done, and next the one that waits for the place just left, so a technician walks
along the chain. Where all wait for each other (a cycle), one plug comes out and hangs capped, the chain runs round, and
that plug goes in last: no spare port is needed. New cables come last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from fabricctl.fabric import Port
from fabricctl.repair.model import Move, MoveKind, Socket

Where = Callable[[Socket], tuple[object, ...]]
"""Sort key of a place in the hall."""


def in_sequence(moves: list[Move], where: Where) -> list[Move]:
    """The moves of one component with ``out`` and ``into`` set, in the order their plugs come out."""
    return _Sequencer(moves, where).run()


class _Sequencer:
    def __init__(self, moves: list[Move], where: Where) -> None:
        self.moves, self.where = moves, where
        self.step = 0
        self.out = [0] * len(moves)
        self.into = [0] * len(moves)
        sitting: dict[Port, int] = {}
        for index, move in enumerate(moves):
            if move.source is not None:
                sitting.update(dict.fromkeys(move.source.ports, index))
        self.waits: list[set[int]] = []
        self.frees: dict[int, list[int]] = defaultdict(list)
        for index, move in enumerate(moves):
            ports = move.target.ports if move.target is not None else ()
            blockers = {sitting[port] for port in ports if port in sitting} - {index}
            self.waits.append(blockers)
            for blocker in sorted(blockers):
                self.frees[blocker].append(index)

    def run(self) -> list[Move]:
        kinds = (MoveKind.PULL, MoveKind.MOVE, MoveKind.NEW)
        whole: dict[int, tuple[object, ...]] = {}  # plugs of one cable that is pulled or laid stay together
        for index, move in enumerate(self.moves):
            if move.kind is not MoveKind.MOVE:
                whole[id(move.cable)] = min(whole.get(id(move.cable), self.key(index)), self.key(index))
        order = sorted(
            range(len(self.moves)),
            key=lambda n: (
                kinds.index(self.moves[n].kind),
                whole.get(id(self.moves[n].cable), ()),
                *self.key(n),
            ),
        )
        for index in order:
            if self.moves[index].kind is MoveKind.PULL:
                self.take(index, [])
        chain = [n for n in reversed(order) if self.moves[n].kind is MoveKind.MOVE and not self.waits[n]]
        lifts = [n for n in order if self.moves[n].kind is MoveKind.MOVE]
        lifts.sort(key=lambda n: (len(self.moves[n].hosts), *self.key(n)))
        self.follow(chain)
        for index in lifts:
            if not self.out[index]:
                self.take(index, chain)  # hangs capped
                self.follow(chain)
        for index in order:
            if self.moves[index].kind is MoveKind.NEW:
                self.step += 1
                self.into[index] = self.step
        done = [replace(m, out=o, into=i) for m, o, i in zip(self.moves, self.out, self.into, strict=True)]
        return sorted(done, key=lambda move: move.out or move.into)

    def follow(self, chain: list[int]) -> None:
        """Do what can be done, the place just left first."""
        while chain:
            index = chain.pop()
            if self.into[index]:
                continue
            if self.out[index]:
                self.step += 1
                self.into[index] = self.step
            else:
                self.take(index, chain)
                self.into[index] = self.out[index]

    def take(self, index: int, chain: list[int]) -> None:
        """A plug comes out; those that waited only for it are next."""
        self.step += 1
        self.out[index] = self.step
        for waiting in self.frees[index]:
            self.waits[waiting].discard(index)
            if not self.waits[waiting] and self.moves[waiting].kind is MoveKind.MOVE:
                chain.append(waiting)

    def key(self, index: int) -> tuple[object, ...]:
        """Place in the hall: by source, then target."""
        move = self.moves[index]
        socket = move.source or move.target
        assert socket is not None
        return self.where(socket)
