"""Power on the way: MAAS resets a machine that is on, once a phase; we never switch one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.provision.install.flow_kit import Kit, flow_kit, hosts_of

HOST = "gpu001"


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def switched(kit: Kit) -> list[str]:
    """Requests that switch a machine."""
    return [one.op for one in kit.maas.double.requests if "power_o" in one.op]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("fault", ["", "503-after-commit", "504-continues", "drop-after"])
def test_commissioning_resets_a_machine_that_is_on_exactly_once(kit: Kit, on: bool, fault: str) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    record = kit.maas.double.machine(HOST)
    record.power_on = on
    if fault:
        kit.maas.double.faults.add(fault, HOST, "commission", later=20)
    kit.run(lambda client: client.commission([HOST]))
    assert record.status.value == "Ready"
    assert record.resets == int(on)
    assert switched(kit) == []


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("fault", ["", "503-after-commit", "504-continues", "drop-after", "conflict"])
def test_installing_resets_a_machine_that_is_on_exactly_once(kit: Kit, on: bool, fault: str) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    kit.run(lambda client: client.commission([HOST]))
    record = kit.maas.double.machine(HOST)
    record.power_on = on
    if fault:
        kit.maas.double.faults.add(fault, HOST, "deploy", later=20)
    kit.run(lambda client: client.deploy([HOST]))
    assert record.status.value == "Deployed"
    assert record.resets == int(on)
    assert switched(kit) == []


def test_a_redeploy_cuts_the_power_by_releasing_and_resets_nothing(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    record = kit.maas.double.machine(HOST)
    assert record.power_on
    kit.run(lambda client: client.deploy([HOST], redeploy=True, again=True))
    assert (record.status.value, record.resets) == ("Deployed", 0)
    assert switched(kit) == []


def test_a_failure_that_is_given_up_switches_nothing_itself(kit: Kit) -> None:
    hosts = hosts_of(2)
    kit.maas.double.faults.add("fail", "gpu001", "deploy")
    kit.maas.double.faults.add("fail", "gpu002", "commission")
    kit.run(lambda client: client.bring_up(hosts))
    assert {host: end for host, (end, _) in kit.ends().items()} == dict.fromkeys(hosts, "Broken")
    assert switched(kit) == []
