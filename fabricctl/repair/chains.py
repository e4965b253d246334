"""Cables with two plugs: components are alternating cycles and paths, solved by walking them.

Every place holds at most one plug and is wanted by at most one slot, so a cable shares places with at most two slots
and a slot with at most two cables. The most plugs that can stay are those of a maximum matching:

- a cycle of k cables and k slots has two, and k plugs move either way: each cable keeps one end, the same way round;
- a path with as many cables as slots has one;
- a path with one cable too many may pull any one of them, with one slot too many leave any one to a new cable; those
  before it then keep their plugs one way round, those behind it the other.

The choice is made by ``Visits.rank``, in one walk along the path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from fabricctl.repair.cost import Visits, pairings
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.model import Assembly, Socket
from fabricctl.repair.reach import Pair, Reach


@dataclass
class Answer:
    """Who serves what. :param pulled: cables left over; :param laid: slots no cable is left for."""

    pairs: list[Pair] = field(default_factory=list)
    pulled: list[Assembly] = field(default_factory=list)
    laid: list[Assembly] = field(default_factory=list)

    def add(self, other: Answer) -> None:
        """Take in another part's answer."""
        self.pairs += other.pairs
        self.pulled += other.pulled
        self.laid += other.laid


Node = tuple[str, int]
"""A cable (``c``) or a slot (``s``) by its index."""


class Chains:
    """The alternating paths and cycles of one group of two-plug assemblies of one family.

    :param could: device or rack -> how many groups could be mended there.
    """

    def __init__(
        self,
        cables: list[Assembly],
        slots: list[Assembly],
        devices: Devices,
        reach: Reach,
        could: Mapping[str, int] | None = None,
    ) -> None:
        self.cables, self.slots, self.devices, self.reach = cables, slots, devices, reach
        self.could = could or {}
        self.edges: dict[Node, dict[Node, Pair]] = {}
        for index in range(len(cables)):
            self.edges["c", index] = {}
        for index in range(len(slots)):
            self.edges["s", index] = {}
        wanted: dict[Socket, int] = {
            plug.socket: index for index, slot in enumerate(slots) for plug in slot.plugs
        }
        for index, cable in enumerate(cables):
            for near in {wanted[plug.socket] for plug in cable.plugs if plug.socket in wanted}:
                best = max(pairings(cable, slots[near], devices), key=lambda pair: pair.stays, default=None)
                if best is not None and best.stays:
                    self.edges["c", index]["s", near] = best
                    self.edges["s", near]["c", index] = best

    def solve(self, visited: Counter[str]) -> Answer:
        """The best maximum matching of every path and cycle.

        :param visited: devices other components visit; what this one visits is added.
        """
        answer, done = Answer(), set[Node]()
        ends = [node for node, near in self.edges.items() if len(near) < 2]
        for start in (*ends, *self.edges):
            if start not in done:
                walk = self.walk(start)
                done.update(walk)
                answer.add(self.choose(walk, visited))
        return answer

    def walk(self, start: Node) -> list[Node]:
        """The path from an end, or once round a cycle."""
        walk, seen = [start], {start}
        while True:
            ahead = [node for node in self.edges[walk[-1]] if node not in seen]
            if not ahead:
                return walk
            walk.append(ahead[0])
            seen.add(ahead[0])

    def choose(self, walk: list[Node], visited: Counter[str]) -> Answer:
        """The cheapest of the maximum matchings of one path or cycle."""
        pairs = [self.edges[a][b] for a, b in pairwise(walk)]
        if len(walk) > 2 and walk[0] in self.edges[walk[-1]]:
            pairs.append(self.edges[walk[-1]][walk[0]])
            chosen = min((pairs[0::2], pairs[1::2]), key=lambda option: self.rank(option, visited))
            answer = Answer(pairs=chosen)
        elif len(walk) % 2 == 0:
            answer = Answer(pairs=pairs[0::2])
        else:
            answer = self.spare(walk, pairs, visited)
        visited.update(self.sum_of(answer.pairs, visited, [*answer.pulled, *answer.laid]).places())
        return answer

    def spare(self, walk: list[Node], pairs: list[Pair], visited: Counter[str]) -> Answer:
        """A path with one too many: walk it, handing on which one is left over."""
        visits = self.sum_of(pairs[1::2], visited, [self.item(walk[0])])
        best, at = visits.rank, 0
        for left in range(2, len(walk), 2):
            visits.whole(self.item(walk[left - 2]), -1)
            visits.pair(pairs[left - 1], -1)
            visits.pair(pairs[left - 2])
            visits.whole(self.item(walk[left]))
            if visits.rank < best:
                best, at = visits.rank, left
        answer = Answer(pairs=[*pairs[0:at:2], *pairs[at + 1 :: 2]])
        (answer.pulled if walk[at][0] == "c" else answer.laid).append(self.item(walk[at]))
        return answer

    def item(self, node: Node) -> Assembly:
        """The assembly behind a node."""
        return (self.cables if node[0] == "c" else self.slots)[node[1]]

    def sum_of(self, pairs: Iterable[Pair], visited: Counter[str], whole: Iterable[Assembly] = ()) -> Visits:
        """What pairs and whole cables cost together."""
        visits = Visits(self.devices, self.reach, visited, self.could)
        for pair in pairs:
            visits.pair(pair)
        for assembly in whole:
            visits.whole(assembly)
        return visits

    def rank(self, pairs: list[Pair], visited: Counter[str]) -> tuple[int, ...]:
        """For ``min``."""
        return self.sum_of(pairs, visited).rank
