"""Storage of the MAAS double: what holds for any disks, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from tests.provision.maas.maas_asking import TIMEOUT_S, Asking, oauth
from tests.sim.maas import metadata
from tests.sim.maas.blocks import Ids
from tests.sim.maas.disks import Storage
from tests.sim.maas.hardware import xe9680
from tests.sim.maas.layouts import NAMES, LayoutImpossibleError, apply_layout
from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas.resources import resources
from tests.sim.maas.seen import addresses, parse

MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02")
ORDERS = st.permutations(range(9))
LAYOUTS = st.sampled_from([name for name in NAMES if name != "custom"])
INVENTORY = "50-maas-01-commissioning"


@pytest.fixture
def served() -> Iterator[ServedDouble]:
    with maas_double(speed=0.0) as served:
        yield served


@pytest.fixture
def ask(served: ServedDouble) -> Asking:
    return Asking(served)


@given(order=ORDERS, again=ORDERS)
def test_a_disk_keeps_its_id_in_whatever_order_disks_are_found(order: list[int], again: list[int]) -> None:
    hardware = xe9680("gpu001", MACS)
    storage = Storage(Ids())
    storage.found(hardware.reordered(order).disks)
    before = {disk.serial: disk.id for disk in storage.disks}
    storage.found(hardware.reordered(again).disks)
    assert {disk.serial: disk.id for disk in storage.disks} == before
    assert [storage.named(f"nvme{at}n1").serial for at in range(9)] == [  # type: ignore[union-attr]
        hardware.disks[place].serial for place in again
    ]


@given(layout=LAYOUTS, order=ORDERS, root=st.integers(1, 9))
def test_no_layout_lays_out_more_than_there_is(layout: str, order: list[int], root: int) -> None:
    storage = Storage(Ids())
    storage.commission(xe9680("gpu001", MACS).reordered(order))
    apply_layout(storage, layout, {"root_device": str(root)})
    for disk in storage.disks:
        assert 0 <= disk.used <= disk.size
        assert disk.available >= 0
        numbers = [partition.number for partition in disk.partitions]
        assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("layout", [name for name in NAMES if name != "custom"])
def test_a_layout_applied_twice_is_the_same_layout(layout: str) -> None:
    storage = Storage(Ids())
    storage.commission(xe9680("gpu001", MACS))
    told = []
    for _ in range(2):
        apply_layout(storage, layout, {})
        told.append([(block.name, block.used_for(), block.used, block.available) for block in storage.disks])
    assert told[0] == told[1]


def test_without_a_disk_no_layout_can_be_applied() -> None:
    with pytest.raises(LayoutImpossibleError, match="missing a boot disk"):
        apply_layout(Storage(Ids()), "flat", {})


@given(order=ORDERS, gpus=st.integers(0, 8), memory=st.integers(1, 4096))
def test_what_commissioning_tells_is_what_the_machine_is(order: list[int], gpus: int, memory: int) -> None:
    hardware = replace(xe9680("gpu001", MACS).reordered(order), memory_mib=memory * 1024).without_gpus(
        8 - gpus
    )
    document = json.loads(json.dumps(resources(hardware, "gpu001", "10.0.0.9/24")))
    seen = parse(document)
    assert [disk.serial for disk in seen.disks] == [disk.serial for disk in hardware.disks]
    assert [disk.name for disk in seen.disks] == [f"nvme{at}n1" for at in range(9)]
    assert (len(seen.gpus), seen.memory_mib, seen.serial) == (gpus, memory * 1024, hardware.serial)
    assert [nic.mac for nic in seen.nics] == list(MACS)
    assert addresses(document) == {"eno8303": "10.0.0.9"}


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"level": "raid-6", "block_devices": ["2", "3", "4"]}, 400, "must have at least 4 raid devices"),
        ({"level": "raid-5", "block_devices": ["1", "2", "3"]}, 400, "1 is not one of the available choices"),
        (
            {"level": "raid-z2", "block_devices": ["2", "3"]},
            400,
            "raid-z2 is not one of the available choices",
        ),
        ({"level": "raid-1", "block_devices": ["2", "3"], "spare_devices": ["4"]}, 200, "raid-1"),
    ],
)
def test_a_raid_needs_unused_disks_and_enough_of_them(
    ask: Asking, fields: dict[str, object], status: int, said: str
) -> None:
    id = ask.enrol("gpu001", MACS[0])
    ask.commission(id)
    answer = ask.call("POST", f"nodes/{id}/raids/", name="md0", **fields)
    assert (answer.status_code, said in answer.text) == (status, True), answer.text


def test_disks_are_changed_on_a_ready_machine_only(ask: Asking) -> None:
    id = ask.enrol("gpu001", MACS[0])
    ask.commission(id)
    ask.curtin(id)
    for path in ("blockdevices/2/?op=set_boot_disk", "blockdevices/2/?op=format", "raids/"):
        assert ask.call("POST", f"nodes/{id}/{path}", fstype="xfs").status_code == 409, path


def test_a_disk_is_formatted_mounted_and_given_back(ask: Asking) -> None:
    id = ask.enrol("gpu001", MACS[0])
    ask.commission(id)
    place = f"nodes/{id}/blockdevices/2/"
    assert ask.json("POST", f"{place}?op=format", fstype="xfs", label="data")["filesystem"]["fstype"] == "xfs"
    mounted = ask.json("POST", f"{place}?op=mount", mount_point="/data")
    assert mounted["used_for"] == "xfs formatted filesystem mounted at /data"
    assert ask.call("POST", f"{place}?op=unformat").status_code == 400
    ask.json("POST", f"{place}?op=unmount")
    assert ask.json("POST", f"{place}?op=unformat")["used_for"] == "Unused"


def test_an_upload_without_its_out_file_leaves_a_machine_ready_without_disks(
    served: ServedDouble, ask: Asking
) -> None:
    id = ask.enrol("gpu001", MACS[0])
    ask.json("POST", f"machines/{id}/?op=commission", testing_scripts="none", skip_bmc_config="1")
    results = ask.json("GET", f"nodes/{id}/results/", type="commissioning")[0]["results"]
    (number,) = [one["id"] for one in results if one["name"] == INVENTORY]
    own = metadata.boot(served.double, served.double.machine(id))
    header = {"Authorization": oauth(own["consumer_key"], own["token_key"], own["token_secret"])}
    url = f"{served.url}/metadata/2012-03-01/"
    told = {"op": "signal", "status": "WORKING", "script_result_id": str(number), "exit_status": "0"}
    document = json.dumps(resources(xe9680("gpu001", MACS), "gpu001"))
    requests.post(url, told, files={INVENTORY: (INVENTORY, document)}, headers=header, timeout=TIMEOUT_S)
    requests.post(url, {"op": "signal", "status": "OK"}, headers=header, timeout=TIMEOUT_S)
    machine = ask.read(id)
    assert (machine["status_name"], machine["physicalblockdevice_set"]) == ("Ready", [])


def test_a_machine_that_is_unknown_gets_nothing_from_the_metadata_service(served: ServedDouble) -> None:
    header = {"Authorization": oauth("a", "b", "c")}
    answer = requests.get(f"{served.url}/metadata/2012-03-01/meta-data/", headers=header, timeout=TIMEOUT_S)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    "body", [b"", b"--b--\r\n", b"op=signal&status=OK&script_name=maas-lshw&exit_status=many"]
)
def test_a_machine_may_send_anything_to_the_metadata_service(
    served: ServedDouble, ask: Asking, body: bytes
) -> None:
    id = ask.enrol("gpu001", MACS[0])
    ask.json("POST", f"machines/{id}/?op=commission", testing_scripts="none")
    own = metadata.boot(served.double, served.double.machine(id))
    header = {"Authorization": oauth(own["consumer_key"], own["token_key"], own["token_secret"])}
    kind = (
        "multipart/form-data; boundary=b" if body.startswith(b"--") else "application/x-www-form-urlencoded"
    )
    answer = requests.post(
        f"{served.url}/metadata/2012-03-01/",
        body,
        headers={**header, "Content-Type": kind},
        timeout=TIMEOUT_S,
    )
    assert answer.status_code in (200, 400)
