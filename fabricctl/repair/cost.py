"""What a pairing of cable and slot costs people, for choosing among plans of equally few moves.

Compared in this order:

1. plugs whose cable does not span its new run: such a move cannot be made at all;
2. plugs in devices outside the plan: someone else's equipment needs someone else's word;
3. racks to walk to, then devices to stand at: walking and finding the unit is most of the work, pulling a plug takes
   seconds;
4. devices no other part of the plan visits: the same, seen across components (decided in order, so an optimum per
   component and a good choice over all).

What never differs between minimum plans is not weighed: MPOs move and transceivers stay, since the unit of movement
of a fibre is its MPO; and a plug that must not change between switch and HCA side is no pairing at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricctl.fabric import Port
from fabricctl.repair.assemblies import Kind, kind_of, seated
from fabricctl.repair.knowledge import SLACK_M, Devices
from fabricctl.repair.model import Assembly, Plug, Socket

MISSES = 1_000_000
FOREIGN = 10_000
RACK = 100
DEVICE = 1
"""Weights of the same order for splitters, whose assignment needs one number per pair. A pair visits at most ten
racks and ten devices and misses at most five runs, so no lower rank outweighs a higher one inside a pair."""


class Way(NamedTuple):
    """Where one plug goes. :param plug: index into the cable's plugs; :param target: its planned place."""

    plug: int
    target: Socket


class Pair(NamedTuple):
    """A cable that serves a slot. :param ways: plugs that must move; :param stays: how many stay."""

    cable: Assembly
    slot: Assembly
    ways: tuple[Way, ...]
    stays: int


class Run(NamedTuple):
    """What a moved plug's cable spans and what it would have to. :param ok: None when nothing tells."""

    has_m: float | None
    needs_m: float | None
    ok: bool | None


def pairings(cable: Assembly, slot: Assembly, devices: Devices) -> Iterator[Pair]:
    """Every way the cable may serve the slot: one per plug permutation its kind allows."""
    kind, wanted, own = kind_of(cable), seated(slot), seated(cable)
    if kind.family != kind_of(slot).family or len(own) == 1 < len(wanted):
        return
    where = {id(plug): index for index, plug in enumerate(cable.plugs)}
    for permutation in kind.permutations:
        ways: list[Way] = []
        stays = 0
        for index, plug in own.items():
            target = wanted.get(permutation[index])
            if target is None or (kind.keeps_side and not same_side(plug, target, devices)):
                break
            if target.socket == plug.socket:
                stays += 1
            else:
                ways.append(Way(where[id(plug)], target.socket))
        else:
            yield Pair(cable, slot, tuple(ways), stays)


def same_side(plug: Plug, target: Plug, devices: Devices) -> bool:
    """Whether both are places of switches, or both of HCAs."""
    return devices.is_hca(plug.socket.node) == devices.is_hca(target.socket.node)


class Reach:
    """Whether cables span their new runs."""

    def __init__(self, devices: Devices) -> None:
        self.devices = devices

    def run(self, pair: Pair, way: Way) -> Run:
        """The run of one moved plug; of a head the worst of its tails.

        A cable of unknown length spans its present run and the slack, and none spans more than its kind is made.
        """
        kind, own = kind_of(pair.cable), seated(pair.cable)
        moved = {id(pair.cable.plugs[w.plug]): w.target for w in pair.ways}
        plug = pair.cable.plugs[way.plug]
        worst = Run(None, None, None)
        for near, far in sorted({(a.plug, b.plug) for a, b in kind.joins}):
            a, b = own.get(near), own.get(far)
            if a is None or b is None or plug not in (a, b):
                continue
            now = self.devices.metres(a.socket.node, b.socket.node)
            new = self.devices.metres(moved.get(id(a), a.socket).node, moved.get(id(b), b.socket).node)
            if new is None:
                continue
            made = self._made(kind, pair.slot)
            has = pair.cable.length_m
            if has is None and now is not None:
                has = max(now, min(now + SLACK_M, made))
            run = Run(has, new, False if new > made else None if has is None else new <= has)
            if worst.needs_m is None or new > worst.needs_m:
                worst = run
        return worst

    def _made(self, kind: Kind, slot: Assembly) -> float:
        """The longest its kind is made for the slot's speed; where the plan tells no speed, for any."""
        link = self.devices.plan.links.get(slot.plugs[-1].socket.ports[0])
        speed = link.rate.speed if link is not None and link.rate is not None else ""
        return kind.reach_m.get(speed) or max(kind.reach_m.values(), default=float("inf"))


@dataclass
class Visits:
    """A running sum over pairs, pulls and new cables that can take back what it added.

    :param before: devices other components visit already.
    """

    devices: Devices
    reach: Reach
    before: Counter[str]
    misses: int = 0
    foreign: int = 0
    fresh: int = 0
    racks: Counter[str] = field(default_factory=Counter)
    boxes: Counter[str] = field(default_factory=Counter)

    def pair(self, pair: Pair, sign: int = 1) -> None:
        """Add a pair's moves, or take them back with ``sign=-1``."""
        for way in pair.ways:
            source = pair.cable.plugs[way.plug].socket
            self._stand(source.ports[0], sign)
            self._stand(way.target.ports[0], sign)
            if self.reach.run(pair, way).ok is False:
                self.misses += sign

    def whole(self, assembly: Assembly, sign: int = 1) -> None:
        """Add a cable that is pulled or laid; a plug in a device outside the plan is left to its owner."""
        for plug in assembly.plugs:
            if self.devices.planned(plug.socket.node):
                self._stand(plug.socket.ports[0], sign)

    def _stand(self, port: Port, sign: int) -> None:
        key = port.node
        if not self.devices.planned(key):
            self.foreign += sign
        box, rack = self.devices.box(key), self.devices.rack(key)
        had = self.boxes[box]
        self.boxes[box] += sign
        self.racks[rack] += sign
        if not self.boxes[box]:
            del self.boxes[box]
        if not self.racks[rack]:
            del self.racks[rack]
        if (had == 0) != (had + sign == 0) and not self.before[box]:
            self.fresh += sign

    @property
    def rank(self) -> tuple[int, int, int, int, int]:
        """What plans of equally few moves are compared by, smaller is better."""
        return self.misses, self.foreign, len(self.racks), len(self.boxes), self.fresh


def weight_of(pair: Pair, devices: Devices, reach: Reach) -> int:
    """A pair's cost as one number, for assignments that need one."""
    visits = Visits(devices, reach, Counter())
    visits.pair(pair)
    misses, foreign, racks, boxes, _ = visits.rank
    return MISSES * misses + FOREIGN * foreign + RACK * racks + DEVICE * boxes
