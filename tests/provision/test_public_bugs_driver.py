"""Bugs of other tools, met in the open: each a test of what the driver does instead, on simulated BMCs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import pytest

from fabricctl.errors import (
    BmcAnswerError,
    BmcBusyError,
    BmcIdentityError,
    BmcLoginError,
    BmcNotReadyError,
    BmcOutcomeUnknownError,
    BmcPasswordChangeError,
    BmcSessionsFullError,
)
from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.bmc import Bmc, Group
from provision.redfish.fleet import FleetOptions, Limits, ask
from tests.sim.idrac import Fault, Profile, Simulator
from tests.sim.idrac.etags import EtagRule, Etags

Make = Callable[..., Simulator]
SPEED = 200.0
SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
SESSIONS = "/redfish/v1/SessionService/Sessions"


async def fast_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds / SPEED)


def targets_of(simulator: Simulator, **changes: Any) -> list[Target]:
    return [
        Target(bmc.host, bmc.address, simulator.port, trust=Trust(fingerprint=bmc.fingerprint), **changes)
        for bmc in simulator
    ]


def outcome_of(
    simulator: Simulator, work: Callable[[Bmc], Awaitable[Any]], target: Target | None = None, **changes: Any
) -> Outcome[Any]:
    credentials = Credentials("root", Secret(simulator.password))
    fields: dict[str, Any] = {
        "credentials": lambda target: credentials,
        "sleep": fast_sleep,
        "clock": lambda: time.monotonic() * SPEED,
        "random": Random(1),
        "reaper": False,
        **changes,
    }
    return ask([target or targets_of(simulator)[0]], work, FleetOptions(**fields))[0]


async def read_system(bmc: Bmc) -> Any:
    return (await bmc.get(SYSTEM)).resource["SKU"]


def sent(simulator: Simulator, method: str, path: str) -> int:
    return sum((one.method, one.path) == (method, path) for one in simulator[0].requests)


# 4: https://github.com/quadsproject/badfish/issues/447, https://github.com/stmcginnis/gofish/issues/75,
#    https://github.com/bb-Ricardo/check_redfish/pull/198
def test_full_sessions_are_said_after_one_more_try_and_never_hammered(simulator: Make) -> None:
    fleet = simulator(speed=SPEED)
    fleet[0].sessions.fill()
    outcome = outcome_of(fleet, read_system)
    assert isinstance(outcome.error, BmcSessionsFullError)
    assert "every session of the BMC is taken" in str(outcome.error)
    assert sent(fleet, "POST", SESSIONS) == 2
    assert len(fleet[0].sessions) == 8


def test_many_runs_leave_no_session_behind(simulator: Make) -> None:
    fleet = simulator()
    for number in range(30):
        work = read_system if number % 2 else (lambda bmc: bmc.get("/redfish/v1/Nothing"))
        outcome_of(fleet, work)
    assert fleet[0].sessions.created == 30
    assert fleet[0].sessions.most == 1
    assert len(fleet[0].sessions) == 0


# 5: https://github.com/ironcore-dev/metal-operator/issues/170
def test_not_ready_after_a_boot_is_waited_for_as_long_as_the_bmc_says(simulator: Make) -> None:
    fleet = simulator(speed=SPEED)
    fleet[0].readiness.not_ready("SYS518", 45.0, retry_s=30)
    outcome = outcome_of(fleet, read_system)
    assert outcome.value == fleet[0].service_tag
    refused = [one for one in fleet[0].requests if one.status == 503]
    assert 1 <= len(refused) <= 2  # asked every 30 seconds, not every second


def test_a_bmc_that_never_gets_ready_ends_with_its_budget(simulator: Make) -> None:
    fleet = simulator(speed=SPEED)
    fleet[0].readiness.not_ready("SYS518", 1e6, retry_s=30)
    outcome = outcome_of(fleet, read_system, limits=Limits(budget_s=100))
    assert isinstance(outcome.error, BmcNotReadyError)
    assert "SYS518" in str(outcome.error)
    assert sum(one.status == 503 for one in fleet[0].requests) <= 4
    assert len(fleet[0].sessions) == 0


# 6: https://github.com/quadsproject/badfish/issues/129
@pytest.mark.parametrize(("key", "status"), [("SWC0700", 400), ("RAC0508", 500)])
def test_not_ready_is_told_by_its_message_whatever_the_status(simulator: Make, key: str, status: int) -> None:
    fleet = simulator(speed=SPEED)
    fleet[0].readiness.not_ready(key, 20.0)
    outcome = outcome_of(fleet, read_system)
    assert outcome.value == fleet[0].service_tag
    assert any(one.status == status for one in fleet[0].requests)


def test_another_400_is_not_tried_again(simulator: Make) -> None:
    fleet = simulator()
    fleet[0].fault(Fault("GET", SYSTEM, status=400, message_id="SYS428", message="A bad request."))
    outcome = outcome_of(fleet, read_system)
    assert isinstance(outcome.error, BmcAnswerError)
    assert outcome.error.status == 400
    assert sent(fleet, "GET", SYSTEM) == 1


# 8: https://github.com/dell/iDRAC-Redfish-Scripting/issues/354,
#    https://github.com/ansible-collections/community.general/pull/3268, https://github.com/ansible/ansible/pull/56150
@pytest.mark.parametrize(
    ("rule", "stale", "patches"),
    [
        (EtagRule.OPTIONAL, 0, 1),
        (EtagRule.OPTIONAL, 1, 2),
        (EtagRule.REQUIRED, 0, 1),
        (EtagRule.STRONG_ONLY, 0, 2),
        (EtagRule.NEVER, 0, 3),
    ],
)
@pytest.mark.parametrize("read_first", [True, False])
def test_if_match_is_exact_then_read_anew_then_strong_then_none(
    simulator: Make, rule: EtagRule, stale: int, patches: int, read_first: bool
) -> None:
    fleet = simulator(profile=Profile.IDRAC9_7)
    etags = fleet[0].part(Etags)
    etags.rule, etags.stale = rule, stale

    async def work(bmc: Bmc) -> None:
        if read_first:
            await bmc.get(SYSTEM)
        await bmc.patch(SYSTEM, {"AssetTag": "rack 7"})

    outcome = outcome_of(fleet, work)
    assert outcome.error is None
    # a stale tag is read anew and may come out the same: the strong form is then the next one tried
    assert sent(fleet, "PATCH", SYSTEM) == patches


def test_a_412_that_stays_is_said_after_a_bounded_number_of_tries(simulator: Make) -> None:
    fleet = simulator()
    fleet[0].fault(Fault("PATCH", SYSTEM, status=412, message_id="PreconditionFailed"))
    outcome = outcome_of(fleet, lambda bmc: bmc.patch(SYSTEM, {"AssetTag": "x"}))
    assert isinstance(outcome.error, BmcAnswerError)
    assert outcome.error.status == 412
    assert sent(fleet, "PATCH", SYSTEM) <= 4


def test_an_action_never_carries_if_match(simulator: Make) -> None:
    fleet = simulator()  # answers 412 to an action that does

    async def work(bmc: Bmc) -> int:
        await bmc.get(SYSTEM)
        return (await bmc.post(RESET, {"ResetType": "ForceOff"})).status

    assert outcome_of(fleet, work).error is None


# 12: https://github.com/dell/iDRAC-Redfish-Scripting/issues/12, .../issues/270,
#     https://github.com/mrlhansen/idrac_exporter/issues/168
def test_more_than_one_page_of_a_log_is_read_and_the_walk_ends_where_it_is_told(simulator: Make) -> None:
    fleet = simulator()
    log = "/redfish/v1/Managers/iDRAC.Embedded.1/LogServices/Lclog/Entries"

    async def work(bmc: Bmc) -> tuple[list[Any], list[Any]]:
        everything = await bmc.members(log, Group.SLOW)
        third = everything[2]["Id"]
        newest = await bmc.members(log, Group.SLOW, until=lambda entry: entry["Id"] == third)
        return [entry["Id"] for entry in everything], [entry["Id"] for entry in newest]

    outcome = outcome_of(fleet, work)
    assert outcome.error is None, outcome.error
    everything, newest = outcome.value
    assert len(everything) == len(set(everything)) > 50
    assert newest == everything[:2]


# 16: https://github.com/dell/iDRAC-Redfish-Scripting/issues/371
def test_an_idrac10_that_refuses_basic_is_asked_with_a_session(simulator: Make) -> None:
    fleet = simulator(profile=Profile.IDRAC10)
    assert outcome_of(fleet, read_system).error is None
    assert sent(fleet, "POST", SESSIONS) == 1


def test_basic_is_sent_only_where_it_was_asked_for_and_its_refusal_is_said(simulator: Make) -> None:
    fleet = simulator(2, profile=[Profile.IDRAC9_7, Profile.IDRAC10])
    fine, refused = (outcome_of(fleet, read_system, target) for target in targets_of(fleet, basic=True))
    assert fine.error is None
    assert fleet[0].sessions.created == 0
    assert isinstance(refused.error, BmcLoginError)
    assert sum(one.status == 401 for one in fleet[1].requests) == 1


# 23: https://github.com/bb-Ricardo/check_redfish/issues/90
@pytest.mark.parametrize("writes", [False, True])
def test_an_expired_session_is_renewed_also_when_its_refusal_is_cut_short(
    simulator: Make, writes: bool
) -> None:
    fleet = simulator()

    async def work(bmc: Bmc) -> int:
        await bmc.get(SYSTEM)
        fleet[0].sessions.open.clear()
        fleet[0].fault(Fault("GET", SYSTEM, status=401, message_id="AccessDenied", cut_body=True, times=1))
        return (await bmc.get(SYSTEM)).status

    outcome = outcome_of(fleet, work, writes=writes)
    assert (outcome.error, outcome.value) == (None, 200)
    assert sent(fleet, "POST", SESSIONS) == 2
    assert len(fleet[0].sessions) == 0


@pytest.mark.parametrize("writes", [False, True])
def test_a_wrong_password_is_sent_once_also_when_its_refusal_is_cut_short(
    simulator: Make, writes: bool
) -> None:
    fleet = simulator()
    fleet[0].fault(Fault("POST", SESSIONS, status=401, message_id="AccessDenied", cut_body=True))
    outcome = outcome_of(fleet, read_system, writes=writes)
    assert isinstance(outcome.error, BmcLoginError)
    assert sent(fleet, "POST", SESSIONS) == 1


@pytest.mark.parametrize("writes", [False, True])
def test_another_machine_gets_neither_password_nor_command(simulator: Make, writes: bool) -> None:
    fleet = simulator(2)
    expected = fleet[1].service_tag  # crossed BMC cables: the neighbour answers
    for target in targets_of(fleet, service_tag=expected)[:1]:
        outcome = outcome_of(
            fleet,
            lambda bmc: bmc.post(RESET, {"ResetType": "ForceOff"}),
            target,
            writes=writes,
            identity=True,
        )
    assert isinstance(outcome.error, BmcIdentityError)
    assert expected in str(outcome.error)
    assert fleet[0].service_tag in str(outcome.error)
    assert sent(fleet, "POST", "") == 0


def test_another_machine_is_noted_where_only_reading_is_asked(simulator: Make) -> None:
    fleet = simulator()
    outcome = outcome_of(fleet, read_system, targets_of(fleet, service_tag="ANOTHER")[0])
    assert outcome.error is None
    assert any("ANOTHER is expected" in note.text for note in outcome.notes)


# 17: https://github.com/dell/iDRAC-Redfish-Scripting/issues/346
def test_a_factory_password_that_must_be_changed_is_a_state_with_a_way_out(simulator: Make) -> None:
    fleet = simulator()
    fleet[0].sessions.change_required = True
    outcome = outcome_of(fleet, read_system)
    assert isinstance(outcome.error, BmcPasswordChangeError)
    assert "fabricctl bmc credentials rotate gpu001" in str(outcome.error)
    assert sent(fleet, "POST", SESSIONS) == 1
    assert len(fleet[0].sessions) == 0


def test_a_wrong_password_is_never_sent_twice_so_no_account_is_locked(simulator: Make) -> None:
    fleet = simulator()
    fleet[0].users["root"] = "another"

    async def stubborn(bmc: Bmc) -> None:
        reads = [bmc.get(SYSTEM) for _ in range(5)]
        results = await asyncio.gather(*reads, return_exceptions=True)
        assert all(isinstance(result, BmcLoginError) for result in results)
        await bmc.get(SYSTEM)

    outcome = outcome_of(fleet, stubborn)
    assert isinstance(outcome.error, BmcLoginError)
    assert sent(fleet, "POST", SESSIONS) == 1
    assert fleet[0].sessions.locked_until == {}


# 18: https://github.com/dell/iDRAC-Redfish-Scripting/issues/303, https://github.com/mrlhansen/idrac_exporter/issues/124,
#     https://github.com/FuturFusion/operations-center/issues/1097
def test_a_host_name_that_the_bmc_does_not_know_is_named_in_the_error(simulator: Make) -> None:
    fleet = simulator(first="127.0.0.1")
    fleet[0].readiness.host_header_check = True
    target = targets_of(fleet)[0]
    by_name = Target(target.host, "localhost", target.port, trust=target.trust)
    outcome = outcome_of(fleet, read_system, by_name)
    assert "HostHeaderCheck" in str(outcome.error)
    assert "'localhost'" in str(outcome.error)
    assert outcome_of(fleet, read_system).error is None


# 22: https://github.com/redhat-performance/jetlag/pull/778
def test_empty_systems_are_not_ready_and_never_no_system(simulator: Make) -> None:
    fleet = simulator(speed=SPEED)
    fleet[0].readiness.empty_systems(20.0)

    async def work(bmc: Bmc) -> list[Any]:
        return [member["Id"] for member in await bmc.members("/redfish/v1/Systems")]

    assert outcome_of(fleet, work).value == ["System.Embedded.1"]
    fleet[0].readiness.empty_systems(1e6)
    outcome = outcome_of(fleet, work, limits=Limits(budget_s=20))
    assert isinstance(outcome.error, BmcNotReadyError)
    assert "has no members" in str(outcome.error)


# 23: https://github.com/bb-Ricardo/check_redfish/issues/90,
#     https://github.com/DMTF/python-redfish-library/issues/160
def test_a_session_that_ended_in_the_middle_is_renewed_and_the_read_repeated(simulator: Make) -> None:
    fleet = simulator()

    async def work(bmc: Bmc) -> Any:
        await read_system(bmc)
        fleet[0].sessions.open.clear()
        both = await asyncio.gather(read_system(bmc), read_system(bmc))
        return both[0]

    outcome = outcome_of(fleet, work)
    assert outcome.value == fleet[0].service_tag
    assert fleet[0].sessions.created == 2


def test_a_bmc_that_refuses_every_session_is_logged_in_to_once_more_and_no_oftener(simulator: Make) -> None:
    fleet = simulator()

    async def work(bmc: Bmc) -> Any:
        await read_system(bmc)
        fleet[0].fault(Fault("GET", status=401, message_id="AccessDenied"))
        for _ in range(5):
            with pytest.raises(BmcLoginError):
                await read_system(bmc)

    assert outcome_of(fleet, work).error is None
    assert fleet[0].sessions.created == 2


def test_a_logout_of_a_session_that_is_gone_counts_as_done(simulator: Make) -> None:
    fleet = simulator()

    async def work(bmc: Bmc) -> Any:
        value = await read_system(bmc)
        fleet[0].sessions.open.clear()
        return value

    outcome = outcome_of(fleet, work)
    assert (outcome.value, outcome.error) == (fleet[0].service_tag, None)
    assert sum(one.method == "DELETE" for one in fleet[0].requests) == 1


def test_a_command_is_not_sent_twice_when_its_session_has_ended(simulator: Make) -> None:
    fleet = simulator()

    async def work(bmc: Bmc) -> Any:
        await read_system(bmc)
        fleet[0].sessions.open.clear()
        return await bmc.post(RESET, {"ResetType": "On"})

    outcome = outcome_of(fleet, work)
    assert isinstance(outcome.error, BmcLoginError)
    assert sent(fleet, "POST", RESET) == 1


def test_a_session_that_may_have_timed_out_is_looked_at_before_a_command(simulator: Make) -> None:
    fleet = simulator()
    now = [0.0]

    async def work(bmc: Bmc) -> Any:
        await read_system(bmc)
        fleet[0].sessions.open.clear()
        now[0] += 1900.0
        return (await bmc.post(RESET, {"ResetType": "ForceOff"})).ok

    outcome = outcome_of(fleet, work, clock=lambda: now[0])
    assert outcome.value is True
    assert sent(fleet, "POST", RESET) == 1


# 25: https://github.com/dsx-ai-factory/infra-controller/issues/6419
def test_a_slow_collection_costs_its_own_deadline_and_nothing_else(simulator: Make) -> None:
    fleet = simulator()
    firmware = "/redfish/v1/UpdateService/FirmwareInventory"
    fleet[0].fault(Fault("GET", firmware, hang=True, times=1))

    async def work(bmc: Bmc) -> Any:
        members = await bmc.members(firmware, Group.SLOW)
        return len(members), await read_system(bmc)

    outcome = outcome_of(fleet, work, limits=Limits(slow_s=1.0))
    assert outcome.error is None, outcome.error
    assert outcome.value[0] > 5
    assert any("read one by one" in note.text for note in outcome.notes)


# 26: https://github.com/dsx-ai-factory/nv-redfish/pull/162
def test_changes_of_one_bmc_never_overlap_and_reads_are_two_at_once(simulator: Make) -> None:
    fleet = simulator()
    under_way = {"GET": 0, "PATCH": 0}
    most = dict(under_way)
    fleet[0].latency = lambda method, path, dice: 0.05

    async def one(bmc: Any, method: str) -> None:
        if method == "PATCH":
            await bmc.patch(SYSTEM, {"AssetTag": "x"})
        else:
            await bmc.get(SYSTEM)

    async def work(bmc: Any) -> None:
        await bmc.get(SYSTEM)
        transport = bmc._link._transport
        real = transport.send

        async def counting(method: str, path: str, **more: Any) -> Any:
            under_way[method] += 1
            most[method] = max(most[method], under_way[method])
            try:
                return await real(method, path, **more)
            finally:
                under_way[method] -= 1

        transport.send = counting
        await asyncio.gather(*(one(bmc, method) for method in ["PATCH", "GET"] * 4))
        transport.send = real

    assert outcome_of(fleet, work).error is None
    assert most == {"GET": 2, "PATCH": 1}


# 30: https://github.com/bb-Ricardo/check_redfish/issues/14
def test_a_sub_chassis_that_fails_is_noted_and_the_rest_is_read(simulator: Make) -> None:
    fleet = simulator()
    members = outcome_of(fleet, lambda bmc: bmc.members("/redfish/v1/Chassis")).value
    assert len(members) > 1
    last = members[-1]["@odata.id"]
    fleet[0].fault(Fault("GET", "/redfish/v1/Chassis", status=501, times=1))  # $expand; then one by one
    fleet[0].fault(Fault("GET", last, status=500, message_id="SYS446"))

    async def work(bmc: Bmc) -> list[Any]:
        return [member["@odata.id"] for member in await bmc.members("/redfish/v1/Chassis")]

    outcome = outcome_of(fleet, work)
    assert outcome.error is None, outcome.error
    assert outcome.value == [member["@odata.id"] for member in members[:-1]]
    (note,) = (note.text for note in outcome.notes if note.path == last)
    assert "SYS446" in note
    assert [one.status for one in fleet[0].requests if one.path == last] == [500]


# The DMTF client sent a power command that timed out four times (measured).
@pytest.mark.parametrize("writes", [False, True], ids=["aiohttp", "dmtf"])
def test_a_command_whose_answer_is_lost_is_carried_out_once_and_said_to_be_unknown(
    simulator: Make, writes: bool
) -> None:
    fleet = simulator()
    fleet[0].fault(Fault("POST", RESET, drop_answer=True))
    outcome = outcome_of(fleet, lambda bmc: bmc.post(RESET, {"ResetType": "ForceRestart"}), writes=writes)
    assert isinstance(outcome.error, BmcOutcomeUnknownError)
    assert sent(fleet, "POST", RESET) == 1
    assert len(fleet[0].sessions) == 0


# 15: https://github.com/dell/dellemc-openmanage-ansible-modules/issues/113
def test_a_job_that_is_running_is_waited_for_and_then_named(simulator: Make) -> None:
    fleet = simulator(speed=SPEED)
    fleet[0].fault(Fault("PATCH", SYSTEM, status=503, message_id="RAC0679", times=2))
    work = lambda bmc: bmc.patch(SYSTEM, {"AssetTag": "x"})  # noqa: E731
    assert outcome_of(fleet, work).error is None
    fleet[0].fault(Fault("PATCH", SYSTEM, status=503, message_id="RAC0679"))
    outcome = outcome_of(fleet, work, limits=Limits(budget_s=5))
    assert isinstance(outcome.error, BmcBusyError)
    assert "RAC0679" in str(outcome.error)


# 19: https://github.com/dell/iDRAC-Redfish-Scripting/issues/266
def test_a_bmc_that_restarts_is_waited_for_when_the_caller_knows(simulator: Make) -> None:
    fleet = simulator(speed=SPEED)

    async def work(bmc: Any) -> Any:
        await read_system(bmc)
        fleet[0].readiness.restart(300.0)
        return (await bmc.get(SYSTEM, absent_s=600.0)).resource["SKU"]

    outcome = outcome_of(fleet, work, clock=lambda: asyncio.get_running_loop().time() * SPEED)
    assert outcome.error is None, outcome.error
    assert outcome.value == fleet[0].service_tag
    assert len(fleet[0].sessions) == 0
