"""Two runs compared: what an earlier report is, and what changed since."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fabricctl.cabling.model import FindingKind
from fabricctl.errors import InputError
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.former import compared, read_former
from fabricctl.picture.page import render
from fabricctl.report.json_report import to_json
from tests.report.report_samples import MADE, finding, nasty, of_findings

ONE, TWO, THREE = (finding(FindingKind.MISSING, name) for name in ("a", "b", "c"))


def ids(*findings: object) -> list[str]:
    return [entry["id"] for entry in picture_data(of_findings(list(findings)))["findings"]]  # type: ignore[arg-type]


def test_json_and_page_of_one_run_read_back_alike() -> None:
    verdict = of_findings([ONE, TWO])
    as_json = read_former(to_json(verdict, made=MADE), "runs/monday.json")
    as_page = read_former(render(picture_data(verdict, Extras(made=MADE.isoformat()))), "runs/monday.html")
    assert as_json.label == "monday.json"
    assert as_json.made == as_page.made == "2026-01-02T03:04:05+00:00"
    assert as_json.findings == as_page.findings
    assert [one["id"] for one in as_page.findings] == ids(ONE, TWO)


def test_new_still_there_and_gone() -> None:
    former = read_former(to_json(of_findings([ONE, TWO])), "x.json")
    change = compared(former, ids(TWO, THREE))
    assert change["status"] == [0, 1]
    assert [one["headline"] for one in change["gone"]] == ["a"]


def test_a_finding_that_was_gone_and_is_back_has_returned() -> None:
    """Monday a and b, Tuesday only b, Wednesday both: a has returned; its page says so."""
    monday = read_former(render(picture_data(of_findings([ONE, TWO]))), "monday.html")
    tuesday = read_former(render(picture_data(of_findings([TWO]), Extras(former=monday))), "tuesday.html")
    assert tuesday.past == frozenset(ids(ONE))
    wednesday = picture_data(of_findings([ONE, TWO]), Extras(former=tuesday))
    assert wednesday["compare"]["status"] == [2, 0]
    assert "1 returned" in render(wednesday)


def test_what_is_gone_for_long_is_remembered() -> None:
    monday = read_former(render(picture_data(of_findings([ONE]))), "m.html")
    tuesday = read_former(render(picture_data(of_findings([]), Extras(former=monday))), "t.html")
    wednesday = read_former(render(picture_data(of_findings([]), Extras(former=tuesday))), "w.html")
    assert picture_data(of_findings([ONE]), Extras(former=wednesday))["compare"]["status"] == [2]


def test_no_change_is_said_on_paper_too() -> None:
    former = read_former(to_json(of_findings([ONE])), "x.json")
    assert "<p>No changes.</p>" in render(picture_data(of_findings([ONE]), Extras(former=former)))


def test_names_that_hold_the_pages_own_marks_read_back() -> None:
    verdict = nasty('</script><script type="application/json" id="data">{}')
    assert len(read_former(render(picture_data(verdict)), "x.html").findings) == len(verdict.findings)


@pytest.mark.parametrize(
    "text",
    ["", "# not a report", "[1, 2]", "{}", '{"findings": [{"kind": "missing"}]}', '{"findings": 3}', '"x"'],
)
def test_another_file_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(InputError, match=r"^some\.txt: expected the .*report of an earlier"):
        read_former(text, "some.txt")


def test_a_run_with_the_same_finding_told_differently_is_no_change() -> None:
    changed = replace(ONE, found="something else")
    former = read_former(json.dumps(json.loads(to_json(of_findings([ONE])))), "x.json")
    assert compared(former, ids(changed))["status"] == [0]
