"""Firmware of one BMC, read so that a slow inventory is still read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabricctl.errors import BmcAnswerError, BmcDeadlineError, BmcError, BmcNotFoundError, BmcUnsupportedError
from provision.bmc.firmware import Component, read_components
from provision.bmc.json_bodies import links
from provision.redfish.bmc import Bmc, Group, Resource
from provision.workflows.together import together

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"


@dataclass(frozen=True)
class FirmwareList:
    """What was read. :param whole: False when the inventory could not be read and only BIOS and BMC are known."""

    components: tuple[Component, ...]
    whole: bool = True


@dataclass(frozen=True)
class Entries:
    """Bodies of the inventory's entries. :param left_out: paths of those that did not answer, and why."""

    bodies: Sequence[Resource]
    left_out: Sequence[tuple[str, BmcError]] = ()


async def read_entries(bmc: Bmc, path: str = INVENTORY) -> Entries:
    """Every entry of the inventory.

    One answer with all of them takes a DGX H100 longer than any deadline
    (https://github.com/dsx-ai-factory/infra-controller/issues/6419): then they are read one by one, and one that does
    not answer is left out.

    :raises BmcError: it cannot be read.
    """
    try:
        return Entries(await bmc.members(path, Group.SLOW))
    except BmcDeadlineError:
        bmc.note(path, "the whole inventory took too long: its entries were read one by one")
        return await _one_by_one(bmc, path)


async def read_firmware(bmc: Bmc) -> FirmwareList:
    """All entries of the inventory; one that does not answer is noted.

    Without an inventory, the versions that system and manager tell are better than none.

    :raises BmcError: neither could be read.
    """
    try:
        entries = await read_entries(bmc)
    except (BmcNotFoundError, BmcUnsupportedError):
        bmc.note(INVENTORY, "no firmware inventory: only BIOS and BMC are known")
        return FirmwareList(await _from_main_resources(bmc), False)
    for path, error in entries.left_out:
        bmc.note(path, f"left out: {error.message}")
    return FirmwareList(tuple(read_components(entries.bodies)))


async def _one_by_one(bmc: Bmc, path: str) -> Entries:
    reply = await bmc.get(path, Group.SLOW)
    found: list[Resource] = []
    left_out: list[tuple[str, BmcError]] = []

    async def one(entry: str) -> None:
        try:
            found.append((await bmc.get(entry)).resource)
        except (BmcAnswerError, BmcDeadlineError) as error:
            left_out.append((entry, error))

    await together(*(one(entry) for entry in links(reply.resource, "Members")))
    return Entries(found, left_out)


async def _from_main_resources(bmc: Bmc) -> tuple[Component, ...]:
    layout = await bmc.layout()
    system = (await bmc.get(layout.system)).resource
    manager = (await bmc.get(layout.manager)).resource
    told = (
        ("HostBIOS", system, "BiosVersion"),
        ("HostBMC", manager, "FirmwareVersion"),
    )
    return tuple(
        Component(name, name, version) for name, body, key in told if (version := str(body.get(key) or ""))
    )
