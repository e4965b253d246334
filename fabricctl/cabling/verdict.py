"""The answer, and what it was asked with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.cable_kinds import AssemblyType
from fabricctl.cabling.binding import Names
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.islands import Islands
from fabricctl.cabling.model import Cable, Counts, Finding, FindingKind
from fabricctl.cabling.scope import Scope, about
from fabricctl.cabling.slot_inventory import SlotEntry
from fabricctl.causes.model import Explanation
from fabricctl.discovery.model import Source
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK
from fabricctl.fabric import Port
from fabricctl.identity.model import Identification
from fabricctl.plan.model import PlanFormat
from fabricctl.rates import Rate
from fabricctl.repair.model import RepairPlan

DEFAULT_GATE = 0.10
"""Share of bad links at which adaptive routing no longer copes (operators' experience; facts of the field)."""

RateOfClass = Callable[[int | None, int | None, tuple[str, str]], Rate | None]
"""Tiers and devices of the two ends -> the rate the site expects there."""

KindOfClass = Callable[[str, int | None, int | None, tuple[str, str]], AssemblyType | None]
"""The plan's word for a link's class, tiers and devices of its ends -> the kind of cable the site declares there."""


class VerdictWord(StrEnum):
    """The three results."""

    OK = "ok"
    FINDINGS = "findings"
    COULD_NOT_TELL = "could_not_tell"


@dataclass(frozen=True)
class Options:
    """What the operator and the site say beside plan and discovery.

    :param expected_absent: device or host name -> reason; :param absent_ports: ``Port`` by name -> reason.
    :param reserved: ``Port`` by device name -> host set that may be there.
    :param hca_slots: an inventory of which card sits in which slot.
    :param only: ``--only`` text; :param manager_hosts: host set the master subnet manager may run on.
    """

    names: Names = field(default_factory=Names)
    knowledge: Knowledge = field(default_factory=Knowledge)
    rate_of_class: RateOfClass | None = None
    kind_of_class: KindOfClass | None = None
    expected_absent: Mapping[str, str] = field(default_factory=dict)
    absent_ports: Mapping[Port, str] = field(default_factory=dict)
    reserved: Mapping[Port, str] = field(default_factory=dict)
    only: str = ""
    strict: bool = False
    check_rails: bool = False
    gate: float = DEFAULT_GATE
    manager_hosts: str = ""
    hca_slots: tuple[SlotEntry, ...] = ()


@dataclass
class Verdict:
    """The answer.

    :param doubts: why something could not be told, one sentence each; :param notes: worth knowing, no verdict.
    :param scope: what ``only`` chose of the plan, None without it.
    :param outside: cables that reach a device outside the plan; counted, and listed on request.
    :param comparison: plan and discovery laid over each other, for causes, repair and picture.
    :param explanation: why, largest cause first; None without a plan.
    :param repair: the fewest moves; None when there is no plan. :param identification: with ``--identify``.
    :param plan_format: None when no plan was given and only the plan-free checks ran.
    """

    word: VerdictWord
    counts: Counts
    islands: Islands
    findings: list[Finding]
    doubts: list[str]
    notes: list[str]
    sources: list[Source]
    gate: float
    only: str = ""
    scope: Scope | None = None
    plan_format: PlanFormat | None = None
    plan_path: str = ""
    switches_seen: int = 0
    hcas_seen: int = 0
    outside: list[Cable] = field(default_factory=list)
    comparison: Comparison | None = None
    explanation: Explanation | None = None
    repair: RepairPlan | None = None
    identification: Identification | None = None

    def add(self, findings: Iterable[Finding]) -> None:
        """Take in what was found after the comparison: what ``--only`` chose, each kind in its place."""
        kept = about(self.scope, findings)
        order = list(FindingKind)
        self.findings = sorted([*self.findings, *kept], key=lambda finding: order.index(finding.kind))
        if kept and self.word is VerdictWord.OK:
            self.word = VerdictWord.FINDINGS

    @property
    def exit_code(self) -> int:
        """Of design: 0 ok, 1 findings, 3 could not tell."""
        codes = {VerdictWord.OK: EXIT_OK, VerdictWord.FINDINGS: EXIT_FINDINGS}
        return codes.get(self.word, EXIT_COULD_NOT_TELL)
