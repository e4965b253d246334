"""Both real dumps made into inventories. Expected values are read off the dumps by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from provision.bmc.inventory import Depth, Inventory, Role
from provision.bmc.node_facts import unread
from provision.bmc.reading import How, readings
from provision.workflows.harvest_read import read_inventory
from tests.provision.dumps import DGX_FILE, R750_FILE, dump
from tests.provision.stateful_bmc import DELL, DGX, StatefulBmc

FULL_R750 = (16, 3, 2, 1, 29)
"""Modules, drives, power supplies, GPUs, firmware entries: members of the collections in the dump."""


def r750(captures: Path, depth: Depth = Depth.DEFAULT) -> tuple[Inventory, StatefulBmc]:
    bmc = StatefulBmc(dict(dump(captures, R750_FILE)), DELL)
    return asyncio.run(read_inventory(bmc, depth)), bmc


def dgx(captures: Path, depth: Depth = Depth.DEFAULT) -> tuple[Inventory, StatefulBmc]:
    bmc = StatefulBmc(dict(dump(captures, DGX_FILE)), DGX)
    return asyncio.run(read_inventory(bmc, depth)), bmc


@pytest.mark.parametrize("depth", list(Depth))
def test_r750_has_five_ethernet_interfaces_with_their_macs(captures: Path, depth: Depth) -> None:
    inventory, _ = r750(captures, depth)
    ethernet = {f.id: (f.mac_permanent.value, f.adapter) for f in inventory.functions if not f.infiniband}
    assert ethernet == {
        "NIC.Embedded.1-1-1": ("70:b5:e8:f0:52:dc", "NIC.Embedded.1"),
        "NIC.Embedded.2-1-1": ("70:b5:e8:f0:52:dd", "NIC.Embedded.1"),
        "NIC.Integrated.1-1-1": ("e4:3d:1a:13:27:f0", "NIC.Integrated.1"),
        "NIC.Integrated.1-2-1": ("e4:3d:1a:13:27:f1", "NIC.Integrated.1"),
        "NIC.Slot.5-1": ("b8:3f:d2:90:97:c4", "NIC.Slot.5"),
    }


@pytest.mark.parametrize("depth", list(Depth))
def test_r750s_hca_has_two_ports_with_mac_and_derived_guid(captures: Path, depth: Depth) -> None:
    inventory, _ = r750(captures, depth)
    ports = {f.id: (f.mac, f.node_guid.value, f.port_guid.value, f.node_guid.how) for f in inventory.hcas}
    assert ports == {
        "InfiniBand.Slot.7-1": ("b8:3f:d2:a4:1b:d2", *["0xb83fd20300a41bd2"] * 2, How.DERIVED),
        "InfiniBand.Slot.7-2": ("b8:3f:d2:a4:1b:d3", *["0xb83fd20300a41bd3"] * 2, How.DERIVED),
    }
    assert all("03:00 between its halves" in f.node_guid.why for f in inventory.hcas)


def test_r750s_port_link_that_leads_nowhere_is_noted_and_the_port_found_all_the_same(captures: Path) -> None:
    inventory, bmc = r750(captures)
    odd = {note.path.rpartition("/")[2]: note.text for note in bmc.notes if "Slot.7-" in note.path}
    told = "names a port that its card has not; the port that names it is taken"
    assert odd == {"InfiniBand.Slot.7-1": told, "InfiniBand.Slot.7-2": told}
    hca = {f.id: (f.port.value, f.link.value, f.speed.value) for f in inventory.hcas}
    # the collection lists port 2 only; port 1 stands in the links of the card
    assert hca == {
        "InfiniBand.Slot.7-1": ("InfiniBand.Slot.7-1", "up", "4xHDR"),
        "InfiniBand.Slot.7-2": ("InfiniBand.Slot.7-2", "up", "4xHDR"),
    }
    assert inventory.gaps == ()


def test_r750s_port_link_is_followed_into_its_404_when_no_port_is_left_and_that_is_no_failure(
    captures: Path,
) -> None:
    bodies = dict(dump(captures, R750_FILE))
    card = "/redfish/v1/Chassis/System.Embedded.1/NetworkAdapters/InfiniBand.Slot.7"
    for number in (1, 2):
        del bodies[f"{card}/NetworkPorts/InfiniBand.Slot.7-{number}"]
    bmc = StatefulBmc(bodies, DELL)
    inventory = asyncio.run(read_inventory(bmc))
    gone = f"{card}/NetworkPorts/InfiniBand.Slot.7"
    assert gone in bmc.asked
    assert any(note.path == gone and note.text == "is not there" for note in bmc.notes)
    assert inventory.gaps == ()
    assert [(f.mac, f.link.value, f.link.how) for f in inventory.hcas] == [
        ("b8:3f:d2:a4:1b:d2", None, How.ABSENT),
        ("b8:3f:d2:a4:1b:d3", None, How.ABSENT),
    ]


def test_r750s_contradictory_link_is_said(captures: Path) -> None:
    inventory, bmc = r750(captures, Depth.FULL)
    assert inventory.hcas[0].link.why == "DellNetworkAttributes says down"
    assert sum("says up, DellNetworkAttributes says down" in note.text for note in bmc.notes) == 2


def test_r750s_bluefield_is_disabled_and_its_mac_and_pxe_are_there(captures: Path) -> None:
    inventory, _ = r750(captures)
    bluefield = next(f for f in inventory.functions if f.id == "NIC.Slot.5-1")
    assert bluefield.enabled.value is False
    assert "Disabled" in bluefield.enabled.why
    assert (bluefield.mac, bluefield.pxe.value, bluefield.speed.value) == (
        "b8:3f:d2:90:97:c4",
        True,
        "100 Gb/s",
    )
    card = next(a for a in inventory.adapters if a.id == "NIC.Slot.5")
    assert (card.model.value, card.part_number.value, card.serial.value, card.slot.value) == (
        "BlueField-2 SmartNIC Main Card",
        "MBF2H5",
        "MT2242XZ00QA",
        "Slot 5",
    )


def test_r750s_service_tag_is_not_its_boards_serial_number(captures: Path) -> None:
    inventory, _ = r750(captures)
    system = inventory.system
    assert (system.service_tag.value, system.serial.value) == ("F54P1G3", "CNIVC0014M0388")
    assert system.service_tag.source == "/redfish/v1/Systems/System.Embedded.1"


def test_a_quick_harvest_knows_the_service_tag_from_the_root(captures: Path) -> None:
    inventory, _ = r750(captures, Depth.QUICK)
    assert (inventory.system.service_tag.value, inventory.system.service_tag.source) == (
        "F54P1G3",
        "/redfish/v1",
    )
    assert inventory.system.serial.why == "not asked in a quick harvest"


def test_r750s_bmc_has_its_own_port_and_mac(captures: Path) -> None:
    inventory, _ = r750(captures)
    (nic,) = inventory.bmc_nics
    assert (nic.id, nic.role, nic.mac, nic.address.value) == (
        "NIC.1",
        Role.BMC,
        "b0:7b:25:d6:51:82",
        "10.180.247.199",
    )
    assert nic.shared_with.why == "its port is dedicated"


def test_a_quick_harvest_of_four_cards_asks_eight_times_after_the_login(captures: Path) -> None:
    _, bmc = r750(captures, Depth.QUICK)
    assert len(bmc.asked) == 1 + 3 + 4  # root; interfaces of host and BMC, cards; functions of each card


def test_everything_else_of_r750_by_full(captures: Path) -> None:
    inventory, _ = r750(captures, Depth.FULL)
    counts = (inventory.dimms, inventory.drives, inventory.psus, inventory.gpus, inventory.firmware)
    assert tuple(map(len, counts)) == FULL_R750
    assert {d.id: d.serial.value for d in inventory.drives} == {
        "Disk.Bay.0:Enclosure.Internal.0-1": "61X0A002TCD8",
        "Disk.Bay.1:Enclosure.Internal.0-1": "61M0A08ZTCD8",
        "Disk.Bay.2:Enclosure.Internal.0-1": "61P0A06CTCD8",
    }
    assert (inventory.gpus[0].model.value, inventory.gpus[0].serial.value) == (
        "NVIDIA H100 PCIe",
        "1654422007043",
    )
    bios = {f.state: f.version.value for f in inventory.firmware if f.fqdd == "BIOS.Setup.1-1"}
    assert bios == {"installed": "1.8.2", "current": "1.8.2", "previous": "1.2.4"}


def test_dgx_lists_eight_infiniband_functions_without_mac_and_guid_and_says_so(captures: Path) -> None:
    inventory, _ = dgx(captures)
    # NIC3 and NIC8 are its storage cards; one port of NIC3 is set to InfiniBand and switched off
    assert [f.id for f in inventory.hcas] == [
        "DevType7_NIC2/NetworkDeviceFunction3",
        "DevType7_NIC4/NetworkDeviceFunction6",
        "DevType7_NIC5/NetworkDeviceFunction7",
        "DevType7_NIC6/NetworkDeviceFunction8",
        "DevType7_NIC7/NetworkDeviceFunction9",
        "DevType7_NIC9/NetworkDeviceFunctionB",
        "DevType7_NIC10/NetworkDeviceFunctionC",
        "DevType7_NIC11/NetworkDeviceFunctionD",
    ]
    for function in inventory.hcas:
        for reading in (
            function.mac_permanent,
            function.mac_current,
            function.node_guid,
            function.port_guid,
        ):
            assert (reading.value, reading.how) == (None, How.ABSENT)
            assert "tells none" in reading.why
    missing = [one for one in unread(inventory) if one.what == "no MAC, no GUID"]
    assert len(missing) == 8


def test_dgx_interfaces_are_joined_by_the_function_they_name(captures: Path) -> None:
    inventory, _ = dgx(captures)
    macs = {f.id.rpartition("/")[2]: f.mac for f in inventory.functions if f.mac}
    assert macs == {
        "NetworkDeviceFunction0": "5c:ff:35:fe:04:b1",
        "NetworkDeviceFunction1": "6c:fe:54:41:15:78",
        "NetworkDeviceFunction2": "6c:fe:54:41:15:79",
        "NetworkDeviceFunction5": "94:6d:ae:aa:2a:19",
        "NetworkDeviceFunctionA": "a0:88:c2:82:6e:52",
    }
    assert inventory.loose == ()


def test_dgx_knows_its_usb_network_from_its_own_port(captures: Path) -> None:
    inventory, _ = dgx(captures)
    assert {nic.id: (nic.role, nic.mac) for nic in inventory.bmc_nics} == {
        "eth0": (Role.BMC, "5c:ff:35:fb:e6:e9"),
        "usb0": (Role.USB, "2a:1a:5a:bb:71:a5"),
    }


def test_dgx_sku_is_a_model_and_no_service_tag(captures: Path) -> None:
    inventory, _ = dgx(captures)
    assert inventory.system.service_tag.value is None
    assert inventory.system.serial.value == "1662923610124"


def test_dgx_gpus_are_those_of_its_second_system(captures: Path) -> None:
    inventory, _ = dgx(captures, Depth.FULL)
    assert [gpu.id for gpu in inventory.gpus] == [f"GPU_SXM_{number}" for number in range(1, 9)]
    assert inventory.gpus[0].serial.value == "1652923003067"
    assert (len(inventory.psus), len(inventory.dimms), len(inventory.drives)) == (6, 32, 15)
    assert {drive.serial.why for drive in inventory.drives} == {"SerialNumber is not told"}


@pytest.mark.parametrize("depth", list(Depth))
def test_every_field_says_where_it_comes_from_or_why_it_is_not_there(captures: Path, depth: Depth) -> None:
    for inventory, _ in (r750(captures, depth), dgx(captures, depth)):
        for _, part in inventory.parts():
            for name, reading in readings(part):
                if reading.known:
                    assert reading.source.startswith("/redfish/v1"), (part, name)
                    assert reading.value != ""
                else:
                    assert reading.why, (part, name)
