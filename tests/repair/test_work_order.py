"""The words of a work order against what a person would write, and what must hold for every order."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import pytest

from fabricctl.cabling.verify import verify
from fabricctl.fabric import Place
from fabricctl.rates import Rate
from fabricctl.repair.model import OrderKind
from fabricctl.repair.order_model import StepKind, WorkOrder
from fabricctl.repair.solve import plan_repair
from fabricctl.repair.work_order import make_order, unique_ids
from tests.cabling.fabrics import plan, seen, two_tier, without
from tests.repair.plug_hall import Hall, random_hall
from tests.repair.technician import Technician, knowledge, order_for, order_of

RACKS = {
    "ibl-p01-r1": Place("B07", "31"),
    "ibs-1": Place("A01", "U3"),
    "ibs-2": Place("A02", "3"),
    "gpu1": Place("B01", "U3"),
    "gpu2": Place("B02", "U9"),
}
MODELS = {
    "ibl-p01-r1": "QM9700",
    "ibs-1": "QM9700",
    "ibs-2": "QM9700",
    "gpu1": "DGX-H100",
    "gpu2": "DGX-H100",
}
LEAF = "ibl-p01-r1"


def swapped(kind: str = "fibre_straight") -> Hall:
    """Cages 14 and 15, port 1, of a leaf exchanged; the other ends are in two racks."""
    hall = Hall()
    one = hall.want(kind, ((LEAF, 27),), (("ibs-1", 1),))
    two = hall.want(kind, ((LEAF, 29),), (("ibs-2", 1),))
    hall.swap((one, 0), (two, 0))
    return hall


def swapped_order(kind: str = "fibre_straight") -> WorkOrder:
    return order_of(swapped(kind), knowledge(RACKS, MODELS))


def test_a_swap_reads_as_a_person_would_write_it() -> None:
    first, second = swapped_order().steps
    stand = "rack B07, U31, rear (usual), ibl-p01-r1"
    assert first.first == (
        f"take the MPO plug out of {stand}, cage 14 port 1 (lanes 1-4), cap it, tie it up loosely and let it hang "
        "until step 2",
    )
    assert first.text == (
        f"{stand}: move the MPO plug from cage 15 port 1 (lanes 1-4) to cage 14 port 1 (the MPO of lanes 1-4; check "
        "the mark on the plug)"
    )
    assert second.text == (
        f"{stand}: put the MPO plug that hangs since step 1 (it was in cage 14 port 1) into cage 15 port 1 (the MPO of "
        "lanes 1-4; check the mark on the plug)"
    )
    assert second.first == ()
    assert second.hangs_since == 1


def test_a_step_names_the_other_end_and_both_labels() -> None:
    first, second = swapped_order().steps
    (far,) = first.others
    assert far.now.words == "rack A01, U3, rear (usual), ibs-1, cage 1 port 1 (lanes 1-4)"
    assert far.later is None
    assert first.label_here == "B07-U31-C14P1 to A01-U3-C1P1"
    assert first.label_far == "A01-U3-C1P1 to B07-U31-C14P1"
    assert first.label_now == "B07-U31-C15P1 to A01-U3-C1P1"
    assert second.label_here == "B07-U31-C15P1 to A02-U3-C1P1"


def test_a_step_tells_place_details_cable_success_and_the_way_back() -> None:
    first, second = swapped_order().steps
    (target,) = first.targets
    assert target.detail == "InfiniBand port 27; bottom row, column 7 (usual)"
    assert first.cable_words == "straight fibre, MPO to MPO (as the plan says)"
    assert first.expect == "link LED at cage 14 port 1 solid green within 60 s; work-order check: done"
    assert first.hosts_words == "no host hangs on this plug"
    assert first.undo == (
        "the later steps of the group first, backwards; then plug back into ibl-p01-r1 cage 15 port 1, and the "
        "hanging one into ibl-p01-r1 cage 14 port 1"
    )
    assert second.undo == "let the plug hang again (it was in ibl-p01-r1 cage 14 port 1)"
    # find 1 + out 0.5 + in 0.5 + clean 2 + wait 0.5, and for the plug in the way find 1 + out 0.5
    assert first.minutes == pytest.approx(6.0)
    # the hanging one is out already
    assert second.minutes == pytest.approx(4.0)


def test_copper_is_not_capped_and_has_no_mark() -> None:
    first, _ = swapped_order("single_dac").steps
    assert "cap it" not in first.first[0]
    assert first.text.endswith("from cage 15 port 1 (lanes 1-4) to cage 14 port 1 (lanes 1-4)")


def test_without_panel_and_place_the_port_number_stands_and_is_said_to_be_all() -> None:
    order = order_of(swapped())
    assert (
        "rack unknown, ibl-p01-r1: move the MPO plug from InfiniBand port 29 (cage not known)"
        in order.steps[0].text
    )
    assert any("cage numbers are not known of ibl-p01-r1" in note for note in order.notes)
    assert any("no rack is known of ibl-p01-r1" in note for note in order.notes)


def test_hosts_are_named_by_cage_and_hca_and_told_to_lose_their_link() -> None:
    hall = Hall()
    one = hall.want("fibre_straight", ((LEAF, 1),), (("gpu1 mlx5_0", 1),))
    two = hall.want("fibre_straight", ((LEAF, 2),), (("gpu2 mlx5_0", 1),))
    hall.swap((one, 0), (two, 0))
    first, second = order_of(hall, knowledge(RACKS, MODELS)).steps
    assert first.hosts == "gpu[1-2]"  # the plug in the way is out, too
    assert first.hosts_words == "gpu[1-2] mlx5_0 lose their links while this is done"
    assert second.hosts_words in (f"gpu{n} mlx5_0 loses its link while this is done" for n in (1, 2))
    (far,) = first.others
    # mlx5_0 of a DGX H100 is cage 4 port 2 (DGX H100 user guide, tables 5 and 6)
    assert "rear (usual), host gpu" in far.now.words
    assert far.now.short == "OSFP4 port 2"
    assert any("a job runs on gpu" in text for text in first.stop_if)


def test_a_splitter_head_moves_as_one_plug_and_takes_two_hosts_with_it() -> None:
    hall = Hall()
    heads = [
        hall.want(
            "dac_split_1x2",
            ((LEAF, 2 * n + 1), (LEAF, 2 * n + 2)),
            ((f"gpu{2 * n + 1} mlx5_0", 1),),
            ((f"gpu{2 * n + 2} mlx5_0", 1),),
        )
        for n in range(2)
    ]
    hall.swap((heads[0], 0), (heads[1], 0))
    order = order_of(hall, knowledge(RACKS, MODELS))
    assert len(order.steps) == 2
    step = order.steps[1]
    assert "the twin-port head" in step.text
    assert step.targets[0].where in ("cage 1 (both its ports)", "cage 2 (both its ports)")
    assert len(step.others) == 2
    assert step.others[0].role == "tail"
    assert len(step.hosts_words.split(" lose")[0]) > 0
    assert "lose their links" in step.hosts_words


def test_a_cable_nobody_planned_comes_out_first_and_a_new_one_goes_in_last() -> None:
    hall = Hall()
    wanted = hall.want("fibre_straight", ((LEAF, 1),), (("ibs-1", 1),))
    hall.cables.remove(wanted)
    hall.lay("fibre_straight", ((LEAF, 9),), (("ibs-2", 9),))
    hall.lay("fibre_straight", ((LEAF, 1),), (("ibs-2", 1),))
    order = order_of(hall, knowledge(RACKS, MODELS))
    kinds = [step.kind for step in order.steps]
    assert set(kinds) <= {StepKind.MOVE, StepKind.PULL, StepKind.LAY}
    pulls = [step for step in order.steps if step.kind is StepKind.PULL]
    assert len(pulls) == 1
    assert pulls[0].text.startswith("take the whole cable out: the MPO plug at rack ")
    assert len(pulls[0].sources) == 2
    worker = Technician(hall)
    for step in order.steps:
        worker.do(step)
    assert {frozenset(link) for c in hall.cables for link in c.links()} == {
        frozenset(((LEAF, 1), ("ibs-1", 1)))
    }


def test_a_missing_cable_is_a_separate_order_with_both_ends() -> None:
    cables = two_tier()
    gone = ("leaf1", 21, "spine1", 1)
    comparison = verify(plan(cables), seen(without(cables, gone), alone=["leaf1", "spine1"])).comparison
    assert comparison is not None
    order = order_for(comparison)
    assert order.steps == ()
    (part,) = order.parts
    assert part.kind is OrderKind.CABLE
    assert {spot.device for spot in part.spots} == {"leaf1", "spine1"}
    assert part.id.startswith("P-")


def test_many_links_slow_in_the_same_way_are_one_thing_to_look_at() -> None:
    cables = two_tier(hosts=20, leaves=4, spines=2)
    comparison = verify(plan(cables, rate=Rate(4, "NDR")), seen(cables, rate=Rate(4, "HDR"))).comparison
    assert comparison is not None
    order = order_for(comparison)
    assert (order.steps, order.parts) == ((), ())
    (look,) = order.look_first
    assert look.text.startswith("96 links run at 4xHDR where 4xNDR is expected")


def test_nothing_wrong_is_nothing_to_do() -> None:
    hall = Hall()
    hall.want("fibre_straight", ((LEAF, 1),), (("ibs-1", 1),))
    assert order_of(hall).empty


def test_groups_follow_the_racks() -> None:
    """A switch in A2 comes after one in A1 whatever the order of the plan, and A10 after A2."""
    hall, racks = Hall(), {f"far{n}-{at}": Place(f"Z{n}{at}", "1") for n in (1, 2) for at in range(3)}
    for at, rack in enumerate(("A2", "A10", "A1")):
        name = f"leaf-{rack}"
        racks[name] = Place(rack, "1")
        pair = [hall.want("fibre_straight", ((name, n),), ((f"far{n}-{at}", 1),)) for n in (1, 2)]
        hall.swap((pair[0], 0), (pair[1], 0))
    order = order_of(hall, knowledge(racks))
    assert [step.targets[0].rack for step in order.steps] == ["A1", "A1", "A2", "A2", "A10", "A10"]


@pytest.mark.parametrize("kinds", [["fibre_straight"], ["twin_dac", "dac_split_1x2", "fibre_split_1x2"]])
def test_followed_word_by_word_an_order_ends_in_the_plan(kinds: list[str]) -> None:
    for seed in range(40):
        hall = random_hall(random.Random(f"order {seed}"), kinds, 6)
        order = order_of(hall)
        if order.look_first:
            continue  # a pattern that fits no cable of the declared kind: nobody should follow before looking
        worker = Technician(hall)
        for step in order.steps:
            worker.do(step)
        assert worker.hanging == {}
        there = {frozenset(link) for cable in hall.cables for link in cable.links()}
        planned = {frozenset(link) for slot in hall.slots for link in slot.links()}
        assert there <= planned
        assert [step.number for step in order.steps] == list(range(1, len(order.steps) + 1))


def test_ids_and_numbers_do_not_depend_on_the_order_of_the_discovery_or_of_the_moves() -> None:
    for seed in range(10):
        hall = random_hall(random.Random(seed), ["fibre_straight", "twin_dac"], 8)
        other = copy.deepcopy(hall)
        other.cables.reverse()
        comparison = other.compare()
        repair = plan_repair(comparison)
        moves = list(repair.moves)
        random.Random(seed).shuffle(moves)
        last = repair.components - 1
        moves = [replace(move, component=last - move.component) for move in moves]
        shuffled = make_order(replace(repair, moves=tuple(moves)), comparison, knowledge())
        first = order_of(hall)
        assert [(s.number, s.id, s.text) for s in first.steps] == [
            (s.number, s.id, s.text) for s in shuffled.steps
        ]


def test_no_two_steps_share_an_id() -> None:
    assert unique_ids("W-", ["a", "b", "a"])[2].endswith("-2")
    for seed in range(10):
        order = order_of(random_hall(random.Random(seed), ["fibre_straight"], 9))
        assert len({step.id for step in order.steps}) == len(order.steps)


def test_a_cable_both_of_whose_ends_move_says_so() -> None:
    hall = Hall()
    cables = [hall.want("fibre_straight", (("a", n),), (("b", n),)) for n in range(1, 4)]
    hall.rotate([(cable, 0) for cable in cables])
    hall.rotate([(cable, 1) for cable in cables[:2]])
    order = order_of(hall)
    both = [(step, far) for step in order.steps for far in step.others if far.step]
    for step, far in both:
        assert order.steps[far.step - 1].targets[0] == far.later
        if far.step > step.number:
            assert f"only after step {far.step}" in step.expect


def test_moving_a_tail_disconnects_its_own_host_only() -> None:
    hall = Hall()
    cables = [
        hall.want(
            "fibre_split_1x2",
            ((LEAF, 2 * n + 1), (LEAF, 2 * n + 2)),
            ((f"gpu{2 * n + 1} mlx5_0", 1),),
            ((f"gpu{2 * n + 2} mlx5_0", 1),),
        )
        for n in range(2)
    ]
    hall.swap((cables[0], 1), (cables[1], 1))
    first, second = order_of(hall).steps
    assert (first.hosts, first.first[0].startswith("take tail 1 out of")) == ("gpu[1,3]", True)
    assert second.hosts in ("gpu1", "gpu3")


def test_what_many_cables_share_is_where_they_are_mended() -> None:
    """Two leaves' host bundles exchanged: at the two leaves in one rack, not at eight hosts in four."""
    hall = Hall()
    racks = {"leaf-1": Place("L1", "1"), "leaf-2": Place("L1", "3")}
    for n in range(1, 9):
        racks[f"host-{n}"] = Place(f"H{(n + 1) // 2}", str(n))
        pair = [hall.want("fibre_straight", ((f"host-{n}", at),), ((f"leaf-{at}", n),)) for at in (1, 2)]
        hall.swap((pair[0], 1), (pair[1], 1))
    order = order_of(hall, knowledge(racks))
    assert len(order.steps) == 16
    assert order.racks == ("L1",)
