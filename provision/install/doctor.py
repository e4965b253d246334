"""What ``maas doctor`` says: a verdict of each question asked of each role that MAAS plays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK


class Role(StrEnum):
    """What MAAS does for a machine between its first PXE request and its first login, in that order."""

    API = "api"
    RACKS = "racks"
    """Rack controllers: they reach the BMCs."""
    DHCP = "dhcp"
    IMAGES = "images"
    METADATA = "metadata"
    NTP = "ntp"
    DNS = "dns"
    PROXY = "proxy"
    AGREEMENT = "agreement"
    """MAC, address and host name are the same by site, MAAS and BMC."""


THROUGH_API = frozenset({Role.RACKS, Role.IMAGES, Role.AGREEMENT})
"""Roles that are asked through the API: without it nothing can be told of them."""


class Result(StrEnum):
    """One of three."""

    OK = "ok"
    FINDING = "finding"
    DOUBT = "could not tell"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question.

    :param subject: whom it is about: a server's address or a host; :param asked: what was asked of it, in words.
    :param expected: and ``found``: what should have come and what came.
    :param todo: what to do, empty when all is well; :param kind: a word for machines (``dhcp-silent``).
    """

    role: Role
    result: Result
    subject: str
    asked: str
    expected: str
    found: str
    todo: str = ""
    kind: str = ""

    @property
    def text(self) -> str:
        """All of it in one sentence."""
        said = f"{self.asked}: expected {self.expected}, found {self.found}"
        return f"{said}; {self.todo}" if self.todo else said


@dataclass(frozen=True, slots=True)
class Question:
    """A question before its answer is known: makes the three verdicts there can be."""

    role: Role
    subject: str
    asked: str
    expected: str

    def ok(self, found: str) -> Verdict:
        """It is as it should be."""
        return Verdict(self.role, Result.OK, self.subject, self.asked, self.expected, found)

    def finding(self, kind: str, found: str, todo: str) -> Verdict:
        """It is not as it should be."""
        return Verdict(
            self.role,
            Result.FINDING,
            self.subject,
            self.asked,
            self.expected,
            found,
            todo,
            f"{self.role}-{kind}",
        )

    def doubt(self, found: str, todo: str = "") -> Verdict:
        """It could not be told."""
        return Verdict(
            self.role,
            Result.DOUBT,
            self.subject,
            self.asked,
            self.expected,
            found,
            todo,
            f"{self.role}-unknown",
        )


@dataclass(frozen=True, slots=True)
class RoleResult:
    """One role and everything that was asked of it. :param seconds: how long that took."""

    role: Role
    verdicts: tuple[Verdict, ...]
    seconds: float = 0.0

    @property
    def result(self) -> Result:
        """A finding before a doubt, and a doubt before ok. Nothing asked is a doubt: silence is not health."""
        results = {verdict.result for verdict in self.verdicts}
        if not results:
            return Result.DOUBT
        return next(one for one in (Result.FINDING, Result.DOUBT, Result.OK) if one in results)

    @property
    def bad(self) -> tuple[Verdict, ...]:
        """What is not ok, findings first."""
        wrong = [verdict for verdict in self.verdicts if verdict.result is not Result.OK]
        return tuple(sorted(wrong, key=lambda verdict: verdict.result is not Result.FINDING))


def named(results: Iterable[RoleResult]) -> list[Role]:
    """Roles with a finding."""
    return [one.role for one in results if one.result is Result.FINDING]


def exit_code(results: Sequence[RoleResult]) -> int:
    """3 when something could not be told, else 1 with findings, else 0. Nothing asked at all could not tell."""
    verdicts = [verdict for one in results for verdict in one.verdicts]
    if not verdicts or any(not one.verdicts for one in results):
        return EXIT_COULD_NOT_TELL
    if any(verdict.result is Result.DOUBT for verdict in verdicts):
        return EXIT_COULD_NOT_TELL
    return EXIT_FINDINGS if any(verdict.result is Result.FINDING for verdict in verdicts) else EXIT_OK


def not_asked(role: Role, why: str) -> Verdict:
    """A role that could not be asked at all."""
    return Question(role, "", f"the {role} role", "an answer").doubt(why)
