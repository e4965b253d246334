"""Our client and python-libmaas do the same to the same MAAS: everything that both can do, on both.

This file asks for no fixture of a conftest.py, so that it also runs in a small environment of another Python
(see ``test_maas_pythons.py``).
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import pytest

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerAnswerError,
    ProvisionerBusyError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
    ProvisionerUnsupportedError,
)
from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.install.machine import QUARANTINE_TAG, Disk, Machine, Stage
from provision.install.spec import DeploySpec, EnrolSpec, Power
from provision.maas.libmaas import open_libmaas
from provision.maas.provisioner import MaasProvisioner, open_maas
from provision.maas.settings import MaasSettings
from tests.sim.maas.process import ServedDouble, maas_double

T = TypeVar("T")
Work = Callable[[MaasProvisioner], Coroutine[Any, Any, T]]
Open = Callable[[MaasSettings], AbstractAsyncContextManager[MaasProvisioner]]
MACS = tuple(Mac(f"52:54:00:00:00:0{n}") for n in range(1, 6))
PASSWORD = "spring-tide-7"  # noqa: S105 - of nobody


async def _no_wait(_: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def own(settings: MaasSettings) -> AsyncIterator[MaasProvisioner]:
    async with open_maas(settings, sleep=_no_wait) as maas:
        yield maas


@asynccontextmanager
async def libmaas(settings: MaasSettings) -> AsyncIterator[MaasProvisioner]:
    async with open_libmaas(settings, sleep=_no_wait) as maas:
        yield maas


def need_libmaas() -> None:
    """Skip without the library, fail where nothing may be absent."""
    if importlib.util.find_spec("maas") is None or importlib.util.find_spec("maas.client") is None:
        if os.environ.get("REQUIRE_TOOLS") == "1":
            pytest.fail("python-libmaas is not installed; `make setup` installs it", pytrace=False)
        pytest.skip("python-libmaas is not installed")


@pytest.fixture(params=[own, libmaas], ids=["own", "libmaas"])
def client(request: pytest.FixtureRequest) -> Open:
    if request.param is libmaas:
        need_libmaas()
    opened: Open = request.param
    return opened


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as double:
        yield double


def settings_of(maas: ServedDouble, **changes: Any) -> MaasSettings:
    return MaasSettings(**{"url": maas.url, "key": Secret(maas.api_key), "answer_s": 20.0, **changes})


def ask(client: Open, maas: ServedDouble, work: Work[T], **changes: Any) -> T:
    """What the work brings, or raises, with one client."""

    async def run() -> T:
        async with client(settings_of(maas, **changes)) as opened:
            return await work(opened)

    return asyncio.run(asyncio.wait_for(run(), 60))


def add(maas: ServedDouble, count: int = 2) -> list[str]:
    """Machines gpu001, gpu002…, just created. Their ids."""
    return [
        maas.double.add_machine(
            f"gpu00{n}",
            [MACS[n - 1]],
            power_type="redfish",
            power_parameters_power_address=f"10.1.0.{n}",
            power_parameters_power_user="maas",
            power_parameters_power_pass=PASSWORD,
        ).system_id
        for n in range(1, count + 1)
    ]


def ready(maas: ServedDouble, count: int = 1) -> list[str]:
    """Machines that were commissioned."""
    ids = add(maas, count)

    async def work(client: MaasProvisioner) -> None:
        for id in ids:
            await client.manage(id)

    ask(own, maas, work)
    maas.advance(7200)
    assert {one.status for one in maas.double.machines.values()} == {"Ready"}
    return ids


def deployed(maas: ServedDouble) -> str:
    (id,) = ready(maas)
    spec = DeploySpec("jammy", "ga", Secret("#cloud-config\n"))
    ask(own, maas, lambda client: client.deploy(id, spec))
    maas.advance(7200)
    assert maas.double.machines[id].status == "Deployed"
    return id


def since(maas: ServedDouble, before: int) -> list[tuple[str, str, int]]:
    """What was asked since: method, operation, status; without the library's question for a description."""
    return [
        (one.method, one.op, one.status)
        for one in maas.double.requests[before:]
        if not one.path.endswith("describe/")
    ]


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


def test_power_parameters_are_read_without_secrets(client: Open, maas: ServedDouble) -> None:
    first, second = add(maas, 2)

    async def work(opened: MaasProvisioner) -> tuple[Any, Any]:
        return await opened.bmc_addresses(), await opened.power_parameters_without_secrets(first)

    addresses, parameters = ask(client, maas, work)
    assert addresses == {first: "10.1.0.1", second: "10.1.0.2"}
    assert (parameters["power_address"], parameters["power_user"]) == ("10.1.0.1", "maas")
    assert PASSWORD not in str(parameters)


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
        ask(client, maas, lambda opened: opened.release(id), conflicts=3)
    assert since(maas, before) == [("POST", "release", 409)] * 3


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
            told.append(await opened.power_parameters_without_secrets(second))
            (machine,) = await opened.read([first])
            await opened.quarantine(machine, "bad psu")
            told.append(await opened.read([first, second]))
            told.append(await outcome(opened.quarantine(machine, "again")))
            told.append((await opened.changes(cursor)).ids == {first})
            told.append([await opened.images(), await opened.racks(), await opened.subnets()])
            told.append(await opened.results(first))
            told.append(await opened.why((await opened.read([first]))[0]))
            return told

        return ask(client, maas, work)


def test_both_clients_tell_the_same_of_the_same_session() -> None:
    need_libmaas()
    assert session(own) == session(libmaas)


REFUSED: list[tuple[str, Work[Any]]] = [
    (
        "create a machine without commissioning",
        lambda maas: maas.create(
            EnrolSpec("gpu001", MACS[:1], Power("redfish", "10.1.0.1", "u", Secret("p")))
        ),
    ),
    ("no skip_bmc_config", lambda maas: maas.manage("abcdef")),
    (
        "storage layout",
        lambda maas: maas.set_root(
            Machine("abcdef", "gpu001", Stage.READY, "Ready"), Disk("1", "sda", "S", "M", 1)
        ),
    ),
    ("deploy", lambda maas: maas.deploy("abcdef", DeploySpec("jammy", "ga", Secret("x")))),
]


@pytest.mark.parametrize(("what", "work"), REFUSED, ids=[what for what, _ in REFUSED])
def test_what_libmaas_cannot_do_is_refused_by_name_and_nothing_is_sent(
    maas: ServedDouble, what: str, work: Work[Any]
) -> None:
    need_libmaas()
    with pytest.raises(ProvisionerUnsupportedError, match=what) as caught:
        ask(libmaas, maas, work)
    assert "maas.client: own" in str(caught.value.hint)
    assert since(maas, 0) == []


def test_libmaas_refuses_an_authority_of_ones_own(maas: ServedDouble) -> None:
    need_libmaas()
    with pytest.raises(ProvisionerUnsupportedError, match="authorities"):
        ask(libmaas, maas, lambda opened: opened.version(), ca_file="ca.pem")


def test_libmaas_does_not_send_the_key_where_somebody_elses_description_points(maas: ServedDouble) -> None:
    need_libmaas()
    maas.double.origin, origin = "http://127.0.0.2:9", maas.double.origin
    with pytest.raises(ProvisionerError, match=r"it names 127\.0\.0\.2:9"):
        ask(libmaas, maas, lambda opened: opened.version(), url=f"{origin}/MAAS")


def test_without_the_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, maas: ServedDouble
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "maas.client.bones", None)
    with pytest.raises(ProvisionerUnsupportedError) as caught:
        ask(libmaas, maas, lambda opened: opened.version())
    assert "fabricctl[libmaas]" in str(caught.value.hint)
