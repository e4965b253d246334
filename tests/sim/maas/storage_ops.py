"""Operations on a machine's storage: layouts, block devices, RAIDs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.sim.maas import curtin, raids
from tests.sim.maas.blocks import Block, Filesystem
from tests.sim.maas.call import (
    Answer,
    Incoming,
    Refusal,
    absent,
    done_text,
    invalid,
    not_allowed,
    ok,
    refused,
    unrecognised,
)
from tests.sim.maas.forms import Form
from tests.sim.maas.layouts import LayoutImpossibleError, LayoutInvalidError, apply_layout
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble
    from tests.sim.maas.machines import MachineRecord

CHOICE = "Select a valid choice. {} is not one of the available choices."
REQUIRED = "This field is required."
FILESYSTEMS = ("ext2", "ext4", "xfs", "fat32", "vfat", "swap", "ramfs", "tmpfs", "btrfs", "zfsroot")
"""What a device may be formatted with; there is no ``zfs`` and no pool of anything."""
_LAYOUT_FIELDS = ("root_device", "root_size", "boot_size")


def _set_layout(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    _ready(record, "Cannot change the storage layout on a machine that is not Ready.")
    form = incoming.form
    try:
        fields = {name: form.get(name) for name in _LAYOUT_FIELDS}
        apply_layout(record.storage, form.get("storage_layout"), fields)
    except LayoutInvalidError as wrong:
        raise Refusal(invalid(wrong.errors)) from wrong
    except LayoutImpossibleError as why:
        raise Refusal(refused(400, str(why))) from why


def _restore(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    text = "Machine must be in a ready or failed testing state to restore storage configuration."
    if record.status not in (Status.READY, Status.FAILED_TESTING):
        raise Refusal(refused(409, text))
    if record.storage.boot is None:
        record.storage.clear()
    else:
        apply_layout(record.storage, "flat", {})


def _curtin(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    if record.status not in (Status.DEPLOYING, Status.DEPLOYED, Status.FAILED_DEPLOYMENT):
        raise Refusal(refused(400, f"Machine {record.hostname} is not in a deployment state."))
    return done_text(curtin.config(record))


ACTS: dict[tuple[str, str | None], Callable[[MaasDouble, MachineRecord, Incoming], Answer | None]] = {
    ("POST", "set_storage_layout"): _set_layout,
    ("POST", "restore_storage_configuration"): _restore,
    ("GET", "get_curtin_config"): _curtin,
}
"""Operations of a machine itself; None: the answer is the machine."""


def serve(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    """``nodes/ID/blockdevices/…`` and ``nodes/ID/raids/``."""
    kind, *rest = incoming.parts[2:]
    if kind == "raids" and not rest:
        return _raids(record, incoming)
    if kind != "blockdevices":
        return absent("page")
    if not rest:
        return _list(record, incoming)
    block = record.storage.block(int(rest[0])) if rest[0].isdigit() else None
    if block is None:
        return absent("BlockDevice")
    if incoming.op is None:
        if incoming.method != "GET":
            return not_allowed("GET", "PUT", "DELETE")
        return ok(block.describe(record.system_id))
    operation = _OPERATIONS.get(incoming.op)
    if operation is None or incoming.method != "POST":
        return unrecognised(incoming.method, incoming.op)
    answer = operation(record, block, incoming.form)
    record.changed()
    return answer


def _list(record: MachineRecord, incoming: Incoming) -> Answer:
    if incoming.op is not None:
        return unrecognised(incoming.method, incoming.op)
    if incoming.method != "GET":
        return not_allowed("GET", "POST")
    blocks = (*record.storage.disks, *record.storage.virtual)
    return ok([block.describe(record.system_id, firmware=False) for block in blocks])


def _raids(record: MachineRecord, incoming: Incoming) -> Answer:
    if incoming.op is not None:
        return unrecognised(incoming.method, incoming.op)
    if incoming.method == "GET":
        groups = [group for group in record.storage.groups if group.kind == "raid"]
        return ok([raids.describe(group, record.system_id) for group in groups])
    if incoming.method != "POST":
        return not_allowed("GET", "POST")
    _ready(record, "Cannot create RAID because the machine is not Ready.")
    form = incoming.form
    wanted = raids.Wanted(
        form.get("name"), form.get("level"), form.all("block_devices"), form.all("spare_devices")
    )
    made, errors = raids.create(record.storage, wanted)
    if made is None:
        return invalid(errors)
    record.changed()
    return ok(raids.describe(made, record.system_id))


def _set_boot_disk(record: MachineRecord, block: Block, form: Form) -> Answer:
    _ready(record, "Cannot set as boot disk because the machine is not Ready.")
    if block.kind != "physical":
        return refused(400, f"Cannot set a {block.kind} block device as the boot disk.")
    record.storage.boot_id = block.id
    return done_text("OK")


def _format(record: MachineRecord, block: Block, form: Form) -> Answer:
    _changeable(record, "format")
    kind = form.get("fstype")
    if kind not in FILESYSTEMS:
        return invalid({"fstype": [CHOICE.format(kind) if kind else REQUIRED]})
    if block.table is not None:
        text = "Cannot format block device with a partition table."
        return invalid({"__all__": [text]})
    block.filesystem = Filesystem(kind, form.get("label"))
    return ok(block.describe(record.system_id))


def _unformat(record: MachineRecord, block: Block, form: Form) -> Answer:
    _changeable(record, "unformat")
    if block.filesystem is None:
        return refused(400, "Block device is not formatted.")
    if block.filesystem.mount_point is not None:
        return refused(400, "Filesystem is mounted and cannot be unformatted. Unmount the filesystem first.")
    block.filesystem = None
    return ok(block.describe(record.system_id))


def _mount(record: MachineRecord, block: Block, form: Form) -> Answer:
    _changeable(record, "mount")
    point = form.get("mount_point")
    if not point.startswith("/"):
        return invalid({"mount_point": [REQUIRED if not point else "Absolute paths only."]})
    if block.filesystem is None or block.filesystem.role:
        return invalid({"__all__": ["Cannot mount an unformatted block device."]})
    block.filesystem.mount_point = point
    block.filesystem.mount_options = form.get("mount_options")
    return ok(block.describe(record.system_id))


def _unmount(record: MachineRecord, block: Block, form: Form) -> Answer:
    _changeable(record, "unmount")
    if block.filesystem is None:
        return refused(400, "Block device is not formatted.")
    if block.filesystem.mount_point is None:
        return refused(400, "Filesystem is already unmounted.")
    block.filesystem.mount_point = block.filesystem.mount_options = None
    return ok(block.describe(record.system_id))


def _add_tag(record: MachineRecord, block: Block, form: Form) -> Answer:
    tag = form.get("tag")
    if not tag:
        return refused(400, "No provided tag!")
    if tag not in block.tags:
        block.tags.append(tag)
    return ok(block.describe(record.system_id))


def _remove_tag(record: MachineRecord, block: Block, form: Form) -> Answer:
    tag = form.get("tag")
    if not tag:
        return refused(400, "No provided tag!")
    block.tags = [each for each in block.tags if each != tag]
    return ok(block.describe(record.system_id))


_OPERATIONS: dict[str, Callable[[MachineRecord, Block, Form], Answer]] = {
    "set_boot_disk": _set_boot_disk,
    "format": _format,
    "unformat": _unformat,
    "mount": _mount,
    "unmount": _unmount,
    "add_tag": _add_tag,
    "remove_tag": _remove_tag,
}


def _ready(record: MachineRecord, text: str) -> None:
    if record.status is not Status.READY:
        raise Refusal(refused(409, text))


def _changeable(record: MachineRecord, verb: str) -> None:
    if record.status not in (Status.READY, Status.ALLOCATED):
        text = f"Cannot {verb} block device because the machine is not Ready or Allocated."
        raise Refusal(refused(409, text))
