"""Identities as JSON, and the published form of it. Import it late: pydantic costs a fifth of a second.

Within one version keys are only added, as ``report/schema.py`` says.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from fabricctl import __version__
from fabricctl.identity.model import Identification, RefusalKind, Source
from fabricctl.identity.outcome import exit_code
from fabricctl.words import clean

SCHEMA_NAME: Final = "fabricctl.identify/1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class SwitchPart(_Part):
    """One discovered switch."""

    guid: str
    name: str | None = Field(description="planned name of its place, null when it has none")
    certain: bool = Field(description="declared, or voted with margin and not ambiguous")
    source: Source
    place: str = Field(description="rack and unit, empty when nobody said")
    votes_for: int
    votes_against: int
    margin: int = Field(description="votes for its place minus those of the second-best hypothesis")
    runner_up: str | None = Field(description="planned name of that hypothesis' place")
    described: str = Field(description="name in its node description, empty when that says none")
    described_differs: bool = Field(description="the description names another planned switch")


class NamePart(_Part):
    """A name a hypothesis gives."""

    guid: str
    name: str


class HypothesisPart(_Part):
    """One way to explain what is seen."""

    words: str
    moves: int = Field(description="cable ends to move if it is the truth")
    renames: int = Field(description="switches that stand elsewhere than in the first hypothesis")
    names: list[NamePart]


class AmbiguityPart(_Part):
    """Switches that cannot be told apart from here; numbered from 1 in this order for --assume."""

    switches: list[str] = Field(description="GUIDs")
    hypotheses: list[HypothesisPart] = Field(description="at least two, best first")
    decide_by: list[str]


class ContradictionPart(_Part):
    """A declared identity the cabling speaks against."""

    guid: str
    declared: str
    by_votes: str
    votes_for: int = Field(description="for the place the votes say")
    votes_against: int = Field(description="for the declared place")


class RefusalPart(_Part):
    """Why nothing is said."""

    kind: RefusalKind
    evidence: list[str]


class IdentityReport(_Part):
    """Which discovered switch is which planned one."""

    schema_name: Literal["fabricctl.identify/1"] = Field(alias="schema")
    generator: str = Field(description="program and version")
    made: str | None = Field(description="when, ISO 8601, null when not stated")
    exit_code: int = Field(
        description="0 all placed for certain, 1 findings, 3 could not tell",
        json_schema_extra={"enum": [0, 1, 3]},
    )
    certain: int
    switches_seen: int
    switches: list[SwitchPart] = Field(description="by planned name, those without a place last")
    ambiguities: list[AmbiguityPart]
    contradictions: list[ContradictionPart]
    refusal: RefusalPart | None
    unplaced: list[str] = Field(description="GUIDs of discovered switches that fit no place")
    unfilled: list[str] = Field(description="planned switches that were not found")
    assumed: list[str] = Field(description="hypotheses taken as fact with --assume")
    notes: list[str]


def identity_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the report."""
    body = IdentityReport.model_json_schema(by_alias=True, mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:fabricctl:identify:1",
        **body,
        "title": SCHEMA_NAME,
    }


def to_json(found: Identification, *, made: datetime | None = None) -> str:
    """The identification in the published schema, indented, with a newline at the end."""
    refusal = found.refusal
    report = IdentityReport(
        schema=SCHEMA_NAME,
        generator=f"fabricctl {__version__}",
        made=made.isoformat(timespec="seconds") if made is not None else None,
        exit_code=exit_code(found),
        certain=len(found.names),
        switches_seen=len(found.assignments) or len(found.unplaced),
        switches=_switches(found),
        ambiguities=_ambiguities(found),
        contradictions=[
            ContradictionPart(
                guid=item.seen,
                declared=clean(found.name(item.declared)),
                by_votes=clean(found.name(item.by_votes)),
                votes_for=item.votes_for,
                votes_against=item.votes_against,
            )
            for item in found.contradictions
        ],
        refusal=None
        if refusal is None
        else RefusalPart(kind=refusal.kind, evidence=[clean(text) for text in refusal.evidence]),
        unplaced=list(found.unplaced),
        unfilled=[clean(found.name(key)) for key in found.unfilled],
        assumed=[clean(text) for text in found.assumed],
        notes=[clean(note) for note in found.notes],
    )
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def _switches(found: Identification) -> list[SwitchPart]:
    return [
        SwitchPart(
            guid=a.seen,
            name=clean(found.name(a.planned)) if a.planned is not None else None,
            certain=a.seen in found.names,
            source=a.source,
            place=clean(a.place),
            votes_for=a.votes_for,
            votes_against=a.votes_against,
            margin=a.margin,
            runner_up=clean(found.name(a.runner_up)) if a.runner_up is not None else None,
            described=clean(a.described),
            described_differs=a.described_differs,
        )
        for a in found.assignments
    ]


def _ambiguities(found: Identification) -> list[AmbiguityPart]:
    return [
        AmbiguityPart(
            switches=list(ambiguity.devices),
            hypotheses=[
                HypothesisPart(
                    words=clean(h.words),
                    moves=h.moves,
                    renames=h.renames,
                    names=[NamePart(guid=seen, name=clean(found.name(planned))) for seen, planned in h.names],
                )
                for h in ambiguity.hypotheses
            ],
            decide_by=[clean(text) for text in ambiguity.decide_by],
        )
        for ambiguity in found.ambiguities
    ]
