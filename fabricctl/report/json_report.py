"""A verdict as JSON; :mod:`fabricctl.report.schema` publishes the form. Import it late, as that module says."""

from __future__ import annotations

from datetime import datetime

from fabricctl import __version__
from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.islands import Islands
from fabricctl.cabling.model import Cable, Counts, End, Finding, Island
from fabricctl.cabling.verdict import Verdict
from fabricctl.discovery.model import Source
from fabricctl.repair.model import RepairPlan
from fabricctl.report import schema
from fabricctl.report.causes_schema import ExplanationPart
from fabricctl.report.causes_words import json_parts
from fabricctl.report.words import CLASSES, can_i_train
from fabricctl.words import clean


def to_json(verdict: Verdict, *, made: datetime | None = None) -> str:
    """The verdict in the published schema, indented, with a newline at the end.

    :param made: when the fabric was judged; null when left out.
    """
    return report_of(verdict, made=made).model_dump_json(by_alias=True, indent=2) + "\n"


def report_of(verdict: Verdict, *, made: datetime | None = None) -> schema.Report:
    """The verdict as the published models."""
    plan = None
    if verdict.plan_format is not None:
        plan = schema.PlanPart(path=clean(verdict.plan_path), format=verdict.plan_format)
    return schema.Report(
        schema=schema.SCHEMA_NAME,
        generator=f"fabricctl {__version__}",
        made=made.isoformat(timespec="seconds") if made is not None else None,
        verdict=verdict.word,
        exit_code=verdict.exit_code,
        answer=clean(can_i_train(verdict)),
        counts=_counts(verdict.counts, verdict.gate),
        islands=_islands(verdict.islands),
        seen=schema.SeenPart(switches=verdict.switches_seen, hcas=verdict.hcas_seen),
        findings=[_finding(finding) for finding in verdict.findings],
        explanation=_explanation(verdict),
        repair=_repair(verdict.repair),
        sources=[_source(source) for source in verdict.sources],
        doubts=[clean(doubt) for doubt in verdict.doubts],
        notes=[clean(note) for note in verdict.notes],
        plan=plan,
        only=clean(verdict.only),
    )


def _counts(counts: Counts, gate: float) -> schema.CountsPart:
    return schema.CountsPart(
        **{cls.value: getattr(counts, cls.value) for cls in CLASSES},
        intended=counts.intended,
        excused=counts.excused,
        judged=counts.judged,
        bad=counts.bad,
        bad_share=round(counts.bad_share, 6),
        gate=gate,
        unexpected=counts.unexpected,
        outside_plan=counts.outside_plan,
        absent_devices=counts.absent_devices,
        unknown_devices=counts.unknown_devices,
        cables_seen=counts.cables_seen,
        cables_as_planned=counts.cables_as_planned,
        cables_differ=counts.cables_differ,
        by_tier={tiers: schema.TierCounts(**row) for tiers, row in counts.by_tier.items()},
    )


def _islands(islands: Islands) -> schema.IslandsPart:
    return schema.IslandsPart(
        planned=[_island(island) for island in islands.planned],
        seen=[_island(island) for island in islands.seen],
        planned_switches=islands.planned_switches,
        planned_hcas=islands.planned_hcas,
        unseen_switches=islands.unseen_switches,
        unseen_hcas=islands.unseen_hcas,
        unseen_rails=_rails(islands.unseen_rails),
        unseen_switch_set=clean(islands.unseen_switch_set),
    )


def _island(island: Island) -> schema.IslandPart:
    return schema.IslandPart(
        switches=island.switches,
        hcas=island.hcas,
        rails=_rails(island.rails),
        switch_set=clean(island.switch_set),
        sources=[clean(label) for label in island.sources],
    )


def _rails(rails: tuple[tuple[str, int], ...]) -> list[schema.RailPart]:
    return [schema.RailPart(name=clean(name), hcas=number) for name, number in rails]


def _finding(finding: Finding) -> schema.FindingPart:
    return schema.FindingPart(
        id=finding_id(finding),
        kind=finding.kind,
        group=clean(finding.group),
        subject=clean(finding.subject),
        headline=clean(finding.headline),
        expected=clean(finding.expected),
        found=clean(finding.found),
        fix=clean(finding.fix),
        devices=[clean(device) for device in finding.devices],
        cables=[_cable(cable) for cable in finding.cables],
    )


def _cable(cable: Cable) -> schema.CablePart:
    return schema.CablePart(
        a=_end(cable.a),
        expected=_end(cable.expected) if cable.expected is not None else None,
        found=_end(cable.found) if cable.found is not None else None,
        tiers=cable.tiers,
        plan_line=cable.line,
        note=clean(cable.note),
    )


def _end(end: End) -> schema.EndPart:
    return schema.EndPart(
        device=clean(end.device),
        port=end.port,
        label=clean(end.label),
        place=clean(end.place),
        guid=clean(end.guid),
        is_hca=end.is_hca,
    )


def _explanation(verdict: Verdict) -> ExplanationPart | None:
    if verdict.explanation is None or verdict.comparison is None:
        return None
    return ExplanationPart.model_validate(json_parts(verdict.explanation, verdict.comparison))


def _repair(repair: RepairPlan | None) -> schema.RepairPart | None:
    if repair is None:
        return None
    return schema.RepairPart(
        moves=repair.plugs_moved,
        groups=repair.components,
        cables_to_pull=repair.pulled,
        cables_to_lay=repair.added,
        parts=len(repair.parts),
        mismatches=len(repair.mismatches),
        assumed=repair.assumed,
    )


def _source(source: Source) -> schema.SourcePart:
    return schema.SourcePart(
        label=clean(source.label),
        format=source.format,
        nodes=source.nodes,
        links=source.links,
        failed=clean(source.failed),
    )
