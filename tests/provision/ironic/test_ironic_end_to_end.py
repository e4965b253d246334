"""The driver against a real Ironic, which drives emulated BMCs over real Redfish."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerLoginError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
    ProvisionerUnsupportedError,
)
from provision.bmc.secret import Secret
from provision.install.machine import QUARANTINE_TAG, Disk, Phase, Stage
from provision.install.spec import DeploySpec
from provision.ironic.driver import open_ironic
from provision.ironic.settings import IronicSettings
from tests.provision.ironic.ironic_bench import NOTHING, available, settings, settled, spec
from tests.provision.ironic.ironic_between import between
from tests.sim.ironic import IronicServices

pytestmark = pytest.mark.slow


def test_machines_are_found_by_mac_by_name_and_by_bmc(services: IronicServices) -> None:
    system, other = services.systems[8:10]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            made = await ironic.create(spec(services, system))
            await ironic.create(spec(services, other))
            assert [machine.id for machine in await ironic.find(macs=made.macs)] == [made.id]
            assert [machine.id for machine in await ironic.find(hostnames=[system.name.upper()])] == [made.id]
            assert made.macs == (system.mac,)
            assert (await ironic.bmc_addresses())[made.id] == system.address

    asyncio.run(run())


def test_a_name_or_mac_that_is_taken_is_refused_and_leaves_nothing(services: IronicServices) -> None:
    first, second = services.systems[10:12]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            await ironic.create(spec(services, first))
            before = await ironic.bmc_addresses()
            with pytest.raises(OtherMachineError, match=f"name {first.name} already exists"):
                await ironic.create(spec(services, first))
            with pytest.raises(OtherMachineError, match=f"MAC address {first.mac} already exists"):
                await ironic.create(spec(services, second, macs=[second.mac, first.mac]))
            assert await ironic.bmc_addresses() == before
            assert (await ironic.create(spec(services, second))).macs == (second.mac,)

    asyncio.run(run())


def test_what_is_not_possible_in_a_state_is_refused(services: IronicServices) -> None:
    system = services.systems[12]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            machine = await ironic.create(spec(services, system))
            with pytest.raises(ProvisionerStateError, match="enroll"):
                await ironic.deploy(machine.id, NOTHING)
            with pytest.raises(ProvisionerStateError, match='"deleted" can not be performed'):
                await ironic.release(machine.id)
            with pytest.raises(ProvisionerStateError, match='"abort" can not be performed'):
                await ironic.abort(machine.id)

    asyncio.run(run())


def test_a_bmc_that_refuses_its_password_is_told_without_it(services: IronicServices) -> None:
    system = services.systems[13]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            wrong = spec(services, system, password=f"{services.bmc_password}x")
            machine = await ironic.create(wrong)
            with pytest.raises(ProvisionerPowerError, match="401") as told:
                await ironic.manage(machine.id)
            assert services.bmc_password not in str(told.value)
            failed = (await ironic.read([machine.id]))[0]
            assert (failed.stage, failed.failed) == (Stage.FAILED, Phase.COMMISSION)
            assert "returned code 401" in await ironic.why(failed)
            await ironic.set_power(machine.id, spec(services, system).power)
            await ironic.manage(machine.id)
            await settled(ironic, [machine.id], [Stage.READY])

    asyncio.run(run())


def test_a_quarantine_keeps_a_node_from_being_installed_until_it_ends(services: IronicServices) -> None:
    system = services.systems[14]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            machine = await available(ironic, spec(services, system))
            cursor = (await ironic.changes("")).cursor
            await ironic.quarantine(machine, "no GPU 3")
            changed = await ironic.changes(cursor)
            assert changed.ids == {machine.id}
            assert (await ironic.changes(changed.cursor)).ids == frozenset()
            broken = (await ironic.read([machine.id]))[0]
            assert (broken.stage, broken.tags, broken.said) == (Stage.BROKEN, (QUARANTINE_TAG,), "no GPU 3")
            with pytest.raises(ProvisionerStateError, match="maintenance"):
                await ironic.deploy(machine.id, NOTHING)
            await ironic.restore(broken)
            whole = (await ironic.read([machine.id]))[0]
            assert (whole.stage, whole.tags) == (Stage.READY, (QUARANTINE_TAG,))

    asyncio.run(run())


def test_the_root_device_is_set_by_serial_number_and_read_back(services: IronicServices) -> None:
    system = services.systems[15]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            machine = await available(ironic, spec(services, system))
            disk = Disk("BOSS 61%", "nvme8n1", "BOSS 61%", "Dell BOSS-N1", 480 * 10**9)
            assert (await ironic.set_root(machine, disk)).root_disk == "BOSS 61%"

    asyncio.run(run())


def test_a_deployment_that_waits_for_its_agent_is_ended(services: IronicServices) -> None:
    system = services.systems[16]
    direct = settings(
        services,
        deploy_interface="direct",
        boot_interface="ipxe",
        image=f"{services.images}/boot.iso",
        checksum="0" * 64,
        kernel=f"{services.images}/kernel",
        ramdisk=f"{services.images}/ramdisk",
    )

    async def run() -> None:
        async with open_ironic(direct) as ironic:
            machine = await available(ironic, spec(services, system))
            with pytest.raises(ProvisionerRefusedError, match="smallest disk"):
                await ironic.deploy(machine.id, NOTHING)
            machine = await ironic.set_root(machine, Disk("S1", "nvme0n1", "S1", "", 10**12))
            with pytest.raises(ProvisionerRefusedError, match="expected the system on disk S2"):
                await ironic.deploy(machine.id, DeploySpec("jammy", "ga", Secret(""), "S2"))
            with pytest.raises(ProvisionerUnsupportedError, match="noble was asked for"):
                await ironic.deploy(machine.id, DeploySpec("noble", "ga", Secret(""), "S1"))
            await ironic.deploy(machine.id, DeploySpec("jammy", "ga", Secret("#cloud-config\n"), "S1"))
            for _ in range(120):
                waiting = (await ironic.read([machine.id]))[0]
                if waiting.status == "wait call-back":
                    break
                assert waiting.stage is Stage.DEPLOYING, waiting.said
                await asyncio.sleep(0.5)
            await ironic.abort(machine.id)
            await settled(ironic, [machine.id], [Stage.READY])

    asyncio.run(run())


def test_user_data_go_along_on_virtual_media_and_not_over_the_network(services: IronicServices) -> None:
    system, other = services.systems[17:19]
    secret = Secret("#cloud-config\nhostname: gpu017\n")
    media = settings(services, boot_interface="redfish-virtual-media", image=f"{services.images}/boot.iso")

    async def run() -> None:
        async with open_ironic(media) as ironic:
            machine = await available(ironic, spec(services, system))
            await ironic.deploy(machine.id, DeploySpec("jammy", "ga", secret))
            ended = (await settled(ironic, [machine.id], [Stage.DEPLOYED, Stage.FAILED]))[0]
            assert ended.stage is Stage.DEPLOYED, await ironic.why(ended)
            assert services.redfish.power(system) == "On"
            assert services.redfish.boot(system)[0] == "Cd"
        async with open_ironic(settings(services)) as ironic:
            machine = await available(ironic, spec(services, other))
            with pytest.raises(ProvisionerUnsupportedError, match="no user data"):
                await ironic.deploy(machine.id, DeploySpec("jammy", "ga", secret))

    asyncio.run(run())


def test_an_ironic_that_loses_power_during_a_deployment_tells_so_afterwards(services: IronicServices) -> None:
    system = services.systems[19]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            machine = await available(ironic, spec(services, system))
            await ironic.deploy(machine.id, NOTHING)
            services.stop_ironic(kill=True)
            with pytest.raises(ProvisionerUnreachableError):
                await ironic.read([machine.id])
            services.start_ironic()
            failed = (await settled(ironic, [machine.id], [Stage.FAILED, Stage.DEPLOYED]))[0]
            assert (failed.stage, failed.failed) == (Stage.FAILED, Phase.DEPLOY)
            assert await ironic.why(failed)
            await ironic.release(machine.id)
            await settled(ironic, [machine.id], [Stage.READY])
            await ironic.deploy(machine.id, NOTHING)
            await settled(ironic, [machine.id], [Stage.DEPLOYED])

    asyncio.run(run())


def test_a_wrong_password_of_the_api_is_named(services: IronicServices) -> None:
    wrong = IronicSettings(services.url, services.user, Secret("not-the-one-0815"))

    async def run() -> None:
        async with open_ironic(wrong) as ironic:
            with pytest.raises(ProvisionerLoginError, match="Incorrect username or password"):
                await ironic.find(hostnames=["gpu000"])

    asyncio.run(run())


def test_a_client_stopped_at_any_answer_of_a_creation_makes_one_node_in_the_end(
    services: IronicServices,
) -> None:
    system = services.systems[20]
    wanted = spec(services, system)

    async def stopped(at: int) -> bool:
        """Creates with an answer lost; False when there were not so many."""
        async with (
            between(services.url) as server,
            open_ironic(replace(settings(services), url=server.url)) as ironic,
        ):
            server.lose = at
            try:
                await ironic.create(wanted)
            except (ProvisionerOutcomeUnknownError, ProvisionerUnreachableError):
                return True
        return False

    async def run() -> int:
        at = 1
        async with open_ironic(settings(services)) as ironic:
            while await stopped(at):
                found = await ironic.find(wanted.macs, [wanted.host])
                machine = found[0] if found else await ironic.create(wanted)
                link = ironic._link
                nodes = await link.list("/v1/nodes?fields=uuid,name,extra", "nodes")
                assert [node["uuid"] for node in nodes if node["name"] == system.name] == [machine.id], at
                ports = await link.list(f"/v1/ports?node={machine.id}", "ports")
                assert [port["address"] for port in ports] == [system.mac], at
                assert machine.macs == (system.mac,), at
                await link.write("DELETE", f"/v1/nodes/{machine.id}")
                at += 1
        return at

    assert (
        asyncio.run(run()) == 7
    )  # the version, the node, its port, its mark, and reading it in two requests


def test_managing_again_after_a_lost_answer_comes_to_the_same_end(services: IronicServices) -> None:
    system = services.systems[21]

    async def run() -> None:
        async with open_ironic(settings(services)) as ironic:
            id = (await ironic.create(spec(services, system))).id
            for at in range(2, 8):
                async with (
                    between(services.url) as server,
                    open_ironic(replace(settings(services), url=server.url)) as cut,
                ):
                    server.lose = at
                    with suppress(ProvisionerOutcomeUnknownError, ProvisionerUnreachableError):
                        await cut.manage(id)
                await ironic.manage(id)
                await settled(ironic, [id], [Stage.READY])

    asyncio.run(run())
