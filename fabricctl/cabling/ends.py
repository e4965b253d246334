"""Ports as people read them: name, front-panel label, rack and unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.model import End
from fabricctl.cabling.numbering import Numbering, Profile
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Fabric, Node, NodeKind, Place, Port
from fabricctl.models import SwitchModel
from fabricctl.panels import Panel, PanelPort


@dataclass(frozen=True)
class Knowledge:
    """What helps to print a port, beside plan and discovery.

    :param place_of: device or host name -> place; :param model_of: device name and discovered model -> model.
    :param panel_of: name of a switch or host and its model, as far as told -> its panel.
    """

    place_of: Mapping[str, Place] = field(default_factory=dict)
    model_of: Callable[[str, str], SwitchModel | None] | None = None
    panel_of: Callable[[str, str], Panel | None] | None = None


class Ends:
    """Makes ``End`` values from planned and from discovered ports.

    A port is printed by the number the switch itself shows, whatever profile the comparison counts in. All questions
    about ports are asked in the comparison's own numbers (``Port`` of plan or discovery) and answered here, once.
    """

    def __init__(
        self,
        binding: Binding,
        seen: Fabric,
        knowledge: Knowledge | None = None,
        numbering: Numbering | None = None,
    ) -> None:
        self.binding, self.seen = binding, seen
        self.knowledge = knowledge or Knowledge()
        self.numbering = numbering or Numbering()
        self._models: dict[str, SwitchModel | None] = {}
        self._panels: dict[tuple[str, str], Panel | None] = {}
        self._faces: dict[int, tuple[Panel, dict[int, PanelPort]]] = {}

    def planned(self, port: Port) -> End:
        """A planned port."""
        node = self.binding.plan.fabric.nodes[port.node]
        seen_key = self.binding.seen_of.get(port.node)
        seen_node = self.seen.nodes.get(seen_key) if seen_key else None
        place = self.place(port.node)
        guid = node.guid or (seen_node.guid if seen_node else None) or ""
        model = node.model or (seen_node.model if seen_node else "")
        return self._end(node, model, port, seen_key, place, guid, self.key(node.key))

    def discovered(self, port: Port) -> End:
        """A discovered port; a planned device keeps its planned name."""
        planned = self.binding.plan_of.get(port.node)
        if planned is not None:
            return self.planned(Port(planned, port.number))
        node = self.seen.nodes[port.node]
        place = self.place(node.key)
        return self._end(node, node.model, port, port.node, place, node.guid or node.key, node.key)

    def place(self, key: str) -> Place | None:
        """Where a device stands: plan key or discovered key; None when neither plan nor site tell."""
        nodes = self.binding.plan.fabric.nodes
        node = nodes.get(key) or nodes.get(self.binding.plan_of.get(key, "")) or self.seen.nodes.get(key)
        return node.stands(self.knowledge.place_of.get) if node is not None else None

    def panel(self, key: str) -> Panel | None:
        """Panel of a device: plan key or discovered key of a switch or HCA; None when its model is not known."""
        node = self.binding.plan.fabric.nodes.get(key)
        seen = self.seen.nodes.get(self.binding.seen_of.get(key, key))
        node = node or seen
        if node is None or self.knowledge.panel_of is None:
            return None
        asked = (node.host or node.name, node.model or (seen.model if seen else ""))
        if asked not in self._panels:
            self._panels[asked] = self.knowledge.panel_of(*asked)
        return self._panels[asked]

    def panel_port(self, port: Port, panel: Panel | None = None) -> PanelPort | None:
        """Where a port (in plan or discovered keys) is on its device's panel; of a second half, the whole port.

        :param panel: the panel, where the caller was told of one; else ``panel`` is asked.
        """
        panel = panel or self.panel(port.node)
        if panel is None:
            return None
        node = self.binding.plan.fabric.nodes.get(port.node) or self.seen.nodes.get(port.node)
        if panel.kind == "host":
            return panel.behind(node.hca) if node is not None and node.hca else None
        known = self._faces.get(id(panel))
        if known is None:
            known = self._faces[id(panel)] = (panel, {row.number: row for row in reversed(panel.ports)})
        return known[1].get(self.normal(port)[0])

    def own_number(self, port: Port) -> int:
        """The number the device itself shows for a port (in plan or discovered keys)."""
        return self.numbering.own(*self._keys(port.node), port.number)[0] if self._renumbered else port.number

    def own_count(self, key: str, ports: int) -> int:
        """A device's number of ports as it shows it itself. :param ports: as counted here."""
        return self.numbering.own_count(*self._keys(key), ports) if self._renumbered else ports

    def at_own_number(self, key: str, shown: int) -> Port:
        """The port that a device (plan or discovered key) itself shows under a number."""
        return Port(key, self.numbering.own_back(*self._keys(key), shown) if self._renumbered else shown)

    def normal(self, port: Port) -> tuple[int, ...]:
        """What tells a port (in plan or discovered keys) in every profile, see ``End.normal``."""
        return (
            self.numbering.normal(*self._keys(port.node), port.number) if self._renumbered else (port.number,)
        )

    def at_normal(self, key: str, told: Sequence[int]) -> Port | None:
        """``normal`` backwards: the port of a device; None for a second half where nobody uses one."""
        number = self.numbering.normal_back(*self._keys(key), told)
        return Port(key, number) if number is not None else None

    def splits(self, key: str) -> bool:
        """Whether a device's ports are counted here in the split-ready profile, two numbers a port."""
        return self._renumbered and self.numbering.splits(*self._keys(key))

    def profile(self, key: str) -> Profile | None:
        """The profile a switch shows its ports in (of an unseen one, the plan's); None when it has only one."""
        return self.numbering.shown(*self._keys(key)) if self._renumbered else None

    @cached_property
    def _renumbered(self) -> bool:
        return bool(self.numbering.halves)

    def _keys(self, key: str) -> tuple[str | None, str | None]:
        """Plan key and discovered key of a device."""
        if key in self.binding.plan.fabric.nodes:
            return key, self.binding.seen_of.get(key)
        return self.binding.plan_of.get(key), key

    def _end(
        self,
        node: Node,
        model: str,
        port: Port,
        seen_key: str | None,
        place: Place | None,
        guid: str,
        key: str,
    ) -> End:
        is_hca = node.kind is NodeKind.HCA
        planned = port.node if seen_key != port.node else None
        number, label = self.numbering.own(planned, seen_key, port.number)
        if is_hca:
            label = self._hca_label(port)
        elif label is None:
            label = self._label(node.name, model, number)
        text = "" if label == str(number) else label
        where = str(place) if place is not None else ""
        normal = self.numbering.normal(planned, seen_key, port.number)
        return End(node.name, number, text, where, guid, is_hca, key, port, normal)

    def key(self, planned: str) -> str:
        """What tells a planned node from every other in every run: its name, its key where that is planned twice."""
        name = name_key(self.binding.plan.fabric.nodes[planned].name)
        return name if name not in self._twice else planned

    def seen_key(self, seen: str) -> str:
        """The same of a discovered node; one that nobody planned is told by its key."""
        planned = self.binding.plan_of.get(seen)
        return seen if planned is None else self.key(planned)

    @cached_property
    def _twice(self) -> frozenset[str]:
        counts = Counter(name_key(node.name) for node in self.binding.plan.fabric.nodes.values())
        return frozenset(name for name, number in counts.items() if number > 1)

    def _label(self, name: str, model: str, number: int) -> str:
        if self.knowledge.model_of is None:
            return ""
        if name not in self._models:
            self._models[name] = self.knowledge.model_of(name, model)
        found = self._models[name]
        return found.shown.get(number, "") if found is not None else ""

    def _hca_label(self, port: Port) -> str:
        """The host's own panel, where the site file names it: ``OSFP1P1``."""
        found = self.panel_port(port) if self.knowledge.panel_of is not None else None
        return found.label if found is not None else ""
