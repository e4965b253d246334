"""What is still named when the pattern is broken, what never is, and what holds whatever was done."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.causes.chance import expected_by_chance
from fabricctl.causes.explain import explain
from fabricctl.causes.model import CauseKind, Confidence, Explanation, covered
from fabricctl.causes.residual import wrong_links
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.discovery.recognise import parse_any
from fabricctl.fabric import Fabric
from fabricctl.plan.model import Plan
from fabricctl.plan.snapshot import plan_from_observation
from tests.cabling.fabrics import plan as by_hand
from tests.cabling.fabrics import seen as seen_by_hand
from tests.cabling.fabrics import two_tier
from tests.causes.nets import compare, fabric_of, known, plan_of, planned
from tests.conftest import read_capture
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, End, Net, Wiring, build
from tests.sim.systematic import SYSTEMATIC

# -- the two island fabrics: each difference is one cause --------------------------------------------------------


@pytest.mark.parametrize(
    ("planned", "actual", "links", "headline"),
    [
        ("uni.net.gz", "iso.net.gz", 4032, "cores are cabled per rail: the fabric falls into 8 islands"),
        (
            "imbue/fabric.net.gz",
            "imbue-islands/fabric.net.gz",
            4064,
            "leaf uplinks are cabled per rail: the fabric falls into 8 islands",
        ),
    ],
)
def test_eight_islands_are_one_cause(
    captures: Path, planned: str, actual: str, links: int, headline: str
) -> None:
    plan = plan_from_observation(parse_any(read_capture(captures / "ibsim" / planned), planned))
    verdict = verify(plan, parse_any(read_capture(captures / "ibsim" / actual), actual))
    assert verdict.comparison is not None
    found = explain(verdict.comparison)
    (cause,) = found.causes
    assert (cause.kind, cause.links, cause.headline) == (CauseKind.CABLED_PER_RAIL, links, headline)
    assert found.left == ()
    assert "8 islands seen" in cause.evidence


# -- broken patterns -------------------------------------------------------------------------------------------


def rotated_leaf(seed: int = 1) -> tuple[Net, Plan, list[End]]:
    """A hall with one leaf's uplinks rotated; the leaf's uplink ports."""
    healthy, plan = planned("hall", Wiring.UNIFIED)
    net = Net(dict(healthy.boxes), dict(healthy.cables))
    (fault,) = inject(net, ["leaf-rotated"], random.Random(seed))
    leaf = fault.actual[0][0].rpartition("/")[0]
    node = next(key for key, box in net.boxes.items() if box.name == leaf)
    return net, plan, [End(node, port) for port in range(33, 65)]


def explained(net: Net, plan: Plan) -> Explanation:
    return explain(compare(plan, fabric_of(net, by_guid=True)), known())


def test_three_of_its_links_are_down() -> None:
    net, plan, ports = rotated_leaf()
    for port in (ports[2], ports[9], ports[30]):
        net.cut(port)
    found = explained(net, plan)
    (cause,) = found.causes
    assert cause.kind is CauseKind.SHIFTED
    assert cause.evidence == "29 of 29 uplinks sit one port further; 3 cables carry no link"
    assert (cause.links, len(found.left)) == (29, 3)


def test_two_of_its_links_are_swapped_with_others() -> None:
    net, plan, ports = rotated_leaf()
    others = [End(node, 40) for node, box in net.boxes.items() if box.name in ("ibl-p09-r1", "ibl-p12-r5")]
    for port, other in zip((ports[2], ports[9]), others, strict=True):
        far, far_other = net.cut(port), net.cut(other)
        net.connect(port, far_other)
        net.connect(other, far)
    found = explained(net, plan)
    rotation, *swaps = found.causes
    assert rotation.links == 30
    assert (
        rotation.evidence
        == "32 of 32 uplinks sit one port further; 2 cables of them moved once more by another cause"
    )
    assert [cause.kind for cause in swaps] == [CauseKind.SWAPPED, CauseKind.SWAPPED]
    assert found.left == ()


def test_some_uplinks_stayed_right() -> None:
    """Somebody has begun to repair: the first three plugs are back, the one that lay over there hangs free."""
    net, plan, ports = rotated_leaf()
    before = {port: net.cut(port) for port in ports[:4]}
    for port, to in pairwise(ports[:4]):
        net.connect(port, before[to])
    found = explained(net, plan)
    (cause,) = found.causes
    assert cause.kind is CauseKind.SHIFTED
    assert cause.confidence is Confidence.LIKELY
    assert cause.evidence.startswith("28 of 32 uplinks sit one port further; 4 cables do not fit")


def test_plugs_pushed_into_free_ports() -> None:
    """Uplinks on 22 to 25 instead of 21 to 24: the last is in a port the plan leaves free."""
    planned = two_tier(hosts=4, leaves=2, spines=2, width=2)
    actual = [(a, p + 1, b, q) if a == "leaf1" and p > 20 else (a, p, b, q) for a, p, b, q in planned]
    found = explain(compare(by_hand(planned), seen_by_hand(actual).fabric))
    (cause,) = found.causes
    assert cause.headline == "uplinks of leaf1 shifted by one port"
    assert (cause.links, found.left) == (4, ())


def test_one_device_stands_in_the_place_of_one_that_is_not_there() -> None:
    """leaf2 was never delivered, leaf1 hangs in its place."""
    planned = two_tier(hosts=4, leaves=2, spines=2, width=2)
    actual = [
        ("leaf1", p, b, q) if a == "leaf2" else (a, p, "leaf1", q)
        for a, p, b, q in planned
        if "leaf2" in (a, b)
    ]
    alone = ["leaf2", *(f"gpu{n} mlx5_0" for n in range(1, 5))]
    found = explain(compare(by_hand(planned), seen_by_hand(actual, alone=alone).fabric))
    assert [cause.kind for cause in found.systematic] == [CauseKind.WRONG_RACK]
    assert found.systematic[0].links == 8
    assert len(found.left) == 8  # leaf1's own cables are missing


def test_degraded_and_absent_links_are_not_its_business() -> None:
    net = build(SHAPES["medium"])
    plan = plan_of(net)
    inject(net, ["dead-spine", "width:3", "missing:2"], random.Random(1))
    comparison = compare(plan, fabric_of(net, by_guid=True))
    found = explain(comparison)
    assert (found.causes, len(found.left), found.wrong) == ((), 2, 2)


def test_nothing_wrong_nothing_said() -> None:
    net = build(SHAPES["small3"])
    assert explained(net, plan_of(net)) == Explanation()


def test_a_scope_of_one_device_is_enough_for_what_happened_at_it() -> None:
    """--only looks at one of two exchanged leaves: the other's links are not judged, and contradict nothing."""
    net = build(SHAPES["medium"])
    plan = plan_of(net)
    (fault,) = inject(net, ["leaf-misplaced"], random.Random(1))
    seen = fabric_of(net, by_guid=True)
    source = Source("test", DiscoveryFormat.IBNETDISCOVER, len(seen.nodes), seen.link_count)
    leaf = fault.planned[0][1].rpartition("/")[0]
    verdict = verify(plan, Observation(seen, [source]), Options(only=leaf))
    assert verdict.comparison is not None
    (cause,) = explain(verdict.comparison).causes
    assert (cause.kind, cause.links) == (CauseKind.WRONG_RACK, 16)


# -- chance ----------------------------------------------------------------------------------------------------

QUICK = {(20, Wiring.UNIFIED), (2000, Wiring.STRIPED)}


def swapped(net: Net, number: int, seed: int) -> Net:
    """So many exchanges of two links between the same tiers; a link may be hit again."""
    dice = random.Random(seed)
    cables = list(net.each())
    for _ in range(number):
        while True:
            i, j = dice.sample(range(len(cables)), 2)
            (a, b), (c, d) = cables[i], cables[j]
            if net.boxes[a.node].tier == net.boxes[c.node].tier:
                break
        cables[i], cables[j] = (a, d), (c, b)
    made = Net(net.boxes)
    for a, b in cables:
        made.connect(a, b)
    return made


@pytest.mark.parametrize(
    ("number", "wiring"),
    [
        pytest.param(number, wiring, marks=() if (number, wiring) in QUICK else pytest.mark.slow)
        for number in (5, 20, 200, 2000)
        for wiring in (Wiring.UNIFIED, Wiring.STRIPED)
    ],
)
def test_no_cause_is_named_on_random_swaps(number: int, wiring: Wiring) -> None:
    net = build(SHAPES["hall"], wiring)
    found = explained(swapped(net, number, 7), plan_of(net))
    assert found.systematic == ()
    assert len(found.swaps) == number if number < 100 else len(found.swaps) > number / 2


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 20, 200, 2000])
def test_no_cause_is_named_on_many_rolls_of_the_dice(number: int) -> None:
    net = build(SHAPES["hall"])
    plan = plan_of(net)
    for seed in range(100, 120):
        assert explained(swapped(net, number, seed), plan).systematic == (), seed


@pytest.mark.slow
def test_a_cause_is_named_among_two_thousand_random_swaps() -> None:
    net = build(SHAPES["hall"])
    plan = plan_of(net)
    inject(net, ["leaf-misplaced"], random.Random(2))
    (cause,) = explained(swapped(net, 1000, 7), plan).systematic
    assert cause.kind is CauseKind.WRONG_RACK


def test_the_argument_on_chance_in_figures() -> None:
    """12,288 links, 4,000 of them wrong: q = 3 * 4000 / 12288 / 12288 = 7.947e-5, worked out by hand."""
    assert expected_by_chance(2, 2, 4000, 12288) == pytest.approx(12 * 12288 * 7.947e-5, rel=1e-3)
    assert expected_by_chance(4, 32, 4000, 12288) == pytest.approx(12 * 12288 * 120 * 7.947e-5**2, rel=1e-3)


# -- whatever was done -----------------------------------------------------------------------------------------

KINDS = [
    kind
    for kind in SYSTEMATIC
    if "host-cage" not in kind and kind not in ("all-doubled", "unit-host-cage-ports")
] + ["swap:2", "host-swap", "missing:2", "shift", "dead-hca", "dead-leaf", "dead-spine"]


def shuffled(fabric: Fabric, dice: random.Random) -> Fabric:
    """The same fabric read in another order, with the ends of its links turned about."""
    nodes, links = list(fabric.nodes.items()), list(fabric.each_link())
    dice.shuffle(nodes)
    dice.shuffle(links)
    made = Fabric(dict(nodes))
    for link in links:
        made.connect(link)
    return made


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["small3", "medium"]),
    st.sampled_from([Wiring.UNIFIED, Wiring.STRIPED]),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    st.integers(0, 1000),
)
def test_causes_are_disjoint_parts_of_what_is_wrong_in_any_order(
    shape: str, wiring: Wiring, kinds: list[str], seed: int
) -> None:
    net = build(SHAPES[shape], wiring)
    plan = plan_of(net)
    dice = random.Random(seed)
    for kind in kinds:
        try:
            inject(net, [kind], dice)
        except (ValueError, IndexError, KeyError):
            continue  # no room left for this one
    seen = fabric_of(net, by_guid=True)
    comparison = compare(plan, seen)
    found = explain(comparison, known(host_panel=False))
    wrong = [judged.link.a for judged in wrong_links(comparison)]
    told = [port for cause in found.causes for port in cause.explains]
    assert sorted([*told, *found.left]) == sorted(wrong)
    assert found.wrong == len(wrong)
    assert set(covered(found)) == set(told)
    assert all(cause.links >= 2 and cause.headline and cause.evidence and cause.fix for cause in found.causes)
    again = compare(Plan(shuffled(plan.fabric, dice), plan.format), shuffled(seen, dice))
    assert explain(again, known(host_panel=False)) == found
