"""One fabric with the same faults in every profile: everything that speaks of its ports means the same ports.

The expected numbers are the published formula's (mstflint ``calculatePanelPort``): normal port n is 2n - 1 in the
profile ``ib split-ready``, its second half 2n; the cage of normal port n of a QM9700 is (n + 1) // 2.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.model import End, Finding, FindingKind
from fabricctl.cabling.numbering import Numbering, Profile, halves_of
from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.cabling.verify import verify
from fabricctl.causes.model import CauseKind
from fabricctl.discovery import ibnetdiscover
from fabricctl.discovery.model import Observation
from fabricctl.history.looked import Looked
from fabricctl.history.record import known_of
from fabricctl.history.step import advance
from fabricctl.model_tables import find_model
from fabricctl.panel_tables import panel_of_model
from fabricctl.picture.data import picture_data
from fabricctl.plan.model import Plan
from fabricctl.plan.table import parse_csv
from fabricctl.repair.order_model import Step, StepKind, WorkOrder
from fabricctl.report.causes_words import split_findings
from fabricctl.report.json_report import to_json
from fabricctl.workflows.picture_extras import picture_extras
from fabricctl.workflows.verify_cabling import Intent, judge
from fabricctl.workflows.work_order import order_of
from tests.cabling.split_ready import of_tier, split_ready
from tests.report.report_samples import MADE
from tests.sim.cabling_csv import cabling_csv
from tests.sim.netgen import SHAPES, Net, build, discovery_lines
from tests.sim.netgen import End as At

SITUATIONS = ("normal", "some split", "first halves", "second halves")
"""Profiles of the switches; in the last one a cable joins second halves, so that all is counted by halves."""
SPLIT = SITUATIONS[1:]

OPTIONS = Options(
    knowledge=Knowledge(
        model_of=lambda _, model: find_model(model) if model else None,
        panel_of=lambda _, model: panel_of_model(model) if model else None,
    )
)
LEAF = "ibl-p01-r1"
SHAPE = SHAPES["medium"]
"""Leaves have hosts on ports 1 to 8 and uplinks on 9 to 16."""


def named(net: Net, name: str) -> str:
    return next(node for node, box in net.boxes.items() if box.name == name)


def split_in(net: Net, situation: str) -> list[str]:
    switches = of_tier(net)
    return {"normal": [], "some split": switches[::2]}.get(situation, switches)


def observed(net: Net, situation: str) -> Observation:
    made = split_ready(net, split_in(net, situation))
    if situation == "second halves":
        one, two = of_tier(made, 3)[:2]
        made.connect(At(one, 2), At(two, 2))
    return ibnetdiscover.parse("".join(discovery_lines(made)), "ibnetdiscover.txt")


def faulty() -> Net:
    """On one leaf the two ports of cages 5 to 7 exchanged, an uplink and a host cable gone; an unplanned cable."""
    net = build(SHAPE)
    leaf = named(net, LEAF)
    for low in (9, 11, 13):
        a, b = net.cut(At(leaf, low)), net.cut(At(leaf, low + 1))
        net.connect(At(leaf, low), b)
        net.connect(At(leaf, low + 1), a)
    net.cut(At(leaf, 16))
    net.cut(At(leaf, 3))
    net.connect(At(named(net, "ibl-p08-r3"), 8), At(named(net, "ibl-p08-r4"), 8))
    return net


@cache
def plan() -> Plan:
    return parse_csv(cabling_csv(build(SHAPE)), "cabling.csv")


@cache
def verdict(situation: str) -> Verdict:
    return judge(Intent(plan(), OPTIONS), observed(faulty(), situation))


@cache
def order(situation: str) -> WorkOrder:
    return order_of(verdict(situation), Intent(plan(), OPTIONS), MADE)


@cache
def page(situation: str) -> dict[str, Any]:
    told = verdict(situation)
    extras = picture_extras(Intent(plan(), OPTIONS), told, made=MADE)
    return dict(json.loads(json.dumps(picture_data(told, extras))))


@cache
def _split_names(situation: str) -> set[str]:
    net = build(SHAPE)
    return {net.boxes[node].name for node in split_in(net, situation)}


def shown(situation: str, device: str, number: int) -> int:
    """A normal number as the switch shows it."""
    return 2 * number - 1 if device in _split_names(situation) else number


def findings(situation: str) -> list[Finding]:
    """Without the second halves' own, and without those for which there is one per fabric."""
    return [f for f in verdict(situation).findings if not any(d.startswith("ibc-") for d in f.devices)]


def test_the_situations_are_the_ones_meant() -> None:
    for situation in SITUATIONS:
        comparison = verdict(situation).comparison
        assert comparison is not None
        by_halves = situation == "second halves"
        assert comparison.numbering.counted is (Profile.SPLIT_READY if by_halves else Profile.NORMAL)
    kinds = {f.kind for f in findings("normal")}
    assert kinds >= {FindingKind.SWAPPED, FindingKind.MISSING, FindingKind.UNEXPECTED}


@pytest.mark.parametrize("situation", SPLIT)
def test_ids_and_places_are_those_of_the_normal_profile(situation: str) -> None:
    assert known_of(findings(situation)).keys() == known_of(findings("normal")).keys()
    places = {known.id: known.where for known in known_of(findings(situation)).values()}
    assert places == {known.id: known.where for known in known_of(findings("normal")).values()}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_findings_show_the_number_of_the_switch_and_the_cage(situation: str) -> None:
    ends = {end for f in findings(situation) for end in _ends(f) if end.device == LEAF}
    told = {end.port: end.label for end in ends}
    normal = [3, 9, 10, 11, 12, 13, 14, 16]
    assert told == {shown(situation, LEAF, n): f"{(n + 1) // 2}/{2 - n % 2}" for n in normal}


def _ends(finding: Finding) -> list[End]:
    cables = finding.cables
    return [end for c in cables for end in (c.a, c.expected, c.found) if end is not None and not end.is_hca]


# -- causes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_cause_is_found_and_names_the_right_cages(situation: str) -> None:
    explanation = verdict(situation).explanation
    assert explanation is not None
    (cause,) = explanation.systematic
    assert cause.kind is CauseKind.CAGE_PORTS_EXCHANGED
    assert cause.headline == f"the two ports of cages [5-8] exchanged: uplinks of {LEAF}"
    assert (cause.links, explanation.wrong) == (6, 8)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_findings_are_folded_under_their_cause(situation: str) -> None:
    told = verdict(situation)
    assert told.explanation is not None
    assert told.comparison is not None
    under, rest = split_findings(told.findings, told.explanation, told.comparison)
    assert [f.kind for f in under[0]] == [FindingKind.SWAPPED] * 3
    assert FindingKind.SWAPPED not in {f.kind for f in rest}
    assert sum(f.kind is FindingKind.MISSING for f in rest) == 2


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_json_report_has_one_number_for_a_port(situation: str) -> None:
    report = json.loads(to_json(verdict(situation)))
    explained = report["explanation"]["causes"][0]["explains"]
    ports = {end["port"] for link in explained for end in link.values() if end["device"] == LEAF}
    assert ports == {shown(situation, LEAF, n) for n in range(9, 15)}
    swapped = [finding for finding in report["findings"] if finding["kind"] == "swapped"]
    of_findings = {c["a"]["port"] for f in swapped for c in f["cables"] if c["a"]["device"] == LEAF}
    assert of_findings == ports
    left = {
        end["port"]
        for link in report["explanation"]["left"]
        for end in link.values()
        if end["device"] == LEAF
    }
    assert left == {shown(situation, LEAF, n) for n in (3, 16)}


# -- repair -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("situation", SPLIT)
def test_the_work_order_sends_people_to_the_same_places_under_the_same_ids(situation: str) -> None:
    steps = [(s.id, s.kind, _places(s.sources), _places(s.targets)) for s in _steps(situation)]
    assert steps == [(s.id, s.kind, _places(s.sources), _places(s.targets)) for s in _steps("normal")]
    assert [kind for _, kind, _, _ in steps] == [StepKind.MOVE] * 6 + [StepKind.PULL]
    assert [part.id for part in order(situation).parts] == [part.id for part in order("normal").parts]


def _steps(situation: str) -> list[Step]:
    """Without the one that pulls the second halves' cable."""
    return [s for s in order(situation).steps if not any(spot.device == "ibc-01" for spot in s.sources)]


def _places(spots: Any) -> list[str]:
    return [spot.words for spot in spots]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_ports_of_steps_and_parts_are_the_switchs_own(situation: str) -> None:
    for step in _steps(situation):
        for spot in (*step.sources, *step.targets):
            cage, port = map(int, re.findall(r"cage (\d+) port (\d+)", spot.where)[0])
            assert [p.port for p in spot.ports] == [shown(situation, spot.device, 2 * cage - 2 + port)]
    repair = verdict(situation).repair
    assert repair is not None
    words = " ".join(part.words for part in repair.parts)
    for number in (3, 16):
        assert f"{LEAF}/{shown(situation, LEAF, number)} " in words.replace(":", " ")


# -- page -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("situation", SITUATIONS)
def test_findings_of_the_page_point_at_their_own_cables(situation: str) -> None:
    data, told = page(situation), verdict(situation)
    links = data["links"]
    for entry, finding in zip(data["findings"], told.findings, strict=True):
        assert entry["id"] == finding_id(finding)
        pairs = [(c.a, c.expected) for c in finding.cables if c.expected is not None]
        found = [(c.a, c.found) for c in finding.cables if c.expected is None and c.found is not None]
        assert _on_page(
            data, [(links["a"][i], links["ap"][i], links["b"][i], links["bp"][i]) for i in entry["l"]]
        ) == {frozenset((str(a), str(b))) for a, b in pairs}
        strays = _on_page(data, [links["stray"][i][:4] for i in entry.get("s", ())])
        assert strays >= {frozenset((str(a), str(b))) for a, b in found}


def _on_page(data: dict[str, Any], rows: Any) -> set[frozenset[str]]:
    return {frozenset((_end(data, a, ap), _end(data, b, bp))) for a, ap, b, bp in rows}


def _end(data: dict[str, Any], number: int, port: int) -> str:
    nodes = data["nodes"]
    switches, hosts, cards = nodes["switches"]["name"], nodes["hosts"]["name"], nodes["hcas"]
    if number < len(switches):
        return f"{switches[number]}/{port}"
    at = number - len(switches) - len(hosts)
    usual = f"{hosts[cards['host'][at] - len(switches)]} {data['cards'][cards['card'][at]]}"
    return str(cards["name"].get(str(at), usual))


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_page_draws_every_cable_at_its_cage(situation: str) -> None:
    """By the number the switch shows; of each planned cable the cage is worked out from the plan's number."""
    data, faces = page(situation), page(situation)["panels"]
    name, links = data["nodes"]["switches"]["name"], data["links"]
    planned = {
        (link.a, link.b) if i else (link.b, link.a) for link in plan().fabric.each_link() for i in (0, 1)
    }
    far = {
        f"{a.node}/{shown(situation, a.node, a.number)}": a.number for a, _ in planned if " " not in a.node
    }
    checked = 0
    for i in range(len(links["a"])):
        for device, port in ((links["a"][i], links["ap"][i]), (links["b"][i], links["bp"][i])):
            if device < len(name):
                rows = {row[2]: row for row in faces["faces"][faces["of"][str(device)]]["ports"]}
                normal = far[f"{name[device]}/{port}"]
                assert rows[port][:2] == [str((normal + 1) // 2), 2 - normal % 2]
                checked += 1
    assert checked > 700


@pytest.mark.parametrize("situation", SITUATIONS)
def test_steps_of_the_page_frame_the_cage_they_speak_of(situation: str) -> None:
    data, made = page(situation), order(situation)
    faces, links = data["panels"], data["links"]
    cabled = {*zip(links["a"], links["ap"], strict=True), *zip(links["b"], links["bp"], strict=True)}
    cabled |= {tuple(stray[i : i + 2]) for stray in links["stray"] for i in (0, 2)}
    for entry, step in zip(data["steps"], made.steps, strict=True):
        cages = []
        for device, port in entry["p"]:
            rows = {row[2]: row for row in faces["faces"][faces["of"][str(device)]]["ports"]}
            cages.append(f"cage {rows[port][0]} port {rows[port][1]}")
        assert cages == [spot.short for spot in (*step.sources, *step.targets)]
        assert cabled >= {tuple(p) for p in entry["p"]}


def test_a_switch_whose_halves_are_used_shows_each_half() -> None:
    data = page("second halves")
    faces, names = data["panels"], data["nodes"]["switches"]["name"]
    core = faces["faces"][faces["of"][str(names.index("ibc-01"))]]["ports"]
    assert [[row[0], row[1], row[2], *row[8:]] for row in core[:4]] == [
        ["1", 1, 1],
        ["1", 1, 2, 2],
        ["1", 2, 3],
        ["1", 2, 4, 2],
    ]
    assert core[1][7] == {"panel": "1/1/2"}
    leaf = faces["faces"][faces["of"][str(names.index(LEAF))]]["ports"]
    assert [row[2] for row in leaf[:3]] == [1, 3, 5]


# -- history ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "now"), list(product(SITUATIONS, SITUATIONS)))
def test_the_history_knows_old_findings_whatever_the_profile_is_now(before: str, now: str) -> None:
    old = known_of(findings(before))
    still = advance(old, known_of(findings(now)), lambda _: True)
    assert (set(still.still), still.opened, still.gone) == (set(old), (), ())
    repaired = looked(build(SHAPE), now)
    assert set(advance(old, {}, repaired.at).gone) == set(old)
    elsewhere = looked(faulty(), now, only="ibl-p02-r1")
    assert advance(old, {}, elsewhere.at).gone == ()


@pytest.mark.parametrize("now", SITUATIONS)
def test_what_stands_behind_a_dead_switch_is_not_gone(now: str) -> None:
    """Its uplink's finding folds under the absent switch: nobody knows how the cable is."""
    net = build(SHAPE)
    leaf = named(net, LEAF)
    for end in [end for end in net.cables if end.node == leaf]:
        net.cut(end)
    del net.boxes[leaf]
    old = {k.id: k for k in known_of(findings("normal")).values() if k.kind is FindingKind.MISSING}
    assert len(old) == 2
    step = advance(old, {}, looked(net, now).at)
    assert (len(step.not_looked), step.gone) == (2, ())


@cache
def _looked(repaired: bool, situation: str, only: str) -> Looked:
    return _look(build(SHAPE) if repaired else faulty(), situation, only)


def looked(net: Net, situation: str, only: str = "") -> Looked:
    healthy = net.cables == build(SHAPE).cables
    return _looked(healthy, situation, only) if healthy or only else _look(net, situation, only)


def _look(net: Net, situation: str, only: str) -> Looked:
    options, seen = replace(OPTIONS, only=only), observed(net, situation)
    return Looked(verify(plan(), seen, options), seen, options)


# -- second halves ----------------------------------------------------------------------------------------


def _halves() -> tuple[Plan, Net]:
    """Two cores joined by both halves of port 11 (21 and 22), by plan; what lies there, neither."""
    net = build(SHAPES["small3"])
    made = split_ready(net, of_tier(net))
    one, two = of_tier(made, 3)[:2]
    made.connect(At(one, 21), At(two, 21))
    made.connect(At(one, 22), At(two, 22))
    wanted = parse_csv(cabling_csv(made), "cabling.csv")
    made.cut(At(one, 21))
    made.cut(At(one, 22))
    return wanted, made


def test_a_second_half_has_a_place_of_its_own() -> None:
    wanted, net = _halves()
    one, two = of_tier(net, 3)[:2]
    net.connect(At(one, 21), At(two, 21))
    (known,) = known_of(verify(wanted, _seen(net), OPTIONS).findings).values()
    assert str(known.where) == "ibc-01/11/2 - ibc-02/11/2"
    assert known.headline.startswith("ibc-01/22 - ibc-02/22")
    net.cut(At(one, 21))
    net.connect(At(one, 22), At(two, 22))
    (other,) = known_of(verify(wanted, _seen(net), OPTIONS).findings).values()
    assert str(other.where) == "ibc-01/11 - ibc-02/11"
    assert other.id != known.id
    both = known_of(verify(wanted, _seen(_halves()[1]), OPTIONS).findings)
    assert set(both) == {known.id, other.id}


def test_a_cable_of_second_halves_is_gone_only_when_somebody_looked() -> None:
    wanted, net = _halves()
    old = known_of(verify(wanted, _seen(net), OPTIONS).findings)
    assert len(old) == 2
    one, two = of_tier(net, 3)[:2]
    elsewhere = replace(OPTIONS, only="ibl-p01-r1")
    looked_at = Looked(verify(wanted, _seen(net), elsewhere), _seen(net), elsewhere)
    assert set(advance(old, {}, looked_at.at).not_looked) == set(old)
    net.connect(At(one, 21), At(two, 21))
    net.connect(At(one, 22), At(two, 22))
    repaired = verify(wanted, _seen(net), OPTIONS)
    assert not repaired.findings
    assert set(advance(old, {}, Looked(repaired, _seen(net), OPTIONS).at).gone) == set(old)


def _seen(net: Net) -> Observation:
    return ibnetdiscover.parse("".join(discovery_lines(net)), "ibnetdiscover.txt")


@given(
    number=st.integers(1, 140),
    counted=st.sampled_from(Profile),
    shown_in=st.sampled_from(Profile),
    model=st.sampled_from(["QM8700", "QM9700"]),
)
def test_numbers_there_and_back(number: int, counted: Profile, shown_in: Profile, model: str) -> None:
    halves = halves_of(find_model(model))
    assert halves is not None
    numbering = Numbering(counted, {"leaf": halves, "0x1": halves}, {"0x1": shown_in}, {"leaf": counted})
    told = numbering.normal("leaf", "0x1", number)
    assert numbering.normal_back("leaf", "0x1", told) == number
    own, _ = numbering.own("leaf", "0x1", number)
    second = len(told) > 1
    if not (second and shown_in is Profile.NORMAL):  # the switch has no such number
        assert numbering.own_back("leaf", "0x1", own) == number
    if counted is Profile.NORMAL and number <= halves.ports:
        assert own == (2 * number - 1 if shown_in is Profile.SPLIT_READY else number)
