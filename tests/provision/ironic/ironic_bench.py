"""What tests with a real Ironic share: settings, specifications, waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence

from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.install.machine import Machine, Stage
from provision.install.spec import DeploySpec, EnrolSpec, Power
from provision.ironic.driver import IronicProvisioner
from provision.ironic.settings import IronicImages, IronicSettings
from tests.sim.ironic import BmcSystem, IronicServices

NOTHING = DeploySpec("jammy", "ga", Secret(""))


def settings(services: IronicServices, **images: str) -> IronicSettings:
    """Of the running one; by default kernel and ramdisk over the network."""
    given = images or {
        "boot_interface": "ipxe",
        "kernel": f"{services.images}/kernel",
        "ramdisk": f"{services.images}/ramdisk",
    }
    made = {"deploy_interface": "ramdisk", **given}
    images_of = IronicImages(
        made["deploy_interface"],
        made["boot_interface"],
        made.get("image", ""),
        made.get("checksum", ""),
        made.get("kernel", ""),
        made.get("ramdisk", ""),
    )
    return IronicSettings(
        services.url, services.user, Secret(services.password), images=images_of, managed_s=60
    )


def spec(
    services: IronicServices, system: BmcSystem, *, macs: Sequence[str] = (), password: str = ""
) -> EnrolSpec:
    """To enrol an emulated server."""
    power = Power(
        "redfish",
        system.address,
        services.bmc_user,
        Secret(password or services.bmc_password),
        system.port,
        system.system_id,
    )
    return EnrolSpec(
        system.name, tuple(Mac(mac) for mac in macs or (system.mac,)), power, "TAG" + system.name[-3:]
    )


async def settled(
    ironic: IronicProvisioner, ids: Sequence[str], ends: Collection[Stage], within_s: float = 90
) -> list[Machine]:
    """Wait until all are at one of the stages; fails when time is over."""
    until = time.monotonic() + within_s
    while True:
        machines = await ironic.read(ids)
        if all(machine.stage in ends for machine in machines):
            return machines
        assert time.monotonic() < until, [(m.hostname, m.status, m.said) for m in machines]
        await asyncio.sleep(0.5)


async def available(ironic: IronicProvisioner, one: EnrolSpec) -> Machine:
    """Enrolled and managed."""
    machine = await ironic.create(one)
    await ironic.manage(machine.id)
    return (await settled(ironic, [machine.id], [Stage.READY, Stage.FAILED]))[0]
