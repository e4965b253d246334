"""``--watch``: what changed since the last pass, for the technician on the phone."""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl.cabling.model import Finding
from fabricctl.cabling.verdict import Verdict
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, Line
from fabricctl.report.screen import headline

SHOWN = 12


def changes(last: Verdict, now: Verdict, clock: str) -> list[Line]:
    """Lines for one pass: findings gone and come, doubts gone and come, and the verdict as it stands.

    :param clock: time of day to print.
    """
    before, after = _keyed(last), _keyed(now)
    gone = [finding for key, finding in before.items() if key not in after]
    come = [finding for key, finding in after.items() if key not in before]
    doubts_gone = [doubt for doubt in last.doubts if doubt not in now.doubts]
    doubts_come = [doubt for doubt in now.doubts if doubt not in last.doubts]
    lines: list[Line] = [((f"{clock}  ", DIM), (headline(now), BOLD))]
    if not (gone or come or doubts_gone or doubts_come):
        return [((f"{clock}  ", DIM), (f"no change: {headline(now)}", DIM))]
    lines += _listed("gone ", [finding.headline for finding in gone], GOOD)
    lines += _listed(
        "new  ", [f"{finding.headline}{': ' + finding.fix if finding.fix else ''}" for finding in come], BAD
    )
    lines += _listed("told ", doubts_gone, GOOD)
    lines += _listed("doubt", doubts_come, DOUBT)
    return lines


def news(last: Verdict, now: Verdict) -> bool:
    """Whether two passes differ in anything they found or could not tell."""
    return _keyed(last).keys() != _keyed(now).keys() or last.doubts != now.doubts


def _keyed(verdict: Verdict) -> dict[tuple[str, str, str], Finding]:
    return {(finding.kind.value, finding.subject, finding.found): finding for finding in verdict.findings}


def _listed(word: str, texts: list[str], style: str) -> Iterator[Line]:
    for text in texts[:SHOWN]:
        yield ((f"  {word}  ", style), (text, ""))
    if len(texts) > SHOWN:
        yield ((f"         ... and {len(texts) - SHOWN:,} more", DIM),)
