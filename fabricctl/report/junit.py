"""A verdict as JUnit XML, for the test page of a CI system.

One suite per pair of tiers with a test per class (``leaf-spine / no missing cables``), one for the fabric as a
whole (islands, the gate, devices, stray cables) and one for what was read. A test passes only where its check
ran; a check that did not run is skipped with its reason, cables that were not judged likewise, and each doubt is
an error. So a run without failures and errors is a verdict of ``ok``. The form is the one Jenkins, GitLab and
others read (``testsuites/testsuite/testcase`` with ``failure``, ``error``, ``skipped``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from xml.etree import ElementTree as ET

from fabricctl.cabling.model import Finding, FindingKind, LinkClass
from fabricctl.cabling.verdict import Verdict
from fabricctl.report.screen import headline, island_lines
from fabricctl.report.words import (
    BAD_CLASSES,
    KIND_TITLES,
    beside,
    can_i_train,
    class_of,
    percent,
    plan_words,
)
from fabricctl.words import printable

NAME = "fabricctl verify-cabling"
_ALWAYS = (FindingKind.DUPLICATE_GUID, FindingKind.DUPLICATE_NAME)
"""Checks of every run."""
_WITH_PLAN = (FindingKind.ABSENT_DEVICE, FindingKind.RESERVED_PORT)
_WHOLE_PLAN = (FindingKind.SPLIT_FABRIC, FindingKind.SELF_LOOP, FindingKind.UNEXPECTED)
"""Checks of a run against a plan that ``--only`` leaves out."""
_WITHOUT_PLAN = (FindingKind.SELF_LOOP, FindingKind.BUNDLE_GAP, FindingKind.DEGRADED)


@dataclass
class _Case:
    """One test. :param result: ``failure``, ``error``, ``skipped`` or empty for a pass."""

    name: str
    result: str = ""
    message: str = ""
    body: list[str] = field(default_factory=list)


@dataclass
class _Suite:
    name: str
    cases: list[_Case] = field(default_factory=list)

    def count(self, result: str) -> int:
        return sum(case.result == result for case in self.cases)


def render(verdict: Verdict, *, made: datetime | None = None) -> str:
    """The verdict as one XML document.

    :param made: written as the suites' ``timestamp``.
    """
    suites = [_sources(verdict), _fabric(verdict), *_tiers(verdict)]
    root = ET.Element("testsuites", {"name": NAME, **_totals(suites)})
    for suite in suites:
        root.append(_suite_element(suite, made))
    root[0].insert(0, _properties(verdict))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


# -- what was read ------------------------------------------------------------------------------------------


def _sources(verdict: Verdict) -> _Suite:
    suite = _Suite("discovery")
    for source in verdict.sources:
        case = _Case(f"read {source.label}")
        if source.failed or source.format is None:
            case.result, case.message = "error", source.failed or "nothing was read"
        else:
            case.body.append(f"{source.format}: {source.nodes:,} nodes, {source.links:,} links")
        suite.cases.append(case)
    for doubt in verdict.doubts:
        suite.cases.append(_Case(f"could not tell: {doubt}", "error", doubt))
    if not verdict.doubts:
        suite.cases.append(_Case("everything could be told"))
    return suite


# -- the fabric as a whole ----------------------------------------------------------------------------------


def _fabric(verdict: Verdict) -> _Suite:
    planned = verdict.plan_format is not None
    suite = _Suite("fabric")
    if planned:
        suite.cases.append(_gate(verdict))
    found = {finding.kind for finding in verdict.findings}
    checked = {*_ALWAYS, *(_WITH_PLAN if planned else _WITHOUT_PLAN)}
    if planned and not verdict.only:
        checked.update(_WHOLE_PLAN)
    for kind in FindingKind:
        if kind is FindingKind.BAD_LINK_SHARE or (planned and _of_tiers(kind)):
            continue
        if kind in checked or kind in found:
            members = [finding for finding in verdict.findings if finding.kind is kind]
            case = _Case(f"no {kind.value.replace('_', ' ')}")
            _fail(case, members, f"{KIND_TITLES[kind]}: {len(members):,}")
            if kind is FindingKind.SPLIT_FABRIC:
                case.body += island_lines(verdict)
            suite.cases.append(case)
        elif planned and kind in _WHOLE_PLAN:
            name = f"no {kind.value.replace('_', ' ')}"
            suite.cases.append(_Case(name, "skipped", f"not checked with --only {verdict.only}"))
    if not planned:
        suite.cases.append(_Case("planned cables", "skipped", plan_words(verdict)))
    return suite


def _gate(verdict: Verdict) -> _Case:
    counts = verdict.counts
    case = _Case(f"bad cables below {percent(verdict.gate)}")
    members = [f for f in verdict.findings if f.kind is FindingKind.BAD_LINK_SHARE]
    if not counts.judged:
        case.result, case.message = "skipped", "no planned cable could be judged"
        return case
    _fail(case, members, headline(verdict))
    case.body += [headline(verdict), *(f"{number:,} {words}" for words, number in beside(verdict) if number)]
    return case


# -- planned cables -----------------------------------------------------------------------------------------


def _tiers(verdict: Verdict) -> Iterator[_Suite]:
    if verdict.plan_format is None:
        return
    for tiers, row in verdict.counts.by_tier.items():
        suite = _Suite(f"cables {tiers}")
        total, unjudged = sum(row.values()), row[LinkClass.NOT_JUDGED.value]
        for cls in BAD_CLASSES:
            case = _Case(f"no {cls.value} cables")
            members = [f for f in verdict.findings if class_of(f.kind) is cls and _touches(f, tiers)]
            if row[cls.value]:
                _fail(case, members, f"{row[cls.value]:,} of {total:,} {tiers} cables {cls.value}")
            elif unjudged == total:
                case.result, case.message = "skipped", f"none of the {total:,} {tiers} cables could be judged"
            suite.cases.append(case)
        case = _Case("every cable judged")
        if unjudged:
            case.result, case.message = "skipped", f"{unjudged:,} of {total:,} {tiers} cables not judged"
        suite.cases.append(case)
        yield suite


def _of_tiers(kind: FindingKind) -> bool:
    """Shown under the planned cables of its tiers; an absent device is shown in both places."""
    return class_of(kind) is not None and kind is not FindingKind.ABSENT_DEVICE


def _touches(finding: Finding, tiers: str) -> bool:
    return any(cable.tiers == tiers for cable in finding.cables)


def _fail(case: _Case, members: list[Finding], message: str) -> None:
    if not members:
        return
    case.result, case.message = "failure", message
    for finding in members:
        case.body.append(finding.headline)
        for word, text in (("expected", finding.expected), ("found", finding.found), ("fix", finding.fix)):
            if text:
                case.body.append(f"  {word:<8} {text}")


# -- XML ----------------------------------------------------------------------------------------------------


def _totals(suites: list[_Suite]) -> dict[str, str]:
    return {
        "tests": str(sum(len(suite.cases) for suite in suites)),
        "failures": str(sum(suite.count("failure") for suite in suites)),
        "errors": str(sum(suite.count("error") for suite in suites)),
        "skipped": str(sum(suite.count("skipped") for suite in suites)),
        "time": "0",
    }


def _suite_element(suite: _Suite, made: datetime | None) -> ET.Element:
    element = ET.Element("testsuite", {"name": printable(suite.name), **_totals([suite])})
    if made is not None:
        element.set("timestamp", made.isoformat(timespec="seconds"))
    for case in suite.cases:
        element.append(_case_element(suite.name, case))
    return element


def _properties(verdict: Verdict) -> ET.Element:
    properties = ET.Element("properties")
    for name, value in (
        ("verdict", verdict.word.value),
        ("exit_code", str(verdict.exit_code)),
        ("answer", can_i_train(verdict)),
        ("plan", plan_words(verdict)),
        ("only", verdict.only),
    ):
        ET.SubElement(properties, "property", name=name, value=printable(value))
    return properties


def _case_element(suite: str, case: _Case) -> ET.Element:
    classname = f"verify-cabling.{suite.replace(' ', '.')}"
    element = ET.Element("testcase", classname=printable(classname), name=printable(case.name), time="0")
    body = "\n".join(map(printable, case.body))
    if case.result:
        result = ET.SubElement(element, case.result, message=printable(case.message))
        if case.result != "skipped":
            result.set("type", case.result)
        if body:
            result.text = f"\n{body}\n"
    elif body:
        ET.SubElement(element, "system-out").text = f"\n{body}\n"
    return element
