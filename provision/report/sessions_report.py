"""Open sessions of BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl.report.screen import BAD, DIM, DOUBT, PLAIN, Line
from provision.bmc.outcome import Outcome
from provision.bmc.session_list import OpenSession, SessionList, Whose
from provision.report.common import Table, exposure_lines, failure_lines, failures_json

SCHEMA = "fabricctl.bmc-sessions/1"
COLUMNS = ("host", "session", "user", "from", "kind", "since", "whose")
_STYLES = {Whose.THIS: DIM, Whose.RUNNING: PLAIN, Whose.OWN: BAD, Whose.OTHER: PLAIN}

Read = Sequence[Outcome[SessionList]]


def sessions_table(outcomes: Read) -> Table:
    """One row a session; those that were just ended say so."""
    rows, styles = [], []
    for outcome in outcomes:
        listed = outcome.value
        for session in (*listed.open, *listed.ended) if listed is not None else ():
            ended = listed is not None and session in listed.ended
            rows.append(_row(outcome.target.host, session, ended=ended))
            styles.append(DIM if ended else _STYLES[session.whose])
    return Table(SCHEMA, "sessions", COLUMNS, rows, None, styles)


def _row(host: str, session: OpenSession, *, ended: bool) -> tuple[str, ...]:
    whose = "own, ended now" if ended else session.whose.value
    number = session.uri.rstrip("/").rpartition("/")[2]
    return (host, number, session.user, session.client, session.kind, session.since, whose)


def sessions_lines(outcomes: Read) -> list[Line]:
    """The list, what was noticed, and who could not tell."""
    table = sessions_table(outcomes)
    lines = table.lines()
    left = sum(row[-1] == Whose.OWN.value for row in table.rows)
    if left:
        lines += [(), ((f"{left:,} left behind by fabricctl; --clear-own ends them", DOUBT),)]
    notes = [(outcome.target.host, note) for outcome in outcomes for note in outcome.notes]
    lines += [((f"{host}: {note.path}: {note.text}", DIM),) for host, note in notes]
    for block in (failure_lines(outcomes), exposure_lines(outcome.target for outcome in outcomes)):
        lines += [(), *block] if block else []
    return lines


def sessions_json(outcomes: Read) -> str:
    """The document."""
    notes = [
        {"host": outcome.target.host, "path": note.path, "text": note.text}
        for outcome in outcomes
        for note in outcome.notes
    ]
    return sessions_table(outcomes).json(notes=notes, could_not_tell=failures_json(outcomes))
