"""Block devices, partitions and file systems, as MAAS keeps and describes them."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
NewId = Callable[[str], int]
"""kind of thing -> the next number of that kind, over all machines."""
MIB = 1024**2
ALIGNED = 4 * MIB
TABLE_SPACE = 6 * MIB
"""What a partition table takes: 4 MiB before, 1 MiB after, 1 MiB for GRUB's partition."""


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
