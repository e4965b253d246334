"""Which disk gets the operating system. Hazards: a real MAAS 3.7.3 moved the system to a data disk in each of them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.site.provisioning import BootDisk
from provision.install.disk_identity import DiskIdentity, identity_of, size_words, stable_name
from provision.install.disk_rule import DiskRule, disk_rule
from provision.install.disks import choose_boot_disk, verify_root
from provision.install.machine import Disk
from tests.provision.install.disk_makers import (
    BOSS,
    DATA,
    DISKS,
    GB,
    MODELS,
    disk_sets,
    enumerated,
    machine,
    recorded_disks,
    told,
)

BOSS_RULE = DiskRule(model="*BOSS*")

RULES = st.builds(
    DiskRule,
    model=st.sampled_from(("", "*boss*", "*P5600*", "*")),
    serial=st.sampled_from(("", "a*", "B2", "*")),
    by_id=st.sampled_from(("", "wwn-*", "*")),
    size_gb=st.sampled_from((None, (400.0, 1000.0), (3000.0, 4000.0))),
    exact=st.sampled_from(("", "", "A1", "C3", "/dev/disk/by-id/same")),
)


@pytest.mark.parametrize("seed", range(100))
def test_the_same_disks_in_another_order_give_the_same_choice(seed: int) -> None:
    choice = choose_boot_disk(enumerated(DISKS, random.Random(seed)), BOSS_RULE)
    assert told(choice.disk) == choice.identity == identity_of(BOSS)


@given(disk_sets(), RULES, st.randoms(use_true_random=False))
@settings(max_examples=500)
def test_order_names_and_ids_change_neither_choice_nor_words(
    disks: list[Disk], rule: DiskRule, dice: random.Random
) -> None:
    one, other = choose_boot_disk(disks, rule), choose_boot_disk(enumerated(disks, dice), rule)
    assert (one.identity, one.why, one.refused, one.by_path, one.caution) == (
        (other.identity, other.why, other.refused, other.by_path, other.caution)
    )


@given(disk_sets(), RULES)
def test_a_choice_is_a_disk_or_a_reason_never_both(disks: list[Disk], rule: DiskRule) -> None:
    choice = choose_boot_disk(disks, rule)
    assert (choice.disk is None) == bool(choice.refused) == (choice.identity is None)
    assert choice.disk is None or choice.disk in disks


@given(disk_sets(), RULES)
def test_what_is_chosen_can_be_told_from_every_other_disk(disks: list[Disk], rule: DiskRule) -> None:
    choice = choose_boot_disk(disks, rule)
    if choice.disk is None:
        return
    others = [disk for disk in disks if disk is not choice.disk and disk.kind == "physical"]
    if choice.by_path:
        assert all(stable_name(other.id_path) != stable_name(choice.disk.id_path) for other in others)
        assert choice.disk.id_path.startswith("/dev/disk/by-")
    else:
        assert all(other.serial.lower() != choice.disk.serial.lower() for other in others)


@given(disk_sets(), RULES)
def test_what_was_chosen_passes_the_check_when_it_is_set(disks: list[Disk], rule: DiskRule) -> None:
    choice = choose_boot_disk(disks, rule)
    if choice.disk is not None:
        read = replace(machine(disks), boot_disk=choice.disk.id, root_disk=choice.disk.id)
        assert verify_root(read, choice) == ""


@given(disk_sets(), RULES, st.data())
@settings(max_examples=500)
def test_any_other_disk_fails_the_check(disks: list[Disk], rule: DiskRule, data: st.DataObject) -> None:
    choice = choose_boot_disk(disks, rule)
    others = [d for d in disks if d is not choice.disk]
    if choice.disk is None or not others:
        return
    other = data.draw(st.sampled_from(others))
    read = replace(machine(disks), boot_disk=choice.disk.id, root_disk=other.id)
    assert verify_root(read, choice) != ""
    assert verify_root(replace(read, boot_disk=other.id, root_disk=choice.disk.id), choice) != ""


def test_the_rule_finds_the_boot_card_of_a_recorded_machine(captures: Path) -> None:
    choice = choose_boot_disk(recorded_disks(captures / "maas" / "machine-ready.json"), BOSS_RULE)
    assert choice.identity == DiskIdentity(
        "BOSS001", "Dell BOSS-N1", 960197124096, "nvme-Dell_BOSS-N1_BOSS001"
    )
    assert choice.why == "the only disk of model *BOSS*"


@pytest.mark.parametrize(
    "rule",
    [
        DiskRule(model="dell boss-n?"),
        DiskRule(serial="boss*"),
        DiskRule(by_id="nvme-dell_boss*"),
        DiskRule(by_id="/dev/disk/by-id/nvme-Dell_BOSS*"),
        DiskRule(size_gb=(400, 1000)),
        DiskRule(model="*BOSS*", size_gb=(960.197124096, 960.197124096)),
        DiskRule(exact="boss001"),
        DiskRule(exact="/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS001"),
        DiskRule(model="*nothing*", exact="BOSS001"),
    ],
)
def test_each_key_finds_the_boot_card(rule: DiskRule) -> None:
    assert choose_boot_disk(DISKS, rule).disk is BOSS


def test_every_written_key_must_fit() -> None:
    choice = choose_boot_disk(DISKS, DiskRule(model="*BOSS*", size_gb=(100, 500)))
    assert choice.refused == (
        "expected exactly one disk of model *BOSS* and 100 to 500 GB, found none; 9 disks are there: "
        "1 of Dell BOSS-N1 (960 GB), 8 of Dell Ent NVMe P5600 3.84TB (3.84 TB)"
    )


def test_two_boot_cards_are_refused_and_named() -> None:
    second = replace(BOSS, id="77", serial="BOSS002", id_path="/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS002")
    assert choose_boot_disk([*DISKS, second], BOSS_RULE).refused == (
        "expected exactly one disk of model *BOSS*, found 2: "
        "Dell BOSS-N1 (960 GB, serial BOSS001), Dell BOSS-N1 (960 GB, serial BOSS002)"
    )


def test_a_missing_boot_card_never_makes_a_data_disk_the_root() -> None:
    choice = choose_boot_disk(DATA, BOSS_RULE)
    assert choice.disk is None
    assert choice.refused == (
        "expected exactly one disk of model *BOSS*, found none; 8 disks are there: "
        "8 of Dell Ent NVMe P5600 3.84TB (3.84 TB)"
    )


def test_a_replaced_boot_card_is_found_by_its_model() -> None:
    new = replace(BOSS, id="40", serial="BOSS999", id_path="/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS999")
    assert choose_boot_disk([*DATA, new], BOSS_RULE).disk is new


def test_no_disks_are_a_reason_of_their_own() -> None:
    assert choose_boot_disk([], BOSS_RULE).refused == (
        "expected exactly one disk of model *BOSS*, but no disk at all is known"
    )


@pytest.mark.parametrize("rule", [None, DiskRule()])
def test_without_a_rule_nothing_is_chosen_even_among_one(rule: DiskRule | None) -> None:
    assert choose_boot_disk([BOSS], rule).refused.startswith("no rule says which disk")


def test_the_same_disk_seen_twice_is_refused() -> None:
    twice = replace(BOSS, id="50", name="nvme9n1")
    refused = choose_boot_disk([*DISKS, twice], BOSS_RULE).refused
    assert "found 2" in refused
    assert refused.endswith("some are alike in everything: several paths to one disk?")


def test_a_doubled_serial_falls_back_to_a_path_of_its_own() -> None:
    twin = replace(DATA[0], serial="BOSS001")
    choice = choose_boot_disk([BOSS, twin, *DATA[1:]], BOSS_RULE)
    assert choice.disk is BOSS
    assert choice.by_path
    assert choice.why == "the only disk of model *BOSS*; told by its path nvme-Dell_BOSS-N1_BOSS001"
    assert "serial number BOSS001 is on 2 disks" in choice.caution


def test_a_doubled_serial_without_paths_is_refused() -> None:
    boss, twin = replace(BOSS, id_path=""), replace(DATA[0], serial="BOSS001", id_path="")
    assert choose_boot_disk([boss, twin], BOSS_RULE).refused == (
        "serial number BOSS001 is on 2 disks and no path under /dev/disk/by-id tells them apart: "
        "Dell BOSS-N1 (960 GB, serial BOSS001), Dell Ent NVMe P5600 3.84TB (3.84 TB, serial BOSS001)"
    )


def test_a_doubled_serial_within_one_model_is_refused_since_the_installer_goes_by_both() -> None:
    twin = replace(BOSS, id="50", name="nvme9n1", size=2 * BOSS.size, id_path="/dev/disk/by-id/nvme-other")
    rule = DiskRule(by_id="nvme-Dell_BOSS*")
    refused = choose_boot_disk([BOSS, twin, *DATA], rule).refused
    assert refused.startswith("serial number BOSS001 is on 2 disks of model Dell BOSS-N1: ")


def test_a_doubled_serial_on_other_disks_is_none_of_our_business() -> None:
    choice = choose_boot_disk([BOSS, DATA[0], replace(DATA[1], serial=DATA[0].serial)], BOSS_RULE)
    assert choice.disk is BOSS
    assert not choice.by_path


def test_a_host_s_own_serial_on_two_disks_lets_the_rule_of_its_model_decide() -> None:
    twin = replace(DATA[0], serial="BOSS001")
    rule = DiskRule(by_id="nvme-Dell_BOSS*", exact="BOSS001")
    assert choose_boot_disk([BOSS, twin], rule).disk is BOSS
    assert "found 2" in choose_boot_disk([BOSS, twin], DiskRule(exact="BOSS001")).refused


def test_a_disk_without_serial_is_told_by_its_path() -> None:
    bare = replace(BOSS, serial=" ")
    choice = choose_boot_disk([bare, *DATA], BOSS_RULE)
    assert choice.disk is bare
    assert choice.by_path
    assert "it has no serial number" in choice.why


def test_a_disk_with_neither_serial_nor_path_is_refused() -> None:
    bare = replace(BOSS, serial="", id_path="/dev/nvme0n1")
    assert (
        "neither a serial number nor a path of its own" in choose_boot_disk([bare, *DATA], BOSS_RULE).refused
    )


@pytest.mark.parametrize("pattern", ["*", "*nvme*", "/dev/*", "nvme0n1"])
def test_a_kernel_name_is_never_matched(pattern: str) -> None:
    bare = replace(BOSS, model="", serial="", id_path="/dev/nvme0n1")
    assert choose_boot_disk([bare], DiskRule(by_id=pattern)).disk is None


def test_partitions_and_raids_are_no_candidates() -> None:
    raid = replace(BOSS, id="md0", serial="BOSS7", kind="virtual")
    assert choose_boot_disk([raid, *DISKS], BOSS_RULE).disk is BOSS


@given(st.sampled_from(MODELS), st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 10**13))
def test_the_size_class_is_in_decimal_gigabytes_with_both_ends(
    model: str, low: int, high: int, size: int
) -> None:
    disk = replace(BOSS, model=model, size=size)
    chosen = choose_boot_disk([disk], DiskRule(size_gb=(low, high))).disk is not None
    assert chosen == (low * GB <= size <= high * GB)


def test_the_rule_comes_from_the_model_and_the_host_s_own_entry() -> None:
    model = BootDisk(model="*BOSS*", size_gb=(400, 1000))
    assert disk_rule(model, "gpu001", {}) == DiskRule(model="*BOSS*", size_gb=(400, 1000))
    assert disk_rule(model, "gpu001", {"gpu001": "X9"}) == DiskRule(
        model="*BOSS*", size_gb=(400, 1000), exact="X9"
    )
    assert disk_rule(None, "gpu001", {"gpu001": "X9"}) == DiskRule(exact="X9")
    assert disk_rule(None, "gpu001", {"gpu002": "X9"}) is None


@pytest.mark.parametrize(
    ("size", "words"),
    [(960197124096, "960 GB"), (3840755982336, "3.84 TB"), (999_600_000_000, "1 TB"), (512, "512 bytes")],
)
def test_sizes_are_said_as_makers_count(size: int, words: str) -> None:
    assert size_words(size) == words
