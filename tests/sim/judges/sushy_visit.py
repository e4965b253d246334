"""Visits one BMC as sushy does. Run by the Python of sushy's environment: URL, file of its certificate authority.

The password stands in $BMC_PASSWORD. Prints one JSON object of what it saw.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import sushy  # type: ignore[import-not-found]
from sushy import auth

ISO = "http://192.0.2.1/images/installer.iso"


def visit(url: str, authority: str) -> dict[str, Any]:
    """Log in by session, look around, set a one-time boot, a BIOS attribute and an image, and log out."""
    login = auth.SessionAuth("root", os.environ["FABRICCTL_SIM_PASSWORD"])
    root = sushy.Sushy(url, auth=login, verify=authority)
    system = root.get_system("/redfish/v1/Systems/System.Embedded.1")
    seen: dict[str, Any] = {
        "power": system.power_state.value,
        "managers": [one.identity for one in root.get_manager_collection().get_members()],
        "chassis": [one.identity for one in root.get_chassis_collection().get_members()],
        "resets": sorted(one.value for one in system.get_allowed_reset_system_values()),
        "macs": {one.identity: one.mac_address for one in system.ethernet_interfaces.get_members()},
        "drives": sum(len(one.drives) for one in system.storage.get_members()),
        "processors": len(system.processors.get_members()),
        "firmware": len(root.get_update_service().firmware_inventory.get_members()),
    }
    seen["boot"] = set_boot(system)
    seen["bios"] = set_bios(system)
    seen["media"] = use_media(root)
    seen["sessions"] = len(root.get_session_service().sessions.get_members())
    login.close()
    return seen


def set_boot(system: Any) -> list[str]:
    """One-time boot by PXE, read back: target and enabled."""
    system.set_system_boot_options(
        target=sushy.BOOT_SOURCE_TARGET_PXE, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE
    )
    system.refresh(force=True)
    return [system.boot.target.value, system.boot.enabled.value]


def set_bios(system: Any) -> dict[str, Any]:
    """An attribute to be applied on reset: number of attributes, of registry entries, and what is pending."""
    bios = system.bios
    known = bios.get_attribute_registry().registry_entries.attributes
    bios.set_attribute("LogicalProc", "Disabled", apply_time=sushy.APPLY_TIME_ON_RESET)
    bios.refresh(force=True)
    return {
        "attributes": len(bios.attributes),
        "registry": len(known),
        "pending": bios.pending_attributes,
    }


def use_media(root: Any) -> list[Any]:
    """Insert and eject an image: inserted and its name, then inserted again."""
    manager = root.get_manager("/redfish/v1/Managers/iDRAC.Embedded.1")
    drive = next(one for one in manager.virtual_media.get_members() if one.identity == "CD")
    drive.insert_media(ISO)
    drive.refresh(force=True)
    inserted = [drive.inserted, drive.image]
    drive.eject_media()
    drive.refresh(force=True)
    return [*inserted, drive.inserted]


if __name__ == "__main__":
    print(json.dumps(visit(sys.argv[1], sys.argv[2])))
