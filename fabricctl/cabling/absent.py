"""Absent devices: one dead switch is one finding with its 64 cables, not 64 findings.

A planned device is absent when it is unseen while every seen port that should face it is down. Whatever only
an absent device connects with the rest (the HCAs of a dead leaf, and leaves and hosts behind a dead switch that
is their only way) is folded under it, however deep. A device whose neighbours carry other cables is not absent
but somewhere else; one that several absent devices together cut off, or whose neighbours are all unseen, cannot
be judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from fabricctl.cabling.binding import Binding
from fabricctl.fabric import Fabric, NodeKind, Port, PortState

_DOWN = (PortState.DOWN, PortState.DISABLED)


@dataclass(frozen=True, slots=True)
class Absence:
    """An absent device.

    :param under: plan key of the absent device it is folded under, None when it stands for itself.
    :param cables: planned cables of its own that it loses; :param facing: seen ports that should face it and
        are down.
    """

    under: str | None
    cables: int
    facing: int = 0


def find_absent(plan: Fabric, binding: Binding, seen: Fabric) -> dict[str, Absence]:
    """Plan node key -> Absence, for every absent or folded device.

    Linear in the cables of the plan; nothing is walked when nothing is absent.
    """
    unseen = {key for key in plan.nodes if key not in binding.seen_of and key not in binding.ambiguous}
    if not unseen:
        return {}
    neighbours: dict[str, set[str]] = defaultdict(set)
    cables: dict[str, int] = defaultdict(int)
    facing: dict[str, list[Port]] = defaultdict(list)
    for link in plan.each_link():
        if link.a.node == link.b.node:
            cables[link.a.node] += 1
            continue
        for own, far in ((link.a, link.b), (link.b, link.a)):
            if own.node not in unseen:
                continue
            neighbours[own.node].add(far.node)
            cables[own.node] += 1
            far_seen = binding.seen_of.get(far.node)
            if far_seen is not None:
                facing[own.node].append(Port(far_seen, far.number))
    absent = {
        key: Absence(None, cables[key], len(ports))
        for key, ports in facing.items()
        if all(seen.state(port) in _DOWN for port in ports)
    }
    if not absent:
        return {}
    # An HCA carries no traffic of others: where HCAs alone face a device (a viewer whose own cable is out), it
    # is they that hang on it, and the rest of the plan is not behind it.
    connects = {
        key for key in absent if any(seen.nodes[port.node].kind is not NodeKind.HCA for port in facing[key])
    }
    folded: dict[str, Absence] = {}
    for part, shore in _parts(unseen - absent.keys(), neighbours):
        if len(shore) == 1 and shore <= connects:
            under = next(iter(shore))
            folded.update((key, Absence(under, cables[key])) for key in part)
    return absent | folded


def _parts(
    inside: Collection[str], neighbours: Mapping[str, set[str]]
) -> Iterator[tuple[set[str], set[str]]]:
    """Connected parts of some nodes, each with its shore: the other nodes that its cables lead to.

    Every absent device faces a seen port, so the part's planned paths to anything seen lead through one absent
    device alone exactly when that device is its whole shore.
    """
    reached: set[str] = set()
    for start in inside:
        if start in reached:
            continue
        part, shore, edge = {start}, set(), [start]
        while edge:
            for far in neighbours.get(edge.pop(), ()):
                if far not in inside:
                    shore.add(far)
                elif far not in part:
                    part.add(far)
                    edge.append(far)
        reached |= part
        yield part, shore
