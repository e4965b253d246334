"""What becomes one step: one plug to move, or all plugs of a cable to take out or to lay.

The order inside a group is the solver's (``Move.out`` and ``Move.into``). Where a plug comes out before its place is
free, taking it out is no step of its own: it is what comes first in the step that needs the place, and putting it in is
its own step. So there are as many steps as plugs to move and cables to take out or to lay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabricctl.repair.model import Assembly, Move, MoveKind, Socket


@dataclass(frozen=True, slots=True)
class Job:
    """One step's work: one plug to move, or all plugs of a cable to take out or to lay."""

    moves: tuple[Move, ...]

    @property
    def kind(self) -> MoveKind:
        """What is done."""
        return self.moves[0].kind

    @property
    def cable(self) -> Assembly:
        """The cable."""
        return self.moves[0].cable

    @property
    def turn(self) -> int:
        """When it is done, among the jobs of its group."""
        return max(move.into or move.out for move in self.moves)


@dataclass(slots=True)
class Placed:
    """A job in its turn.

    :param clears: jobs whose plug is taken out first and hangs until its own turn.
    :param hangs: its own plug was taken out for an earlier one.
    """

    job: Job
    clears: list[Job] = field(default_factory=list)
    hangs: bool = False


def jobs_of(moves: Sequence[Move]) -> list[Job]:
    """One job per plug to move, and one per cable to take out or to lay."""
    jobs: list[Job] = []
    whole: dict[tuple[MoveKind, Socket], list[Move]] = {}
    for move in moves:
        if move.kind is MoveKind.MOVE:
            jobs.append(Job((move,)))
        else:
            whole.setdefault((move.kind, move.cable.plugs[0].socket), []).append(move)
    return jobs + [Job(tuple(sorted(group, key=lambda move: move.plug))) for group in whole.values()]


def in_turn(moves: Sequence[Move]) -> list[Placed]:
    """The jobs of one group in the order they are done: cables to take out first, new ones last."""
    rank = {MoveKind.PULL: 0, MoveKind.MOVE: 1, MoveKind.NEW: 2}
    placed = [Placed(job) for job in sorted(jobs_of(moves), key=lambda job: (rank[job.kind], job.turn))]
    turns = [one for one in placed if one.job.kind is MoveKind.MOVE]
    at = 0
    for hanging in sorted(turns, key=lambda one: one.job.moves[0].out):
        out, into = hanging.job.moves[0].out, hanging.job.moves[0].into
        if not 0 < out < into:
            continue
        while turns[at].job.turn < out:
            at += 1
        if turns[at] is not hanging:  # else nothing needs its place: it goes straight to its own
            turns[at].clears.append(hanging.job)
            hanging.hangs = True
    return placed
