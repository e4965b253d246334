"""Verdicts for the report tests: of captures, of small fabrics with faults, and with names from hell."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from fabricctl.cabling.islands import Islands
from fabricctl.cabling.model import Cable, Counts, End, Finding, FindingKind, Island
from fabricctl.cabling.verify import Options, Verdict, VerdictWord, verify
from fabricctl.discovery.model import DiscoveryFormat, Source
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.model import PlanFormat
from fabricctl.plan.snapshot import plan_from_observation
from tests.cabling import fabrics
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


def judged(captures: Path, plan: str, seen: str) -> Verdict:
    """The verdict on one simulated capture against another, ``small3`` and ``small3-faulty``."""
    return verify(_snapshot(captures, plan), _observed(captures, seen))


def _observed(captures: Path, name: str):  # type: ignore[no-untyped-def]  # Observation, by way of a helper
    folder = captures / "ibsim" / name
    path = next(p for p in (folder / "ibnetdiscover.txt.gz", folder / "ibnetdiscover.txt") if p.is_file())
    return parse_any(read_capture(path), f"{name}/{path.name}")


def _snapshot(captures: Path, name: str):  # type: ignore[no-untyped-def]  # Plan, by way of a helper
    return plan_from_observation(_observed(captures, name), f"{name}.txt")


def clean_fabric(*, only: str = "") -> Verdict:
    """24 cables, all as planned (2 leaves with 4 HCAs, 2 spines, 2 cables to each)."""
    cables = fabrics.two_tier()
    return verify(fabrics.plan(cables), fabrics.seen(cables), Options(only=only))
