from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fabricctl.cabling.verify import Verdict
from fabricctl.report.json_report import to_json
from fabricctl.report.schema import report_schema
from tests.report.report_samples import MADE, NASTY, clean_fabric, judged, nasty, with_a_failed_viewer

SNAPSHOT = Path(__file__).with_name("verify-cabling.schema.json")
CLASSES = ("ok", "missing", "miswired", "swapped", "degraded", "not_judged")


def checked(verdict: Verdict) -> dict[str, Any]:
    """The JSON report, after an independent validator found it in keeping with the published schema."""
    found = json.loads(to_json(verdict, made=MADE))
    jsonschema.Draft202012Validator(report_schema(), format_checker=jsonschema.FormatChecker()).validate(
        found
    )
    return dict(found)


def test_the_published_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())


def test_the_published_schema_changes_only_on_purpose() -> None:
    """A wanted change: write report_schema() to the snapshot; where a key goes or changes, count the version up."""
    assert report_schema() == json.loads(SNAPSHOT.read_text("utf-8"))


def test_a_clean_fabric_is_ok_with_exit_code_0() -> None:
    found = checked(clean_fabric())
    assert (found["schema"], found["verdict"], found["exit_code"]) == ("fabricctl.verify-cabling/1", "ok", 0)
    assert (found["findings"], found["doubts"]) == ([], [])
    assert found["made"] == "2026-01-02T03:04:05+00:00"


def test_a_failed_viewer_is_named_and_could_not_tell() -> None:
    found = checked(with_a_failed_viewer())
    assert (found["verdict"], found["exit_code"]) == ("could_not_tell", 3)
    assert found["doubts"] == ["gpu9: no answer within 60 s"]
    assert found["sources"][1] == {
        "label": "gpu9", "format": None, "nodes": 0, "links": 0, "failed": "no answer within 60 s",
    }  # fmt: skip


def test_without_a_plan_the_plan_is_null() -> None:
    assert checked(clean_fabric(planned=False))["plan"] is None


def test_numbers_of_the_320_switch_fabric_with_its_injected_faults(captures: Path) -> None:
    found = checked(judged(captures, "imbue", "imbue-faulty"))
    counts = found["counts"]
    assert {name: counts[name] for name in CLASSES} == {
        "ok": 12127, "missing": 137, "miswired": 0, "swapped": 12, "degraded": 6, "not_judged": 0,
    }  # fmt: skip
    assert counts["intended"] == 12282 == sum(counts[name] for name in CLASSES)
    assert counts["bad_share"] == pytest.approx(155 / 12282, abs=1e-6)
    absent = [cable for f in found["findings"] if f["kind"] == "absent_device" for cable in f["cables"]]
    assert len(absent) == 132  # 137 missing, 5 of them by themselves


def test_every_planned_link_is_counted_once_in_total_and_by_tier(captures: Path) -> None:
    counts = checked(judged(captures, "imbue", "imbue-islands"))["counts"]
    assert sum(counts[name] for name in CLASSES) == counts["intended"] == 12282
    for name in CLASSES:
        assert sum(row[name] for row in counts["by_tier"].values()) == counts[name]


def test_both_ends_of_an_exchanged_pair_are_there(captures: Path) -> None:
    found = checked(judged(captures, "small3", "small3-faulty"))
    swapped = next(f for f in found["findings"] if f["kind"] == "swapped")
    assert [
        (c["a"]["device"], c["a"]["port"], c["expected"]["device"], c["found"]["device"])
        for c in swapped["cables"]
    ] == [
        ("ibl-p01-r1", 2, "gpu002 mlx5_0", "gpu007 mlx5_1"),
        ("ibl-p02-r2", 3, "gpu007 mlx5_1", "gpu002 mlx5_0"),
    ]


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_is_written_and_read_back(name: str) -> None:
    found = checked(nasty(name))
    kept = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in name)
    assert found["findings"][0]["subject"] == found["findings"][1]["cables"][0]["a"]["device"] == kept
