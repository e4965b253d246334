"""Where a BMC keeps its system, its manager and its chassis."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fabricctl.errors import BmcAnswerError, BmcNotReadyError, BmcUnsupportedError
from provision.bmc.json_bodies import inner, links, path_of, service_link
from provision.redfish.bmc import Bmc, Group, Layout, Resource

_IDRAC = Layout(
    system="/redfish/v1/Systems/System.Embedded.1",
    manager="/redfish/v1/Managers/iDRAC.Embedded.1",
    chassis=("/redfish/v1/Chassis/System.Embedded.1",),
    vendor="Dell",
)
_GENERATION = re.compile(r"(\d{2})G\b")


def idrac_layout(root: Resource) -> Layout | None:
    """The layout of an iDRAC, the same since iDRAC7; None when the root is no iDRAC's."""
    tagged = inner(root, "Oem", "Dell").get("ServiceTag") is not None
    named = "Integrated Dell Remote Access Controller" in str(root.get("Product") or "")
    return _IDRAC if root.get("Vendor") == "Dell" and (tagged or named) else None


def generation_of(model: str) -> int:
    """iDRAC generation of a manager's ``Model``: ``15G Monolithic`` -> 9; 0 when it does not tell.

    Dell's own scripts (SetNextOneTimeBootDeviceREDFISH.py) draw the same line: 12G and 13G are iDRAC7/8, 14G to 16G
    iDRAC9, later ones iDRAC10.
    """
    match = _GENERATION.search(model)
    if match is None:
        return 0
    number = int(match[1])
    return 8 if number <= 13 else 9 if number <= 16 else 10


async def crawl(bmc: Bmc, root: Resource) -> Layout:
    """The layout of any other BMC, from its collections.

    :raises BmcUnsupportedError: it has no system or no manager.
    """
    systems = await bmc.members(service_link(root, "Systems"))
    system = choose_system(systems)
    manager = next(iter(links(inner(system, "Links"), "ManagedBy")), "")
    if not manager:
        managers = await bmc.members(service_link(root, "Managers"))
        manager = path_of(choose_manager(managers))
    if not path_of(system) or not manager:
        raise BmcUnsupportedError("the BMC shows no system or no manager", bmc=str(bmc.target))
    return Layout(
        system=path_of(system),
        manager=manager,
        chassis=await _chassis(bmc, root, links(inner(system, "Links"), "Chassis")),
        vendor=str(root.get("Vendor") or system.get("Manufacturer") or ""),
    )


def choose_system(systems: Sequence[Resource]) -> Resource:
    """The system that can be reset and booted: a DGX H100 shows its GPU baseboard as a second one that cannot."""
    ranked = sorted(systems, key=lambda entry: -_rank(entry))
    return ranked[0] if ranked else {}


def _rank(system: Mapping[str, Any]) -> int:
    resets = "#ComputerSystem.Reset" in inner(system, "Actions")
    return 2 * resets + (system.get("Boot") is not None)


def choose_manager(managers: Sequence[Resource]) -> Resource:
    """The one that calls itself a BMC, else the first."""
    return next((entry for entry in managers if entry.get("ManagerType") == "BMC"), next(iter(managers), {}))


async def _chassis(bmc: Bmc, root: Resource, main: list[str]) -> tuple[str, ...]:
    """The system's chassis and what is inside and has network adapters; of the whole collection where that tells none.

    A DGX H100 lists 47 chassis, one per GPU, switch and root of trust: asking six of them finds both with adapters.
    """
    found: dict[str, bool] = {}
    inside: list[str] = []
    for path in main:
        body = await _look(bmc, path)
        found[path] = "NetworkAdapters" in body
        inside += [path for path in links(inner(body, "Links"), "Contains") if path not in main]
    for path in dict.fromkeys(inside):
        found[path] = "NetworkAdapters" in await _look(bmc, path)
    if not any(found.values()):
        everything = await bmc.members(service_link(root, "Chassis"), Group.SLOW)
        found.update((path_of(body), "NetworkAdapters" in body) for body in everything if path_of(body))
    first = main[:1] or list(found)[:1]
    return tuple(dict.fromkeys([*first, *(path for path, has in found.items() if has)]))


async def _look(bmc: Bmc, path: str) -> Resource:
    try:
        return (await bmc.get(path)).resource
    except (BmcAnswerError, BmcNotReadyError) as exc:
        if isinstance(exc, BmcNotReadyError) and exc.named:
            raise
        bmc.note(path, f"a linked chassis cannot be read: {exc.message}")
        return {}
