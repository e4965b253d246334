"""Simulated time: it runs at a chosen speed, or only when a test says so, and BMCs do things at set times."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable


class SimClock:
    """Simulated seconds since the simulator started.

    :param speed: simulated seconds per real second; 0: time stands still except for :meth:`advance`.
    :param real: where real seconds come from.
    """

    def __init__(self, speed: float = 1.0, real: Callable[[], float] = time.monotonic) -> None:
        self._real = real
        self._mark = real()
        self._past = 0.0
        self._speed = speed

    @property
    def speed(self) -> float:
        """Simulated seconds per real second; may be changed while running."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._past = self.now()
        self._mark = self._real()
        self._speed = value

    def now(self) -> float:
        """Simulated seconds so far."""
        return self._past + (self._real() - self._mark) * self._speed

    def advance(self, seconds: float) -> None:
        """Let this much simulated time pass at once."""
        self._past += seconds


class Timer:
    """Something that will happen; ``cancel()`` and it will not."""

    __slots__ = ("action", "due")

    def __init__(self, due: float, action: Callable[[], None]) -> None:
        self.due = due
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        """It will not happen."""
        self.action = None


class Agenda:
    """What one BMC will do and when.

    Nothing runs by itself: whoever looks at the BMC calls :meth:`settle` first, and everything that has become due
    happens then, in order, each at its own time (``now()`` says so meanwhile). So there are no threads and no races.
    """

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self._heap: list[tuple[float, int, Timer]] = []
        self._count = itertools.count()
        self._at: float | None = None

    def now(self) -> float:
        """Simulated seconds; within an action, the time it was due."""
        return self._clock.now() if self._at is None else self._at

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Do something this many simulated seconds from now."""
        timer = Timer(self.now() + seconds, action)
        heapq.heappush(self._heap, (timer.due, next(self._count), timer))
        return timer

    def settle(self) -> None:
        """Let everything happen that is due by now."""
        if not self._heap or self._at is not None:
            return
        now = self._clock.now()
        try:
            while self._heap and self._heap[0][0] <= now:
                _, _, timer = heapq.heappop(self._heap)
                if timer.action is not None:
                    self._at = timer.due
                    timer.action()
        finally:
            self._at = None
