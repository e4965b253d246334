"""Ties are broken by names: the same steps come out however plan and discovery are ordered; and how people walk."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from fabricctl.fabric import Place
from fabricctl.plan.lengths import RackSpot
from fabricctl.repair.knowledge import RepairKnowledge, walk_key
from tests.repair.plug_hall import Cable, Hall, random_hall
from tests.repair.technician import order_of

KINDS = [
    ["fibre_straight"],
    ["twin_dac", "twin_acc"],
    ["fibre_straight", "fibre_split_1x2", "dac_split_1x2"],
    ["fibre_straight", "twin_dac", "fibre_split_1x2", "dac_split_1x4", "single_dac"],
]


def ids(hall: Hall, change: Callable[[list[Cable]], object]) -> list[tuple[int, str]]:
    """Number and id of every step, with rows of plan and discovery put in another order."""
    slots, cables = list(hall.slots), list(hall.cables)
    change(slots)
    change(cables)
    order = order_of(Hall(slots, cables))
    return [(step.number, step.id) for step in order.steps]


@pytest.mark.parametrize("kinds", KINDS, ids="+".join)
def test_the_same_steps_in_the_same_order_however_the_rows_are_ordered(kinds: list[str]) -> None:
    for seed in range(20):
        hall = random_hall(random.Random(f"{seed} {kinds}"), kinds, 4 + seed % 4)
        first = ids(hall, lambda rows: None)
        assert first == ids(hall, list.reverse), seed
        for turn in range(3):
            assert first == ids(hall, random.Random(turn).shuffle), (seed, turn)


def test_the_direction_in_which_a_row_is_written_changes_no_step() -> None:
    for seed in range(20):
        hall = random_hall(random.Random(seed), ["fibre_straight"], 6)
        first = ids(hall, lambda rows: None)
        for cable in (*hall.slots, *hall.cables):
            cable.places.reverse()
        assert first == ids(hall, lambda rows: None), seed


def test_racks_are_walked_as_they_stand_and_those_without_a_spot_by_name_after_them() -> None:
    racks = {"Z9": RackSpot("A", 1, 48), "B2": RackSpot("A", 10, 48), "A1": RackSpot("B", 1, 48)}
    walk = sorted(["A1", "", "B10", "B2", "B9", "Z9"], key=lambda rack: walk_key(rack, racks))
    assert walk == ["Z9", "B2", "A1", "B9", "B10", ""]


def test_groups_and_steps_follow_the_rows_of_the_site() -> None:
    hall = Hall()
    for leaf in ("leaf1", "leaf2", "leaf3"):
        one = hall.want("fibre_straight", ((leaf, 1),), ((f"{leaf}-far", 1),))
        two = hall.want("fibre_straight", ((leaf, 2),), ((f"{leaf}-far", 2),))
        hall.swap((one, 0), (two, 0))
    rack_of = {"leaf1": "R1", "leaf2": "R2", "leaf3": "R3"}
    places = {name: Place(rack_of[name[:5]], "7") for leaf in rack_of for name in (leaf, f"{leaf}-far")}

    def walked(racks: dict[str, RackSpot]) -> list[str]:
        order = order_of(hall, RepairKnowledge(place_of=places.get, racks=racks))
        return list(order.racks)

    assert walked({}) == ["R1", "R2", "R3"]
    spots = {"R1": RackSpot("B", 2, 48), "R2": RackSpot("B", 1, 48), "R3": RackSpot("A", 7, 48)}
    assert walked(spots) == ["R3", "R2", "R1"]
