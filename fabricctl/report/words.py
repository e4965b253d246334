"""Words and marks that the report formats share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fabricctl.cabling.model import Cable, Finding, FindingKind, LinkClass
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.hostset import natural_key

CLASSES = (
    LinkClass.OK,
    LinkClass.MISSING,
    LinkClass.MISWIRED,
    LinkClass.SWAPPED,
    LinkClass.DEGRADED,
    LinkClass.NOT_JUDGED,
)
"""Classes of planned links in the order reports show them; their numbers add up to the planned links."""

BAD_CLASSES = CLASSES[1:5]
"""The classes that count against the gate."""

KIND_TITLES: dict[FindingKind, str] = {
    FindingKind.SPLIT_FABRIC: "Split fabric",
    FindingKind.BAD_LINK_SHARE: "Too many bad cables",
    FindingKind.DUPLICATE_GUID: "GUIDs claimed twice",
    FindingKind.DUPLICATE_NAME: "Names claimed twice",
    FindingKind.IDENTITY: "Declared identities the cabling speaks against",
    FindingKind.INACTIVE: "Ports not active",
    FindingKind.SUBNET_MANAGER: "Subnet manager",
    FindingKind.ABSENT_DEVICE: "Absent devices",
    FindingKind.SWAPPED: "Swapped cables",
    FindingKind.MISWIRED: "Miswired cables",
    FindingKind.MISSING: "Missing cables",
    FindingKind.CABLE_TYPE: "Impossible for the kind of cable",
    FindingKind.RESERVED_PORT: "Reserved ports in use",
    FindingKind.SELF_LOOP: "Loopbacks",
    FindingKind.UNEXPECTED: "Unexpected cables",
    FindingKind.DEGRADED: "Degraded cables",
    FindingKind.RAIL: "Out of line with the rail",
    FindingKind.CARD_SLOT: "Cards in another slot",
    FindingKind.BUNDLE_GAP: "Gaps in bundles",
    FindingKind.REPLACED_PART: "Replaced parts",
    FindingKind.OUTSIDE_PLAN: "Cables outside the plan",
    FindingKind.UNKNOWN_DEVICE: "Unknown devices",
}
"""Heading of each kind of finding."""

VERDICT_TITLES = {
    VerdictWord.OK: "As planned",
    VerdictWord.FINDINGS: "Not as planned",
    VerdictWord.COULD_NOT_TELL: "Could not tell",
}

BLOCKERS = (
    FindingKind.SPLIT_FABRIC,
    FindingKind.BAD_LINK_SHARE,
    FindingKind.DUPLICATE_GUID,
    FindingKind.INACTIVE,
)
"""Findings with which no job should be started: the others cost speed or some hosts."""

_LINK_KINDS = {
    FindingKind.ABSENT_DEVICE: LinkClass.MISSING,
    FindingKind.MISSING: LinkClass.MISSING,
    FindingKind.SWAPPED: LinkClass.SWAPPED,
    FindingKind.MISWIRED: LinkClass.MISWIRED,
    FindingKind.DEGRADED: LinkClass.DEGRADED,
}


class KindSection(NamedTuple):
    """All findings of one kind, in groups of like cause, the heaviest group first."""

    kind: FindingKind
    groups: list[tuple[str, list[Finding]]]

    @property
    def findings(self) -> list[Finding]:
        """The groups' findings in one list."""
        return [finding for _, members in self.groups for finding in members]


def title_of(verdict: Verdict) -> str:
    """The verdict in two or three words; without a plan nobody can call a fabric fit."""
    if verdict.word is VerdictWord.OK and verdict.plan_format is None:
        return "Nothing found"
    return VERDICT_TITLES[verdict.word]


def can_i_train(verdict: Verdict) -> str:
    """The operator's question, answered in one sentence or two."""
    blockers = [finding for finding in verdict.findings if finding.kind in BLOCKERS]
    if verdict.word is VerdictWord.COULD_NOT_TELL:
        worst = f" What was judged says no: {blockers[0].headline}." if blockers else ""
        return f"Cannot be told: not everything that should have been checked was.{worst}"
    if blockers:
        return f"No: {blockers[0].headline}."
    if verdict.word is VerdictWord.OK:
        if verdict.plan_format is None:
            return (
                "Nothing speaks against it, but only a plan tells whether the cables are where they belong."
            )
        if verdict.only:
            return f"The cables of {verdict.only} are as planned; nothing else was judged."
        if verdict.islands.planned_pieces > 1:
            pieces = verdict.islands.planned_pieces
            return f"Every cable is as planned, but the plan is {pieces} networks: no job can span them."
        return "Yes: every cable is as planned."
    if verdict.counts.bad:
        return (
            f"It will run, with losses: the bad cables are below the gate of {percent(verdict.gate)}. "
            "Repair from the top of the list."
        )
    if verdict.plan_format is None:
        return "Look at the findings first; whether cables are where they belong, only a plan tells."
    return "No planned cable speaks against it; look at the findings first."


def percent(share: float) -> str:
    """``0.0126`` -> ``1.3 %``; a share above nothing never prints as nothing."""
    if 0 < share < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def sections(findings: Iterable[Finding]) -> list[KindSection]:
    """Findings by kind, worst kind first, and by group inside, the group with most cables first."""
    kinds: dict[FindingKind, dict[str, list[Finding]]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, {}).setdefault(finding.group, []).append(finding)
    return [
        KindSection(kind, sorted(kinds[kind].items(), key=lambda item: _weight(item[1]), reverse=True))
        for kind in FindingKind
        if kind in kinds
    ]


def _weight(members: list[Finding]) -> tuple[int, int]:
    return sum(map(cable_count, members)), len(members)


def class_of(kind: FindingKind) -> LinkClass | None:
    """The class of planned links that findings of this kind tell about, None for other kinds."""
    return _LINK_KINDS.get(kind)


FEW_CABLES = 2
"""A finding with more cables than its own lines can name lists them below."""


def cable_count(finding: Finding) -> int:
    """Cables a finding is about; a miswired cable shows one entry per wrong end, yet is one."""
    return min(1, len(finding.cables)) if finding.kind is FindingKind.MISWIRED else len(finding.cables)


def listed_cables(finding: Finding) -> list[str]:
    """The cables folded into a finding, one line each, in the order of the ports one walks along."""
    cables = sorted(finding.cables, key=lambda cable: (natural_key(cable.a.device), cable.a.port))
    return [_cable_line(cable) for cable in cables]


def _cable_line(cable: Cable) -> str:
    line = f"{cable.a.full} - {cable.expected.full}" if cable.expected is not None else cable.a.full
    if cable.found is not None and cable.found != cable.expected:
        line += f", found {cable.found.full}"
    return f"{line}, {cable.note}" if cable.note else line


def size_words(section: KindSection) -> str:
    """``6 findings, 132 cables``: how much one kind is."""
    findings = len(section.findings)
    cables = sum(map(cable_count, section.findings))
    words = f"{findings:,} finding{'' if findings == 1 else 's'}"
    return words if cables in (0, findings) else f"{words}, {cables:,} cables"


def plan_words(verdict: Verdict) -> str:
    """What the fabric was compared with: ``cabling.csv (csv)``."""
    if verdict.plan_format is None:
        return "no plan given: only the checks that need none"
    return f"{verdict.plan_path} ({verdict.plan_format})" if verdict.plan_path else str(verdict.plan_format)


def beside(verdict: Verdict) -> Iterator[tuple[str, int]]:
    """What is counted beside the planned links: (words, number), the zeros too."""
    counts = verdict.counts
    yield "cables seen", counts.cables_seen
    yield "of them as planned", counts.cables_as_planned
    yield "of them in contradiction to the plan", counts.cables_differ
    yield "unexpected cables", counts.unexpected
    yield "cables to devices outside the plan", counts.outside_plan
    yield "absent devices", counts.absent_devices
    yield "unknown devices", counts.unknown_devices
    yield "not judged because of planned maintenance", counts.excused
