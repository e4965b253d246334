"""How far cables reach, row by row of the product pages, and what the moves say about it."""

from __future__ import annotations

import pytest

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.fabric import Fabric, LinkDetail
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.rates import Rate
from fabricctl.repair.assemblies import KINDS
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.model import AssemblyType, RepairPlan
from fabricctl.repair.reach import limit_of
from fabricctl.repair.solve import plan_repair
from tests.repair.plug_hall import Hall
from tests.repair.technician import order_for
from tests.repair.test_by_hand import sw

INF = float("inf")
DEPENDS = "reach depends on the transceiver"


@pytest.mark.parametrize(
    ("kind", "speed", "part", "modules", "sure", "most"),
    [
        # straight fibre: multimode 50 m (OM3 30), single-mode 100 m (-NS) or 500 m (-NM)
        ("fibre_straight", "NDR", "MFP7E10-N050", (), 50, 50),
        ("fibre_straight", "NDR", "", ("MMA4Z00-NS",), 50, 50),
        ("fibre_straight", "NDR", "MFP7E10-OM3", ("MMA4Z00-NS", "MMA4Z00-NS"), 30, 30),
        ("fibre_straight", "NDR", "MFP7E30-N100", ("MMS4X00-NS",), 100, 100),
        ("fibre_straight", "NDR", "MFP7E30-N100", ("MMS4X00-NM", "MMS4X00-NM"), 500, 500),
        ("fibre_straight", "NDR", "", ("mms4x00-ns", "MMS4X00-NM"), 100, 100),
        ("fibre_straight", "NDR", "MFP7E30-N100", (), 100, 500),
        ("fibre_straight", "NDR", "", (), 50, 500),
        ("fibre_straight", "HDR", "", (), 50, INF),
        # XDR: single-mode only
        ("fibre_straight", "XDR", "MFP7E30-N100", (), 500, 500),
        ("fibre_straight", "XDR", "MFP7E10-N050", (), 0, 0),
        ("fibre_straight", "XDR", "", ("MMA4Z00-NS",), 0, 0),
        # splitters: 50 m, multimode and single-mode
        ("fibre_split_1x2", "NDR", "MFP7E20-N030", (), 50, 50),
        ("fibre_split_1x2", "NDR", "MFP7E40-N030", ("MMS4X00-NM",), 50, 50),
        ("fibre_split_1x2", "XDR", "MFP7E20-N030", (), 0, 0),
        ("fibre_split_1x2", "XDR", "MFP7E40-N030", (), 0, INF),
        # copper: as long as it is made
        ("twin_dac", "NDR", "MCP4Y10-N002", (), 2, 2),
        ("twin_acc", "NDR", "MCA4J80-N005", (), 5, 5),
        ("dac_split_1x2", "NDR", "MCP7Y00-N003", (), 3, 3),
        ("dac_split_1x2", "NDR", "MCP7Y10-N003", (), 3, 3),
        ("dac_split_1x2", "NDR", "MCA7J60-N005", (), 5, 5),
        ("dac_split_1x4", "NDR", "MCP7Y50-N003", (), 3, 3),
        ("dac_split_1x4", "NDR", "MCA7J75-N005", (), 5, 5),
        ("dac_split_1x4", "NDR", "", (), 5, 5),
        # XDR: no DAC, no NDR ACC, no AOC; of LACC no length was found
        ("twin_dac", "XDR", "", (), 0, 0),
        ("twin_acc", "XDR", "MCA4J80-N005", (), 0, 0),
        ("twin_acc", "XDR", "", (), 0, INF),
        ("dac_split_1x2", "XDR", "MCP7Y00-N003", (), 0, 0),
        ("single_dac", "XDR", "MFS1S00-H010E", (), 0, 0),
        # what no row names: the greatest length of the kind
        ("twin_dac", "", "", (), 2, 2),
        ("single_dac", "HDR", "MCP1650-H001E30", (), INF, INF),
    ],
)
def test_each_row_of_the_product_pages(
    kind: str, speed: str, part: str, modules: tuple[str, ...], sure: float, most: float
) -> None:
    limit = limit_of(KINDS[AssemblyType(kind)], speed, (part,), modules)
    assert (limit.sure_m, limit.most_m) == (sure, most)
    assert bool(limit.why) == (sure != most or most == 0)


def at_speed(
    hall: Hall,
    speed: str = "NDR",
    planned: LinkDetail | None = None,
    seen_detail: LinkDetail | None = None,
    speeds: dict[str, str] | None = None,
) -> Comparison:
    """The hall with planned speeds and what plan and EEPROMs tell of parts. :param speeds: of some devices' links."""

    def told(made: Fabric, detail: LinkDetail | None, *, rates: bool) -> Fabric:
        known = {name: value for name, value in (detail or LinkDetail())._asdict().items() if value}
        for link in list(made.each_link()):
            near = made.nodes[link.a.node].name
            rate = Rate(4, (speeds or {}).get(near, speed)) if rates else None
            both = (link.detail or LinkDetail())._replace(**known)
            made.links[link.a] = made.links[link.b] = link._replace(rate=rate, detail=both)
        return made

    intended = Plan(told(hall.fabric(hall.slots, planned=True), planned, rates=True), PlanFormat.CSV)
    found = told(hall.fabric(hall.cables, planned=False), seen_detail, rates=False)
    source = Source("test", DiscoveryFormat.IBNETDISCOVER, len(found.nodes), found.link_count)
    comparison = verify(intended, Observation(found, [source])).comparison
    assert comparison is not None
    return comparison


def swapped(kind: str = "fibre_straight", ports: int = 1) -> Hall:
    hall = Hall()
    numbers = range(1, ports + 1)
    one = hall.want(kind, sw("a", *numbers), sw("b", *numbers))
    two = hall.want(kind, sw("c", *numbers), sw("d", *numbers))
    hall.swap((one, 1), (two, 1))
    return hall


def apart(metres: float) -> RepairKnowledge:
    return RepairKnowledge(distance_m=lambda _a, _b: metres)


def said(plan: RepairPlan) -> set[tuple[bool | None, str]]:
    return {(move.reaches, move.note) for move in plan.moves}


@pytest.mark.parametrize(
    ("metres", "planned", "result"),
    [
        (50, LinkDetail(), (True, "")),
        (60, LinkDetail(), (None, DEPENDS)),
        (60, LinkDetail(part_number="MFP7E10-N050"), (False, "")),
        (60, LinkDetail(part_number="MFP7E30-N060"), (True, "")),
        (120, LinkDetail(part_number="MFP7E30-N060"), (None, DEPENDS)),
        (120, LinkDetail(modules=("MMS4X00-NS", "MMS4X00-NS")), (False, "")),
        (120, LinkDetail(modules=("MMS4X00-NM", "MMS4X00-NM")), (True, "")),
        (60, LinkDetail(modules=("MMA4Z00-NS", "MMA4Z00-NS")), (False, "")),
        (501, LinkDetail(), (False, "")),
    ],
)
def test_what_the_plan_says_of_fibre_and_transceivers_decides(
    metres: float, planned: LinkDetail, result: tuple[bool | None, str]
) -> None:
    comparison = at_speed(swapped(), planned=planned)
    assert said(plan_repair(comparison, apart(metres))) == {result}


def test_transceivers_that_were_read_outrank_those_of_the_plan() -> None:
    far, near = LinkDetail(modules=("MMS4X00-NM",) * 2), LinkDetail(modules=("MMS4X00-NS",) * 2)
    comparison = at_speed(swapped(), planned=far, seen_detail=near)
    plan = plan_repair(comparison, apart(120))
    assert said(plan) == {(False, "")}
    assert {move.cable.type_from.value for move in plan.moves} == {"plan"}


def test_a_doubtful_reach_is_said_in_the_step() -> None:
    order = order_for(at_speed(swapped()), apart(60))
    assert all(f"note: {DEPENDS}" in step.stop_if for step in order.steps)


def test_a_twin_dac_never_passes_at_xdr_and_the_step_says_why() -> None:
    comparison = at_speed(swapped("twin_dac", 2), "XDR")
    plan = plan_repair(comparison)
    [(reaches, note)] = said(plan)
    assert reaches is False
    assert "XDR takes no DAC" in note
    assert any("2 plugs belong to cables that do not link" in text for text in plan.notes)
    assert {move.reaches for move in plan_repair(comparison, apart(1)).moves} == {False}
    for step in order_for(comparison).steps:
        assert any("no cable of this make links there" in text for text in step.stop_if)
        assert not any("does not reach" in text for text in step.stop_if)


def test_multimode_never_passes_at_xdr() -> None:
    plan = plan_repair(at_speed(swapped(), "XDR", LinkDetail(part_number="MFP7E10-N010")), apart(10))
    assert said(plan) == {(False, "XDR takes no multimode fibre")}


def test_a_plug_that_changes_between_speed_classes_is_noted() -> None:
    comparison = at_speed(swapped(), speeds={"a": "HDR", "c": "NDR"})
    notes = {move.note for move in plan_repair(comparison).moves}
    assert len(notes) == 2
    assert all("do not link with each other" in note for note in notes)
    assert {move.note for move in plan_repair(at_speed(swapped(), "HDR")).moves} == {""}
    slow = at_speed(swapped(), speeds={"a": "EDR", "c": "HDR"})  # one class of optics and below
    assert {move.note for move in plan_repair(slow).moves} == {""}
