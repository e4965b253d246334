"""Work orders of generated fabrics, carried out on the net itself, cable end by cable end."""

from __future__ import annotations

import random
from functools import cache
from time import process_time

import pytest

from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.discovery import ibnetdiscover
from fabricctl.discovery.model import Observation
from fabricctl.model_tables import find_model
from fabricctl.models import SwitchModel
from fabricctl.panel_tables import panel_of_model
from fabricctl.plan.model import Plan
from fabricctl.plan.table import parse_csv
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.order_check import StepState, check, counts
from fabricctl.repair.order_model import PortId, WorkOrder
from fabricctl.repair.solve import plan_repair
from fabricctl.repair.work_order import make_order
from tests.cabling.split_ready import of_tier, split_ready
from tests.sim.cabling_csv import cabling_csv
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, End, Net, build, discovery_lines


def model_of(_device: str, model: str) -> SwitchModel | None:
    return find_model(model) if model else None


OPTIONS = Options(knowledge=Knowledge(model_of=model_of))


@cache
def plan(shape: str) -> Plan:
    return parse_csv(cabling_csv(build(SHAPES[shape])), "cabling.csv")


def look(net: Net) -> Observation:
    return ibnetdiscover.parse("".join(discovery_lines(net)), "now.txt")


def order_of(net: Net, shape: str) -> WorkOrder:
    comparison = verify(plan(shape), look(net), OPTIONS).comparison
    assert comparison is not None
    qm9700 = panel_of_model("QM9700")
    nodes = comparison.binding.plan.fabric.nodes
    known = RepairKnowledge(panel_of=lambda key: None if nodes[key].host else qm9700)
    return make_order(plan_repair(comparison, known), comparison, known)


def end_of(net: Net, port: PortId) -> End:
    guid = int(port.guid, 16)
    node = next(node for node, box in net.boxes.items() if box.guid == guid)
    return End(node, port.port)


def work(net: Net, order: WorkOrder) -> None:
    """Every plug of the order goes where it says; the far ends stay where they are."""
    far = {}
    for step in order.steps:
        for joint in step.joints:
            assert joint.source is not None
            far[step.number] = net.cut(end_of(net, joint.source))
    for step in order.steps:
        for joint in step.joints:
            assert joint.target is not None
            net.connect(end_of(net, joint.target), far[step.number])


@pytest.mark.parametrize("split", [False, True], ids=["normal", "split-ready"])
def test_the_ports_are_those_the_switches_themselves_count(split: bool) -> None:
    """A plan in the normal profile, switches in the other: the order is checked against the raw discovery."""
    net = build(SHAPES["hall"])
    inject(net, ["swap:3"], random.Random(7))
    if split:
        net = split_ready(net, of_tier(net))
    order = order_of(net, "hall")
    assert len(order.steps) == 6
    assert all(step.targets[0].where.startswith("cage ") for step in order.steps)
    assert counts(check(order, look(net)))[StepState.OPEN] == 6
    work(net, order)
    assert counts(check(order, look(net)))[StepState.DONE] == 6


def test_an_order_of_the_320_switch_fabric_takes_well_under_a_second() -> None:
    net = build(SHAPES["hall"])
    inject(net, ["swap:20", "host-swap:20", "shift:20"], random.Random(3))
    seen = look(net)
    comparison = verify(plan("hall"), seen, OPTIONS).comparison
    assert comparison is not None
    repair = plan_repair(comparison)
    start = process_time()
    order = make_order(repair, comparison, RepairKnowledge())
    result = check(order, seen)
    assert process_time() - start < 8  # ten times what a quiet machine takes
    assert len(order.steps) == len(result.steps) == 40 + 40 + 80
