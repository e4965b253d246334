from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.nodes.facts import as_text
from provision.install.disk_record import DiskFingerprint, compare, fingerprint, read_fingerprint
from provision.install.machine import Disk
from tests.provision.install.disk_makers import BOSS, DATA, DISKS, disk_sets, enumerated

RECORD = fingerprint(DISKS)


def differences(*disks: Disk) -> list[str]:
    return compare(RECORD, fingerprint(disks))


@given(disk_sets(), st.randoms(use_true_random=False))
def test_the_same_disks_in_another_order_are_the_same_record(disks: list[Disk], dice: random.Random) -> None:
    again = fingerprint(enumerated(disks, dice))
    assert again == fingerprint(disks)
    assert compare(fingerprint(disks), again) == []


@given(disk_sets())
def test_a_record_survives_the_state_store(disks: list[Disk]) -> None:
    record = fingerprint(disks)
    assert read_fingerprint(json.loads(as_text(record.as_value()))) == record


@given(disk_sets(), disk_sets())
def test_records_differ_both_ways_or_not_at_all(one: list[Disk], other: list[Disk]) -> None:
    there, back = compare(fingerprint(one), fingerprint(other)), compare(fingerprint(other), fingerprint(one))
    assert bool(there) == bool(back)


@given(disk_sets(), st.data())
def test_a_disk_more_or_less_is_always_a_difference(disks: list[Disk], data: st.DataObject) -> None:
    hard = [disk for disk in disks if disk.kind == "physical"]
    if not hard:
        return
    fewer = list(hard)
    fewer.remove(data.draw(st.sampled_from(hard)))
    assert len(compare(fingerprint(hard), fingerprint(fewer))) >= 1
    assert len(compare(fingerprint(fewer), fingerprint(hard))) >= 1


def test_a_disk_that_left_is_named() -> None:
    assert differences(*DISKS[:-1]) == ["Dell Ent NVMe P5600 3.84TB (3.84 TB, serial S600108) is gone"]


def test_a_disk_that_came_is_named() -> None:
    more = replace(BOSS, serial="X1", model="Other")
    assert differences(*DISKS, more) == ["Other (960 GB, serial X1) is new"]


def test_a_boot_card_replaced_by_one_of_the_same_model_is_a_difference() -> None:
    new = replace(BOSS, serial="BOSS999", id_path="/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS999")
    assert differences(new, *DATA) == [
        "Dell BOSS-N1 (960 GB, serial BOSS001) was replaced: BOSS999 has come in its place"
    ]


def test_another_size_under_the_same_serial_is_a_difference() -> None:
    assert differences(replace(BOSS, size=480103981056), *DATA) == [
        "Dell BOSS-N1 (960 GB, serial BOSS001): size changed from 960 GB to 480 GB"
    ]


def test_a_size_that_reads_alike_is_told_to_the_byte() -> None:
    assert differences(replace(BOSS, size=BOSS.size - 512), *DATA) == [
        "Dell BOSS-N1 (960 GB, serial BOSS001): size changed from 960197124096 bytes to 960197123584 bytes"
    ]


def test_another_model_under_the_same_serial_is_a_difference() -> None:
    assert differences(replace(BOSS, model="Dell BOSS-S2"), *DATA) == [
        "Dell BOSS-N1 (960 GB, serial BOSS001): model changed from Dell BOSS-N1 to Dell BOSS-S2"
    ]


def test_another_name_of_a_disk_with_a_serial_of_its_own_is_no_difference() -> None:
    assert differences(replace(BOSS, id_path="/dev/disk/by-id/nvme-eui.0025"), *DATA) == []


def test_another_path_of_a_disk_without_serial_is_a_difference() -> None:
    before = fingerprint([replace(BOSS, serial="", id_path="/dev/disk/by-path/a")])
    after = fingerprint([replace(BOSS, serial="", id_path="/dev/disk/by-path/b")])
    assert compare(before, after) == [
        "Dell BOSS-N1 (960 GB, no serial number): path changed from /dev/disk/by-path/a to /dev/disk/by-path/b"
    ]


def test_of_two_disks_with_one_serial_the_one_that_left_is_seen() -> None:
    twins = [BOSS, replace(BOSS, id_path="/dev/disk/by-id/other")]
    assert compare(fingerprint(twins), fingerprint(twins[:1])) == [
        "Dell BOSS-N1 (960 GB, serial BOSS001) is gone"
    ]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"version": 2, "disks": []},
        {"version": 1},
        {"version": 1, "disks": [None]},
        {"version": 1, "disks": [{"serial": "A", "model": "", "size": "1", "by_id": ""}]},
        {"version": 1, "disks": [{"serial": "A", "model": "", "size": True, "by_id": ""}]},
        {"version": 1, "disks": [{"serial": 1, "model": "", "size": 1, "by_id": ""}]},
    ],
)
def test_what_is_no_record_of_this_version_is_not_read(value: object) -> None:
    assert read_fingerprint(value) is None


def test_no_disks_are_a_record_too() -> None:
    assert read_fingerprint({"version": 1, "disks": []}) == DiskFingerprint(())
