"""Values of the findings' history. Everything here is what the store keeps; nothing of it is a secret.

Runs are compared only within a *series*: what was judged against. A cable that is missing by one plan is not
proved right by a run that knew another plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from fabricctl.cabling.finding_id import NOWHERE, Where
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import VerdictWord


@dataclass(frozen=True, slots=True)
class SourceSeen:
    """One thing that was read. :param label: file or viewer; :param digest: of its bytes, empty when nothing came."""

    label: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded verdict.

    :param series: what was judged against: ``fabric compute``, ``plan /site/cabling.csv`` or ``no plan``.
    :param made: when, with time zone; :param who: ``user@host``; :param command: of fabricctl, ``verify-cabling``.
    :param plan: its label; :param plan_digest: of its cables, whatever file they came from.
    :param only: the ``--only`` text; :param counts: planned links by class, and how many were judged.
    :param fingerprint: of inputs, checks and answer: alike when nothing at all is new.
    :param number: given by the store, 0 before.
    """

    series: str
    made: datetime
    who: str
    command: str
    word: VerdictWord
    plan: str = ""
    plan_digest: str = ""
    sources: tuple[SourceSeen, ...] = ()
    only: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    findings: int = 0
    fingerprint: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """A finding as the store knows it; texts are those of the last run that had it."""

    id: str
    kind: FindingKind
    subject: str
    headline: str
    expected: str = ""
    found: str = ""
    fix: str = ""
    devices: tuple[str, ...] = ()
    where: Where = NOWHERE


@dataclass(frozen=True, slots=True)
class Episode:
    """One time a finding was there, from the run that first saw it to the one that saw it gone.

    :param opened: and ``last``: numbers of the first and last run that had it; :param gone: of the run that looked
        there and did not find it, None while it is open.
    """

    finding: str
    opened: int
    last: int
    gone: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What a run changes. All are finding ids.

    :param opened: there now and not open before; :param still: there now and open before.
    :param gone: open before, looked for and not there; :param not_looked: open before, and this run cannot say.
    """

    opened: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    not_looked: tuple[str, ...] = ()
