"""Open sessions of BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl.report.lines import BAD, DIM, PLAIN
from provision.bmc.outcome import Outcome
from provision.bmc.session_list import OpenSession, SessionList, Whose
from provision.report.common import Table
from provision.report.fleet import Report

SCHEMA = "fabricctl.bmc-sessions/1"
COLUMNS = ("host", "session", "user", "from", "kind", "since", "whose")
_STYLES = {Whose.THIS: DIM, Whose.RUNNING: PLAIN, Whose.OWN: BAD, Whose.OTHER: PLAIN}

LEFT = "sessions were left behind by fabricctl; --clear-own ends them"

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
    return Table(COLUMNS, rows, styles, ("whose", "user", "from", "kind"))


def _row(host: str, session: OpenSession, *, ended: bool) -> tuple[str, ...]:
    whose = "own, ended now" if ended else session.whose.value
    number = session.uri.rstrip("/").rpartition("/")[2]
    return (host, number, session.user, session.client, session.kind, session.since, whose)


def sessions_report(outcomes: Read, *, each: bool = False) -> Report:
    """The list, and what was left behind. :param each: a line a session on the screen."""
    table = sessions_table(outcomes)
    left = [(row[0], LEFT) for row in table.rows if row[-1] == Whose.OWN.value]
    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {"sessions": table.objects()},
        lines=lambda width: table.lines(width, each=each) or [(("nothing to list", DIM),)],
        table=lambda: table,
        remarks=list(dict.fromkeys(left)),
    )
