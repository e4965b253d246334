"""The published form of ``fabricctl findings --format json``. Import it late: pydantic costs a fifth of a second.

Within one version keys are only added, never renamed, removed or given another meaning.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import VerdictWord
from fabricctl.history.compare import Status

SCHEMA_NAME: Final = "fabricctl.findings/1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class RunPart(_Part):
    """One recorded run."""

    number: int
    made: str = Field(description="ISO 8601 with time zone")
    who: str
    command: str
    verdict: VerdictWord
    findings: int
    doubts: list[str] = Field(description="why something could not be told")
    only: str = Field(description="the --only selection, empty when everything was judged")
    plan: str
    sources: list[str] = Field(description="labels of what was read")


class FindingPart(_Part):
    """One finding as it stands."""

    id: str = Field(description="F- and hexadecimal digits; the same for the same fault in every run")
    status: Status
    kind: FindingKind
    subject: str
    headline: str
    expected: str
    found: str
    fix: str
    devices: list[str]
    place: str = Field(
        description="where, in names that do not change and ports of the normal profile; empty for the whole fabric"
    )
    came_back: int = Field(description="how often it was there again after it had gone, over all runs")
    first_run: int
    first_seen: str
    last_run: int = Field(description="last run that had it")
    last_seen: str
    gone_run: int | None = Field(description="run that looked there and did not find it, null while open")
    gone_seen: str | None


class OffenderPart(_Part):
    """A device with faults that came back."""

    device: str
    came_back: int
    faults: int = Field(description="different findings that named it, over all runs")
    open: int
    first_seen: str
    last_seen: str


class SeriesPart(_Part):
    """Runs that judged against the same thing."""

    series: str = Field(description="fabric NAME, plan FILE or no plan")
    baseline: RunPart | None = Field(
        description="what the rest is compared with; null: nothing was recorded before"
    )
    latest: RunPart
    counts: dict[Status, int]
    findings: list[FindingPart] = Field(description="open ones first, those that came back most often first")
    offenders: list[OffenderPart]


class FindingsReport(_Part):
    """New, still open, gone, returned."""

    schema_name: Literal["fabricctl.findings/1"] = Field(alias="schema")
    generator: str
    exit_code: int = Field(
        description="0 nothing open, 1 open findings, 3 a last run could not tell",
        json_schema_extra={"enum": [0, 1, 3]},
    )
    series: list[SeriesPart]


def findings_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the report."""
    body = FindingsReport.model_json_schema(by_alias=True, mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fabricctl:findings:1",
        **body,
        "title": SCHEMA_NAME,
    }
