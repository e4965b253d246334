"""What machines uploaded at commissioning, in full: the recordings keep only the first 3000 characters."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from tests.provision.maas.maas_recordings import Recorded

INVENTORY = "50-maas-01-commissioning"
KEPT = 3000
Json = dict[str, Any]


def custom_layout(disk: str) -> Json:
    """The layout that was brought: one disk with an EFI and a root partition."""
    return {
        "layout": {
            disk: {
                "type": "disk",
                "ptable": "gpt",
                "boot": True,
                "partitions": [
                    {"name": "efi", "fs": "vfat", "size": "1G", "bootable": True},
                    {"name": "root", "fs": "ext4", "size": "200G"},
                ],
            }
        },
        "mounts": {
            "/boot/efi": {"device": "efi"},
            "/": {"device": "root", "options": "noatime"},
        },
    }


ZPOOL: Json = {
    "layout": {**custom_layout("nvme0n1")["layout"], "tank": {"type": "zpool"}},
    "mounts": custom_layout("nvme0n1")["mounts"],
}


class Uploads:
    """Completes uploads of ``50-maas-01-commissioning``.

    The first machine is the captured sample document; the second is the same with another number, and its rounds are
    those of the recording session: it failed, brought a custom layout, had its disks found in another order, brought a
    pool of ZFS, brought a layout for a disk it does not have.
    """

    def __init__(self, sample: Json) -> None:
        self._sample = sample
        self._rounds: list[Json | None] = [
            None,
            second(sample, custom_layout("nvme0n1")),
            second(sample, custom_layout("nvme0n1"), reordered=True),
            second(sample, ZPOOL),
            second(sample, custom_layout("sdz")),
        ]

    def files(self, recorded: Recorded) -> dict[str, str]:
        """The files of an upload, in full."""
        name = f"{INVENTORY}.out"
        if name not in recorded.files:
            return recorded.files
        document = self._rounds.pop(0) if "-8c87d7-" in recorded.name else self._sample
        if document is None:
            return {}
        text = json.dumps(document)
        if not recorded.rebuilt:
            assert text[:KEPT] == recorded.files[name], f"{recorded.name}: not what was uploaded"
        return {**recorded.files, INVENTORY: text, name: text}


def second(sample: Json, layout: Json, *, reordered: bool = False) -> Json:
    """The second machine's document. :param reordered: the boot card is found last."""
    document = deepcopy(sample)
    document["environment"]["server_name"] = "gpu002"
    found = document["resources"]
    disks = found["storage"]["disks"]
    for place, disk in enumerate(disks):
        serial = "BOSS002" if place == 0 else f"S60020{place}"
        disk["device_id"] = disk["device_id"].replace(disk["serial"], serial)
        disk["wwn"], disk["serial"] = f"eui.{serial}", serial
    if reordered:
        disks.append(disks.pop(0))
        for place, disk in enumerate(disks):
            disk["id"], disk["device"] = f"nvme{place}n1", f"259:{place}"
    system = found["system"]
    system["serial"], system["uuid"] = "SVCTAG002", system["uuid"][:-1] + "2"
    system["chassis"]["serial"], system["motherboard"]["serial"] = "SVCTAG002", ".SVCTAG002."
    found["network"]["cards"][0]["ports"][0]["address"] = "52:54:00:00:00:02"
    document["networks"]["eno8303"]["hwaddr"] = "52:54:00:00:00:02"
    document["networks"]["eno8303"]["addresses"][0]["address"] = "10.0.0.102"
    document["storage-extra"] = layout
    return document
