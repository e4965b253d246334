"""From a verdict to what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from fabricctl.cabling.finding_id import finding_id, where_of
from fabricctl.cabling.model import Finding
from fabricctl.cabling.verdict import Options, Verdict
from fabricctl.digest import digest
from fabricctl.discovery.model import Observation
from fabricctl.history.model import Known, Run, SourceSeen
from fabricctl.plan.model import Plan
from fabricctl.words import printable

NO_PLAN = "no plan"
STDIN = "-"
DIGITS = 8
"""Of the digest of a plan that has no file name."""
_COUNTS = ("intended", "ok", "degraded", "swapped", "miswired", "missing", "not_judged", "cables_seen")


def series_of(fabric: str, plan: Plan | None = None, *, path: str = "", site: str = "") -> str:
    """What a run is compared with its like by.

    A plan file is told by its whole path: two files of one name may plan two fabrics, and a run of one proves nothing
    about the other. What came through a pipe has no name; its cables are one. A site file changes what is judged
    (rates, reservations, maintenance), so a plan with it is another intent than the plan alone.

    :param fabric: of a site file, empty when a plan file was judged; :param plan: None without one.
    :param path: absolute, of the plan file, or ``-``; :param site: name of the site file given beside a plan file.
    """
    if fabric:
        return f"fabric {fabric}"
    if plan is None:
        return NO_PLAN
    beside = f" with site {printable(site)}" if site else ""
    if path == STDIN:
        return f"plan on standard input, {plan_digest(plan)[:DIGITS]}{beside}"
    return f"plan {printable(path)}{beside}"


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
    options: Options,
    *,
    series: str,
    made: datetime,
    who: str,
    command: str,
    known: Mapping[str, Known],
) -> Run:
    """The run of a verdict, fingerprint included.

    :param options: what the verdict was asked with; :param known: of its findings.
    """
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
    return replace(run, fingerprint=_fingerprint(run, known, checks_of(verdict, options)))


def checks_of(verdict: Verdict, options: Options) -> list[str]:
    """What was asked beside the plan's cables: a run that was asked for more looked further, whatever it found."""
    identity = verdict.identification
    checks = {
        "strict": options.strict,
        "rails": options.check_rails,
        "identify": identity is not None,
        "slots": bool(options.hca_slots),
        "managers": bool(options.manager_hosts),
    }
    told = [
        f"gate {options.gate:g}",
        f"managers {options.manager_hosts}",
        *(f"slot {entry}" for entry in options.hca_slots),
        *(f"assumed {text}" for text in (identity.assumed if identity is not None else ())),
    ]
    return sorted([*(name for name, asked in checks.items() if asked), *told])


def plan_digest(plan: Plan) -> str:
    """Of a plan's cables and their rates, in whatever order and file they were written."""
    lines = sorted(
        "\t".join(sorted((f"{link.a.node}/{link.a.number}", f"{link.b.node}/{link.b.number}")))
        + f"\t{link.rate}"
        for link in plan.fabric.each_link()
    )
    return digest("\n".join(lines).encode("utf-8", "surrogateescape"))


def _fingerprint(run: Run, known: Mapping[str, Known], checks: Sequence[str]) -> str:
    """Inputs, question and answer, not when and by whom: order of sources and their paths do not count."""
    answer = sorted((k.id, k.headline, k.expected, k.found) for k in known.values())
    inputs = sorted(source.digest or source.label for source in run.sources)
    told = [
        run.series,
        run.command,
        run.word,
        run.plan_digest,
        inputs,
        run.only,
        checks,
        run.counts,
        run.doubts,
        answer,
    ]
    return digest(json.dumps(told, sort_keys=True).encode())
