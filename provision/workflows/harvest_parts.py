"""The rest of a full harvest: processors, drives, power supplies, memory, firmware."""

from __future__ import annotations

from functools import partial

from fabricctl.errors import BmcError
from provision.bmc.inventory import Family
from provision.bmc.json_bodies import Body, inner, last, links, objects, path_of, service_link
from provision.redfish.bmc import Group, Layout
from provision.workflows.firmware import read_entries
from provision.workflows.harvest_reader import Reader
from provision.workflows.together import together


async def parts(reader: Reader, layout: Layout) -> None:
    """Read them all; each group has its own deadline, and a group that fails is a gap and no more."""
    root, system = reader.bodies.root, layout.system
    systems, update = service_link(root, "Systems"), service_link(root, "UpdateService")
    await together(
        reader.patiently("GPUs", systems, Family.GPU, partial(_processors, reader, layout, systems)),
        reader.patiently("drives", f"{system}/Storage", Family.DRIVE, partial(_drives, reader, layout)),
        reader.patiently(
            "power supplies", (layout.chassis or ("",))[0], Family.PSU, partial(_psus, reader, layout)
        ),
        reader.patiently("memory", f"{system}/Memory", Family.DIMM, partial(_memory, reader, layout)),
        reader.patiently("firmware", update, Family.FIRMWARE, partial(_firmware, reader, update)),
    )


async def _processors(reader: Reader, layout: Layout, path: str) -> None:
    """Processors of every system: the GPUs of a DGX H100 are those of a second one, HGX_Baseboard_0."""
    listed = await reader.get(path, "systems", Family.GPU) or {}
    systems = sorted({layout.system, *links(listed, "Members")})
    found = await together(
        *(reader.members(f"{system}/Processors", "processors", Family.GPU, Group.SLOW) for system in systems)
    )
    reader.bodies.processors = [body for bodies in found for body in bodies]


async def _drives(reader: Reader, layout: Layout) -> None:
    """Drives of every controller, and those a chassis names: a DGX H100 lists no controller."""
    controllers = await reader.members(f"{layout.system}/Storage", "storage", Family.DRIVE, Group.SLOW)
    named = {path for controller in controllers for path in links(controller, "Drives")}
    for chassis in await together(*(_chassis(reader, path) for path in layout.chassis[:1])):
        named |= set(links(inner(chassis or {}, "Links"), "Drives"))
    whole = await together(*(_expanded(reader, controller) for controller in controllers))
    drives = {path_of(body): body for bodies in whole for body in bodies}
    rest = [path for path in sorted(named) if path not in drives]
    single = await together(*(_drive(reader, path) for path in rest))
    reader.bodies.drives = [*drives.values(), *(body for body in single if body)]


async def _chassis(reader: Reader, path: str) -> Body | None:
    return await reader.get(path, "chassis", Family.DRIVE)


async def _drive(reader: Reader, path: str) -> Body | None:
    return await reader.get(path, f"drive {path.rpartition('/')[2]}", Family.DRIVE, Group.SLOW, missing=True)


async def _expanded(reader: Reader, controller: Body) -> list[Body]:
    """Drives of a controller by one request, where the service expands; none when it does not."""
    path, count = path_of(controller), len(links(controller, "Drives"))
    expands = inner(reader.bodies.root, "ProtocolFeaturesSupported", "ExpandQuery").get("ExpandAll") is True
    if count < 2 or not expands:
        return []
    try:
        reply = await reader.bmc.get(f"{path}?$expand=*($levels=1)", Group.SLOW)
    except BmcError:  # whatever it was: the drives are asked one by one, and then it is said
        return []
    return [body for body in objects(reply.resource, "Drives") if len(body) > 1]


async def _psus(reader: Reader, layout: Layout) -> None:
    """Power supplies of the main chassis; the part of a chassis behind a backplane may never answer.

    Seen: Thermal and Power of a Dell backplane enclosure answer 503 or not at all
    (https://github.com/bb-Ricardo/check_redfish/issues/14).
    """
    for chassis in layout.chassis[:1]:
        newer = f"{chassis}/PowerSubsystem/PowerSupplies"
        found = await reader.members(newer, "power supplies", Family.PSU, Group.SLOW)
        if not found and not any(gap.path == newer for gap in reader.bodies.gaps):
            older = await reader.get(f"{chassis}/Power", "power", Family.PSU, Group.SLOW, missing=True)
            found = list(objects(older or {}, "PowerSupplies"))
        reader.bodies.psus = found


async def _memory(reader: Reader, layout: Layout) -> None:
    reader.bodies.dimms = await reader.members(f"{layout.system}/Memory", "memory", Family.DIMM, Group.SLOW)


async def _firmware(reader: Reader, service: str) -> None:
    """Firmware: 18 s and more on a DGX H100 with some cards, less than one on others."""
    path = f"{service}/FirmwareInventory"
    work = read_entries(reader.bmc, path)
    entries = await reader.attempt(work, path, "firmware", Family.FIRMWARE, missing=True)
    if entries is not None:
        reader.bodies.firmware = list(entries.bodies)
        for entry, error in entries.left_out:
            reader.gap(f"firmware {last(entry)}", entry, error, Family.FIRMWARE)
