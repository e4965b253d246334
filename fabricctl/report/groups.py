"""Folding many findings of one kind into a few lines: by cause first, by device where one stands out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.hostset import fold
from fabricctl.words import many

LONGEST = 72
SHOWN = 3


@dataclass(frozen=True)
class Group:
    """Findings said together. :param details: (label, text) lines below the headline."""

    headline: str
    findings: int
    details: tuple[tuple[str, str], ...]


def group_findings(found: list[Finding]) -> list[Group]:
    """Groups of one kind's findings, the one with most cables first."""
    by_group: dict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        by_group[finding.group].append(finding)
    weight = {name: sum(max(1, len(f.cables)) for f in members) for name, members in by_group.items()}
    return [_group(by_group[name]) for name in sorted(by_group, key=lambda name: -weight[name])]


def _group(members: list[Finding]) -> Group:
    first = members[0]
    if len(members) == 1:
        details = [("expected", first.expected), ("found", first.found), ("fix", first.fix)]
        return Group(first.headline, 1, tuple((label, text) for label, text in details if text))
    cables = sum(len(finding.cables) for finding in members)
    if first.kind is FindingKind.ABSENT_DEVICE:
        names = fold(finding.subject for finding in members)
        gone = f"{many(len(members), first.group or 'device')} absent"
        headline = f"{gone}, {cables:,} cables missing with them: {_short(names)}"
        return Group(headline, len(members), (("fix", _FIX_OF_MANY.get(first.group, first.fix)),))
    what = first.group or first.headline
    number = f"{len(members):,} {_NOUN.get(first.kind, 'findings')}"
    details = [("on", _where(members))]
    details += [("", _one_line(finding)) for finding in members[:SHOWN]]
    if len(members) > SHOWN:
        details.append(("", f"... and {len(members) - SHOWN:,} more"))
    if first.kind in _FIX_OF_ALL:
        same = {finding.fix for finding in members}
        fix = first.fix if len(same) == 1 else _FIX_OF_ALL[first.kind]
        strangers = any("under another name" in finding.fix for finding in members)
        details.append(
            (
                "fix",
                f"{fix}; a stranger in an unseen device's place may be that device, renamed"
                if strangers
                else fix,
            )
        )
    joint = " " if first.group or first.kind in _NOUN else ", the first: "
    return Group(f"{number}{joint if what else ''}{what}", len(members), tuple(details))


_FIX_OF_MANY = {
    "HCA": "other HCAs of the same hosts may be up: check these cards, their cables and their ports"
}
_FIX_OF_ALL = {
    FindingKind.MISWIRED: "connect each as expected",
    FindingKind.MISSING: "plug in, reseat or replace these cables; a disabled port was disabled by somebody",
    FindingKind.DEGRADED: "clean and reseat both ends, then replace the cable",
}
_NOUN = {
    FindingKind.SWAPPED: "pairs exchanged,",
    FindingKind.MISWIRED: "cables",
    FindingKind.MISSING: "cables without a link,",
    FindingKind.DEGRADED: "cables",
    FindingKind.UNEXPECTED: "unplanned cables,",
    FindingKind.RAIL: "HCAs",
    FindingKind.OUTSIDE_PLAN: "cables,",
    FindingKind.BUNDLE_GAP: "bundles",
}


def _one_line(finding: Finding) -> str:
    if finding.kind is FindingKind.SWAPPED:
        return f"{finding.headline.rsplit(' (', 1)[0]}: {finding.fix}"
    if finding.found and finding.expected and finding.kind is not FindingKind.MISSING:
        if finding.kind is FindingKind.DEGRADED:
            return f"{finding.subject}: {finding.found}"
        return f"expected {finding.expected}; found {finding.found}"
    return f"{finding.subject}: {finding.found}" if finding.found else finding.headline


def _where(members: Iterable[Finding]) -> str:
    """The devices that carry most of a group, folded."""
    counts: Counter[str] = Counter()
    for finding in members:
        counts.update(set(finding.devices))
    devices = [device for device, _ in counts.most_common()]
    text = fold(devices)
    if len(text) <= LONGEST:
        return text
    top, most = counts.most_common(1)[0]
    worst = f", most on {top} ({most:,})" if most > 1 else ""
    return f"{len(devices):,} devices{worst}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 4].rstrip(",") + " ..."
