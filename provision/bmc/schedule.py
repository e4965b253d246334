"""When to ask again: growing pauses with jitter, bounded by what one BMC may cost a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
PATIENT = 3
"""Times a BMC is asked again after exactly as short a time as it asks for."""


def pause(attempt: int, random: Random) -> float:
    """Seconds before the next try: doubling from one second to thirty, halved at random so that BMCs spread.

    :param attempt: 0 after the first failure.
    """
    full = min(FIRST_PAUSE_S * 2.0 ** min(attempt, 16), LONGEST_PAUSE_S)
    return full * (0.5 + 0.5 * random.random())


@dataclass
class Budget:
    """Seconds one BMC may spend in a run on waiting until it is ready; requests that wait together spend them once.

    :param total_s: all of it; :param spent_s: what was given out; :param waiting_until: end of the waits so far, on the
        clock of the caller.
    """

    total_s: float
    random: Random = field(repr=False)
    spent_s: float = 0.0
    waiting_until: float = float("-inf")

    @property
    def left_s(self) -> float:
        """What is left."""
        return max(0.0, self.total_s - self.spent_s)

    def take(self, attempt: int, asked_s: float | None = None, *, now: float) -> float | None:
        """A pause before the next try, taken from the budget; None when it does not suffice.

        :param attempt: 0 after the first failure; :param now: seconds on a clock that only goes forward.
        :param asked_s: what the BMC asked for: never less is waited, up to a tenth more, so that a fleet that was told
            the same number does not come back in one moment. One that asks for no time again and again gets pauses
            that grow all the same: else its budget would last for thousands of requests.
        """
        wanted = pause(attempt, self.random)
        if asked_s is not None:
            least = pause(attempt - PATIENT, self.random) if attempt >= PATIENT else 0.1
            wanted = max(asked_s * (1.0 + 0.1 * self.random.random()), least)
        more = max(0.0, now + wanted - max(now, self.waiting_until))
        if more > self.left_s:
            return None
        self.spent_s += more
        self.waiting_until = max(self.waiting_until, now + wanted)
        return wanted
