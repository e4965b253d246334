"""The job queue of an iDRAC: what is scheduled, what runs, and what may not run beside it.

A configuration job waits for the next reset of the host, runs while the host goes through POST, and makes it boot once
more. Until it is over no other one of its device is taken (SYS011), and none at all while one runs (RAC0679).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

CONFIG_S = 90.0
"""How long a BIOS configuration job runs on a server of this size, in seconds."""
TASK_GONE_S = 4.0
"""Firmware before 7.10.30 forgets a finished task (not the job) within seconds (dell/iDRAC-Redfish-Scripting#275)."""


class JobState(StrEnum):
    """As ``JobState`` of a DellJob."""

    NEW = "New"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    COMPLETED = "Completed"
    WITH_ERRORS = "CompletedWithErrors"
    FAILED = "Failed"


OPEN = (JobState.NEW, JobState.SCHEDULED, JobState.RUNNING)
_MESSAGES = {
    "PR19": "Job completed successfully.",
    "PR20": "Job scheduled successfully.",
    "PR21": "Failed.",
    "PR22": "Job completed with errors.",
    "PR30": "Job scheduled with errors.",
    "JCP000": "New",
    "JCP001": "Task successfully scheduled.",
    "JCP007": "Job in progress.",
}


@dataclass
class Job:
    """One job.

    :param kind: ``JobType`` (``BIOSConfiguration``); :param on_reset: it waits for the host's next reset.
    :param work: carried out when it starts; False: it failed. :param dropped: when it is deleted before it started.
    :param outcome: how it will end.
    :param stuck: it stays Scheduled at 1 % with PR30 whatever happens. :param foreign: someone else made it.
    """

    id: str
    kind: str
    name: str
    target: str | None = None
    on_reset: bool = True
    duration_s: float = CONFIG_S
    work: Callable[[], bool] | None = None
    dropped: Callable[[], None] | None = None
    outcome: JobState = JobState.COMPLETED
    stuck: bool = False
    foreign: bool = False
    start_time: str = "TIME_NOW"
    state: JobState = JobState.SCHEDULED
    percent: int = 0
    message_id: str = "JCP001"
    created: datetime | None = None
    started: datetime | None = None
    stopped: datetime | None = None
    stopped_at: float = field(default=0.0, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in OPEN

    @property
    def message(self) -> str:
        """The text of its message id."""
        return _MESSAGES.get(self.message_id, self.message_id)


class JobQueue:
    """Jobs of one BMC. A test plants other people's jobs, lets one fail or get stuck, or looks at them.

    :ivar next_outcome: how jobs made from now on end; :ivar next_stuck: they get stuck.
    :ivar after_work: told when the last job that ran in a POST is over (the host boots again).
    """

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.jobs: dict[str, Job] = {}
        self.next_outcome = JobState.COMPLETED
        self.next_stuck = False
        self.after_work: Callable[[SimBmc], None] | None = None
        self._number = bmc.dice.randrange(100_000_000_000, 900_000_000_000)

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self.jobs.values()))

    def __len__(self) -> int:
        return len(self.jobs)

    def __getitem__(self, job_id: str) -> Job:
        return self.jobs[job_id]

    @property
    def running(self) -> Job | None:
        """The job that runs now."""
        return next((job for job in self if job.state is JobState.RUNNING), None)

    def committed(self, kind: str) -> Job | None:
        """The open job of this kind, which keeps others of it out."""
        return next((job for job in self if job.kind == kind and job.is_open), None)

    def new_id(self, prefix: str = "JID") -> str:
        """Twelve digits that grow."""
        self._number += self._bmc.dice.randrange(1_000, 900_000)
        return f"{prefix}_{self._number}"

    def schedule(
        self,
        kind: str,
        name: str,
        *,
        target: str | None = None,
        work: Callable[[], bool] | None = None,
        dropped: Callable[[], None] | None = None,
        on_reset: bool = True,
        duration_s: float = CONFIG_S,
    ) -> Job:
        """Make one; without ``on_reset`` it starts a moment later by itself."""
        stuck = self.next_stuck
        job = Job(
            id=self.new_id(),
            kind=kind,
            name=name,
            target=target,
            on_reset=on_reset,
            duration_s=duration_s,
            work=work,
            dropped=dropped,
            outcome=self.next_outcome,
            stuck=stuck,
            created=self._bmc.time(),
            percent=1 if stuck else 0,
            message_id="PR30" if stuck else "JCP001",
        )
        self.jobs[job.id] = job
        if not on_reset and not stuck:
            self._bmc.after(2.0, lambda: self._start(job))
        return job

    def plant(
        self,
        kind: str = "FirmwareUpdate",
        name: str = "Firmware Update: BIOS",
        *,
        state: JobState = JobState.SCHEDULED,
        duration_s: float = 600.0,
        stuck: bool = False,
        on_reset: bool = True,
    ) -> Job:
        """A job of someone else, in this state; a running one ends after ``duration_s``."""
        job = Job(
            id=self.new_id(),
            kind=kind,
            name=name,
            foreign=True,
            duration_s=duration_s,
            on_reset=on_reset,
            stuck=stuck,
            created=self._bmc.time(),
            percent=1 if stuck else 0,
            message_id="PR30" if stuck else "JCP001",
        )
        self.jobs[job.id] = job
        if state is JobState.RUNNING:
            self._start(job)
        elif state not in OPEN:
            job.outcome = state
            self._end(job)
        return job

    def host_reset(self) -> None:
        """POST begins: jobs that waited for it run now."""
        for job in self:
            if job.state is JobState.SCHEDULED and job.on_reset and not job.stuck:
                self._start(job)

    def delete(self, job_id: str) -> bool:
        """Take one out; one that runs stays, and False comes back."""
        job = self.jobs.get(job_id)
        if job is None or job.state is JobState.RUNNING:
            return False
        self._drop(job)
        return True

    def clear(self, *, force: bool = False) -> bool:
        """Take out all; without force those that run or are stuck stay, and False comes back."""
        for job in self:
            if force or not (job.state is JobState.RUNNING or job.stuck):
                self._drop(job)
        return not self.jobs

    def _drop(self, job: Job) -> None:
        del self.jobs[job.id]
        if job.state in (JobState.NEW, JobState.SCHEDULED) and job.dropped is not None:
            job.dropped()

    def _start(self, job: Job) -> None:
        if job.id not in self.jobs or not job.is_open:
            return
        job.state, job.message_id, job.percent = JobState.RUNNING, "JCP007", 5
        job.started = self._bmc.time()
        if job.work is not None and not job.work():
            job.outcome = JobState.FAILED
        self._bmc.after(job.duration_s / 2, lambda: self._half_way(job))
        self._bmc.after(job.duration_s, lambda: self._end(job))

    def _half_way(self, job: Job) -> None:
        if job.state is JobState.RUNNING:
            job.percent = 50

    def _end(self, job: Job) -> None:
        if job.id not in self.jobs or not job.is_open:
            return
        job.state = job.outcome
        job.message_id = {JobState.COMPLETED: "PR19", JobState.WITH_ERRORS: "PR22"}.get(job.state, "PR21")
        job.percent = 100
        job.stopped = self._bmc.time()
        job.started = job.started or job.stopped
        job.stopped_at = self._bmc.now()
        if job.on_reset and not job.foreign and self.running is None and self.after_work is not None:
            self.after_work(self._bmc)
