"""The clock gate against a simulated fleet and the double of MAAS, each with its clock where the test puts it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fabricctl.site.load import load_site
from fabricctl.site.schema import Site
from provision.bmc.clock import OwnClock
from provision.bmc.secret import Secret
from provision.install.skew import ClockGate
from provision.maas.provisioner import open_maas
from provision.maas.settings import MaasSettings
from provision.workflows.access import fleet_options
from provision.workflows.clock import Clocks
from provision.workflows.install_clock import clock_gate
from provision.workflows.targets import site_targets
from tests.sim.idrac import Simulator
from tests.sim.maas.process import ServedDouble, maas_double

SET = OwnClock("chrony", 0.0, True)


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as served:
        yield served


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def gate(fleet: Simulator, maas: ServedDouble, clocks: Clocks | None = None) -> ClockGate:
    site: Site = load_site(fleet.site_text(whole=True, verify="off"), "site.yaml")
    targets = site_targets(site)

    async def compared() -> ClockGate:
        async with open_maas(MaasSettings(maas.url, Secret(maas.api_key))) as client:
            return await clock_gate(
                client,
                maas.url,
                targets,
                fleet_options(site),
                max_skew_s=site.management.max_clock_skew_s,
                clocks=clocks,
                own=lambda: SET,
            )

    return asyncio.run(compared())


def blamed(one: ClockGate) -> list[tuple[str, str]]:
    return [(finding.host, finding.kind) for finding in one.findings]


def test_clocks_that_agree_let_everybody_through(
    simulator: Callable[..., Simulator], maas: ServedDouble
) -> None:
    fleet = simulator(3)
    one = gate(fleet, maas)
    assert (blamed(one), one.doubts, len(one.bmcs)) == ([], (), 3)
    assert one.refused(fleet.hosts) == {}


def test_a_bmc_hours_off_is_named_and_only_its_host_is_held_back(
    simulator: Callable[..., Simulator], maas: ServedDouble
) -> None:
    fleet = simulator(3)
    fleet[1].clock_skew_s = -7200.0
    one = gate(fleet, maas)
    assert blamed(one) == [(fleet.hosts[1], "clock-skew")]
    assert set(one.refused(fleet.hosts)) == {fleet.hosts[1]}


def test_maas_minutes_off_is_named_and_everybody_is_held_back(
    simulator: Callable[..., Simulator], maas: ServedDouble
) -> None:
    fleet = simulator(3)
    maas.double.time.offset_s = 240.0
    one = gate(fleet, maas)
    assert blamed(one) == [("MAAS", "clock-skew")]
    assert set(one.refused(fleet.hosts)) == set(fleet.hosts)
    assert one.findings[0].text.startswith("MAAS: its clock is 4.0 min ahead of the controller's")


def test_a_controller_hours_off_is_named_and_nobody_else(
    simulator: Callable[..., Simulator], maas: ServedDouble
) -> None:
    fleet = simulator(3)
    late = Clocks(now=lambda: datetime.now(UTC) - timedelta(hours=3))
    one = gate(fleet, maas, late)
    assert blamed(one) == [("controller", "clock-skew")]
    assert "3.0 h behind that of MAAS and 3 of 3 BMCs" in one.findings[0].text


def test_a_bmc_outside_its_certificates_dates_is_named(
    simulator: Callable[..., Simulator], maas: ServedDouble
) -> None:
    fleet = simulator(2)
    fleet[0].clock_skew_s = 40 * 365 * 86_400.0
    assert set(blamed(gate(fleet, maas))) == {
        (fleet.hosts[0], "clock-skew"),
        (fleet.hosts[0], "certificate-dates"),
    }


def test_a_bmc_that_does_not_answer_is_a_doubt(
    simulator: Callable[..., Simulator], maas: ServedDouble, free_port: int
) -> None:
    fleet = simulator(2)
    text = fleet.site_text(whole=True, verify="off").replace(f"port: {fleet.port}", f"port: {free_port}")
    site = load_site(text, "site.yaml")
    targets = site_targets(site)

    async def compared() -> ClockGate:
        async with open_maas(MaasSettings(maas.url, Secret(maas.api_key))) as client:
            return await clock_gate(
                client, maas.url, targets, fleet_options(site), max_skew_s=30, own=lambda: SET
            )

    one = asyncio.run(compared())
    assert (blamed(one), [host for host, _ in one.doubts]) == ([], fleet.hosts)


def test_a_maas_that_does_not_answer_is_a_doubt(simulator: Callable[..., Simulator]) -> None:
    fleet = simulator(1)
    with maas_double() as served:
        pass
    one = gate(fleet, served)
    assert (blamed(one), one.maas) == ([], None)
    assert [host for host, _ in one.doubts] == ["MAAS"]


@pytest.fixture
def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
