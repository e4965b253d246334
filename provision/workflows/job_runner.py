"""Jobs of one BMC: read them, wait for one, have one made at most once."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from fabricctl.errors import (
    BmcAnswerError,
    BmcBusyError,
    BmcError,
    BmcFingerprintError,
    BmcNotFoundError,
    BmcOutcomeUnknownError,
    BmcUnreachableError,
)
from provision.bmc.job_watch import End, Patience, Seen, Unseen, Watch, look
from provision.bmc.jobs import Job, Phase, Place, WantedJob, blocking, job_id_of, merge_jobs, read_job
from provision.bmc.refusal import keys_of
from provision.bmc.reply import Reply
from provision.redfish.bmc import Bmc
from provision.workflows.elapsed import ABSENT_S, SILENCE, Elapsed, come_back
from provision.workflows.phase import phase

BUSY = frozenset({"RAC0679", "LC068", "RAC0508"})
"""A job operation runs already, or the Lifecycle Controller is taken. The request was refused: nothing was made."""
COMMITTED = frozenset({"SYS011"})
"""Pending values belong to a job already."""
PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class JobResult:
    """What came of a job.

    :param job: as seen last, None when it was never seen; :param end: why the wait is over.
    :param reused: an equal job was there already, and nothing was made; :param waited_s: seconds.
    """

    job: Job | None
    end: End
    reused: bool = False
    waited_s: float = 0.0

    @property
    def phase(self) -> Phase:
        """Of the job as seen last."""
        return self.job.phase if self.job is not None else Phase.UNKNOWN

    @property
    def ok(self) -> bool:
        """Ended well, or accepted where no more was waited for."""
        return self.end is End.SETTLED and self.phase in (Phase.DONE, Phase.WAITING)

    @property
    def words(self) -> str:
        """For people."""
        name = self.job.words if self.job is not None else "the job"
        minutes = f"{self.waited_s / 60:.0f} minutes"
        return {
            End.SETTLED: f"{name} {self.phase}",
            End.GONE: f"{name} is in no list any more: it ended and was deleted, or somebody cleared it",
            End.NEVER_SEEN: f"{name} never appeared in a list",
            End.SILENT: f"the BMC is silent since it had {name}; given up after {minutes}",
            End.TOO_LONG: f"{name} has not ended within {minutes}",
        }[self.end]


async def read_jobs(bmc: Bmc) -> list[Job]:
    """All jobs of the BMC, from the three places they live in, one for each id.

    :raises BmcError: one of the places could not be read; that one is missing is no error.
    """
    found: list[Job] = []
    for place, path in await _places(bmc):
        try:
            members = await bmc.members(path)
        except BmcNotFoundError:
            continue
        found += [job for body in members if (job := read_job(body, place)) is not None]
    return merge_jobs(found)


async def find_job(bmc: Bmc, job_id: str) -> Job | None:
    """One job, from the first place that has it; None when none has. :raises BmcError: a place could not be read."""
    for place, path in await _places(bmc):
        try:
            reply = await bmc.get(f"{path}/{job_id}", absent_s=ABSENT_S)
        except BmcNotFoundError:
            continue
        except BmcAnswerError as error:
            if error.status not in (400, 410):  # an iDRAC answers 400 SYS404 for a job id it has forgotten
                raise
            continue
        job = read_job(reply.resource, place)
        if job is not None and job.state:
            return job
    return None


async def wait_job(
    bmc: Bmc,
    job_id: str,
    *,
    patience: Patience = PATIENCE,
    until_waiting: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> JobResult:
    """Wait for the end of a job. A BMC that falls silent meanwhile is given the time to come back.

    :param until_waiting: be content once the job is scheduled: it begins at the next reset.
    """
    return await _wait(bmc, job_id, Watch(patience, until_waiting), Elapsed(clock))


async def _wait(bmc: Bmc, job_id: str, watch: Watch, elapsed: Elapsed) -> JobResult:
    begun = elapsed.now()
    phase(f"waiting for {'a job to be scheduled' if watch.until_waiting else 'a job'}")
    while True:
        seen = await _seen(bmc, job_id)
        watch, step = look(watch, elapsed.now() - begun, seen)
        if isinstance(step, End):
            return JobResult(watch.last or Job(job_id), step, waited_s=watch.at)
        await elapsed.wait(bmc, step)


async def _idle(bmc: Bmc, patience: Patience, elapsed: Elapsed) -> None:
    """Wait until no job runs, whoever made it.

    :raises BmcBusyError: one still runs when the patience is over. It is not cleared: it belongs to somebody.
    """
    while running := blocking(await read_jobs(bmc)):
        left = patience.total_s - elapsed.now()
        if left <= 0:
            raise _busy(bmc, running, "still runs")
        watch = Watch(replace(patience, total_s=left))
        result = await _wait(bmc, running[0].id, watch, elapsed)
        if result.end is End.SILENT:
            raise BmcUnreachableError(result.words, bmc=str(bmc.target))


async def ensure_job(
    bmc: Bmc,
    wanted: WantedJob,
    create: Callable[[], Awaitable[Reply]],
    *,
    equal: Callable[[Job], Awaitable[bool]] | None = None,
    until_waiting: bool = False,
    patience: Patience = PATIENCE,
    clock: Callable[[], float] = time.monotonic,
) -> JobResult:
    """Have a job made, at most once, and wait for it.

    The queue is read first. A job that waits or runs for the same thing is awaited when it is equal, and never
    cleared when it is not. While another job runs, that one is awaited first.

    :param create: sends the one request that makes the job; called again only after an answer that refused it.
    :param equal: whether an open job for the same thing does just what is wanted; without it every such job does.
    :param until_waiting: be content once the job is scheduled for the next reset.
    :raises BmcBusyError: somebody else's job is in the way. :raises BmcOutcomeUnknownError: the answer was lost, and no
        new job shows; nothing was sent again. :raises BmcError: whatever else the BMC says.
    """
    elapsed, watch = Elapsed(clock), Watch(patience, until_waiting)
    while True:
        jobs = await read_jobs(bmc)
        open_job = await _open_equal(bmc, wanted, jobs, equal)
        if open_job is not None:
            return replace(await _wait(bmc, open_job.id, watch, elapsed), reused=True)
        if blocking(jobs):
            await _idle(bmc, patience, elapsed)
            continue
        try:
            job_id = await _create(bmc, wanted, create, {job.id for job in jobs}, elapsed)
        except (BmcBusyError, BmcAnswerError) as error:
            if not isinstance(error, BmcBusyError) and not keys_of(error) & (BUSY | COMMITTED):
                raise
            await _way_free(bmc, error, elapsed, patience)
            continue
        if not job_id:
            return JobResult(None, End.NEVER_SEEN, waited_s=elapsed.now())
        return await _wait(bmc, job_id, watch, elapsed)


async def _create(
    bmc: Bmc, wanted: WantedJob, create: Callable[[], Awaitable[Reply]], before: set[str], elapsed: Elapsed
) -> str:
    """Send the request that makes the job. :returns: its id, empty when it was accepted and no job shows.

    :raises BmcOutcomeUnknownError: the answer was lost, and no new job shows.
    """
    try:
        reply = await create()
    except BmcOutcomeUnknownError as error:
        job_id = await _made(bmc, wanted, before, elapsed)
        if not job_id:
            raise BmcOutcomeUnknownError(
                f"the answer to the request for {wanted.words} was lost, and no new job shows; not repeated",
                bmc=str(bmc.target),
                hint="look at the job list, then run the command again",
            ) from error
        return job_id
    return job_id_of(reply.location, reply.body) or await _made(bmc, wanted, before, elapsed)


async def _open_equal(
    bmc: Bmc, wanted: WantedJob, jobs: Iterable[Job], equal: Callable[[Job], Awaitable[bool]] | None
) -> Job | None:
    """A job that waits for the same thing. :raises BmcBusyError: it does something else with it."""
    for job in jobs:
        if job.phase in (Phase.WAITING, Phase.RUNNING) and wanted.same_subject(job):
            if equal is None or await equal(job):
                return job
            raise _busy(bmc, [job], "is for the same thing, and brings other values or does not tell which")
    return None


async def _made(bmc: Bmc, wanted: WantedJob, before: set[str], elapsed: Elapsed) -> str:
    """Id of a job that was not there before and is for what was wanted; empty when none shows within half a minute."""
    until = elapsed.now() + PATIENCE.appear_s
    while True:
        try:
            jobs = await read_jobs(bmc)
        except SILENCE:
            await come_back(bmc, PATIENCE.appear_s)
            jobs = []
        new = [job for job in jobs if job.id not in before and wanted.same_subject(job)]
        if new:
            return new[0].id
        if elapsed.now() >= until:
            return ""
        await elapsed.wait(bmc, PATIENCE.poll_s)


async def _way_free(bmc: Bmc, error: BmcError, elapsed: Elapsed, patience: Patience) -> None:
    """After a refusal because of another job: wait a while for it, if it is one that ends by itself.

    :raises BmcBusyError: it waits for a reset, or does not end within the patience. It is left alone.
    """
    jobs = await read_jobs(bmc)
    waiting = [job for job in jobs if job.phase in (Phase.WAITING, Phase.STUCK)]
    if (waiting and not blocking(jobs)) or elapsed.now() >= patience.total_s:
        if waiting:
            raise _busy(bmc, waiting, "is in the way") from error
        raise BmcBusyError(
            error.message, bmc=str(bmc.target), hint="somebody else's job is in the way"
        ) from error
    await elapsed.wait(bmc, patience.slowest_s)


async def _seen(bmc: Bmc, job_id: str) -> Seen:
    try:
        return await find_job(bmc, job_id) or Unseen.NOT_THERE
    except BmcFingerprintError:
        raise  # another machine answers: waiting does not help
    except SILENCE:
        return Unseen.SILENT
    except BmcAnswerError as error:
        if error.status < 500:
            raise
        return Unseen.SILENT


async def _places(bmc: Bmc) -> list[tuple[Place, str]]:
    layout = await bmc.layout()
    places = [(Place.JOB, "/redfish/v1/JobService/Jobs"), (Place.TASK, "/redfish/v1/TaskService/Tasks")]
    if layout.idrac:
        places.insert(0, (Place.DELL, f"{layout.manager}/Oem/Dell/Jobs"))
    return places


def _busy(bmc: Bmc, jobs: list[Job], what: str) -> BmcBusyError:
    return BmcBusyError(
        f"job {jobs[0].words} {what}",
        bmc=str(bmc.target),
        hint="it is left alone; wait for it, or see bmc jobs list and bmc jobs clear --id",
    )
