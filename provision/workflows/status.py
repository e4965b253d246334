"""State, sensors and supplies of one node, from whichever resources its BMC has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from fabricctl.errors import (
    BmcAnswerError,
    BmcDeadlineError,
    BmcError,
    BmcGarbledError,
    BmcNotFoundError,
    BmcNotReadyError,
    BmcUnsupportedError,
)
from provision.bmc.json_bodies import inner, link, objects
from provision.bmc.sensors import (
    Fan,
    PowerSupply,
    Redundancy,
    Temperature,
    merged,
    power_supply,
    redundancies,
    sensor_temperature,
    subsystem_fan,
    thermal_fans,
    thermal_temperatures,
)
from provision.bmc.status import UNKNOWN, NodeStatus, read_system
from provision.redfish.bmc import Bmc, Group, Resource
from provision.workflows.lc_gate import lc_status

_TOLERATED = (BmcAnswerError, BmcDeadlineError, BmcGarbledError, BmcNotReadyError, BmcUnsupportedError)
"""What one chassis may answer without the node being unknown: a backplane's chassis says 503 or nothing
(https://github.com/dell/iDRAC-Redfish-Scripting/issues/18, https://github.com/bb-Ricardo/check_redfish/issues/14)."""


@dataclass
class _Found:
    temperatures: list[Temperature] = field(default_factory=list)
    fans: list[Fan] = field(default_factory=list)
    supplies: list[PowerSupply] = field(default_factory=list)
    redundancy: list[Redundancy] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


async def read_node_status(bmc: Bmc) -> NodeStatus:
    """Everything, chassis by chassis. What does not answer is skipped and named.

    :raises BmcError: system or manager cannot be read.
    """
    root, layout = await bmc.root(), await bmc.layout()
    system = (await bmc.get(layout.system)).resource
    manager = (await bmc.get(layout.manager)).resource
    status = read_system(bmc.target.host, root, system, manager)
    if status.post == UNKNOWN:
        status = replace(status, post=await _dell_post(bmc))
    found = _Found()
    for path in layout.chassis:
        await _chassis(bmc, path, found)
    return replace(
        status,
        temperatures=tuple(found.temperatures),
        fans=tuple(found.fans),
        supplies=tuple(found.supplies),
        redundancy=tuple(found.redundancy),
        skipped=tuple(found.skipped),
    )


async def _dell_post(bmc: Bmc) -> str:
    """``OutOfPOST``, ``InPOST``, ``PoweredOff``: an iDRAC9 tells no BootProgress, its Lifecycle Controller does."""
    try:
        told = await lc_status(bmc)
    except BmcError as error:
        bmc.note("LCStatus", f"how far the boot is, is not known: {error.message}")
        return UNKNOWN
    return (told.server if told is not None else "") or UNKNOWN


async def _chassis(bmc: Bmc, path: str, found: _Found) -> None:
    body = await _tolerant(bmc, path, lambda: bmc.get(path), found)
    if body is None:
        return
    chassis = body.resource
    thermal, power = link(chassis, "Thermal"), link(chassis, "Power")
    if thermal:
        reply = await _tolerant(bmc, thermal, lambda: bmc.get(thermal), found)
        if reply is not None:
            found.temperatures += thermal_temperatures(reply.resource)
            found.fans += thermal_fans(reply.resource)
            found.redundancy += redundancies(reply.resource)
    if not any(fan.percent is not None for fan in found.fans):
        await _subsystem(bmc, chassis, found)
    if not any(sensor.reading is not None for sensor in found.temperatures):
        await _sensors(bmc, chassis, found)
    supplied = len(found.supplies)
    if power:
        reply = await _tolerant(bmc, power, lambda: bmc.get(power), found)
        listed = objects(reply.resource, "PowerSupplies") if reply is not None else ()
        found.supplies += [power_supply(entry) for entry in listed]
        found.redundancy += redundancies(reply.resource) if reply is not None else []
    if len(found.supplies) == supplied:
        await _power_subsystem(bmc, chassis, found)


async def _subsystem(bmc: Bmc, chassis: Resource, found: _Found) -> None:
    """Fans of the newer form, which may tell percent where Thermal tells turns only."""
    path = link(chassis, "ThermalSubsystem")
    if not path:
        return
    members = await _tolerant(bmc, f"{path}/Fans", lambda: bmc.members(f"{path}/Fans"), found)
    newer = {_label(body): subsystem_fan(body) for body in members or ()}
    names = {fan.name for fan in found.fans}
    found.fans = [
        replace(fan, percent=newer[fan.name].percent) if fan.percent is None and fan.name in newer else fan
        for fan in found.fans
    ]
    if names:
        return
    found.fans += newer.values()
    reply = await _tolerant(bmc, path, lambda: bmc.get(path), found)
    found.redundancy += redundancies(reply.resource) if reply is not None else []


def _label(body: Resource) -> str:
    """The name Thermal gives the same fan: an iDRAC9 writes it on the part's place ("System Board Fan1A")."""
    label = inner(body, "Location", "PartLocation").get("ServiceLabel")
    return str(label or body.get("Name") or body.get("Id") or "")


async def _sensors(bmc: Bmc, chassis: Resource, found: _Found) -> None:
    path = link(chassis, "Sensors")
    if not path:
        return
    members = await _tolerant(bmc, path, lambda: bmc.members(path, Group.SLOW), found)
    told = [sensor for body in members or () if (sensor := sensor_temperature(body)) is not None]
    found.temperatures = merged(found.temperatures, told)


async def _power_subsystem(bmc: Bmc, chassis: Resource, found: _Found) -> None:
    path = link(chassis, "PowerSubsystem")
    if not path:
        return
    members = await _tolerant(
        bmc, f"{path}/PowerSupplies", lambda: bmc.members(f"{path}/PowerSupplies"), found
    )
    found.supplies += [power_supply(body) for body in members or ()]
    reply = await _tolerant(bmc, path, lambda: bmc.get(path), found)
    found.redundancy += redundancies(reply.resource) if reply is not None else []


async def _tolerant(bmc: Bmc, path: str, ask: Callable[[], Awaitable[Any]], found: _Found) -> Any:
    """What a resource answers, None (noted, and skipped unless it is just not there) when it does not."""
    try:
        return await ask()
    except BmcNotFoundError as error:
        bmc.note(path, error.message)
    except _TOLERATED as error:
        bmc.note(path, f"skipped: {error.message}")
        found.skipped.append(f"{path}: {error.message}")
    return None
