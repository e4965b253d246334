"""What is recorded of the phase that we began last on a machine, and what it means for what is found there now."""

from __future__ import annotations

from dataclasses import dataclass

from provision.install.machine import Machine, Phase, Stage

SENDING = "being sent, no answer yet"
UNANSWERED = "answer lost, not read back"
INTERRUPTED = "interrupted while it was sent, not read back"
ACCEPTED = "accepted"
NOT_WAITED = "accepted, not waited for"
GOES_ON = "interrupted; it goes on in the provisioner"
CARRIED_OUT = "answer lost; it was carried out"
NOT_SHOWN = "answer lost, and nothing shows that it was carried out"
REFUSED = "refused: "
UNSENT = "not sent: "
OVERDUE = "overdue: "

_OPEN = frozenset({SENDING, UNANSWERED, INTERRUPTED, ACCEPTED, NOT_WAITED, GOES_ON, CARRIED_OUT, NOT_SHOWN})
RECENT_S = 86400.0
"""Seconds. An installation that was begun longer ago says nothing about who a machine is allocated to now."""


@dataclass(frozen=True, slots=True)
class LastPhase:
    """The phase that was begun last. :param phase: None for a quarantine or the end of one.

    :param after: what was known of it last; :param age_s: seconds since it was begun.
    """

    phase: Phase | None
    after: str
    age_s: float

    @property
    def open(self) -> bool:
        """Whether it was accepted, or may have been, and nobody saw its end."""
        return self.after in _OPEN or self.after.startswith(OVERDUE)

    @property
    def refused(self) -> bool:
        """Whether it never began."""
        return self.after.startswith((REFUSED, UNSENT))


@dataclass(frozen=True, slots=True)
class Past:
    """What was done to a machine before, by what is recorded.

    :param user: whose name the provisioner knows us by, empty where it cannot tell.
    :param last: None when nothing is recorded; :param looked_at: phases whose result somebody compared afterwards.
    :param quarantined: by its node record, whatever the provisioner says.
    """

    user: str = ""
    last: LastPhase | None = None
    looked_at: frozenset[Phase] = frozenset()
    quarantined: bool = False

    def foreign(self, machine: Machine) -> bool:
        """Whether it is known to be somebody else's."""
        return bool(self.user and machine.owner and machine.owner != self.user)

    def installed_by_us(self, machine: Machine) -> bool:
        """Whether what is installed on it is known to be of our installation."""
        return Phase.DEPLOY in self.looked_at or self.unlooked(machine, Phase.DEPLOY)

    def allocated_by_us(self, machine: Machine) -> bool:
        """Whether an allocation is what our installation left: begun lately, its end not seen, and it is ours."""
        last = self.last
        if last is None or last.phase is not Phase.DEPLOY or not last.open or last.age_s > RECENT_S:
            return False
        return bool(self.user) and machine.owner == self.user

    def unlooked(self, machine: Machine, phase: Phase) -> bool:
        """Whether it is in the state that a phase of ours leads to, and nobody looked at it since."""
        if phase in self.looked_at or self.foreign(machine):
            return False
        last = self.last
        if phase is Phase.COMMISSION:
            return machine.stage is Stage.READY
        return last is not None and last.phase is phase and not last.refused
