"""Jobs over Redfish: in Dell's queue, in the standard JobService and as tasks; made, deleted and cleared."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.jobs import TASK_GONE_S, Job, JobQueue, JobState
from tests.sim.idrac.lifecycle import Lifecycle
from tests.sim.idrac.messages import Text, known, message, refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Moment, Tree
from tests.sim.idrac.where import BIOS_SETTINGS, DELL_JOBS, JOBS, OEM, ROOT, SYSTEM, TASKS

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SERVICE = f"{OEM}/DellJobService"
BOOT_SETTINGS = (f"{SYSTEM}/Oem/Dell/DellBootSources/Settings", f"{SYSTEM}/BootSources/Settings")
DELETE_QUEUE = f"{SERVICE}/Actions/DellJobService.DeleteJobQueue"
FORCED_RESTART_S = 120.0
"""After JID_CLEARALL_FORCE the data manager restarts: about two minutes with an empty Systems (jetlag#778)."""

known("SUP020", Text("The specified job was deleted.", "No response action is required.", "OK", 200))
known(
    "SUP023", Text("The job {0} is invalid.", "Enter the id of a job in the queue and retry the operation.")
)
known(
    "BIOS008",
    Text("No pending data is present to create a configuration job.", "Set attributes first.", "Warning"),
)

_ID = r"(?P<id>[JR]ID_\d+)"
_STANDARD = {JobState.SCHEDULED: "Pending", JobState.WITH_ERRORS: "Completed", JobState.FAILED: "Exception"}
_STATUS = {JobState.WITH_ERRORS: "Warning", JobState.FAILED: "Critical"}


def _dell_time(when: datetime | None) -> str | None:
    return when.replace(tzinfo=None, microsecond=0).isoformat() if when else None


def _offset_time(when: datetime | None) -> str | None:
    return when.replace(microsecond=0).isoformat() if when else None


def _fields(job: Job) -> Body:
    return {
        "ActualRunningStartTime": _dell_time(job.started),
        "ActualRunningStopTime": _dell_time(job.stopped),
        "CompletionTime": _dell_time(job.stopped),
        "Description": "Job Instance",
        "EndTime": "TIME_NA",
        "Id": job.id,
        "JobState": str(job.state),
        "JobType": job.kind,
        "Message": job.message,
        "MessageArgs": [],
        "MessageArgs@odata.count": 0,
        "MessageId": job.message_id,
        "Name": job.name,
        "PercentComplete": job.percent,
        "StartTime": job.start_time,
        "TargetSettingsURI": job.target,
    }


def dell_job(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    """``Managers/…/Oem/Dell/Jobs/JID_…``."""
    job = bmc.part(JobQueue).jobs.get(match["id"])
    if job is None:
        return None
    return {
        "@odata.context": f"{ROOT}/$metadata#DellJob.DellJob",
        "@odata.id": f"{DELL_JOBS}/{job.id}",
        "@odata.type": "#DellJob.v1_2_0.DellJob"
        if bmc.profile is Profile.IDRAC9_6
        else "#DellJob.v1_5_0.DellJob",
        **_fields(job),
    }


def _messages(bmc: SimBmc, job: Job) -> Body:
    registry = bmc.profile.value.registry
    said = {"Message": job.message, "MessageArgs": [], "MessageArgs@odata.count": 0}
    said["MessageId"] = f"{registry}.{job.message_id}"
    return {"Messages": [said], "Messages@odata.count": 1}


def standard_job(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    """``JobService/Jobs/JID_…``."""
    job = bmc.part(JobQueue).jobs.get(match["id"])
    if job is None:
        return None
    return {
        "@odata.context": f"{ROOT}/$metadata#Job.Job",
        "@odata.id": f"{JOBS}/{job.id}",
        "@odata.type": "#Job.v1_0_7.Job",
        "Description": "Represent a job in Redfish",
        "Id": job.id,
        "Name": job.name.replace("Configure: BIOS", "ConfigBIOS:BIOS"),
        "JobState": _STANDARD.get(job.state, str(job.state)),
        "JobStatus": _STATUS.get(job.state, "OK"),
        "PercentComplete": job.percent,
        "StartTime": _offset_time(job.created),
        "EndTime": _offset_time(job.stopped) or "TIME_NA",
        **_messages(bmc, job),
    }


def _is_task(bmc: SimBmc, job: Job) -> bool:
    """Whether the task service still knows it: firmware of before 2024 forgets tasks that ended."""
    if job.is_open or bmc.profile is not Profile.IDRAC9_6:
        return True
    return bmc.now() - job.stopped_at < TASK_GONE_S


def task(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    """``TaskService/Tasks/JID_…``."""
    job = bmc.part(JobQueue).jobs.get(match["id"])
    if job is None or not _is_task(bmc, job):
        return None
    return {
        "@odata.context": f"{ROOT}/$metadata#Task.Task",
        "@odata.id": f"{TASKS}/{job.id}",
        "@odata.type": "#Task.v1_5_1.Task",
        "Description": "Server Configuration and other Tasks running on iDRAC are listed here",
        "EndTime": _offset_time(job.stopped) or "TIME_NA",
        "Id": job.id,
        "Name": job.name,
        "Oem": {"Dell": {"@odata.type": "#DellJob.v1_2_0.DellJob", **_fields(job)}},
        "PercentComplete": job.percent,
        "StartTime": _offset_time(job.created),
        "TaskState": _STANDARD.get(job.state, str(job.state)),
        "TaskStatus": _STATUS.get(job.state, "OK"),
        **_messages(bmc, job),
    }


def accepted(bmc: SimBmc, job: Job) -> Answer:
    """202 with where the job is; messages as an iDRAC9's."""
    said = {"@Message.ExtendedInfo": [message(bmc.profile, "Success"), message(bmc.profile, "SYS413")]}
    return Answer(202, said, {"Location": f"{TASKS}/{job.id}"})


def refuse_when_running(bmc: SimBmc) -> None:
    """No other job operation while one runs.

    :raises RefusedError: RAC0679; or RAC0508 while the Lifecycle Controller restarts.
    """
    if bmc.part(Lifecycle).restarting:
        raise refused(bmc.profile, "RAC0508")
    if bmc.part(JobQueue).running is not None:
        raise refused(bmc.profile, "RAC0679")


def _create(call: Call) -> Answer:
    """POST to Dell's queue: make a configuration job of what is pending at ``TargetSettingsURI``."""
    from tests.sim.idrac.bios import Bios
    from tests.sim.idrac.boot_sources import BootSources

    bmc, target = call.bmc, call.body.get("TargetSettingsURI")
    if not isinstance(target, str):
        raise refused(bmc.profile, "PropertyMissing", "TargetSettingsURI")
    refuse_when_running(bmc)
    # Boot order and attributes are both of BIOS.Setup.1-1: one job applies what is pending of either.
    if target.rstrip("/") not in (BIOS_SETTINGS, *BOOT_SETTINGS):
        raise refused(bmc.profile, "SYS426", target, "TargetSettingsURI")
    bios = bmc.part(Bios)
    if bmc.part(JobQueue).committed("BIOSConfiguration"):
        raise refused(bmc.profile, "SYS011")
    if not bios.pending and not bmc.part(BootSources).pending:
        raise refused(bmc.profile, "BIOS008")
    job = bios.commit()
    answer = success(bmc.profile)
    answer.headers["Location"] = f"{DELL_JOBS}/{job.id}"
    return answer


def _delete(call: Call) -> Answer:
    queue = call.bmc.part(JobQueue)
    if call.part("id") not in queue.jobs:
        raise refused(call.bmc.profile, "SYS403", call.path)
    if not queue.delete(call.part("id")):
        raise refused(call.bmc.profile, "RAC0679")
    return success(call.bmc.profile)


def _delete_queue(call: Call) -> Answer:
    """DeleteJobQueue: one job, all, or all by force."""
    bmc, wanted = call.bmc, call.body.get("JobID")
    queue = bmc.part(JobQueue)
    if not isinstance(wanted, str):
        raise refused(bmc.profile, "ActionParameterMissing", "DellJobService.DeleteJobQueue", "JobID")
    if wanted in ("JID_CLEARALL", "JID_CLEARALL_FORCE"):
        force = wanted.endswith("FORCE")
        if not queue.clear(force=force):
            raise refused(bmc.profile, "RAC0679")
        if force:
            bmc.part(Lifecycle).restart(FORCED_RESTART_S)
    elif wanted not in queue.jobs:
        raise refused(bmc.profile, "SUP023", wanted)
    elif not queue.delete(wanted):
        raise refused(bmc.profile, "RAC0679")
    said = [message(bmc.profile, "Success"), message(bmc.profile, "SUP020")]
    return Answer(200, {"@Message.ExtendedInfo": said})


def _services(tree: Tree) -> None:
    def job_service(bmc: SimBmc) -> Body:
        return {
            "@odata.context": f"{ROOT}/$metadata#JobService.JobService",
            "@odata.id": f"{ROOT}/JobService",
            "@odata.type": "#JobService.v1_0_4.JobService",
            "DateTime": _offset_time(bmc.time()),
            "Description": "Represent a job service for a Redfish",
            "Id": "JobService",
            "Jobs": {"@odata.id": JOBS},
            "Log": {"@odata.id": f"{ROOT}/Managers/iDRAC.Embedded.1/LogServices/Lclog"},
            "Name": "Job Service",
            "ServiceCapabilities": {"MaxJobs": 256, "MaxSteps": 1, "Scheduling": True},
            "ServiceEnabled": True,
            "Status": {"Health": "OK", "State": "Enabled"},
        }

    def task_service(bmc: SimBmc) -> Body:
        return {
            "@odata.context": f"{ROOT}/$metadata#TaskService.TaskService",
            "@odata.id": f"{ROOT}/TaskService",
            "@odata.type": "#TaskService.v1_2_0.TaskService",
            "DateTime": _offset_time(bmc.time()),
            "Description": "Represents the properties for the service itself and has links to the actual list of "
            "Tasks",
            "Id": "TaskService",
            "Name": "Task Service",
            "ServiceEnabled": True,
            "Status": {"Health": "OK", "State": "Enabled"},
            "Tasks": {"@odata.id": TASKS},
        }

    def dell_service(bmc: SimBmc) -> Body:
        actions: Body = {"#DellJobService.DeleteJobQueue": {"target": DELETE_QUEUE}}
        return {
            "@odata.context": f"{ROOT}/$metadata#DellJobService.DellJobService",
            "@odata.id": SERVICE,
            "@odata.type": "#DellJobService.v1_2_0.DellJobService",
            "Actions": actions,
            "CurrentNumberOfJobs": len(bmc.part(JobQueue)),
            "DeleteOnCompletionTimeoutMinutes": 2880,
            "Description": "The DellJobService resource provides some actions to support Job management functionality.",
            "Id": "Job Service",
            "MaximumNumberOfJobs": 256,
            "Name": "DellJobService",
            "StartAutoDeleteAtThreshold": 128,
        }

    tree.live(f"{ROOT}/JobService", job_service)
    tree.live(f"{ROOT}/TaskService", task_service)
    tree.live(SERVICE, dell_service)


def install(tree: Tree, _profile: Profile) -> None:
    """Jobs, wherever an iDRAC shows them."""
    _services(tree)

    def ids(bmc: SimBmc) -> list[str]:
        return [job.id for job in bmc.part(JobQueue)]

    tree.collection(
        DELL_JOBS,
        "DellJobCollection",
        lambda bmc: [f"{DELL_JOBS}/{job_id}" for job_id in ids(bmc)],
        name="JobQueue",
        about="Collection of Job Instances",
        paged=True,
    )
    tree.collection(
        JOBS,
        "JobCollection",
        lambda bmc: [f"{JOBS}/{job_id}" for job_id in ids(bmc)],
        name="JobCollection",
        about="A Collection of Job resource instances",
    )
    tree.collection(
        TASKS,
        "TaskCollection",
        lambda bmc: [f"{TASKS}/{job.id}" for job in bmc.part(JobQueue) if _is_task(bmc, job)],
        about="Collection of Tasks",
    )
    tree.family(rf"{DELL_JOBS}/{_ID}", dell_job)
    tree.family(rf"{JOBS}/{_ID}", standard_job)
    tree.family(rf"{TASKS}/{_ID}", task)
    tree.on("POST", DELL_JOBS, _create)
    for place in (DELL_JOBS, JOBS):
        tree.on_pattern("DELETE", rf"{place}/{_ID}", _delete)
    tree.on("POST", DELETE_QUEUE, _delete_queue)
    tree.at(Moment.POST_STARTED, lambda bmc: bmc.part(JobQueue).host_reset())
