"""Speed of explaining wrong links, in figures; absolute goals are printed with "met" or "NOT MET"."""

from __future__ import annotations

import random

import pytest

from fabricctl.causes.explain import explain
from tests.bench.measure import cpu_of, say
from tests.causes.nets import compare, fabric_of, known, plan_of
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, build

pytestmark = pytest.mark.bench


@pytest.mark.parametrize(
    ("shape", "kinds", "goal_s"),
    [
        ("hall-full", ("leaves-per-rail",), 0.3),
        ("hall-full", ("leaf-rotated", "hosts-wrong-unit", "swap:20"), 0.3),
        ("hall-full", ("all-doubled",), 0.5),
        ("campus", ("unit-rotated", "leaves-wrong-unit", "swap:200"), 3.0),
    ],
)
def test_explaining(shape: str, kinds: tuple[str, ...], goal_s: float) -> None:
    net = build(SHAPES[shape])
    plan = plan_of(net)
    inject(net, kinds, random.Random(1))
    comparison = compare(plan, fabric_of(net, by_guid=True))
    found = explain(comparison, known())
    assert found.left == ()
    used = cpu_of(3, lambda: explain(comparison, known()))
    print()
    say(
        f"causes, {plan.fabric.link_count:,} cables, {found.wrong:,} wrong: {' '.join(kinds)}"[:58],
        f"{used:.2f} s CPU",
        f"< {goal_s} s",
        used < goal_s,
    )
