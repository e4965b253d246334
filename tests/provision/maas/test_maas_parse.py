"""Machines as recorded from a real MAAS 3.7.3, and as no MAAS should send them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricctl.errors import ProvisionerGarbledError
from fabricctl.mac import parse_mac
from provision.install.machine import Machine, Phase, Stage
from provision.maas.parse import STATES, machine_of, machines_of
from provision.maas.values import (
    bmc_address,
    gpus_of,
    images_of,
    racks_of,
    results_of,
)
from tests.provision.maas.maas_script import body_of

PHASE_C = "maas/recorded/phaseC-deploy-release"


def recorded_machine(captures: Path, name: str) -> Machine:
    return machine_of(body_of(captures / "maas" / "recorded" / name))


@pytest.mark.captures
def test_a_deployed_machine_as_recorded(captures: Path) -> None:
    machine = machine_of(json.loads((captures / "maas/machine-deployed.json").read_text("utf-8")))
    assert (machine.id, machine.hostname, machine.stage, machine.status) == (
        "smtrs7", "gpu001", Stage.DEPLOYED, "Deployed",
    )  # fmt: skip
    assert machine.service_tag == "SVCTAG001"
    assert (machine.memory_mib, machine.cpus) == (2_097_152, 16)
    assert (machine.series, machine.kernel) == ("jammy", "ga-22.04")
    assert (machine.pool, machine.zone, machine.owner, machine.locked) == ("default", "default", "", False)
    assert machine.power_type == "redfish"
    assert machine.tags == ()
    assert [disk.serial for disk in machine.disks] == ["BOSS001", *(f"S60010{n}" for n in range(1, 9))]
    boss = machine.disks[0]
    assert boss.id_path == "/dev/disk/by-id/nvme-Dell_BOSS-N1_BOSS001"
    assert (boss.model, boss.size, boss.kind) == ("Dell BOSS-N1", 960_197_124_096, "physical")
    assert machine.boot_disk == machine.root_disk == boss.id == "1"
    (nic,) = machine.nics
    assert (nic.name, nic.mac, nic.addresses) == ("eno8303", "52:54:00:00:00:01", ("10.0.0.1",))


@pytest.mark.captures
def test_a_new_machine_knows_no_service_tag_and_has_no_disks(captures: Path) -> None:
    machine = machine_of(json.loads((captures / "maas/machine-new.json").read_text("utf-8")))
    assert machine.stage is Stage.NEW
    assert (machine.service_tag, machine.disks, machine.boot_disk, machine.root_disk) == ("", (), "", "")


@pytest.mark.captures
def test_the_root_disk_is_where_the_root_file_system_is_and_not_the_boot_disk(captures: Path) -> None:
    # flat with root_device=4 while the boot disk is 1
    machine = recorded_machine(captures, "phaseB-commission-storage/c021-read-flat-nvme3.json")
    assert machine.root_disk == "4"
    root = machine.disk("4")
    assert root is not None
    assert root.serial == "S600103"


@pytest.mark.captures
@pytest.mark.parametrize(("layout", "device"), [("c011-layout-bcache", "10"), ("c012-layout-lvm", "11")])
def test_of_lvm_and_bcache_no_disk_is_guessed_to_hold_the_root(
    captures: Path, layout: str, device: str
) -> None:
    machine = recorded_machine(captures, f"phaseB-commission-storage/{layout}.json")
    assert machine.root_disk == ""
    assert [disk.id for disk in machine.disks if disk.kind == "virtual"] == [device]


@pytest.mark.captures
def test_disks_in_another_order_keep_their_serial_numbers_and_the_root_is_seen_to_move(
    captures: Path,
) -> None:
    # a custom layout is tied to kernel names: when those changed, the system went to a data disk without a word
    before = recorded_machine(captures, "phaseC-deploy-release/d058-read-ready-2.json")
    after = recorded_machine(captures, "phaseC-deploy-release/d064-read-reordered.json")
    assert {disk.serial for disk in before.disks} == {disk.serial for disk in after.disks}
    roots = [machine.disk(machine.root_disk) for machine in (before, after)]
    assert [root.serial for root in roots if root] == ["BOSS002", "S600201"]


@pytest.mark.captures
def test_every_state_of_maas_has_a_stage(captures: Path) -> None:
    states = json.loads((captures / "maas/machine-states-3.7.3.json").read_text("utf-8"))
    words = {int(number): word for number, word in states["statuses"].items()}
    stages = {
        word: machine_of({"system_id": "a", "status": n, "status_name": word}).stage
        for n, word in words.items()
    }
    other = {word for word, stage in stages.items() if stage is Stage.OTHER}
    assert other == {
        "Missing", "Retired", "Rescue mode", "Entering rescue mode",
        "Failed to enter rescue mode", "Exiting rescue mode", "Failed to exit rescue mode", "Testing",
        "Failed testing",
    }  # fmt: skip
    failures = {states["failure"][during]: during for during in ("Commissioning", "Deploying", "Releasing")}
    failures["Failed disk erasing"] = "Disk erasing"
    assert {word for word, stage in stages.items() if stage is Stage.FAILED} == set(failures)
    assert set(STATES) <= set(words)


def test_the_phase_that_failed_is_told() -> None:
    failed = {
        status: machine_of({"system_id": "a", "status": status}).failed for status in (2, 11, 13, 15, 4)
    }
    assert failed == {2: Phase.COMMISSION, 11: Phase.DEPLOY, 13: Phase.RELEASE, 15: Phase.RELEASE, 4: None}


def test_a_broken_machine_says_why_it_was_marked() -> None:
    fields = {"system_id": "a", "status": 8, "status_message": "Broken", "error_description": "bad psu"}
    assert machine_of(fields).said == "bad psu"


@pytest.mark.parametrize("serial", ["Unknown", "", None, "To Be Filled By O.E.M.", 0])
def test_a_serial_number_that_is_none_is_empty(serial: object) -> None:
    fields = {"system_id": "a", "hardware_info": {"system_serial": serial}}
    assert machine_of(fields).service_tag == ""


@pytest.mark.parametrize("raw", [None, [], "machine", {}, {"system_id": None}, {"hostname": "gpu001"}])
def test_what_is_no_machine_is_garbled(raw: object) -> None:
    with pytest.raises(ProvisionerGarbledError):
        machine_of(raw)


def test_a_list_that_is_none_is_garbled() -> None:
    with pytest.raises(ProvisionerGarbledError):
        machines_of({"machines": []})


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "hostname", "fqdn", "status", "status_name", "status_message", "error_description", "hardware_info",
        "power_state", "power_type", "blockdevice_set", "physicalblockdevice_set", "interface_set", "boot_disk",
        "memory", "cpu_count", "tag_names", "pool", "zone", "owner", "locked", "distro_series", "hwe_kernel",
    ]
)  # fmt: skip


@given(st.dictionaries(KEYS, ANYTHING))
def test_whatever_stands_in_a_machine_it_is_read_and_never_guessed(fields: dict[str, Any]) -> None:
    machine = machine_of({**fields, "system_id": "abcdef"})
    assert machine.id == "abcdef"
    assert all(parse_mac(nic.mac) == nic.mac for nic in machine.nics)
    assert machine.memory_mib >= 0
    assert machine.stage in Stage


@pytest.mark.captures
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # a path that does not change
@given(data=st.data())
def test_a_recorded_machine_with_a_key_gone_or_null_is_still_read(
    captures: Path, data: st.DataObject
) -> None:
    raw = json.loads((captures / "maas/machine-deployed.json").read_text("utf-8"))
    for key in data.draw(st.lists(st.sampled_from(sorted(set(raw) - {"system_id"})), max_size=6)):
        raw[key] = None
    for one in data.draw(st.lists(st.sampled_from(range(9)), max_size=3)):
        for part in ("physicalblockdevice_set", "blockdevice_set"):
            if raw[part]:
                raw[part][one].pop(
                    data.draw(st.sampled_from(["serial", "id_path", "partitions", "size"])), None
                )
    assert machine_of(raw).id == "smtrs7"


@given(ANYTHING)
def test_whatever_the_other_answers_hold_they_are_read(raw: object) -> None:
    images_of(raw), racks_of(raw), results_of(raw), bmc_address(raw)
    assert gpus_of(raw) is None or raw


def test_gpus_are_counted_without_the_bmcs_own_graphics() -> None:
    def device(vendor: str, kind: str = "GPU") -> dict[str, object]:
        return {"vendor_id": vendor, "hardware_type_name": kind, "bus_name": "PCIE"}

    found = [
        *(device("10DE") for _ in range(8)),
        device("102b"),  # Matrox, of a Dell BMC
        device("1a03"),  # ASPEED
        device("1002"),  # AMD
        device("10de", "Node"),
        device("15b3", "Network"),
    ]
    assert gpus_of(found) == 8
    assert gpus_of([device("102b")]) == 0
    assert gpus_of([]) is None


@pytest.mark.captures
def test_images_as_recorded(captures: Path) -> None:
    images = images_of(body_of(captures / "maas/recorded/phaseA-no-rack/b060-boot-resources.json"))
    ubuntu = [(image.name, image.architecture, image.kernel) for image in images if image.kind == "Synced"]
    assert ("ubuntu/jammy", "amd64", "hwe-22.04") in ubuntu
    assert ("ubuntu/noble", "amd64", "ga-24.04") in ubuntu
    assert [image.name for image in images if image.kind == "Uploaded"] == ["gpu-node-22.04"]


@pytest.mark.captures
def test_script_results_as_recorded(captures: Path) -> None:
    results = results_of(body_of(captures / PHASE_C / "d057-results.json"))
    skipped = [result.script for result in results if result.status == "Skipped"]
    assert skipped == ["30-maas-01-bmc-config"]
    assert not any(result.failed for result in results)
    assert {result.phase for result in results} == {"Commissioning"}


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("10.1.0.1", "10.1.0.1"),
        ("10.1.0.1:8443", "10.1.0.1"),
        ("https://10.1.0.1:443/", "10.1.0.1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("idrac-gpu001.example", "idrac-gpu001.example"),
        ("", ""),
    ],
)
def test_a_bmc_address_is_told_without_scheme_and_port(written: str, address: str) -> None:
    assert bmc_address({"power_address": written, "power_pass": "secret"}) == address
