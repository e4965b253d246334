"""The end of every report about many BMCs: findings folded over hosts, what could not be told, weakened trust."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fabricctl import __version__
from fabricctl.hostset import fold
from fabricctl.report.screen import BAD, BOLD, DIM, PLAIN, Line, paragraph
from fabricctl.words import many
from provision.bmc.outcome import BmcFinding, Outcome
from provision.report.bmc_findings import findings_json
from provision.report.common import exposure_lines, exposures, failure_lines, failures_json

_COLUMN = 21


def finding_lines(findings: Sequence[BmcFinding], width: int) -> list[Line]:
    """Findings, those that say the same of several hosts in one paragraph."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        said = one.text.removeprefix(f"{one.host}: ")
        groups.setdefault((one.kind, said), []).append(one.host)
    lines: list[Line] = []
    for (kind, said), hosts in groups.items():
        names = list(dict.fromkeys(hosts))
        number = "" if len(names) == 1 else f" ({len(names):,})"
        text = f"{hosts_cell(names)}{number}: {said}"
        lines += paragraph(kind.replace("-", " ").upper(), text, width, BAD, BOLD, column=_COLUMN)
    return lines


def note_lines(outcomes: Iterable[Outcome[Any]], width: int) -> list[Line]:
    """What was tolerated on the way, folded by path and text."""
    groups: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for note in outcome.notes:
            groups.setdefault((note.path, note.text), []).append(outcome.target.host)
    return [
        line
        for (path, text), hosts in groups.items()
        for line in paragraph("note", f"{hosts_cell(hosts)}: {text} ({path})", width, DIM, column=_COLUMN)
    ]


def tail_lines(
    outcomes: Sequence[Outcome[Any]], findings: Sequence[BmcFinding], width: int, *, good: str = ""
) -> list[Line]:
    """The end of a report: findings, what could not be told, weakened trust, and a verdict.

    :param good: the verdict where nothing is wrong and everything was told.
    """
    lines = [
        *finding_lines(findings, width),
        *failure_lines(outcomes),
        *exposure_lines([outcome.target for outcome in outcomes]),
    ]
    failed = sum(outcome.error is not None for outcome in outcomes)
    told = f"{len(outcomes) - failed:,} of {many(len(outcomes), 'BMC')} told"
    if findings:
        lines.append(((f"{many(len(findings), 'finding')}; {told}", PLAIN),))
    elif failed:
        lines.append(((told, PLAIN),))
    elif good:
        lines.append(((good, PLAIN),))
    return [(), *lines] if lines else []


def document(
    schema: str,
    content: Mapping[str, Any],
    outcomes: Sequence[Outcome[Any]],
    findings: Sequence[BmcFinding] = (),
) -> str:
    """A JSON document: content, findings, what could not be told, weakened trust, what was tolerated."""
    body = {
        "schema": schema,
        "generator": f"fabricctl {__version__}",
        **content,
        "findings": findings_json(findings),
        "could_not_tell": failures_json(outcomes),
        "weak_trust": [
            {"host": target.host, "text": text}
            for target in (outcome.target for outcome in outcomes)
            for text in exposures(target)
        ],
        "notes": [
            {"host": outcome.target.host, "path": note.path, "text": note.text}
            for outcome in outcomes
            for note in outcome.notes
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def hosts_cell(hosts: Sequence[str]) -> str:
    """Hosts for a table cell, folded."""
    return fold(list(dict.fromkeys(hosts))) if hosts else ""
