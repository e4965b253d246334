"""From a group of moves to steps that can be done one after the other.

A place holds one plug. Cables to pull come out first. Then every plug goes whose place is free, and after it the one
that waited for the place just left. When only rings are left (a goes where b is, b where c is, c where a is), one plug
of a ring is taken out, capped and left hanging; the others follow into the places just freed, and the hanging one goes
last into the place its predecessor left. So no spare port is needed, and one plug hangs per ring. New cables go in
last. Linear in the moves but for sorting.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricctl.fabric import Port
from fabricctl.repair.model import Assembly, Move, MoveKind, Socket


@dataclass(frozen=True, slots=True)
class Job:
    """What becomes one step: one plug to move, or all plugs of a cable to pull or to lay."""

    moves: tuple[Move, ...]

    @property
    def kind(self) -> MoveKind:
        """What is done."""
        return self.moves[0].kind

    @property
    def cable(self) -> Assembly:
        """The cable."""
        return self.moves[0].cable

    def frees(self) -> Iterable[Port]:
        """Ports that are empty when it is done."""
        return (port for move in self.moves if move.source is not None for port in move.source.ports)

    def takes(self) -> Iterable[Port]:
        """Ports that must be empty before it is done."""
        return (port for move in self.moves if move.target is not None for port in move.target.ports)


@dataclass(slots=True)
class Placed:
    """A job in its turn. :param clears: jobs whose plug is taken out first and hangs until its own turn."""

    job: Job
    clears: list[Job] = field(default_factory=list)
    hangs: bool = False
    """Its plug was taken out for an earlier one."""


Key = Callable[[Job], Any]


def jobs_of(moves: Sequence[Move]) -> list[Job]:
    """One job per plug to move, and one per cable to pull or to lay."""
    whole: dict[tuple[MoveKind, Socket], list[Move]] = {}
    jobs = []
    for move in moves:
        if move.kind is MoveKind.MOVE:
            jobs.append(Job((move,)))
        else:
            whole.setdefault((move.kind, move.cable.plugs[0].socket), []).append(move)
    return jobs + [Job(tuple(sorted(group, key=lambda m: m.plug))) for group in whole.values()]


def sequence(jobs: Sequence[Job], key: Key) -> list[Placed]:
    """Jobs of one group in an order in which each finds its place free.

    :param key: sorts jobs by where they are; of two that could be done it says which comes first.
    """
    return _Sequencer(sorted(jobs, key=key), key).run()


class _Sequencer:
    def __init__(self, jobs: list[Job], key: Key) -> None:
        self.jobs, self.key = jobs, key
        self.holder = {port: at for at, job in enumerate(jobs) for port in job.frees()}
        """Port -> index of the job whose plug is in it."""
        self.blockers: list[set[int]] = []
        self.blocks: dict[int, list[int]] = defaultdict(list)
        for at, job in enumerate(jobs):
            held = {self.holder[port] for port in job.takes() if port in self.holder} - {at}
            self.blockers.append(held)
            for other in held:
                self.blocks[other].append(at)
        self.placed: list[Placed] = []
        self.done: set[int] = set()
        self.hanging: set[int] = set()
        self.told: set[int] = set()
        self.ready: list[int] = []

    def run(self) -> list[Placed]:
        moves = [at for at, job in enumerate(self.jobs) if job.kind is MoveKind.MOVE]
        for at, job in enumerate(self.jobs):
            if job.kind is MoveKind.PULL:
                self.place(at)
        self.ready = [at for at in reversed(moves) if not self.blockers[at]]
        lowest = 0
        while True:
            while self.ready:
                at = self.ready.pop()
                if at not in self.done:
                    self.place(at)
            while lowest < len(moves) and moves[lowest] in self.done | self.hanging:
                lowest += 1
            if lowest == len(moves):
                break
            self.hang(moves[lowest])
        for at, job in enumerate(self.jobs):
            if at not in self.done:
                assert job.kind is MoveKind.NEW, "every move finds its place in the end"
                self.place(at)
        return self.placed

    def place(self, at: int) -> None:
        """Its turn."""
        job = self.jobs[at]
        out = {
            self.holder[port] for port in job.takes() if port in self.holder
        } & self.hanging - self.told - {at}
        self.told |= out
        self.placed.append(Placed(job, [self.jobs[other] for other in sorted(out)], at in self.hanging))
        self.done.add(at)
        if at not in self.hanging:
            self.free(at)

    def free(self, at: int) -> None:
        """The places of a job are empty now; what waited for them may go, the first by place first."""
        released = []
        for other in self.blocks[at]:
            self.blockers[other].discard(at)
            if not self.blockers[other] and self.jobs[other].kind is MoveKind.MOVE and other not in self.done:
                released.append(other)
        self.ready.extend(sorted(released, reverse=True))

    def hang(self, start: int) -> None:
        """Take out a plug of the ring that keeps ``start`` waiting: the first of the ring by place."""
        path: list[int] = []
        at = start
        seen: dict[int, int] = {}
        while at not in seen:
            seen[at] = len(path)
            path.append(at)
            at = min(self.blockers[at])
        ring = path[seen[at] :]
        first = min(ring)
        self.hanging.add(first)
        self.free(first)
