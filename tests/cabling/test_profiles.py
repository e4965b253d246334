"""Switches in the profile ``ib split-ready`` against plans made for either profile."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.numbering import Profile, halves_of
from fabricctl.cabling.profiles import normalise
from fabricctl.cabling.verdict import Options, Verdict, VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.discovery import ibnetdiscover
from fabricctl.discovery.model import Observation
from fabricctl.fabric import Port
from fabricctl.model_tables import BUILTIN, find_model
from fabricctl.models import SwitchModel
from fabricctl.plan.model import Plan
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.plan.table import parse_csv
from tests.cabling import fabrics as make
from tests.cabling.split_ready import nameless, of_tier, split_ready
from tests.sim.cabling_csv import cabling_csv
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, Net, build, discovery_lines

FAULTS = ("swap:3", "host-swap:2", "missing:5", "dead-spine", "dead-hca:4", "width:3")


def model_of(_device: str, model: str) -> SwitchModel | None:
    return find_model(model) if model else None


OPTIONS = Options(knowledge=Knowledge(model_of=model_of))


@cache
def hall(shape: str = "hall") -> tuple[Net, Plan]:
    """The faulty fabric and the plan of the faultless one."""
    net = build(SHAPES[shape])
    plan = parse_csv(cabling_csv(net), "cabling.csv")
    inject(net, FAULTS, random.Random(1))
    return net, plan


@cache
def normal_verdict() -> Verdict:
    net, plan = hall()
    return verify(plan, seen(net), OPTIONS)


def seen(net: Net) -> Observation:
    return ibnetdiscover.parse("".join(discovery_lines(net)), "ibnetdiscover.txt")


def chosen(net: Net, which: str) -> Collection[str]:
    switches = of_tier(net)
    return {"all": switches, "one": switches[5:6], "half": switches[::2], "spines": of_tier(net, 2)}[which]


def findings_by_kind(verdict: Verdict) -> Counter[tuple[str, tuple[str, ...]]]:
    return Counter((f.kind.value, f.devices) for f in verdict.findings)


@pytest.mark.parametrize("which", ["all", "one", "half", "spines"])
def test_split_ready_switches_change_no_verdict_and_are_a_note(which: str) -> None:
    net, plan = hall()
    split = chosen(net, which)
    verdict = verify(plan, seen(split_ready(net, split)), OPTIONS)
    normal = normal_verdict()
    assert verdict.counts == normal.counts
    assert (verdict.word, verdict.doubts) == (normal.word, normal.doubts)
    assert findings_by_kind(verdict) == findings_by_kind(normal)
    said = [note for note in verdict.notes if note not in normal.notes]
    assert len(said) == 1
    assert said[0].startswith(f"{len(split):,} switch")
    assert "split-ready profile" in said[0]


def test_ports_are_printed_as_the_switch_shows_them_with_the_cage() -> None:
    net, plan = hall()
    verdict = verify(plan, seen(split_ready(net, of_tier(net))), OPTIONS)
    ends = {
        (str(end), end.label)
        for finding in verdict.findings
        for cable in finding.cables
        for end in (cable.a, cable.expected, cable.found)
        if end is not None and not end.is_hca
    }
    normal = {
        (end.device, end.port, end.label)
        for finding in normal_verdict().findings
        for cable in finding.cables
        for end in (cable.a, cable.expected, cable.found)
        if end is not None and not end.is_hca
    }
    expected = {(f"{device}/{2 * port - 1}", label) for device, port, label in normal}
    assert len(ends) > 50
    assert ends == expected


def test_a_snapshot_taken_before_the_profile_was_changed_still_compares() -> None:
    net, _ = hall("medium")
    before = plan_from_observation(seen(net))
    verdict = verify(before, seen(split_ready(net, chosen(net, "half"))), OPTIONS)
    assert verdict.counts.ok == before.fabric.link_count
    assert [f.kind.value for f in verdict.findings] == [
        f.kind.value for f in verify(before, seen(net), OPTIONS).findings
    ]
    back = verify(plan_from_observation(seen(split_ready(net, of_tier(net)))), seen(net), OPTIONS)
    assert back.counts.ok == before.fabric.link_count
    assert any("in the normal profile, but the plan counts" in note for note in back.notes)


def test_without_a_model_the_chip_tells_and_that_is_said() -> None:
    net, plan = hall()
    verdict = verify(plan, seen(split_ready(nameless(net), of_tier(net))), OPTIONS)
    assert verdict.counts == normal_verdict().counts
    assert any("known by their chip" in note for note in verdict.notes)


def test_without_model_and_chip_nothing_is_translated_and_that_is_a_doubt() -> None:
    net, plan = hall()
    text = "".join(discovery_lines(split_ready(nameless(net), of_tier(net)))).replace("devid=0xd2f2\n", "")
    observation = ibnetdiscover.parse(text, "ibnetdiscover.txt")
    verdict = verify(plan, observation, OPTIONS)
    assert verdict.word is VerdictWord.COULD_NOT_TELL
    assert 50 * verdict.counts.ok < verdict.counts.intended
    (doubt,) = (doubt for doubt in verdict.doubts if "split-ready" in doubt)
    assert "129 ports" in doubt
    assert "nothing was translated" in doubt
    result = normalise(plan, observation, model_of)
    assert (result.plan, result.observation) == (plan, observation)


def test_a_site_file_that_names_the_model_is_enough() -> None:
    net, plan = hall()
    text = "".join(discovery_lines(split_ready(nameless(net), of_tier(net)))).replace("devid=0xd2f2\n", "")
    site = Options(
        knowledge=Knowledge(model_of=lambda name, _: BUILTIN["QM9700"] if name.startswith("ib") else None)
    )
    assert (
        verify(plan, ibnetdiscover.parse(text, ""), site).counts
        == verify(plan, seen(nameless(net)), site).counts
    )


# -- splits ---------------------------------------------------------------------------------------------------

SPLIT_CABLES: list[make.Cable] = [
    ("gpu1 mlx5_0", 1, "leaf1", 1),
    ("gpu2 mlx5_0", 1, "leaf1", 2),  # the second half of cage 1 port 1
    ("gpu3 mlx5_0", 1, "leaf1", 3),
    ("gpu4 mlx5_0", 1, "leaf1", 4),
    ("leaf1", 127, "spine1", 1),
    ("leaf1", 125, "spine1", 3),
]
"""Two split cages at the leaf, two whole cables to the spine; every switch counts in the split-ready profile."""


def split_plan() -> Plan:
    return make.plan(SPLIT_CABLES)


def discovered(cables: list[make.Cable], ports: dict[str, int]) -> Observation:
    observation = make.seen(cables)
    nodes = observation.fabric.nodes
    for key, node in nodes.items():
        if node.name in ports:
            nodes[key] = replace(node, ports=ports[node.name], model="MQM9700")
    return observation


def test_a_plan_in_split_ready_numbers_with_splits_fits_switches_in_that_profile() -> None:
    verdict = verify(split_plan(), discovered(SPLIT_CABLES, {"leaf1": 129, "spine1": 129}), OPTIONS)
    assert verdict.word is VerdictWord.OK
    assert make.classes(verdict) == {"ok": 6}
    assert any("the plan counts their ports so too" in note for note in verdict.notes)


def test_a_spine_left_in_the_normal_profile_is_translated_and_said_plainly() -> None:
    cables = [(a, ap, b, (bp + 1) // 2 if b == "spine1" else bp) for a, ap, b, bp in SPLIT_CABLES]
    verdict = verify(split_plan(), discovered(cables, {"leaf1": 129, "spine1": 65}), OPTIONS)
    assert verdict.word is VerdictWord.OK
    (note,) = (note for note in verdict.notes if "in the normal profile, but the plan" in note)
    assert note.startswith("1 switch (spine1) is")


def test_a_leaf_left_in_the_normal_profile_cannot_have_its_splits() -> None:
    cables = [("gpu1 mlx5_0", 1, "leaf1", 1), ("gpu3 mlx5_0", 1, "leaf1", 2)]
    cables += [("leaf1", 64, "spine1", 1), ("leaf1", 63, "spine1", 3)]
    observation = discovered([*cables], {"leaf1": 65, "spine1": 129})
    verdict = verify(split_plan(), observation, OPTIONS)
    assert make.classes(verdict) == {"ok": 4, "missing": 2}
    (note,) = (note for note in verdict.notes if "second halves" in note)
    assert "2 planned ports" in note
    shown = {c.expected.full for f in verdict.findings for c in f.cables if c.expected is not None}
    assert shown == {"leaf1/2 (panel 1/1/2)", "leaf1/4 (panel 1/2/2)"}


def test_a_miswired_cable_at_a_switch_in_the_other_profile_names_the_ports_of_that_switch() -> None:
    plan = make.plan([("leaf1", 27, "spine1", 1), ("leaf1", 28, "spine1", 2), ("leaf1", 64, "spine1", 3)])
    moved = [("leaf1", 55, "spine1", 1), ("leaf1", 53, "spine1", 2), ("leaf1", 127, "spine1", 3)]
    verdict = verify(plan, discovered(moved, {"leaf1": 129, "spine1": 65}), OPTIONS)
    (finding,) = (finding for finding in verdict.findings if finding.kind.value == "swapped")
    assert finding.headline.startswith("leaf1/53 and leaf1/55 are exchanged")
    assert {cable.a.full for cable in finding.cables} == {"leaf1/53 (panel 14/1)", "leaf1/55 (panel 14/2)"}
    assert finding.fix.startswith(
        "exchange the plugs at spine1/1 (panel 1/1) and spine1/2 (panel 1/2), or at"
    )


def test_a_plan_above_the_count_of_switches_in_the_normal_profile_is_translated_by_their_namesakes() -> None:
    ports = (1, 3, 41, 67)
    plan = make.plan([("leaf1", n, "spine1", n) for n in ports])
    there: list[make.Cable] = [("leaf1", (n + 1) // 2, "spine1", (n + 1) // 2) for n in ports]
    verdict = verify(plan, discovered(there, {"leaf1": 65, "spine1": 65}), OPTIONS)
    assert verdict.word is VerdictWord.OK
    assert any("2 switches (leaf1,spine1) are in the normal profile" in note for note in verdict.notes)


def test_one_number_above_the_count_does_not_turn_a_whole_plan() -> None:
    cables: list[make.Cable] = [("leaf1", n, "spine1", n) for n in (1, 2, 3, 4, 64)]
    plan = make.plan([*cables, ("leaf1", 99, "spine1", 5)])
    verdict = verify(plan, discovered(cables, {"leaf1": 65, "spine1": 65}), OPTIONS)
    assert verdict.counts.ok == 5
    assert verdict.word is VerdictWord.COULD_NOT_TELL


def test_names_are_not_needed_as_long_as_models_are_known() -> None:
    """Before identities are inferred: nothing is named alike, and still both sides count alike."""
    net, plan = hall()
    renamed = ibnetdiscover.parse(
        "".join(discovery_lines(split_ready(net, chosen(net, "half")))).replace("MF0;ib", "MF0;other-ib"), ""
    )
    result = normalise(plan, renamed, model_of)
    used = {number for key, number in result.observation.fabric.links if key in result.numbering.halves}
    planned = {n for key, n in result.plan.fabric.links if key in result.numbering.halves}  # type: ignore[union-attr]
    assert used == planned == set(range(1, 65))
    assert len(result.numbering.planned) == 320
    assert any("320 planned switches name no model and count as QM9700" in note for note in result.notes)


def test_a_switch_of_a_model_without_that_profile_is_left_alone() -> None:
    cables: list[make.Cable] = [("sw1", 1, "sw2", 1), ("sw1", 36, "sw2", 36)]
    observation = make.seen(cables)
    for key, node in observation.fabric.nodes.items():
        observation.fabric.nodes[key] = replace(node, ports=36, model="MSB7800")
    result = normalise(make.plan(cables), observation, model_of)
    assert result.notes == ()
    assert result.numbering.halves == {}


def test_reserved_and_absent_ports_of_the_site_follow_the_translation() -> None:
    plan = make.plan([("leaf1", 1, "spine1", 1), ("leaf1", 33, "spine1", 2), ("leaf1", 64, "spine1", 3)])
    cables = [("leaf1", 1, "spine1", 1), ("leaf1", 65, "spine1", 2), ("leaf1", 63, "other1", 1)]
    # a split somewhere keeps everything in the split-ready numbering
    cables += [("gpu9 mlx5_0", 1, "leaf1", 2)]
    observation = discovered(cables, {"leaf1": 129, "spine1": 65, "other1": 65})
    options = replace(
        OPTIONS,
        reserved={Port("leaf1", 32): "ufm1"},
        absent_ports={Port("leaf1", 64): "transceivers on order"},
    )
    verdict = verify(plan, observation, options)
    assert make.classes(verdict) == {"ok": 2, "not_judged": 1}
    (finding,) = (f for f in verdict.findings if f.kind.value == "reserved_port")
    assert finding.subject == "leaf1/63"


# -- the numbers themselves -----------------------------------------------------------------------------------


@given(st.sampled_from(["QM9700", "QM8700"]), st.integers(min_value=1, max_value=300))
def test_numbers_translate_there_and_back_by_the_published_formula(name: str, number: int) -> None:
    halves = halves_of(BUILTIN[name])
    assert halves is not None
    split = halves.to_split(number)
    assert halves.to_normal(split) == number
    if number <= halves.ports:
        assert split == 2 * number - 1
        assert halves.to_normal(2 * number) is None
        assert halves.label(2 * number, Profile.SPLIT_READY) == f"{halves.shown[number]}/2"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_mixture_of_profiles_on_either_side_compares_like_the_normal_fabric(data: st.DataObject) -> None:
    cables = make.two_tier(hosts=6, leaves=3, spines=2, width=8)
    switches = sorted({d for c in cables for d in (c[0], c[2]) if " " not in d})
    swapped = data.draw(st.booleans(), "swapped")
    there = list(cables)
    if swapped:
        (a, ap, b, bp), (c, cp, d, dp) = there[-1], there[-2]
        there[-2:] = [(a, ap, d, dp), (c, cp, b, bp)]
    here_split = data.draw(st.sets(st.sampled_from(switches)), "planned split-ready")
    there_split = data.draw(st.sets(st.sampled_from(switches)), "seen split-ready")

    def counted(rows: list[make.Cable], split: set[str]) -> list[make.Cable]:
        return [
            (a, 2 * ap - 1 if a in split else ap, b, 2 * bp - 1 if b in split else bp)
            for a, ap, b, bp in rows
        ]

    plan = make.plan(counted(cables, here_split))
    for key, node in plan.fabric.nodes.items():
        if key in here_split:
            plan.fabric.nodes[key] = replace(node, ports=128)
    observation = discovered(
        counted(there, there_split), {name: 129 if name in there_split else 65 for name in switches}
    )
    verdict = verify(plan, observation, OPTIONS)
    reference = verify(make.plan(cables), make.seen(there), OPTIONS)
    assert verdict.counts == reference.counts
    assert make.kinds(verdict) == make.kinds(reference)
