"""The findings' history as JSON in the published form."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl import __version__
from fabricctl.history.compare import Change, Offender, Standing, Status
from fabricctl.history.model import Run
from fabricctl.report import findings_schema as schema


def to_json(changes: Sequence[Change], exit_code: int) -> str:
    """Every series, indented, with a newline at the end."""
    report = schema.FindingsReport(
        schema=schema.SCHEMA_NAME,
        generator=f"fabricctl {__version__}",
        exit_code=exit_code,
        series=[_series(change) for change in changes],
    )
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def run_part(run: Run) -> schema.RunPart:
    """One run in the published form."""
    return schema.RunPart(
        number=run.number,
        made=run.made.isoformat(timespec="seconds"),
        who=run.who,
        command=run.command,
        verdict=run.word,
        findings=run.findings,
        doubts=list(run.doubts),
        only=run.only,
        plan=run.plan,
        sources=[source.label for source in run.sources],
    )


def _series(change: Change) -> schema.SeriesPart:
    return schema.SeriesPart(
        series=change.series,
        baseline=run_part(change.baseline) if change.baseline is not None else None,
        latest=run_part(change.latest),
        counts={status: change.count(status) for status in Status},
        findings=[_finding(standing) for standing in change.standings],
        offenders=[_offender(offender) for offender in change.offenders],
    )


def _finding(standing: Standing) -> schema.FindingPart:
    known, gone = standing.known, standing.gone
    return schema.FindingPart(
        id=known.id,
        status=standing.status,
        kind=known.kind,
        subject=known.subject,
        headline=known.headline,
        expected=known.expected,
        found=known.found,
        fix=known.fix,
        devices=list(known.devices),
        place=str(known.where).encode("utf-8", "replace").decode(),
        came_back=standing.came_back,
        first_run=standing.first.number,
        first_seen=standing.first.made.isoformat(timespec="seconds"),
        last_run=standing.last.number,
        last_seen=standing.last.made.isoformat(timespec="seconds"),
        gone_run=gone.number if gone is not None else None,
        gone_seen=gone.made.isoformat(timespec="seconds") if gone is not None else None,
    )


def _offender(offender: Offender) -> schema.OffenderPart:
    return schema.OffenderPart(
        device=offender.device,
        came_back=offender.came_back,
        faults=offender.faults,
        open=offender.open,
        first_seen=offender.first.made.isoformat(timespec="seconds"),
        last_seen=offender.last.made.isoformat(timespec="seconds"),
    )
