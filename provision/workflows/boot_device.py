"""Making one network port of an iDRAC's node a boot device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import BmcNotFoundError, BmcUnsupportedError
from fabricctl.nodes.model import EventKind
from provision.bmc.boot import BootSource
from provision.bmc.boot_device import device_change
from provision.bmc.jobs import Job, WantedJob
from provision.bmc.reply import Reply
from provision.redfish.bmc import Bmc
from provision.workflows.job_runner import JobResult, ensure_job
from provision.workflows.journal import Record, forget
from provision.workflows.lc_gate import wait_ready

BIOS_JOB = WantedJob("BIOSConfiguration", "BIOS.Setup.1-1", "a BIOS job")


@dataclass(frozen=True)
class DeviceResult:
    """What came of it. :param job: that brings it at the next reset, None when the port is a boot device already."""

    job: JobResult | None = None


async def port_change(bmc: Bmc, source: BootSource, fqdd: str) -> Mapping[str, Any] | None:
    """BIOS settings that would have to change; empty when none, None when this BIOS has none for it."""
    try:
        return device_change((await _attributes(bmc))[1], source, fqdd)
    except BmcNotFoundError:
        return None


async def _attributes(bmc: Bmc) -> tuple[str, Mapping[str, Any]]:
    bios = f"{(await bmc.layout()).system}/Bios"
    return bios, (await bmc.get(bios)).resource.get("Attributes") or {}


async def prepare_port(
    bmc: Bmc,
    source: BootSource,
    fqdd: str,
    *,
    record: Record = forget,
    clock: Callable[[], float] = time.monotonic,
) -> DeviceResult:
    """Have the BIOS boot from a port, by one PATCH and one job for the next reset; nothing when it does already.

    :raises BmcUnsupportedError: this BIOS has no such setting. :raises BmcBusyError: another BIOS job waits.
    """
    bios, attributes = await _attributes(bmc)
    change = device_change(attributes, source, fqdd)
    if change is None:
        raise BmcUnsupportedError(f"its BIOS cannot be told to boot from {fqdd}", bmc=str(bmc.target))
    if not change:
        return DeviceResult()
    await wait_ready(bmc, clock=clock)
    body = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}, "Attributes": change}
    before = ", ".join(f"{name} {attributes.get(name)}" for name in change)
    after = ", ".join(f"{name} {value}" for name, value in change.items())

    async def create() -> Reply:
        reply = await bmc.patch(f"{bios}/Settings", body)
        record(EventKind.NODE_BIOS, bmc.target.host, before, f"{after}, at the next reset")
        return reply

    async def brings_it(_job: Job) -> bool:
        pending = (await bmc.get(f"{bios}/Settings")).resource.get("Attributes") or {}
        return all(pending.get(name) == value for name, value in change.items())

    return DeviceResult(
        await ensure_job(bmc, BIOS_JOB, create, equal=brings_it, until_waiting=True, clock=clock)
    )
