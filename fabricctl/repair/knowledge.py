"""What the fewest moves need to know beside plan and discovery, and devices seen from where people stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Place, Port
from fabricctl.hostset import natural_key
from fabricctl.panels import Panel
from fabricctl.plan.lengths import RackSpot, estimate_m
from fabricctl.repair.assemblies import is_transceiver
from fabricctl.repair.model import Assembly, AssemblyType, Socket

SLACK_M = 1.0
"""How much further than its present run a cable of unknown length is taken to span: its two service loops, the same
metre ``fabricctl/plan/lengths.py`` reckons with."""


def _no_panel(_key: str) -> Panel | None:
    return None


def _no_place(_name: str) -> Place | None:
    return None


def _no_distance(_a: str, _b: str) -> float | None:
    return None


def _no_kind(_link: Link) -> AssemblyType | None:
    return None


@dataclass(frozen=True)
class RepairKnowledge:
    """Everything has a default: with nothing known all cables are taken as fibre and nothing is said of lengths.

    :param panel_of: plan node key -> its face; of an HCA the face of its host's model.
    :param place_of: device or host name -> where it stands; a place in the plan comes first.
    :param distance_m: plan keys of two devices -> metres of cable between them, None when it cannot be told.
    :param class_kind: planned link -> kind of cable its class is made with, None when nobody declares it.
    :param reserved: reserved ports (plan keys) beside those the plan itself reserves.
    :param racks: rack name -> where it stands: the way people walk.
    """

    panel_of: Callable[[str], Panel | None] = _no_panel
    place_of: Callable[[str], Place | None] = _no_place
    distance_m: Callable[[str, str], float | None] = _no_distance
    class_kind: Callable[[Link], AssemblyType | None] = _no_kind
    reserved: Mapping[Port, str] = field(default_factory=dict)
    racks: Mapping[str, RackSpot] = field(default_factory=dict)


def walk_key(rack: str, racks: Mapping[str, RackSpot]) -> tuple[object, ...]:
    """Sort key of a rack, as people walk: row by row, along the row; racks whose spot nobody tells by name, after them.

    A rack of no name comes last.
    """
    spot = racks.get(rack)
    if spot is not None:
        return 0, natural_key(spot.row), spot.position, natural_key(rack)
    return (1 if rack else 2), natural_key(rack)


def distances_by_rack(
    fabric: Fabric, place_of: Callable[[str], Place | None], racks: Mapping[str, RackSpot]
) -> Callable[[str, str], float | None]:
    """A ``distance_m`` from where racks stand (``fabricctl/plan/lengths.py``).

    :param fabric: the plan's; :param place_of: as in ``RepairKnowledge``; :param racks: rack name -> where it stands.
    """

    def place(key: str) -> Place | None:
        node = fabric.nodes.get(key)
        return node.stands(place_of) if node is not None else None

    def metres(a: str, b: str) -> float | None:
        here, there = place(a), place(b)
        return estimate_m(here, there, racks) if here is not None and there is not None else None

    return metres


class Devices:
    """Devices by key: planned ones by plan key, all others by the discovery's."""

    def __init__(self, comparison: Comparison, knowledge: RepairKnowledge) -> None:
        self.plan, self.seen = comparison.binding.plan.fabric, comparison.seen
        self.binding, self.knowledge, self.ends = comparison.binding, knowledge, comparison.ends
        self._racks: dict[str, str] = {}
        self._walk: dict[str, tuple[object, ...]] = {}
        self._metres: dict[tuple[str, str], float | None] = {}
        self._names: dict[str, tuple[object, ...]] = {}
        self._tops: dict[str, str] = {}

    def node(self, key: str) -> Node | None:
        """The node; None for a key nobody has."""
        return self.plan.nodes.get(key) or self.seen.nodes.get(key)

    def name(self, key: str) -> str:
        """What people call it."""
        node = self.node(key)
        return node.name if node is not None else key

    def is_hca(self, key: str) -> bool:
        """Whether it is an HCA."""
        node = self.node(key)
        return node is not None and node.kind is NodeKind.HCA

    def planned(self, key: str) -> bool:
        """Whether the plan has it."""
        return key in self.plan.nodes

    def bound(self, key: str) -> bool:
        """Whether the plan has it and the discovery shows it."""
        return key in self.binding.seen_of

    def host(self, key: str) -> str:
        """Of an HCA its host, else empty."""
        node = self.node(key)
        if node is None or node.kind is not NodeKind.HCA:
            return ""
        return node.host or node.name

    def box(self, key: str) -> str:
        """What stands in the rack: the switch, or the host around an HCA."""
        return self.host(key) or self.name(key)

    def rack(self, key: str) -> str:
        """Rack name; a device whose place nobody tells counts as a rack of its own."""
        rack = self._racks.get(key)
        if rack is None:
            node = self.node(key)
            place = node.stands(self.knowledge.place_of) if node is not None else None
            rack = self._racks[key] = place.rack if place is not None and place.rack else f"?{self.box(key)}"
        return rack

    def where(self, socket: Socket) -> tuple[object, ...]:
        """Sort key of a place, as people walk: rack, device, port."""
        key = self._walk.get(socket.node)
        if key is None:
            rack = walk_key(self.rack(socket.node), self.knowledge.racks)
            box, name = self.box(socket.node), self.name(socket.node)
            key = self._walk[socket.node] = (rack, natural_key(box), natural_key(name), socket.node)
        return (*key, socket.ports[0].number)

    def order(self, assembly: Assembly) -> list[tuple[object, ...]]:
        """Sort key of an assembly, by the names of its places: the same however the input was ordered."""
        return sorted(self.by_name(port) for plug in assembly.plugs for port in plug.socket.ports)

    def by_name(self, port: Port) -> tuple[object, ...]:
        """Sort key of a port, by the name of its device."""
        name = self._names.get(port.node)
        if name is None:
            name = self._names[port.node] = (natural_key(self.name(port.node)), port.node)
        return (*name, port.number)

    def top(self, key: str) -> str:
        """Which OSFP plugs its cages take, ``finned`` or ``flat``; empty when nothing tells."""
        if key not in self._tops:
            panel = self.knowledge.panel_of(key) if self.planned(key) else None
            self._tops[key] = panel.top if panel is not None else ""
        return self._tops[key]

    def speed(self, port: Port) -> str:
        """Speed the plan wants on a port, ``NDR``; empty when it does not tell."""
        link = self.plan.links.get(port)
        return link.rate.speed if link is not None and link.rate is not None else ""

    def module(self, port: Port) -> str:
        """Part number of the transceiver in a port: the one that was read there, else the planned one; may be empty.

        Transceivers stay when their plugs move, so it is also what the next plug there meets.
        """
        seen = self.binding.seen_of.get(port.node, "" if self.planned(port.node) else port.node)
        own = Port(seen, port.number)
        for link, end in ((self.seen.links.get(own), own), (self.plan.links.get(port), port)):
            if link is None or link.detail is None:
                continue
            part = link.detail.modules[0 if link.a == end else 1]
            part = part or (link.detail.part_number if is_transceiver(link.detail.part_number) else "")
            if part:
                return part
        return ""

    @property
    def tells_metres(self) -> bool:
        """Whether anything is known of distances."""
        return self.knowledge.distance_m is not _no_distance

    def metres(self, a: str, b: str) -> float | None:
        """Metres of cable between two devices, None when nothing tells."""
        if not self.tells_metres:
            return None
        pair = (a, b) if a <= b else (b, a)
        if pair not in self._metres:
            self._metres[pair] = self.knowledge.distance_m(a, b)
        return self._metres[pair]

    @cached_property
    def hca_keys(self) -> dict[tuple[str, str], str]:
        """(host, HCA name) -> plan key."""
        return {
            (node.host, node.hca): key
            for key, node in self.plan.nodes.items()
            if node.host is not None and node.hca is not None
        }
