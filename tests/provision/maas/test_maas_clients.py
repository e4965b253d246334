"""Our client and python-libmaas do the same to the same MAAS: what is read, tagged, changed and released.

This file asks for no fixture of a conftest.py, so that it also runs in a small environment of another Python
(see ``test_maas_pythons.py``).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerAnswerError,
    ProvisionerForbiddenError,
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.install.machine import Machine, Stage
from provision.install.spec import Power
from provision.maas.provisioner import MaasProvisioner
from tests.provision.maas.maas_clients import (
    CLIENTS,
    MACS,
    Open,
    add,
    ask,
    client_named,
    deployed,
    own,
    ready,
    since,
)
from tests.sim.maas.process import ServedDouble, maas_double


@pytest.fixture(params=CLIENTS, ids=list(CLIENTS))
def client(request: pytest.FixtureRequest) -> Open:
    return client_named(request.param)


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as double:
        yield double


def test_it_connects_and_tells_maass_version_and_whose_key_it_is(client: Open, maas: ServedDouble) -> None:
    async def work(opened: MaasProvisioner) -> tuple[str, str]:
        return await opened.version(), await opened.user()

    assert ask(client, maas, work) == ("3.7.3", "admin")


def test_a_wrong_key_is_refused(client: Open, maas: ServedDouble) -> None:
    with pytest.raises(ProvisionerLoginError) as caught:
        ask(client, maas, lambda opened: opened.user(), key=Secret("wrong:wrong2:wrong3"))
    assert "wrong3" not in str(caught.value)


def test_nobody_listening_is_unreachable(client: Open, maas: ServedDouble) -> None:
    with pytest.raises(ProvisionerUnreachableError):
        ask(client, maas, lambda opened: opened.user(), url="http://127.0.0.1:1/MAAS")


def test_machines_are_found_by_mac_and_by_name(client: Open, maas: ServedDouble) -> None:
    first, second, third = add(maas, 3)

    async def work(opened: MaasProvisioner) -> list[list[str]]:
        asked = [
            await opened.find([MACS[0], MACS[2]]),
            await opened.find([], ["gpu002.maas", "gpu009"]),
            await opened.find([MACS[0]], ["gpu001", "gpu002"]),
            await opened.find([MACS[4]], ["gpu009"]),
        ]
        return [sorted(machine.hostname for machine in machines) for machines in asked]

    assert ask(client, maas, work) == [["gpu001", "gpu003"], ["gpu002"], ["gpu001", "gpu002"], []]
    assert len({first, second, third}) == 3


def test_machines_are_read_by_id_in_one_request_and_absent_ones_are_left_out(
    client: Open, maas: ServedDouble
) -> None:
    ids = add(maas, 3)
    before = len(maas.double.requests)
    found = ask(client, maas, lambda opened: opened.read([*ids, "zzzzzz"]))
    assert sorted(machine.id for machine in found) == sorted(ids)
    assert since(maas, before) == [("GET", "list", 200)]


def test_a_commissioned_machine_is_read_with_its_disks_and_nics(client: Open, maas: ServedDouble) -> None:
    (id,) = ready(maas)
    (machine,) = ask(client, maas, lambda opened: opened.read([id]))
    assert (machine.stage, machine.status, machine.hostname) == (Stage.READY, "Ready", "gpu001")
    real = maas.double.machines[id].hardware
    assert sorted(disk.serial for disk in machine.disks) == sorted(disk.serial for disk in real.disks)
    assert MACS[0] in machine.macs
    assert machine.boot_disk
    assert machine.root_disk


def test_gpus_are_counted_by_what_commissioning_saw(client: Open, maas: ServedDouble) -> None:
    (id,) = ready(maas)
    assert ask(client, maas, lambda opened: opened.gpus(id)) == len(maas.double.machines[id].hardware.gpus)


def test_a_tag_is_made_put_on_and_taken_off(client: Open, maas: ServedDouble) -> None:
    ids = add(maas, 2)

    async def work(opened: MaasProvisioner) -> list[tuple[str, ...]]:
        await opened.tag(ids, "rack-a1")
        await opened.tag(ids, "rack-a1")  # again: no harm
        await opened.tag(ids[:1], "rack-a1", on=False)
        return [machine.tags for machine in sorted(await opened.read(ids), key=lambda one: one.hostname)]

    assert ask(client, maas, work) == [(), ("rack-a1",)]


def test_a_tag_for_a_machine_that_is_not_there_is_an_error(client: Open, maas: ServedDouble) -> None:
    ids = add(maas, 1)
    with pytest.raises(ProvisionerAnswerError):
        ask(client, maas, lambda opened: opened.tag([*ids, "zzzzzz"], "rack-a1"))


def test_bmc_addresses_are_read_and_nothing_else_of_power_parameters(
    client: Open, maas: ServedDouble
) -> None:
    first, second = add(maas, 2)
    addresses = ask(client, maas, lambda opened: opened.bmc_addresses())
    assert addresses == {first: "10.1.0.1", second: "10.1.0.2"}


def test_power_parameters_are_changed_and_id_and_name_stay(client: Open, maas: ServedDouble) -> None:
    (id,) = add(maas, 1)
    power = Power("redfish", "10.1.0.77", "ops", Secret("another-pass"))
    machine = ask(client, maas, lambda opened: opened.set_power(id, power))
    assert (machine.id, machine.hostname) == (id, "gpu001")
    real = maas.double.machines[id].power
    assert (real["power_address"], real["power_user"], real["power_pass"]) == (
        "10.1.0.77",
        "ops",
        "another-pass",
    )


def test_a_nics_mac_is_changed_and_one_in_use_is_refused(client: Open, maas: ServedDouble) -> None:
    first, _ = add(maas, 2)

    async def work(opened: MaasProvisioner) -> Machine:
        (machine,) = await opened.read([first])
        return await opened.set_mac(machine, machine.nics[0].id, MACS[4])

    assert ask(client, maas, work).macs == (MACS[4],)

    async def taken(opened: MaasProvisioner) -> Machine:
        (machine,) = await opened.read([first])
        return await opened.set_mac(machine, machine.nics[0].id, MACS[1])

    with pytest.raises(OtherMachineError, match="gpu002"):
        ask(client, maas, taken)


def test_commissioning_is_aborted(client: Open, maas: ServedDouble) -> None:
    (id,) = add(maas, 1)
    ask(own, maas, lambda opened: opened.manage(id))
    ask(client, maas, lambda opened: opened.abort(id))
    maas.advance(60)
    assert maas.double.machines[id].status == "New"


def test_what_a_state_does_not_allow_is_said_in_maass_words_and_sent_once(
    client: Open, maas: ServedDouble
) -> None:
    (id,) = add(maas, 1)
    before = len(maas.double.requests)
    with pytest.raises(ProvisionerStateError, match="is in state New"):
        ask(client, maas, lambda opened: opened.abort(id))
    with pytest.raises(ProvisionerStateError, match=r"cannot be released in its current state \('New'\)"):
        ask(client, maas, lambda opened: opened.release(id))
    assert since(maas, before) == [("POST", "abort", 409), ("POST", "release", 409)]


def test_a_deployed_machine_is_released(client: Open, maas: ServedDouble) -> None:
    id = deployed(maas)
    ask(client, maas, lambda opened: opened.release(id, "end of the lease"))
    maas.advance(3600)
    assert maas.double.machines[id].status == "Ready"


def test_a_locked_machine_is_forbidden(client: Open, maas: ServedDouble) -> None:
    id = deployed(maas)
    with maas.double.lock:
        maas.double.records[id].locked = True
    with pytest.raises(ProvisionerForbiddenError):
        ask(client, maas, lambda opened: opened.release(id))
    assert maas.double.machines[id].status == "Deployed"


def test_a_machine_that_is_not_there_is_not_found(client: Open, maas: ServedDouble) -> None:
    with pytest.raises(ProvisionerNotFoundError):
        ask(client, maas, lambda opened: opened.release("zzzzzz"))
