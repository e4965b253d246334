"""A custom storage layout, as a commissioning script may bring one: keyed by the kernel's names of disks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.sim.maas.blocks import Block, Filesystem, Partition
from tests.sim.maas.stored import Stored

Json = dict[str, Any]
DEVICE_TYPES = ("bcache", "disk", "lvm", "raid", "special")
_UNITS = {"M": 1000**2, "G": 1000**3, "T": 1000**4}


class UnsupportedError(ValueError):
    """The document itself is wrong: the whole commissioning fails."""


class UnappliableError(ValueError):
    """The document is right but does not fit this machine: commissioning passes, without a layout."""


def validate(document: Json) -> None:
    """What MAAS checks before it looks at the machine. :raises UnsupportedError: with MAAS's words."""
    for device in document["layout"].values():
        if device.get("type") not in DEVICE_TYPES:
            raise UnsupportedError(f"Unsupported device type '{device.get('type')}'")


@dataclass
class _Made:
    """What may be mounted, by name."""

    blocks: dict[str, Block] = field(default_factory=dict)
    partitions: dict[str, Partition] = field(default_factory=dict)

    def mount(self, name: str, point: str, options: str) -> None:
        made = self.partitions.get(name) or self.blocks.get(name)
        if made is None or made.filesystem is None:
            raise UnappliableError(f"Unknown filesystem device(s): {name}")
        made.filesystem.mount_point, made.filesystem.mount_options = point, options


def apply_custom(storage: Stored, document: Json) -> None:
    """Lay out disks and their partitions; the disk marked ``boot`` becomes the boot disk.

    Only ``disk`` is done here; LVM, RAID and bcache of a custom layout are left out.
    :raises UnappliableError: a disk is named that the machine does not have; nothing is laid out then.
    """
    disks = {name: device for name, device in document["layout"].items() if device["type"] == "disk"}
    missing = sorted(name for name in disks if storage.named(name) is None)
    if missing:
        raise UnappliableError(f"Unknown machine disk(s): {', '.join(missing)}")
    storage.clear()
    made = _Made()
    for name, device in disks.items():
        block = storage.named(name)
        assert block is not None, "looked up above"
        _disk(storage, block, device, made)
    for point, mount in document["mounts"].items():
        made.mount(mount["device"], point, mount.get("options", ""))


def _disk(storage: Stored, block: Block, device: Json, made: _Made) -> None:
    made.blocks[block.name] = block
    if device.get("boot"):
        storage.boot_id = block.id
    if device.get("fs"):
        block.filesystem = Filesystem(device["fs"])
    if device.get("ptable"):
        block.table = device["ptable"].upper()
    for wanted in device.get("partitions", []):
        kind = wanted.get("fs")
        made.partitions[wanted["name"]] = block.add_partition(
            storage.new_id,
            _bytes(wanted["size"]),
            bool(wanted.get("bootable", False)),
            Filesystem(kind) if kind else None,
        )


def _bytes(text: str) -> int:
    unit = _UNITS.get(text[-1:])
    return round(float(text[:-1]) * unit) if unit else int(text)
