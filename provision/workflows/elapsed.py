"""Time at one BMC."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fabricctl.errors import (
    BmcAnswerError,
    BmcDeadlineError,
    BmcGarbledError,
    BmcNotReadyError,
    BmcSkippedError,
    BmcTlsError,
    BmcUnreachableError,
)
from provision.redfish.bmc import Bmc

SILENCE = (
    *(BmcUnreachableError, BmcDeadlineError, BmcNotReadyError),
    *(BmcSkippedError, BmcTlsError, BmcGarbledError),
)
"""How a BMC that restarts itself, or is busy with itself, looks from outside. A read that ended so told nothing."""

ABSENT_S = 1.0
"""Given to a read during a wait: its failure does not count against the BMC, and the wait itself is the patience."""


@dataclass
class Elapsed:
    """Seconds that went by at one BMC: those it was left alone, on whatever clock, and those its answers took.

    :param clock: monotonic seconds.
    """

    clock: Callable[[], float] = time.monotonic
    seconds: float = 0.0
    _mark: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._mark = self.clock()

    def now(self) -> float:
        """Seconds since it was made."""
        mark = self.clock()
        self.seconds += mark - self._mark
        self._mark = mark
        return self.seconds

    async def wait(self, bmc: Bmc, seconds: float) -> None:
        """Let time pass, and count it as asked for: a test's clock may run faster."""
        self.now()
        await bmc.wait(seconds)
        self.seconds += seconds
        self._mark = self.clock()


async def come_back(bmc: Bmc, seconds: float) -> bool:
    """Give a BMC that fell silent some seconds to answer again, so that its state can be read."""
    try:
        await bmc.get((await bmc.layout()).manager, absent_s=seconds)
    except SILENCE:
        return False
    except BmcAnswerError:
        pass  # whatever it says, it answers
    return True
