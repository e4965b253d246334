"""Sending one command to a provisioner: recorded before it leaves, at most a few times, and never half known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import (
    FabricctlError,
    ProvisionerBusyError,
    ProvisionerError,
    ProvisionerOutcomeUnknownError,
    ProvisionerUnreachableError,
)
from provision.redfish.interrupt import finish
from provision.workflows.journal import Begun

AGAIN = (ProvisionerOutcomeUnknownError, ProvisionerUnreachableError, ProvisionerBusyError)
"""After these a command is looked for and then sent again: it may not have arrived, or it collided with others."""
SENDING = "being sent, no answer yet"
UNANSWERED = "answer lost, not read back"
INTERRUPTED = "interrupted while it was sent, not read back"
GOES_ON = "interrupted; it goes on in the provisioner"
ACCEPTED = "accepted"
NOT_WAITED = "accepted, not waited for"
CARRIED_OUT = "answer lost; it was carried out"
LOST = "answer lost, and nothing shows that it was carried out"
UNSENT = "not sent: "
OPEN = frozenset({SENDING, UNANSWERED, INTERRUPTED, GOES_ON, ACCEPTED, NOT_WAITED, CARRIED_OUT, LOST})
"""Last words of an event of which nobody recorded what came of it: whoever sees that says so."""


@dataclass(frozen=True)
class Sent:
    """What came of a command. :param error: None when it was accepted, or was found to be carried out.

    :param lost: the answer was lost, and nothing shows that it was carried out.
    """

    error: ProvisionerError | None = None
    lost: bool = False


async def send(
    command: Callable[[], Coroutine[Any, Any, None]],
    carried_out: Callable[[], Awaitable[bool]],
    entry: Begun,
    *,
    attempts: int = 2,
) -> Sent:
    """Send a command that may be sent twice without harm, but not before it was looked for.

    :param carried_out: looks whether it was, after a lost answer; it may wait for that.
    :param entry: the event of it: it always tells how far it came.
    :raises FabricctlError: the command could not be made, so it was not sent.
    """
    last: ProvisionerError | None = None
    for _ in range(attempts):
        try:
            await finish(command())
        except AGAIN as error:
            entry.tell([UNANSWERED])
            if await carried_out():
                entry.tell([CARRIED_OUT])
                return Sent()
            last = error
        except ProvisionerError as error:
            entry.tell([f"refused: {error.message}"])
            return Sent(error)
        except FabricctlError as error:
            entry.tell([f"{UNSENT}{error.message}"])
            raise
        except asyncio.CancelledError:
            entry.tell([INTERRUPTED])
            raise
        else:
            entry.tell([ACCEPTED])
            return Sent()
    entry.tell([LOST])
    return Sent(last, lost=True)
