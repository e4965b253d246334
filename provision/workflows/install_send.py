"""Sending one command to a provisioner: recorded before it leaves, at most a few times, and never half known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import (
    FabricctlError,
    OtherMachineError,
    ProvisionerBusyError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerUnreachableError,
    ProvisionerUnsupportedError,
)
from provision.redfish.interrupt import finish
from provision.workflows.journal import Begun

AGAIN = (ProvisionerOutcomeUnknownError, ProvisionerUnreachableError, ProvisionerBusyError)
"""After these a command is looked for and then sent again: it may not have arrived, or it collided with others."""
NOT_DONE = (
    ProvisionerRefusedError,
    ProvisionerForbiddenError,
    ProvisionerNotFoundError,
    ProvisionerLoginError,
    ProvisionerPowerError,
    ProvisionerUnsupportedError,
    OtherMachineError,
)
"""Answers after which nothing was changed. What is in neither list is no clear answer."""
SENDING = "being sent, no answer yet"
UNANSWERED = "answer lost, not read back"
INTERRUPTED = "interrupted while it was sent, not read back"
FAILED = "fabricctl failed while it was sent, not read back"
GOES_ON = "interrupted; it goes on in the provisioner"
ACCEPTED = "accepted"
NOT_WAITED = "accepted, not waited for"
CARRIED_OUT = "answer lost; it was carried out"
LOST = "answer lost, and nothing shows that it was carried out"
UNSENT = "not sent: "
UNCLEAR = "no clear answer, not read back"
_OPEN = frozenset(
    {SENDING, UNANSWERED, INTERRUPTED, FAILED, GOES_ON, ACCEPTED, NOT_WAITED, CARRIED_OUT, LOST}
)


def is_open(after: str) -> bool:
    """Whether these are last words of an event of which nobody recorded what came of it: whoever sees it says so."""
    return after.rpartition(": ")[2] in _OPEN or UNCLEAR in after


@dataclass(frozen=True)
class Sent:
    """What came of a command. :param error: None when it was accepted, or was found to be carried out.

    :param lost: the answer was lost, and nothing shows that it was carried out.
    """

    error: ProvisionerError | None = None
    lost: bool = False


def _accepted() -> str:
    return ACCEPTED


def _carried_out() -> str:
    return CARRIED_OUT


async def send(
    command: Callable[[], Coroutine[Any, Any, None]],
    carried_out: Callable[[], Awaitable[bool]] | None,
    entry: Begun,
    *,
    attempts: int = 2,
    done: Callable[[], str] = _accepted,
    found: Callable[[], str] = _carried_out,
) -> Sent:
    """Send a command that may be sent twice without harm, but not before it was looked for.

    :param command: raises other errors than ``ProvisionerError`` only before anything is sent.
    :param carried_out: looks whether it was, after a lost answer; it may wait for that. None: the caller looks, for
        many at once, and it is sent once.
    :param entry: the event of it: it always tells how far it came.
    :param done: words of the event when it was accepted, and :param found: when it was seen after a lost answer.
    :raises FabricctlError: the command could not be made, so it was not sent.
    """
    last: ProvisionerError | None = None
    for _ in range(attempts):
        try:
            await finish(command())
        except AGAIN as error:
            entry.tell([UNANSWERED])
            if carried_out is None:
                return Sent(error, lost=True)
            if await carried_out():
                entry.tell([found()])
                return Sent()
            last = error
        except ProvisionerError as error:
            entry.tell([_refused(error)])
            return Sent(error)
        except FabricctlError as error:
            entry.tell([f"{UNSENT}{error.message}"])
            raise
        except asyncio.CancelledError:
            entry.tell([INTERRUPTED])
            raise
        except Exception:
            entry.tell([FAILED])
            raise
        else:
            entry.tell([done()])
            return Sent()
    entry.tell([LOST])
    return Sent(last, lost=True)


def _refused(error: ProvisionerError) -> str:
    """What an error says of the command."""
    if isinstance(error, NOT_DONE):
        return f"refused: {error.message}"
    return f"{UNCLEAR}: {error.message}"
