"""Log entries for people and machines: groups across hosts, then the entries themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Protocol

from fabricctl.report.findings_report import clock
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, PLAIN, Line, paragraph
from fabricctl.words import many
from provision.bmc.clock import span
from provision.bmc.logs import LogEntry, LogGroup, Severity
from provision.bmc.outcome import BmcFinding, Outcome
from provision.report.common import Table
from provision.report.fleet import Report, hosts_cell
from provision.report.schema_parts import COUNT, MOMENT, TEXT, either, listed, row, texts

SCHEMA = "fabricctl.bmc-logs/1"
COLUMNS = (
    "host",
    "log",
    "id",
    "at",
    "written",
    "severity",
    "message_id",
    "times",
    "text",
    "part",
    "not_serious",
)
_STYLE = {Severity.CRITICAL: BAD, Severity.WARNING: DOUBT, Severity.OK: PLAIN}
SKEW_SAID_S = 60.0
"""Seconds a clock may be off before it is said beside its log."""
_SO_TIMES = "and so are the times of its entries"


class BmcLogs(Protocol):
    """What is shown of the reading of one BMC's logs."""

    @property
    def unread(self) -> tuple[str, ...]:
        """Logs that could not be read, and why."""
        ...

    @property
    def skew_s(self) -> float | None:
        """Seconds the BMC's clock is ahead."""
        ...


Shown = Sequence[tuple[LogEntry, str]]
"""Entries with why they are not serious, empty when they are."""


def group_lines(groups: Sequence[LogGroup], zone: tzinfo | None, width: int) -> list[Line]:
    """One paragraph per message across hosts."""
    lines: list[Line] = []
    for one in groups:
        head = f"{one.severity.word}"
        times = "" if one.times == len(one.hosts) else f", {one.times:,} times"
        text = f"{one.key + ': ' if one.key else ''}{one.text}"
        lines += paragraph(head.upper(), text, width, _STYLE[one.severity], BOLD, column=10)
        where = f"{hosts_cell(one.hosts)} ({many(len(one.hosts), 'host')}{times}), {_between(one, zone)}"
        lines += paragraph("", where, width, PLAIN, column=10)
    return lines


def _between(one: LogGroup, zone: tzinfo | None) -> str:
    untimed = sum(entry.at is None for entry in one.entries)
    unset = f"{many(untimed, 'entry')} without a true time" if untimed else ""
    if one.first is None or one.last is None:
        return unset
    span = (
        clock(one.last, zone)
        if one.first == one.last
        else f"{clock(one.first, zone)} to {clock(one.last, zone)}"
    )
    return f"{span}, {unset}" if unset else span


def unread_logs(logs: Mapping[str, BmcLogs]) -> list[tuple[str, str]]:
    """Logs that could not be read: host and why."""
    return [(host, f"could not read {text}") for host, one in logs.items() for text in one.unread]


def wrong_clocks(logs: Mapping[str, BmcLogs]) -> list[tuple[str, str]]:
    """Clocks that make the times of entries untrue."""
    return [
        (host, f"its clock is {span(abs(one.skew_s))} {'ahead' if one.skew_s > 0 else 'behind'}, {_SO_TIMES}")
        for host, one in logs.items()
        if one.skew_s is not None and abs(one.skew_s) > SKEW_SAID_S
    ]


def count_lines(read: int, serious: int, hidden: int, level: Severity) -> list[Line]:
    """How much there was, so that nothing is left out without saying so."""
    harmless = (
        f"; {many(hidden, 'entry')} of it not serious by the ignore-list (--all shows them)" if hidden else ""
    )
    number = f"{serious:,}" if serious else "none"
    text = f"{many(read, 'entry')} read; {number} serious of severity {level.word} and worse{harmless}"
    return [((text, DIM),)]


def entry_lines(shown: Shown, zone: tzinfo | None, limit: int | None) -> list[Line]:
    """Entries, newest first. :param limit: most lines; what is left out is counted."""
    kept = shown if limit is None else shown[:limit]
    lines: list[Line] = [
        (
            (f"{_when(entry, zone):<17} ", DIM),
            (f"{entry.host} {entry.log} ", PLAIN),
            (f"{entry.severity.word:<8} ", DIM if why else _STYLE[entry.severity]),
            (
                f"{entry.key} {entry.text}{f' (x{entry.times})' if entry.times > 1 else ''}",
                DIM if why else PLAIN,
            ),
            (f"  [{why}]" if why else "", DIM),
        )
        for entry, why in kept
    ]
    if len(kept) < len(shown):
        lines.append(
            ((f"... and {many(len(shown) - len(kept), 'entry')} more: --all, or --format csv", DIM),)
        )
    return lines


def _when(entry: LogEntry, zone: tzinfo | None) -> str:
    return clock(entry.at, zone) if entry.at is not None else entry.written[:16] + "?"


def in_time(shown: Shown) -> list[tuple[LogEntry, str]]:
    """The latest first; entries without a true time stay behind the entry that was written after them in their log."""
    stamped: list[tuple[datetime | None, int, tuple[LogEntry, str]]] = []
    last: dict[tuple[str, str], datetime] = {}
    for at, pair in enumerate(shown):
        key = (pair[0].host, pair[0].log)
        if pair[0].at is not None:
            last[key] = pair[0].at
        stamped.append((pair[0].at or last.get(key), at, pair))
    told = sorted(
        (row for row in stamped if row[0] is not None),
        key=lambda row: (-(row[0] or _NEVER).timestamp(), row[1]),
    )
    return [row[2] for row in (*(row for row in stamped if row[0] is None), *told)]


_NEVER = datetime.min


def _row(entry: LogEntry, why: str) -> list[str]:
    return [
        entry.host,
        entry.log,
        entry.id,
        entry.at.isoformat() if entry.at is not None else "",
        entry.written,
        entry.severity.word,
        entry.key,
        str(entry.times),
        entry.text,
        entry.part,
        why,
    ]


def _ticket(groups: Sequence[LogGroup]) -> Table:
    """One row per message, for a ticket."""
    rows = [
        [
            one.severity.word,
            one.key,
            one.text,
            str(one.times),
            hosts_cell(one.hosts),
            one.last.isoformat() if one.last is not None else "",
        ]
        for one in groups
    ]
    return Table(("severity", "message id", "text", "times", "hosts", "last"), rows)


@dataclass(frozen=True)
class Screen:
    """What the terminal shows of logs. :param zone: of its times; :param listed: entries below their groups.

    :param limit: most entries; what is left out is counted. :param counts: how much there was.
    """

    zone: tzinfo | None
    listed: bool
    limit: int | None
    counts: Sequence[Line]


def logs_report(
    shown: Shown,
    groups: Sequence[LogGroup],
    logs: Mapping[str, BmcLogs],
    outcomes: Sequence[Outcome[Any]],
    findings: Sequence[BmcFinding],
    screen: Screen,
) -> Report:
    """Every entry, with why it is not serious where something says so; the screen has them in groups."""

    def lines(width: int) -> list[Line]:
        entries = entry_lines(shown, screen.zone, screen.limit) if screen.listed else []
        return [*group_lines(groups, screen.zone, width), *entries, *screen.counts]

    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {"entries": [_object(entry, why) for entry, why in shown]},
        lines=lines,
        table=lambda: Table(COLUMNS, [_row(entry, why) for entry, why in shown]),
        ticket=lambda: _ticket(groups),
        findings=findings,
        doubts=unread_logs(logs),
        remarks=wrong_clocks(logs),
        repeated=True,
    )


def content_schema() -> dict[str, Any]:
    """Of the entries."""
    entry = {
        **texts(COLUMNS),
        "at": {**either(MOMENT), "description": "null where the clock was not set"},
        "times": {**COUNT, "description": "how often in a row"},
        "not_serious": {**TEXT, "description": "why, by the ignore-list; empty when it is serious"},
    }
    return {"entries": listed(row(entry))}


def _object(entry: LogEntry, why: str) -> dict[str, Any]:
    cells: dict[str, Any] = dict(zip(COLUMNS, _row(entry, why), strict=True))
    return {**cells, "times": entry.times, "at": cells["at"] or None}
