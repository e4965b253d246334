"""Which switch is which on 320 switches and 12,282 cables: right, or open, never wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabricctl.identity.identify import identify
from fabricctl.identity.model import Source
from fabricctl.identity.outcome import exit_code
from tests.identity.nets import (
    Seen,
    dead,
    down,
    hosts_shifted,
    net_of,
    observe,
    plan_of,
    rotated,
    scrambled,
)
from tests.sim.netgen import Net

CASES: dict[str, tuple[list[Callable[[Net], None]], dict[str, float]]] = {
    "as planned": ([], {}),
    "one per cent of hosts known": ([], {"known": 0.01}),
    "40 % of the links exchanged at random, 2 % of hosts known": ([scrambled(0.4)], {"known": 0.02}),
    "10 % of host names wrong, 5 % of links exchanged": ([scrambled(0.05)], {"wrong": 0.1}),
    "10 % of host names wrong, 5 % of hosts known": ([scrambled(0.05)], {"wrong": 0.1, "known": 0.05}),
    "5 % of links down": ([down(0.05)], {"known": 0.02}),
    "one leaf rotated": ([rotated(1, 1, only="ibl-p03-r3")], {}),
    "hosts shifted by one": ([hosts_shifted], {}),
    "hosts shifted by one, few known": ([hosts_shifted], {"known": 0.02}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_switch_is_right_and_certain(case: str) -> None:
    faults, shown = CASES[case]
    seen = observe(net_of("hall", *faults), **shown)  # type: ignore[arg-type]
    found = identify(plan_of("hall"), seen.observation)
    assert (len(found.names), seen.right(found)) == (320, 320)
    assert (found.ambiguities, found.unplaced, found.unfilled, found.contradictions) == ([], [], [], [])
    assert exit_code(found) == 0


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_random_exchanges_never_make_a_false_ambiguity(seed: int) -> None:
    seen = observe(net_of("hall", scrambled(0.4, seed)), seed, known=0.02)
    found = identify(plan_of("hall"), seen.observation)
    assert (len(found.names), seen.right(found), found.ambiguities) == (320, 320, [])


def test_dead_switches_are_not_found_and_nobody_takes_their_place() -> None:
    gone = ("ibl-p02-r5", "ibs-p04-s4", "ibc-17")
    seen = observe(net_of("hall", scrambled(0.05), dead(*gone)), known=0.1)
    found = identify(plan_of("hall"), seen.observation)
    assert (len(found.names), seen.right(found)) == (317, 317)
    assert sorted(found.unfilled) == sorted(gone)
    assert exit_code(found) == 1


def test_votes_and_margin_of_a_clean_leaf() -> None:
    # by hand: 32 hosts and 32 uplinks, both port numbers right: 2 votes each, nobody says anything else
    seen = observe(net_of("hall"))
    found = identify(plan_of("hall"), seen.observation)
    leaf = next(a for a in found.assignments if a.planned == "ibl-p01-r1")
    assert (leaf.votes_for, leaf.votes_against, leaf.margin, leaf.runner_up) == (128, 0, 128, None)
    assert leaf.source is Source.VOTES
    assert leaf.place == "A10 U8"


def test_switches_outside_the_plan_get_no_place() -> None:
    seen = observe(net_of("hall", dead("ibs-p04-s4")))
    stranger = seen.guid("ibl-p01-r1")
    # the planned leaf's twin stays, but a switch that hangs on it by one cable is nobody planned
    plan = plan_of("hall")
    from fabricctl.fabric import Link, Node, NodeKind, Port

    fabric = seen.observation.fabric
    fabric.nodes["0x1"] = Node("0x1", NodeKind.SWITCH, "0x1", "0x1", "", 64)
    fabric.nodes["0x2"] = Node("0x2", NodeKind.SWITCH, "0x2", "0x2", "", 64)
    fabric.connect(Link(Port("0x1", 9), Port(stranger, 64)))
    for port in range(10, 40):  # the rest of the strange fabric
        fabric.connect(Link(Port("0x1", port), Port("0x2", port)))
    found = identify(plan, seen.observation)
    assert found.unplaced == ["0x1", "0x2"]
    assert (len(found.names), found.unfilled) == (319, ["ibs-p04-s4"])


def test_descriptions_of_switches_are_no_evidence_but_are_said() -> None:
    seen = observe(net_of("hall"), described=True)
    one, other = seen.guid("ibc-01"), seen.guid("ibc-02")
    _exchange_descriptions(seen, one, other)
    found = identify(plan_of("hall"), seen.observation)
    assert found.names[one] == "ibc-01"
    assert {a.seen: a.described for a in found.assignments if a.described_differs} == {
        one: "ibc-02",
        other: "ibc-01",
    }


def _exchange_descriptions(seen: Seen, one: str, other: str) -> None:
    from dataclasses import replace

    nodes = seen.observation.fabric.nodes
    texts = [(nodes[key].description, nodes[key].name) for key in (other, one)]
    for key, (text, name) in zip((one, other), texts, strict=True):
        nodes[key] = replace(nodes[key], description=text, name=name)


@pytest.mark.parametrize("wiring", ["planes"])
def test_cables_of_a_whole_tier_laid_otherwise_still_leave_each_switch_known(wiring: str) -> None:
    from tests.sim.netgen import SHAPES, Wiring, build

    seen = observe(build(SHAPES["hall"], Wiring(wiring)))
    found = identify(plan_of("hall"), seen.observation)
    assert seen.right(found) == len(found.names) == 320
