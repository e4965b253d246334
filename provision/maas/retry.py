"""Which requests are sent again, and when: those that MAAS's database turned away, and reads that were disturbed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fabricctl.errors import ProvisionerBusyError, ProvisionerError
from provision.http.asked import Asked
from provision.http.edge import LostError
from provision.http.mask import Mask
from provision.maas.answers import error_of

COLLISIONS = 6
"""How often a request is sent that collides with others in MAAS's database."""

LONGEST_WAIT_S = 30.0
"""Seconds of one wait before a request is sent again, whatever ``Retry-After`` says."""
RETRY_AFTER_S = 5.0
"""Seconds MAAS asks for after a collision, where its header cannot be read."""
BROKEN_S = 1.0
"""Seconds before a read is sent again whose connection broke."""

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")


class TryAgainError(Exception):
    """The same request may be sent again after so many seconds. :param collision: up to :data:`COLLISIONS` times."""

    def __init__(self, error: ProvisionerError, after_s: float, *, collision: bool = False) -> None:
        super().__init__()
        self.error, self.after_s, self.collision = error, after_s, collision


@dataclass(frozen=True)
class Patience:
    """How often, and how long between.

    :param sleep: waits; :param dice: a number from 0 to 1, so that those who collided do not meet again.
    """

    sleep: Sleep
    dice: Callable[[], float]

    async def with_(self, once: Callable[[], Awaitable[T]]) -> T:
        """Do it until it does not ask to be tried again, or the tries are spent: then its error is raised."""
        tries = 0
        while True:
            tries += 1
            try:
                return await once()
            except TryAgainError as again:
                if tries >= (COLLISIONS if again.collision else 2):
                    raise again.error from None
                wait = min(LONGEST_WAIT_S, again.after_s * min(tries, 3))
                await self.sleep(wait * (0.5 + self.dice()))


def refusal(
    asked: Asked, status: int, headers: Mapping[str, str], text: str, mask: Mask
) -> ProvisionerError | TryAgainError:
    """What to raise of an error answer."""
    error = error_of(asked, status, headers, text, mask)
    if isinstance(error, ProvisionerBusyError):
        return TryAgainError(error, _seconds(headers.get("retry-after", "")), collision=status == 409)
    return error


def disturbance(lost: LostError) -> ProvisionerError | TryAgainError:
    """What to raise of a request without an answer."""
    return TryAgainError(lost.error, BROKEN_S) if lost.again else lost.error


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else RETRY_AFTER_S
