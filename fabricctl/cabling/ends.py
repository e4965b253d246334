"""Ports as people read them: name, front-panel label, rack and unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.model import End
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Fabric, NodeKind, Place, Port
from fabricctl.models import SwitchModel


@dataclass(frozen=True)
class Knowledge:
    """What helps to print a port, beside plan and discovery.

    :param place_of: device or host name -> place; :param model_of: device name and discovered model -> model.
    """

    place_of: Mapping[str, Place] = field(default_factory=dict)
    model_of: Callable[[str, str], SwitchModel | None] | None = None


class Ends:
    """Makes ``End`` values from planned and from discovered ports."""

    def __init__(self, binding: Binding, seen: Fabric, knowledge: Knowledge | None = None) -> None:
        self.binding, self.seen = binding, seen
        self.knowledge = knowledge or Knowledge()
        self._models: dict[str, SwitchModel | None] = {}

    def planned(self, port: Port) -> End:
        """A planned port."""
        node = self.binding.plan.fabric.nodes[port.node]
        seen_key = self.binding.seen_of.get(port.node)
        seen_node = self.seen.nodes.get(seen_key) if seen_key else None
        place = node.place or self._place(node.name, node.host)
        guid = node.guid or (seen_node.guid if seen_node else None) or ""
        model = node.model or (seen_node.model if seen_node else "")
        is_hca = node.kind is NodeKind.HCA
        return End(
            node.name,
            port.number,
            self._label(node.name, model, port.number, is_hca),
            _text(place),
            guid,
            is_hca,
            self.key(node.key),
        )

    def discovered(self, port: Port) -> End:
        """A discovered port; a planned device keeps its planned name."""
        planned = self.binding.plan_of.get(port.node)
        if planned is not None:
            return self.planned(Port(planned, port.number))
        node = self.seen.nodes[port.node]
        place = self._place(node.name, node.host)
        is_hca = node.kind is NodeKind.HCA
        label = self._label(node.name, node.model, port.number, is_hca)
        guid = node.guid or node.key
        return End(node.name, port.number, label, _text(place), guid, is_hca, node.key)

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

    def _place(self, name: str, host: str | None) -> Place | None:
        places = self.knowledge.place_of
        return places.get(name) or (places.get(host) if host else None)

    def _label(self, name: str, model: str, number: int, is_hca: bool) -> str:
        if is_hca or self.knowledge.model_of is None:
            return ""
        if name not in self._models:
            self._models[name] = self.knowledge.model_of(name, model)
        found = self._models[name]
        label = found.shown.get(number, "") if found is not None else ""
        return "" if label == str(number) else label


def _text(place: Place | None) -> str:
    return str(place) if place is not None else ""
