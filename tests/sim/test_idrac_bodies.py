"""What the simulated server is made of, held against a capture of a real one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac.identity import uuids_of
from tests.sim.idrac.template import Template
from tests.sim.idrac_asker import CHASSIS, MANAGER, SYSTEM, Asker

ROOT = "/redfish/v1"
ADAPTERS = f"{CHASSIS}/NetworkAdapters"
SAME = (
    *(
        ROOT,
        SYSTEM,
        CHASSIS,
        MANAGER,
        f"{MANAGER}/EthernetInterfaces/NIC.1",
        f"{MANAGER}/HostInterfaces/Host.1",
    ),
    *(f"{ROOT}/Chassis/Enclosure.Internal.0-1", f"{ROOT}/Systems", f"{ROOT}/SessionService"),
    *(f"{SYSTEM}/EthernetInterfaces", f"{SYSTEM}/EthernetInterfaces/NIC.Integrated.1-1-1"),
    *(f"{SYSTEM}/BootOptions/Boot0000", f"{SYSTEM}/NetworkInterfaces/NIC.Embedded.1"),
    *(f"{SYSTEM}/Memory/DIMM.Socket.A1", f"{SYSTEM}/Processors/CPU.Socket.1", f"{SYSTEM}/Storage/CPU.1"),
    *(f"{SYSTEM}/Storage/CPU.1/Drives/Disk.Bay.0:Enclosure.Internal.0-1", f"{SYSTEM}/SimpleStorage/CPU.1"),
    f"{SYSTEM}/Storage/CPU.1/Volumes/Disk.Bay.0:Enclosure.Internal.0-1",
    f"{SYSTEM}/Oem/Dell/DellSystem/System.Embedded.1",
    *(ADAPTERS, f"{ADAPTERS}/NIC.Integrated.1", f"{ADAPTERS}/NIC.Embedded.1/NetworkPorts/NIC.Embedded.1-1"),
    f"{ADAPTERS}/NIC.Integrated.1/NetworkDeviceFunctions/NIC.Integrated.1-1-1",
)
"""Paths both have."""
CARDS = (
    "",
    "/NetworkDeviceFunctions",
    "/NetworkDeviceFunctions/{0}-1",
    "/NetworkPorts",
    "/NetworkPorts/{0}-1",
)
DELL = tuple(
    f"/NetworkDeviceFunctions/{{0}}-1/Oem/Dell/{kind}/{{0}}-1"
    for kind in ("DellInfiniBand", "DellInfiniBandPortMetrics", "DellInfiniBandCapabilities")
)
ALIKE = (
    *((f"{ADAPTERS}/{{0}}{tail}", "InfiniBand.Slot.7", "InfiniBand.Slot.31") for tail in (*CARDS, *DELL)),
    *((f"{ADAPTERS}/{{0}}{tail}", "NIC.Slot.5", "NIC.Slot.36") for tail in CARDS),
    (f"{SYSTEM}/EthernetInterfaces/{{0}}-1", "NIC.Slot.5", "NIC.Slot.36"),
    (f"{SYSTEM}/Processors/{{0}}-1", "Video.Slot.2", "Video.Slot.21"),
    (f"{SYSTEM}/PCIeDevices/{{0}}", "202-0", "26-0"),
    (f"{SYSTEM}/PCIeDevices/{{0}}/PCIeFunctions/{{0}}-0", "202-0", "26-0"),
)
"""Paths of the same kind of part: template, name in the capture, name in the simulator."""
LEFT_OUT = re.compile(
    r".*@Redfish\.Deprecated|/Actions/.*|/Links/Oem/Dell/Dell.*|/Oem/Dell/(RemoteSystemLogs|DellEnclosure|"
    r"DellPCIeSSDBackPlane)|/SerialInterfaces"
)
"""Deprecation notes, actions and collections the simulator has not."""


def absent(real: Any, ours: Any, at: str = "") -> Iterator[str]:
    """Fields the real body has and ours has not, and fields of another type."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for name, value in real.items():
            if name not in ours:
                yield f"{at}/{name}"
            else:
                yield from absent(value, ours[name], f"{at}/{name}")
    elif isinstance(real, list) and isinstance(ours, list) and real and ours:
        yield from absent(real[0], ours[0], at)
    elif (
        real is not None
        and ours is not None
        and isinstance(real, dict | list | str) != isinstance(ours, dict | list | str)
    ):
        yield f"{at}: {type(real).__name__}, found {type(ours).__name__}"


@pytest.fixture(scope="module")
def ours() -> Asker:
    return Asker(Simulator(profile=Profile.IDRAC9_6)[0])


@pytest.mark.captures
def test_bodies_have_the_fields_of_the_captured_ones(captures: Path, ours: Asker) -> None:
    real = json.loads((captures / "redfish/dell_r750_h100_ib_idrac9_6.00.30.json").read_text())
    pairs = [(path, path) for path in SAME]
    pairs += [(path.format(theirs), path.format(mine)) for path, theirs, mine in ALIKE]
    assert len(pairs) > 40
    for theirs, mine in pairs:
        lacking = {
            field for field in absent(real[theirs], ours.get(mine).body) if not LEFT_OUT.fullmatch(field)
        }
        assert not lacking, mine


@pytest.mark.captures
def test_uuids_spell_the_service_tag_as_the_captured_ones_do(captures: Path) -> None:
    real = json.loads((captures / "redfish/dell_r750_h100_ib_idrac9_6.00.30.json").read_text())[SYSTEM]
    made = uuids_of(real["SKU"])
    dell = real["Oem"]["Dell"]["DellSystem"]
    assert made == {
        "uuid": real["UUID"],
        "smbios_guid": dell["smbiosGUID"],
        "platform_guid": dell["PlatformGUID"],
    }
    assert dell["ExpressServiceCode"] == str(int(real["SKU"], 36))


def test_eleven_adapters_eight_hcas_eight_gpus_ten_drives_six_supplies(ours: Asker) -> None:
    def names(path: str) -> list[str]:
        return [member["@odata.id"].rpartition("/")[2] for member in ours.get(path).body["Members"]]

    adapters = names(ADAPTERS)
    assert len(adapters) == 11
    assert sum(name.startswith("InfiniBand.Slot.") for name in adapters) == 8
    assert sum(name.startswith("Video.") for name in names(f"{SYSTEM}/Processors")) == 8
    assert len(names(f"{SYSTEM}/Memory")) == 32
    assert len(names(f"{CHASSIS}/PowerSubsystem/PowerSupplies")) == 6
    drives = [
        drive
        for storage in names(f"{SYSTEM}/Storage")
        for drive in ours.get(f"{SYSTEM}/Storage/{storage}").body["Drives"]
    ]
    assert len(drives) == 10


def test_hcas_are_no_ethernet_interfaces_and_tell_a_mac_by_their_function(ours: Asker) -> None:
    interfaces = ours.get(f"{SYSTEM}/EthernetInterfaces").body["Members"]
    assert not any("InfiniBand" in member["@odata.id"] for member in interfaces)
    path = f"{ADAPTERS}/InfiniBand.Slot.31/NetworkDeviceFunctions/InfiniBand.Slot.31-1"
    function = ours.get(path).body
    assert re.fullmatch("(?:[0-9A-F]{2}:){5}[0-9A-F]{2}", function["Ethernet"]["PermanentMACAddress"])
    assert function["NetDevFuncType"] is None
    assert function["Oem"]["Dell"]["DellInfiniBand"]["NodeGUID"] == ""


def test_newer_firmware_tells_the_guid_that_belongs_to_the_mac() -> None:
    who = Asker(Simulator(profile=Profile.IDRAC9_7)[0])
    path = f"{ADAPTERS}/InfiniBand.Slot.31/NetworkDeviceFunctions/InfiniBand.Slot.31-1"
    function = who.get(path).body
    mac = function["Ethernet"]["MACAddress"].replace(":", "")
    guid = function["Oem"]["Dell"]["DellInfiniBand"]["PermanentPortGUID"].replace(":", "")
    assert guid == f"{mac[:6]}0300{mac[6:]}"


@pytest.mark.parametrize("profile", list(Profile))
def test_every_resource_is_served_at_its_own_path_and_few_links_dangle(profile: Profile) -> None:
    who = Asker(Simulator(profile=profile)[0])
    links: set[str] = set()
    for path in list(who.bmc.tree.entries):
        said = who.get(path)
        if said.status != 200 or path in ("/redfish", f"{ROOT}/odata"):
            continue
        assert said.body["@odata.id"] == path
        links |= set(re.findall(r'"@odata.id": "([^"#]+)"', json.dumps(said.body)))
    dangling = {link for link in links if who.get(link).status == 404}
    known = re.compile(r".*/NetworkPorts/InfiniBand\.Slot\.\d+|.*/DellNIC/NIC\.Slot\.36-1")
    assert {link for link in dangling if not known.fullmatch(link)} == set()


def test_identities_are_unique_in_the_fleet_and_the_same_for_the_same_seed() -> None:
    fleet = Simulator(count=511, seed=7)
    seen: dict[str, str] = {}
    for bmc in fleet:
        for key, value in bmc.identity.items():
            if key.partition(":")[0] in ("tag", "board", "bmc_mac", "mac", "serial", "guid", "uuid"):
                assert value not in seen, f"{key} of {bmc} and {seen.get(value)}"
                seen[value] = f"{key} of {bmc}"
    again = Simulator(count=511, seed=7)
    assert [bmc.identity for bmc in again] == [bmc.identity for bmc in fleet]
    assert Simulator(count=1, seed=8)[0].identity != fleet[0].identity


def test_cables_can_be_crossed_and_identities_duplicated() -> None:
    fleet = Simulator(count=3)
    tags = [bmc.service_tag for bmc in fleet]
    fleet.cross_cables(0, 1)
    assert [bmc.service_tag for bmc in fleet] == [tags[1], tags[0], tags[2]]
    fleet.duplicate(0, 2, "mac:NIC.Embedded.1-1-1")
    path = f"{SYSTEM}/EthernetInterfaces/NIC.Embedded.1-1-1"
    macs = [Asker(bmc).get(path).body["PermanentMACAddress"] for bmc in fleet]
    assert macs[0] == macs[2] != macs[1]


def test_bodies_are_serialised_once_for_all_bmcs() -> None:
    fleet = Simulator(count=2)
    entry = fleet[0].tree.entries[ADAPTERS + "/NIC.Embedded.1"]
    assert isinstance(entry, Template)
    assert fleet[1].tree.entries[ADAPTERS + "/NIC.Embedded.1"] is entry
