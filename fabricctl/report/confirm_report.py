"""What came of confirming derived GUIDs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fabricctl import __version__
from fabricctl.hostset import fold
from fabricctl.nodes.confirm import Judged, Verdict
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import csv_table, markdown_table

SCHEMA = "fabricctl.guids/1"
COLUMNS = ("node", "part", "guid", "verdict", "why")
_STYLES = {Verdict.CONFIRMED: GOOD, Verdict.CONTRADICTED: BAD, Verdict.NOT_SEEN: DOUBT}


def lines(judged: Sequence[Judged]) -> list[Line]:
    """Counts with folded nodes; every contradiction in full, what was not seen folded by reason."""
    if not judged:
        return [(("no derived GUID is recorded: nothing is to be confirmed", DIM),)]
    made: list[Line] = []
    for verdict in Verdict:
        some = [one for one in judged if one.verdict is verdict]
        if some:
            nodes = fold({one.node for one in some})
            made.append(
                ((f"{verdict.value:<13}", _STYLES[verdict]), (f"{len(some):>6,}  ", BOLD), (nodes, PLAIN))
            )
    wrong = [one for one in judged if one.verdict is Verdict.CONTRADICTED]
    made += [()] if wrong else []
    made += [((f"  {one.node} {one.part}", BOLD), (f"  {one.guid}: {one.why}", PLAIN)) for one in wrong]
    if wrong:
        hint = "the rule does not hold for these cards, or they are cabled elsewhere: node set HOST --retire GUID"
        made.append(((f"  {hint}", DIM),))
    reasons: dict[str, None] = dict.fromkeys(one.why for one in judged if one.verdict is Verdict.NOT_SEEN)
    made += [()] if reasons else []
    return [*made, *(((f"  {why}", DIM),) for why in list(reasons)[:20])]


def rows(judged: Sequence[Judged]) -> list[list[str]]:
    """One row per derived GUID."""
    return [[one.node, one.part, one.guid, one.verdict.value, one.why] for one in judged]


def to_csv(judged: Sequence[Judged]) -> str:
    """With a header row."""
    return csv_table(COLUMNS, rows(judged))


def to_markdown(judged: Sequence[Judged]) -> str:
    """For a ticket."""
    return markdown_table(COLUMNS, rows(judged))


def to_json(judged: Sequence[Judged]) -> str:
    """The document."""
    made: dict[str, Any] = {"schema": SCHEMA, "generator": f"fabricctl {__version__}"}
    made["guids"] = [dict(zip(COLUMNS, row, strict=True)) for row in rows(judged)]
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
