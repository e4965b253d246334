"""Software RAIDs as MAAS makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.sim.maas.blocks import Block, Filesystem
from tests.sim.maas.stored import Group, Stored

Json = dict[str, Any]
Errors = dict[str, list[str]]
CHOICE = "Select a valid choice. {} is not one of the available choices."
REQUIRED = "This field is required."
SUPERBLOCK = 128 * 1024
"""Taken from the whole."""
LEAST = {"raid-0": 2, "raid-1": 2, "raid-5": 3, "raid-6": 4, "raid-10": 3}
"""Level -> fewest active devices. There is no raid-z of any kind."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for, as it was sent."""

    name: str
    level: str
    devices: Sequence[str]
    spares: Sequence[str] = ()


def create(storage: Stored, wanted: Wanted) -> tuple[Group | None, Errors]:
    """Make a RAID of unused disks. :returns: it, or none and the fields that are wrong."""
    errors: Errors = {}
    if wanted.level not in LEAST:
        errors["level"] = [CHOICE.format(wanted.level) if wanted.level else REQUIRED]
    active = _unused(storage, wanted.devices, "block_devices", errors)
    spare = _unused(storage, wanted.spares, "spare_devices", errors)
    if errors:
        return None, errors
    least = LEAST[wanted.level]
    if len(active) < least or (wanted.level == "raid-0" and spare):
        spares = "no spares" if wanted.level == "raid-0" else "any number of spares"
        number = wanted.level.removeprefix("raid-")
        text = f"RAID level {number} must have at least {least} raid devices and {spares}."
        return None, {"__all__": [text]}
    name = wanted.name or _free_name(storage)
    group = Group(storage.new_id("group"), "raid", name, active, spare, level=wanted.level)
    for word, fstype, blocks in (("Active", "raid", active), ("Spare", "raid-spare", spare)):
        for block in blocks:
            block.filesystem = Filesystem(fstype, role=f"{word} {wanted.level} device for {name}")
    smallest = min(block.block_size for block in active)
    group.virtual = storage.add_virtual(name, size(wanted.level, active), smallest)
    storage.groups.append(group)
    return group, {}


def size(level: str, active: Sequence[Block]) -> int:
    """Bytes a RAID holds."""
    least, count = min(block.size for block in active), len(active)
    shares = {
        "raid-0": count,
        "raid-1": 1,
        "raid-5": count - 1,
        "raid-6": count - 2,
        "raid-10": count / 2,
    }
    return int(least * shares[level]) - SUPERBLOCK


def describe(group: Group, system_id: str) -> Json:
    """As the API tells it."""
    assert group.virtual is not None, "a RAID has its device"
    return {
        "id": group.id,
        "name": group.name,
        "uuid": group.uuid,
        "level": group.level,
        "devices": [block.describe(system_id) for block in group.devices],
        "spare_devices": [block.describe(system_id) for block in group.spares],
        "size": group.virtual.size,
        "human_size": human(group.virtual.size),
        "virtual_device": group.virtual.describe(system_id),
        "system_id": system_id,
        "resource_uri": f"/MAAS/api/2.0/nodes/{system_id}/raid/{group.id}/",
    }


def human(size: int) -> str:
    """``11.5 TB``."""
    value, units = float(size), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f} {units[0]}"


def _unused(storage: Stored, ids: Sequence[str], field: str, errors: Errors) -> list[Block]:
    free = {str(disk.id): disk for disk in storage.disks if disk.filesystem is None and disk.table is None}
    for id in ids:
        if id not in free:
            errors[field] = [CHOICE.format(id)]
            return []
    return [free[id] for id in ids]


def _free_name(storage: Stored) -> str:
    taken = {group.name for group in storage.groups}
    return next(name for at in range(len(taken) + 1) if (name := f"md{at}") not in taken)
