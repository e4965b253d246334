from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import jsonschema

from fabricctl.cabling.verify import verify
from fabricctl.causes.explain import explain
from fabricctl.causes.model import CauseKind, Explanation
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.fabric import Fabric
from fabricctl.report.causes_schema import ExplanationPart
from fabricctl.report.causes_words import (
    headline,
    json_parts,
    kinds,
    markdown_lines,
    more_causes,
    split_findings,
    summary,
)
from fabricctl.report.screen import render
from tests.causes.nets import Case, case, fabric_of, known, plan_of
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, build


def two_causes() -> Case:
    return case("hall", "leaf-rotated", "host-cage-ports", "swap:2", "missing", knowledge=known())


def seen_as(fabric: Fabric) -> Observation:
    source = Source("test", DiscoveryFormat.IBNETDISCOVER, len(fabric.nodes), fabric.link_count)
    return Observation(fabric, [source])


def screen(found: Case, **how: Any) -> list[str]:
    """Lines of the whole screen report with these causes."""
    verdict = replace(
        verify(found.comparison.binding.plan, seen_as(found.comparison.seen)),
        explanation=found.explanation,
        comparison=found.comparison,
    )
    return ["".join(text for text, _ in line).rstrip() for line in render(verdict, **how)]


def test_the_screen_names_the_largest_cause_first_and_sums_up() -> None:
    lines = screen(two_causes(), width=120)
    at = next(i for i, line in enumerate(lines) if line.startswith("CAUSE"))
    assert lines[at].split(None, 1)[1] == "uplinks of ibl-p05-r3 rotated by one port: 32 links"
    assert lines[at + 1].split(None, 1)[1] == "32 of 32 uplinks sit one port further"
    assert lines[at + 2].split(None, 1)[1].startswith("at ibl-p05-r3: move these plugs one port back")
    causes = [line.split(None, 1)[1] for line in lines if line.startswith("CAUSE")]
    assert causes[1].startswith("the two ports of each cage of gpu")
    said = "2 causes explain 40 of 45 wrong links; 4 are plain exchanges of two links; 1 stays unexplained"
    assert said in " ".join(line.strip() for line in lines)
    assert not any("wrong port" in line for line in lines), "what a cause explains is not listed again"
    assert any("findings are explained by the causes above" in line for line in lines)


def test_more_causes_than_a_report_shows_are_counted() -> None:
    assert more_causes(two_causes().explanation, 1) == "and 1 more cause of 8 links"
    assert more_causes(two_causes().explanation, 2) == ""


def test_a_cause_that_is_not_certain_says_so() -> None:
    (cause,) = case("hall", "unit-cages-exchanged", knowledge=known()).explanation.causes
    assert headline(cause).endswith("256 links (likely)")


def test_nothing_wrong_is_nothing_said() -> None:
    assert more_causes(Explanation(), 0) == ""
    assert markdown_lines(Explanation()) == []
    assert summary(Explanation()) == ""


def test_markdown_is_a_table_that_names_cannot_break() -> None:
    lines = markdown_lines(two_causes().explanation)
    assert lines[0] == "### Causes"
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 3
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows)
    assert "host\\_" not in lines[0]


def test_json_is_as_its_schema_says() -> None:
    found = two_causes()
    body = json_parts(found.explanation, found.comparison)
    jsonschema.validate(body, ExplanationPart.model_json_schema(by_alias=True, mode="serialization"))
    first = body["causes"][0]  # type: ignore[index]
    assert (first["kind"], first["links"], len(first["explains"])) == ("block_shifted", 32, 32)
    assert first["explains"][0]["a"]["device"] == "ibl-p05-r3"


def test_findings_go_under_their_cause() -> None:
    """As the report folds them: 32 wrong cables of a leaf become one cause with what is listed below it."""
    net = build(SHAPES["hall"])
    plan = plan_of(net)
    inject(net, ["leaf-rotated", "swap:2", "missing"], random.Random(1))
    seen = fabric_of(net, by_guid=True)
    verdict = verify(plan, seen_as(seen))
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
