"""Plan-free: switch ports that are down while their neighbours in a bundle of parallel cables are up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from fabricctl.fabric import Fabric, NodeKind, Port, PortState

_DOWN = (PortState.DOWN, PortState.DISABLED)
_Bundles = dict[tuple[str, str], list[tuple[int, int]]]
"""Keys of two switches -> port numbers of their cables, at the first and at the second."""


@dataclass(frozen=True)
class BundleGap:
    """A bundle with fewer cables than it should have.

    :param a: and ``b``: keys of the two switches; :param have: cables that are up.
    :param usual: cables most bundles of both switches have, or, of a bundle with a hole, its cables and the hole.
    :param down_a: ports of ``a`` that are down: between the bundle's ports where those explain it, else inside
        and beside its run, else all; ``down_b`` likewise.
    :param hole: told by the bundle's own run of ports, not by comparison with other bundles.
    """

    a: str
    b: str
    have: int
    usual: int
    down_a: tuple[int, ...]
    down_b: tuple[int, ...]
    hole: bool = False


def find_gaps(fabric: Fabric, tier_of: Mapping[str, int]) -> list[BundleGap]:
    """Bundles that lack cables although ports next to or between theirs are down at both ends.

    A bundle is the set of cables between two switches. It has a gap when both switches usually run more
    parallel cables to a neighbour of that tier (the most frequent size of their bundles), one of the two has a
    port that is down inside or right beside the bundle's run of ports, and the other has one that is down too.
    Whatever other bundles have, it also has a gap when its ports at one end have a hole (a port that is down
    between two of them) and a port inside or right beside its run at the other end is down.

    :param tier_of: node key -> tier; switches whose tier is not known are taken as one tier.
    """
    bundles = _bundles(fabric)
    usual = _usual_sizes(bundles, tier_of)
    holes = _Holes(fabric, bundles)
    gaps = []
    for (a, b), ports in sorted(bundles.items()):
        have, want = len(ports), min(usual[a, tier_of.get(b)], usual[b, tier_of.get(a)])
        fewer = want >= 2 and have < want
        if not (fewer or holes.tell(a, b) or holes.tell(b, a)):
            continue
        inside_a, inside_b = holes.of(a, b), holes.of(b, a)
        lost = want - have if fewer else 1
        beside_a = inside_a if len(inside_a) >= lost else _down_beside(fabric, a, sorted(p for p, _ in ports))
        beside_b = inside_b if len(inside_b) >= lost else _down_beside(fabric, b, sorted(p for _, p in ports))
        if fewer and (beside_a or beside_b):
            down_a, down_b = beside_a or _down(fabric, a), beside_b or _down(fabric, b)
            if down_a and down_b:
                gaps.append(BundleGap(a, b, have, want, down_a, down_b))
        elif beside_a and beside_b:
            usual_here = have + min(len(beside_a), len(beside_b))
            gaps.append(BundleGap(a, b, have, usual_here, beside_a, beside_b, hole=True))
    return gaps


def _bundles(fabric: Fabric) -> _Bundles:
    bundles: _Bundles = defaultdict(list)
    nodes = fabric.nodes
    for link in fabric.each_link():
        kinds = (nodes[link.a.node].kind, nodes[link.b.node].kind)
        if kinds == (NodeKind.SWITCH, NodeKind.SWITCH) and link.a.node != link.b.node:
            low, high = sorted((link.a, link.b))
            bundles[low.node, high.node].append((low.number, high.number))
    return bundles


def _usual_sizes(bundles: _Bundles, tier_of: Mapping[str, int]) -> dict[tuple[str, int | None], int]:
    """Switch and tier of the neighbour -> most frequent number of cables, of equals the larger."""
    sizes: dict[tuple[str, int | None], Counter[int]] = defaultdict(Counter)
    for (a, b), ports in bundles.items():
        sizes[a, tier_of.get(b)][len(ports)] += 1
        sizes[b, tier_of.get(a)][len(ports)] += 1
    return {key: max(counts, key=lambda size: (counts[size], size)) for key, counts in sizes.items()}


class _Holes:
    """Ports that are down between two ports of one bundle with nothing else between them.

    Some switches are cabled in steps on purpose (one port of each two-port cage), so a hole is told only on a
    switch whose bundles run on to the next port more often than they skip one, and in a bundle that has more
    cables than holes.
    """

    def __init__(self, fabric: Fabric, bundles: _Bundles) -> None:
        self._found: dict[tuple[str, str], tuple[int, ...]] = {}
        steps: Counter[str] = Counter()
        for (a, b), ports in bundles.items():
            if len(ports) < 2:
                continue
            for own, far, mine in ((a, b, [p for p, _ in ports]), (b, a, [p for _, p in ports])):
                mine.sort()
                inside = tuple(_between(fabric, own, mine))
                steps[own] += sum(high - low == 1 for low, high in pairwise(mine)) - len(inside)
                if inside and len(inside) < len(mine):
                    self._found[own, far] = inside
        self._stepped = {key for key, more in steps.items() if more < 0}

    def of(self, own: str, far: str) -> tuple[int, ...]:
        """Ports that may be holes at the first switch's end of its bundle to the second."""
        return self._found.get((own, far), ())

    def tell(self, own: str, far: str) -> bool:
        """Whether there are any, on a switch that is not cabled in steps."""
        return (own, far) in self._found and own not in self._stepped


def _between(fabric: Fabric, key: str, ports: list[int]) -> Iterator[int]:
    for low, high in pairwise(ports):
        between = range(low + 1, high)
        if all(fabric.state(Port(key, number)) in _DOWN for number in between):
            yield from between


def _down_beside(fabric: Fabric, key: str, ports: list[int]) -> tuple[int, ...]:
    """Ports of a switch that are down inside or right beside a run of ports."""
    near = range(max(1, ports[0] - 1), ports[-1] + 2)
    limit = fabric.nodes[key].ports
    return tuple(n for n in near if n <= limit and n not in ports and fabric.state(Port(key, n)) in _DOWN)


def _down(fabric: Fabric, key: str) -> tuple[int, ...]:
    """Every port of a switch that is down."""
    limit = fabric.nodes[key].ports
    return tuple(n for n in range(1, limit + 1) if fabric.state(Port(key, n)) in _DOWN)
