"""The number of moves against brute force, and the moves carried out, over random faults at plug level."""

from __future__ import annotations

import random

import pytest

from fabricctl.repair.assemblies import joined
from fabricctl.repair.model import MoveKind, RepairPlan
from fabricctl.repair.replay import replay
from fabricctl.repair.solve import plan_repair
from tests.repair.plug_hall import Hall, fewest_plugs, random_hall

MIXES = [
    ["fibre_straight"],
    ["single_dac"],
    ["twin_dac"],
    ["twin_dac", "twin_acc"],
    ["fibre_split_1x2"],
    ["dac_split_1x2"],
    ["dac_split_1x4"],
    ["fibre_straight", "fibre_split_1x2"],
    ["twin_dac", "dac_split_1x2", "fibre_straight"],
    ["fibre_straight", "twin_dac", "fibre_split_1x2", "dac_split_1x4", "single_dac"],
]


def handled(plan: RepairPlan) -> int:
    """Plugs that come out of a place."""
    return sum(move.source is not None for move in plan.moves)


def assert_repairs(hall: Hall) -> RepairPlan:
    """Few moves, carried out one by one, end in the plan; what stays dark has an order of its own."""
    comparison = hall.compare()
    plan = plan_repair(comparison)
    assert plan.mismatches == ()
    after = replay(comparison.actual, plan)
    ordered = {port for part in plan.parts for port in part.ports}
    for port, wanted in comparison.intended.items():
        assert after.get(port) == wanted or (port not in after and port in ordered), port
    assert {port for port in after if port not in comparison.intended} == set()
    for cable in [move.becomes for move in plan.moves if move.becomes is not None]:
        for a, b in joined(cable):
            assert (after[a], after[b]) == (b, a)
    return plan


@pytest.mark.parametrize("kinds", MIXES, ids="+".join)
def test_no_repair_needs_fewer_plugs_and_carried_out_it_ends_in_the_plan(kinds: list[str]) -> None:
    for seed in range(60):
        hall = random_hall(random.Random(f"{seed} {kinds}"), kinds, 3 + seed % 4)
        plan = assert_repairs(hall)
        assert handled(plan) == fewest_plugs(hall), seed
        assert plan.plugs_moved == sum(move.kind is MoveKind.MOVE for move in plan.moves)
