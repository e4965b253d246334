"""Machines that somebody else holds, and what a killed run of ours left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.install.outcome import End, NodeResult
from tests.provision.install.flow_kit import Client, KilledError, Kit, flow_kit
from tests.provision.maas.maas_asking import Asking

HOST = "gpu001"


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def by_hand(kit: Kit, path: str, **form: str) -> None:
    """What a colleague does in MAAS, with the same key."""
    assert Asking(kit.maas).call("POST", path, **form).status_code == 200


def allocate(kit: Kit) -> None:
    by_hand(kit, "machines/?op=allocate", system_id=kit.maas.double.machine(HOST).system_id)


def deployed(kit: Kit, *, redeploy: bool = False) -> NodeResult:
    return kit.run(lambda client: client.deploy([HOST], redeploy=redeploy))[0]


def ready(kit: Kit) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    kit.run(lambda client: client.commission([HOST]))


def test_what_was_installed_released_and_allocated_by_hand_is_refused(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    by_hand(kit, f"machines/{kit.maas.double.machine(HOST).system_id}/?op=release")
    kit.maas.advance(3600)
    allocate(kit)
    result = deployed(kit)
    assert (result.end, result.reason) == (End.REFUSED, "it is Allocated to admin: release it first")
    assert kit.ends() == {HOST: ("Allocated", False)}


def test_what_was_allocated_by_hand_after_an_installation_was_refused_is_refused(kit: Kit) -> None:
    ready(kit)
    fault = kit.maas.double.faults.add("no-rack", HOST, "deploy", count=None)
    assert deployed(kit).end is End.NOT_STARTED
    kit.maas.double.faults.rules.remove(fault)
    allocate(kit)
    assert deployed(kit).reason == "it is Allocated to admin: release it first"
    assert kit.ends() == {HOST: ("Allocated", False)}


def killed_in(kit: Kit, status: str, *, redeploy: bool = False) -> None:
    """A run that dies when MAAS has the machine in a status."""
    with pytest.raises(KilledError):
        kit.run(
            lambda client: client.deploy([HOST], redeploy=redeploy, again=redeploy),
            kill_when=lambda: kit.maas.double.machine(HOST).status.value == status,
        )


def test_an_allocation_that_a_killed_run_of_ours_left_goes_into_quarantine(kit: Kit) -> None:
    ready(kit)
    killed_in(kit, "Deploying")
    by_hand(kit, f"machines/{kit.maas.double.machine(HOST).system_id}/?op=abort")
    kit.maas.advance(60)
    assert kit.ends() == {HOST: ("Allocated", False)}
    assert deployed(kit).end is End.QUARANTINED
    assert kit.ends() == {HOST: ("Broken", True)}


def test_the_same_allocation_days_later_is_refused(kit: Kit) -> None:
    ready(kit)
    killed_in(kit, "Deploying")
    by_hand(kit, f"machines/{kit.maas.double.machine(HOST).system_id}/?op=abort")
    kit.maas.advance(2 * 86400)
    assert deployed(kit).reason == "it is Allocated to admin: release it first"


def test_what_another_user_installs_is_neither_waited_for_nor_given_up(kit: Kit) -> None:
    ready(kit)
    killed_in(kit, "Deploying")
    kit.maas.double.machine(HOST).owner = "eve"
    result = deployed(kit)
    assert (result.end, result.reason) == (End.REFUSED, "it is Deploying for eve: wait for its end")
    assert kit.ends() == {HOST: ("Deploying", False)}


def test_a_redeploy_that_was_killed_is_looked_at_when_it_is_run_again_and_not_installed_again(
    kit: Kit,
) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    kit.keys.settled.clear()
    killed_in(kit, "Deploying", redeploy=True)
    facts = {one.fact.field for one in kit.store.facts.current([HOST])[HOST]}
    assert "install.disks" in facts
    assert not {"install.root_serial", "install.series"} & facts
    kit.maas.advance(7200)
    assert kit.ends() == {HOST: ("Deployed", False)}
    assert deployed(kit, redeploy=True).end is End.UNCHANGED
    assert sum(one.op == "deploy" for one in kit.maas.double.requests) == 2
    facts = {one.fact.field for one in kit.store.facts.current([HOST])[HOST]}
    assert {"install.root_serial", "install.series"} <= facts
    assert deployed(kit).end is End.UNCHANGED


def test_a_killed_redeploy_onto_another_disk_ends_in_quarantine_when_it_is_run_again(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    killed_in(kit, "Deploying", redeploy=True)
    kit.maas.advance(7200)
    storage = kit.maas.double.machine(HOST).storage
    storage.boot_id = next(disk.id for disk in storage.disks if "BOSS" not in str(disk.model))
    result = deployed(kit)
    assert result.end is End.QUARANTINED
    assert "it was installed on another disk" in result.reason


def test_a_release_that_is_refused_leaves_what_is_known_of_the_installation(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    kit.maas.double.machine(HOST).locked = False

    def facts() -> dict[str, object]:
        return {one.fact.field: one.fact.value for one in kit.store.facts.current([HOST])[HOST]}

    before = facts()

    async def locked_meanwhile(client: Client) -> NodeResult:
        async def export(host: str) -> str:
            kit.maas.double.machine(host).locked = True
            return "kept"

        return (await client.deploy([HOST], redeploy=True, again=True, export=export))[0]

    result = kit.run(locked_meanwhile)
    assert (result.end, result.after) == (End.NOT_STARTED, "Deployed")
    assert facts() == before
