"""What reports about BMCs have in common: findings, what could not be told, how far certificates are trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fabricctl import __version__
from fabricctl.hostset import fold
from fabricctl.report.screen import BAD, BOLD, DIM, DOUBT, PLAIN, Line, paragraph
from fabricctl.words import many
from provision.bmc.outcome import BmcFinding, Outcome
from provision.bmc.target import Target, Verify

_COLUMN = 16


def finding_lines(findings: Sequence[BmcFinding], width: int) -> list[Line]:
    """Findings, those that say the same of several hosts in one paragraph."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        said = one.text.removeprefix(f"{one.host}: ")
        groups.setdefault((one.kind, said), []).append(one.host)
    lines: list[Line] = []
    for (kind, said), hosts in groups.items():
        names = list(dict.fromkeys(hosts))
        text = f"{fold(names)}: {said}" if len(names) < 2 else f"{fold(names)} ({len(names):,}): {said}"
        lines += paragraph(
            kind.replace("-", " ").upper()[:_COLUMN], text, width, BAD, BOLD, column=_COLUMN + 1
        )
    return lines


def reasons(outcomes: Iterable[Outcome[Any]]) -> dict[str, list[str]]:
    """Why BMCs could not tell -> their hosts."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        error = outcome.error
        if error is not None:
            hint = f" ({error.hint})" if error.hint else ""
            found.setdefault(" ".join(f"{error.message}{hint}".split()), []).append(outcome.target.host)
    return found


def unread_lines(outcomes: Sequence[Outcome[Any]], width: int) -> list[Line]:
    """BMCs that could not tell, folded by reason."""
    lines: list[Line] = []
    for why, hosts in reasons(outcomes).items():
        text = f"{fold(hosts)}: {why}"
        lines += paragraph("could not tell", text, width, DOUBT, column=_COLUMN + 1)
    return lines


def trust_lines(targets: Sequence[Target], width: int) -> list[Line]:
    """Weakened trust, shown in every report: TLS not checked, passwords in every request, old TLS."""
    said = (
        ("TLS is NOT verified", [t.host for t in targets if t.trust.verify is Verify.OFF]),
        ("user and password go out with every request (basic)", [t.host for t in targets if t.basic]),
        ("TLS older than 1.2 is accepted", [t.host for t in targets if t.trust.tls_floor in ("1.0", "1.1")]),
    )
    return [
        line
        for text, hosts in said
        if hosts
        for line in paragraph("trust", f"{fold(hosts)}: {text}", width, DOUBT, column=_COLUMN + 1)
    ]


def note_lines(outcomes: Iterable[Outcome[Any]], width: int) -> list[Line]:
    """What was tolerated on the way, folded by path and text."""
    groups: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        for note in outcome.notes:
            groups.setdefault((note.path, note.text), []).append(outcome.target.host)
    return [
        line
        for (path, text), hosts in groups.items()
        for line in paragraph("note", f"{fold(hosts)}: {text} ({path})", width, DIM, column=_COLUMN + 1)
    ]


def tail_lines(
    outcomes: Sequence[Outcome[Any]], findings: Sequence[BmcFinding], width: int, *, good: str = ""
) -> list[Line]:
    """The end of a report: findings, what could not be told, trust, and a verdict.

    :param good: the verdict where nothing is wrong and everything was told.
    """
    lines = [
        *finding_lines(findings, width),
        *unread_lines(outcomes, width),
        *trust_lines([outcome.target for outcome in outcomes], width),
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
        "findings": [
            {
                "host": one.host,
                "kind": one.kind,
                "part": one.part,
                "expected": one.expected,
                "found": one.found,
                "text": one.text,
            }
            for one in findings
        ],
        "could_not_tell": [
            {
                "host": outcome.target.host,
                "address": outcome.target.address,
                "kind": type(outcome.error).__name__,
                "why": str(outcome.error),
            }
            for outcome in outcomes
            if outcome.error is not None
        ],
        "weak_trust": [
            {
                "host": target.host,
                "verify": target.trust.verify.value,
                "tls_floor": target.trust.tls_floor,
                "basic": target.basic,
            }
            for target in (outcome.target for outcome in outcomes)
            if target.trust.verify is Verify.OFF or target.basic or target.trust.tls_floor in ("1.0", "1.1")
        ],
        "notes": [
            {"host": outcome.target.host, "path": note.path, "text": note.text}
            for outcome in outcomes
            for note in outcome.notes
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def hosts_cell(hosts: Sequence[str]) -> str:
    """Hosts for a table cell."""
    return fold(list(hosts)) if hosts else ""
