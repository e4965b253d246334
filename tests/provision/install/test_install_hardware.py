"""Hardware found against hardware expected: three results for each thing, silence is never health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.mac import Mac, parse_mac
from fabricctl.nodes.facts import NodeFact, StoredFact, Value
from fabricctl.nodes.model import Fact, Identity, IdentityKind
from fabricctl.site.provisioning import BootDisk
from fabricctl.site.schema import NodeModel
from provision.install.expected import ExpectedDisk, ExpectedHardware, expected_hardware
from provision.install.hardware import Lack, Shortfall, check_hardware
from provision.install.machine import Machine, Nic
from tests.provision.install.disk_makers import BOSS, DISKS, machine

WHEN = datetime(2026, 11, 30, tzinfo=UTC)


def mac(text: str) -> Mac:
    found = parse_mac(text)
    assert found is not None
    return found


ENO = mac("52:54:00:00:00:01")
EXPECTED = ExpectedHardware(
    "SVCTAG001",
    9,
    tuple(ExpectedDisk(disk.serial, f"disk {disk.serial}") for disk in DISKS),
    {"NIC.Embedded.1-1-1": frozenset({ENO})},
    8,
    2048,
)
GOOD = replace(
    machine(DISKS),
    service_tag="SVCTAG001",
    nics=(Nic("1", "eno8303", ENO),),
    gpus=8,
    memory_mib=2097152,
)
"""As MAAS told of the recorded machine, and the eight GPUs of its commissioning output."""


def kinds(found: Sequence[Shortfall]) -> list[Lack]:
    return [one.kind for one in found]


def only(changed: Machine, expected: ExpectedHardware = EXPECTED) -> Shortfall:
    (found,) = check_hardware(changed, expected)
    return found


def test_a_machine_that_has_everything_lacks_nothing() -> None:
    assert check_hardware(GOOD, EXPECTED) == []


def test_no_disks_are_a_failure_even_when_nobody_expects_any() -> None:
    bare = replace(GOOD, disks=())
    assert only(bare).kind is Lack.NO_DISKS
    unknown = check_hardware(bare, ExpectedHardware())
    assert [one.told for one in unknown if one.kind is Lack.NO_DISKS] == [True]


def test_a_missing_disk_is_told_by_serial_and_by_count() -> None:
    found = check_hardware(replace(GOOD, disks=DISKS[:-1]), EXPECTED)
    assert [one.words for one in found] == ["expected 9 disks, found 8", "disk S600108 is missing"]


def test_a_disk_too_many_is_a_finding() -> None:
    assert (
        only(replace(GOOD, disks=(*DISKS, replace(BOSS, serial="X")))).words == "expected 9 disks, found 10"
    )


def test_a_swapped_disk_is_found_though_the_count_is_right() -> None:
    swapped = replace(GOOD, disks=(*DISKS[:-1], replace(DISKS[-1], serial="S999")))
    assert only(swapped).words == "disk S600108 is missing"


def test_missing_disks_of_one_model_are_one_phrase() -> None:
    known = tuple(ExpectedDisk(disk.serial, f"disk {disk.serial}", disk.model) for disk in DISKS)
    found = check_hardware(replace(GOOD, disks=DISKS[:-3]), replace(EXPECTED, known_disks=known))
    assert [one.words for one in found] == [
        "expected 9 disks, found 6",
        f"3 disks ({DISKS[-1].model}) are missing: S600106, S600107, S600108",
    ]


def test_a_serial_number_that_two_disks_tell_is_said_as_such() -> None:
    twins = replace(GOOD, disks=(*DISKS[:-1], replace(DISKS[-1], serial=DISKS[-2].serial)))
    found = check_hardware(twins, EXPECTED)
    assert [one.words for one in found] == [
        "2 disks tell the same serial number S600107",
        "disk S600108 is missing",
    ]


def test_a_missing_nic_is_named_with_its_mac() -> None:
    assert only(replace(GOOD, nics=())).words == "NIC NIC.Embedded.1-1-1 (52:54:00:00:00:01) is missing"


@pytest.mark.parametrize("count", [0, 7, 9])
def test_another_number_of_gpus_is_a_finding(count: int) -> None:
    assert only(replace(GOOD, gpus=count)).words == f"expected 8 GPUs, found {count}"


def test_gpus_nobody_counted_are_could_not_tell() -> None:
    found = only(replace(GOOD, gpus=None))
    assert (found.kind, found.told) == (Lack.GPUS, False)


def test_no_gpus_expected_and_none_counted_is_right() -> None:
    assert check_hardware(replace(GOOD, gpus=None), replace(EXPECTED, gpus=0)) == []


def test_another_service_tag_is_a_kind_of_its_own() -> None:
    others = tuple(replace(disk, serial=f"X{disk.serial}") for disk in DISKS)
    found = only(replace(GOOD, service_tag="7XK4QZ3", disks=others, gpus=4))
    assert found == Shortfall(
        Lack.SERVICE_TAG,
        "SVCTAG001",
        "7XK4QZ3",
        "another machine: expected service tag SVCTAG001, found 7XK4QZ3",
    )


def test_a_service_tag_in_lower_case_is_the_same() -> None:
    assert check_hardware(replace(GOOD, service_tag="svctag001"), EXPECTED) == []


def test_every_expectation_nobody_has_is_named_as_could_not_tell() -> None:
    found = check_hardware(GOOD, ExpectedHardware())
    assert kinds(found) == [Lack.SERVICE_TAG, Lack.DISK_COUNT, Lack.NIC, Lack.GPUS, Lack.MEMORY]
    assert not any(one.told for one in found)
    assert all(one.words.startswith("could not tell whether ") for one in found)


def test_what_the_machine_does_not_tell_is_could_not_tell() -> None:
    found = check_hardware(replace(GOOD, service_tag="", gpus=None, memory_mib=0), EXPECTED)
    assert [(one.kind, one.told) for one in found] == [
        (Lack.SERVICE_TAG, False),
        (Lack.GPUS, False),
        (Lack.MEMORY, False),
    ]


MODULES = st.tuples(st.sampled_from((8, 12, 16, 24, 32)), st.sampled_from((16, 32, 64, 96, 128)))
KERNEL = st.floats(0, 0.0165)
"""What ``free`` is short of: 64 bytes of bookkeeping for each page of 4096 (struct page), 1.56 %, and a little."""


@given(MODULES, KERNEL)
def test_all_modules_are_right_however_they_were_counted(modules: tuple[int, int], kept: float) -> None:
    count, size = modules
    seen = replace(GOOD, memory_mib=int(count * size * 1024 * (1 - kept)))
    assert check_hardware(seen, replace(EXPECTED, memory_gib=count * size)) == []
    installed = replace(GOOD, memory_mib=count * size * 1024)
    assert check_hardware(installed, replace(EXPECTED, memory_gib=count * size * (1 - kept))) == []


@given(MODULES, KERNEL)
def test_one_missing_module_is_always_found(modules: tuple[int, int], kept: float) -> None:
    count, size = modules
    seen = replace(GOOD, memory_mib=int((count - 1) * size * 1024 * (1 - kept)))
    assert kinds(check_hardware(seen, replace(EXPECTED, memory_gib=count * size))) == [Lack.MEMORY]


def test_missing_memory_is_said_in_gib() -> None:
    assert only(replace(GOOD, memory_mib=2031616)).words == (
        "expected 2,048 GiB of memory, found 1,984 GiB: 64 GiB less"
    )


def fact(part: str, field: str, value: Value, *, ended: bool = False) -> StoredFact:
    return StoredFact(1, NodeFact(part, field, value, "redfish"), WHEN, WHEN, WHEN if ended else None)


def test_the_site_s_word_counts_before_the_harvest() -> None:
    model = NodeModel(hcas=["mlx5_0"], gpus=8, disks=9, memory_gib=2048, boot_disk=BootDisk(model="*BOSS*"))
    made = expected_hardware(model, [fact("DIMM.Socket.A1", "dimm.capacity_mib", 65536)])
    assert (made.gpus, made.disks, made.memory_gib) == (8, 9, 2048)


def test_the_harvest_fills_what_the_site_does_not_say() -> None:
    tag = Identity(Fact(IdentityKind.SERVICE_TAG, "7XK4QZ3"), WHEN, WHEN)
    old = replace(tag, fact=Fact(IdentityKind.SERVICE_TAG, "OLD1234"), until=WHEN)
    facts = [fact(f"DIMM.Socket.A{n}", "dimm.capacity_mib", 65536) for n in range(1, 33)]
    facts += [fact(f"Video.Slot.{n}-1", "gpu.model", "H100") for n in range(21, 29)]
    made = expected_hardware(None, facts, [old, tag])
    assert (made.memory_gib, made.gpus, made.service_tag) == (2048, 8, "7XK4QZ3")


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        ("Disk.Bay.3:Enclosure.Internal.0-1", True),
        ("Disk.Bay.3:Enclosure.Internal.0-1:NonRAID.Integrated.1-1", True),
        ("Disk.Direct.0-0:AHCI.Embedded.1-1", True),
        ("Disk.Direct.0-0:BOSS.SL.12-1", False),
        ("Disk.Direct.1-1:AHCI.Slot.6-1", False),
        ("Disk.Bay.3:Enclosure.Internal.0-1:RAID.Integrated.1-1", False),
    ],
)
def test_drives_behind_a_controller_of_their_own_are_not_expected(part: str, seen: bool) -> None:
    made = expected_hardware(None, [fact(part, "drive.serial", "S1")])
    assert bool(made.known_disks) is seen


def test_infiniband_and_switched_off_functions_are_not_expected() -> None:
    facts = [
        fact("NIC.A", "nic.technology", "ethernet"),
        fact("NIC.A", "nic.mac_permanent", "52:54:00:00:00:0A"),
        fact("NIC.A", "nic.mac_current", "52:54:00:00:00:0b"),
        fact("NIC.B", "nic.technology", "ethernet"),
        fact("NIC.B", "nic.mac_permanent", "52:54:00:00:00:0c"),
        fact("NIC.B", "nic.enabled", False),
        fact("InfiniBand.C", "nic.technology", "infiniband"),
        fact("InfiniBand.C", "nic.mac_permanent", "52:54:00:00:00:0d"),
    ]
    assert expected_hardware(None, facts).nics == {
        "NIC.A": frozenset({mac("52:54:00:00:00:0a"), mac("52:54:00:00:00:0b")})
    }


def test_facts_that_ended_do_not_count() -> None:
    assert expected_hardware(None, [fact("D", "drive.serial", "S1", ended=True)]).known_disks == ()
