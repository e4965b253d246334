"""MAAS's storage layouts, applied to simulated storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.sim.maas.blocks import ALIGNED, MIB, Block, Filesystem, aligned
from tests.sim.maas.custom_layout import UnappliableError, apply_custom
from tests.sim.maas.stored import Group, Stored

EFI_SIZE = 512 * MIB
"""Never there (these machines boot as BIOS machines do), but percentages and limits leave room for it."""
SMALLEST_ROOT = 3 * 1024 * MIB
NAMES = ("custom", "vmfs7", "bcache", "lvm", "flat", "vmfs6", "blank")
"""In the order in which MAAS lists them in its refusal."""
VMFS6 = (
    (1, 3 * MIB, True),
    (2, 4096 * MIB, False),
    (3, 0, False),
    (5, 249 * MIB, False),
    (6, 249 * MIB, False),
    (7, 109 * MIB, False),
    (8, 285 * MIB, False),
    (9, 2560 * MIB, False),
)
VMFS7 = (
    (1, 100 * MIB, True),
    (5, 4095 * MIB, False),
    (6, 4095 * MIB, False),
    (7, 25_662_832_128, False),
    (8, 0, False),
)
"""Number, size (0: what is left, the datastore), bootable."""
_UNITS = {"k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4, "p": 1000**5}


class LayoutInvalidError(ValueError):
    """Fields that are wrong. :param errors: by field, as the API answers them."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(str(errors))
        self.errors = errors


class LayoutImpossibleError(ValueError):
    """The layout cannot be applied; the text is the answer."""


@dataclass(frozen=True)
class Wanted:
    """A layout's parameters, checked."""

    boot: Block
    root: Block
    boot_size: int = 0
    root_size: int | None = None


def apply_layout(storage: Stored, name: str, fields: Mapping[str, str]) -> None:
    """Replace what is laid out by a layout.

    :param fields: ``root_device``, ``root_size``, ``boot_size``, as they were sent.
    :raises LayoutInvalidError: a layout or a value that MAAS does not know.
    :raises LayoutImpossibleError: no disk, or a custom layout that was not brought or does not fit.
    """
    if not name:
        raise LayoutInvalidError({"storage_layout": ["This field is required."]})
    if name not in NAMES:
        raise LayoutInvalidError({"storage_layout": [not_one_of("storage_layout", name, NAMES)]})
    if name == "custom":
        _custom(storage)
        return
    wanted = _checked(storage, fields)
    storage.clear()
    _APPLY[name](storage, wanted)


def not_one_of(field: str, value: str, choices: tuple[str, ...]) -> str:
    """MAAS's words for a choice it does not have."""
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return f"'{value}' is not a valid {field}.  It should be one of: {listed}."


def parse_size(text: str) -> int:
    """Bytes of ``100G`` (powers of 1000) or a bare number. :raises ValueError: neither."""
    unit = _UNITS.get(text[-1:].lower())
    return round(float(text[:-1]) * unit) if unit else int(text)


def _custom(storage: Stored) -> None:
    where = "Failed to configure storage layout 'custom'"
    if storage.custom is None:
        raise LayoutImpossibleError(f"{where}: No custom storage layout configuration found")
    try:
        apply_custom(storage, storage.custom)
    except UnappliableError as why:
        raise LayoutImpossibleError(f"{where}: Failed to apply storage layout: {why}") from why


def _checked(storage: Stored, fields: Mapping[str, str]) -> Wanted:
    boot = storage.boot
    if boot is None:
        raise LayoutImpossibleError("Machine is missing a boot disk; no storage layout can be applied.")
    errors: dict[str, list[str]] = {}
    root = _root(storage, boot, fields.get("root_device", ""), errors)
    room = boot.size - EFI_SIZE
    boot_size = _size("boot_size", fields, (EFI_SIZE, room - SMALLEST_ROOT), room, errors)
    root_size = _size("root_size", fields, (SMALLEST_ROOT, room - EFI_SIZE), room, errors)
    if errors:
        raise LayoutInvalidError(errors)
    if root_size is not None and EFI_SIZE + (boot_size or 0) + root_size > boot.size:
        text = "Size of the boot partition and root partition are larger than the available space on the boot disk."
        raise LayoutInvalidError({"__all__": [text]})
    return Wanted(boot, root, boot_size or 0, root_size)


def _root(storage: Stored, boot: Block, value: str, errors: dict[str, list[str]]) -> Block:
    if not value:
        return boot
    found = next((disk for disk in storage.disks if str(disk.id) == value), None)
    if found is None:
        known = tuple(str(disk.id) for disk in storage.disks)
        errors["root_device"] = [not_one_of("root_device", value, known)]
    return found or boot


def _size(
    field: str, fields: Mapping[str, str], bounds: tuple[int, int], whole: int, errors: dict[str, list[str]]
) -> int | None:
    value = fields.get(field, "").strip()
    if not value:
        return None
    try:
        size = round(whole * float(value[:-1]) / 100) if value.endswith("%") else parse_size(value)
    except ValueError:
        errors[field] = ["Ensure this value is a valid size in bytes or a percentage."]
        return None
    if size < bounds[0]:
        errors[field] = [f"Size is too small. Minimum size is {bounds[0]}."]
    elif size > bounds[1]:
        errors[field] = [f"Size is too large. Maximum size is {bounds[1]}."]
    return size


def _boot_partition(storage: Stored, wanted: Wanted, size: int) -> None:
    wanted.boot.table = "GPT"
    if size:
        boot = Filesystem("ext4", "boot", "/boot")
        wanted.boot.add_partition(storage.new_id, size, bootable=True, filesystem=boot)


def _root_filesystem() -> Filesystem:
    return Filesystem("ext4", "root", "/")


def _flat(storage: Stored, wanted: Wanted) -> None:
    _boot_partition(storage, wanted, wanted.boot_size)
    wanted.root.add_partition(storage.new_id, wanted.root_size, filesystem=_root_filesystem())


def _lvm(storage: Stored, wanted: Wanted) -> None:
    _boot_partition(storage, wanted, wanted.boot_size)
    part = wanted.root.add_partition(
        storage.new_id, wanted.root_size, filesystem=Filesystem("lvm-pv", role="LVM volume for vgroot")
    )
    group = Group(storage.new_id("group"), "volume_group", "vgroot")
    storage.groups.append(group)
    group.virtual = storage.add_virtual(
        "vgroot-lvroot", aligned(part.size) - ALIGNED, 4096, _root_filesystem()
    )


def _bcache(storage: Stored, wanted: Wanted) -> None:
    cache = min(
        (disk for disk in storage.disks if disk is not wanted.boot and "ssd" in disk.tags),
        key=lambda disk: (disk.size, disk.id),
        default=None,
    )
    if cache is None:
        _flat(storage, wanted)
        return
    _boot_partition(storage, wanted, wanted.boot_size or 1024 * MIB)
    backing = Filesystem("bcache-backing", role="Backing device for bcache0")
    part = wanted.root.add_partition(storage.new_id, wanted.root_size, filesystem=backing)
    cache.add_partition(storage.new_id, filesystem=Filesystem("bcache-cache", role="Cache device for cache0"))
    storage.cache_sets.append(storage.new_id("cache_set"))
    group = Group(storage.new_id("group"), "bcache", "bcache0")
    storage.groups.append(group)
    group.virtual = storage.add_virtual("bcache0", part.size, 512, _root_filesystem())


def _vmfs(partitions: tuple[tuple[int, int, bool], ...]) -> Callable[[Stored, Wanted], None]:
    def apply(storage: Stored, wanted: Wanted) -> None:
        disk = wanted.root
        made = {
            number: disk.add_partition(storage.new_id, size, bootable, number=number)
            for number, size, bootable in partitions
        }
        store = next(made[number] for number, size, _ in partitions if size == 0)
        store.size = wanted.root_size if wanted.root_size is not None else disk.available
        store.filesystem = Filesystem("vmfs6", role="VMFS extent for datastore1")
        group = Group(storage.new_id("group"), "vmfs", "datastore1")
        storage.groups.append(group)
        mounted = Filesystem("vmfs6", mount_point="/vmfs/volumes/datastore1")
        group.virtual = storage.add_virtual("datastore1", store.size, 1024, mounted)

    return apply


def _blank(storage: Stored, wanted: Wanted) -> None:
    pass


_APPLY: dict[str, Callable[[Stored, Wanted], None]] = {
    "flat": _flat,
    "lvm": _lvm,
    "bcache": _bcache,
    "vmfs6": _vmfs(VMFS6),
    "vmfs7": _vmfs(VMFS7),
    "blank": _blank,
}
