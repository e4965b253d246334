from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fabricctl.cabling.verify import Verdict
from fabricctl.report.junit import render
from tests.report.report_samples import MADE, NASTY, clean_fabric, judged, nasty, with_a_failed_viewer


def parsed(verdict: Verdict) -> ET.Element:
    """The document, after its totals were counted anew."""
    root = ET.fromstring(render(verdict, made=MADE).encode("utf-8"))  # noqa: S314 - our own output
    for element in (root, *root.iter("testsuite")):
        assert int(element.get("tests", "")) == len(list(element.iter("testcase")))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(attribute, "")) == len(list(element.iter(tag)))
    return root


def results(verdict: Verdict) -> dict[str, str]:
    """``suite / test`` -> tag of its result, for tests that did not pass."""
    found = {}
    for suite in parsed(verdict).iter("testsuite"):
        for case in suite.iter("testcase"):
            tags = [child.tag for child in case if child.tag != "system-out"]
            if tags:
                found[f"{suite.get('name')} / {case.get('name')}"] = tags[0]
    return found


def test_a_clean_fabric_passes_every_test_and_has_some() -> None:
    assert results(clean_fabric()) == {}
    names = {suite.get("name"): len(suite.findall("testcase")) for suite in parsed(clean_fabric())}
    assert set(names) == {"discovery", "fabric", "cables host-leaf", "cables leaf-spine"}
    assert all(names.values())


def test_a_failed_viewer_is_an_error_not_a_pass() -> None:
    assert set(results(with_a_failed_viewer()).values()) == {"error"}


def test_checks_that_only_leaves_out_are_skipped_not_passed() -> None:
    assert results(clean_fabric(only="leaf1")) == {
        f"fabric / no {what}": "skipped" for what in ("split fabric", "self loop", "unexpected")
    }


def test_without_a_plan_planned_cables_are_skipped() -> None:
    assert results(clean_fabric(planned=False)) == {"fabric / planned cables": "skipped"}


def test_faults_fail_the_tests_of_their_tiers(captures: Path) -> None:
    assert results(judged(captures, "small3", "small3-faulty")) == dict.fromkeys(
        [
            "fabric / bad cables below 10 %",
            "fabric / no absent device",
            "cables host-leaf / no missing cables",
            "cables host-leaf / no swapped cables",
            "cables leaf-spine / no missing cables",
            "cables leaf-spine / no swapped cables",
            "cables spine-core / no missing cables",
            "cables spine-core / no degraded cables",
        ],
        "failure",
    )


def test_cables_that_were_not_judged_are_skipped_and_the_doubt_is_an_error(captures: Path) -> None:
    found = results(judged(captures, "imbue", "imbue-islands"))
    assert found["cables host-leaf / every cable judged"] == "skipped"
    assert (
        found["discovery / could not tell: 10,298 planned cables not judged: neither end was seen"] == "error"
    )


def test_every_finding_of_a_verdict_is_in_the_text_of_a_failure(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-islands")
    text = "\n".join(failure.text or "" for failure in parsed(verdict).iter("failure"))
    lines = set(text.splitlines())
    assert [finding.headline for finding in verdict.findings if finding.headline not in lines] == []


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_gives_xml_that_parses(name: str) -> None:
    assert "failure" in results(nasty(name)).values()
