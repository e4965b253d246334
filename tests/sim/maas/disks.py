"""Disks, partitions, file systems and what is made of them, as MAAS keeps and describes them."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
NewId = Callable[[str], int]
"""kind of thing -> the next number of that kind, over all machines."""
MIB = 1024**2
ALIGNED = 4 * MIB
TABLE_SPACE = 6 * MIB
"""What a partition table takes: 4 MiB before, 1 MiB after, 1 MiB for GRUB's partition."""
SMALLEST_DISK = 4 * MIB
SMALLEST_BOOT = 512 * MIB


class Ids:
    """Numbers as a database gives them: one sequence a kind, never used twice."""

    def __init__(self) -> None:
        self._last: Counter[str] = Counter()

    def __call__(self, kind: str) -> int:
        self._last[kind] += 1
        return self._last[kind]


def aligned(size: int) -> int:
    """Down to whole 4 MiB, as MAAS rounds partitions."""
    return max(size, 0) // ALIGNED * ALIGNED


@dataclass
class Filesystem:
    """A file system, or the mark of being part of something. :param role: words that replace "formatted"."""

    fstype: str
    label: str | None = None
    mount_point: str | None = None
    mount_options: str | None = None
    role: str = ""
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))

    def used_for(self) -> str:
        """In MAAS's words."""
        if self.role:
            return self.role
        if self.mount_point is None:
            return f"Unmounted {self.fstype} formatted filesystem"
        return f"{self.fstype} formatted filesystem mounted at {self.mount_point}"

    def describe(self) -> Json:
        """As the API tells it."""
        return {
            "fstype": self.fstype,
            "label": self.label,
            "uuid": self.uuid,
            "mount_point": self.mount_point,
            "mount_options": self.mount_options,
        }


@dataclass
class Partition:
    """A partition. :param number: after ``-part``."""

    id: int
    number: int
    size: int
    bootable: bool = False
    filesystem: Filesystem | None = None
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass
class Block:
    """A block device, physical or made of others. :param kind: ``physical`` or ``virtual``."""

    id: int
    name: str
    size: int
    kind: str = "physical"
    model: str | None = None
    serial: str | None = None
    id_path: str | None = None
    block_size: int = 512
    firmware: str | None = None
    numa_node: int | None = 0
    tags: list[str] = field(default_factory=list)
    table: str | None = None
    partitions: list[Partition] = field(default_factory=list)
    filesystem: Filesystem | None = None
    uuid: str | None = None

    @property
    def partitioned(self) -> int:
        """Bytes in partitions."""
        return sum(partition.size for partition in self.partitions)

    @property
    def available(self) -> int:
        """Bytes that a partition may still take."""
        return 0 if self.filesystem else aligned(self.size - TABLE_SPACE - self.partitioned)

    @property
    def used(self) -> int:
        """Bytes taken, the partition table's included."""
        if self.filesystem:
            return self.size
        return self.partitioned + TABLE_SPACE if self.table else 0

    def used_for(self) -> str:
        """In MAAS's words."""
        if self.filesystem:
            return self.filesystem.used_for()
        if self.table:
            count = len(self.partitions)
            return f"{self.table} partitioned with {count} partition{'' if count == 1 else 's'}"
        return "Unused"

    def clear(self) -> None:
        """No partition table, no file system."""
        self.table, self.partitions, self.filesystem = None, [], None

    def add_partition(
        self,
        ids: NewId,
        size: int | None = None,
        bootable: bool = False,
        filesystem: Filesystem | None = None,
        number: int | None = None,
    ) -> Partition:
        """A partition of a size (rounded down), or of all that is left.

        Numbers begin with 2: on BIOS machines the first one is GRUB's and not told of.
        """
        self.table = "GPT"
        wanted = self.available if size is None else size if number is not None else aligned(size)
        at = number or max((partition.number for partition in self.partitions), default=1) + 1
        made = Partition(ids("partition"), at, wanted, bootable, filesystem)
        self.partitions.append(made)
        return made

    def describe(self, system_id: str, firmware: bool = True) -> Json:
        """As the API tells it. :param firmware: whether with its firmware version (not in lists of disks)."""
        told: Json = {
            "id": self.id,
            "name": self.name,
            "type": self.kind,
            "model": self.model,
            "serial": self.serial,
            "size": self.size,
            "block_size": self.block_size,
            "available_size": self.available,
            "used_size": self.used,
            "used_for": self.used_for(),
            "partition_table_type": self.table,
            "partitions": [self._partition(each, system_id) for each in self.partitions],
            "filesystem": self.filesystem.describe() if self.filesystem else None,
            "id_path": self.id_path,
            "path": f"/dev/disk/by-dname/{self.name}",
            "numa_node": self.numa_node,
            "tags": list(self.tags),
            "uuid": self.uuid,
            "storage_pool": None,
            "system_id": system_id,
            "resource_uri": f"/MAAS/api/2.0/nodes/{system_id}/blockdevices/{self.id}/",
        }
        if firmware and self.kind == "physical":
            told["firmware_version"] = self.firmware
        return told

    def _partition(self, partition: Partition, system_id: str) -> Json:
        filesystem = partition.filesystem
        uri = f"/MAAS/api/2.0/nodes/{system_id}/blockdevices/{self.id}/partition/{partition.id}"
        return {
            "id": partition.id,
            "uuid": partition.uuid,
            "type": "partition",
            "size": partition.size,
            "bootable": partition.bootable,
            "tags": [],
            "used_for": filesystem.used_for() if filesystem else "Unused",
            "filesystem": filesystem.describe() if filesystem else None,
            "path": f"/dev/disk/by-dname/{self.name}-part{partition.number}",
            "device_id": self.id,
            "system_id": system_id,
            "resource_uri": uri,
        }


@dataclass
class Group:
    """Something made of disks or partitions: ``volume_group``, ``raid``, ``bcache``, ``vmfs``."""

    id: int
    kind: str
    name: str
    devices: list[Block] = field(default_factory=list)
    spares: list[Block] = field(default_factory=list)
    virtual: Block | None = None
    level: str = ""
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass
class Storage:
    """All storage of one machine.

    :param boot: id of the disk that was *set* as boot disk; see :meth:`boot_disk`.
    :param custom: the layout that the last commissioning brought, none: there was none.
    """

    new_id: NewId
    disks: list[Block] = field(default_factory=list)
    virtual: list[Block] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    cache_sets: list[int] = field(default_factory=list)
    boot: int | None = None
    custom: Json | None = None

    def boot_disk(self) -> Block | None:
        """The disk that was set, else the one with the lowest id that is large enough: found first once."""
        for disk in self.disks:
            if disk.id == self.boot:
                return disk
        return min(
            (disk for disk in self.disks if disk.size >= SMALLEST_BOOT),
            key=lambda disk: disk.id,
            default=None,
        )

    def block(self, id: int) -> Block | None:
        """Any block device with an id."""
        return next((each for each in (*self.disks, *self.virtual) if each.id == id), None)

    def named(self, name: str) -> Block | None:
        """The disk with a kernel name."""
        return next((each for each in self.disks if each.name == name), None)

    def clear(self) -> None:
        """No layout at all; the disks stay, and so does the boot disk that was set."""
        self.virtual, self.groups, self.cache_sets = [], [], []
        for disk in self.disks:
            disk.clear()

    def forget_filesystems(self) -> None:
        """What releasing does: partitions stay, what was on them does not; disks without partitions are unused."""
        self.virtual, self.groups, self.cache_sets = [], [], []
        for disk in self.disks:
            disk.filesystem = None
            for partition in disk.partitions:
                partition.filesystem = None

    def found(self, seen: list[Json]) -> None:
        """Commissioning saw these disks (LXD's ``storage.disks``), by kernel name.

        A disk is the same one when its serial is (its path where it has none); a serial that comes twice
        is two disks. Disks that are not seen any more are forgotten, and so is a boot disk among them.
        """
        before = list(self.disks)
        now: list[Block] = []
        for told in sorted(seen, key=lambda disk: str(disk["id"])):
            if told["read_only"] or told["type"] == "cdrom" or told["size"] <= SMALLEST_DISK:
                continue
            block = _same(before, told) or Block(self.new_id("blockdevice"), "", 0)
            if block in before:
                before.remove(block)
            _update(block, told)
            now.append(block)
        self.disks = sorted(now, key=lambda disk: disk.id)
        if self.boot not in {disk.id for disk in now}:
            self.boot = None

    def all(self) -> Iterator[Block]:
        """Disks, then what is made of them."""
        yield from self.disks
        yield from self.virtual

    def fields(self, system_id: str) -> Json:
        """The storage part of a machine, every key of it."""
        boot = self.boot_disk()
        physical = [disk.describe(system_id) for disk in self.disks]
        virtual = [block.describe(system_id) for block in self.virtual]
        return {
            "physicalblockdevice_set": physical,
            "virtualblockdevice_set": virtual,
            "blockdevice_set": [*physical, *virtual],
            "boot_disk": boot.describe(system_id) if boot else None,
            "storage": sum(disk.size for disk in self.disks) / 1_000_000,
            "volume_groups": self._groups("volume_group", system_id),
            "raids": self._groups("raid", system_id),
            "bcaches": self._groups("bcache", system_id),
            "cache_sets": [_incomplete(id, system_id) for id in self.cache_sets],
            "special_filesystems": [],
            "swap_size": None,
        }

    def _groups(self, kind: str, system_id: str) -> list[Json]:
        return [_incomplete(group.id, system_id) for group in self.groups if group.kind == kind]


def _incomplete(id: int, system_id: str) -> Json:
    return {"system_id": system_id, "id": id, "__incomplete__": True}


def _path(told: Json) -> str:
    device, serial = told.get("device_id"), told.get("serial")
    return f"/dev/disk/by-id/{device}" if device and serial else f"/dev/{told['id']}"


def _same(known: list[Block], told: Json) -> Block | None:
    serial = told.get("serial", "")
    for block in known:
        if block.serial == serial if serial else block.id_path == _path(told):
            return block
    return None


def _update(block: Block, told: Json) -> None:
    block.name, block.size = told["id"], told["size"]
    block.model, block.serial = told.get("model", ""), told.get("serial", "")
    block.id_path = _path(told)
    block.block_size = told.get("block_size") or 512
    block.firmware = told.get("firmware_version")
    block.numa_node = told.get("numa_node")
    block.tags = ["rotary", f"{told['rpm']}rpm"] if told.get("rpm") else ["ssd"]
