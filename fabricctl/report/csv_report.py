"""A verdict as CSV: one row per cable of every finding, one for a finding without cables, one per doubt.

Rows of one finding share its running number in ``finding``. What could not be told has a row of kind
``could_not_tell``: a table without rows means a clean fabric, never an unread one.

Spreadsheets run a cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return as a formula
(OWASP, "CSV Injection"), and a node description may start with one: such a cell gets an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from fabricctl.cabling.model import Cable, End, Finding
from fabricctl.cabling.verdict import Verdict
from fabricctl.words import printable

_END = ("device", "port", "label", "place", "guid")
COLUMNS = (
    *("finding", "kind", "subject", "tiers"),
    *(f"{side}_{part}" for side in ("a", "expected", "found") for part in _END),
    *("headline", "expected", "found", "fix", "note", "plan_line"),
)
"""Header of the table."""

DOUBT = "could_not_tell"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(verdict: Verdict) -> str:
    """The findings and doubts as a table with a header row; lines end in a newline."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, finding in enumerate(verdict.findings, 1):
        for cable in finding.cables or (None,):
            writer.writerow(_row(number, finding, cable))
    for doubt in verdict.doubts:
        row = dict.fromkeys(COLUMNS, "") | {"kind": DOUBT, "headline": cell(doubt)}
        writer.writerow(row.values())
    return out.getvalue()


def _row(number: int, finding: Finding, cable: Cable | None) -> list[str]:
    ends = (None, None, None) if cable is None else (cable.a, cable.expected, cable.found)
    texts = (finding.headline, finding.expected, finding.found, finding.fix, cable.note if cable else "")
    return [
        str(number),
        finding.kind.value,
        cell(finding.subject),
        cell(cable.tiers if cable else ""),
        *(cell for end in ends for cell in _end(end)),
        *map(cell, texts),
        str(cable.line) if cable and cable.line else "",
    ]


def _end(end: End | None) -> Iterator[str]:
    if end is None:
        yield from [""] * len(_END)
        return
    yield cell(end.device)
    yield str(end.port)
    yield cell(end.label)
    yield cell(end.place)
    yield cell(end.guid)


def cell(text: str) -> str:
    """A text as one cell that no spreadsheet runs."""
    return f"'{printable(text)}" if text.startswith(_FORMULA) else printable(text)
