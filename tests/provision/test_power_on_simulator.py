"""Power commands over the wire: sent once, whatever becomes of their answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fabricctl.errors import BmcError, BmcOutcomeUnknownError
from provision.bmc.power import PowerRequest, PowerState, ResetType
from provision.redfish.bmc import Bmc
from provision.workflows.journal import FORGET, Record
from provision.workflows.power import PowerOptions, PowerResult, set_power
from tests.provision.asking import SPEED, one, targets, work_on
from tests.provision.events import Events
from tests.sim.idrac import Fault, Profile, Simulator
from tests.sim.idrac.power import Phase

Start = Callable[..., Simulator]
RESET = r".*/ComputerSystem\.Reset"


def power(sim: Simulator, request: PowerRequest, record: Record = FORGET, **options: object) -> PowerResult:
    chosen = PowerOptions(**options)  # type: ignore[arg-type]

    async def work(bmc: Bmc) -> PowerResult:
        return await set_power(bmc, request, chosen, record)

    return one(sim, work)


def start(
    simulator: Start, first: str, phase: Phase = Phase.RUNNING, profile: Profile = Profile.IDRAC9_7
) -> Simulator:
    sim = simulator(1, profile=profile, first=first, speed=SPEED)
    sim[0].power.set(phase)
    return sim


@pytest.mark.parametrize("profile", list(Profile))
def test_on_off_and_cycle_bring_the_state_and_are_sent_once_each(simulator: Start, profile: Profile) -> None:
    sim = start(simulator, "127.41.0.1", Phase.OFF, profile)
    assert power(sim, PowerRequest.ON).after is PowerState.ON
    assert power(sim, PowerRequest.ON).sent == ()
    assert power(sim, PowerRequest.CYCLE).reached
    assert power(sim, PowerRequest.OFF).after is PowerState.OFF
    assert power(sim, PowerRequest.OFF).sent == ()
    assert sim[0].power.actions == ["On", "GracefulRestart", "GracefulShutdown"]
    assert len(sim[0].sessions) == 0


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize(
    ("request_", "phase", "kind"),
    [
        (PowerRequest.ON, Phase.OFF, "On"),
        (PowerRequest.OFF, Phase.RUNNING, "GracefulShutdown"),
        (PowerRequest.CYCLE, Phase.RUNNING, "GracefulRestart"),
    ],
)
def test_a_command_whose_answer_is_lost_is_carried_out_once(
    simulator: Start, profile: Profile, request_: PowerRequest, phase: Phase, kind: str
) -> None:
    sim = start(simulator, "127.41.0.1", phase, profile)
    sim[0].fault(Fault(method="POST", path=RESET, drop_answer=True))
    result = power(sim, request_)
    assert result.reached
    assert result.evidence
    assert sim[0].power.actions == [kind]
    assert len(sim[0].asked("POST", RESET)) == 1


def test_a_cycle_whose_answer_is_lost_is_told_by_the_time_of_the_last_reset(simulator: Start) -> None:
    sim = start(simulator, "127.41.0.1")
    sim[0].power.reset_types = ("On", "ForceOff", "ForceRestart")
    sim[0].fault(Fault(method="POST", path=RESET, drop_answer=True))
    result = power(sim, PowerRequest.CYCLE, force=True)
    assert sim[0].power.actions == ["ForceRestart"]
    assert result.reached


@pytest.mark.parametrize("arrives", [True, False])
def test_where_the_system_keeps_no_time_of_its_reset_the_lifecycle_log_tells(
    simulator: Start, arrives: bool
) -> None:
    sim = start(simulator, "127.41.0.1", profile=Profile.IDRAC9_6)  # no BootProgress either
    sim[0].change("/redfish/v1/Systems/System.Embedded.1", LastResetTime=None)
    sim[0].power.reset_types = ("On", "ForceOff", "ForceRestart")
    sim[0].fault(Fault(method="POST", path=RESET, drop_answer=arrives, reset=not arrives))
    if not arrives:
        with pytest.raises(BmcOutcomeUnknownError):
            power(sim, PowerRequest.CYCLE, force=True)
        return
    assert "log" in power(sim, PowerRequest.CYCLE, force=True).evidence
    assert sim[0].power.actions == ["ForceRestart"]


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("force", [False, True])
def test_a_restart_that_goes_off_and_stays_off_is_no_restart(
    simulator: Start, force: bool, lost: bool
) -> None:
    sim = start(simulator, "127.41.0.1")
    sim[0].power.cycle_s = 1e9
    sim[0].fault(Fault(method="POST", path=RESET, drop_answer=lost, times=1))
    result = power(sim, PowerRequest.CYCLE, force=force)
    assert (result.reached, result.after) == (False, PowerState.OFF)
    assert result.words == "GracefulRestart; it went off, and has not come back within 120 s"
    assert sim[0].power.actions == ["GracefulRestart"], "power is not cut of what went off as it was asked to"


def test_a_restart_is_waited_for_until_it_is_on_again(simulator: Start) -> None:
    sim = start(simulator, "127.41.0.1")
    sim[0].power.cycle_s = 40.0
    events = Events()
    result = power(sim, PowerRequest.CYCLE, record=events)
    assert (result.reached, result.after, sim[0].power.state) == (True, PowerState.ON, "On")
    assert result.words == "GracefulRestart; it went off, and came back"
    assert events.moves == [("On", "GracefulRestart: it went off, and came back")]


def test_a_command_that_never_arrived_is_unknown_and_not_repeated(simulator: Start) -> None:
    sim = start(simulator, "127.41.0.1")
    sim[0].fault(Fault(method="POST", path=RESET, reset=True))
    with pytest.raises(BmcOutcomeUnknownError, match="not repeated"):
        power(sim, PowerRequest.CYCLE, force=True, grace_s=60)
    assert sim[0].power.actions == []
    assert len(sim[0].asked("POST", RESET)) == 1
    assert len(sim[0].sessions) == 0


@pytest.mark.parametrize("kind", ["drop_answer", "reset", "cut_body"])
@pytest.mark.parametrize("after", range(2, 10))
def test_whichever_request_goes_wrong_a_restart_is_carried_out_at_most_once(
    simulator: Start, kind: str, after: int
) -> None:
    sim = start(simulator, "127.41.0.1")
    sim[0].fault(Fault(after=after, times=1, **{kind: True}))  # type: ignore[arg-type]
    try:
        result = power(sim, PowerRequest.CYCLE, grace_s=60)
    except BmcError:
        result = None
    assert sim[0].power.actions in ([], ["GracefulRestart"])
    assert result is None or (result.reached and sim[0].power.actions)


@pytest.mark.slow
def test_a_command_whose_answer_comes_after_its_deadline_is_sent_once(simulator: Start) -> None:
    # the DMTF client, as it comes, executed such a reset four times (shared facts on Redfish)
    sim = start(simulator, "127.41.0.1", Phase.OFF)
    sim[0].fault(Fault(method="POST", path=RESET, delay_s=20, times=1))
    assert power(sim, PowerRequest.ON).reached
    assert sim[0].power.actions == ["On"]


def test_a_node_that_ignores_the_shutdown_stays_on_without_force(simulator: Start) -> None:
    sim = start(simulator, "127.41.0.1")
    sim[0].power.heeds_shutdown = False
    result = power(sim, PowerRequest.OFF, grace_s=60)
    assert not result.reached
    assert sim[0].power.actions == ["GracefulShutdown"]
    forced = power(sim, PowerRequest.OFF, grace_s=60, force=True)
    assert forced.sent == (ResetType.GRACEFUL_SHUTDOWN, ResetType.FORCE_OFF)
    assert forced.after is PowerState.OFF


def test_no_more_nodes_than_a_wave_are_switched_on_at_once(simulator: Start) -> None:
    sim = simulator(6, first="127.41.0.1", speed=SPEED)
    for bmc in sim:
        bmc.power.set(Phase.OFF)
    under_way, most = 0, 0

    async def work(bmc: Bmc) -> PowerResult:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await set_power(bmc, PowerRequest.ON)
        finally:
            under_way -= 1

    outcomes = work_on(sim, work, targets(sim), wave=2)
    assert all(outcome.error is None for outcome in outcomes)
    assert most == 2
    assert [bmc.power.actions for bmc in sim] == [["On"]] * 6


NOT_READY = [Fault(status=503, retry_after=1), Fault(message_id="SYS518", retry_after=1)]


@pytest.mark.parametrize("said", NOT_READY, ids=["503", "SYS518"])
@pytest.mark.parametrize("carried", [True, False], ids=["carried out", "not carried out"])
@pytest.mark.parametrize(
    ("request_", "phase", "kinds"),
    [
        (PowerRequest.ON, Phase.OFF, {"On"}),
        (PowerRequest.OFF, Phase.RUNNING, {"ForceOff"}),
        (PowerRequest.CYCLE, Phase.RUNNING, {"PowerCycle", "ForceRestart"}),
    ],
)
def test_a_command_answered_not_ready_is_sent_again_only_where_nothing_came_of_it(
    simulator: Start, request_: PowerRequest, phase: Phase, kinds: set[str], carried: bool, said: Fault
) -> None:
    sim = start(simulator, "127.41.0.1", phase)
    sim[0].fault(replace(said, method="POST", path=RESET, carried=carried, times=1))
    result = power(sim, request_, force=True, grace_s=0)
    assert result.reached
    assert len(sim[0].power.actions) == 1
    assert set(sim[0].power.actions) <= kinds
    resets = [one for one in sim[0].requests if one.path.endswith("ComputerSystem.Reset")]
    assert len(resets) == (1 if carried else 2)
