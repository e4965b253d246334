"""What a pairing of cable and slot costs people, for choosing among plans of equally few moves.

Compared in this order:

1. plugs whose cable does not span its new run: such a move cannot be made at all;
2. plugs in devices outside the plan: someone else's equipment needs someone else's word;
3. racks to walk to, then devices to stand at, each shared with the other components that could be mended there (of
   two exchanged bundles each cable may move at its own host or at the leaf they all share): walking and finding the
   unit is most of the work, pulling a plug takes seconds; what another component visits already costs nothing;
4. racks, then devices of the component itself.

Components are decided in order, so with one component this is an optimum, with several a good choice.

What never differs between minimum plans is not weighed: MPOs move and transceivers stay, since the unit of movement
of a fibre is its MPO; and a plug that must not change between finned and flat-topped places is no pairing at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fabricctl.fabric import Port
from fabricctl.repair.assemblies import kind_of, seated
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.model import Assembly, Plug
from fabricctl.repair.reach import Pair, Reach, Way

MISSES = 1_000_000
FOREIGN = 10_000
RACK = 100
DEVICE = 1
MILLION = 1_000_000
"""Weights of the same order for splitters, whose assignment needs one number per pair. A pair visits at most ten
racks and ten devices and misses at most five runs, so no lower rank outweighs a higher one inside a pair."""


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
            if target is None or (kind.keeps_side and not fits(plug, target, devices)):
                break
            if target.socket == plug.socket:
                stays += 1
            else:
                ways.append(Way(where[id(plug)], target.socket))
        else:
            yield Pair(cable, slot, tuple(ways), stays)


def fits(plug: Plug, target: Plug, devices: Devices) -> bool:
    """Whether a plug that fills its cage may go there: finned and flat-topped OSFP plugs never change places.

    The panels tell which cages take which; where one does not, switches are taken to differ from HCAs.
    """
    here, there = plug.socket.node, target.socket.node
    own, wanted = devices.top(here), devices.top(there)
    if own and wanted:
        return own == wanted
    return devices.is_hca(here) == devices.is_hca(there)


@dataclass
class Visits:
    """A running sum over pairs, pulls and new cables that can take back what it added.

    :param before: devices and racks other components visit already.
    :param could: device or rack -> how many components could be mended there; 1 where not told.
    """

    devices: Devices
    reach: Reach
    before: Counter[str]
    could: Mapping[str, int] = field(default_factory=dict)
    misses: int = 0
    foreign: int = 0
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
        self.boxes[box] += sign
        self.racks[rack] += sign
        if not self.boxes[box]:
            del self.boxes[box]
        if not self.racks[rack]:
            del self.racks[rack]

    def places(self) -> Iterator[str]:
        """What is visited, as ``before`` and ``could`` name it."""
        yield from self.boxes
        yield from map(rack_key, self.racks)

    def shared(self, places: Iterable[str]) -> int:
        """Cost of visiting places that others may visit, too, in millionths of a place."""
        return sum(MILLION // max(1, self.could.get(place, 1)) for place in places if not self.before[place])

    @property
    def rank(self) -> tuple[int, ...]:
        """What plans of equally few moves are compared by, smaller is better."""
        racks, boxes = self.shared(map(rack_key, self.racks)), self.shared(self.boxes)
        return self.misses, self.foreign, racks, boxes, len(self.racks), len(self.boxes)


def rack_key(rack: str) -> str:
    """A rack among devices: no device has such a name."""
    return f"rack\0{rack}"


def weight_of(pair: Pair, devices: Devices, reach: Reach) -> int:
    """A pair's cost as one number, for assignments that need one."""
    visits = Visits(devices, reach, Counter())
    visits.pair(pair)
    return (
        MISSES * visits.misses
        + FOREIGN * visits.foreign
        + RACK * len(visits.racks)
        + DEVICE * len(visits.boxes)
    )
