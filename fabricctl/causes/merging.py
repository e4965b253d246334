"""What was taken as two acts and is one: a whole switch in another's place, seen in two halves.

Another cause on top of it (a unit's uplinks exchanged with another unit's) hides one half until it is taken. By then
the halves are found one by one: host cables of A and B, and uplinks of the places that A's and B's were sent to.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from fabricctl.causes.candidate import Candidate
from fabricctl.causes.layout import ALL, Layout
from fabricctl.causes.model import CauseKind
from fabricctl.fabric import Port


@dataclass(slots=True)
class Taken:
    """A candidate that was taken.

    :param moved: numbers of the cables it moved; :param explained: of those, the ones it explains by itself.
    :param rival: another story of the same.
    """

    candidate: Candidate
    moved: list[int]
    explained: list[int]
    rival: Candidate | None = None


def as_whole_switches(taken: list[Taken], layout: Layout) -> list[Taken]:
    """The same causes, two halves of one exchange of switches made one."""
    halves = [at for at, one in enumerate(taken) if _is_half(one.candidate, layout)]
    merged: dict[int, Taken] = {}
    gone: set[int] = set()
    for first, second in combinations(halves, 2):
        if not {first, second} & gone:
            one = _whole(taken, first, second, layout)
            if one is not None:
                merged[first] = one
                gone |= {first, second}
    return [merged.get(at, one) for at, one in enumerate(taken) if at not in gone or at in merged]


def _is_half(one: Candidate, layout: Layout) -> bool:
    pair = one.pairs[0] if len(one.pairs) == 1 else ()
    sides = [block.side for block in layout.sides(pair[0])] if len(pair) == 2 else []
    return (
        one.kind is CauseKind.BUNDLES_EXCHANGED
        and one.wraps
        and not one.far
        and len(sides) == 2
        and one.side in sides
    )


def _whole(taken: list[Taken], first: int, second: int, layout: Layout) -> Taken | None:
    a, b = taken[first], taken[second]
    if a.candidate.side == b.candidate.side:
        return None
    for pair in (a.candidate.pairs[0], b.candidate.pairs[0]):
        sent = [
            {_sent(taken[:at], key, taken[at].candidate.side, layout) for key in pair}
            for at in (first, second)
        ]
        if sent != [set(a.candidate.pairs[0]), set(b.candidate.pairs[0])]:
            continue
        one, two = pair
        ports = {number for key in pair for number, _ in layout.ports.get(key, ())}
        moves = {Port(one, n): Port(two, n) for n in ports} | {Port(two, n): Port(one, n) for n in ports}
        candidate = Candidate(CauseKind.WRONG_RACK, moves, tuple(pair), side=ALL, pairs=(tuple(pair),))
        candidate.links = a.candidate.links + b.candidate.links
        candidate.unseen = a.candidate.unseen + b.candidate.unseen
        candidate.impossible = a.candidate.impossible or b.candidate.impossible
        moved = list(dict.fromkeys([*a.moved, *b.moved]))
        return Taken(candidate, moved, [*a.explained, *b.explained])
    return None


def _sent(before: list[Taken], key: str, side: str, layout: Layout) -> str:
    """The device that the causes taken before send a device's plugs of one side to; empty when to several."""
    block = next((block for block in layout.sides(key) if block.side == side), None)
    nodes = set()
    for number in block.ports if block is not None else ():
        port = Port(key, number)
        for one in before:
            port = one.candidate.moves.get(port, port)
        nodes.add(port.node)
    return nodes.pop() if len(nodes) == 1 else ""
