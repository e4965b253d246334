"""The published form of a verdict: what ``--format json`` writes and ``fabricctl schema verify-cabling`` prints.

Within one version keys are only added, never renamed, removed or given another meaning; anything else makes
the number behind the slash go up. Import it late: pydantic costs a fifth of a second.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import VerdictWord
from fabricctl.discovery.model import DiscoveryFormat
from fabricctl.plan.model import PlanFormat
from fabricctl.report.causes_schema import ExplanationPart

SCHEMA_NAME: Final = "fabricctl.verify-cabling/1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class TierCounts(_Part):
    """Planned links between two tiers, each counted once."""

    ok: int
    degraded: int
    swapped: int
    miswired: int
    missing: int
    not_judged: int


class CountsPart(TierCounts):
    """Numbers of the verdict: ok + missing + miswired + swapped + degraded + not_judged = intended."""

    intended: int = Field(description="planned links; with --only those inside it")
    excused: int = Field(description="part of not_judged: planned maintenance")
    judged: int = Field(description="intended - not_judged")
    bad: int = Field(description="missing + miswired + swapped + degraded")
    bad_share: float = Field(description="bad / judged, 0 to 1")
    gate: float = Field(description="share of bad links that is a finding by itself, 0 to 1")
    unexpected: int = Field(
        description="seen cables between two planned devices on ports the plan leaves empty"
    )
    outside_plan: int = Field(description="seen cables to a device that is not planned")
    absent_devices: int = Field(
        description="planned devices that are gone while all ports facing them are down"
    )
    unknown_devices: int = Field(description="discovered devices that are not planned")
    cables_seen: int
    cables_as_planned: int = Field(description="seen cables between the two ports of a planned link")
    cables_differ: int = Field(description="seen cables in contradiction to the plan")
    by_tier: dict[str, TierCounts] = Field(
        description="host-leaf, leaf-spine, spine-core, ... -> planned links; the rows add up to the totals"
    )


class RailPart(_Part):
    """HCAs of one rail (or HCA name, where rails are not declared) in an island."""

    name: str
    hcas: int


class IslandPart(_Part):
    """One connected component of a fabric."""

    switches: int
    hcas: int
    rails: list[RailPart]
    switch_set: str = Field(description="folded host set; empty when larger than 512 switches")
    sources: list[str] = Field(description="labels of the sources that saw it")


class IslandsPart(_Part):
    """Components of the plan and of what was seen, largest first."""

    planned: list[IslandPart]
    seen: list[IslandPart]
    planned_switches: int
    planned_hcas: int
    unseen_switches: int
    unseen_hcas: int
    unseen_rails: list[RailPart]
    unseen_switch_set: str


class EndPart(_Part):
    """One end of a cable."""

    device: str
    port: int = Field(description="InfiniBand port number")
    label: str = Field(description="front panel label, empty when unknown or the same as the number")
    place: str = Field(description="rack and unit, empty when unknown")
    guid: str = Field(description="node GUID, empty when unknown")
    is_hca: bool


class CablePart(_Part):
    """A cable inside a finding."""

    a: EndPart = Field(description="the end the finding speaks from")
    expected: EndPart | None = Field(description="far end the plan wants, null when unplanned")
    found: EndPart | None = Field(description="far end that is there, null when there is none")
    tiers: str
    plan_line: int = Field(description="line of the plan file, 0 when none wrote it")
    note: str


class FindingPart(_Part):
    """One thing that is wrong, said once. Findings are listed worst kind first."""

    id: str = Field(
        description="the same for the same fault in every run; fabricctl findings show ID tells more"
    )
    kind: FindingKind
    group: str = Field(description="findings of one kind with the same group have the same cause")
    subject: str
    headline: str
    expected: str
    found: str
    fix: str
    devices: list[str]
    cables: list[CablePart]


class RepairPart(_Part):
    """The fewest moves; ``fabricctl work-order make`` writes them out."""

    moves: int = Field(description="plugs to move")
    groups: int = Field(description="independent groups of moves")
    cables_to_pull: int
    cables_to_lay: int
    parts: int = Field(description="missing or dead parts, each an order of its own")
    mismatches: int = Field(description="patterns impossible for the declared kind of cable")
    assumed: int = Field(description="cables of an assumed kind (straight fibre)")


class SourcePart(_Part):
    """One thing that was read."""

    label: str
    format: DiscoveryFormat | None = Field(description="the tool that wrote it, null when nothing came")
    nodes: int
    links: int
    failed: str = Field(description="why nothing came, empty when it did")


class PlanPart(_Part):
    """What the fabric was compared with."""

    path: str
    format: PlanFormat


class SeenPart(_Part):
    """Devices discovered."""

    switches: int
    hcas: int


class Report(_Part):
    """A verdict on the cabling of an InfiniBand fabric."""

    schema_name: Literal["fabricctl.verify-cabling/1"] = Field(alias="schema")
    generator: str = Field(description="program and version")
    made: str | None = Field(description="when, ISO 8601, null when not stated")
    verdict: VerdictWord
    exit_code: int = Field(
        description="0 ok, 1 findings, 3 could not tell", json_schema_extra={"enum": [0, 1, 3]}
    )
    answer: str = Field(description="for people: can I train on this?")
    counts: CountsPart
    islands: IslandsPart
    seen: SeenPart
    findings: list[FindingPart]
    explanation: ExplanationPart | None = Field(description="why cables are wrong; null without a plan")
    repair: RepairPart | None = Field(description="null without a plan")
    sources: list[SourcePart]
    doubts: list[str] = Field(description="why something could not be told; never empty with could_not_tell")
    notes: list[str]
    plan: PlanPart | None = Field(description="null when only the checks that need no plan ran")
    only: str = Field(description="the --only selection, empty when everything was judged")


def report_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the report."""
    body = Report.model_json_schema(by_alias=True, mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fabricctl:verify-cabling:1",
        **body,
        "title": SCHEMA_NAME,
    }
