"""Rows, groups and columns, against what the plan's shape says by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from fabricctl.cabling.verdict import Verdict
from fabricctl.cabling.verify import verify
from fabricctl.discovery.recognise import parse_any
from fabricctl.picture.data import picture_data
from fabricctl.picture.layout import OUTSIDE
from fabricctl.plan.snapshot import plan_from_observation
from tests.cabling.fabrics import plan, seen, two_tier, without
from tests.conftest import read_capture
from tests.picture.conftest import demo_verdict
from tests.report.report_samples import judged


def rows(verdict: Verdict, tier: int) -> list[tuple[str, int, int | None]]:
    """(title, number of cells, column) of a row's groups, left to right."""
    groups = picture_data(verdict)["map"]["groups"]
    row = sorted((g for g in groups if g["tier"] == tier), key=lambda g: g["x"])
    return [(g["title"], g["n"], g["col"]) for g in row]


def test_the_hall_is_sixteen_columns_of_units_below_eight_groups_of_cores() -> None:
    verdict, _ = demo_verdict()
    for tier in (1, 2):
        assert rows(verdict, tier) == [(f"SU {n + 1}", 8, n) for n in range(16)]
    assert [(n, column) for _, n, column in rows(verdict, 0)] == [*((32, n) for n in range(15)), (33, 15)]
    assert rows(verdict, 3) == [(f"ibc-[{8 * n + 1:02}-{8 * n + 8:02}]", 8, None) for n in range(8)]
    assert picture_data(verdict)["map"]["shared"] == [3]


def test_without_declared_units_cabling_gives_the_same_columns(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-faulty")
    assert rows(verdict, 1) == [(f"ibl-p{n + 1:02}-r[1-8]", 8, n) for n in range(16)]
    assert rows(verdict, 2) == [(f"ibs-p{n + 1:02}-s[1-8]", 8, n) for n in range(16)]
    shorts = [g["short"] for g in picture_data(verdict)["map"]["groups"] if g["tier"] == 1]
    assert shorts == [f"{n:02}" for n in range(1, 17)]


def test_missing_cables_of_a_discovery_taken_as_it_is_move_no_switch(captures: Path) -> None:
    """Without a plan the faulty fabric itself is laid out; a dead spine and pulled cables are in it."""
    text = read_capture(captures / "ibsim" / "imbue-faulty" / "ibnetdiscover.txt.gz")
    verdict = verify(None, parse_any(text, "imbue-faulty"))
    assert [n for _, n, _ in rows(verdict, 1)] == [8] * 16
    assert sorted(n for _, n, _ in rows(verdict, 2)) == [7, *[8] * 15]


def test_boxes_of_a_row_never_overlap_and_stay_inside() -> None:
    verdict, _ = demo_verdict()
    layout = picture_data(verdict)["map"]
    for tier in {g["tier"] for g in layout["groups"]}:
        row = sorted((g["x"], g["x"] + g["w"]) for g in layout["groups"] if g["tier"] == tier)
        assert row[0][0] >= 0
        assert row[-1][1] <= layout["width"] + 0.01
        assert all(left[1] <= right[0] + 0.01 for left, right in pairwise(row))


def test_spines_that_serve_every_leaf_are_one_shared_row() -> None:
    cables = two_tier(hosts=4, leaves=4, spines=2)
    data = picture_data(verify(plan(cables), seen(cables)))
    assert data["map"]["shared"] == []  # four leaves of one group: one column
    assert [(g["tier"], g["n"]) for g in data["map"]["groups"]] == [(0, 4), (1, 4), (2, 2)]


def test_a_row_of_many_equal_switches_is_cut_by_name() -> None:
    cables = two_tier(hosts=1, leaves=70, spines=2, width=1)
    groups = rows(verify(plan(cables), seen(cables)), 1)
    assert [n for _, n, _ in groups] == [32, 32, 6]
    assert rows(verify(plan(cables), seen(cables)), 2) == [("spine[1-2]", 2, None)]


def test_one_switch_alone_and_no_link_at_all_have_a_place() -> None:
    alone = seen([], alone=["leaf1"])
    assert rows(verify(plan_from_observation(seen(two_tier())), alone), 1) == [("leaf[1-2]", 2, 0)]
    star = [(f"gpu{n} mlx5_0", 1, "leaf1", n) for n in range(1, 4)]
    assert rows(verify(plan(star), seen(star)), 1) == [("leaf1", 1, 0)]
    assert rows(verify(plan(star), seen(star)), 0) == [("gpu[1-3]", 3, 0)]


def test_devices_outside_the_plan_stand_by_themselves_near_what_they_are_cabled_to() -> None:
    cables = two_tier()
    more = [*without(cables, cables[0]), ("stray9 mlx5_0", 1, "leaf1", 40), ("leaf77", 1, "spine1", 40)]
    verdict = verify(plan(cables), seen(more))
    assert (OUTSIDE, 1, 0) in rows(verdict, 0)
    assert any(title == OUTSIDE for title, _, _ in [*rows(verdict, 1), *rows(verdict, 2), *rows(verdict, 3)])
