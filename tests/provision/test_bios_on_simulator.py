"""BIOS settings over the wire: written once, applied by a restart, read back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from fabricctl.errors import BmcBusyError, BmcError
from provision.bmc.outcome import Outcome
from provision.bmc.power import PowerRequest
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import FleetOptions, ask
from provision.workflows.bios import BiosResult, BiosWrite, write_bios
from provision.workflows.power import PowerOptions, set_power
from tests.sim.idrac import Fault, Profile, SimBmc, Simulator
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.jobs import JobQueue, JobState

SPEED = 200.0
"""Simulated seconds per second, and how much faster waiting is."""
WANTED = {"SysProfile": "PerfOptimized", "LogicalProc": "Enabled"}
Start = Callable[..., Simulator]


def start(simulator: Start, first: str, profile: Profile = Profile.IDRAC9_7, count: int = 1) -> Simulator:
    sim = simulator(count, profile=profile, first=first, speed=SPEED)
    for bmc in sim:
        bmc.part(Bios).current.update(SysProfile="PerfPerWattOptimizedDapc", LogicalProc="Disabled")
    return sim


def write(sim: Simulator, *, writes: bool = True, **options: bool) -> list[Outcome[BiosResult]]:
    async def restart(bmc: Bmc) -> object:
        return await set_power(bmc, PowerRequest.CYCLE, PowerOptions())

    async def work(bmc: Bmc) -> BiosResult:
        return await write_bios(bmc, WANTED, BiosWrite(**options), restart)

    fast = FleetOptions(
        credentials=lambda _: Credentials("root", Secret(sim.password)),
        writes=writes,
        sleep=lambda seconds: asyncio.sleep(seconds / SPEED),
        clock=lambda: time.monotonic() * SPEED,
        reaper=False,
    )
    targets = [
        Target(host, address, sim.port, trust=Trust(fingerprint=bmc.fingerprint))
        for host, address, bmc in zip(sim.hosts, sim.addresses, sim, strict=True)
    ]
    return ask(targets, work, fast, wave=2)


def values(bmc: SimBmc) -> dict[str, object]:
    return {name: bmc.part(Bios).current[name] for name in WANTED}


def patches(bmc: SimBmc) -> int:
    return sum(one.method == "PATCH" for one in bmc.requests)


@pytest.mark.parametrize("profile", list(Profile))
def test_a_restart_applies_the_values_and_they_are_read_back(simulator: Start, profile: Profile) -> None:
    sim = start(simulator, "127.37.0.1", profile)
    (outcome,) = write(sim, reset=True)
    assert outcome.error is None
    assert outcome.value is not None
    assert (outcome.value.applied, values(sim[0]), patches(sim[0])) == (True, WANTED, 1)
    assert len(sim[0].part(JobQueue)) == 1
    assert len(sim[0].sessions) == 0


def test_a_second_run_neither_writes_nor_restarts(simulator: Start) -> None:
    sim = start(simulator, "127.37.1.1")
    write(sim, reset=True)
    actions = list(sim[0].power.actions)
    (outcome,) = write(sim, reset=True)
    assert outcome.value is not None
    assert (outcome.value.words, patches(sim[0])) == ("as wanted already: nothing was written", 1)
    assert sim[0].power.actions == actions


def test_values_that_wait_are_applied_by_the_restart_of_a_later_run(simulator: Start) -> None:
    sim = start(simulator, "127.37.2.1")
    write(sim)
    assert values(sim[0]) != WANTED
    (outcome,) = write(sim, reset=True)
    assert outcome.value is not None
    assert outcome.value.job is not None
    assert (outcome.value.applied, outcome.value.job.reused) == (True, True)
    assert (values(sim[0]), patches(sim[0])) == (WANTED, 1)


def test_one_node_that_fails_does_not_hold_up_the_others(simulator: Start) -> None:
    sim = start(simulator, "127.37.3.1", count=3)
    sim[1].fault(Fault(method="PATCH", path=r".*/Bios/Settings", status=500, times=None))
    outcomes = write(sim, reset=True)
    assert [isinstance(outcome.error, BmcError) for outcome in outcomes] == [False, True, False]
    assert [values(bmc) == WANTED for bmc in sim] == [True, False, True]


def test_a_running_job_is_waited_for_and_never_cleared(simulator: Start) -> None:
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/113: RAC0679 while another job runs
    sim = start(simulator, "127.37.4.1")
    with sim[0].lock:
        running = (
            sim[0]
            .part(JobQueue)
            .plant("RAIDConfiguration", "theirs", state=JobState.RUNNING, duration_s=60.0)
        )
    (outcome,) = write(sim)
    assert outcome.error is None, str(outcome.error)
    assert running.id in [job.id for job in sim[0].part(JobQueue)]
    assert running.state is JobState.COMPLETED
    assert sim[0].part(Bios).pending == WANTED


def test_pending_values_of_somebody_else_are_refused(simulator: Start) -> None:
    # https://github.com/ansible-collections/community.general/issues/3826
    sim = start(simulator, "127.37.5.1")
    sim[0].part(Bios).pending["NumLock"] = "Off"
    (outcome,) = write(sim)
    assert isinstance(outcome.error, BmcBusyError)
    assert (patches(sim[0]), sim[0].part(Bios).pending) == (0, {"NumLock": "Off"})


def test_a_job_that_is_stuck_is_said_and_the_node_is_not_restarted(simulator: Start) -> None:
    # seen on an R760: Scheduled at 1 % with PR30 for good
    sim = start(simulator, "127.37.6.1")
    sim[0].part(JobQueue).next_stuck = True
    (outcome,) = write(sim, reset=True)
    assert outcome.value is not None, str(outcome.error)
    assert "PR30" in outcome.value.words
    assert set(outcome.value.wrong or ()) == set(WANTED)
    assert sim[0].power.actions == []


def test_what_is_in_force_counts_and_not_what_the_job_says_but_that_is_said(simulator: Start) -> None:
    sim = start(simulator, "127.37.7.1")
    sim[0].part(JobQueue).next_outcome = JobState.FAILED
    (outcome,) = write(sim, reset=True)
    assert outcome.value is not None, str(outcome.error)
    assert (outcome.value.applied, values(sim[0])) == (True, WANTED)
    assert "PR21" in outcome.value.words
