from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pytest

from fabricctl.cabling.verify import Verdict
from fabricctl.report.csv_report import COLUMNS, render
from tests.report.report_samples import NASTY, clean_fabric, judged, nasty, with_a_failed_viewer


def rows(verdict: Verdict) -> list[dict[str, str]]:
    text = render(verdict).encode("utf-8").decode("utf-8")
    table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    found = list(table)
    assert tuple(table.fieldnames or ()) == COLUMNS
    assert all(None not in row and None not in row.values() for row in found), "ragged"
    return found


def test_a_clean_fabric_is_a_header_and_nothing_else() -> None:
    assert rows(clean_fabric()) == []


def test_what_could_not_be_told_is_a_row() -> None:
    assert [(row["kind"], row["headline"]) for row in rows(with_a_failed_viewer())] == [
        ("could_not_tell", "gpu9: no answer within 60 s")
    ]


def test_every_cable_of_the_320_switch_fabrics_findings_has_its_row(captures: Path) -> None:
    kinds = Counter(row["kind"] for row in rows(judged(captures, "imbue", "imbue-faulty")))
    assert kinds == {"absent_device": 132, "swapped": 12, "degraded": 6, "missing": 5}


def test_a_row_names_both_ends_what_was_expected_and_what_is_there(captures: Path) -> None:
    row = next(row for row in rows(judged(captures, "small3", "small3-faulty")) if row["kind"] == "swapped")
    assert (row["a_device"], row["a_port"], row["tiers"]) == ("ibl-p01-r1", "2", "host-leaf")
    assert (row["expected_device"], row["found_device"]) == ("gpu002 mlx5_0", "gpu007 mlx5_1")
    assert row["fix"].startswith("exchange the plugs at gpu002 mlx5_0 and gpu007 mlx5_1, or at ")


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_no_name_makes_a_formula_or_breaks_a_row(name: str) -> None:
    verdict = nasty(name)
    found = rows(verdict)
    assert len(found) == sum(max(1, len(f.cables)) for f in verdict.findings) + len(verdict.doubts)
    for row in found:
        assert not [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_a_guarded_name_is_the_name_after_an_apostrophe() -> None:
    assert rows(nasty("=1+1"))[0]["subject"] == "'=1+1"
