"""Findings about BMCs for people and machines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from fabricctl.report.screen import BAD, BOLD, DOUBT, PLAIN, Line
from fabricctl.words import many
from provision.bmc.outcome import BmcFinding


def finding_lines(findings: Iterable[BmcFinding]) -> list[Line]:
    """A head with their number and a line each; nothing when there are none."""
    found = list(findings)
    if not found:
        return []
    return [((many(len(found), "finding"), BAD),), *(((f"  {one.text}", PLAIN),) for one in found)]


def findings_json(findings: Iterable[BmcFinding]) -> list[dict[str, str]]:
    """The same for a document."""
    return [asdict(one) for one in findings]


def doubt_lines(doubts: Iterable[str]) -> list[Line]:
    """What could not be told, ``hosts: why`` each."""
    told = [doubt.partition(": ") for doubt in doubts]
    if not told:
        return []
    head: Line = (("could not tell", DOUBT),)
    return [head, *(((f"  {hosts}", BOLD), (f"  {why}", PLAIN)) for hosts, _, why in told)]
