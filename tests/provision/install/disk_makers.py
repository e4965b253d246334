"""Disks as MAAS told of them for an XE9680 with a BOSS card and eight drives; made ones of any kind."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from provision.install.disk_identity import identity_of
from provision.install.machine import Disk, Machine, Stage

GB = 1_000_000_000
BOSS = Disk(
    "1", "nvme0n1", "BOSS001", "Dell BOSS-N1", 960197124096, "/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS001"
)
DATA = tuple(
    Disk(
        str(number + 1),
        f"nvme{number}n1",
        f"S60010{number}",
        "Dell Ent NVMe P5600 3.84TB",
        3840755982336,
        f"/dev/disk/by-id/nvme-Dell_Ent_NVMe_P5600_3.84TB_S60010{number}",
    )
    for number in range(1, 9)
)
DISKS = (BOSS, *DATA)
MODELS = ("Dell BOSS-N1", "Dell Ent NVMe P5600 3.84TB", "MZ7L3480HCHQAD3", "")
SIZES = (480103981056, 960197124096, 3840755982336)


def recorded_disks(path: Path) -> tuple[Disk, ...]:
    """Physical disks of a machine as MAAS answered."""
    body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Disk(
            str(d["id"]),
            d["name"],
            d["serial"],
            d["model"],
            d["size"],
            d["id_path"],
            d["used_for"],
            d["type"],
        )
        for d in body["physicalblockdevice_set"]
    )


def enumerated(disks: Sequence[Disk], dice: random.Random) -> list[Disk]:
    """The same disks in another order, with other kernel names and other ids of the provisioner."""
    order = list(disks)
    dice.shuffle(order)
    ids = dice.sample(range(1, 10_000), len(order))
    return [
        replace(disk, id=str(id), name=f"nvme{number}n1")
        for number, (disk, id) in enumerate(zip(order, ids, strict=True))
    ]


def machine(disks: Sequence[Disk], boot: str = "", root: str = "", **fields: Any) -> Machine:
    """A ready machine whose boot and root disk have these serial numbers."""

    def id_of(serial: str) -> str:
        return next((disk.id for disk in disks if serial and disk.serial == serial), "")

    made = Machine("smtrs7", "gpu001", Stage.READY, "Ready", disks=tuple(disks))
    return replace(made, boot_disk=id_of(boot), root_disk=id_of(root), **fields)


@st.composite
def disk_sets(draw: st.DrawFn) -> list[Disk]:
    """Disks of few models, sizes and serial numbers, so that doubles, empty serials and missing paths are common."""
    made = []
    for number in range(draw(st.integers(0, 8))):
        serial = draw(st.sampled_from(("", "A1", "a1", "B2", "C3", "D4", "E5")))
        path = draw(
            st.sampled_from(("", "/dev/sda", f"/dev/disk/by-id/wwn-0x{number:x}", "/dev/disk/by-id/same"))
        )
        model, size = draw(st.sampled_from(MODELS)), draw(st.sampled_from(SIZES))
        kind = draw(st.sampled_from(("physical", "physical", "physical", "virtual")))
        made.append(Disk(str(number), f"sd{number}", serial, model, size, path, kind=kind))
    return made


def told(disk: Disk | None) -> object:
    """What stays the same of a disk."""
    return disk and identity_of(disk)
