"""Clocks of BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabricctl.hostset import fold
from fabricctl.report.screen import BAD, BOLD, DIM, DOUBT, PLAIN, Line, paragraph
from fabricctl.report.tables import csv_table, markdown_table, text_table
from provision.bmc.clock import ClockReading, OwnClock, span
from provision.bmc.outcome import BmcFinding, Outcome
from provision.report.fleet import document

SCHEMA = "fabricctl.bmc-clock/1"
COLUMNS = (
    "host",
    "bmc_time",
    "controller_time",
    "skew_s",
    "bound_s",
    "certificate_not_before",
    "certificate_not_after",
)


def clock_lines(
    readings: Sequence[ClockReading],
    own: OwnClock,
    culprit: str,
    max_skew_s: float,
    width: int,
    *,
    everything: bool = False,
) -> list[Line]:
    """The controller's own clock first, then who is off; those within the bound in one line unless all are wanted."""
    doubtful = own.synchronised is not True
    lines: list[Line] = list(
        paragraph("controller", own.words, width, DOUBT if doubtful else PLAIN, column=12)
    )
    if culprit:
        lines += paragraph("CONTROLLER", culprit, width, BAD, BOLD, column=12)
    good = [one for one in readings if _within(one, max_skew_s)]
    rows = [_cells(one) for one in readings if everything or not _within(one, max_skew_s)]
    if good and not everything:
        worst = max(abs(one.skew_s or 0.0) for one in good)
        text = f"{fold([one.host for one in good])}: within {max_skew_s:g} s (at most {span(worst)} off)"
        lines += paragraph("ok", text, width, PLAIN, column=12)
    if rows:
        header, *body = text_table(("host", "BMC time", "skew", "+-", "certificate"), rows)
        lines += [((header, DIM),), *(((text, PLAIN),) for text in body)]
    return lines


def _within(one: ClockReading, max_skew_s: float) -> bool:
    return one.skew_s is not None and abs(one.skew_s) - one.bound_s <= max_skew_s


def _cells(one: ClockReading) -> list[str]:
    dates = [
        f"{moment:%Y-%m-%d}" if moment is not None else "?"
        for moment in (one.certificate.not_before, one.certificate.not_after)
    ]
    return [
        one.host,
        one.written or "not told",
        f"{one.skew_s:+.1f} s" if one.skew_s is not None else "not told",
        f"{one.bound_s:.1f} s",
        " to ".join(dates) if dates != ["?", "?"] else "not told",
    ]


def _row(one: ClockReading) -> list[str]:
    certificate = one.certificate
    return [
        one.host,
        one.written,
        one.controller.isoformat(timespec="milliseconds"),
        f"{one.skew_s:.3f}" if one.skew_s is not None else "",
        f"{one.bound_s:.3f}",
        certificate.not_before.isoformat() if certificate.not_before is not None else "",
        certificate.not_after.isoformat() if certificate.not_after is not None else "",
    ]


def clock_csv(readings: Sequence[ClockReading]) -> str:
    """One row per BMC."""
    return csv_table(COLUMNS, [_row(one) for one in readings])


def clock_markdown(readings: Sequence[ClockReading]) -> str:
    """The same for a ticket."""
    return markdown_table(COLUMNS, [_row(one) for one in readings])


def clock_json(
    readings: Sequence[ClockReading],
    own: OwnClock,
    culprit: str,
    outcomes: Sequence[Outcome[Any]],
    findings: Sequence[BmcFinding],
) -> str:
    """Readings with their bounds, and what is known of the controller's clock."""
    content = {
        "controller": {
            "source": own.source or None,
            "synchronised": own.synchronised,
            "offset_s": own.offset_s,
            "suspect": culprit or None,
        },
        "clocks": [
            {
                "host": one.host,
                "bmc_time": one.written or None,
                "controller_time": one.controller.isoformat(timespec="milliseconds"),
                "skew_s": round(one.skew_s, 3) if one.skew_s is not None else None,
                "bound_s": round(one.bound_s, 3),
                "certificate_not_before": _iso(one.certificate.not_before),
                "certificate_not_after": _iso(one.certificate.not_after),
            }
            for one in readings
        ],
    }
    return document(SCHEMA, content, outcomes, findings)


def _iso(moment: Any) -> str | None:
    return moment.isoformat() if moment is not None else None
