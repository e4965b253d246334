"""After the boot disk was set: is the system on the disk that was chosen?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from provision.install.disk_rule import DiskRule
from provision.install.disks import choose_boot_disk, verify_root
from tests.provision.install.disk_makers import (
    BOSS,
    DATA,
    DISKS,
    enumerated,
    machine,
)

BOSS_RULE = DiskRule(model="*BOSS*")


def test_the_root_on_another_disk_is_found_after_the_storage_was_set() -> None:
    choice = choose_boot_disk(DISKS, BOSS_RULE)
    assert verify_root(machine(DISKS, boot="BOSS001", root="S600101"), choice) == (
        "gpu001: expected Dell BOSS-N1 (960 GB, serial BOSS001) as disk of the root file system, found "
        "Dell Ent NVMe P5600 3.84TB (3.84 TB, serial S600101)"
    )


def test_no_boot_disk_and_no_root_are_each_said() -> None:
    choice = choose_boot_disk(DISKS, BOSS_RULE)
    assert verify_root(machine(DISKS), choice).endswith("as boot disk, found none")
    assert verify_root(machine(DISKS, boot="BOSS001"), choice).endswith("root file system, found none")
    lost = replace(machine(DISKS, boot="BOSS001"), root_disk="99")
    assert verify_root(lost, choice).endswith("found one that is not among its disks")


def test_a_raid_that_carries_the_serial_of_the_chosen_disk_fails_the_check() -> None:
    raid = replace(BOSS, id="99", name="md0", kind="virtual")
    choice = choose_boot_disk([*DISKS, raid], BOSS_RULE)
    read = replace(machine([*DISKS, raid], boot="BOSS001"), root_disk="99")
    assert verify_root(read, choice).endswith("found md0, which is no physical disk")


@pytest.mark.parametrize("seed", range(20))
def test_the_check_follows_the_serial_when_disks_are_enumerated_anew(seed: int) -> None:
    choice = choose_boot_disk(DISKS, BOSS_RULE)
    again = enumerated(DISKS, random.Random(seed))
    assert verify_root(machine(again, boot="BOSS001", root="BOSS001"), choice) == ""


def test_an_id_that_now_means_another_disk_fails_the_check() -> None:
    choice = choose_boot_disk(DISKS, BOSS_RULE)
    moved = [replace(BOSS, id="9"), replace(DATA[0], id="1"), *DATA[1:7]]
    assert "found Dell Ent NVMe" in verify_root(replace(machine(moved), boot_disk="1", root_disk="1"), choice)


def test_a_serial_doubled_since_the_choice_fails_the_check() -> None:
    choice = choose_boot_disk(DISKS, BOSS_RULE)
    now = [BOSS, replace(DATA[0], serial="BOSS001"), *DATA[1:]]
    assert verify_root(machine(now, boot="BOSS001", root="BOSS001"), choice) == (
        "gpu001: serial number BOSS001 is now on more than one disk"
    )


def test_a_refused_choice_never_passes_the_check() -> None:
    refused = choose_boot_disk(DATA, BOSS_RULE)
    assert "no disk was chosen" in verify_root(machine(DATA, boot="S600101", root="S600101"), refused)
