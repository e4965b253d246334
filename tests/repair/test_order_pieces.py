"""Shares, one device or rack of an order, and its indexes."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.fabric import Place
from fabricctl.repair import order_pieces
from fabricctl.repair.order_model import WorkOrder
from fabricctl.repair.order_pieces import by_label, by_place, find_steps, only_device, only_rack, split
from tests.repair.plug_hall import Hall
from tests.repair.technician import knowledge, order_of


def hall_of(pairs: int) -> tuple[Hall, dict[str, Place]]:
    """Every leaf has two cables with exchanged plugs; ten leaves a rack."""
    hall, racks = Hall(), {"core": Place("Z1", "40")}
    for leaf in range(pairs):
        name = f"leaf{leaf}"
        racks[name] = Place(f"A{leaf // 10 + 1}", f"{leaf % 10 + 1}")
        racks[f"far{leaf}"] = Place(f"F{leaf}", "1")
        one = hall.want("fibre_straight", ((name, 1),), (("core", leaf + 1),))
        two = hall.want("fibre_straight", ((name, 2),), ((f"far{leaf}", 1),))
        hall.swap((one, 0), (two, 0))
    return hall, racks


def order(pairs: int) -> WorkOrder:
    hall, racks = hall_of(pairs)
    return order_of(hall, knowledge(racks))


def groups(piece: WorkOrder) -> set[int]:
    return {step.group for step in piece.steps}


@pytest.mark.parametrize("people", [1, 2, 3, 7, 24, 40])
def test_shares_hold_every_step_once_and_tear_no_group(people: int) -> None:
    whole = order(24)
    shares = split(whole, people)
    people = min(people, 24)  # no more shares than groups
    assert len(shares) == people
    assert [step for share in shares for step in share.steps] == list(whole.steps)
    for a, b in itertools.combinations(shares, 2):
        assert not groups(a) & groups(b)
    assert [(share.part, share.of_parts) for share in shares] == [(n, people) for n in range(1, people + 1)]


def test_equal_groups_make_equal_shares_with_neighbouring_racks() -> None:
    shares = split(order(30), 3)
    assert [len(share.steps) for share in shares] == [20, 20, 20]
    assert [share.racks for share in shares] == [("A1",), ("A2",), ("A3",)]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_the_longest_share_is_as_short_as_runs_allow(times: list[int], people: int) -> None:
    runs = order_pieces._runs([float(t) for t in times], people)
    longest = max(sum(times[start:end]) for start, end in runs)
    best = min(
        max(sum(times[a:b]) for a, b in itertools.pairwise([0, *cuts, len(times)]))
        for cuts in itertools.combinations_with_replacement(range(len(times) + 1), people - 1)
    )
    assert longest == best
    assert [n for start, end in runs for n in range(start, end)] == list(range(len(times)))


def test_one_device_gets_its_groups_whole_and_is_told_what_is_left_out() -> None:
    whole = order(5)
    piece = only_device(whole, "leaf3")
    assert {spot.device for step in piece.steps for spot in step.sources} == {"leaf3"}
    assert (len(piece.steps), piece.left_out, piece.limited_to) == (2, 8, "device leaf3")
    assert groups(piece) == {step.group for step in whole.steps if "leaf3" in step.text}


def test_one_rack_gets_its_groups_whole() -> None:
    piece = only_rack(order(12), "A2")
    assert (len(piece.steps), piece.left_out) == (4, 20)


def test_the_index_by_place_names_every_plug_that_is_touched() -> None:
    whole = order(12)
    rows = by_place(whole)
    assert [(row.rack, row.unit, row.device) for row in rows][:2] == [
        ("A1", "U1", "leaf0"),
        ("A1", "U2", "leaf1"),
    ]
    assert rows[0].steps == (("P1", (1, 2)), ("P2", (1, 2)))
    assert [row.rack for row in rows] == ["A1"] * 10 + ["A2"] * 2


def test_the_index_by_label_finds_a_cable_from_either_end() -> None:
    index = dict(by_label(order(3)))
    assert index["A1-U1-P1 to Z1-U40-P1"] == index["Z1-U40-P1 to A1-U1-P1"]
    assert len(index["A1-U1-P1 to Z1-U40-P1"]) == 1


def test_steps_are_found_by_number_id_label_and_place() -> None:
    whole = order(12)
    step = whole.steps[4]
    assert find_steps(whole, step="5") == [step]
    assert find_steps(whole, step=step.id) == [step]
    assert step in find_steps(whole, label=step.label_far)
    assert step in find_steps(whole, label="z1-u40" if "Z1" in step.label_here else step.label_here.lower())
    assert {found.targets[0].unit for found in find_steps(whole, place="A1 U1")} == {"U1"}  # and not U10
    assert find_steps(whole, place="A9") == []


def test_random_orders_of_groups_do_not_change_an_index() -> None:
    whole = order(6)
    shares = split(whole, 3)
    random.Random(1).shuffle(shares)
    rows = sorted(row for share in shares for row in by_place(share))
    assert rows == sorted(by_place(whole))
