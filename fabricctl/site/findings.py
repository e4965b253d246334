"""What a check of a site file can find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from fabricctl.hostset import fold


class SiteRule(StrEnum):
    """What was checked."""

    NAMES = "names"
    """A rack, host or switch stands in one group only."""
    PLACES = "places"
    """A rack unit holds one device and exists."""
    SUBNETS = "subnets"
    """Management and data subnets do not overlap."""
    BMC = "bmc"
    """Every BMC has one address of its own, inside the management subnets and in no data subnet."""
    PLANNED = "planned"
    """Plans and site name the same devices."""
    IDENTITY = "identity"
    """An identity names a device of the site or of a plan."""
    DEGREE = "degree"
    """A plan uses ports its device's model has."""
    RESERVED = "reserved"
    """A reserved port is planned for nobody else."""
    ROLE = "role"
    """Site and plan agree on a device's tier, rail and scalable unit."""
    INSTALL = "install"
    """Hosts that are to be installed can be enrolled, have a known boot disk, and users have keys that are there."""
    PLAN = "plan"
    """The plan holds what it promises: no port twice, non-blocking where it says so."""


class SiteFinding(NamedTuple):
    """One thing wrong. :param subject: device, subnet or fabric it is about; :param line: in the site file."""

    rule: SiteRule
    subject: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}: {self.text}"


FEW = 3
"""Findings that say the same of one line of the file and stand each for itself; more are one."""


def fold_findings(findings: Iterable[SiteFinding]) -> Iterator[SiteFinding]:
    """Findings that say the same of several devices in one line of the file as one, the devices folded."""
    of: dict[tuple[SiteRule, str, int], dict[str, None]] = {}
    for finding in findings:
        of.setdefault((finding.rule, finding.text, finding.line), {})[finding.subject] = None
    for (rule, text, line), subjects in of.items():
        for subject in [fold(subjects)] if len(subjects) > FEW else subjects:
            yield SiteFinding(rule, subject, text, line)
