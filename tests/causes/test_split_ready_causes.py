"""Causes on switches in the profile ``ib split-ready``, with and without second halves in use.

Normal port n is 2n - 1 there, its second half 2n; cage c of a QM9700 holds the normal ports 2c - 1 and 2c.
"""

from __future__ import annotations

import pytest

from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.causes.explain import explain
from fabricctl.causes.model import Cause, CauseKind, CauseKnowledge
from fabricctl.discovery import ibnetdiscover
from fabricctl.model_tables import find_model
from fabricctl.panel_tables import panel_of_model
from fabricctl.plan.table import parse_csv
from tests.cabling.split_ready import of_tier, split_ready
from tests.repair.plug_hall import Hall
from tests.repair.test_by_hand import gpu, sw
from tests.sim.cabling_csv import cabling_csv
from tests.sim.netgen import SHAPES, End, Net, build, discovery_lines

QM9700 = panel_of_model("QM9700")
KNOWN = CauseKnowledge(panel_of=lambda key: None if key.startswith("gpu") else QM9700)
OPTIONS = Options(knowledge=Knowledge(model_of=lambda _, model: find_model(model) if model else None))


def of_hall(hall: Hall) -> list[Cause]:
    return list(explain(hall.compare(), KNOWN).causes)


def of_net(net: Net, *, split: bool, halves: bool, knowledge: CauseKnowledge = KNOWN) -> list[Cause]:
    """Causes in a fabric of shape ``medium`` against its plan in the normal profile."""
    made = split_ready(net, of_tier(net)) if split else net
    if halves:
        one, two = of_tier(made, 3)[:2]
        made.connect(End(one, 2), End(two, 2))
    plan = parse_csv(cabling_csv(build(SHAPES["medium"])), "cabling.csv")
    seen = ibnetdiscover.parse("".join(discovery_lines(made)), "seen")
    comparison = verify(plan, seen, OPTIONS).comparison
    assert comparison is not None
    return list(explain(comparison, knowledge).causes)


def moved(order: dict[int, int]) -> Net:
    """The plugs of the first leaf's uplinks (ports 9 to 16) in other ports: own port -> where it sits."""
    net = build(SHAPES["medium"])
    leaf = of_tier(net, 1)[0]
    far = {port: net.cut(End(leaf, port)) for port in order}
    for port, there in order.items():
        net.connect(End(leaf, there), far[port])
    return net


PROFILES = pytest.mark.parametrize(
    ("split", "halves"),
    [(False, False), (True, False), (True, True)],
    ids=["normal", "first halves", "second halves"],
)


@PROFILES
def test_a_block_turned_by_one_port(split: bool, halves: bool) -> None:
    (cause,) = of_net(moved({n: (n - 9 + 1) % 8 + 9 for n in range(9, 17)}), split=split, halves=halves)
    assert cause.headline == "uplinks of ibl-p01-r1 rotated by one port"
    assert cause.links == 8


@pytest.mark.parametrize(("further", "words"), [(2, "one port"), (4, "one cage"), (1, "one half port")])
def test_a_block_pushed_on_is_measured_in_ports_not_in_numbers(further: int, words: str) -> None:
    hall = Hall(model="QM9700")
    for n in range(8):
        cable = hall.want("fibre_straight", sw("leaf", 21 + 2 * n), gpu(n + 1))
        cable.places[0] = sw("leaf", 21 + 2 * n + further)
    hall.want("fibre_split_1x2", sw("leaf", 127, 128), gpu(11), gpu(12))
    (cause,) = of_hall(hall)
    assert f"shifted by {words}" in cause.headline


@PROFILES
def test_a_reversed_block_adds_up_in_the_switchs_own_numbers(split: bool, halves: bool) -> None:
    (cause,) = of_net(moved({n: 25 - n for n in range(9, 17)}), split=split, halves=halves)
    assert cause.kind is CauseKind.REVERSED
    total = 17 + 31 if split else 9 + 16
    assert cause.evidence.endswith(f"own port and found port add up to {total}")


@PROFILES
def test_cages_without_a_panel_are_told_by_the_switchs_own_numbers(split: bool, halves: bool) -> None:
    order = {9: 10, 10: 9, 11: 12, 12: 11}
    (cause,) = of_net(moved(order), split=split, halves=halves, knowledge=CauseKnowledge())
    which = "17/19, 21/23" if split else "9/10, 11/12"
    assert cause.headline == f"the two ports of cages {which} exchanged: uplinks of ibl-p01-r1"


def test_tails_of_a_split_fibre_are_crossed_on_the_halves_of_one_port() -> None:
    hall = Hall(model="QM9700")
    one = hall.want("fibre_split_1x2", sw("leaf", 105, 106), gpu(1), gpu(2))
    hall.want("fibre_split_1x2", sw("leaf", 107, 108), gpu(3), gpu(4))
    hall.swap((one, 1), (one, 2))
    (cause,) = of_hall(hall)
    assert cause.kind is CauseKind.TAILS_CROSSED
    assert "ports 105 to 106" in cause.headline


def test_heads_of_split_fibres_in_one_cage_are_told_apart() -> None:
    hall = Hall(model="QM9700")
    one = hall.want("fibre_split_1x2", sw("leaf", 53, 54), gpu(1), gpu(2))
    two = hall.want("fibre_split_1x2", sw("leaf", 55, 56), gpu(3), gpu(4))
    hall.want("fibre_split_1x2", sw("leaf", 127, 128), gpu(5), gpu(6))
    hall.swap((one, 0), (two, 0))
    (cause,) = of_hall(hall)
    assert cause.headline == "splitter heads at leaf/53 (panel 14/1) and leaf/55 (panel 14/2) exchanged"


def test_copper_heads_light_the_first_halves_of_a_cage() -> None:
    hall = Hall(model="QM9700")
    one = hall.want("dac_split_1x2", sw("leaf", 53, 55), gpu(1), gpu(2))
    two = hall.want("dac_split_1x2", sw("leaf", 57, 59), gpu(3), gpu(4))
    hall.want("fibre_split_1x2", sw("leaf", 127, 128), gpu(5), gpu(6))
    hall.swap((one, 0), (two, 0))
    (cause,) = of_hall(hall)
    assert cause.headline == "splitter heads at leaf/53 (panel 14/1) and leaf/57 (panel 15/1) exchanged"


def test_the_halves_of_one_port_exchanged_are_no_exchange_of_a_cages_ports() -> None:
    hall = Hall(model="QM9700")
    one = hall.want("fibre_straight", sw("leaf", 101), sw("spine", 101))
    two = hall.want("fibre_straight", sw("leaf", 102), sw("spine", 102))
    hall.swap((one, 0), (two, 0))
    (cause,) = of_hall(hall)
    assert cause.kind is CauseKind.SWAPPED
