"""From a verdict to what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from fabricctl.cabling.finding_id import finding_id, where_of
from fabricctl.cabling.model import Finding
from fabricctl.cabling.verdict import Verdict
from fabricctl.digest import digest
from fabricctl.discovery.model import Observation
from fabricctl.history.model import Known, Run, SourceSeen
from fabricctl.plan.model import Plan
from fabricctl.words import printable

NO_PLAN = "no plan"
_COUNTS = ("intended", "ok", "degraded", "swapped", "miswired", "missing", "not_judged", "cables_seen")


def series_of(fabric: str, plan_path: str) -> str:
    """What a run is compared with its like by. :param fabric: of a site file, empty when a plan file was judged."""
    if fabric:
        return f"fabric {fabric}"
    return f"plan {printable(plan_path.rpartition('/')[2])}" if plan_path else NO_PLAN


def known_of(findings: Iterable[Finding]) -> dict[str, Known]:
    """Findings by id, in their order, ready to be kept: no control characters, no undecodable bytes."""
    return {known.id: known for known in map(_known, findings)}


def _known(finding: Finding) -> Known:
    return Known(
        finding_id(finding),
        finding.kind,
        printable(finding.subject),
        printable(finding.headline),
        printable(finding.expected),
        printable(finding.found),
        printable(finding.fix),
        tuple(map(printable, finding.devices)),
        where_of(finding),
    )


def run_of(
    verdict: Verdict,
    observation: Observation,
    plan: Plan | None,
    *,
    series: str,
    made: datetime,
    who: str,
    command: str,
    known: Mapping[str, Known],
) -> Run:
    """The run of a verdict, fingerprint included. :param known: of its findings."""
    run = Run(
        series=series,
        made=made,
        who=who,
        command=command,
        word=verdict.word,
        plan=printable(verdict.plan_path),
        plan_digest=plan_digest(plan) if plan is not None else "",
        sources=tuple(SourceSeen(printable(s.label), s.digest) for s in observation.sources),
        only=printable(verdict.only),
        counts={name: getattr(verdict.counts, name) for name in _COUNTS},
        doubts=tuple(map(printable, verdict.doubts)),
        findings=len(known),
    )
    return replace(run, fingerprint=_fingerprint(run, known))


def plan_digest(plan: Plan) -> str:
    """Of a plan's cables and their rates, in whatever order and file they were written."""
    lines = sorted(
        "\t".join(sorted((f"{link.a.node}/{link.a.number}", f"{link.b.node}/{link.b.number}")))
        + f"\t{link.rate}"
        for link in plan.fabric.each_link()
    )
    return digest("\n".join(lines).encode("utf-8", "surrogateescape"))


def _fingerprint(run: Run, known: Mapping[str, Known]) -> str:
    """Inputs and answer, not when and by whom: order of sources and their paths do not count."""
    answer = sorted((k.id, k.headline, k.expected, k.found) for k in known.values())
    inputs = sorted(source.digest or source.label for source in run.sources)
    told = [
        run.series,
        run.command,
        run.word,
        run.plan_digest,
        inputs,
        run.only,
        run.counts,
        run.doubts,
        answer,
    ]
    return digest(json.dumps(told, sort_keys=True).encode())
