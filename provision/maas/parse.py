"""From MAAS's JSON to values. Missing keys, nulls and things of another kind are passed over, never guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabricctl.errors import ProvisionerGarbledError
from fabricctl.mac import parse_mac
from provision.install.machine import QUARANTINE_TAG, Disk, Machine, Nic, Phase, Stage
from provision.maas.noted import reason_in

STATES: Mapping[int, tuple[Stage, Phase | None]] = {
    0: (Stage.NEW, None),
    1: (Stage.MANAGING, None),
    2: (Stage.FAILED, Phase.COMMISSION),
    3: (Stage.OTHER, None),  # Missing
    4: (Stage.READY, None),
    5: (Stage.ALLOCATED, None),  # Reserved
    6: (Stage.DEPLOYED, None),
    7: (Stage.OTHER, None),  # Retired
    8: (Stage.BROKEN, None),
    9: (Stage.DEPLOYING, None),
    10: (Stage.ALLOCATED, None),  # Allocated: somebody's, or what an aborted deployment leaves
    11: (Stage.FAILED, Phase.DEPLOY),
    12: (Stage.RELEASING, None),
    13: (Stage.FAILED, Phase.RELEASE),
    14: (Stage.RELEASING, None),  # Disk erasing
    15: (Stage.FAILED, Phase.RELEASE),  # Failed disk erasing
}
"""MAAS's node status (``maascommon/enums/node.py``, 3.7) -> stage, and the phase that failed. Rescue mode and testing,
failed or not, are other: a deployed machine may be in them, and commissioning it again would cost its data."""

KNOWN = frozenset(range(23))
"""Numbers of states that MAAS 3.7 has."""
_UNTOLD = ("", "unknown", "none", "not specified", "to be filled by o.e.m.", "default string", "0")
"""What BIOSes and MAAS write where there is no serial number."""


def machine_of(raw: object) -> Machine:
    """A machine from MAAS's object. :raises ProvisionerGarbledError: no object, or one without ``system_id``."""
    machine = _machine(mapping(raw))
    if not machine.id:
        raise ProvisionerGarbledError("expected a machine with a system_id, found none")
    return machine


def _machine(fields: Mapping[str, Any]) -> Machine:
    id = text(fields.get("system_id"))
    status = fields.get("status")
    known = isinstance(status, int) and not isinstance(status, bool)
    stage, failed = STATES.get(status if known else -1, (Stage.OTHER, None))  # type: ignore[arg-type]
    devices = list(_devices(fields))
    return Machine(
        id=id,
        hostname=text(fields.get("hostname")) or text(fields.get("fqdn")).partition(".")[0],
        stage=stage,
        status=text(fields.get("status_name")) or (f"status {status}" if known else "no state"),
        said=_said(fields),
        failed=failed,
        service_tag=told(mapping(fields.get("hardware_info")).get("system_serial")),
        power=text(fields.get("power_state")) or "unknown",
        power_type=text(fields.get("power_type")),
        disks=tuple(_disk(device) for device in devices),
        nics=tuple(_nics(fields)),
        boot_disk=text(mapping(fields.get("boot_disk")).get("id")),
        root_disk=next((text(device.get("id")) for device in devices if _holds_root(device)), ""),
        memory_mib=number(fields.get("memory")),
        cpus=number(fields.get("cpu_count")),
        tags=tuple(text(tag) for tag in items(fields.get("tag_names")) if text(tag)),
        pool=text(mapping(fields.get("pool")).get("name")),
        zone=text(mapping(fields.get("zone")).get("name")),
        owner=text(fields.get("owner")),
        locked=fields.get("locked") is True,
        series=text(fields.get("distro_series")).rpartition("/")[2],
        kernel=text(fields.get("hwe_kernel")),
        untold=tuple(_untold(fields)),
        description=text(fields.get("description")),
    )


def _untold(fields: Mapping[str, Any]) -> Iterator[str]:
    """What MAAS 3.7 tells of every machine, and did not of this one."""
    if not text(fields.get("system_id")):
        yield "its system_id"
    if not isinstance(fields.get("status"), int) or fields["status"] not in KNOWN:
        yield "its state"
    if not isinstance(fields.get("tag_names"), list):
        yield "whether it is in quarantine (no tag_names)"
    if not isinstance(fields.get("locked"), bool):
        yield "whether it is locked"


def machines_of(raw: object) -> list[Machine]:
    """Machines of a list; one without a ``system_id``, or of another kind, is in no other's way.

    :raises ProvisionerGarbledError: no list, or one without any machine in it.
    """
    if not isinstance(raw, list):
        raise ProvisionerGarbledError("expected a list of machines, found something else")
    found = [_machine(mapping(one)) for one in raw]
    told = [machine for machine in found if machine.id or machine.hostname]
    if found and not told:
        raise ProvisionerGarbledError("expected machines with a system_id, found none")
    return told


def _said(fields: Mapping[str, Any]) -> str:
    """Why it is broken or in quarantine, else its last message."""
    tagged = QUARANTINE_TAG in items(fields.get("tag_names"))
    noted = reason_in(text(fields.get("description"))) if tagged else ""
    return text(fields.get("error_description")) or noted or text(fields.get("status_message"))


def _devices(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Block devices, each once; physical ones first, as MAAS orders them."""
    seen: set[str] = set()
    for key in ("physicalblockdevice_set", "blockdevice_set", "virtualblockdevice_set"):
        for one in items(fields.get(key)):
            device = mapping(one)
            id = text(device.get("id"))
            if id and id not in seen:
                seen.add(id)
                yield device


def _disk(device: Mapping[str, Any]) -> Disk:
    return Disk(
        id=text(device.get("id")),
        name=text(device.get("name")),
        serial=told(device.get("serial")),
        model=text(device.get("model")),
        size=number(device.get("size")),
        id_path=text(device.get("id_path")),
        used_for=text(device.get("used_for")),
        kind=text(device.get("type")) or "physical",
    )


def _holds_root(device: Mapping[str, Any]) -> bool:
    """Whether it is a disk and ``/`` is on it or on one of its partitions.

    Of LVM, bcache and RAID no disk is told: a machine's object names their virtual device alone.
    """
    if (text(device.get("type")) or "physical") != "physical":
        return False
    places = [device, *(mapping(part) for part in items(device.get("partitions")))]
    return any(mapping(place.get("filesystem")).get("mount_point") == "/" for place in places)


def _nics(fields: Mapping[str, Any]) -> Iterator[Nic]:
    for one in items(fields.get("interface_set")):
        nic = mapping(one)
        mac = parse_mac(text(nic.get("mac_address")))
        if mac is None:
            continue
        linked = _addresses(nic.get("links")) or _addresses(nic.get("discovered"))
        yield Nic(
            id=text(nic.get("id")),
            name=text(nic.get("name")),
            mac=mac,
            addresses=linked,
            kind=text(nic.get("type")) or "physical",
        )


def _addresses(links: object) -> tuple[str, ...]:
    found = (text(mapping(link).get("ip_address")) for link in items(links))
    return tuple(dict.fromkeys(address for address in found if address))


def mapping(value: object) -> Mapping[str, Any]:
    """An object, an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """A list, an empty one where it is none."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """A word or number as text, empty for everything else."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def told(value: object) -> str:
    """A serial number, empty where MAAS or the BIOS writes that there is none."""
    found = text(value)
    return "" if found.lower() in _UNTOLD else found


def number(value: object) -> int:
    """A whole number of 0 or more, 0 for everything else."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63
    return int(value) if whole else 0  # type: ignore[call-overload]
