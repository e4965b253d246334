"""Disks of a machine as MAAS keeps them: what commissioning found, which one boots, what is laid out on them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.sim.maas.hardware import DiskHardware, MachineHardware

MIB = 1024 * 1024
NewId = Callable[[str], int]
"""kind of thing -> the next number of that kind, over all machines."""


@dataclass
class Partition:
    """The one partition a flat layout makes."""

    id: int
    uuid: str
    filesystem_uuid: str
    size: int


@dataclass
class Disk:
    """A physical disk MAAS knows."""

    id: int
    hardware: DiskHardware
    name: str
    root: Partition | None = None


class Storage:
    """Storage of one machine."""

    def __init__(self, new_id: NewId) -> None:
        self._new_id = new_id
        self.disks: list[Disk] = []
        self.boot_id: int | None = None

    def commission(self, hardware: MachineHardware) -> None:
        """What a commissioning found: known disks keep their ids, the boot disk follows its serial number."""
        known = {(disk.hardware.serial, disk.hardware.model): disk for disk in self.disks}
        found = []
        for place, disk in enumerate(hardware.disks):
            old = known.pop((disk.serial, disk.model), None)
            number = old.id if old else self._new_id("blockdevice")
            found.append(Disk(number, disk, disk.name or f"nvme{place}n1"))
        self.disks = found
        if self.boot is None:
            self.boot_id = min((disk.id for disk in found), default=None)
        if self.boot_id is not None:
            self.flat(self.boot_id)

    @property
    def boot(self) -> Disk | None:
        """The disk it boots from."""
        return next((disk for disk in self.disks if disk.id == self.boot_id), None)

    def clear(self) -> None:
        """Forget the layout."""
        for disk in self.disks:
            disk.root = None

    def flat(self, root_id: int) -> None:
        """One partition with ``/`` on one disk."""
        self.clear()
        disk = next(disk for disk in self.disks if disk.id == root_id)
        size = disk.hardware.size // (4 * MIB) * (4 * MIB) - 4 * MIB
        disk.root = Partition(self._new_id("partition"), str(uuid.uuid4()), str(uuid.uuid4()), size)

    def fields(self, system_id: str) -> dict[str, Any]:
        """The keys of the machine's JSON that are about storage."""
        shown = [_shown(disk, system_id) for disk in self.disks]
        boot = next((one for one in shown if one["id"] == self.boot_id), None)
        return {
            "physicalblockdevice_set": shown,
            "blockdevice_set": shown,
            "virtualblockdevice_set": [],
            "boot_disk": boot,
            "storage": sum(disk.hardware.size for disk in self.disks) / 1_000_000,
            "raids": [],
            "volume_groups": [],
            "bcaches": [],
            "cache_sets": [],
            "special_filesystems": [],
        }


def _shown(disk: Disk, system_id: str) -> dict[str, Any]:
    uri = f"/MAAS/api/2.0/nodes/{system_id}/blockdevices/{disk.id}/"
    part = disk.root
    return {
        "firmware_version": disk.hardware.firmware,
        "id": disk.id,
        "available_size": 0 if part else disk.hardware.size,
        "system_id": system_id,
        "partition_table_type": "GPT" if part else None,
        "uuid": None,
        "used_size": part.size if part else 0,
        "id_path": disk.hardware.by_id,
        "size": disk.hardware.size,
        "block_size": disk.hardware.block_size,
        "used_for": "GPT partitioned with 1 partition" if part else "Unused",
        "type": "physical",
        "storage_pool": None,
        "model": disk.hardware.model,
        "numa_node": disk.hardware.numa_node,
        "name": disk.name,
        "partitions": [_partition(disk, part, system_id, uri)] if part else [],
        "path": f"/dev/disk/by-dname/{disk.name}",
        "serial": disk.hardware.serial,
        "filesystem": None,
        "tags": ["ssd"],
        "resource_uri": uri,
    }


def _partition(disk: Disk, part: Partition, system_id: str, uri: str) -> dict[str, Any]:
    return {
        "uuid": part.uuid,
        "size": part.size,
        "bootable": False,
        "tags": [],
        "path": f"/dev/disk/by-dname/{disk.name}-part2",
        "id": part.id,
        "filesystem": {
            "fstype": "ext4",
            "label": "root",
            "uuid": part.filesystem_uuid,
            "mount_point": "/",
            "mount_options": None,
        },
        "system_id": system_id,
        "type": "partition",
        "used_for": "ext4 formatted filesystem mounted at /",
        "device_id": disk.id,
        "resource_uri": f"{uri}partition/{part.id}",
    }
