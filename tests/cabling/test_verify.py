from __future__ import annotations

import pytest

from fabricctl.cabling.binding import Names
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import Options, VerdictWord, verify
from fabricctl.discovery.model import INFORMATION, Problem, ProblemKind, Source, SubnetManager
from fabricctl.fabric import Port, PortState
from fabricctl.rates import Rate
from tests.cabling.fabrics import Cable, classes, guid, kinds, plan, seen, two_tier, without

EDR = Rate(4, "EDR")


def test_a_fabric_as_planned_is_ok() -> None:
    verdict = verify(plan(two_tier()), seen(two_tier()))
    assert (verdict.word, verdict.exit_code) == (VerdictWord.OK, 0)
    assert classes(verdict) == {"ok": 16}
    assert verdict.findings == []


def test_a_cable_that_is_down_at_both_ends_is_missing() -> None:
    cables = two_tier()
    verdict = verify(plan(cables), seen(without(cables, ("leaf1", 21, "spine1", 1))))
    assert classes(verdict) == {"ok": 15, "missing": 1}
    assert kinds(verdict) == [FindingKind.MISSING]
    assert verdict.findings[0].found == "both ports are down"


def test_two_exchanged_cables_are_one_finding() -> None:
    cables = two_tier()
    swapped = without(cables, ("leaf1", 21, "spine1", 1), ("leaf2", 24, "spine2", 4))
    swapped += [("leaf1", 21, "spine2", 4), ("leaf2", 24, "spine1", 1)]
    verdict = verify(plan(cables), seen(swapped))
    assert classes(verdict) == {"ok": 14, "swapped": 2}
    assert kinds(verdict) == [FindingKind.BAD_LINK_SHARE, FindingKind.SWAPPED]
    finding = verdict.findings[1]
    assert finding.expected == "leaf1/21 - spine1/1 and leaf2/24 - spine2/4"
    assert finding.found == "leaf1/21 - spine2/4 and leaf2/24 - spine1/1"
    assert finding.fix.startswith("exchange the plugs at spine1/1 and spine2/4, or at ")
    assert finding.fix.endswith(": not both")


def test_two_cables_exchanged_at_both_ends_of_one_pair_of_switches_are_still_a_swap() -> None:
    cables = two_tier()
    crossed = without(cables, ("leaf1", 21, "spine1", 1), ("leaf1", 22, "spine1", 2))
    crossed += [("leaf1", 21, "spine1", 2), ("leaf1", 22, "spine1", 1)]
    assert classes(verify(plan(cables), seen(crossed))) == {"ok": 14, "swapped": 2}


def test_two_hosts_exchanged_between_names_that_run_together_are_found() -> None:
    # sw1/11 and sw11/1 share the key "sw111" in tools that join name and port without a separator
    planned: list[Cable] = [("gpu1 mlx5_0", 1, "sw1", 11), ("gpu2 mlx5_0", 1, "sw11", 1)]
    found: list[Cable] = [("gpu2 mlx5_0", 1, "sw1", 11), ("gpu1 mlx5_0", 1, "sw11", 1)]
    verdict = verify(plan(planned), seen(found))
    assert classes(verdict) == {"swapped": 2}


def test_fourteen_parallel_cables_are_fourteen_links() -> None:
    cables: list[Cable] = [("sw1", n, "sw2", 15 - n) for n in range(1, 15)]
    assert classes(verify(plan(cables), seen(cables))) == {"ok": 14}
    one_less = verify(plan(cables), seen(cables[:-1]))
    assert classes(one_less) == {"ok": 13, "missing": 1}


def test_a_three_way_rotation_is_miswired_not_swapped() -> None:
    cables = two_tier()
    old = [("leaf1", 21, "spine1", 1), ("leaf1", 23, "spine2", 1), ("leaf2", 21, "spine1", 3)]
    turned = [("leaf1", 21, "spine2", 1), ("leaf1", 23, "spine1", 3), ("leaf2", 21, "spine1", 1)]
    verdict = verify(plan(cables), seen(without(cables, *old) + turned))
    assert classes(verdict) == {"ok": 13, "miswired": 3}


@pytest.mark.parametrize(
    ("moved", "why"),
    [
        (("leaf1", 21, "spine1", 16), "wrong port of the right device"),
        (("leaf1", 21, "spine2", 16), "wrong spine"),
        (("leaf1", 21, "leaf2", 16), "wrong tier (leaf instead of spine)"),
        (("leaf1", 21, "stranger", 1), "reaches a device that is not in the plan"),
        (("leaf1", 21, "leaf1", 16), "loops back to the same device"),
    ],
)
def test_a_miswired_cable_says_what_is_wrong_with_it(moved: Cable, why: str) -> None:
    cables = two_tier(hosts=6)
    verdict = verify(plan(cables), seen([*without(cables, ("leaf1", 21, "spine1", 1)), moved]))
    assert classes(verdict)["miswired"] == 1
    finding = next(f for f in verdict.findings if f.kind is FindingKind.MISWIRED)
    assert why in finding.headline
    assert finding.expected == "leaf1/21 - spine1/1"


def test_the_wrong_card_of_the_right_host_is_named() -> None:
    cables = two_tier(hosts=5)
    bad = without(cables, ("gpu1 mlx5_0", 1, "leaf1", 1), ("gpu1 mlx5_1", 1, "leaf2", 1))
    verdict = verify(plan(cables), seen([*bad, ("gpu1 mlx5_1", 1, "leaf1", 1)], alone=["gpu1 mlx5_0"]))
    assert any("wrong HCA of the right host" in finding.headline for finding in verdict.findings)


def test_a_dead_switch_is_one_finding_with_all_its_cables() -> None:
    cables = two_tier(leaves=3)
    alive = [cable for cable in cables if "spine2" not in cable]
    verdict = verify(plan(cables), seen(alive))
    assert classes(verdict) == {"ok": 18, "missing": 6}
    absent = [f for f in verdict.findings if f.kind is FindingKind.ABSENT_DEVICE]
    assert [(f.subject, len(f.cables)) for f in absent] == [("spine2", 6)]
    assert verdict.counts.absent_devices == 1


def test_hosts_behind_a_dead_leaf_are_folded_under_it() -> None:
    cables = two_tier(leaves=3)
    alive = [cable for cable in cables if "leaf2" not in cable]
    verdict = verify(plan(cables), seen(alive))
    absent = [f for f in verdict.findings if f.kind is FindingKind.ABSENT_DEVICE]
    assert [(f.subject, len(f.cables)) for f in absent] == [("leaf2", 8)]
    assert classes(verdict) == {"ok": 16, "missing": 8}


def test_a_host_whose_hcas_are_all_absent_is_one_host() -> None:
    cables = two_tier()
    verdict = verify(plan(cables), seen([cable for cable in cables if not cable[0].startswith("gpu3 ")]))
    absent = [f for f in verdict.findings if f.kind is FindingKind.ABSENT_DEVICE]
    assert [f.headline for f in absent] == ["host gpu3 is absent: 2 cables missing with it"]
    assert verdict.counts.absent_devices == 2


def test_an_unseen_switch_whose_ports_are_used_by_others_is_not_absent() -> None:
    planned: list[Cable] = [("leaf1", 1, "spine1", 1), ("leaf2", 1, "spine1", 2)]
    verdict = verify(plan(planned), seen([("leaf1", 1, "leaf2", 1)]))
    assert verdict.counts.absent_devices == 0
    assert classes(verdict) == {"miswired": 2}


def test_what_neither_end_shows_is_not_judged_and_the_exit_code_is_three() -> None:
    cables = two_tier(leaves=3)
    planned = [*cables, ("far1", 1, "far2", 1)]
    verdict = verify(plan(planned), seen(cables))
    assert classes(verdict) == {"ok": 24, "not_judged": 1}
    assert (verdict.word, verdict.exit_code) == (VerdictWord.COULD_NOT_TELL, 3)
    assert verdict.doubts == ["1 planned cable not judged: neither end was seen"]


def test_counts_of_the_six_classes_add_up_to_the_planned_cables() -> None:
    cables = two_tier(hosts=6, leaves=4)
    broken = without(
        cables, ("leaf1", 21, "spine1", 1), ("leaf2", 21, "spine1", 3), ("leaf3", 21, "spine1", 5)
    )
    broken += [("leaf1", 21, "spine1", 3), ("leaf2", 21, "spine1", 1), ("leaf3", 21, "spine2", 16)]
    counts = verify(plan(cables), seen(broken)).counts
    total = (
        counts.ok + counts.degraded + counts.swapped + counts.miswired + counts.missing + counts.not_judged
    )
    assert total == counts.intended == len(cables)
    # by hand: 4 leaves with 6 hosts each, and 2 cables from each leaf to each of 2 spines
    assert {pair: sum(row.values()) for pair, row in counts.by_tier.items()} == {
        "host-leaf": 24,
        "leaf-spine": 16,
    }
    assert sum(sum(row.values()) for row in counts.by_tier.values()) == len(cables)


def test_a_cable_between_two_unplanned_ports_is_unexpected() -> None:
    cables = two_tier()
    verdict = verify(plan(cables), seen([*cables, ("spine1", 15, "spine2", 15)]))
    assert classes(verdict) == {"ok": 16}
    assert verdict.counts.unexpected == 1
    assert kinds(verdict) == [FindingKind.UNEXPECTED]


def test_a_loopback_plug_is_a_finding_of_its_own() -> None:
    cables = two_tier()
    verdict = verify(plan(cables), seen([*cables, ("spine1", 15, "spine1", 16)]))
    assert kinds(verdict) == [FindingKind.SELF_LOOP]


def test_devices_outside_the_plan_are_counted_and_findings_only_when_strict() -> None:
    cables = two_tier()
    observation = seen([*cables, ("spine1", 15, "storage1 mlx5_0", 1)])
    relaxed = verify(plan(cables), observation)
    assert (relaxed.exit_code, relaxed.counts.outside_plan, relaxed.counts.unknown_devices) == (0, 1, 1)
    assert len(relaxed.outside) == 1
    strict = verify(plan(cables), observation, Options(strict=True))
    assert kinds(strict) == [FindingKind.OUTSIDE_PLAN, FindingKind.UNKNOWN_DEVICE]


def test_a_host_on_a_reserved_port_is_a_finding_and_its_owner_is_not() -> None:
    cables = two_tier()
    reserved = {Port("leaf1", 8): "ufm[1-2]"}
    intruder = verify(
        plan(cables), seen([*cables, ("gpu99 mlx5_0", 1, "leaf1", 8)]), Options(reserved=reserved)
    )
    assert kinds(intruder) == [FindingKind.RESERVED_PORT]
    owner = verify(plan(cables), seen([*cables, ("ufm1 mlx5_0", 1, "leaf1", 8)]), Options(reserved=reserved))
    assert owner.exit_code == 0
    assert verify(plan(cables), seen(cables), Options(reserved=reserved)).exit_code == 0


def test_planned_maintenance_is_excused_and_said() -> None:
    cables = two_tier(leaves=3)
    alive = [cable for cable in cables if "spine2" not in cable]
    verdict = verify(plan(cables), seen(alive), Options(expected_absent={"spine2": "fan tray swap"}))
    assert (verdict.exit_code, verdict.counts.excused, verdict.counts.not_judged) == (0, 6, 6)


def test_maintenance_of_one_port_excuses_only_that_port() -> None:
    cables = two_tier()
    alive = without(cables, ("leaf1", 21, "spine1", 1), ("leaf1", 22, "spine1", 2))
    verdict = verify(plan(cables), seen(alive), Options(absent_ports={Port("spine1", 1): "optic on order"}))
    assert classes(verdict) == {"ok": 14, "missing": 1, "not_judged": 1}


def test_more_islands_than_planned_are_said_before_any_cable() -> None:
    planned = [*two_tier(), ("spine1", 16, "spine2", 16)]
    left: list[Cable] = [("leaf1", 1, "spine1", 1), ("gpu1 mlx5_0", 1, "leaf1", 3)]
    right: list[Cable] = [("leaf2", 1, "spine2", 1), ("gpu1 mlx5_1", 1, "leaf2", 3)]
    verdict = verify(plan(planned), seen(left + right))
    assert verdict.findings[0].kind is FindingKind.SPLIT_FABRIC
    assert "2 islands" in verdict.findings[0].headline


def test_the_gate_is_a_finding_by_itself() -> None:
    cables = two_tier(hosts=8, leaves=2)
    one_down = without(cables, ("leaf1", 21, "spine1", 1))
    below = verify(plan(cables), seen(one_down))
    assert FindingKind.BAD_LINK_SHARE not in kinds(below)
    above = verify(plan(cables), seen(one_down), Options(gate=0.04))
    assert kinds(above)[0] is FindingKind.BAD_LINK_SHARE


def test_two_devices_of_one_needed_name_are_a_finding_and_not_guessed() -> None:
    cables = two_tier()
    observation = seen([*cables, ("twin", 1, "spine1", 15)])
    twin = observation.fabric.nodes[guid("twin")]
    observation.fabric.nodes[twin.key] = type(twin)(
        **{**{f: getattr(twin, f) for f in twin.__slots__}, "name": "leaf1"}
    )
    verdict = verify(plan(cables), observation)
    assert FindingKind.DUPLICATE_NAME in kinds(verdict)
    assert verdict.exit_code == 3
    assert verdict.counts.missing == 0


def test_a_declared_identity_outranks_the_description() -> None:
    cables = two_tier()
    observation = seen(cables)
    for name in ("spine1", "spine2"):
        node = observation.fabric.nodes[guid(name)]
        fields = {f: getattr(node, f) for f in node.__slots__}
        observation.fabric.nodes[node.key] = type(node)(
            **{**fields, "name": "switch", "description": "switch"}
        )
    names = Names(declared={guid("spine1"): "spine1"}, mapped={guid("spine2"): "spine2"})
    assert verify(plan(cables), observation, Options(names=names)).exit_code == 0
    assert verify(plan(cables), observation).exit_code == 1


def test_two_master_subnet_managers_are_a_finding() -> None:
    observation = seen(two_tier())
    observation.subnet_managers = [
        SubnetManager(guid("gpu1 mlx5_0"), "master"),
        SubnetManager("0x1", "master"),
    ]
    assert kinds(verify(plan(two_tier()), observation)) == [FindingKind.SUBNET_MANAGER]


def test_a_master_off_its_reserved_place_is_a_finding() -> None:
    observation = seen(two_tier())
    observation.subnet_managers = [SubnetManager(guid("gpu1 mlx5_0"), "master")]
    at_home = verify(plan(two_tier()), observation, Options(manager_hosts="gpu[1-2]"))
    assert at_home.exit_code == 0
    away = verify(plan(two_tier()), observation, Options(manager_hosts="ufm1"))
    assert kinds(away) == [FindingKind.SUBNET_MANAGER]


@pytest.mark.parametrize(
    "kind",
    sorted(set(ProblemKind) - INFORMATION - {ProblemKind.DUPLICATE_GUID, ProblemKind.INACTIVE}),
)
def test_every_doubt_of_a_source_makes_the_verdict_could_not_tell(kind: ProblemKind) -> None:
    observation = seen(two_tier())
    observation.problems.append(Problem(kind, "line 7 says so", 7))
    assert verify(plan(two_tier()), observation).exit_code == 3


def test_a_failed_viewer_is_could_not_tell_and_named() -> None:
    observation = seen(two_tier())
    observation.sources.append(Source("gpu007", None, failed="no route to host"))
    verdict = verify(plan(two_tier()), observation)
    assert verdict.exit_code == 3
    assert verdict.doubts == ["gpu007: no route to host"]


def test_a_disabled_port_is_told_from_a_down_one() -> None:
    cables = two_tier()
    observation = seen(without(cables, ("leaf1", 21, "spine1", 1)))
    observation.fabric.states[Port(guid("spine1"), 1)] = PortState.DISABLED
    finding = verify(plan(cables), observation).findings[0]
    assert finding.found == "leaf1/21 is down, spine1/1 is disabled"
    assert "was disabled by somebody" in finding.fix


def test_an_empty_observation_judges_nothing() -> None:
    verdict = verify(plan(two_tier()), seen([]))
    assert (verdict.exit_code, verdict.counts.not_judged) == (3, 16)


def test_a_short_planned_name_meets_a_full_one_and_the_other_way_round() -> None:
    short: list[Cable] = [("gpu1 mlx5_0", 1, "leaf1", 1), ("gpu2 mlx5_0", 1, "leaf1", 2)]
    full: list[Cable] = [
        ("gpu1.example.net mlx5_0", 1, "leaf1", 1),
        ("GPU2.example.net mlx5_0", 1, "LEAF1", 2),
    ]
    assert verify(plan(short), seen([full[0], ("GPU2.example.net mlx5_0", 1, "leaf1", 2)])).exit_code == 0
    assert verify(plan([full[0]]), seen([short[0]])).exit_code == 0


def test_names_that_differ_only_after_the_first_dot_are_different_devices() -> None:
    cables: list[Cable] = [
        ("leaf.1", 1, "spine.1", 1),
        ("leaf.2", 1, "spine.1", 2),
        ("n1.r1 mlx5_0", 1, "leaf.1", 9),
    ]
    assert verify(plan(cables), seen(cables)).exit_code == 0


def test_a_short_name_that_several_full_names_share_decides_nothing() -> None:
    found: list[Cable] = [("n1.r1 mlx5_0", 1, "leaf1", 1), ("n1.r2 mlx5_0", 1, "leaf1", 2)]
    verdict = verify(plan([("n1 mlx5_0", 1, "leaf1", 1)]), seen(found))
    assert FindingKind.DUPLICATE_NAME in kinds(verdict)
    assert verdict.exit_code == 3


def test_ports_that_are_up_but_not_active_are_a_finding() -> None:
    observation = seen(two_tier())
    observation.problems.append(
        Problem(ProblemKind.INACTIVE, "ports are up but not Active: 32 Initialize/LinkUp")
    )
    assert kinds(verify(plan(two_tier()), observation)) == [FindingKind.INACTIVE]


def test_a_planned_port_its_device_does_not_have_is_told_as_a_plan_error() -> None:
    verdict = verify(plan([("leaf1", 200, "spine1", 1)]), seen([], alone=["leaf1", "spine1"]))
    assert "the plan names port 200 of leaf1, which has 64" in verdict.doubts[0]


def test_a_host_with_one_card_that_is_absent_is_not_said_to_show_others() -> None:
    planned: list[Cable] = [
        ("g1 mlx5_0", 1, "leaf1", 1),
        ("g2 mlx5_0", 1, "leaf1", 2),
        ("g2 mlx5_1", 1, "leaf1", 3),
    ]
    alone = verify(plan(planned), seen([planned[1], planned[2]]), Options(gate=1.0)).findings[0]
    assert alone.headline == "HCA g1 mlx5_0 is absent: 1 cable missing with it"
    assert alone.fix.startswith("is its host powered on")
    beside = verify(plan(planned), seen([planned[0], planned[1]]), Options(gate=1.0)).findings[0]
    assert beside.fix == "g2 shows other HCAs: check this card, its cable and its port"


def test_planned_loopbacks_in_one_port_are_no_swap() -> None:
    # two loopback plugs planned, a cable joins their ports instead
    planned: list[Cable] = [("sw1", 1, "sw1", 1), ("sw2", 1, "sw2", 1)]
    assert classes(verify(plan(planned), seen([("sw1", 1, "sw2", 1)]))) == {"miswired": 2}
