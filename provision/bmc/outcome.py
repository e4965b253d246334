"""What came of asking one BMC: a host's failure is data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK, BmcError
from provision.bmc.target import Target

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Note:
    """Something odd that was tolerated: a dangling link, a contradiction, a licence error inside an inventory.

    :param path: of the resource; :param text: what was odd, for people.
    """

    path: str
    text: str


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """One BMC's result.

    :param value: what the work returned, None when it failed; :param error: why it failed, None when it did not. Both
        where something was told, but not all (``BmcCutError``).
    :param notes: what was tolerated on the way; :param requests: HTTP requests sent; :param seconds: from start to end.
    """

    target: Target
    value: T | None = None
    error: BmcError | None = None
    notes: tuple[Note, ...] = ()
    requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Change:
    """What came of changing one thing of one BMC.

    :param before: and ``after``: for people; :param written: whether anything was sent; :param reached: read back as
        wanted. :param said: what else is to be known, above all why it was not reached.
    """

    before: str
    after: str
    written: bool = False
    reached: bool = True
    said: str = ""


@dataclass(frozen=True, slots=True)
class BmcFinding:
    """Something that is not as it should be.

    :param host: node; :param kind: a word for machines (``nic-replaced``); :param part: FQDD or part, may be empty.
    :param expected: and ``found``: what should be and what is; :param text: one sentence for people.
    """

    host: str
    kind: str
    text: str
    part: str = ""
    expected: str = ""
    found: str = ""


def exit_code_of(outcomes: Iterable[Outcome[T]], findings: Iterable[BmcFinding] = ()) -> int:
    """3 when a BMC could not tell, else 1 when there are findings, else 0."""
    if any(outcome.error is not None for outcome in outcomes):
        return EXIT_COULD_NOT_TELL
    return EXIT_FINDINGS if any(True for _ in findings) else EXIT_OK
