"""Jobs of a BMC: one value for the three places they live in, and where each of their states leads.

An iDRAC shows one job as ``Managers/…/Oem/Dell/Jobs/JID_…`` (the fullest form), ``JobService/Jobs/JID_…`` and
``TaskService/Tasks/JID_…``; tasks of the last place are deleted by themselves some time after their end. Other
services have tasks only. What a job came to is told by ``JobState`` and the message id, never by the sentence:
texts differ between firmware versions ("Completed, server reboot pending").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from provision.bmc.json_bodies import EMPTY, inner, last, objects, text
from provision.bmc.reply import message_key


class Phase(StrEnum):
    """How far a job is."""

    WAITING = "waiting"
    """Accepted; it begins at the next reset, or at its time."""
    RUNNING = "running"
    DONE = "done"
    DONE_WITH_ERRORS = "done with errors"
    FAILED = "failed"
    STUCK = "stuck"
    """It will never run: the BMC could not prepare it (PR30), but still calls it scheduled."""
    UNKNOWN = "unknown"
    """A word nobody knows: neither an end nor progress."""

    @property
    def over(self) -> bool:
        """Nothing more will come of it."""
        return self in (Phase.DONE, Phase.DONE_WITH_ERRORS, Phase.FAILED, Phase.STUCK)


_PHASES: Mapping[str, Phase] = {
    # DellJob.JobState
    "New": Phase.RUNNING,
    "Scheduled": Phase.WAITING,
    "Scheduling": Phase.RUNNING,
    "Downloading": Phase.RUNNING,
    "Downloaded": Phase.RUNNING,
    "ReadyForExecution": Phase.RUNNING,
    "Waiting": Phase.WAITING,
    "Paused": Phase.WAITING,
    "Running": Phase.RUNNING,
    "RebootPending": Phase.RUNNING,
    "PendingActivation": Phase.WAITING,
    "Completed": Phase.DONE,
    "RebootCompleted": Phase.DONE,
    "CompletedWithErrors": Phase.DONE_WITH_ERRORS,
    "Failed": Phase.FAILED,
    "RebootFailed": Phase.FAILED,
    # Job.JobState and Task.TaskState (DSP8010) where they have words of their own
    "Starting": Phase.RUNNING,
    "Pending": Phase.WAITING,
    "Suspended": Phase.WAITING,
    "Service": Phase.RUNNING,
    "Continue": Phase.RUNNING,
    "Validating": Phase.RUNNING,
    "UserIntervention": Phase.WAITING,
    "Stopping": Phase.RUNNING,
    "Cancelling": Phase.RUNNING,
    "Interrupted": Phase.FAILED,
    "Cancelled": Phase.FAILED,
    "Killed": Phase.FAILED,
    "Exception": Phase.FAILED,
    "Invalid": Phase.FAILED,
}
_FAILED_KEYS = frozenset({"PR21"})
_STUCK_KEYS = frozenset({"PR30"})
_NO_TIME = ("TIME_NA", "TIME_NOW")


class Place(StrEnum):
    """Where a job was seen, the fullest form first."""

    DELL = "Oem/Dell/Jobs"
    JOB = "JobService/Jobs"
    TASK = "TaskService/Tasks"


@dataclass(frozen=True, slots=True)
class Job:
    """One job or task.

    :param kind: Dell's job type (``BIOSConfiguration``), empty when the place does not tell.
    :param state: the wire's word; :param health: ``OK``, ``Warning``, ``Critical`` of job or task status.
    :param key: message id without registry and version (``PR19``); :param text: its sentence, for people only.
    :param percent: None when not told; :param started: and ``ended`` as written, empty when none.
    :param target: what it changes, a path or an FQDD as far as told; :param places: where it was seen.
    """

    id: str
    name: str = ""
    kind: str = ""
    state: str = ""
    health: str = ""
    key: str = ""
    text: str = ""
    percent: int | None = None
    started: str = ""
    ended: str = ""
    target: str = ""
    places: tuple[Place, ...] = ()

    @property
    def phase(self) -> Phase:
        """From state and message id; of two that contradict each other the worse one counts."""
        phase = _PHASES.get(self.state, Phase.UNKNOWN)
        if self.key in _STUCK_KEYS and not phase.over:
            # R760 with BOSS (public report, June 2025): Scheduled at 1 % with PR30 for good; waiting for the end of
            # such a job waits for ever
            return Phase.STUCK
        if self.key in _FAILED_KEYS or (phase is Phase.DONE and self.health == "Critical"):
            return Phase.FAILED
        if phase is Phase.DONE and self.health == "Warning":
            return Phase.DONE_WITH_ERRORS
        return phase

    @property
    def words(self) -> str:
        """For people: ``JID_1 (BIOSConfiguration, Scheduled, PR30: Job processing initialization failure.)``."""
        said = ": ".join(part for part in (self.key, self.text) if part)
        inside = ", ".join(part for part in (self.kind or self.name, self.state, said) if part)
        return f"{self.id} ({inside})" if inside else self.id


def read_job(body: Mapping[str, Any], place: Place) -> Job | None:
    """One member of a place, None when it has no id."""
    job_id = text(body.get("Id")) or last(text(body.get("@odata.id")))
    if not job_id:
        return None
    latest = next(reversed(list(objects(body, "Messages"))), EMPTY)
    percent = body.get("PercentComplete")
    begun = _moment(body, "ActualRunningStartTime", "StartTime")
    ended = _moment(body, "ActualRunningStopTime", "CompletionTime", "EndTime")
    return Job(
        id=job_id,
        name=text(body.get("Name")),
        kind=text(body.get("JobType")),
        state=text(body.get("JobState") or body.get("TaskState")),
        health=text(body.get("JobStatus") or body.get("TaskStatus")),
        key=message_key(text(body.get("MessageId")) or text(latest.get("MessageId"))),
        text=text(body.get("Message")) or text(latest.get("Message")),
        percent=percent if isinstance(percent, int) and not isinstance(percent, bool) else None,
        started=begun,
        ended=ended,
        target=_target(body),
        places=(place,),
    )


def merge_jobs(jobs: Iterable[Job]) -> list[Job]:
    """One job for each id, its fields taken from the fullest place that tells them; in the order first seen."""
    order = list(Place)
    found: dict[str, Job] = {}
    for job in jobs:
        before = found.get(job.id)
        found[job.id] = (
            job if before is None else _merged(*sorted((before, job), key=lambda j: order.index(j.places[0])))
        )
    return list(found.values())


def _merged(first: Job, second: Job) -> Job:
    taken = {
        name: getattr(first, name) or getattr(second, name)
        for name in ("name", "kind", "state", "health", "key", "text", "started", "ended", "target")
    }
    percent = first.percent if first.percent is not None else second.percent
    places = tuple(place for place in Place if place in first.places + second.places)
    return replace(first, **taken, percent=percent, places=places)


def job_id_of(location: str, body: Any = None) -> str:
    """Id of the job an answer tells of: by its ``Location``, else by the task in its body; empty when none is told."""
    told = last(location.partition("?")[0])
    if told or not isinstance(body, Mapping):
        return told
    kind = text(body.get("@odata.type"))
    return text(body.get("Id")) if "Task" in kind or "Job" in kind else ""


@dataclass(frozen=True, slots=True)
class WantedJob:
    """A job somebody wants made.

    :param kind: Dell's job type; :param target: FQDD that the job's name ends with (``BIOS.Setup.1-1``).
    :param words: for people: ``a BIOS job``.
    """

    kind: str
    target: str = ""
    words: str = "the job"

    def same_subject(self, job: Job) -> bool:
        """Whether a job changes the same thing. The name tells it where the kind is not known."""
        named = bool(self.target) and (self.target in job.name or self.target in job.target)
        if job.kind:
            return job.kind == self.kind and (named or not self.target)
        return named


def blocking(jobs: Iterable[Job]) -> list[Job]:
    """Jobs that keep the BMC from taking another configuration job: those that run."""
    return [job for job in jobs if job.phase is Phase.RUNNING]


def _target(body: Mapping[str, Any]) -> str:
    return text(body.get("TargetSettingsURI")) or text(inner(body, "Payload").get("TargetUri"))


def _moment(body: Mapping[str, Any], *names: str) -> str:
    said = (text(body.get(name)) for name in names)
    return next((one for one in said if one and one not in _NO_TIME), "")
