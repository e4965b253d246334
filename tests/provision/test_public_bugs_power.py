"""Bugs other drivers had with power, boot and jobs, each as the right behaviour, on simulated iDRACs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabricctl.errors import BmcBusyError, BmcUnsupportedError
from provision.bmc.boot import BootSource, Consumed
from provision.bmc.jobs import Phase
from provision.bmc.outcome import Change
from provision.bmc.power import PowerRequest, PowerState
from provision.redfish.bmc import Bmc
from provision.workflows.boot import set_order, set_override
from provision.workflows.boot_device import prepare_port
from provision.workflows.boot_run import BootPlan, BootRun, boot_node
from provision.workflows.job_clear import clear_job
from provision.workflows.job_runner import JobResult, wait_job
from provision.workflows.lc_gate import wait_ready
from provision.workflows.power import PowerOptions, PowerResult, read_power, set_power
from tests.provision.asking import SPEED, one
from tests.sim.idrac import Fault, Profile, Simulator
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.boot import Override
from tests.sim.idrac.jobs import JobQueue, JobState
from tests.sim.idrac.power import Phase as Power
from tests.sim.idrac.readiness import Readiness

Start = Callable[..., Simulator]
PORT = "NIC.Slot.36-1"


@pytest.fixture(params=list(Profile), ids=lambda profile: profile.name)
def sim(request: pytest.FixtureRequest, simulator: Start) -> Simulator:
    return simulator(1, profile=request.param, first="127.42.0.1", speed=SPEED)


async def pxe(bmc: Bmc) -> Change:
    return await set_override(bmc, BootSource.PXE, mode="UEFI")


async def port(bmc: Bmc) -> JobResult | None:
    return await prepare_port(bmc, BootSource.PXE, PORT)


async def pxe_boot(bmc: Bmc) -> BootRun:
    return await boot_node(bmc, BootPlan(BootSource.PXE, reset=True, prove=True))


def test_setting_pxe_in_the_mode_that_is_set_makes_no_job_and_boots_once(sim: Simulator) -> None:
    # https://github.com/ironcore-dev/metal-operator/issues/81
    run = one(sim, pxe_boot)
    assert run.reached
    assert run.fate is Consumed.YES
    assert list(sim[0].part(JobQueue)) == []
    assert sim[0].boot.booted == ["Pxe"]
    assert sim[0].power.boots == 1


def test_pxe_that_is_set_already_is_not_written_again(sim: Simulator) -> None:
    # https://github.com/ironcore-dev/metal-operator/pull/107
    assert one(sim, pxe).written
    assert not one(sim, pxe).written
    assert len(sim[0].asked("PATCH")) == 1


def test_after_a_refusal_that_set_a_part_it_is_said_what_is_set_now(simulator: Start) -> None:
    # https://github.com/ansible-collections/community.general/issues/5091
    sim = simulator(1, profile=Profile.IDRAC9_6, first="127.42.0.1", speed=SPEED)
    sim[0].boot.override = Override(mode="Legacy")
    result = one(sim, pxe)
    assert sim[0].boot.override.target == "Pxe"
    assert result.after == "Pxe, once"
    assert not result.reached  # the mode is not UEFI
    assert "SYS444" in result.said


def test_an_equal_pending_job_is_awaited_and_no_second_one_is_made(sim: Simulator) -> None:
    # https://github.com/quadsproject/badfish/issues/29
    first, second = one(sim, port), one(sim, port)
    assert first is not None
    assert second is not None
    assert second.reused
    assert first.job is not None
    assert second.job is not None
    assert first.job.id == second.job.id
    assert len(list(sim[0].part(JobQueue))) == 1


def test_a_pending_job_of_somebody_else_is_named_and_left_alone(sim: Simulator) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/9
    planted = sim[0].part(JobQueue).plant("BIOSConfiguration", "Configure: BIOS.Setup.1-1")
    with pytest.raises(BmcBusyError, match=planted.id):
        one(sim, port)
    assert [job.id for job in sim[0].part(JobQueue)] == [planted.id]
    assert sim[0].asked("PATCH") == []


def test_values_that_somebody_else_wrote_are_not_brought_along_with_a_port(sim: Simulator) -> None:
    bios = sim[0].part(Bios)
    bios.pending["LogicalProc"] = "Disabled" if bios.current["LogicalProc"] == "Enabled" else "Enabled"
    with pytest.raises(BmcBusyError, match=r"LogicalProc.*nothing was written"):
        one(sim, port)
    assert sim[0].asked("PATCH") == []


def test_a_job_of_somebody_else_that_runs_is_awaited_not_cleared(sim: Simulator) -> None:
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/113
    planted = sim[0].part(JobQueue).plant(state=JobState.RUNNING, duration_s=120)
    made = one(sim, port)
    assert made is not None
    assert made.ok
    assert planted.state is JobState.COMPLETED
    assert sim[0].asked("POST", ".*DeleteJobQueue") == []


def test_a_job_operation_that_runs_unseen_is_awaited(sim: Simulator) -> None:
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/273
    sim[0].fault(Fault(method="PATCH", path=".*/Bios/Settings", status=503, message_id="RAC0679", times=3))
    made = one(sim, port)
    assert made is not None
    assert made.ok
    assert len(list(sim[0].part(JobQueue))) == 1


def test_a_running_job_is_never_cleared(sim: Simulator) -> None:
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/113
    planted = sim[0].part(JobQueue).plant(state=JobState.RUNNING, duration_s=10_000)

    async def clear(bmc: Bmc) -> Change:
        return await clear_job(bmc, planted.id)

    with pytest.raises(BmcBusyError, match="left alone"):
        one(sim, clear)
    assert planted.id in [job.id for job in sim[0].part(JobQueue)]


def test_one_named_job_is_cleared_and_the_others_stay(sim: Simulator) -> None:
    # a cleared queue restarts the Lifecycle Controller; https://github.com/redhat-performance/jetlag/pull/778
    gone, stays = sim[0].part(JobQueue).plant(), sim[0].part(JobQueue).plant()

    async def clear(bmc: Bmc) -> Change:
        return await clear_job(bmc, gone.id)

    assert one(sim, clear).reached
    assert [job.id for job in sim[0].part(JobQueue)] == [stays.id]


def test_a_bmc_that_restarts_itself_for_nine_minutes_does_not_end_the_wait_for_its_job(
    sim: Simulator,
) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/231
    job = sim[0].part(JobQueue).plant(state=JobState.RUNNING, duration_s=700)

    async def work(bmc: Bmc) -> JobResult:
        await read_power(bmc)  # logged in
        sim[0].part(Readiness).restart(540)
        return await wait_job(bmc, job.id)

    result = one(sim, work)
    assert result.ok
    assert result.phase is Phase.DONE
    assert len(sim[0].sessions) == 0


def test_a_job_that_never_runs_is_not_waited_for(sim: Simulator) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/266 and PR30: state and message id decide
    job = sim[0].part(JobQueue).plant(stuck=True)

    async def work(bmc: Bmc) -> JobResult:
        return await wait_job(bmc, job.id)

    result = one(sim, work)
    assert not result.ok
    assert result.phase is Phase.STUCK


def test_a_reset_type_is_one_the_bmc_accepts(sim: Simulator) -> None:
    # https://github.com/quadsproject/badfish/issues/118
    sim[0].power.reset_types = ("On", "ForceOff", "GracefulShutdown")

    async def work(bmc: Bmc) -> PowerResult:
        return await set_power(bmc, PowerRequest.CYCLE)

    assert one(sim, work).after is PowerState.ON
    assert sim[0].power.actions == ["GracefulShutdown", "On"]


def test_a_shutdown_never_becomes_a_power_cut_by_itself(sim: Simulator) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/29
    sim[0].power.reset_types = ("On", "ForceOff", "ForceRestart", "PowerCycle")

    async def work(bmc: Bmc) -> PowerResult:
        return await set_power(bmc, PowerRequest.OFF)

    with pytest.raises(BmcUnsupportedError, match="--force"):
        one(sim, work)
    assert sim[0].power.actions == []


def test_on_is_success_when_somebody_was_quicker(sim: Simulator) -> None:
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/91
    sim[0].power.set(Power.OFF)

    async def work(bmc: Bmc) -> PowerResult:
        async def on_meanwhile(path: str, body: object = None, **more: object) -> object:
            sim[0].power.set(Power.RUNNING)
            return await post(path, body, **more)  # type: ignore[arg-type]

        post = bmc.post
        bmc.post = on_meanwhile  # type: ignore[method-assign, assignment]
        return await set_power(bmc, PowerRequest.ON)

    result = one(sim, work)
    assert result.reached
    assert (result.sent, result.evidence) == ((), "PSU501")


def test_an_empty_list_of_systems_and_a_busy_controller_are_waited_for(sim: Simulator) -> None:
    # https://github.com/redhat-performance/jetlag/pull/778, https://github.com/microsoft/lisa/pull/4421
    sim[0].part(Readiness).empty_systems(120)
    sim[0].part(Readiness).not_ready("RAC0508", 60, ".*/Systems/.*")
    assert one(sim, pxe).reached


def test_a_boot_is_set_only_after_the_post_that_is_under_way(sim: Simulator) -> None:
    # the gate of the Lifecycle Controller; an override set during POST may be lost with it
    sim[0].power.set(Power.OFF)
    sim[0].boot.order = ["Boot0001", "Boot0000", "Boot0002"]

    async def work(bmc: Bmc) -> Change:
        await set_power(bmc, PowerRequest.ON, PowerOptions(wait=False))
        return await set_override(bmc, BootSource.PXE)

    assert one(sim, work).reached
    assert sim[0].boot.booted == ["Hdd"]
    assert sim[0].boot.override.target == "Pxe"

    async def ready(bmc: Bmc) -> str:
        status = await wait_ready(bmc)
        return status.server if status is not None else ""

    assert one(sim, ready) == "OutOfPOST"


def test_a_port_without_a_mac_is_a_boot_target_by_its_fqdd(sim: Simulator) -> None:
    # https://github.com/dsx-ai-factory/infra-controller/issues/2169
    async def work(bmc: Bmc) -> BootRun:
        return await boot_node(bmc, BootPlan(BootSource.PXE, nic=PORT, reset=True, prove=True))

    run = one(sim, work)
    assert run.reached, run
    assert sim[0].boot.booted[-1] == "Pxe"
    assert [job.state for job in sim[0].part(JobQueue)] == [JobState.COMPLETED]


def test_a_boot_order_with_reset_is_read_back_after_its_job(sim: Simulator) -> None:
    async def work(bmc: Bmc) -> BootRun:
        return await boot_node(bmc, BootPlan(BootSource.HDD, persistent=True, reset=True))

    run = one(sim, work)
    assert run.reached, run
    assert run.boot is not None
    assert "brought it" in run.boot.said
    assert sim[0].boot.order[0] == "Boot0001"


def test_a_boot_order_is_one_job_and_a_second_call_makes_no_other(sim: Simulator) -> None:
    # https://github.com/quadsproject/badfish/issues/29, for the boot order
    async def disk(bmc: Bmc) -> Change:
        return await set_order(bmc, BootSource.HDD)

    result = one(sim, disk)
    assert result.reached
    assert result.job is not None
    assert len(list(sim[0].part(JobQueue))) == 1

    async def restart(bmc: Bmc) -> JobResult:
        await set_power(bmc, PowerRequest.CYCLE)
        assert result.job is not None
        assert result.job.job is not None
        return await wait_job(bmc, result.job.job.id)

    assert one(sim, restart).ok
    assert sim[0].boot.order[0] == "Boot0001"
    assert not one(sim, disk).written
    assert len(list(sim[0].part(JobQueue))) == 1
