"""How long a phase may take, by our own clock: longer or shorter than the provisioner's, which may wait for ever."""

from __future__ import annotations

from dataclasses import dataclass

from provision.install.machine import Phase


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds each phase may take.

    :param settle_s: seconds after a lost answer in which a phase must show that it began, else it did not.
    :param silence_s: seconds the provisioner itself may be silent, all requests together, before a run ends.
    """

    commission_s: float = 2700.0
    deploy_s: float = 3600.0
    release_s: float = 1200.0
    settle_s: float = 120.0
    silence_s: float = 600.0

    def of(self, phase: Phase) -> float:
        """Seconds of one phase."""
        return {
            Phase.COMMISSION: self.commission_s,
            Phase.DEPLOY: self.deploy_s,
            Phase.RELEASE: self.release_s,
        }[phase]


def remaining(deadline_s: float, since_s: float | None) -> float:
    """Seconds left of a phase that began so many seconds ago; all of them when nobody knows. Never below zero.

    A time that lies ahead is a clock that was set back: the phase counts as begun now.
    """
    if since_s is None or since_s < 0:
        return deadline_s
    return max(0.0, deadline_s - since_s)


def overdue_words(phase: Phase, deadline_s: float, status: str) -> str:
    """Why a phase was given up."""
    minutes = deadline_s / 60
    return f"{phase.value} took longer than {minutes:g} min and is still {status or 'under way'}"
