"""What ``maas doctor`` found, for people and machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line, paragraph
from fabricctl.words import many
from provision.bmc.outcome import BmcFinding
from provision.install.doctor import Result, Role, RoleResult, Verdict
from provision.report.alike import alike
from provision.report.common import SHOWN, Table, more_line
from provision.report.fleet import Report
from provision.report.impersonal import filled, impersonal
from provision.report.schema_parts import NUMBER, listed, row, texts

SCHEMA = "fabricctl.maas-doctor/1"
COLUMNS = ("subject", "role", "result", "kind", "asked", "expected", "found", "todo")
_ROLE, _RESULT = 11, 16
_STYLES = {Result.OK: GOOD, Result.FINDING: BAD, Result.DOUBT: DOUBT}


class _DoctorReport(Report):
    """Its lines tell already what could not be told."""

    def _not_told(self) -> list[Line]:
        return []


def doctor_report(results: Sequence[RoleResult], *, each: bool = False) -> Report:
    """One paragraph a role. :param each: a line for every question, also those whose answer is right."""
    verdicts = [verdict for one in results for verdict in one.verdicts]
    return _DoctorReport(
        SCHEMA,
        (),
        content=lambda: {"roles": [_object(one) for one in results]},
        lines=lambda width: _lines(results, width, each=each),
        table=lambda: Table(COLUMNS, [_row(verdict) for verdict in verdicts]),
        findings=[_finding(verdict) for verdict in verdicts if verdict.result is Result.FINDING],
        doubts=[
            (verdict.subject or verdict.role, f"{verdict.role}: {verdict.text}")
            for verdict in verdicts
            if verdict.result is Result.DOUBT
        ],
        repeated=True,
        noun="role",
    )


def _finding(verdict: Verdict) -> BmcFinding:
    return BmcFinding(
        verdict.subject,
        verdict.kind,
        f"{verdict.subject}: {verdict.text}",
        part=verdict.role,
        expected=verdict.expected,
        found=verdict.found,
    )


def _lines(results: Sequence[RoleResult], width: int, *, each: bool) -> list[Line]:
    lines: list[Line] = []
    for one in results:
        first = True
        for result, text in _said(one, each=each):
            label = f"{one.role if first else '':<{_ROLE}}{_words(result):<{_RESULT}}"
            style = _STYLES[result]
            lines += paragraph(
                label, text, width, style, PLAIN if result is Result.OK else BOLD, column=_ROLE + _RESULT
            )
            first = False
    return [*lines, (), _sum(results)] if lines else [(("nothing was asked", DIM),)]


def _words(result: Result) -> str:
    return "FINDING" if result is Result.FINDING else result.value


def _said(one: RoleResult, *, each: bool) -> list[tuple[Result, str]]:
    """What is wrong first, each kind of it once with all it is about; then what is right."""
    if not one.verdicts:
        return [(Result.DOUBT, "nothing was asked")]
    said: list[tuple[Result, str]] = []
    for result in (Result.FINDING, Result.DOUBT):
        bad = [verdict for verdict in one.verdicts if verdict.result is result]
        whole = {(verdict.subject, _about(verdict)): verdict.text for verdict in bad}
        groups = alike(whole)
        shown = groups if each else groups[:SHOWN]
        for group in shown:
            text = whole.get((group.who, group.text), filled(group.text, group.who))
            said.append((result, f"{group.who}: {text}" if group.who else text))
        said += [(result, text) for line in more_line(len(groups) - len(shown), "line") for text, _ in line]
    good = [verdict for verdict in one.verdicts if verdict.result is Result.OK]
    if each:
        return said + [
            (Result.OK, f"{verdict.subject}: {verdict.asked}: {verdict.found}") for verdict in good
        ]
    if good:
        said.append((Result.OK, _good(good)))
    return said


def _good(verdicts: Sequence[Verdict]) -> str:
    """Who answered what: hosts that answer the same folded, answers of one after each other."""
    answers: dict[str, list[str]] = {}
    for group in alike([(verdict.subject, verdict.found) for verdict in verdicts]):
        answers.setdefault(group.who, []).append(group.text)
    shown = [f"{who}: {', '.join(texts)}" for who, texts in list(answers.items())[:4]]
    more = len(answers) - len(shown)
    return "; ".join(shown) + (f"; and {many(more, 'more answer')}" if more else "")


def _about(verdict: Verdict) -> str:
    """The sentence without its subject, so that equal ones fold."""
    return impersonal(verdict.text, verdict.subject) if verdict.subject else verdict.text


def _sum(results: Sequence[RoleResult]) -> Line:
    bad = [one.role for one in results if one.result is Result.FINDING]
    doubtful = [one.role for one in results if one.result is Result.DOUBT]
    parts = []
    if bad:
        parts.append(f"not right: {', '.join(bad)}")
    if doubtful:
        parts.append(f"could not tell: {', '.join(doubtful)}")
    if not parts:
        return ((f"all {many(len(results), 'role')} are right", GOOD),)
    return ((f"{'; '.join(parts)} (of {many(len(results), 'role')})", BAD if bad else DOUBT),)


def _row(verdict: Verdict) -> list[str]:
    return [
        *(verdict.subject, verdict.role, verdict.result, verdict.kind),
        *(verdict.asked, verdict.expected, verdict.found, verdict.todo),
    ]


def _object(one: RoleResult) -> dict[str, Any]:
    return {
        "role": one.role.value,
        "result": one.result.value,
        "seconds": round(one.seconds, 3),
        "answers": [dict(zip(COLUMNS, map(str, _row(verdict)), strict=True)) for verdict in one.verdicts],
    }


def content_schema() -> dict[str, Any]:
    """Of the roles and every answer."""
    results = {"enum": [result.value for result in Result]}
    role = {"enum": [role.value for role in Role]}
    answer = {**texts(COLUMNS), "role": role, "result": results}
    return {
        "roles": listed(
            row({"role": role, "result": results, "seconds": NUMBER, "answers": listed(row(answer))}),
            "each role MAAS plays, and what was asked of it",
        )
    }
