"""Nodes, ports and inventories of Ironic as the common values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fabricctl.mac import parse_mac
from provision.install import addresses
from provision.install.machine import Disk, Machine, Nic, Phase, Stage
from provision.ironic.bodies import TAG, hinted

FIELDS = (
    "uuid,name,provision_state,target_provision_state,last_error,maintenance,maintenance_reason,fault,power_state,"
    "driver,driver_info,properties,extra,inspection_finished_at,inspect_interface,owner,lessee,protected"
)
"""Of a node. ``instance_info`` is left out: it holds the user data."""
LIGHT = "uuid,provision_state,target_provision_state,provision_updated_at,last_error,maintenance"
_STAGES = {
    **dict.fromkeys(("enroll", "verifying", "inspecting", "inspect wait", "manageable"), Stage.NEW),
    "available": Stage.READY,
    "active": Stage.DEPLOYED,
    **dict.fromkeys(("deleting", "cleaning", "clean wait", "clean hold"), Stage.RELEASING),
    **dict.fromkeys(("deploying", "wait call-back", "deploy hold", "deploy complete"), Stage.DEPLOYING),
}
_FAILED = {
    "inspect failed": Phase.COMMISSION,
    "clean failed": Phase.COMMISSION,
    "deploy failed": Phase.DEPLOY,
    "error": Phase.RELEASE,
}


def stage_of(node: Mapping[str, Any]) -> tuple[Stage, Phase | None]:
    """How far a node is, and which phase failed.

    Every node is cleaned before it becomes available, after ``provide`` as after ``deleted``; Ironic does not tell
    which of the two it was, and both end in the same state. Up to ``manageable`` a node is new: Ironic goes no further
    by itself, so whoever was stopped half-way begins again. A node that went back to ``enroll`` with an error could not
    be reached. Maintenance that Ironic began itself (a ``fault``) is no quarantine of ours.
    """
    state = _text(node.get("provision_state"))
    if node.get("maintenance") and not node.get("fault"):
        return Stage.BROKEN, _FAILED.get(state)
    if state in _FAILED:
        return Stage.FAILED, _FAILED[state]
    if state == "enroll" and node.get("last_error"):
        return Stage.FAILED, Phase.COMMISSION
    return _STAGES.get(state, Stage.OTHER), None


def said_of(node: Mapping[str, Any]) -> str:
    """What Ironic says of a node beside its state."""
    parts = [_text(node.get("maintenance_reason")), _text(node.get("last_error"))]
    if not any(parts) and node.get("target_provision_state"):
        parts = [f"on the way to {node['target_provision_state']}"]
    return "; ".join(" ".join(part.split()) for part in parts if part)


def machine_of(node: Mapping[str, Any], ports: Iterable[Mapping[str, Any]], inventory: Any = None) -> Machine:
    """A node with its ports and, where hardware was looked at, the inventory of it."""
    stage, failed = stage_of(node)
    properties, extra = _dict(node.get("properties")), _dict(node.get("extra"))
    found = _dict(_dict(inventory).get("inventory"))
    disks = disks_of(found)
    root = _root(disks, *hinted(properties))
    # Redfish gives a Dell's board number for a serial number; what the machine's own firmware says is its service tag
    agent = node.get("inspect_interface") == "agent"
    tag = _text(_dict(found.get("system_vendor")).get("serial_number")) if agent else ""
    return Machine(
        id=_text(node.get("uuid")),
        hostname=_text(node.get("name")),
        stage=stage,
        status=_text(node.get("provision_state")),
        said=said_of(node),
        failed=failed,
        service_tag=tag,
        bmc_address=bmc_address(node),
        power={"power on": "on", "power off": "off"}.get(_text(node.get("power_state")), "unknown"),
        power_type=_text(node.get("driver")),
        disks=disks,
        nics=tuple(_nics(ports, found)),
        boot_disk=root,
        root_disk=root,
        memory_mib=_number(_dict(found.get("memory")).get("physical_mb"))
        or _number(properties.get("memory_mb")),
        cpus=_number(_dict(found.get("cpu")).get("count")) or _number(properties.get("cpus")),
        tags=tuple(sorted(name.removeprefix(TAG) for name in extra if name.startswith(TAG))),
        owner=_text(node.get("lessee")) or _text(node.get("owner")),
        locked=bool(node.get("protected")),
    )


def disks_of(inventory: Mapping[str, Any]) -> tuple[Disk, ...]:
    """Disks of an inventory. The id is what stays: serial number, WWN, path; the kernel's name only without them."""
    listed = inventory.get("disks")
    found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    serials = [_text(one.get("serial")) for one in found]
    disks = []
    for one in found:
        serial, name, path = (_text(one.get(key)) for key in ("serial", "name", "by_path"))
        unique = serial if serials.count(serial) == 1 else ""
        disks.append(
            Disk(
                id=unique or _text(one.get("wwn")) or path or name,
                name=name.removeprefix("/dev/"),
                serial=serial,
                model=_text(one.get("model")),
                size=_number(one.get("size")),
                id_path=path,
            )
        )
    return tuple(disks)


def _root(disks: Iterable[Disk], serial: str, path: str) -> str:
    """Id of the disk a root device hint means; where no disks are known, what it says itself."""
    for disk in disks:
        if (serial and disk.serial.strip().lower() == serial.lower()) or (path and disk.id_path == path):
            return disk.id
    return serial or path


def bmc_address(node: Mapping[str, Any]) -> str:
    """Address of the BMC in its one spelling."""
    info = _dict(node.get("driver_info"))
    told = _text(info.get("redfish_address")) or _text(info.get("ipmi_address"))
    return addresses.bmc_address(told)


def _nics(ports: Iterable[Mapping[str, Any]], inventory: Mapping[str, Any]) -> Iterable[Nic]:
    """Ports, and NICs that only inspection saw: those have no id, for Ironic knows them by no uuid."""
    seen = set()
    for port in sorted(ports, key=lambda port: _text(port.get("address"))):
        mac = parse_mac(_text(port.get("address")))
        if mac is not None:
            seen.add(mac)
            yield Nic(_text(port.get("uuid")), str(mac), mac)
    listed = inventory.get("interfaces")
    for one in listed if isinstance(listed, list) else []:
        mac = parse_mac(_text(_dict(one).get("mac_address")))
        if mac is not None and mac not in seen:
            seen.add(mac)
            yield Nic("", _text(one.get("name")) or str(mac), mac)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
