"""What an assignment costs to repair: cable ends to move.

On ports, what is planned and what is there are matchings. Laid over each other they fall into alternating rings and
paths; a component with w wrong cables and n wanted ones is put right by moving min(w, n) ends: each wrong cable keeps
one end, the rest is pulled or new. Cables whose far end nobody can name (an HCA without a name, a switch without a
place) are left out on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fabricctl.identity.network import NONE, Network
from fabricctl.identity.votes import Votes

UNKNOWN = -2
"""A cable is there whose far end is nobody known."""


@dataclass
class Cost:
    """What a repair takes.

    :param moves: ends to move; :param wrong: wrong cables as pairs of jacks, :param hosts: how many of them to HCAs.
    """

    moves: int
    wrong: list[tuple[int, int]]
    hosts: int


class Jacks:
    """What is plugged into which planned port under an assignment; built when first asked for."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @cached_property
    def cables(self) -> list[dict[int, tuple[int, int, bool]]]:
        """Per seen switch: port -> what is at the other end, its port, whether that is an HCA."""
        network = self.network
        cables: list[dict[int, tuple[int, int, bool]]] = [
            {port: (far, far_port, False) for port, far, far_port in near} for near in network.near
        ]
        for own, hosts in zip(cables, network.hosts, strict=True):
            for port, hca, hca_port in hosts:
                known = hca != NONE and hca not in network.claimed
                own[port] = (hca if known else UNKNOWN, hca_port, True)
        for switch, one, other in network.loops:
            cables[switch].update({one: (switch, other, False), other: (switch, one, False)})
        return cables

    @cached_property
    def of_hca(self) -> dict[int, tuple[int, int]]:
        """Jack of a planned HCA that one seen HCA claims to be -> seen switch and port it is plugged into."""
        network = self.network
        return {
            hca << network.shift | hca_port: (switch, port)
            for switch, hosts in enumerate(network.hosts)
            for port, hca, hca_port in hosts
            if hca != NONE and hca not in network.claimed
        }

    def actual(self, jack: int, votes: Votes) -> int:
        """The jack at the other end of the cable there; NONE when there is none, UNKNOWN when it is nobody's."""
        network = self.network
        place, port = jack >> network.shift, jack & network.mask
        if place >= network.switches:
            found = self.of_hca.get(jack)
            if found is None:
                return NONE
            at = votes.at[found[0]]
            return UNKNOWN if at == NONE else at << network.shift | found[1]
        switch = votes.holder[place]
        cable = self.cables[switch].get(port) if switch != NONE else None
        if cable is None:
            return NONE
        far, far_port, is_hca = cable
        if is_hca:
            return UNKNOWN if far == UNKNOWN else far << network.shift | far_port
        at = votes.at[far]
        return UNKNOWN if at == NONE else at << network.shift | far_port

    def cost(self, votes: Votes, places: Iterable[int]) -> Cost:
        """Ends to move at these places: of each component that touches them, its cables that do."""
        network, wanted = self.network, self.network.wanted
        ports = range(1 << network.shift)
        cost = Cost(0, [], 0)
        visited: set[int] = set()
        here = set(places)
        for place in sorted(here):
            first = place << network.shift
            for port in ports:
                start = first | port
                if start in visited:
                    continue
                wrong, missing = self._component(start, votes, visited, wanted)
                wrong = [(a, b) for a, b in wrong if a >> network.shift in here or b >> network.shift in here]
                cost.moves += min(len(wrong), missing)
                cost.wrong += wrong
        cost.hosts = sum(max(pair) >> network.shift >= network.switches for pair in cost.wrong)
        return cost

    def _component(
        self, start: int, votes: Votes, visited: set[int], wanted: list[int]
    ) -> tuple[list[tuple[int, int]], int]:
        wrong: set[tuple[int, int]] = set()
        missing: set[tuple[int, int]] = set()
        stack = [start]
        while stack:
            jack = stack.pop()
            if jack in visited:
                continue
            visited.add(jack)
            actual, planned = self.actual(jack, votes), wanted[jack] if jack < len(wanted) else NONE
            if actual in (UNKNOWN, planned):
                continue
            if actual != NONE:
                wrong.add((min(jack, actual), max(jack, actual)))
                stack.append(actual)
            if planned != NONE and self.actual(planned, votes) != UNKNOWN:
                missing.add((min(jack, planned), max(jack, planned)))
                stack.append(planned)
        return sorted(wrong), len(missing)
