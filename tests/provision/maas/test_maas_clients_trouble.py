"""Our client and python-libmaas do the same to the same MAAS where it fails, collides or loses an answer.

This file asks for no fixture of a conftest.py, so that it also runs in a small environment of another Python
(see ``test_maas_pythons.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from fabricctl.errors import (
    ProvisionerBusyError,
    ProvisionerError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
)
from provision.bmc.secret import Secret
from provision.install.machine import QUARANTINE_TAG, Machine, Stage
from provision.install.spec import DeploySpec, Power
from provision.maas.provisioner import MaasProvisioner
from provision.maas.retry import COLLISIONS
from tests.provision.maas.maas_clients import (
    CLIENTS,
    MACS,
    PASSWORD,
    Open,
    add,
    ask,
    client_named,
    deployed,
    libmaas,
    need_libmaas,
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


def test_a_quarantine_takes_a_machine_out_of_the_pool_and_is_ended(client: Open, maas: ServedDouble) -> None:
    (id,) = ready(maas)

    async def begin(opened: MaasProvisioner) -> Machine:
        (machine,) = await opened.read([id])
        await opened.quarantine(machine, "2 of 9 disks missing")
        return (await opened.read([id]))[0]

    machine = ask(client, maas, begin)
    assert (machine.stage, machine.tags, machine.said) == (
        Stage.BROKEN,
        (QUARANTINE_TAG,),
        "2 of 9 disks missing",
    )

    async def end(opened: MaasProvisioner) -> Machine:
        await opened.restore(machine)
        return (await opened.read([id]))[0]

    machine = ask(client, maas, end)
    assert (machine.stage, machine.tags) == (Stage.READY, (QUARANTINE_TAG,))


@pytest.mark.parametrize("phase", ["commission", "deploy"])
def test_why_a_phase_failed_is_told_in_maass_words(client: Open, maas: ServedDouble, phase: str) -> None:
    (id,) = ready(maas)
    maas.double.faults.add("fail", op=phase, text="No space left on device")
    if phase == "commission":
        ask(own, maas, lambda opened: opened.manage(id))
    else:
        ask(own, maas, lambda opened: opened.deploy(id, DeploySpec("jammy", "ga", Secret("x"))))
    maas.advance(7200)

    async def work(opened: MaasProvisioner) -> tuple[Machine, str]:
        (machine,) = await opened.read([id])
        return machine, await opened.why(machine)

    machine, why = ask(client, maas, work)
    assert machine.stage is Stage.FAILED
    assert machine.failed is not None
    assert machine.failed.value == phase
    assert ("50-maas-01-commissioning" if phase == "commission" else "Installation failed") in why


def test_a_machine_that_was_never_looked_at_is_quarantined_by_its_tag(
    client: Open, maas: ServedDouble
) -> None:
    (id,) = add(maas, 1)

    async def work(opened: MaasProvisioner) -> Machine:
        (machine,) = await opened.read([id])
        await opened.quarantine(machine, "wrong service tag")
        return (await opened.read([id]))[0]

    machine = ask(client, maas, work)
    assert QUARANTINE_TAG in machine.tags
    assert machine.stage in (Stage.NEW, Stage.BROKEN)


def test_what_changed_is_told_since_a_cursor(client: Open, maas: ServedDouble) -> None:
    first, second = add(maas, 2)

    async def work(opened: MaasProvisioner) -> list[Any]:
        begin = await opened.changes("")
        with maas.double.lock:
            maas.double.event(maas.double.records[second], "INFO", "Ready")
        change = await opened.changes(begin.cursor)
        again = await opened.changes(change.cursor)
        return [begin.ids, change.ids, change.said, again.ids]

    assert ask(client, maas, work) == [frozenset(), {second}, {second: "Ready"}, frozenset()]
    assert first != second


def test_a_conflict_in_maass_database_is_sent_again(client: Open, maas: ServedDouble) -> None:
    ids = add(maas, 1)
    maas.double.faults.add("conflict", op="tags.update_nodes", count=2)
    before = len(maas.double.requests)
    ask(client, maas, lambda opened: opened.tag(ids, "rack-a1"))
    assert [status for _, op, status in since(maas, before) if op == "tags.update_nodes"][:2] == [409, 409]
    assert maas.double.machines[ids[0]].tags == {"rack-a1"}


def test_conflicts_without_end_end(client: Open, maas: ServedDouble) -> None:
    id = deployed(maas)
    maas.double.faults.add("conflict", op="release", count=None)
    before = len(maas.double.requests)
    with pytest.raises(ProvisionerBusyError):
        ask(client, maas, lambda opened: opened.release(id))
    assert since(maas, before) == [("POST", "release", 409)] * COLLISIONS


@pytest.mark.parametrize("fault", ["drop-after", "drop-before", "503-after-commit", "504-continues", "error"])
def test_a_write_whose_answer_is_lost_has_an_unknown_outcome_and_is_sent_once(
    client: Open, maas: ServedDouble, fault: str
) -> None:
    id = deployed(maas)
    maas.double.faults.add(fault, op="release", count=None)
    before = len(maas.double.requests)
    with pytest.raises(ProvisionerOutcomeUnknownError):
        ask(client, maas, lambda opened: opened.release(id))
    assert len(since(maas, before)) == 1


def test_a_bmc_that_no_rack_controller_reaches_is_a_power_error(client: Open, maas: ServedDouble) -> None:
    (id,) = add(maas, 1)
    maas.double.racks = 0
    with pytest.raises(ProvisionerPowerError, match="No rack controllers can access the BMC of node gpu001"):
        ask(client, maas, lambda opened: opened.query_power(id))


def test_many_requests_share_one_limit(client: Open, maas: ServedDouble) -> None:
    ids = add(maas, 3)

    async def work(opened: MaasProvisioner) -> int:
        many = await asyncio.gather(*(opened.read(ids) for _ in range(20)))
        return sum(len(machines) for machines in many)

    assert ask(client, maas, work, requests=2) == 60


def session(client: Open) -> list[Any]:
    """The same work on a MAAS of its own: what it tells, and what errors it gives."""

    async def outcome(awaited: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await awaited
        except ProvisionerError as exc:
            return f"{type(exc).__name__}: {exc}"

    with maas_double(seed=7) as maas:
        first, second = ready(maas, 2)

        async def work(opened: MaasProvisioner) -> list[Any]:
            cursor = (await opened.changes("")).cursor
            told: list[Any] = [await opened.find(MACS, ["gpu001"]), await opened.bmc_addresses()]
            await opened.tag([first, second], "rack-a1")
            told.append(await outcome(opened.tag([first, "zzzzzz"], "rack-a1")))
            told.append(await outcome(opened.abort(first)))
            told.append(await outcome(opened.release("zzzzzz")))
            told.append(await opened.set_power(second, Power("ipmi", "10.9.0.2", "ops", Secret(PASSWORD))))
            (machine,) = await opened.read([first])
            await opened.quarantine(machine, "bad psu")
            told.append(await opened.read([first, second]))
            told.append(await outcome(opened.quarantine(machine, "again")))
            told.append((await opened.changes(cursor)).ids == {first})
            told.append([await opened.images(), await opened.racks()])
            told.append(await opened.results(first))
            told.append(await opened.why((await opened.read([first]))[0]))
            return told

        return ask(client, maas, work)


def test_both_clients_tell_the_same_of_the_same_session() -> None:
    need_libmaas()
    assert session(own) == session(libmaas)
