"""Clocks of BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DOUBT, PLAIN, Line, paragraph
from provision.bmc.clock import ClockReading, OwnClock, clock_findings, culprit, span
from provision.bmc.outcome import Outcome
from provision.report.common import Table
from provision.report.fleet import Report
from provision.report.schema_parts import BOOLEAN, MOMENT, NUMBER, TEXT, either, listed, row

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


CELLS = ("host", "BMC_time", "skew", "+-", "certificate")


def clock_lines(
    readings: Sequence[ClockReading],
    own: OwnClock,
    suspect: str,
    max_skew_s: float,
    width: int,
    *,
    each: bool = False,
) -> list[Line]:
    """The controller's own clock first, then who is off; those within the bound in one line.

    :param each: a line for every clock, also those that are right.
    """
    doubtful = own.synchronised is not True
    lines: list[Line] = list(
        paragraph("controller", own.words, width, DOUBT if doubtful else PLAIN, column=12)
    )
    if suspect:
        lines += paragraph("CONTROLLER", suspect, width, BAD, BOLD, column=12)
    good = [one for one in readings if _within(one, max_skew_s)]
    if good and not each:
        worst = max(abs(one.skew_s or 0.0) for one in good)
        text = f"{fold([one.host for one in good])}: within {max_skew_s:g} s (at most {span(worst)} off)"
        lines += paragraph("ok", text, width, PLAIN, column=12)
    rows = [_cells(one) for one in readings if each or not _within(one, max_skew_s)]
    return [*lines, *Table(CELLS, rows, brief=CELLS[2:]).lines(width, each=each)]


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


def clock_report(
    readings: Sequence[ClockReading],
    own: OwnClock,
    max_skew_s: float,
    outcomes: Sequence[Outcome[Any]],
    *,
    each: bool = False,
) -> Report:
    """Readings with their bounds, and what is known of the controller's clock."""
    suspect = culprit(readings, max_skew_s)
    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {
            "controller": {
                "source": own.source or None,
                "synchronised": own.synchronised,
                "offset_s": own.offset_s,
                "suspect": suspect or None,
            },
            "clocks": [_object(one) for one in readings],
        },
        lines=lambda width: clock_lines(readings, own, suspect, max_skew_s, width, each=each),
        table=lambda: Table(COLUMNS, [_row(one) for one in readings]),
        findings=[finding for one in readings for finding in clock_findings(one, max_skew_s)],
        doubts=[(one.host, "it tells no time") for one in readings if one.skew_s is None],
        good=f"every clock is within {max_skew_s:g} s",
    )


def content_schema() -> dict[str, Any]:
    """Of readings and the controller's clock."""
    moment = either(MOMENT)
    clock = {
        "host": TEXT,
        "bmc_time": either(TEXT),
        "controller_time": MOMENT,
        "skew_s": either(NUMBER),
        "bound_s": NUMBER,
        "certificate_not_before": moment,
        "certificate_not_after": moment,
    }
    own = {
        "source": either(TEXT),
        "synchronised": either(BOOLEAN),
        "offset_s": either(NUMBER),
        "suspect": either({**TEXT, "description": "why the controller's own clock is probably wrong"}),
    }
    return {"controller": row(own), "clocks": listed(row(clock))}


def _object(one: ClockReading) -> dict[str, Any]:
    return {
        "host": one.host,
        "bmc_time": one.written or None,
        "controller_time": one.controller.isoformat(timespec="milliseconds"),
        "skew_s": round(one.skew_s, 3) if one.skew_s is not None else None,
        "bound_s": round(one.bound_s, 3),
        "certificate_not_before": _iso(one.certificate.not_before),
        "certificate_not_after": _iso(one.certificate.not_after),
    }


def _iso(moment: Any) -> str | None:
    return moment.isoformat() if moment is not None else None
