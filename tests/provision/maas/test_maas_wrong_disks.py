"""How MAAS 3.7.3 puts a system on the wrong disk without a word, on the double: the driver is tested against these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.provision.maas.maas_asking import Asking
from tests.provision.maas.maas_uploads import custom_layout
from tests.sim.maas.hardware import MachineHardware, xe9680
from tests.sim.maas.process import ServedDouble, maas_double

MAC = "52:54:00:00:00:01"
BOSS_LAST = (1, 2, 3, 4, 5, 6, 7, 8, 0)
Change = Callable[[MachineHardware], MachineHardware]


@dataclass
class Node:
    """One machine, and what its MAAS says about it."""

    served: ServedDouble
    ask: Asking
    id: str

    def change(self, change: Change) -> None:
        """Its hardware is another from now on."""
        record = self.served.double.machine(self.id)
        record.hardware = change(record.hardware)

    def commission(self) -> dict[str, Any]:
        return self.ask.commission(self.id)


@pytest.fixture
def node() -> Iterator[Node]:
    with maas_double(speed=0.0) as served:
        ask = Asking(served)
        yield Node(served, ask, ask.enrol("gpu001", MAC))


def boss(machine: dict[str, Any]) -> str:
    (serial,) = [disk["serial"] for disk in machine["physicalblockdevice_set"] if "BOSS" in disk["model"]]
    return str(serial)


def root(machine: dict[str, Any]) -> tuple[str, str]:
    """Kernel's name and serial number of the disk with the root file system."""
    ((name, serial),) = [
        (disk["name"], disk["serial"])
        for disk in machine["physicalblockdevice_set"]
        for part in disk["partitions"]
        if part["filesystem"] and part["filesystem"]["mount_point"] == "/"
    ]
    return name, serial


def test_a_custom_layout_moves_to_a_data_disk_when_disks_are_found_in_another_order(node: Node) -> None:
    node.change(lambda found: replace(found, layout=custom_layout("nvme0n1")))
    before = node.commission()
    assert root(before) == ("nvme0n1", boss(before))
    node.change(lambda found: found.reordered(BOSS_LAST))
    after = node.commission()
    assert after["status_name"] == "Ready"
    name, serial = root(after)
    assert name == "nvme0n1"
    assert serial != boss(after)
    assert after["boot_disk"]["serial"] == serial
    assert (
        next(d for d in after["physicalblockdevice_set"] if d["serial"] == boss(after))["used_for"]
        == "Unused"
    )


def test_the_flat_layout_follows_the_serial_number_when_disks_are_found_in_another_order(node: Node) -> None:
    before = node.commission()
    node.change(lambda found: found.reordered((1, 2, 3, 0, 4, 5, 6, 7, 8)))
    after = node.commission()
    assert root(after) == ("nvme3n1", boss(before))
    assert after["boot_disk"]["id"] == before["boot_disk"]["id"]


def test_the_flat_layout_moves_to_a_data_disk_when_the_boot_card_is_replaced(node: Node) -> None:
    before = node.commission()
    node.change(lambda found: found.reordered(BOSS_LAST).with_boot_card_replaced("BOSS999"))
    after = node.commission()
    assert (after["status_name"], after["error_description"]) == ("Ready", "")
    name, serial = root(after)
    assert (name, boss(after)) == ("nvme0n1", "BOSS999")
    assert serial in {d["serial"] for d in before["physicalblockdevice_set"] if "BOSS" not in d["model"]}


def test_it_moves_even_when_the_new_card_is_found_first(node: Node) -> None:
    node.commission()
    node.change(lambda found: found.with_boot_card_replaced("BOSS999"))
    after = node.commission()
    assert root(after)[1] != "BOSS999"


def test_a_disk_that_was_set_as_boot_disk_is_forgotten_with_the_disk(node: Node) -> None:
    before = node.commission()
    chosen = before["boot_disk"]["id"]
    assert node.ask.call("POST", f"nodes/{node.id}/blockdevices/{chosen}/?op=set_boot_disk").text == "OK"
    node.change(lambda found: found.without_disk(0))
    after = node.commission()
    assert after["boot_disk"]["name"] == "nvme0n1"
    assert after["boot_disk"]["id"] != chosen


def test_the_first_commissioning_takes_the_disk_that_is_found_first(node: Node) -> None:
    node.change(lambda found: found.reordered(BOSS_LAST))
    machine = node.commission()
    assert machine["status_name"] == "Ready"
    assert machine["boot_disk"]["name"] == "nvme0n1"
    assert machine["boot_disk"]["serial"] != boss(machine)


def test_serial_numbers_that_come_twice_are_accepted(node: Node) -> None:
    node.change(lambda found: found.with_one_serial("SAME"))
    machine = node.commission()
    assert machine["status_name"] == "Ready"
    assert sorted(d["serial"] for d in machine["physicalblockdevice_set"])[1:] == ["SAME"] * 8


def test_no_disks_at_all_are_accepted(node: Node) -> None:
    node.change(lambda found: found.with_disks(()))
    machine = node.commission()
    assert (machine["status_name"], machine["boot_disk"], machine["storage"]) == ("Ready", None, 0.0)


def test_deploying_wipes_every_physical_disk_used_or_not(node: Node) -> None:
    machine = node.commission()
    config = YAML(typ="safe").load(StringIO(node.ask.curtin(node.id)))
    wiped = {
        (step["serial"], step["model"])
        for step in config["storage"]["config"]
        if step["type"] == "disk" and step["wipe"] == "superblock"
    }
    assert wiped == {(disk["serial"], disk["model"]) for disk in machine["physicalblockdevice_set"]}
    assert len(wiped) == 9


def test_the_boot_disk_and_layout_asked_for_are_kept_until_the_next_commissioning(node: Node) -> None:
    node.change(lambda found: found.reordered(BOSS_LAST))
    machine = node.commission()
    (card,) = [d["id"] for d in machine["physicalblockdevice_set"] if "BOSS" in d["model"]]
    node.ask.call("POST", f"nodes/{node.id}/blockdevices/{card}/?op=set_boot_disk")
    node.ask.json(
        "POST", f"machines/{node.id}/?op=set_storage_layout", storage_layout="flat", root_device=card
    )
    assert root(node.ask.read(node.id))[1] == boss(machine)


def test_xe9680_machines_share_no_serial_number() -> None:
    serials = [
        d.serial
        for n in range(1, 512)
        for d in xe9680(f"gpu{n:03d}", [f"52:54:00:00:{n >> 8:02x}:{n & 255:02x}"]).disks
    ]
    assert len(set(serials)) == len(serials)
