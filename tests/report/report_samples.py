"""Verdicts for the report tests: of captures, of small fabrics with faults, and with names from hell."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from fabricctl.cabling.islands import Islands
from fabricctl.cabling.model import Cable, Counts, End, Finding, FindingKind, Island
from fabricctl.cabling.verify import Options, Verdict, VerdictWord, verify
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.model import PlanFormat
from fabricctl.plan.snapshot import plan_from_observation
from tests.cabling.fabrics import plan, seen, two_tier
from tests.conftest import read_capture

MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

NASTY = (
    "=HYPERLINK(\"http://example.net\",\"x\")",
    "+1", "-1", "@SUM(A1)", "\t=1", "\r=1",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>&amp;<!-- -->",
    "a|b`c`*d*_e_[f](http://example.net)~~g~~ #1 !2 @all $x$ \\",
    "\x00\x01\x1b[31m\x7f\x85\ufffe",
    "bytes \udcff\udc80 not UTF-8",
    "\u202egpu001\u2066\u200b",
    "two\nlines\r\nand \"quotes\", commas",
    '"' * 64,
    " " * 64,
    "",
)  # fmt: skip
"""Node descriptions that break a format which trusts them."""


@cache
def judged(captures: Path, plan: str, seen: str) -> Verdict:
    """The verdict on one simulated capture against another: ``small3`` and ``small3-faulty``."""
    return verify(plan_from_observation(_observed(captures, plan)), _observed(captures, seen))


def _observed(captures: Path, name: str) -> Observation:
    folder = captures / "ibsim" / name
    path = next(p for p in (folder / "ibnetdiscover.txt.gz", folder / "ibnetdiscover.txt") if p.is_file())
    return parse_any(read_capture(path), f"{name}/{path.name}")


def clean_fabric(*, only: str = "", planned: bool = True) -> Verdict:
    """16 cables, all as planned: 2 leaves with 4 HCAs each, 2 spines, 2 cables from every leaf to every spine."""
    cables = two_tier()
    return verify(plan(cables) if planned else None, seen(cables), Options(only=only))


def with_a_failed_viewer() -> Verdict:
    """The same fabric, but a second viewer gave no answer: could not tell."""
    cables = two_tier()
    observation = seen(cables)
    observation.sources.append(Source("gpu9", None, failed="no answer within 60 s"))
    return verify(plan(cables), observation)


def finding(kind: FindingKind, name: str, *, cables: int = 1, group: str = "") -> Finding:
    """A finding in which every text is, or begins with, ``name``."""
    a = End(name, 1, name, name, name)
    b = End(name, 2, name, name, name, is_hca=True)
    shapes = (
        Cable(a, b, None, "leaf-spine", 7, name),
        Cable(a, b, b, "leaf-spine"),
        Cable(a, None, b, "leaf-spine"),
    )
    return Finding(
        kind,
        name,
        name,
        name,
        name,
        name,
        (name,),
        tuple(shapes[i % 3] for i in range(cables)),
        group or name,
    )


def of_findings(findings: list[Finding], *, name: str = "x", doubts: tuple[str, ...] = ()) -> Verdict:
    """A verdict by hand: 100 planned leaf-spine cables, all of them missing, and these findings."""
    row = {"ok": 0, "degraded": 0, "swapped": 0, "miswired": 0, "missing": 100, "not_judged": 0}
    island = Island(2, 3, ((name, 3),), name, (name,))
    return Verdict(
        word=VerdictWord.COULD_NOT_TELL if doubts else VerdictWord.FINDINGS,
        counts=Counts(intended=100, missing=100, by_tier={"leaf-spine": row}),
        islands=Islands((island,), (island, island), 2, 3, 1, 1, ((name, 1),), name),
        findings=findings,
        doubts=list(doubts),
        notes=[name],
        sources=[Source(name, DiscoveryFormat.IBNETDISCOVER, 5, 4), Source(name, None, failed=name)],
        gate=0.1,
        only=name,
        plan_format=PlanFormat.CSV,
        plan_path=name,
    )


def nasty(name: str) -> Verdict:
    """Every kind of finding, with 0 to 3 cables, all told about a device of that name."""
    findings = [finding(kind, name, cables=index % 4) for index, kind in enumerate(FindingKind)]
    return of_findings(findings, name=name, doubts=(name,))
