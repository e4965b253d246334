"""Places in the words of the hall: rack, unit, side, cage, port and lanes of what a plug sits in.

A label names an end by rack, unit and port, and a cable by both ends, as ANSI/TIA-606 asks for (rack, equipment and
port of both ends at each end) and as vendors print it (``R1-U24-P8A to R2-U1-P4A``, Oracle Exadata cabling tables).
The exact grammar of TIA-606-D is not public; a site that labels otherwise finds its own text under ``plan_label``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.finding_id import spot_words
from fabricctl.fabric import Node, NodeKind, Place, Port
from fabricctl.panels import Panel, PanelPort
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.model import AssemblyType
from fabricctl.repair.order_model import PortId, Spot

_UNIT = re.compile(r"[Uu]?\s*([0-9]{1,4})\Z")
_ONE_PORT = frozenset({AssemblyType.FIBRE, AssemblyType.FIBRE_SPLIT_2})
"""Cables whose plugs are MPOs in a transceiver, so that two sit side by side in one cage."""
_ALL = {2: "both"}
"""How many ports -> the word for all of them."""


class _Found(NamedTuple):
    """A place on a device: in words, on a label, what else tells it, and which of two plugs is meant."""

    where: str
    label: str
    detail: str = ""
    mark: str = ""


class Spots:
    """Makes ``Spot`` values; ports are the plan's, as ``Comparison.in_plan`` names them."""

    def __init__(self, comparison: Comparison, knowledge: RepairKnowledge) -> None:
        self.comparison, self.knowledge = comparison, knowledge
        self._panels: dict[str, Panel | None] = {}
        self.unknown_panels: set[str] = set()
        """Names of devices whose cages nobody knows, gathered while spots are made."""
        self.unknown_places: set[str] = set()

    def node(self, key: str) -> Node:
        """The planned node, or the discovered one of a device outside the plan."""
        planned = self.comparison.binding.plan.fabric.nodes.get(key)
        return planned if planned is not None else self.comparison.seen.nodes[key]

    def port_id(self, port: Port) -> PortId:
        """GUID and number as a discovery writes them; of a device never seen as the plan does."""
        node, binding = self.node(port.node), self.comparison.binding
        seen = self.comparison.seen.nodes.get(binding.seen_of.get(port.node, port.node))
        guid = (seen.guid or seen.key) if seen is not None else node.guid
        return PortId(guid or "", self.comparison.ends.own_number(port), node.name)

    def name(self, port: Port) -> str:
        """Device and port, the same in every run: ``leaf1/27``."""
        return spot_words((self.node(port.node).name, *self.comparison.ends.normal(port)))

    def spot(self, ports: Sequence[Port], cable: AssemblyType | None) -> Spot:
        """The place of a plug. :param cable: what is plugged in there; None when no plug is meant."""
        node = self.node(ports[0].node)
        place = node.stands(self.knowledge.place_of)
        rack, unit = (place.rack, _unit(place)) if place is not None else ("", "")
        panel = self._panel(node)
        device, hca = (node.host, node.hca or "") if node.host else (node.name, "")
        if place is None:
            self.unknown_places.add(device)
        side = _side(panel)
        where, short, detail, mark = self._on_device(node, panel, ports, cable)
        at = [f"rack {rack}" if rack else "rack unknown", unit, side, device if not hca else f"host {device}"]
        words = ", ".join(part for part in (*at, where) if part)
        start = "-".join(part for part in (rack, unit) if part) or device
        return Spot(
            words=words,
            where=where,
            mark=mark,
            detail=detail,
            label=f"{start}-{short}" if not hca else f"{start}-{device}-{short}",
            rack=rack,
            unit=unit,
            side=side,
            device=device,
            hca=hca,
            ports=tuple(self.port_id(port) for port in ports),
        )

    def _panel(self, node: Node) -> Panel | None:
        name = node.host or node.name
        if name not in self._panels:
            self._panels[name] = self.knowledge.panel_of(node.key) or self.comparison.ends.panel(node.key)
        return self._panels[name]

    def _on_device(
        self, node: Node, panel: Panel | None, ports: Sequence[Port], cable: AssemblyType | None
    ) -> _Found:
        """The place on the device."""
        numbers = [self.comparison.ends.own_number(port) for port in ports]
        if node.kind is NodeKind.HCA and node.host:
            return self._on_host(node, panel, numbers, cable)
        found = self._ports_of(panel, ports) if panel is not None else ()
        if panel is not None and found:
            return _in_cage(found, panel, cable, numbers)
        label = self._panel_label(node, ports[0]) if len(ports) == 1 else ""
        if label:
            return _Found(f"port {label} on the panel", f"P{label}", f"InfiniBand {_numbers(numbers)}")
        self.unknown_panels.add(node.name)
        return _Found(f"InfiniBand {_numbers(numbers)} (cage not known)", "P" + "+".join(map(str, numbers)))

    def _ports_of(self, panel: Panel, ports: Sequence[Port]) -> tuple[PanelPort, ...]:
        """The panel's ports that these are or are halves of, each once; none when it lacks one."""
        found: dict[tuple[str, int], PanelPort] = {}
        for port in ports:
            own = self.comparison.ends.panel_port(port, panel)
            if own is None:
                return ()
            found[own.cage, own.port] = own
        return tuple(found.values())

    def _panel_label(self, node: Node, port: Port) -> str:
        """What plan or model print beside the port, where no panel table tells more."""
        if node.key not in self.comparison.binding.plan.fabric.nodes:
            return ""
        return self.comparison.ends.planned(port).label

    def _on_host(
        self, node: Node, panel: Panel | None, numbers: list[int], cable: AssemblyType | None
    ) -> _Found:
        hca = node.hca or "HCA"
        which = f"{hca}" if numbers == [1] else f"{hca} {_numbers(numbers)}"
        port = panel.behind(hca) if panel is not None else None
        if panel is None or port is None:
            self.unknown_panels.add(node.host or node.name)
            return _Found(
                f"HCA {which} (slot not known)", hca + ("" if numbers == [1] else f"-P{numbers[0]}")
            )
        found = _in_cage((port,), panel, cable, numbers)
        return found._replace(detail="; ".join(part for part in (f"HCA {which}", found.detail) if part))


def _in_cage(
    found: Sequence[PanelPort], panel: Panel, cable: AssemblyType | None, own: Sequence[int]
) -> _Found:
    """Ports of one cage (or of several, where a plug claims what no cage holds). :param own: their numbers."""
    cages = list(dict.fromkeys(port.cage for port in found))
    if len(cages) > 1:
        of = {cage: [p for p in found if p.cage == cage] for cage in cages}
        parts = [_in_cage(ports, panel, cable, [p.number for p in ports]) for ports in of.values()]
        return _Found(" and ".join(p.where for p in parts), "+".join(p.label for p in parts))
    cage, port = cages[0], found[0]
    named = not cage[:1].isdigit()
    name, short = (cage, cage) if named else (f"cage {cage}", f"C{cage}")
    status = panel.status.get("number", "")
    doubt = "" if status in ("", "confirmed") else f" ({status})"
    behind = "" if port.hca else f"InfiniBand {_numbers(own)}"
    detail = "; ".join(part for part in (behind, _row(port, panel)) if part)
    if panel.ports_per_cage == 1:
        return _Found(f"{name}{doubt}", short, detail)
    if len(found) == panel.ports_per_cage:
        return _Found(f"{name}{doubt} ({_ALL.get(len(found), 'all')} its ports)", short, detail)
    lanes = f" (lanes {port.lanes})" if port.lanes else ""
    shared = cable in _ONE_PORT and port.lanes
    mark = f"the MPO of lanes {port.lanes}; check the mark on the plug" if shared else ""
    which = "+".join(str(p.port) for p in found)
    return _Found(f"{name} port {which}{doubt}{lanes}", f"{short}P{which}", detail, mark)


def _row(port: PanelPort, panel: Panel) -> str:
    """Row and column, marked where they are a convention only."""
    if not port.row:
        return ""
    status = panel.status.get("rows", "usual")
    column = f", column {port.column}" if port.column else ""
    row = f"row {port.row}" if port.row.isdigit() else f"{port.row} row"
    return f"{row}{column}" + ("" if status == "confirmed" else f" ({status})")


def _side(panel: Panel | None) -> str:
    if panel is None or not panel.side:
        return ""
    status = panel.status.get("side", "usual")
    return panel.side if status == "confirmed" else f"{panel.side} ({status})"


def _unit(place: Place) -> str:
    match = _UNIT.match(place.unit.strip())
    return f"U{match[1]}" if match else place.unit.strip()


def _numbers(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"port {numbers[0]}"
    return "ports " + " and ".join(map(str, numbers))
