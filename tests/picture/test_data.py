"""The data of a picture tell the same as the verdict they are made of."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.cabling.verify import verify
from fabricctl.causes.model import Cause, CauseKind, Confidence, Explanation
from fabricctl.fabric import Port
from fabricctl.identity.model import Ambiguity, Assignment, Hypothesis, Identification, Source
from fabricctl.panels import Panel, PanelPort
from fabricctl.picture import links
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.links import Stray
from fabricctl.picture.pairs import Cells, count_pairs
from fabricctl.report.json_report import report_of
from fabricctl.report.words import CLASSES
from tests.cabling.fabrics import guid, plan, seen, two_tier, without
from tests.report.report_samples import clean_fabric, judged

Demo = tuple[Verdict, Extras]


class Names:
    """Numbers back to names."""

    def __init__(self, data: dict[str, Any]) -> None:
        nodes = data["nodes"]
        self.cells = [*nodes["switches"]["name"], *nodes["hosts"]["name"]]
        self.hcas, self.cards = nodes["hcas"], data["cards"]

    def __call__(self, number: int) -> str:
        if number < len(self.cells):
            return str(self.cells[number])
        i = number - len(self.cells)
        usual = f"{self.cells[self.hcas['host'][i]]} {self.cards[self.hcas['card'][i]]}"
        return str(self.hcas["name"].get(i, usual))


def swapped_pair() -> Verdict:
    """gpu1 and gpu2 exchanged on leaf1; one cable pulled; one nobody planned; one to a stranger."""
    cables = two_tier()
    faulty = without(cables, cables[0], cables[1], cables[-1])
    faulty += [("gpu1 mlx5_0", 1, "leaf1", 2), ("gpu2 mlx5_0", 1, "leaf1", 1)]
    faulty += [("leaf1", 50, "spine1", 50), ("leaf2", 51, "other", 1)]
    return verify(plan(cables), seen(faulty))


def test_classes_of_the_cables_add_up_to_the_counts(demo: Demo) -> None:
    verdict, extras = demo
    data = picture_data(verdict, extras)
    counted = Counter(data["links"]["c"])
    counts = report_of(verdict).counts
    assert {cls: counted[str(n)] for n, cls in enumerate(CLASSES)} == {
        c: getattr(counts, c.value) for c in CLASSES
    }
    report = data["report"]["counts"]
    assert {key: report[key] for key in ("intended", "bad", "judged", "cables_seen", "cables_differ")} == {
        key: getattr(counts, key) for key in ("intended", "bad", "judged", "cables_seen", "cables_differ")
    }
    assert report["by_tier"] == {tiers: row.model_dump() for tiers, row in counts.by_tier.items()}


def test_every_finding_points_at_its_own_cables(demo: Demo) -> None:
    verdict, extras = demo
    data = picture_data(verdict, extras)
    name = Names(data)
    for finding, entry in zip(verdict.findings, data["findings"], strict=True):
        assert entry["id"] == finding_id(finding)
        told = {frozenset((c.a.device, c.expected.device)) for c in finding.cables if c.expected}
        linked = {frozenset(name(data["links"][end][n]) for end in ("a", "b")) for n in entry["l"]}
        assert told == linked


def test_what_lies_elsewhere_is_told_once_with_its_kind() -> None:
    data = picture_data(swapped_pair())
    name = Names(data)
    strays = {
        (frozenset((f"{name(a)}/{ap}", f"{name(b)}/{bp}")), Stray(kind))
        for a, ap, b, bp, kind in data["links"]["stray"]
    }
    assert strays == {
        (frozenset(("gpu1 mlx5_0/1", "leaf1/2")), Stray.CONTRADICTS),
        (frozenset(("gpu2 mlx5_0/1", "leaf1/1")), Stray.CONTRADICTS),
        (frozenset(("leaf1/50", "spine1/50")), Stray.UNEXPECTED),
        (frozenset(("leaf2/51", "other/1")), Stray.OUTSIDE),
    }
    swapped = [entry for entry in data["findings"] if entry["kind"] == "swapped"]
    assert [sorted(entry["s"]) for entry in swapped] == [[0, 1]]


def test_a_big_fabric_counts_what_is_healthy(monkeypatch: pytest.MonkeyPatch, demo: Demo) -> None:
    whole = picture_data(demo[0])
    monkeypatch.setattr(links, "WHOLE", 1000)
    small = picture_data(demo[0])
    assert len(small["links"]["a"]) == demo[0].counts.bad == 157
    assert not small["links"]["whole"]
    assert small["links"]["total"] == 12_282
    for unit in (lambda data: Cells(data).cell, lambda data: Cells(data).group):
        of = [
            {(p.low, p.high): (p.by, p.strays) for p in count_pairs(data, unit(data), lambda _: 0)}
            for data in (whole, small)
        ]
        assert of[0] == of[1]


def test_with_only_the_rest_is_not_asked() -> None:
    cables = two_tier()
    data = picture_data(verify(plan(cables), seen(cables), Options(only="gpu1")))
    name = Names(data)
    asked = [n for n, cls in enumerate(data["links"]["c"]) if cls == "0"]
    assert len(asked) == 2
    assert all(name(data["links"]["a"][n]).startswith("gpu1 ") for n in asked)


def test_islands_are_told_per_switch() -> None:
    assert picture_data(clean_fabric())["nodes"]["switches"]["island"] == []
    cables = [c for c in two_tier() if not c[0].startswith("leaf") or c[0][4:] == c[2][5:]]
    data = picture_data(verify(plan(two_tier()), seen(cables)))
    names = data["nodes"]["switches"]["name"]
    island = dict(zip(names, data["nodes"]["switches"]["island"], strict=True))
    assert island["leaf1"] == island["spine1"] != island["leaf2"] == island["spine2"]


def test_extras_stand_under_the_numbers_of_their_devices() -> None:
    verdict = swapped_pair()
    panel = Panel(
        "QM9700",
        (PanelPort("1", 1, 1, row="top", column=1), PanelPort("1", 2, 2, row="top", column=1)),
        side="rear",
    )
    cause = Cause(
        CauseKind.SWAPPED,
        "leaf1",
        "two plugs exchanged",
        (Port("gpu1 mlx5_0", 1),),
        "2 of 2",
        Confidence.CERTAIN,
    )
    step = {
        "id": "S1",
        "number": 1,
        "component": 0,
        "from": "leaf1 14",
        "to": "leaf1 15",
        "devices": ["leaf1"],
        "ports": [("leaf1", 1)],
    }
    known = Identification(
        [Assignment(guid("leaf1"), "leaf1", Source.VOTES, 9, 1, 8, "leaf2")],
        [
            Ambiguity(
                (guid("leaf1"),),
                (Hypothesis("as named", (), 2, 0), Hypothesis("exchanged", (), 4, 1)),
                ("look",),
            )
        ],
    )
    extras = Extras(steps=[step], panels={"leaf1": panel}, serials={"leaf1": "MT1"})
    data = picture_data(replace(verdict, explanation=Explanation((cause,)), identification=known), extras)
    name = Names(data)
    leaf = data["nodes"]["switches"]["name"].index("leaf1")
    assert [name(data["links"]["a"][n]) for n in data["causes"][0]["l"]] == ["gpu1 mlx5_0"]
    assert data["steps"] == [
        {
            "id": "S1",
            "number": 1,
            "component": 0,
            "from": "leaf1 14",
            "to": "leaf1 15",
            "d": [leaf],
            "p": [[leaf, 1]],
        }
    ]
    assert data["panels"]["faces"][data["panels"]["of"][str(leaf)]]["side"] == "rear"
    assert data["nodes"]["serials"] == {str(leaf): "MT1"}
    assert data["identity"]["votes"][str(leaf)]["second"] == "leaf2"
    assert data["identity"]["ambiguities"][0]["devices"] == [leaf]
    json.dumps(data)


def test_no_plan_claims_nothing() -> None:
    cables = two_tier()
    data = picture_data(verify(None, seen(cables)))
    assert not data["planned"]
    assert data["links"]["stray"] == []
    assert data["report"]["counts"]["intended"] == 0


def test_a_dead_switch_is_absent_and_an_unseen_one_is_not(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-faulty")
    switches = picture_data(verdict)["nodes"]["switches"]
    assert switches["state"][switches["name"].index("ibc-22")] == 1
    cables = two_tier()
    half = verify(plan(cables), seen([c for c in cables if "leaf1" in (c[0], c[2])]))
    switches = picture_data(half)["nodes"]["switches"]
    assert switches["state"][switches["name"].index("leaf2")] in (1, 2)
