"""Many BMCs at once: order, limits, sick ones, and what a run leaves behind."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fabricctl.errors import (
    BmcError,
    BmcFingerprintError,
    BmcInternalError,
    BmcLoginError,
    BmcSkippedError,
    BmcTlsError,
    BmcUnreachableError,
    SecretError,
    StateError,
)
from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust, Verify
from provision.redfish.bmc import Bmc, Layout
from provision.redfish.fleet import FleetOptions, Interrupted, Limits, ask, ask_async
from provision.redfish.trust import fetch_certificate
from tests.sim.idrac import Fault, Profile, Simulator
from tests.sim.idrac.replay import Replay

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
Make = Callable[..., Simulator]


def targets_of(fleet: Simulator) -> list[Target]:
    return [
        Target(bmc.host, bmc.address, fleet.port, trust=Trust(fingerprint=bmc.fingerprint)) for bmc in fleet
    ]


def options(fleet: Simulator, **changes: Any) -> FleetOptions:
    credentials = Credentials("root", Secret(fleet.password))
    fields = {"credentials": lambda target: credentials, "random": Random(1), "reaper": False, **changes}
    return FleetOptions(**fields)


async def tag(bmc: Bmc) -> Any:
    return (await bmc.get(SYSTEM)).resource["SKU"]


def test_outcomes_come_in_the_order_of_the_targets_and_each_is_told_once(simulator: Make) -> None:
    fleet = simulator(9)
    told: list[tuple[str, int]] = []

    async def work(bmc: Bmc) -> Any:
        await asyncio.sleep(0.01 * (9 - int(bmc.target.host[3:])))
        return await tag(bmc)

    outcomes = ask(
        targets_of(fleet),
        work,
        options(fleet),
        done=lambda outcome, count: told.append((outcome.target.host, count)),
    )
    assert [outcome.value for outcome in outcomes] == [bmc.service_tag for bmc in fleet]
    assert [count for _, count in told] == list(range(1, 10))
    assert sorted(host for host, _ in told) == fleet.hosts
    assert all(outcome.requests == 4 and outcome.seconds > 0 for outcome in outcomes)


@pytest.mark.parametrize(("limits", "wave", "most"), [(Limits(fleet=3), None, 3), (Limits(), 2, 2)])
def test_no_more_bmcs_are_asked_at_once_than_the_limit_and_the_wave_allow(
    simulator: Make, limits: Limits, wave: int | None, most: int
) -> None:
    fleet = simulator(8)
    now = [0]
    seen = []

    async def work(bmc: Bmc) -> None:
        now[0] += 1
        seen.append(now[0])
        await asyncio.sleep(0.02)
        now[0] -= 1

    ask(targets_of(fleet), work, options(fleet, limits=limits), wave=wave)
    assert max(seen) == most


def test_one_sick_bmc_delays_nobody_else(simulator: Make) -> None:
    fleet = simulator(6)
    fleet[2].fault(Fault(hang=True))
    ended: list[str] = []

    async def work(bmc: Bmc) -> Any:
        if bmc.target.host != "gpu003":
            return await tag(bmc)
        hanging = asyncio.ensure_future(tag(bmc))
        while len(ended) < 5:  # the others are finished while this one hangs
            assert not hanging.done()
            await asyncio.sleep(0.01)
        hanging.cancel()
        return "hung"

    outcomes = ask(
        targets_of(fleet),
        work,
        options(fleet, limits=Limits(quick_s=60.0)),
        done=lambda outcome, count: ended.append(outcome.target.host),
    )
    assert [outcome.error for outcome in outcomes] == [None] * 6
    assert (outcomes[2].value, ended[-1]) == ("hung", "gpu003")


def test_a_bmc_that_hangs_gets_one_deadline_and_is_not_asked_again(simulator: Make) -> None:
    fleet = simulator()
    fleet[0].fault(Fault(hang=True))

    async def work(bmc: Bmc) -> list[str]:
        kinds = []
        for number in range(20):
            try:
                await bmc.get(f"/redfish/v1/Chassis/{number}")
            except BmcError as exc:
                kinds.append(type(exc).__name__)
        return kinds

    outcome = ask(targets_of(fleet), work, options(fleet, limits=Limits(quick_s=1.0)))[0]
    assert outcome.value == ["BmcDeadlineError", *["BmcSkippedError"] * 19]
    assert outcome.requests == 1


async def quick_sleep(seconds: float) -> None:
    await asyncio.sleep(seconds / 100)


def test_a_bmc_that_breaks_connections_again_and_again_is_given_up(simulator: Make) -> None:
    fleet = simulator()

    async def work(bmc: Bmc) -> Any:
        await tag(bmc)
        fleet[0].fault(Fault("GET", reset=True))
        with pytest.raises(BmcUnreachableError):
            await tag(bmc)
        with pytest.raises(BmcSkippedError, match="not asked any more"):
            await tag(bmc)
        return sum(one.path == SYSTEM for one in fleet[0].requests)

    outcome = ask(targets_of(fleet), work, options(fleet, sleep=quick_sleep))[0]
    assert outcome.error is None
    assert outcome.value == 1 + 3  # the first and its two repetitions
    assert len(fleet[0].sessions) == 0  # the logout is sent all the same


@pytest.mark.parametrize("kind", ["reset", "cut_body"])
def test_a_read_whose_connection_broke_is_repeated(simulator: Make, kind: str) -> None:
    fleet = simulator()
    fleet[0].fault(Fault("GET", SYSTEM, times=2, reset=kind == "reset", cut_body=kind == "cut_body"))
    outcome = ask(targets_of(fleet), tag, options(fleet, sleep=quick_sleep))[0]
    assert outcome.value == fleet[0].service_tag


def test_refused_unknown_and_healthy_bmcs_stand_side_by_side(simulator: Make) -> None:
    fleet = simulator(2)
    fleet[1].users["root"] = "another"
    pinned = Trust(fingerprint="ab" * 32)
    targets = [
        *targets_of(fleet),
        Target("gpu003", "127.31.99.1", fleet.port, trust=pinned),
        Target("gpu004", fleet[0].address, fleet.port, trust=pinned),
        Target("gpu005", fleet[0].address, fleet.port),
    ]
    outcomes = ask(targets, tag, options(fleet, sleep=quick_sleep))
    kinds = [type(outcome.error) for outcome in outcomes]
    assert kinds == [type(None), BmcLoginError, BmcUnreachableError, BmcFingerprintError, BmcTlsError]
    for outcome in outcomes[1:]:
        assert str(outcome.error).startswith(str(outcome.target))
    assert "run fabricctl bmc trust gpu005" in str(outcomes[4].error)
    assert outcomes[4].requests == 0


def test_without_credentials_an_unknown_certificate_is_no_obstacle_and_nothing_needs_a_login(
    simulator: Make,
) -> None:
    fleet = simulator()
    target = Target("gpu001", fleet[0].address, fleet.port)

    async def work(bmc: Bmc) -> Any:
        root = await bmc.root()
        with pytest.raises(BmcLoginError, match="no credentials are used"):
            await tag(bmc)
        return root["Oem"]["Dell"]["ServiceTag"]

    outcome = ask([target], work, options(fleet, credentials=None))[0]
    assert outcome.value == fleet[0].service_tag
    assert [one.path for one in fleet[0].requests] == ["/redfish/v1"]


def test_a_password_that_cannot_be_found_is_that_bmcs_failure(simulator: Make) -> None:
    fleet = simulator(2)
    known = Credentials("root", Secret(fleet.password))

    def source(target: Target) -> Credentials:
        if target.host == "gpu001":
            raise SecretError("the environment variable is not set", reference="env:NAME")
        return known

    outcomes = ask(targets_of(fleet), tag, options(fleet, credentials=source))
    assert isinstance(outcomes[0].error, BmcLoginError)
    assert "env:NAME" in str(outcomes[0].error)
    assert outcomes[1].error is None


def test_a_bug_of_ours_costs_one_bmc_only_and_is_not_said_to_be_the_bmcs(
    simulator: Make, caplog: pytest.LogCaptureFixture
) -> None:
    fleet = simulator(3)

    async def work(bmc: Bmc) -> Any:
        value = await tag(bmc)
        return value if bmc.target.host != "gpu002" else {}["absent"]

    outcomes = ask(targets_of(fleet), work, options(fleet))
    assert [type(outcome.error) for outcome in outcomes] == [type(None), BmcInternalError, type(None)]
    assert "fabricctl failed on this BMC: KeyError" in str(outcomes[1].error)
    assert not caplog.records  # a traceback only with --debug
    assert all(len(bmc.sessions) == 0 for bmc in fleet)


def test_an_error_that_is_no_bmcs_ends_the_run_and_every_session(simulator: Make) -> None:
    fleet = simulator(4)

    async def work(bmc: Bmc) -> Any:
        await tag(bmc)
        if bmc.target.host == "gpu003":
            raise StateError("the disk is full")
        await asyncio.sleep(600)

    with pytest.raises(StateError):
        ask(targets_of(fleet), work, options(fleet))
    assert all(len(bmc.sessions) == 0 for bmc in fleet)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_tells_what_it_finished_and_logs_out(
    simulator: Make, number: signal.Signals
) -> None:
    fleet = simulator(4)
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}

    async def work(bmc: Bmc) -> Any:
        value = await tag(bmc)
        if bmc.target.host == "gpu004":
            await asyncio.sleep(0.2)
            os.kill(os.getpid(), number)
        if bmc.target.host in ("gpu003", "gpu004"):
            await asyncio.sleep(600)
        return value

    with pytest.raises(Interrupted) as caught:
        ask(targets_of(fleet), work, options(fleet))
    assert [outcome.value for outcome in caught.value.outcomes] == [bmc.service_tag for bmc in fleet][:2]
    assert all(len(bmc.sessions) == 0 for bmc in fleet)
    assert {one: signal.getsignal(one) for one in handlers} == handlers


def test_a_run_can_be_part_of_a_bigger_loop(simulator: Make) -> None:
    fleet = simulator(2)

    async def both() -> list[list[Outcome[Any]]]:
        one, two = targets_of(fleet)
        return list(
            await asyncio.gather(ask_async([one], tag, options(fleet)), ask_async([two], tag, options(fleet)))
        )

    assert [[outcome.value for outcome in part] for part in asyncio.run(both())] == [
        [bmc.service_tag] for bmc in fleet
    ]


def test_no_targets_no_work(simulator: Make) -> None:
    assert ask([], tag, FleetOptions(None)) == []


def test_a_certificate_is_fetched_from_whomever_without_sending_anything(simulator: Make) -> None:
    fleet = simulator()
    shown = asyncio.run(fetch_certificate(Target("gpu001", fleet[0].address, fleet.port)))
    assert shown.fingerprint == fleet[0].fingerprint
    assert shown.not_before <= datetime.now(UTC) <= shown.not_after
    assert fleet[0].service_tag.lower() in shown.subject.lower()
    assert list(fleet[0].requests) == []


def test_certificates_of_nobody_are_bmc_errors(tmp_path: Path) -> None:
    with pytest.raises(BmcUnreachableError, match="refused"):
        asyncio.run(fetch_certificate(Target("gpu001", "127.31.99.1", 9)))


def layout_work(bmc: Bmc) -> Awaitable[Layout]:
    return bmc.layout()


@pytest.mark.parametrize(
    ("profile", "generation"), [(Profile.IDRAC9_6, 9), (Profile.IDRAC9_7, 9), (Profile.IDRAC10, 10)]
)
def test_the_layout_of_an_idrac_takes_no_request_and_its_generation_one(
    simulator: Make, profile: Profile, generation: int
) -> None:
    fleet = simulator(profile=profile)

    async def work(bmc: Bmc) -> tuple[Layout, int, int]:
        before = await bmc.layout()
        return before, await bmc.generation(), (await bmc.layout()).generation

    layout, first, second = ask(targets_of(fleet), work, options(fleet))[0].value or ()
    assert layout.system == SYSTEM
    assert layout.manager == "/redfish/v1/Managers/iDRAC.Embedded.1"
    assert layout.chassis == ("/redfish/v1/Chassis/System.Embedded.1",)
    assert (layout.vendor, layout.generation, first, second) == ("Dell", 0, generation, generation)
    assert [one.path for one in fleet[0].requests if one.method == "GET"] == ["/redfish/v1", layout.manager]


@pytest.mark.captures
@pytest.mark.parametrize(
    ("dump", "expected", "requests"),
    [
        (
            "dell_r750_h100_ib_idrac9_6.00.30.json",
            Layout(
                SYSTEM,
                "/redfish/v1/Managers/iDRAC.Embedded.1",
                ("/redfish/v1/Chassis/System.Embedded.1",),
                "Dell",
            ),
            1,
        ),
        (
            "nvidia_dgx_h100_8xCX7.json",
            Layout(
                "/redfish/v1/Systems/DGX",
                "/redfish/v1/Managers/BMC",
                ("/redfish/v1/Chassis/DGX", "/redfish/v1/Chassis/CPUBaseboard"),
                "AMI",
            ),
            10,
        ),
    ],
)
def test_the_layout_of_real_bmcs(captures: Path, dump: str, expected: Layout, requests: int) -> None:
    with Replay(captures / "redfish" / dump) as service:
        target = Target("gpu001", service.address, service.port, trust=Trust(fingerprint=service.fingerprint))
        credentials = Credentials(service.user, Secret(service.password))
        outcome = ask([target], layout_work, FleetOptions(lambda target: credentials, reaper=False))[0]
    assert outcome.error is None, outcome.error
    assert outcome.value == expected
    assert outcome.requests <= requests


@pytest.mark.captures
def test_a_dangling_link_and_pages_of_a_real_idrac(captures: Path) -> None:
    with Replay(captures / "redfish" / "dell_r750_h100_ib_idrac9_6.00.30.json") as service:
        target = Target("gpu001", service.address, service.port, trust=Trust(Verify.OFF))
        credentials = Credentials(service.user, Secret(service.password))

        async def work(bmc: Bmc) -> Any:
            sensors = await bmc.members(f"{SYSTEM}/Oem/Dell/DellSensors")
            slots = await bmc.members(f"{SYSTEM}/Oem/Dell/DellSlots")
            return len(sensors), len(slots)

        outcome = ask([target], work, FleetOptions(lambda target: credentials, reaper=False))[0]
    assert outcome.error is None, outcome.error
    assert outcome.value == (77, 67)  # Members@odata.count of the capture, of which a page has 50
