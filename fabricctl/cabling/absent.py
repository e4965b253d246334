"""Absent devices: one dead switch is one finding with its 64 cables, not 64 findings.

A planned device is absent when it is unseen while every seen port that should face it is down. A device that
only an absent device connects (the HCAs of a dead leaf) is folded under it. A device whose neighbours carry
other cables is not absent but somewhere else, and one whose neighbours are all unseen cannot be judged.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from fabricctl.cabling.bind import Binding
from fabricctl.fabric import Fabric, Port, PortState

_DOWN = (PortState.DOWN, PortState.DISABLED)


@dataclass(frozen=True, slots=True)
class Absence:
    """An absent device.

    :param under: plan key of the absent device it is folded under, None when it stands for itself.
    :param cables: planned cables it loses; :param facing: seen ports that should face it and are down.
    """

    under: str | None
    cables: int
    facing: int = 0


def find_absent(plan: Fabric, binding: Binding, seen: Fabric) -> dict[str, Absence]:
    """Plan node key -> Absence, for every absent or folded device."""
    unseen = {key for key in plan.nodes if key not in binding.seen_of and key not in binding.ambiguous}
    if not unseen:
        return {}
    neighbours: dict[str, set[str]] = defaultdict(set)
    cables: dict[str, int] = defaultdict(int)
    facing: dict[str, list[bool]] = defaultdict(list)
    for link in plan.each_link():
        for own, far in ((link.a, link.b), (link.b, link.a)):
            if own.node not in unseen:
                continue
            neighbours[own.node].add(far.node)
            cables[own.node] += 1
            far_seen = binding.seen_of.get(far.node)
            if far_seen is not None:
                facing[own.node].append(seen.state(Port(far_seen, far.number)) in _DOWN)
    absent = {key: Absence(None, cables[key], len(down)) for key, down in facing.items() if all(down)}
    folded = {}
    for key in unseen - absent.keys():
        only = neighbours[key] - {key}
        if len(only) == 1 and next(iter(only)) in absent and key not in facing:
            folded[key] = Absence(next(iter(only)), cables[key])
    return absent | folded
