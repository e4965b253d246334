"""Making one network port of an iDRAC's node a boot device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fabricctl.errors import BmcNotFoundError, BmcUnsupportedError
from provision.bmc.bios import BiosPlan, plan_write
from provision.bmc.boot import BootSource
from provision.bmc.boot_device import device_change, interface_of
from provision.redfish.bmc import Bmc
from provision.workflows.bios import (
    check_plan,
    read_bios_state,
    read_registry_of,
    schedule_bios,
    sending_of,
)
from provision.workflows.job_runner import JobResult
from provision.workflows.journal import FORGET, Record


@dataclass(frozen=True)
class PortPlan:
    """A BIOS write that makes a port a boot device.

    :param known: ports its BIOS can boot from, where it tells them and the wanted one is not among them.
    """

    bios: BiosPlan
    known: tuple[str, ...] = ()


async def plan_port(bmc: Bmc, source: BootSource, fqdd: str) -> PortPlan | None:
    """What a BIOS write would do so that a port is a boot device; None when this BIOS has no setting for it."""
    try:
        state = await read_bios_state(bmc)
    except BmcNotFoundError:
        return None
    change = device_change(state.values, source, fqdd)
    if change is None:
        return None
    interface, known = interface_of(source), tuple[str, ...]()
    if interface in change:
        registry = await read_registry_of(bmc, state)
        rule = registry.rules.get(interface) if registry is not None else None
        known = rule.values if rule is not None and fqdd not in rule.values else ()
    return PortPlan(plan_write(bmc.target.host, state, change, None), known)


async def prepare_port(
    bmc: Bmc,
    source: BootSource,
    fqdd: str,
    *,
    record: Record = FORGET,
    clock: Callable[[], float] = time.monotonic,
) -> JobResult | None:
    """Have the BIOS boot from a port, by one job for the next reset; None when it does already.

    :raises BmcUnsupportedError: this BIOS has no such setting. :raises BmcBusyError: other BIOS values or another BIOS
        job wait.
    """
    state = await read_bios_state(bmc)
    change = device_change(state.values, source, fqdd)
    if change is None:
        raise BmcUnsupportedError(f"its BIOS cannot be told to boot from {fqdd}", bmc=str(bmc.target))
    if not change:
        return None
    plan = plan_write(bmc.target.host, state, change, None)
    check_plan(bmc, plan)
    return await schedule_bios(bmc, change, state, plan, sending_of(bmc, plan, record), clock=clock)
