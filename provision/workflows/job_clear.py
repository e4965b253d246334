"""Taking one named job out of a BMC's queue."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from fabricctl.errors import BmcBusyError, UsageError
from fabricctl.nodes.model import EventKind
from provision.bmc.jobs import Job, Phase, Place
from provision.bmc.outcome import Change
from provision.bmc.power import PowerState
from provision.redfish.bmc import Bmc
from provision.workflows.change import Sending
from provision.workflows.job_runner import find_job
from provision.workflows.journal import FORGET, Record
from provision.workflows.lc_gate import wait_ready
from provision.workflows.power import read_power

DELETE_ACTION = "Oem/Dell/DellJobService/Actions/DellJobService.DeleteJobQueue"
_ID = re.compile(r"[A-Za-z0-9_.\-]{1,64}\Z")


def check_job_id(text: str) -> str:
    """Id of one job. :raises UsageError: it is none, or stands for all jobs: those of others are among them."""
    if not _ID.match(text):
        raise UsageError(f"--id {text}: expected the id of a job, such as JID_123456789012")
    if text.upper().startswith("JID_CLEARALL"):
        raise UsageError(
            f"--id {text} would clear the jobs of everybody, and restart the Lifecycle Controller",
            hint="name single jobs, see bmc jobs list",
        )
    return text


async def clear_job(
    bmc: Bmc, job_id: str, record: Record = FORGET, *, clock: Callable[[], float] = time.monotonic
) -> Change:
    """Delete one job that has not begun, or has ended. Nothing is sent when it is not there.

    :raises BmcBusyError: it runs; it is left alone.
    """
    job = await _clearable(bmc, job_id)
    if job is not None:
        await wait_ready(bmc, post_too=(await read_power(bmc)).power is not PowerState.OFF, clock=clock)
        job = await _clearable(bmc, job_id)  # the gate may take minutes, in which it may have begun
    if job is None:
        return Change("", "", said=f"it has no job {job_id}")
    layout = await bmc.layout()
    sending = Sending(bmc, record, EventKind.NODE_JOB, [(job.words, "cleared")])
    if layout.idrac:
        request = sending.post(f"{layout.manager}/{DELETE_ACTION}", {"JobID": job_id})
    else:
        place = "JobService/Jobs" if Place.JOB in job.places else "TaskService/Tasks"
        request = sending.delete(f"/redfish/v1/{place}/{job_id}")
    await sending.attempt(request)
    left = await find_job(bmc, job_id)
    return sending.seen("cleared" if left is None else left.words, left is None, "still there")


async def _clearable(bmc: Bmc, job_id: str) -> Job | None:
    """The job, None when it is not there. :raises BmcBusyError: it runs."""
    job = await find_job(bmc, job_id)
    if job is not None and job.phase is Phase.RUNNING:
        raise BmcBusyError(f"job {job.words} runs; it is left alone", bmc=str(bmc.target))
    return job
