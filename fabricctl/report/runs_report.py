"""Recorded runs as text, JSON, CSV or markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from fabricctl import __version__
from fabricctl.history.model import Run
from fabricctl.report.findings_report import clock
from fabricctl.report.tables import csv_table, markdown_table, text_table
from fabricctl.report.words import VERDICT_TITLES

SCHEMA_NAME: Final = "fabricctl.runs/1"
_COLUMNS = ("run", "made", "series", "verdict", "findings", "doubts", "only", "read", "who")


def render(runs: Sequence[Run], form: str, zone: tzinfo | None) -> str:
    """Runs, oldest first. :param form: ``text``, ``json``, ``csv`` or ``markdown``."""
    if form == "json":
        from fabricctl.report.findings_json import run_part

        rows = [{"series": run.series, **run_part(run).model_dump(mode="json")} for run in runs]
        document = {"schema": SCHEMA_NAME, "generator": f"fabricctl {__version__}", "runs": rows}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if form == "text":
        return "\n".join(text_table(_COLUMNS, [_row(run, clock(run.made, zone)) for run in runs])) + "\n"
    table = csv_table if form == "csv" else markdown_table
    return table(_COLUMNS, [_row(run, run.made.isoformat(timespec="seconds")) for run in runs])


def _row(run: Run, made: str) -> list[str]:
    read = ", ".join(source.label.rpartition("/")[2] or source.label for source in run.sources)
    numbers = (str(run.findings), str(len(run.doubts)))
    return [
        str(run.number),
        made,
        run.series,
        VERDICT_TITLES[run.word].lower(),
        *numbers,
        run.only,
        read,
        run.who,
    ]
