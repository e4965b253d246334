"""What MAAS keeps of one machine's storage: its disks and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.sim.maas.blocks import MIB, Block, Filesystem, NewId
from tests.sim.maas.hardware import DiskHardware

Json = dict[str, Any]
SMALLEST_DISK = 4 * MIB
SMALLEST_BOOT = 512 * MIB


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
    uuid: str = field(default_factory=lambda: str(uuid4()))


@dataclass
class Stored:
    """All storage of one machine.

    :param boot_id: of the disk that was *set* as boot disk; see :attr:`boot`.
    :param custom: the layout that the last commissioning brought, none: there was none.
    """

    new_id: NewId
    disks: list[Block] = field(default_factory=list)
    virtual: list[Block] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    cache_sets: list[int] = field(default_factory=list)
    boot_id: int | None = None
    custom: Json | None = None

    @property
    def boot(self) -> Block | None:
        """The disk that was set, else the one with the lowest id that is large enough: found first once."""
        for disk in self.disks:
            if disk.id == self.boot_id:
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

    def found(self, disks: Sequence[DiskHardware]) -> None:
        """Commissioning saw these disks.

        A disk is the same one when its serial number is (its path where it has none); a serial number that
        comes twice is two disks. Disks that are not seen any more are forgotten, and so is a boot disk among
        them.
        """
        before = list(self.disks)
        named = [(disk.name or f"nvme{place}n1", disk) for place, disk in enumerate(disks)]
        now: list[Block] = []
        for name, disk in sorted(named, key=lambda pair: pair[0]):
            if disk.size <= SMALLEST_DISK:
                continue
            block = next((one for one in before if _same(one, disk)), None)
            if block is None:
                block = Block(self.new_id("blockdevice"), name, disk.size)
            else:
                before.remove(block)
            _update(block, name, disk)
            now.append(block)
        self.disks = sorted(now, key=lambda block: block.id)
        if self.boot_id not in {block.id for block in now}:
            self.boot_id = None

    def add_virtual(
        self, name: str, size: int, block_size: int, filesystem: Filesystem | None = None
    ) -> Block:
        """A block device made of others."""
        block = Block(
            self.new_id("blockdevice"),
            name,
            size,
            kind="virtual",
            block_size=block_size,
            numa_node=None,
            filesystem=filesystem,
            uuid=str(uuid4()),
        )
        self.virtual.append(block)
        return block

    def fields(self, system_id: str) -> Json:
        """The storage part of a machine, every key of it."""
        boot = self.boot
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


def _same(block: Block, disk: DiskHardware) -> bool:
    return block.serial == disk.serial if disk.serial else block.id_path == disk.by_id


def _update(block: Block, name: str, disk: DiskHardware) -> None:
    block.name, block.size = name, disk.size
    block.model, block.serial = disk.model, disk.serial
    block.id_path = disk.by_id if disk.serial else f"/dev/{name}"
    block.block_size = disk.block_size or 512
    block.firmware, block.numa_node = disk.firmware, disk.numa_node
    block.tags = ["ssd"]
