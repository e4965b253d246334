"""Acts on ports that share one plug: heads of splitters, both ends of twin cables."""

from __future__ import annotations

import random
from functools import cache

import pytest

from fabricctl.causes.explain import explain
from fabricctl.causes.model import Cause, CauseKind, Confidence
from fabricctl.fabric import LinkDetail
from fabricctl.plan.model import Plan
from tests.causes.named import NAMED, SPLIT
from tests.causes.nets import case, compare, declare_uplinks, fabric_of, known, node_named, plan_of
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, End, Net, build

# -- splitters -------------------------------------------------------------------------------------------------


NO_HAND = (
    "no hand can do this with the declared {}: the kind of cable is declared wrongly, or a device is not the one "
    "it is taken for"
)


def test_what_no_hand_can_do_with_splitters_is_said() -> None:
    """A row of host plugs one port further: with heads of two ports that is a wrong type or identity."""
    (cause,) = case("hall", "host-ports-rotated", splitter=SPLIT).explanation.causes
    assert cause.kind is CauseKind.SHIFTED
    assert NO_HAND.format("splitters") in cause.evidence
    assert cause.confidence is Confidence.LIKELY
    assert (
        cause.fix == "look at the cables of ibl-p03-r2: part number at the plug, serial number of the device"
    )


def test_crossed_tails_are_not_told_as_cage_ports_when_much_else_is_wrong() -> None:
    found = case("hall", "unit-rotated", "tails-crossed", splitter=SPLIT, knowledge=known(), seed=11)
    kinds = {cause.kind: cause for cause in found.explanation.causes}
    assert set(kinds) == {CauseKind.SHIFTED, CauseKind.TAILS_CROSSED}
    assert "tails of 16 splitters" in kinds[CauseKind.TAILS_CROSSED].headline


# -- twin cables -----------------------------------------------------------------------------------------------


def with_twins(detail: LinkDetail, *kinds: str) -> tuple[Net, Plan]:
    """The hall with its leaf-spine layer declared as cables with two ports at each end, and faults in it."""
    healthy, plan = declared(detail)
    net = Net(dict(healthy.boxes), dict(healthy.cables))
    inject(net, kinds, random.Random(1))
    return net, plan


@cache
def declared(detail: LinkDetail) -> tuple[Net, Plan]:
    """Made once: nobody may change them."""
    net = build(SHAPES["hall"])
    plan = plan_of(net)
    declare_uplinks(plan, net, detail)
    return net, plan


def causes_of(net: Net, plan: Plan) -> tuple[Cause, ...]:
    return explain(compare(plan, fabric_of(net, by_guid=True)), known()).causes


@pytest.mark.parametrize(
    ("detail", "word", "kind", "told"),
    [
        (LinkDetail(assembly="twin_dac"), "twin DACs", "leaf-rotated", CauseKind.SHIFTED),
        (LinkDetail(assembly="twin_acc"), "twin ACCs", "cages-exchanged", CauseKind.CAGE_PORTS_EXCHANGED),
        (LinkDetail(part_number="MCP4Y10-N001"), "twin DACs", "leaf-rotated", CauseKind.SHIFTED),
    ],
)
def test_what_no_hand_can_do_with_twin_cables_is_said(
    detail: LinkDetail, word: str, kind: str, told: CauseKind
) -> None:
    """Uplinks one port further, or the two ports of each cage exchanged: both ports sit in one plug."""
    (cause,) = causes_of(*with_twins(detail, kind))
    assert cause.kind is told
    assert NO_HAND.format(word) in cause.evidence
    assert cause.confidence is Confidence.LIKELY
    assert (
        cause.fix == "look at the cables of ibl-p05-r3: part number at the plug, serial number of the device"
    )


@pytest.mark.parametrize("kind", ["leaf-misplaced", "uplink-bundles", "spine-bundles"])
def test_what_keeps_twin_plugs_whole_is_certain(kind: str) -> None:
    (cause,) = causes_of(*with_twins(LinkDetail(assembly="twin_dac"), kind))
    assert cause.kind is NAMED[kind][0]
    assert cause.confidence is Confidence.CERTAIN
    assert "no hand" not in cause.evidence


def test_twin_plugs_one_cage_further_are_possible() -> None:
    """Two ports make one cage: the plugs keep their two ports together."""
    net, plan = with_twins(LinkDetail(assembly="twin_dac"))
    leaf = node_named(net, "ibl-p05-r3")
    far = [net.cut(End(leaf, port)) for port in range(33, 65)]
    for at, end in enumerate(far):
        net.connect(End(leaf, 33 + (at + 2) % 32), end)
    (cause,) = causes_of(net, plan)
    assert cause.headline == "uplinks of ibl-p05-r3 rotated by one cage"
    assert cause.confidence is Confidence.CERTAIN


def exchange(net: Net, a: End, b: End) -> None:
    far_a, far_b = net.cut(a), net.cut(b)
    net.connect(a, far_b)
    net.connect(b, far_a)


def test_two_twin_cables_exchanged_are_one_exchange_of_four_links() -> None:
    net, plan = with_twins(LinkDetail(assembly="twin_dac"))
    one, two = node_named(net, "ibl-p02-r1"), node_named(net, "ibl-p04-r3")
    for lane in (0, 1):
        exchange(net, End(one, 33 + lane), End(two, 47 + lane))
    (cause,) = causes_of(net, plan)
    assert (cause.kind, cause.links, cause.confidence) == (CauseKind.SWAPPED, 4, Confidence.CERTAIN)
    assert cause.headline == "twin cables at ibl-p02-r1/33 and ibl-p04-r3/47 exchanged"


def test_half_a_twin_cable_cannot_be_exchanged() -> None:
    net, plan = with_twins(LinkDetail(assembly="twin_dac"))
    exchange(net, End(node_named(net, "ibl-p02-r1"), 33), End(node_named(net, "ibl-p04-r3"), 47))
    (cause,) = causes_of(net, plan)
    assert (cause.kind, cause.links, cause.confidence) == (CauseKind.SWAPPED, 2, Confidence.LIKELY)
    assert NO_HAND.format("twin DACs") in cause.evidence
    assert cause.fix.startswith("look at the cables of ibl-p02-r1 and ibl-p04-r3: ")
