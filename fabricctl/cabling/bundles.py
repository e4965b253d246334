"""Plan-free: switch ports that are down while their neighbours in a bundle of parallel cables are up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fabricctl.fabric import Fabric, NodeKind, Port, PortState

_DOWN = (PortState.DOWN, PortState.DISABLED)


@dataclass(frozen=True)
class BundleGap:
    """A bundle with fewer cables than the switch's other bundles.

    :param a: and ``b``: keys of the two switches; :param usual: cables most bundles of ``a`` have.
    :param down_a: ports of ``a`` that are down, those beside the bundle's ports if there are any; ``down_b`` likewise.
    """

    a: str
    b: str
    have: int
    usual: int
    down_a: tuple[int, ...]
    down_b: tuple[int, ...]


def find_gaps(fabric: Fabric, tier_of: Mapping[str, int]) -> list[BundleGap]:
    """Bundles that lack cables although a port next to them is down at both ends.

    A bundle is the set of cables between two switches. It has a gap when both switches usually run more
    parallel cables to a neighbour of that tier (the most frequent size of their bundles), one of the two has a
    port that is down inside or right beside the bundle's run of ports, and the other has one that is down too.

    :param tier_of: node key -> tier; switches whose tier is not known are taken as one tier.
    """
    bundles: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for link in fabric.each_link():
        kinds = (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
        if kinds == (NodeKind.SWITCH, NodeKind.SWITCH) and link.a.node != link.b.node:
            low, high = sorted((link.a, link.b))
            bundles[low.node, high.node].append((low.number, high.number))
    sizes: dict[tuple[str, int | None], Counter[int]] = defaultdict(Counter)
    for (a, b), ports in bundles.items():
        sizes[a, tier_of.get(b)][len(ports)] += 1
        sizes[b, tier_of.get(a)][len(ports)] += 1
    usual = {key: _mode(counts) for key, counts in sizes.items()}
    gaps = []
    for (a, b), ports in sorted(bundles.items()):
        want = min(usual[a, tier_of.get(b)], usual[b, tier_of.get(a)])
        if len(ports) >= want or want < 2:
            continue
        beside_a = _down_beside(fabric, a, sorted(p for p, _ in ports))
        beside_b = _down_beside(fabric, b, sorted(p for _, p in ports))
        if beside_a or beside_b:
            down_a, down_b = beside_a or _down(fabric, a), beside_b or _down(fabric, b)
            if down_a and down_b:
                gaps.append(BundleGap(a, b, len(ports), want, down_a, down_b))
    return gaps


def _mode(counts: Counter[int]) -> int:
    return max(counts, key=lambda size: (counts[size], size))


def _down_beside(fabric: Fabric, key: str, ports: list[int]) -> tuple[int, ...]:
    """Ports of a switch that are down inside or right beside a run of ports."""
    near = range(max(1, ports[0] - 1), ports[-1] + 2)
    limit = fabric.nodes[key].ports
    return tuple(n for n in near if n <= limit and n not in ports and fabric.state(Port(key, n)) in _DOWN)


def _down(fabric: Fabric, key: str) -> tuple[int, ...]:
    """Every port of a switch that is down."""
    limit = fabric.nodes[key].ports
    return tuple(n for n in range(1, limit + 1) if fabric.state(Port(key, n)) in _DOWN)
