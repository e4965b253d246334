"""Simulated time: how long phases take, and what the clock on MAAS's wall says."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.sim.idrac.clock import Agenda, SimClock, Timer


@dataclass(frozen=True)
class Durations:
    """Simulated seconds a phase takes on average, and how far one machine may be off, as a share."""

    commission_s: float = 8 * 60
    deploy_s: float = 12 * 60
    release_s: float = 3 * 60
    erase_s: float = 6 * 60
    rescue_s: float = 4 * 60
    test_s: float = 10 * 60
    power_s: float = 20
    jitter: float = 0.2


class SimTime:
    """The double's time.

    :param speed: simulated seconds per real second; 0: only :meth:`advance` moves it.
    :param offset_s: how far MAAS's own clock is off from this machine's, for ``Date:`` and keys.
    """

    def __init__(
        self,
        speed: float,
        seed: int,
        durations: Durations,
        offset_s: float = 0.0,
        start: datetime | None = None,
    ) -> None:
        self.clock = SimClock(speed)
        self._agenda = Agenda(self.clock)
        self.durations = durations
        self.offset_s = offset_s
        self._start = start or datetime.now(UTC)
        self._dice = random.Random(f"{seed}/time")

    def now(self) -> float:
        """Simulated seconds since it started."""
        return self._agenda.now()

    def wall(self) -> datetime:
        """Simulated time of day, UTC: for events and results."""
        return self._start + timedelta(seconds=self.now() + self.offset_s)

    def real(self) -> datetime:
        """Time of day of an answer: this machine's, off by what was asked for."""
        return datetime.now(UTC) + timedelta(seconds=self.offset_s)

    def advance(self, seconds: float) -> None:
        """Let time pass at once, and everything happen that is due then."""
        self.clock.advance(seconds)
        self.settle()

    def settle(self) -> None:
        """Let everything happen that is due by now."""
        self._agenda.settle()

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Do something later."""
        return self._agenda.after(seconds, action)

    def about(self, seconds: float) -> float:
        """A duration with this run's jitter."""
        share = self.durations.jitter
        return seconds * self._dice.uniform(1 - share, 1 + share)
