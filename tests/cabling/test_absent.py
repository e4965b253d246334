"""Absent devices and what is folded under them; every number is counted by hand from the pictures."""

from __future__ import annotations

from collections.abc import Iterable
from time import process_time

from fabricctl.cabling.absent import Absence, find_absent
from fabricctl.cabling.bind import bind
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import verify
from fabricctl.fabric import Port, PortState
from tests.cabling.fabrics import Cable, guid, plan, seen, two_tier

BRANCH: list[Cable] = [
    ("core1", 1, "spine1", 1),
    ("spine1", 2, "leaf1", 1),
    *[(f"gpu{n} mlx5_0", 1, "leaf1", 10 + n) for n in range(1, 5)],
]
"""core1 - spine1 - leaf1 - four hosts: six cables, spine1 is the only way to five devices."""


def absences(
    planned: list[Cable], actual: list[Cable], alone: Iterable[str] = (), *, unread: Iterable[Port] = ()
) -> dict[str, Absence]:
    observation = seen(actual, alone=alone)
    observation.fabric.states.update(dict.fromkeys(unread, PortState.UNKNOWN))
    binding = bind(plan(planned), observation.fabric)
    return find_absent(binding.plan.fabric, binding, observation.fabric)


def test_everything_behind_a_dead_switch_that_is_its_only_way_is_folded_under_it() -> None:
    found = absences(BRANCH, [], ["core1"])
    assert found.pop("spine1") == Absence(None, cables=2, facing=1)
    assert found.pop("leaf1") == Absence("spine1", cables=5)
    assert found == {f"gpu{n} mlx5_0": Absence("spine1", cables=1) for n in range(1, 5)}


def test_a_dead_switch_is_one_finding_with_the_cables_of_the_whole_branch_behind_it() -> None:
    verdict = verify(plan(BRANCH), seen([], alone=["core1"]))
    assert (verdict.counts.missing, verdict.counts.not_judged, verdict.counts.absent_devices) == (6, 0, 1)
    absent = [f for f in verdict.findings if f.kind is FindingKind.ABSENT_DEVICE]
    assert [(f.subject, len(f.cables)) for f in absent] == [("spine1", 6)]
    assert verdict.exit_code == 1


def test_a_branch_with_a_second_way_to_something_seen_is_not_folded() -> None:
    # leaf1/30 should reach core1/9, which carries another cable: leaf1 is somewhere else, not absent
    planned = [*BRANCH, ("leaf1", 30, "core1", 9)]
    found = absences(planned, [("core1", 9, "other", 1)])
    assert found == {"spine1": Absence(None, cables=2, facing=1)}


def test_what_only_several_absent_devices_together_cut_off_is_not_judged() -> None:
    planned: list[Cable] = [
        ("core1", 1, "spine1", 1),
        ("core1", 2, "spine2", 1),
        ("spine1", 2, "leaf1", 1),
        ("spine2", 2, "leaf1", 2),
        ("gpu1 mlx5_0", 1, "leaf1", 11),
        ("spine2", 3, "leaf2", 1),
    ]
    found = absences(planned, [], ["core1"])
    # leaf2 hangs on spine2 alone, leaf1 on both
    assert found == {
        "spine1": Absence(None, cables=2, facing=1),
        "spine2": Absence(None, cables=3, facing=1),
        "leaf2": Absence("spine2", cables=1),
    }
    counts = verify(plan(planned), seen([], alone=["core1"])).counts
    assert (counts.missing, counts.not_judged) == (5, 1)


def test_two_dead_switches_each_take_their_own_branch() -> None:
    planned: list[Cable] = []
    for n in (1, 2):
        planned += [("core1", n, f"spine{n}", 1), (f"spine{n}", 2, f"leaf{n}", 1)]
        planned += [(f"gpu{n} mlx5_0", 1, f"leaf{n}", 9)]
    found = absences(planned, [], ["core1"])
    assert {key: absence.under for key, absence in found.items()} == {
        "spine1": None, "leaf1": "spine1", "gpu1 mlx5_0": "spine1",
        "spine2": None, "leaf2": "spine2", "gpu2 mlx5_0": "spine2",
    }  # fmt: skip


def test_a_branch_with_a_port_towards_a_seen_switch_is_judged_by_itself() -> None:
    # leaf1 also faces core2/1, whose state the source does not tell: not absent, so nothing behind it is
    planned = [*BRANCH, ("leaf1", 30, "core2", 1)]
    found = absences(planned, [], ["core1", "core2"], unread=[Port(guid("core2"), 1)])
    assert found == {"spine1": Absence(None, cables=2, facing=1)}


def test_a_part_of_the_plan_of_which_nothing_is_seen_and_nothing_is_absent_is_left_alone() -> None:
    assert absences([*BRANCH, ("far1", 1, "far2", 1)], BRANCH) == {}


def test_a_viewer_whose_own_cable_is_out_does_not_make_the_fabric_behind_its_leaf_missing() -> None:
    # gpu1's HCA sees nothing but itself: its leaf is absent, whatever else there is nobody has looked at
    cables = two_tier()
    found = absences(cables, [], ["gpu1 mlx5_0"])
    assert found == {"leaf1": Absence(None, cables=8, facing=1)}
    verdict = verify(plan(cables), seen([], alone=["gpu1 mlx5_0"]))
    assert (verdict.counts.missing, verdict.counts.not_judged, verdict.exit_code) == (8, 8, 3)


def test_a_name_claimed_twice_is_neither_absent_nor_in_the_way_of_an_absence() -> None:
    observation = seen([("core1", 2, "twin1", 1), ("core1", 3, "twin2", 1)])
    for name in ("twin1", "twin2"):
        node = observation.fabric.nodes[guid(name)]
        fields = {field: getattr(node, field) for field in node.__slots__}
        observation.fabric.nodes[node.key] = type(node)(**{**fields, "name": "leaf1", "description": "leaf1"})
    binding = bind(plan(BRANCH), observation.fabric)
    assert set(find_absent(binding.plan.fabric, binding, observation.fabric)) == {"spine1"}


def test_a_cable_from_a_device_to_itself_is_lost_once() -> None:
    found = absences([*BRANCH, ("spine1", 5, "spine1", 6)], [], ["core1"])
    assert found["spine1"] == Absence(None, cables=3, facing=1)


def test_a_chain_of_ten_thousand_unseen_switches_is_folded_in_a_moment() -> None:
    planned: list[Cable] = [(f"sw{n}", 1, f"sw{n + 1}", 2) for n in range(10_000)]
    observation = seen([], alone=["sw0"])
    binding = bind(plan(planned), observation.fabric)
    start = process_time()
    found = find_absent(binding.plan.fabric, binding, observation.fabric)
    assert process_time() - start < 10  # 0.2 s; a walk per device would be fifty million steps
    assert {absence.under for key, absence in found.items() if key != "sw1"} == {"sw1"}
    assert len(found) == 10_000
