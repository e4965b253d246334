"""Operations on storage: layouts, the boot disk, block devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.sim.maas.call import (
    Answer,
    Incoming,
    Refusal,
    absent,
    done_text,
    invalid,
    ok,
    refused,
    unrecognised,
)
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

LAYOUTS = ("custom", "vmfs7", "bcache", "lvm", "flat", "vmfs6", "blank")


def serve(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    """Everything below ``nodes/ID/`` that is about storage."""
    head, *rest = incoming.parts[2:]
    shown = record.storage.fields(record.system_id)["physicalblockdevice_set"]
    if head != "blockdevices":
        return absent("page")
    if not rest:
        return ok(shown)
    disk = next((one for one in shown if str(one["id"]) == rest[0]), None)
    if disk is None:
        return absent("BlockDevice")
    if incoming.op == "set_boot_disk":
        record.storage.boot_id = disk["id"]
        record.changed()
        return done_text("OK")
    return ok(disk) if incoming.op is None else unrecognised(incoming.method, incoming.op)


def _set_layout(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.status is not Status.READY:
        raise Refusal(refused(409, "Cannot change the storage layout on a machine that is not Ready."))
    layout = incoming.form.get("storage_layout")
    if layout not in LAYOUTS:
        choices = ", ".join(f"'{one}'" for one in LAYOUTS)
        text = f"'{layout}' is not a valid storage_layout.  It should be one of: {choices}."
        raise Refusal(invalid({"storage_layout": [text]}))
    ids = [str(disk.id) for disk in record.storage.disks]
    boot = record.storage.boot
    root = incoming.form.get("root_device") or (str(boot.id) if boot else "")
    if root not in ids:
        choices = ", ".join(f"'{one}'" for one in ids)
        text = f"'{root}' is not a valid root_device.  It should be one of: {choices}."
        raise Refusal(invalid({"root_device": [text]}))
    if layout == "blank":
        record.storage.clear()
    else:
        record.storage.flat(int(root))


def _restore(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.status not in (Status.READY, Status.FAILED_TESTING):
        text = "Machine must be in a ready or failed testing state to restore storage configuration."
        raise Refusal(refused(409, text))
    if record.storage.boot is not None:
        record.storage.flat(record.storage.boot.id)


def _curtin(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    if record.status is not Status.DEPLOYING:
        raise Refusal(refused(400, f"Machine {record.hostname} is not in a deployment state."))
    lines = ["storage:", "  config:"]
    for disk in record.storage.disks:
        lines += [f"  - id: {disk.name}", f"    serial: {disk.serial}", "    wipe: superblock"]
    return done_text("\n".join(lines) + "\n")


ACTS: dict[tuple[str, str | None], Callable[[MaasDouble, MachineRecord, Incoming], Answer | None]] = {
    ("POST", "set_storage_layout"): _set_layout,
    ("POST", "restore_storage_configuration"): _restore,
    ("GET", "get_curtin_config"): _curtin,
}
