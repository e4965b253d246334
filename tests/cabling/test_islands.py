from __future__ import annotations

from pathlib import Path

from fabricctl.cabling.bind import bind
from fabricctl.cabling.islands import (
    Islands,
    find_islands,
    islands_words,
    planned_words,
    split_finding,
)
from fabricctl.cabling.model import Finding, FindingKind, Island
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.snapshot import plan_from_observation
from tests.cabling.fabrics import Cable, plan, seen
from tests.conftest import read_capture

A: list[Cable] = [
    ("l1", 1, "s1", 1),
    ("l2", 1, "s1", 2),
    ("l1", 2, "s2", 1),
    ("l2", 2, "s2", 2),
    ("g1 mlx5_0", 1, "l1", 11),
    ("g2 mlx5_0", 1, "l2", 11),
]
"""One network of four switches and two HCAs."""
A_TORN: list[Cable] = [
    ("l1", 1, "s1", 1),
    ("l1", 2, "s1", 2),
    ("l2", 1, "s2", 1),
    ("l2", 2, "s2", 2),
    *A[4:],
]
"""The same ports, but each leaf has both its cables to one spine: two networks of two switches and one HCA."""
B: list[Cable] = [("x1", 1, "y1", 1), ("x2", 1, "y1", 2)]
"""Another network of three switches."""


def found(planned: list[Cable], actual: list[Cable], *alone: str) -> Islands:
    observation = seen(actual, alone=alone)
    return find_islands(bind(plan(planned), observation.fabric), observation)


def split(planned: list[Cable], actual: list[Cable], *alone: str) -> Finding | None:
    return split_finding(found(planned, actual, *alone))


def eight_planes() -> list[Cable]:
    """Eight times a spine with two leaves of one HCA each: no cable joins them."""
    cables: list[Cable] = []
    for k in range(8):
        for leaf in ("a", "b"):
            cables.append((f"l{k}{leaf}", 1, f"s{k}", 1 if leaf == "a" else 2))
            cables.append((f"g{leaf} mlx5_{k}", 1, f"l{k}{leaf}", 11))
    return cables


def test_a_network_seen_in_two_pieces_is_said_though_another_planned_one_is_unseen() -> None:
    finding = split(A + B, A_TORN)
    assert finding is not None
    assert finding.kind is FindingKind.SPLIT_FABRIC
    assert finding.headline == "one of the planned networks is in 2 islands that cannot reach each other"
    assert finding.expected == "one network of 4 switches, 2 HCAs (mlx5_0 only)"
    assert finding.found == "2 islands of 2 switches, 1 HCA (mlx5_0 only) each"


def test_two_networks_of_which_each_is_seen_whole_are_no_split() -> None:
    islands = found(A + B, A + B)
    assert split_finding(islands) is None
    assert [(i.switches, i.hcas) for i in islands.planned] == [(4, 2), (3, 0)]
    assert islands.seen_in == ((0,), (1,))


def test_a_network_of_which_one_island_is_seen_is_no_split() -> None:
    assert split(A + B, A_TORN[:2]) is None


def test_two_torn_networks_are_one_finding_that_names_both() -> None:
    finding = split(A + B, A_TORN + B[:1], "x2")
    assert finding is not None
    assert finding.headline == "2 of the planned networks are in 4 islands that cannot reach each other"
    assert finding.expected == "2 networks: 4 switches, 2 HCAs (mlx5_0 only); 3 switches, no HCA"


def test_two_planned_networks_that_a_cable_joins_are_seen_on_one_island() -> None:
    islands = found(A + B, [*A, *B, ("s1", 9, "y1", 9)])
    assert islands.seen_in == ((0, 1),)
    assert split_finding(islands) is None


def test_a_spare_switch_without_a_cable_does_not_make_the_plan_several_networks() -> None:
    planned = plan(A)
    planned.fabric.nodes |= plan(B).fabric.nodes  # x1, x2 and y1 lie in the rack, no cable is planned
    observation = seen(A_TORN, alone=["x1", "x2", "y1"])
    finding = split_finding(find_islands(bind(planned, observation.fabric), observation))
    assert finding is not None
    assert finding.headline == "the fabric is in 2 islands that cannot reach each other"
    assert finding.expected == "one network"


def test_switches_that_see_nothing_are_counted_after_the_large_islands() -> None:
    finding = split([*A, *[(f"n{k}", 1, "s1", 20 + k) for k in range(3)]], A, "n0", "n1", "n2")
    assert finding is not None
    assert finding.found == "4 switches, 2 HCAs (mlx5_0 only); and 3 switches that see nothing"
    assert finding.headline == "the fabric is in 4 islands that cannot reach each other"


def test_nothing_but_switches_that_see_nothing_reads_well() -> None:
    assert islands_words([Island(1, 0)] * 2) == "2 switches that see nothing"
    assert islands_words([Island(2, 0), Island(1, 0)]) == "2 switches, no HCA; and 1 switch that sees nothing"


def test_of_many_islands_eight_kinds_are_named() -> None:
    large = [Island(number, 0) for number in range(20, 10, -1)]
    named = [f"{number} switches, no HCA" for number in range(20, 12, -1)]
    words = islands_words([*large, *[Island(1, 0)] * 1200])
    assert words == "; ".join([*named, "and 2 more", "and 1,200 switches that see nothing"])


def test_islands_alike_are_named_once() -> None:
    leaf = Island(1, 50, (("mlx5_0", 50),))
    words = islands_words([Island(1310, 400, (("mlx5_0", 400),)), *[leaf] * 30])
    assert (
        words == "1,310 switches, 400 HCAs (mlx5_0 only); 30 islands of 1 switch, 50 HCAs (mlx5_0 only) each"
    )


def test_an_hca_that_sees_no_switch_is_no_split_and_is_said_beside_one() -> None:
    assert split(A, A[:-1], "g2 mlx5_0") is None
    finding = split(A, A_TORN[:-1], "g2 mlx5_0")
    assert finding is not None
    assert finding.headline.endswith(
        "2 islands that cannot reach each other, and 1 HCA sees no switch at all"
    )


def test_an_hca_on_a_switch_outside_the_plan_is_not_said_to_see_no_switch() -> None:
    finding = split(A, [*A_TORN[:-1], ("g2 mlx5_0", 1, "stranger", 1)])
    assert finding is not None
    assert finding.headline == "the fabric is in 2 islands that cannot reach each other"


def test_a_plan_of_eight_planes_is_eight_networks_and_seeing_all_eight_is_no_split() -> None:
    islands = found(eight_planes(), eight_planes())
    assert islands.planned_pieces == 8
    assert split_finding(islands) is None
    assert (
        planned_words(islands)
        == "the plan itself is 8 networks that no cable joins: 3 switches and 2 HCAs each, of one rail"
    )


def test_planned_networks_of_different_size_are_listed() -> None:
    other: list[Cable] = [(f"h{n} mlx5_0", 1, "x1", n) for n in range(11, 16)]
    islands = found([*A, *B, *other], A)
    assert islands.planned_pieces == 2
    sizes = "3 switches, 5 HCAs (mlx5_0 only); 4 switches, 2 HCAs (mlx5_0 only)"
    assert planned_words(islands) == f"the plan itself is 2 networks that no cable joins: {sizes}"


def test_a_piece_of_the_plan_without_hcas_is_not_a_network_of_its_own() -> None:
    islands = found(A + B, A)
    assert islands.planned_pieces == 1
    assert planned_words(islands) == ""


def test_the_published_design_slip_is_said_of_the_plan_itself(captures: Path) -> None:
    # 512 hosts of eight HCAs; eight planes of 16 leaves, 16 spines and 8 cores each
    observation = parse_any(read_capture(captures / "ibsim/iso.net.gz"), "iso.net")
    planned = plan_from_observation(observation)
    planned.keyed_by_guid = True
    islands = find_islands(bind(planned, observation.fabric), observation)
    assert (islands.planned_pieces, split_finding(islands)) == (8, None)
    assert planned_words(islands) == (
        "the plan itself is 8 networks that no cable joins: 40 switches and 512 HCAs each, of one rail"
    )


def test_maintenance_of_a_switch_excuses_what_only_it_connects() -> None:
    planned: list[Cable] = [
        ("core1", 1, "spine1", 1),
        ("spine1", 2, "leaf1", 1),
        ("gpu1 mlx5_0", 1, "leaf1", 9),
    ]
    planned += [("core1", 2, "spine2", 1)]
    verdict = verify(
        plan(planned), seen([("core1", 2, "spine2", 1)]), Options(expected_absent={"spine1": "fans on order"})
    )
    assert (verdict.exit_code, verdict.counts.ok, verdict.counts.excused) == (0, 1, 3)
