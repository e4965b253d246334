"""An old finding is gone only when the new run looked there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import (
    DiscoveryFormat,
    Observation,
    Problem,
    ProblemKind,
    Source,
    SubnetManager,
)
from fabricctl.discovery.recognise import parse_any
from fabricctl.history.looked import Looked
from fabricctl.history.record import known_of
from fabricctl.history.step import advance
from fabricctl.plan.model import Plan
from fabricctl.plan.snapshot import plan_from_observation
from tests.cabling.fabrics import Cable, guid, plan, seen, two_tier, without
from tests.cabling.test_finding_id import CASES, faulty
from tests.conftest import read_capture

ROWS = two_tier(hosts=8, leaves=4, spines=2, width=2)
UP = ("leaf1", 21, "spine1", 1)
HOST = ("gpu1 mlx5_0", 1, "leaf1", 1)


def blind(cables: list[Cable], *names: str) -> Observation:
    """What a run sees that never gets to some devices: their neighbours' ports are not told either."""
    found = seen([cable for cable in cables if not {cable[0], cable[2]} & set(names)])
    for key, node in found.fabric.nodes.items():
        if any(node.name in (a, b) for a, _, b, _ in ROWS if {a, b} & set(names)):
            found.fabric.nodes[key] = replace(node, listed=False)
    return found


def changed(
    before: tuple[Plan | None, Observation], now: tuple[Plan | None, Observation], **options: object
) -> dict[FindingKind, str]:
    """Kind of every finding of the first run -> what the second run says of it."""
    first = Options(gate=1.0, **options.pop("first", {}))  # type: ignore[arg-type]
    second = Options(gate=1.0, **options)  # type: ignore[arg-type]
    old = known_of(verify(*before, first).findings)
    verdict: Verdict = verify(*now, second)
    step = advance(old, known_of(verdict.findings), Looked(verdict, now[1], second).at)
    words = {"still": step.still, "gone": step.gone, "not looked": step.not_looked}
    return {old[id].kind: word for word, ids in words.items() for id in ids}


MISSING = (plan(ROWS), seen(without(ROWS, UP)))
GONE, NOT_LOOKED, STILL = "gone", "not looked", "still"


def test_a_repaired_cable_is_gone() -> None:
    assert changed(MISSING, (plan(ROWS), seen(ROWS))) == {FindingKind.MISSING: GONE}


def test_a_cable_whose_devices_were_not_seen_is_not_gone() -> None:
    assert changed(MISSING, (plan(ROWS), blind(ROWS, "leaf1", "spine1"))) == {FindingKind.MISSING: NOT_LOOKED}


def test_a_cable_of_a_device_that_is_absent_now_is_not_gone() -> None:
    now = seen([cable for cable in ROWS if "spine1" not in cable])
    assert changed(MISSING, (plan(ROWS), now))[FindingKind.MISSING] == NOT_LOOKED


def test_a_missing_cable_that_is_miswired_now_is_gone_as_missing() -> None:
    moved = [*without(ROWS, UP), ("leaf1", 21, "spine2", 40)]
    assert changed(MISSING, (plan(ROWS), seen(moved))) == {FindingKind.MISSING: GONE}


@pytest.mark.parametrize(("only", "said"), [("leaf1", GONE), ("spine1", GONE), ("leaf2", NOT_LOOKED)])
def test_only_looks_at_what_it_names(only: str, said: str) -> None:
    assert changed(MISSING, (plan(ROWS), seen(ROWS)), only=only) == {FindingKind.MISSING: said}


def test_planned_maintenance_proves_nothing() -> None:
    away = seen([cable for cable in ROWS if "spine1" not in cable])
    said = changed(MISSING, (plan(ROWS), away), expected_absent={"spine1": "back to the vendor"})
    assert said == {FindingKind.MISSING: NOT_LOOKED}


def test_a_cable_the_plan_no_longer_wants_is_gone() -> None:
    fewer = without(ROWS, UP)
    assert changed(MISSING, (plan(fewer), seen(fewer))) == {FindingKind.MISSING: GONE}


def test_a_plan_that_has_not_the_devices_proves_nothing() -> None:
    smaller = two_tier(hosts=8, leaves=2, spines=1, width=2)
    out = (("leaf4", 21, "spine1", 7), ("gpu1 mlx5_3", 1, "leaf4", 1), ("leaf1", 23, "spine2", 1))
    cabled = [*without(ROWS, *out), ("leaf3", 50, "leaf4", 51), ("leaf1", 60, "leaf1", 61)]
    away = seen([cable for cable in cabled if "gpu8" not in cable[0] and "leaf2" not in cable])
    options = Options(gate=1.0)
    old = known_of(verify(plan(ROWS), away, options).findings)
    found = seen(smaller)
    verdict = verify(plan(smaller), found, options)
    step = advance(old, known_of(verdict.findings), Looked(verdict, found, options).at)
    # leaf3, leaf4, spine2 and the hosts' cards 3 and 4 are strangers to the second plan
    assert {old[id].subject for id in step.gone} == {"leaf2", "gpu8", "leaf1/60 - leaf1/61"}
    assert {old[id].subject for id in step.not_looked} == {
        *("leaf4/21 - spine1/7", "gpu1 mlx5_3", "leaf1/23 - spine2/1", "leaf3/50 - leaf4/51")
    }


def test_without_a_plan_another_fabric_closes_nothing() -> None:
    loop = ("spine1", 60, "spine1", 61)
    found = seen([*ROWS, loop])
    found.subnet_managers += [SubnetManager(guid(f"gpu{n} mlx5_0"), "master") for n in (1, 2)]
    other = seen([(f"x{a}", ap, f"x{b}", bp) for a, ap, b, bp in ROWS])
    other.subnet_managers.append(SubnetManager(guid("xgpu1 mlx5_0"), "master"))
    said = changed((None, found), (None, other))
    assert said == {FindingKind.SELF_LOOP: NOT_LOOKED, FindingKind.SUBNET_MANAGER: NOT_LOOKED}


def test_an_absent_device_is_gone_when_it_is_back_and_only_then() -> None:
    before = (plan(ROWS), seen([cable for cable in ROWS if "spine2" not in cable]))
    assert changed(before, (plan(ROWS), seen(ROWS))) == {FindingKind.ABSENT_DEVICE: GONE}
    nothing = blind(ROWS, "spine2")
    assert changed(before, (plan(ROWS), nothing)) == {FindingKind.ABSENT_DEVICE: NOT_LOOKED}
    assert changed(before, before) == {FindingKind.ABSENT_DEVICE: STILL}


def test_an_absent_host_is_gone_when_one_of_its_cards_is_back() -> None:
    before = (plan(ROWS), seen([cable for cable in ROWS if not cable[0].startswith("gpu3 ")]))
    now = [cable for cable in ROWS if not cable[0].startswith("gpu3 ") or cable[0] == "gpu3 mlx5_0"]
    assert changed(before, (plan(ROWS), seen(now))) == {FindingKind.ABSENT_DEVICE: GONE}


def _slow(*, told: bool) -> Observation:
    found = seen(ROWS)
    for port, link in list(found.fabric.links.items()):
        if link.a.node in (guid(UP[0]), guid(UP[2])) and {link.a.number, link.b.number} == {21, 1}:
            rate = replace_rate(link) if told else None
            found.fabric.links[port] = link._replace(rate=rate)
    return found


def replace_rate(link: object) -> object:
    return link.rate._replace(width=1)  # type: ignore[attr-defined]


def test_a_slow_cable_is_not_gone_where_no_rate_is_told_or_the_cable_is_out() -> None:
    before = (plan(ROWS), _slow(told=True))
    assert changed(before, (plan(ROWS), seen(ROWS))) == {FindingKind.DEGRADED: GONE}
    assert changed(before, (plan(ROWS), _slow(told=False))) == {FindingKind.DEGRADED: NOT_LOOKED}
    assert changed(before, MISSING) == {FindingKind.DEGRADED: NOT_LOOKED}


def test_a_check_that_was_not_asked_for_proves_nothing() -> None:
    strangers = seen([*ROWS, ("stranger", 1, "leaf1", 60)])
    before = (plan(ROWS), strangers)
    kinds = {FindingKind.OUTSIDE_PLAN, FindingKind.UNKNOWN_DEVICE}
    asked = changed(before, (plan(ROWS), seen(ROWS)), first={"strict": True}, strict=True)
    assert asked == dict.fromkeys(kinds, GONE)
    not_asked = changed(before, (plan(ROWS), seen(ROWS)), first={"strict": True})
    assert not_asked == dict.fromkeys(kinds, NOT_LOOKED)


def test_an_unexpected_cable_is_gone_when_one_of_its_ports_was_read() -> None:
    before = (plan(ROWS), seen([*ROWS, ("leaf1", 50, "leaf2", 51)]))
    assert changed(before, (plan(ROWS), blind(ROWS, "gpu1 mlx5_0"))) == {FindingKind.UNEXPECTED: GONE}
    assert changed(before, (plan(ROWS), blind(ROWS, "leaf1", "leaf2", "spine1", "spine2"))) == {
        FindingKind.UNEXPECTED: NOT_LOOKED
    }


def test_a_failed_viewer_proves_no_duplicate_gone() -> None:
    before = seen(ROWS)
    before.problems.append(Problem(ProblemKind.DUPLICATE_GUID, "twice", 1, (guid("leaf1"),)))
    now = seen(ROWS)
    assert changed((plan(ROWS), before), (plan(ROWS), now)) == {FindingKind.DUPLICATE_GUID: GONE}
    now.sources.append(Source("ufm2", None, failed="no answer"))
    assert changed((plan(ROWS), before), (plan(ROWS), now)) == {FindingKind.DUPLICATE_GUID: NOT_LOOKED}


def test_inactive_ports_are_gone_only_by_a_format_that_tells_them() -> None:
    before = seen(ROWS)
    before.problems.append(Problem(ProblemKind.INACTIVE, "4 Init", 1))
    now = seen(ROWS)
    assert changed((plan(ROWS), before), (plan(ROWS), now)) == {FindingKind.INACTIVE: NOT_LOOKED}
    now.sources = [replace(now.sources[0], format=DiscoveryFormat.IBLINKINFO)]
    assert changed((plan(ROWS), before), (plan(ROWS), now)) == {FindingKind.INACTIVE: GONE}


def test_a_split_is_gone_when_the_whole_was_seen() -> None:
    split = [c for c in ROWS if (c[0] in ("leaf1", "leaf2")) == (c[2] == "spine1") or c[2][:4] == "leaf"]
    before = (plan(ROWS), seen(split))
    assert changed(before, (plan(ROWS), seen(ROWS)))[FindingKind.SPLIT_FABRIC] == GONE
    assert changed(before, (plan(ROWS), blind(ROWS, "spine2")))[FindingKind.SPLIT_FABRIC] == NOT_LOOKED
    assert changed(before, (plan(ROWS), seen(ROWS)), only="leaf1")[FindingKind.SPLIT_FABRIC] == NOT_LOOKED


def test_without_a_plan_a_gap_is_gone_when_both_switches_were_read() -> None:
    wide = two_tier(width=4, leaves=4)
    before = (None, seen(without(wide, ("leaf1", 22, "spine1", 2))))
    assert changed(before, (None, seen(wide))) == {FindingKind.BUNDLE_GAP: GONE}
    now = seen([cable for cable in wide if "leaf1" not in cable])
    now.problems.append(Problem(ProblemKind.TIMEOUT, "no answer"))
    assert changed(before, (None, now)) == {FindingKind.BUNDLE_GAP: NOT_LOOKED}


@pytest.mark.parametrize("kind", list(CASES))
def test_every_kind_is_gone_from_a_clean_complete_run_that_made_its_check(kind: FindingKind) -> None:
    wanted, found, options = faulty(kind)
    old = known_of(verify(wanted, found, options).findings)
    assert kind in {one.kind for one in old.values()}
    rows = {
        FindingKind.RAIL: two_tier(hosts=8, leaves=2),
        FindingKind.BUNDLE_GAP: two_tier(width=4, leaves=4),
    }
    clean = seen(rows.get(kind, ROWS))
    clean.sources = [replace(clean.sources[0], format=DiscoveryFormat.IBLINKINFO)]
    if kind is FindingKind.SUBNET_MANAGER:
        clean.subnet_managers += [replace(m, guid=guid("leaf1")) for m in found.subnet_managers[:1]]
    if kind is FindingKind.RESERVED_PORT and wanted is not None:
        clean = seen(without(ROWS, ("gpu8 mlx5_0", 1, "leaf1", 8), ("gpu7 mlx5_0", 1, "leaf1", 7)))
    if options.hca_slots:
        options = replace(options, hca_slots=[slot._replace(slot="31") for slot in options.hca_slots])
    options = replace(options, manager_hosts="")
    verdict = verify(wanted, clean, options)
    step = advance(old, known_of(verdict.findings), Looked(verdict, clean, options).at)
    left = {old[id].kind for id in (*step.still, *step.not_looked)}
    assert kind not in left


@pytest.mark.captures
def test_an_absent_device_is_not_gone_because_fewer_of_its_neighbours_were_seen(captures: Path) -> None:
    """Two leaves' blocks cut out of the capture: the dead spine's other cables are then listed singly."""
    wanted = plan_from_observation(parse_any(read_capture(captures / "ibsim/small3/fabric.net"), "plan"))
    text = read_capture(captures / "ibsim/small3-faulty/ibnetdiscover.txt")
    blocks = re.split(r"\n(?=vendid=)", text)
    part = "\n".join(b for b in blocks if not re.search(r"^Switch.*ibl-p01", b, re.M))
    old = verify(wanted, parse_any(text, "all"))
    (spine,) = (f for f in old.findings if f.subject.startswith("ibs-p01-s2"))
    found = parse_any(part, "part")
    now = verify(wanted, found)
    step = advance(known_of(old.findings), known_of(now.findings), Looked(now, found, Options()).at)
    assert finding_id(spine) not in step.gone
