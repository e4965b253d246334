"""What faults change of the hardware when a machine is looked at, and statuses that go back."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.sim.maas.blocks import Block, Filesystem, Partition
from tests.sim.maas.faults import HARDWARE, LASTING, Fault
from tests.sim.maas.hardware import MachineHardware
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble


def force(double: MaasDouble, record: MachineRecord, status: Status) -> None:
    """Set a status back, whatever may follow what; logged like any other."""
    text = f"From '{record.status.value}' to '{status.value}'"
    double.events.add(record.system_id, "DEBUG", "Node changed status", text)
    record.previous, record.status = record.status, status
    record.changed()


def hide_filesystems(record: MachineRecord) -> None:
    """While it is being released a machine shows none of what was on its disks; the layout itself is kept."""
    if "shown again" in record.extra:
        return
    storage = record.storage
    made = storage.virtual, storage.groups, storage.cache_sets
    on: list[tuple[Block | Partition, Filesystem | None]] = [
        (disk, disk.filesystem) for disk in storage.disks
    ]
    on += [(part, part.filesystem) for disk in storage.disks for part in disk.partitions]

    def show() -> None:
        storage.virtual, storage.groups, storage.cache_sets = made
        for block, filesystem in on:
            block.filesystem = filesystem

    storage.forget_filesystems()
    record.extra["shown again"] = show


def show_filesystems(record: MachineRecord) -> None:
    """It is ready again, with the layout it had."""
    show = record.extra.pop("shown again", None)
    if show is not None:
        show()
        record.changed()


@dataclass
class Damage:
    """What faults broke of a machine. :param whole: as it was; :param now: as it is; :param rules: which broke it."""

    whole: MachineHardware
    now: MachineHardware
    rules: list[Fault] = field(default_factory=list)


def at_commissioning(double: MaasDouble, record: MachineRecord) -> None:
    """Let the faults about hardware strike: the machine really is so until their rules are taken away."""
    names = (record.hostname, record.system_id)
    damage = record.extra.get("damage")
    if damage is None or damage.now is not record.hardware:
        damage = Damage(record.hardware, record.hardware)
    damage.rules = [rule for rule in damage.rules if any(rule is one for one in double.faults.rules)]
    for kind in HARDWARE:
        rule = double.faults.strike([kind], "commission", names)
        if rule is None:
            continue
        if kind in LASTING:
            damage.whole = changed(damage.whole, kind, random.Random(record.system_id))
        elif all(rule is not one for one in damage.rules):
            damage.rules.append(rule)
    damage.now = damage.whole
    for rule in damage.rules:
        damage.now = changed(damage.now, rule.kind, random.Random(record.system_id))
    record.hardware, record.extra["damage"] = damage.now, damage


def changed(hardware: MachineHardware, kind: str, dice: random.Random) -> MachineHardware:
    """The hardware after one fault."""
    disks = list(hardware.disks)
    match kind:
        case "reorder-disks":
            dice.shuffle(disks)
            if disks == list(hardware.disks):
                disks.reverse()
            return hardware.with_disks(disks)
        case "replace-boot-disk":
            first = min(disks, key=lambda disk: disk.size)
            new = replace(first, serial=first.serial + "R", id_path="")
            return hardware.with_disks([new if disk is first else disk for disk in disks])
        case "no-disks":
            return hardware.with_disks([])
        case "missing-disk":
            return hardware.with_disks(disks[:-1])
        case "duplicate-serials":
            twin = replace(disks[-1], serial=disks[-2].serial)
            return hardware.with_disks([*disks[:-1], twin])
        case "missing-gpu":
            return replace(hardware, gpus=hardware.gpus[:-1])
        case "missing-nic":
            return replace(hardware, nics=hardware.nics[:-1])
        case "missing-memory":
            return replace(hardware, memory_mib=hardware.memory_mib // 2)
    raise ValueError(kind)
