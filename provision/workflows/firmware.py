"""Firmware of one BMC, read so that a slow inventory is still read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import BmcAnswerError, BmcDeadlineError, BmcNotFoundError, BmcUnsupportedError
from provision.bmc.firmware import Component, read_components
from provision.bmc.json_bodies import links
from provision.redfish.bmc import Bmc, Group, Resource

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"


@dataclass(frozen=True)
class FirmwareList:
    """What was read. :param whole: False when the inventory could not be read and only BIOS and BMC are known."""

    components: tuple[Component, ...]
    whole: bool = True


async def read_firmware(bmc: Bmc) -> FirmwareList:
    """All entries of the inventory.

    One answer with every entry takes a DGX H100 longer than any deadline (public report: infra-controller 6419); then
    the entries are read one by one, and one that does not answer is left out and noted. Without an inventory, the
    versions that system and manager tell are better than none.

    :raises BmcError: neither could be read.
    """
    try:
        members = await bmc.members(INVENTORY, Group.SLOW)
    except BmcDeadlineError:
        bmc.note(INVENTORY, "the whole inventory took too long: its entries were read one by one")
        members = await _one_by_one(bmc)
    except (BmcNotFoundError, BmcUnsupportedError):
        bmc.note(INVENTORY, "no firmware inventory: only BIOS and BMC are known")
        return FirmwareList(await _from_main_resources(bmc), False)
    return FirmwareList(tuple(read_components(members)))


async def _one_by_one(bmc: Bmc) -> list[Resource]:
    reply = await bmc.get(INVENTORY, Group.SLOW)
    found: list[Resource] = []
    for path in links(reply.resource, "Members"):
        try:
            found.append((await bmc.get(path)).resource)
        except (BmcAnswerError, BmcDeadlineError) as error:
            bmc.note(path, f"left out: {error.message}")
    return found


async def _from_main_resources(bmc: Bmc) -> tuple[Component, ...]:
    layout = await bmc.layout()
    system = (await bmc.get(layout.system)).resource
    manager = (await bmc.get(layout.manager)).resource
    told = (
        ("HostBIOS", system, "BiosVersion"),
        ("HostBMC", manager, "FirmwareVersion"),
    )
    return tuple(Component(name, name, version) for name, body, key in told if (version := _text(body, key)))


def _text(body: Mapping[str, Any], key: str) -> str:
    return str(body.get(key) or "")
