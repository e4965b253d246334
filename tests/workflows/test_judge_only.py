"""``--only`` holds for everything a verdict is given after the comparison: identity, kinds of cables, moves."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

import pytest

from fabricctl.cabling.binding import Names
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.scope import make_scope
from fabricctl.cabling.verdict import Options, Verdict, VerdictWord
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.workflows.verify_cabling import Intent, judge
from tests.identity.nets import Seen, hosts_exchanged, net_of, observe, plan_of
from tests.repair.plug_hall import Cable, Hall
from tests.repair.technician import look
from tests.sim.faults import inject


@lru_cache
def faulty() -> tuple[Intent, Seen]:
    """Two leaves declared as each other, cables exchanged, pulled and laid elsewhere."""
    net = net_of("medium")
    inject(net, ("swap:3", "host-swap:2", "missing:3"), random.Random(4))
    seen = observe(net, described=True)
    one, two = "ibl-p01-r1", "ibl-p01-r2"
    names = Names(declared={seen.guid(one): two, seen.guid(two): one})
    return Intent(plan_of("medium"), Options(names=names, gate=1.0), identify=True), seen


def chosen(intent: Intent, seen: Seen, only: str) -> Verdict:
    return judge(replace(intent, options=replace(intent.options, only=only)), seen.observation)


def assert_only(verdict: Verdict, plan: Plan) -> None:
    scope = make_scope(verdict.only, plan, {})
    assert [f.headline for f in verdict.findings if f.devices and not scope.names_any(f.devices)] == []
    assert (verdict.word is VerdictWord.OK) == (not verdict.findings and not verdict.doubts)


@pytest.mark.parametrize("only", ["ibl-p03-r2", "ibl-p01-r1", "ibs-p01-s1", "gpu001", "gpu[001-063]"])
def test_identity_findings_are_those_of_the_chosen(only: str) -> None:
    intent, seen = faulty()
    verdict = chosen(intent, seen, only)
    assert_only(verdict, plan_of("medium"))
    said = [f for f in verdict.findings if f.kind is FindingKind.IDENTITY]
    # each of the two contradictions names both leaves
    assert len(said) == (2 if only == "ibl-p01-r1" else 0)


def test_an_open_identity_elsewhere_leaves_what_was_chosen_told() -> None:
    seen = observe(net_of("medium", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")), described=True)
    intent = Intent(plan_of("medium"), Options(), identify=True)
    told = chosen(intent, seen, "ibl-p03-r2")
    assert (told.word, told.counts.not_judged, told.doubts) == (VerdictWord.OK, 0, [])
    assert not any(note.startswith("ambiguity") for note in told.notes)
    for only in ("ibl-p01-r1", "ibs-p01-s1"):  # itself, and a switch with cables to it
        verdict = chosen(intent, seen, only)
        assert (verdict.word, bool(verdict.doubts)) == (VerdictWord.COULD_NOT_TELL, True)


def twins_turned() -> Hall:
    """Four twin cables of four leaves lie turned by one port, which no twin plug can; a fifth leaf is as planned."""
    hall = Hall()
    near = [(f"leaf{n}", port) for n in range(1, 6) for port in (1, 2)]
    far = [(f"spine{n}", port) for n in range(1, 6) for port in (1, 2)]
    for n in range(5):
        hall.want("twin_dac", (near[2 * n], near[2 * n + 1]), (far[2 * n], far[2 * n + 1]))
    hall.cables = [Cable("fibre_straight", [(near[n],), (far[(n + 1) % 8],)]) for n in range(8)]
    hall.cables += [Cable("fibre_straight", [(near[n],), (far[n],)]) for n in (8, 9)]
    return hall


@pytest.mark.parametrize(("only", "number"), [("leaf1", 1), ("spine3", 1), ("leaf5", 0)])
def test_impossible_patterns_are_those_of_the_chosen(only: str, number: int) -> None:
    hall = twins_turned()
    plan = Plan(hall.fabric(hall.slots, planned=True), PlanFormat.CSV)
    verdict = judge(Intent(plan, Options(only=only)), look(hall))
    assert_only(verdict, plan)
    assert sum(f.kind is FindingKind.CABLE_TYPE for f in verdict.findings) == number


def test_moves_follow_a_group_to_its_end_and_say_so() -> None:
    hall = Hall()
    cables = [hall.want("fibre_straight", ((f"leaf{n}", 1),), ((f"spine{n}", 1),)) for n in range(1, 5)]
    hall.rotate([(cable, 1) for cable in cables[:3]])
    plan = Plan(hall.fabric(hall.slots, planned=True), PlanFormat.CSV)
    repair = judge(Intent(plan, Options(only="spine1")), look(hall)).repair
    assert repair is not None
    # by hand: three plugs go round; one of them neither leaves nor reaches spine1
    assert repair.plugs_moved == 3
    assert "1 of 3 moves are at devices outside --only: a group of wrong cables is mended as a whole" in (
        repair.notes
    )
    whole = judge(Intent(plan, Options()), look(hall)).repair
    assert whole is not None
    assert not any("--only" in note for note in whole.notes)
    elsewhere = judge(Intent(plan, Options(only="spine4")), look(hall))
    assert (elsewhere.word, elsewhere.repair and elsewhere.repair.moves) == (VerdictWord.OK, ())
