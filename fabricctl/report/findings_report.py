"""The findings' history for people: screen, CSV, markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from fabricctl.cabling.verdict import VerdictWord
from fabricctl.history.compare import OPEN_STATUSES, Change, Standing, Status
from fabricctl.history.model import Episode, Known, Run
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import csv_table, markdown_table
from fabricctl.report.words import VERDICT_TITLES

SHOWN = 25
"""Findings of one status on the screen before the rest is counted."""
OFFENDERS = 10

STATUS_WORDS = {
    Status.RETURNED: "returned",
    Status.NEW: "new",
    Status.OPEN: "still open",
    Status.NOT_LOOKED_AT: "not looked at",
    Status.GONE: "gone",
}
_STYLES = {
    Status.RETURNED: BAD,
    Status.NEW: BAD,
    Status.OPEN: PLAIN,
    Status.NOT_LOOKED_AT: DOUBT,
    Status.GONE: GOOD,
}
COLUMNS = (
    *("series", "status", "id", "kind", "came_back", "subject", "headline", "fix", "devices"),
    *("first_run", "first_seen", "last_run", "last_seen", "gone_run", "gone_seen"),
)


def clock(moment: datetime, zone: tzinfo | None = None) -> str:
    """``2026-03-02 10:15`` in a time zone, the moment's own when none is given."""
    return f"{moment.astimezone(zone) if zone is not None else moment:%Y-%m-%d %H:%M}"


def screen(changes: Sequence[Change], zone: tzinfo | None, *, everything: bool = False) -> list[Line]:
    """Every series: where it stands, repeat offenders, findings by status.

    :param zone: to print times in; :param everything: fold nothing.
    """
    lines: list[Line] = []
    for change in changes:
        lines += [()] if lines else []
        lines += _series(change, zone, everything)
    return lines


def _series(change: Change, zone: tzinfo | None, everything: bool) -> Iterator[Line]:
    counts = {status: change.count(status) for status in Status}
    still = sum(counts[status] for status in OPEN_STATUSES)
    parts = [f"{number:,} {STATUS_WORDS[status]}" for status, number in counts.items() if number]
    open_words = "nothing open" if not still else f"{still:,} open"
    yield (
        (change.series, BOLD),
        (f"  {open_words}", BAD if still else GOOD),
        (f": {', '.join(parts)}" if parts else "", PLAIN),
    )
    if change.baseline is None:
        yield ((f"  since   before the first run; the latest is {_run(change.latest, zone)}", DIM),)
    else:
        yield ((f"  since   {_run(change.baseline, zone)}", DIM),)
        yield ((f"  last    {_run(change.latest, zone)}", DIM),)
    if change.latest.word is VerdictWord.COULD_NOT_TELL:
        yield from (((f"  could not tell: {doubt}", DOUBT),) for doubt in change.latest.doubts[:3])
        if len(change.latest.doubts) > 3:
            yield ((f"  and {len(change.latest.doubts) - 3:,} more doubts", DOUBT),)
    for offender in change.offenders[: None if everything else OFFENDERS]:
        back = "once" if offender.came_back == 1 else f"{offender.came_back} times"
        faults = f"{offender.faults} fault{'' if offender.faults == 1 else 's'}"
        text = f"  repeat  {offender.device}: came back {back}, {faults}, {offender.open} open"
        yield ((text, BAD if offender.open else PLAIN),)
    if not everything and len(change.offenders) > OFFENDERS:
        yield ((f"          and {len(change.offenders) - OFFENDERS:,} more devices (--all)", DIM),)
    for status in Status:
        found = [standing for standing in change.standings if standing.status is status]
        shown = found if everything else found[:SHOWN]
        yield from (_line(standing, zone) for standing in shown)
        if len(found) > len(shown):
            yield ((f"  ... and {len(found) - len(shown):,} more {STATUS_WORDS[status]} (--all)", DIM),)


def _line(standing: Standing, zone: tzinfo | None) -> Line:
    word = STATUS_WORDS[standing.status]
    back = f", came back {_times(standing.came_back)}" if standing.came_back else ""
    seen = f"since {clock(standing.first.made, zone)}{back}"
    if standing.gone is not None:
        seen = f"gone {clock(standing.gone.made, zone)}{back}"
    elif standing.status is Status.NOT_LOOKED_AT:
        seen = f"last seen {clock(standing.last.made, zone)}{back}"
    return (
        (f"  {word:<14}", _STYLES[standing.status]),
        (f"{standing.known.id}  ", DIM),
        (standing.known.headline, PLAIN),
        (f"  ({seen})", DIM),
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _run(run: Run, zone: tzinfo | None) -> str:
    only = f", --only {run.only}" if run.only else ""
    findings = f"{run.findings:,} finding{'' if run.findings == 1 else 's'}"
    return f"run {run.number}, {clock(run.made, zone)}, {VERDICT_TITLES[run.word].lower()}, {findings}{only}"


def to_csv(changes: Sequence[Change]) -> str:
    """One row per finding; times are ISO 8601."""
    return csv_table(COLUMNS, [_row(change, standing) for change in changes for standing in change.standings])


def to_markdown(changes: Sequence[Change], zone: tzinfo | None) -> str:
    """For a ticket: a table per series."""
    parts = []
    for change in changes:
        since = _run(change.baseline, zone) if change.baseline is not None else "before the first run"
        rows = [
            [
                STATUS_WORDS[s.status],
                s.known.id,
                s.known.headline,
                s.known.fix if s.gone is None else "",
                clock(s.first.made, zone),
                str(s.came_back or ""),
            ]
            for s in change.standings
        ]
        columns = ("status", "id", "finding", "what to do", "first seen", "came back")
        body = markdown_table(columns, rows) if rows else "Nothing open, nothing gone.\n"
        parts.append(f"## {change.series}\n\nSince {since}; last: {_run(change.latest, zone)}.\n\n{body}")
    return "\n".join(parts)


def _row(change: Change, standing: Standing) -> list[str]:
    known, gone = standing.known, standing.gone
    return [
        change.series,
        standing.status.value,
        known.id,
        known.kind.value,
        str(standing.came_back),
        known.subject,
        known.headline,
        known.fix,
        " ".join(known.devices),
        str(standing.first.number),
        standing.first.made.isoformat(timespec="seconds"),
        str(standing.last.number),
        standing.last.made.isoformat(timespec="seconds"),
        str(gone.number) if gone is not None else "",
        gone.made.isoformat(timespec="seconds") if gone is not None else "",
    ]


def _where(known: Known) -> str:
    """Its place; said to be of the normal profile where the headline has the switch's own port numbers."""
    text = str(known.where) or "the whole fabric"
    shown = re.findall(r"/([0-9]+)\b", known.headline)
    ports = re.findall(r"/([0-9]+)\b", text) if known.where.links else []
    other = ports and shown and set(shown).isdisjoint(ports)
    return f"{text} (ports of the normal profile)" if other else text


def history_lines(
    series: str,
    known: Known,
    times: Sequence[Episode],
    runs: dict[int, Run],
    zone: tzinfo | None,
    *,
    looked_at: bool,
) -> list[Line]:
    """One finding: what it is, and every time it was there.

    :param times: oldest first; :param runs: by number; :param looked_at: the last run could look there.
    """
    lines: list[Line] = [((known.id, BOLD), (f"  {known.headline}", PLAIN))]
    for word, text in (
        ("series", series),
        ("kind", known.kind.value.replace("_", " ")),
        ("where", _where(known)),
        ("expected", known.expected),
        ("found", known.found),
        ("fix", known.fix),
    ):
        lines += [((f"  {word:<9} ", DIM), (text, PLAIN))] if text else []
    for number, episode in enumerate(times):
        came = "appeared" if number == 0 else "came back"
        lines.append(((f"  {came:<9} ", BAD), (_run(runs[episode.opened], zone), PLAIN)))
        if episode.gone is not None:
            lines.append(((f"  {'gone':<9} ", GOOD), (_run(runs[episode.gone], zone), PLAIN)))
        else:
            last = f"last seen by {_run(runs[episode.last], zone)}"
            words, style = (
                ("still open", BAD) if looked_at else ("open, not looked at by the last run", DOUBT)
            )
            lines.append(((f"  {'now':<9} ", style), (f"{words}; {last}", PLAIN)))
    return lines
