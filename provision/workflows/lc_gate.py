"""Waiting until an iDRAC takes a change."""

from __future__ import annotations

import time
from collections.abc import Callable

from fabricctl.errors import (
    BmcAnswerError,
    BmcBusyError,
    BmcNotFoundError,
    BmcNotReadyError,
    BmcOutcomeUnknownError,
    BmcUnsupportedError,
)
from provision.bmc.gate import STATUS_ACTION, LcStatus, read_status
from provision.redfish.bmc import Bmc
from provision.workflows.elapsed import SILENCE, Elapsed
from provision.workflows.phase import phase

PATIENCE_S = 600.0
"""POST of a server with eight GPUs and 2 TB of memory takes some minutes."""
POLL_S = 10.0


async def lc_status(bmc: Bmc) -> LcStatus | None:
    """What the Lifecycle Controller says of itself; None when there is none (other vendors, iDRAC8 and older)."""
    layout = await bmc.layout()
    if not layout.idrac:
        return None
    path = f"{layout.manager}/{STATUS_ACTION}"
    try:
        reply = await bmc.post(path, {})
    except BmcOutcomeUnknownError:
        return LcStatus(status="silent")
    except (BmcNotFoundError, BmcUnsupportedError):
        bmc.note(path, "no Lifecycle Controller status; changes are sent without it")
        return None
    except BmcAnswerError as error:
        return LcStatus(status=f"HTTP {error.status}")
    except BmcBusyError:
        return LcStatus(status="busy")
    return read_status(reply.resource)


async def wait_ready(
    bmc: Bmc,
    *,
    patience_s: float = PATIENCE_S,
    post_too: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> LcStatus | None:
    """Wait until the Lifecycle Controller is ready for a change; at once where there is none.

    Before whatever passes through it: BIOS, boot, virtual media, the job queue. Not before power, which the BMC
    switches itself and which is the way out of a POST or a Lifecycle Controller that hangs; nor before the identify
    light, a lamp of the BMC's own that must shine on a node in any state.

    :param post_too: also wait for the end of a POST. :returns: what it said last.
    :raises BmcNotReadyError: it is not within the patience; nothing was changed.
    """
    elapsed = Elapsed(clock)
    while True:
        status: LcStatus | None
        try:
            status = await lc_status(bmc)
        except SILENCE:
            status = LcStatus(status="silent")
        if status is None or not status.in_the_way or (status.in_post and not post_too):
            return status
        phase("in POST" if status.in_post else "waiting for the Lifecycle Controller")
        if elapsed.now() >= patience_s:
            raise BmcNotReadyError(
                f"{status.in_the_way} for {patience_s / 60:.0f} minutes; nothing was changed",
                bmc=str(bmc.target),
            )
        await elapsed.wait(bmc, POLL_S)
