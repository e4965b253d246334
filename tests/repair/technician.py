"""Somebody who holds nothing but the work order, and does what it says to a small hall."""

from __future__ import annotations

from fabricctl.cabling.comparison import Comparison
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.fabric import Place as RackPlace
from fabricctl.panel_tables import panel_of_model
from fabricctl.panels import Panel
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.order_model import About, Spot, Step, StepKind, WorkOrder
from fabricctl.repair.solve import plan_repair
from fabricctl.repair.work_order import make_order
from tests.repair.plug_hall import Cable, Hall, Place


class Technician:
    """Carries out steps. Every instruction that cannot be followed as written is an assertion error."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self.hanging: dict[Place, tuple[Cable, int]] = {}

    def do(self, step: Step) -> None:
        if step.kind is StepKind.PULL:
            for spot in step.sources:
                cable, at = self.sitting(place_of(spot))
                cable.places[at] = None
            return
        if step.kind is StepKind.LAY:
            for spot in step.targets:
                assert not self.in_the_way(place_of(spot)), spot.words
            self.hall.lay(step.cable.value, *map(place_of, step.targets))
            return
        source, target = place_of(step.sources[0]), place_of(step.targets[0])
        plug = None if step.hangs_since else self.sitting(source)
        cleared = [found for found in self.in_the_way(target) if found != plug]
        assert len(cleared) == len(step.first), step.text
        for cable, at in cleared:
            was = cable.places[at]
            assert was is not None
            self.hanging[was] = (cable, at)
            cable.places[at] = None
        cable, at = plug or self.hanging.pop(source)
        cable.places[at] = target

    def sitting(self, place: Place) -> tuple[Cable, int]:
        found = [(c, at) for c in self.hall.cables for at, where in enumerate(c.places) if where == place]
        assert len(found) == 1, f"{len(found)} plugs in {place}"
        return found[0]

    def in_the_way(self, place: Place) -> list[tuple[Cable, int]]:
        return [
            (cable, at)
            for cable in self.hall.cables
            for at, where in enumerate(cable.places)
            if where is not None and set(where) & set(place)
        ]


def place_of(spot: Spot) -> Place:
    return tuple((port.name, port.port) for port in spot.ports)


def look(hall: Hall) -> Observation:
    """What a discovery shows."""
    seen = hall.fabric(hall.cables, planned=False)
    return Observation(seen, [Source("now", DiscoveryFormat.IBNETDISCOVER, len(seen.nodes), seen.link_count)])


def knowledge(
    racks: dict[str, RackPlace] | None = None, models: dict[str, str] | None = None
) -> RepairKnowledge:
    """Places and panels by device name. :param models: device -> model name of a packaged panel."""

    def panel(key: str) -> Panel | None:
        model = (models or {}).get(key) or (models or {}).get(key.split(" ")[0])
        return panel_of_model(model) if model else None

    return RepairKnowledge(panel_of=panel, place_of=(racks or {}).get)


def order_of(hall: Hall, known: RepairKnowledge | None = None, about: About | None = None) -> WorkOrder:
    """The work order that repairs a hall."""
    return order_for(hall.compare(), known, about)


def order_for(
    comparison: Comparison, known: RepairKnowledge | None = None, about: About | None = None
) -> WorkOrder:
    known = known or knowledge()
    return make_order(plan_repair(comparison, known), comparison, known, about)
