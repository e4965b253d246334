"""The published form of an explanation. Import it late: pydantic costs a fifth of a second."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fabricctl.causes.model import CauseKind, Confidence


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedEndPart(_Part):
    """One end of a planned link."""

    device: str
    port: int = Field(description="InfiniBand port number as planned")


class PlannedLinkPart(_Part):
    """A planned link."""

    a: PlannedEndPart
    b: PlannedEndPart


class CausePart(_Part):
    """One explanation of wrong links."""

    kind: CauseKind
    subject: str = Field(description="device, pair or group, folded")
    headline: str
    links: int = Field(description="how many wrong planned links it explains")
    confidence: Confidence
    evidence: str
    fix: str
    devices: list[str]
    explains: list[PlannedLinkPart]


class ExplanationPart(_Part):
    """Why links are wrong: the largest cause first, plain exchanges of two links last."""

    wrong: int = Field(
        description="planned links that are swapped, miswired or missing, absent devices' left out"
    )
    explained: int
    causes: list[CausePart] = Field(description="their links are disjoint")
    left: list[PlannedLinkPart] = Field(description="wrong links that no cause explains")
