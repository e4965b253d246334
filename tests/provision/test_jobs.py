"""Jobs of a BMC: states, the three places, waits that end, jobs that are made at most once."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcBusyError, BmcOutcomeUnknownError, BmcUnreachableError
from provision.bmc.job_watch import End, Patience, Seen, Unseen, Watch, look
from provision.bmc.jobs import Job, Phase, Place, WantedJob, job_id_of, merge_jobs, read_job
from provision.bmc.reply import Reply
from provision.workflows.job_runner import ensure_job, read_jobs, wait_job
from tests.provision.stateful_bmc import DGX, StatefulBmc, refusal, run

DELL_JOBS = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs"
JOBS = "/redfish/v1/JobService/Jobs"
TASKS = "/redfish/v1/TaskService/Tasks"
BIOS = WantedJob("BIOSConfiguration", "BIOS.Setup.1-1", "a BIOS job")
SOON = Patience(total_s=600)


def dell(
    job_id: str, state: str, key: str = "", kind: str = "BIOSConfiguration", **more: Any
) -> dict[str, Any]:
    """A body shaped as in the R750 capture (iDRAC9 6.00.30)."""
    return {
        "@odata.id": f"{DELL_JOBS}/{job_id}",
        "@odata.type": "#DellJob.v1_2_0.DellJob",
        "EndTime": "TIME_NA",
        "Id": job_id,
        "JobState": state,
        "JobType": kind,
        "Message": "",
        "MessageId": key,
        "Name": "Configure: BIOS.Setup.1-1",
        "PercentComplete": 0,
        "StartTime": "TIME_NOW",
        "TargetSettingsURI": None,
        **more,
    }


class Queue:
    """A job queue that a test fills: state by time."""

    def __init__(self) -> None:
        self.jobs: dict[str, Any] = {}
        self.bmc = StatefulBmc({DELL_JOBS: self._list, JOBS: {"Members": []}, TASKS: {"Members": []}})

    def _list(self, now: float) -> Any:
        return {"Members": [body for job in self.jobs if (body := self.read(job, now)) is not None]}

    def read(self, job: str, now: float) -> Any:
        held = self.jobs[job]
        return held(now) if callable(held) else held

    def add(self, job_id: str, body: Any) -> None:
        self.jobs[job_id] = body
        self.bmc.resources[f"{DELL_JOBS}/{job_id}"] = lambda now: self.read(job_id, now)

    def creates(self, *answers: Any) -> Any:
        """A request that makes a job; each call gives the next answer."""
        left = iter(answers)

        async def create() -> Reply:
            answer = next(left)
            if callable(answer):
                answer = answer()
            if isinstance(answer, Exception):
                raise answer
            assert isinstance(answer, Reply)
            return answer

        return create


def ends(job_id: str, after: float, state: str = "Completed", key: str = "PR19") -> Any:
    return lambda now: dell(job_id, state, key) if now >= after else dell(job_id, "Running", "PR20")


@pytest.mark.parametrize(
    ("state", "key", "phase"),
    [
        ("Scheduled", "JCP001", Phase.WAITING),
        ("Scheduled", "PR30", Phase.STUCK),
        ("New", "", Phase.RUNNING),
        ("Running", "PR20", Phase.RUNNING),
        ("Completed", "PR19", Phase.DONE),
        ("Failed", "PR21", Phase.FAILED),
        ("Completed", "PR21", Phase.FAILED),
        ("CompletedWithErrors", "", Phase.DONE_WITH_ERRORS),
        ("RebootCompleted", "RED030", Phase.DONE),
        ("Exception", "", Phase.FAILED),
        ("Rebooting the moon", "", Phase.UNKNOWN),
    ],
)
def test_the_phase_of_a_job_comes_from_its_state_and_message_id(state: str, key: str, phase: Phase) -> None:
    job = read_job(dell("JID_1", state, key), Place.DELL)
    assert job is not None
    assert job.phase is phase


def test_the_text_of_a_job_is_never_looked_at() -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/266
    body = dell("JID_1", "Completed", "RED001", Message="Completed, server reboot pending")
    job = read_job(body, Place.DELL)
    assert job is not None
    assert job.phase is Phase.DONE


def test_a_dgx_task_that_ended_in_an_exception_has_failed() -> None:
    body = {"Id": "9", "Name": "Computer Reset", "TaskState": "Exception", "TaskStatus": "OK",
            "Messages": [{"MessageId": "Base.1.12.ActionNotSupported", "Message": "unsuccessful"}]}  # fmt: skip
    job = read_job(body, Place.TASK)
    assert job is not None
    assert job.phase is Phase.FAILED
    assert job.key == "ActionNotSupported"


def test_one_job_in_three_places_is_one_job_with_the_fullest_fields() -> None:
    task = {"Id": "JID_1", "Name": "ConfigBIOS:BIOS.Setup.1-1", "TaskState": "Completed", "TaskStatus": "OK",
            "Payload": {"TargetUri": "/redfish/v1/Systems/System.Embedded.1/Bios/Settings"}}  # fmt: skip
    job = {"Id": "JID_1", "Name": "ConfigBIOS:BIOS.Setup.1-1", "JobState": "Completed", "JobStatus": "OK"}
    seen = [
        read_job(task, Place.TASK),
        read_job(job, Place.JOB),
        read_job(dell("JID_1", "Completed", "PR19"), Place.DELL),
    ]
    (merged,) = merge_jobs(one for one in seen if one is not None)
    assert merged.kind == "BIOSConfiguration"
    assert merged.key == "PR19"
    assert merged.health == "OK"
    assert merged.target.endswith("/Bios/Settings")
    assert merged.places == (Place.DELL, Place.JOB, Place.TASK)


@pytest.mark.captures
def test_the_job_of_the_r750_capture_is_found_in_two_places_and_done(captures: Any) -> None:
    import json

    dump = json.loads((captures / "redfish" / "dell_r750_h100_ib_idrac9_6.00.30.json").read_text())
    (job,) = run(read_jobs(StatefulBmc(dump)))
    assert (job.id, job.kind, job.phase, job.ended) == (
        "JID_102241909559",
        "BIOSConfiguration",
        Phase.DONE,
        "2024-03-26T22:17:44",
    )
    assert job.places == (Place.DELL, Place.JOB)


@pytest.mark.captures
def test_the_tasks_of_a_dgx_are_its_jobs(captures: Any) -> None:
    import json

    dump = json.loads((captures / "redfish" / "nvidia_dgx_h100_8xCX7.json").read_text())
    jobs = run(read_jobs(StatefulBmc(dump, DGX)))
    assert [job.id for job in jobs] == [str(number) for number in range(1, 10)]
    assert all(job.phase.over for job in jobs)


def test_a_job_is_told_by_the_location_of_an_answer() -> None:
    assert job_id_of("/redfish/v1/TaskService/Tasks/JID_1?x=1") == "JID_1"
    assert job_id_of("https://192.0.2.1/redfish/v1/Managers/iDRAC.Embedded.1/Jobs/JID_1/") == "JID_1"
    assert job_id_of("", {"@odata.type": "#Task.v1_4_2.Task", "Id": "7"}) == "7"
    assert job_id_of("", {"@odata.type": "#Bios.v1_2_0.Bios", "Id": "Settings"}) == ""


words = st.sampled_from(
    ["New", "Scheduled", "Running", "Waiting", "Completed", "Failed", "CompletedWithErrors", "Nonsense", ""]
)
looks: st.SearchStrategy[Seen] = st.one_of(
    st.sampled_from(list(Unseen)),
    st.builds(Job, st.just("JID_1"), state=words, key=st.sampled_from(["", "PR19", "PR21", "PR30"])),
)


@given(st.lists(looks, min_size=1, max_size=8), st.booleans(), st.floats(0, 20))
def test_every_wait_for_a_job_ends_within_its_patience(
    seen: list[Seen], until_waiting: bool, slow: float
) -> None:
    patience = Patience(total_s=300, silence_s=120)
    watch, at = Watch(patience, until_waiting), 0.0
    for number, one in enumerate(itertools.cycle(seen)):
        watch, step = look(watch, at, one)
        if isinstance(step, End):
            break
        assert step > 0
        at += step + slow
        assert number < 1000
    assert at <= patience.total_s + patience.slowest_s + 20
    if step is End.SETTLED:
        assert watch.last is not None
        assert watch.last.phase.over or until_waiting


def test_a_job_is_waited_for_until_it_ends() -> None:
    queue = Queue()
    queue.add("JID_1", ends("JID_1", 200))
    result = run(wait_job(queue.bmc, "JID_1", clock=lambda: 0.0))
    assert result.ok
    assert result.phase is Phase.DONE
    assert 200 <= result.waited_s <= 230


def test_a_stuck_job_is_not_waited_for() -> None:
    queue = Queue()
    queue.add("JID_1", dell("JID_1", "Scheduled", "PR30", PercentComplete=1))
    result = run(wait_job(queue.bmc, "JID_1", clock=lambda: 0.0))
    assert not result.ok
    assert result.phase is Phase.STUCK
    assert result.waited_s == 0


def test_a_bmc_that_is_silent_for_nine_minutes_is_waited_for() -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/231
    queue = Queue()
    queue.add("JID_1", ends("JID_1", 700, key="RED001"))
    queue.bmc.silent = lambda now: BmcUnreachableError("refused", bmc="gpu001") if 60 < now < 600 else None
    result = run(wait_job(queue.bmc, "JID_1", clock=lambda: 0.0))
    assert result.ok
    assert result.waited_s >= 700


def test_a_bmc_that_never_comes_back_ends_the_wait() -> None:
    queue = Queue()
    queue.add("JID_1", dell("JID_1", "Running"))
    queue.bmc.silent = lambda now: BmcUnreachableError("refused", bmc="gpu001") if now > 60 else None
    result = run(wait_job(queue.bmc, "JID_1", clock=lambda: 0.0))
    assert result.end is End.SILENT
    assert not result.ok
    assert 600 <= result.waited_s <= 720


def test_a_job_that_was_deleted_by_itself_is_said_to_be_gone() -> None:
    queue = Queue()
    queue.add("JID_1", lambda now: dell("JID_1", "Running") if now < 60 else None)
    result = run(wait_job(queue.bmc, "JID_1", clock=lambda: 0.0))
    assert result.end is End.GONE
    assert not result.ok
    assert "deleted" in result.words


def test_a_pending_equal_job_is_awaited_and_no_second_is_made() -> None:
    # https://github.com/quadsproject/badfish/issues/29
    queue = Queue()
    queue.add("JID_1", dell("JID_1", "Scheduled", "JCP001"))
    result = run(ensure_job(queue.bmc, BIOS, queue.creates(), until_waiting=True, clock=lambda: 0.0))
    assert result.reused
    assert result.ok
    assert result.job is not None
    assert result.job.id == "JID_1"


def test_a_running_equal_job_is_awaited_and_no_second_is_made() -> None:
    queue = Queue()
    queue.add("JID_1", ends("JID_1", 50))
    result = run(ensure_job(queue.bmc, BIOS, queue.creates(), clock=lambda: 0.0))
    assert result.reused
    assert result.phase is Phase.DONE


def test_a_pending_job_with_other_values_is_left_alone_and_named() -> None:
    queue = Queue()
    queue.add("JID_1", dell("JID_1", "Scheduled", "JCP001"))

    async def differs(job: Job) -> bool:
        return job.id != "JID_1"

    with pytest.raises(BmcBusyError, match="JID_1"):
        run(ensure_job(queue.bmc, BIOS, queue.creates(), equal=differs, clock=lambda: 0.0))
    assert queue.bmc.sent == []


def test_a_running_job_of_somebody_else_is_awaited_before_one_is_made() -> None:
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/113
    queue = Queue()
    queue.add(
        "JID_1", lambda now: dell("JID_1", "Running" if now < 90 else "Completed", kind="FirmwareUpdate")
    )

    def made() -> Reply:
        assert queue.bmc.now >= 90
        queue.add("JID_2", dell("JID_2", "Scheduled", "JCP001"))
        return Reply("", 202, {"location": f"{TASKS}/JID_2"})

    result = run(ensure_job(queue.bmc, BIOS, queue.creates(made), until_waiting=True, clock=lambda: 0.0))
    assert result.ok
    assert not result.reused
    assert result.job is not None
    assert result.job.id == "JID_2"
    assert queue.bmc.sent == []


@pytest.mark.parametrize("key", ["RAC0679", "LC068"])
def test_a_refused_request_for_a_job_is_sent_again_once_the_way_is_free(key: str) -> None:
    queue = Queue()

    def made() -> Reply:
        queue.add("JID_2", dell("JID_2", "Scheduled", "JCP001"))
        return Reply("", 202, {"location": f"{TASKS}/JID_2"})

    create = queue.creates(refusal(503, key), refusal(503, key), made)
    result = run(ensure_job(queue.bmc, BIOS, create, until_waiting=True, clock=lambda: 0.0))
    assert result.ok
    assert result.job is not None
    assert result.job.id == "JID_2"


def test_a_bmc_that_stays_busy_is_said_to_be_busy_and_nothing_is_cleared() -> None:
    queue = Queue()
    create = queue.creates(*[refusal(503, "RAC0679")] * 100)
    with pytest.raises(BmcBusyError):
        run(ensure_job(queue.bmc, BIOS, create, patience=SOON, clock=lambda: 0.0))
    assert queue.bmc.sent == []
    assert queue.bmc.now <= 700


def test_another_refusal_is_not_repeated() -> None:
    queue = Queue()
    error = refusal(400, "SYS410")
    with pytest.raises(type(error)):
        run(ensure_job(queue.bmc, BIOS, queue.creates(error), clock=lambda: 0.0))


def test_a_job_whose_answer_was_lost_is_found_in_the_queue() -> None:
    queue = Queue()

    def lost() -> Any:
        queue.add("JID_2", lambda now: dell("JID_2", "Scheduled", "JCP001") if now > 5 else None)
        return BmcOutcomeUnknownError("the answer was lost", bmc="gpu001")

    result = run(ensure_job(queue.bmc, BIOS, queue.creates(lost), until_waiting=True, clock=lambda: 0.0))
    assert result.ok
    assert result.job is not None
    assert result.job.id == "JID_2"


def test_a_request_that_was_lost_on_the_way_is_not_repeated() -> None:
    queue = Queue()
    create = queue.creates(BmcOutcomeUnknownError("the answer was lost", bmc="gpu001"))
    with pytest.raises(BmcOutcomeUnknownError, match="not repeated"):
        run(ensure_job(queue.bmc, BIOS, create, clock=lambda: 0.0))
