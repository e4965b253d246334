"""Replaced parts on the double: id, host name and address stay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.install.machine import Machine
from provision.install.outcome import End, NodeResult, Told
from provision.install.spec import EnrolSpec, Power
from provision.workflows.install_model import FleetInterrupted
from provision.workflows.install_replace import look_replace, replace_parts
from tests.provision.install.flow_kit import Client, Kit, flow_kit, spec_of

HOST = "gpu001"
NEW = Mac("52:54:00:00:00:99")


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def replaced(kit: Kit, spec: EnrolSpec, *, credentials: bool = False) -> NodeResult:
    async def work(client: Client) -> Sequence[NodeResult]:
        seen = await look_replace(client.maas, [spec], {}, credentials=credentials)
        return await replace_parts(client.maas, [spec], client.options, seen)

    return kit.run(work)[0]


def found(kit: Kit) -> Machine:
    return kit.run(lambda client: client.maas.find(hostnames=[HOST]))[0]


def enrolled(kit: Kit) -> Machine:
    async def work(client: Client) -> None:
        await client.enrol([HOST])
        await client.commission([HOST])

    kit.run(work)
    return found(kit)


def test_a_nic_gets_its_new_mac_and_the_machine_stays_what_it_was(kit: Kit) -> None:
    before = enrolled(kit)
    result = replaced(kit, spec_of(HOST, macs=(NEW,)))
    after = found(kit)
    assert (result.outcome, result.end) == (Told.OK, End.REPLACED)
    assert "commission it again" in result.notes[0]
    assert (after.id, after.hostname) == (before.id, before.hostname)
    assert [(nic.id, nic.name) for nic in after.nics] == [(nic.id, nic.name) for nic in before.nics]
    assert after.macs == (NEW,)


def test_a_bmc_gets_its_new_address(kit: Kit) -> None:
    before = enrolled(kit)
    result = replaced(kit, spec_of(HOST, power=Power("redfish", "192.0.2.99", "root", Secret("n3wp4ss"))))
    assert result.end is End.REPLACED
    addresses = kit.run(lambda client: client.maas.bmc_addresses())
    assert addresses == {before.id: "192.0.2.99"}
    assert "n3wp4ss" not in repr(result)


def test_a_second_time_there_is_nothing_to_do(kit: Kit) -> None:
    enrolled(kit)
    replaced(kit, spec_of(HOST, macs=(NEW,)))
    assert replaced(kit, spec_of(HOST, macs=(NEW,))).end is End.UNCHANGED


@pytest.mark.parametrize("kind", ["503-after-commit", "drop-after", "drop-before"])
def test_a_lost_answer_is_looked_after(kit: Kit, kind: str) -> None:
    enrolled(kit)
    kit.maas.double.faults.add(kind, HOST, "interfaces.update")
    assert replaced(kit, spec_of(HOST, macs=(NEW,))).end is End.REPLACED
    assert found(kit).macs == (NEW,)


def test_an_ambiguous_case_changes_nothing(kit: Kit) -> None:
    kit.maas.double.add_machine(HOST, ["52:54:00:00:00:01", "52:54:00:00:00:02"])
    spec = spec_of(HOST, macs=(NEW, Mac("52:54:00:00:00:98")))
    result = replaced(kit, spec)
    assert (result.outcome, result.end) == (Told.FINDING, End.REFUSED)
    assert not [one for one in kit.maas.double.requests if one.method == "PUT"]


def test_an_interrupted_replacement_says_what_was_done_and_what_nobody_knows(kit: Kit) -> None:
    enrolled(kit)
    moved = spec_of(HOST, macs=(NEW,), power=Power("redfish", "192.0.2.250", "root", Secret("calvin")))

    async def work(client: Client) -> Sequence[NodeResult]:
        seen = await look_replace(client.maas, [moved], {})
        change = client.maas.set_power

        async def interrupted(id: str, power: Power) -> Machine:
            running.cancel()
            return await change(id, power)

        client.maas.set_power = interrupted  # type: ignore[method-assign]
        running = asyncio.ensure_future(replace_parts(client.maas, [moved], client.options, seen))
        with pytest.raises(FleetInterrupted) as stopped:
            await running
        return stopped.value.results

    (result,) = kit.run(work)
    assert (result.outcome, result.end) == (Told.UNKNOWN, End.INTERRUPTED)
    assert (result.written, result.requests) == (True, 2)
    assert result.machine_id
    done, unknown = result.reason.split("; ")[2:]
    assert done.endswith(f"-> {NEW}")
    assert unknown.startswith("not known whether it was done: BMC: ")
    assert "192.0.2.250" in unknown
