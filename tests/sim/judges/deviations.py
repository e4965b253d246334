"""The list of what judges may complain about, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.sim.judges.trials import Complaint

LIST = Path(__file__).with_name("deviations.txt")


@dataclass(frozen=True, slots=True)
class Deviation:
    """One line. :param judge: who complains; :param profile: on this firmware only, empty: on all."""

    judge: str
    profile: str
    rule: str
    where: re.Pattern[str]
    reason: str

    def covers(self, complaint: Complaint) -> bool:
        """Whether this complaint is the one."""
        return self.rule == complaint.rule and bool(self.where.fullmatch(complaint.where))


def deviations(judge: str, profile: str, path: Path = LIST) -> list[Deviation]:
    """What is known of one judge and firmware.

    :raises ValueError: a line is not ``judge[@PROFILE] RULE | where | reason``.
    """
    found: list[Deviation] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        head = parts[0].split()
        if len(parts) != 3 or len(head) != 2 or not parts[2]:
            raise ValueError(
                f"{path.name}:{number}: expected 'judge[@PROFILE] RULE | where | reason', found {line!r}"
            )
        name, _, of_profile = head[0].partition("@")
        if name == judge and of_profile in ("", profile):
            found.append(Deviation(name, of_profile, head[1], re.compile(parts[1]), parts[2]))
    return found


def compare(
    complaints: Iterable[Complaint], known: list[Deviation]
) -> tuple[list[Complaint], list[Deviation]]:
    """Complaints that nobody listed, and listed ones that nobody made any more."""
    told = list(complaints)
    new = [one for one in told if not any(entry.covers(one) for entry in known)]
    stale = [entry for entry in known if not any(entry.covers(one) for one in told)]
    return new, stale
