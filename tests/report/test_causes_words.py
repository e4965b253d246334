from __future__ import annotations

import random

import jsonschema

from fabricctl.cabling.verify import verify
from fabricctl.causes.explain import explain
from fabricctl.causes.model import CauseKind, Explanation
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.report.causes_words import (
    headline,
    json_parts,
    kinds,
    markdown_lines,
    schema_fragment,
    screen_lines,
    split_findings,
    summary,
)
from tests.causes.nets import Case, case, fabric_of, known, plan_of
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, build


def two_causes() -> Case:
    return case("hall", "leaf-rotated", "host-cage-ports", "swap:2", "missing", knowledge=known())


def test_the_screen_names_the_largest_cause_first_and_sums_up() -> None:
    lines = [text for text, _ in screen_lines(two_causes().explanation)]
    assert lines[0] == "CAUSE  uplinks of ibl-p05-r3 rotated by one port: 32 links"
    assert lines[1] == "       evidence: 32 of 32 uplinks sit one port further"
    assert lines[2].startswith("       fix: at ibl-p05-r3: move these plugs one port back")
    assert lines[3].startswith("CAUSE  the two ports of each cage of gpu")
    assert lines[-1] == (
        "       2 causes explain 40 of 45 wrong links; 4 are plain exchanges of two links; 1 stays unexplained"
    )


def test_more_causes_than_the_screen_shows_are_counted() -> None:
    lines = [text for text, _ in screen_lines(two_causes().explanation, limit=1)]
    assert lines[3] == "       and 1 more cause of 8 links"


def test_a_cause_that_is_not_certain_says_so() -> None:
    (cause,) = case("hall", "unit-cages-exchanged", knowledge=known()).explanation.causes
    assert headline(cause).endswith("256 links (likely)")


def test_nothing_wrong_is_nothing_said() -> None:
    assert screen_lines(Explanation()) == []
    assert markdown_lines(Explanation()) == []
    assert summary(Explanation()) == ""


def test_markdown_is_a_table_that_names_cannot_break() -> None:
    lines = markdown_lines(two_causes().explanation)
    assert lines[0] == "## Causes"
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 3
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows)
    assert "host\\_" not in lines[0]


def test_json_is_as_its_schema_says() -> None:
    found = two_causes()
    body = json_parts(found.explanation, found.comparison)
    jsonschema.validate(body, schema_fragment())
    first = body["causes"][0]  # type: ignore[index]
    assert (first["kind"], first["links"], len(first["explains"])) == ("block_shifted", 32, 32)
    assert first["explains"][0]["a"]["device"] == "ibl-p05-r3"


def test_findings_go_under_their_cause() -> None:
    """As the report folds them: 32 wrong cables of a leaf become one cause with what is listed below it."""
    net = build(SHAPES["hall"])
    plan = plan_of(net)
    inject(net, ["leaf-rotated", "swap:2", "missing"], random.Random(1))
    seen = fabric_of(net, by_guid=True)
    source = Source("test", DiscoveryFormat.IBNETDISCOVER, len(seen.nodes), seen.link_count)
    verdict = verify(plan, Observation(seen, [source]))
    assert verdict.comparison is not None
    explanation = explain(verdict.comparison, known())
    under, rest = split_findings(verdict.findings, explanation, verdict.comparison)
    assert explanation.causes[0].kind is CauseKind.SHIFTED
    assert sum(len(finding.cables) > 0 for finding in under[0]) == len(under[0]) > 0
    assert {place: len(found) for place, found in under.items() if place} == {1: 1, 2: 1}
    assert len(rest) + sum(map(len, under.values())) == len(verdict.findings)
    assert [str(finding.kind) for finding in rest] == ["missing"]


def test_metrics_count_causes_and_links_of_each_kind() -> None:
    assert list(kinds(two_causes().explanation)) == [
        ("block_shifted", 1, 32),
        ("host_cage_ports_exchanged", 1, 8),
        ("links_swapped", 2, 4),
    ]
