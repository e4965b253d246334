"""Public bugs of other tools around harvesting, each by its address, against simulated BMCs."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.errors import BmcDeadlineError
from provision.bmc.inventory import Depth
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.bmc import Members
from provision.redfish.fleet import FleetOptions, ask
from provision.redfish.limits import Limits
from provision.workflows.harvest_read import read_inventory
from tests.provision.dumps import R750_FILE, dump
from tests.provision.rack import CARDS, HOST_INTERFACES, Rack, asked, part
from tests.provision.stateful_bmc import StatefulBmc
from tests.sim.idrac import Fault, Simulator
from tests.sim.idrac.hardware import XE9680
from tests.sim.idrac.replay import Replay

Start = Callable[..., Simulator]
EMBEDDED = "NIC.Embedded.1-1-1"
FUNCTION = f"{CARDS}/NIC.Embedded.1/NetworkDeviceFunctions/{EMBEDDED}"
MANAGER = "/redfish/v1/Managers/iDRAC.Embedded.1"
FIRMWARE = "/redfish/v1/UpdateService/FirmwareInventory"


@pytest.fixture
def rack(simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Rack:
    return Rack(tmp_path, simulator(1, first="127.33.0.1"), capsys)


def blank(rack: Rack, path: str, value: Any = "") -> None:
    """Make the MACs of an interface or function empty."""
    if path.startswith(HOST_INTERFACES):
        rack.sim[0].change(path, MACAddress=value, PermanentMACAddress=value)
    else:
        rack.sim[0].change(path, Ethernet={"MACAddress": value, "PermanentMACAddress": value})


def silence_ports(rack: Rack) -> None:
    for kind in ("Ports", "NetworkPorts"):
        path = f"{CARDS}/NIC.Embedded.1/{kind}/NIC.Embedded.1-1"
        rack.sim[0].change(path, AssociatedNetworkAddresses=[], Ethernet={"AssociatedMACAddresses": []})


# https://github.com/dell/iDRAC-Redfish-Scripting/issues/349
@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_interface_gets_its_mac_from_the_network_function(rack: Rack, empty: str | None) -> None:
    truth = rack.sim[0].identity[f"mac:{EMBEDDED}"].lower()
    blank(rack, f"{HOST_INTERFACES}/{EMBEDDED}", empty)
    nic = part(rack.json(), "nic", EMBEDDED)
    assert (nic["mac_permanent"]["value"], nic["mac_permanent"]["source"]) == (truth, FUNCTION)


def test_an_empty_function_gets_its_mac_from_dellnic_and_says_that_it_is_written_there_in_a_name(
    rack: Rack,
) -> None:
    truth = rack.sim[0].identity[f"mac:{EMBEDDED}"]
    blank(rack, f"{HOST_INTERFACES}/{EMBEDDED}")
    blank(rack, FUNCTION)
    rack.sim[0].change(FUNCTION, Oem={"Dell": {"DellNIC": {"ProductName": f"Broadcom BCM5720 - {truth}"}}})
    nic = part(rack.json(), "nic", EMBEDDED)
    assert (nic["mac_permanent"]["value"], nic["mac_permanent"]["how"]) == (truth.lower(), "derived")
    assert "ProductName" in nic["mac_permanent"]["why"]


def test_it_comes_from_the_addresses_of_its_port_even_in_a_quick_harvest(rack: Rack) -> None:
    truth = rack.sim[0].identity[f"mac:{EMBEDDED}"]
    blank(rack, f"{HOST_INTERFACES}/{EMBEDDED}")
    blank(rack, FUNCTION)
    rack.sim[0].change(FUNCTION, Oem={"Dell": {"DellNIC": {"ProductName": "Broadcom BCM5720"}}})
    for kind in ("Ports", "NetworkPorts"):
        path = f"{CARDS}/NIC.Embedded.1/{kind}/NIC.Embedded.1-1"
        rack.sim[0].change(
            path, AssociatedNetworkAddresses=[truth], Ethernet={"AssociatedMACAddresses": [truth]}
        )
    nic = part(rack.json("--quick"), "nic", EMBEDDED)
    assert nic["mac_permanent"]["value"] == truth.lower()
    assert "orts/NIC.Embedded.1-1" in nic["mac_permanent"]["source"]


def test_a_mac_that_nothing_tells_is_missing_with_the_reason_and_the_exit_code_says_so(rack: Rack) -> None:
    blank(rack, f"{HOST_INTERFACES}/{EMBEDDED}")
    blank(rack, FUNCTION)
    rack.sim[0].change(FUNCTION, Oem={"Dell": {"DellNIC": {"ProductName": "Broadcom BCM5720"}}})
    silence_ports(rack)
    code, out, _ = rack.harvest()
    assert code == 3
    assert f"no MAC of {EMBEDDED}: EthernetInterfaces is empty, NetworkDeviceFunctions is empty" in out
    held = {i.fact.part: i.fact.value for i in rack.records()["gpu001"].current()}
    assert EMBEDDED not in held
    assert "" not in held.values()
    assert not any(f.fact.value == "" for f in rack.facts()["gpu001"])


# https://github.com/dsx-ai-factory/infra-controller/issues/2169
def test_a_disabled_function_without_mac_stays_in_the_list_and_the_next_boot_may_bring_it(
    rack: Rack,
) -> None:
    name = "NIC.Slot.36-1"  # the BlueField
    truth = rack.sim[0].identity[f"mac:{name}"].lower()
    rack.harvest()
    blank(rack, f"{HOST_INTERFACES}/{name}")
    path = f"{CARDS}/NIC.Slot.36/NetworkDeviceFunctions/{name}"
    product = {"Dell": {"DellNIC": {"ProductName": "Mellanox Network Adapter"}}}
    before = {"MACAddress": "", "PermanentMACAddress": ""}
    rack.sim[0].change(path, NetDevFuncType="Disabled", Ethernet=before, Oem=product)
    for kind in ("Ports", "NetworkPorts"):
        port = f"{CARDS}/NIC.Slot.36/{kind}/{name}"
        rack.sim[0].change(port, AssociatedNetworkAddresses=[], Ethernet={"AssociatedMACAddresses": []})
    code, out, _ = rack.harvest()
    assert code == 3
    assert "boot once and harvest again" in " ".join(out.split())
    assert "MAC VANISHED" in out
    # the FQDD is known all the same, and the record keeps the address: the card is still there
    assert any(f.fact.part == name for f in rack.facts()["gpu001"])
    assert truth in {i.fact.value for i in rack.records()["gpu001"].current()}
    rack.sim[0].changes.clear()
    code, out, _ = rack.harvest()
    assert (code, "mac-vanished" in out) == (0, False)


# https://github.com/mrlhansen/idrac_exporter/issues/168
def test_an_inventory_of_more_than_a_page_is_read_to_its_end(captures: Path) -> None:
    path = FIRMWARE
    bodies = dict(dump(captures, R750_FILE))
    every = bodies[path]["Members"]
    bodies[path] = {**bodies[path], "Members": every[:20], "Members@odata.nextLink": f"{path}?$skip=20"}
    bodies[f"{path}?$skip=20"] = {**bodies[path], "Members": every[20:]}
    del bodies[f"{path}?$skip=20"]["Members@odata.nextLink"]
    with Replay(bodies, address="127.33.0.9") as server:
        trust = Trust(fingerprint=server.fingerprint)
        target = Target("gpu001", server.address, server.port, trust=trust)
        options = FleetOptions(lambda _: Credentials(server.user, Secret(server.password)), reaper=False)
        (outcome,) = ask([target], lambda bmc: read_inventory(bmc, Depth.FULL), options)
    assert outcome.value is not None
    assert len(outcome.value.firmware) == len(every) == 29


# https://github.com/bmc-toolbox/bmclib/pull/449
def test_no_card_gets_the_mac_of_another_though_their_ports_have_alike_numbers(rack: Rack) -> None:
    identity = rack.sim[0].identity
    document = rack.json()
    for nic in document["hosts"][0]["parts"]["nic"]:
        assert nic["mac_permanent"]["value"] == identity[f"mac:{nic['id']}"].lower()
        assert nic["id"].startswith(nic["adapter"].rpartition(".")[0])


# https://github.com/dsx-ai-factory/infra-controller/issues/6419
def test_firmware_that_never_answers_costs_its_own_deadline_and_nothing_else(rack: Rack) -> None:
    rack.sim[0].fault(Fault(method="GET", path=r".*/FirmwareInventory.*", hang=True))
    trust = Trust(fingerprint=rack.sim[0].fingerprint)
    target = Target("gpu001", rack.sim[0].address, rack.sim.port, trust=trust)
    options = FleetOptions(
        lambda _: Credentials("root", Secret(rack.sim.password)), Limits(slow_s=0.4), reaper=False
    )
    start = time.monotonic()
    (outcome,) = ask([target], lambda bmc: read_inventory(bmc, Depth.FULL), options)
    inventory = outcome.value
    assert inventory is not None, outcome.error
    (gap,) = inventory.gaps
    assert (gap.what, "0.4 s" in gap.why) == ("firmware", True), gap
    assert time.monotonic() - start < Limits().slow_s
    assert inventory.firmware == ()
    hardware = rack.sim[0].hardware
    assert len(inventory.functions) == sum(len(adapter.ports) for adapter in hardware.adapters)
    for found, made in ((inventory.dimms, hardware.dimms), (inventory.gpus, hardware.gpus)):
        assert len(found) == len(made)
    assert (len(inventory.drives), len(inventory.psus)) == (len(hardware.drives), len(hardware.psus))
    assert any(one.fault == "hang" for one in rack.sim[0].requests)
    assert len(rack.sim[0].sessions) == 0


def test_firmware_that_is_refused_costs_the_harvest_nothing_else(rack: Rack) -> None:
    rack.sim[0].fault(
        Fault(method="GET", path=r".*/FirmwareInventory.*", status=501, message_id="IDRAC.2.8.SYS446")
    )
    code, out, _ = rack.harvest("--full")
    assert code == 3
    assert "firmware: GET" in out
    assert len(rack.records()["gpu001"].current()) > 20


class _SlowTogether(StatefulBmc):
    """Its firmware inventory takes too long in one answer."""

    async def members(self, path: str, *options: Any, **named: Any) -> Members:
        if path == FIRMWARE:
            raise BmcDeadlineError("no answer within 45 s")
        return await super().members(path, *options, **named)


def test_firmware_that_takes_too_long_together_is_harvested_one_by_one(captures: Path) -> None:
    bmc = _SlowTogether(dict(dump(captures, R750_FILE)))
    inventory = asyncio.run(read_inventory(bmc, Depth.FULL))
    assert (len(inventory.firmware), inventory.gaps) == (29, ())


def test_an_entry_that_does_not_answer_either_is_a_gap_of_its_own(captures: Path) -> None:
    bodies = dict(dump(captures, R750_FILE))
    silent = bodies[FIRMWARE]["Members"][3]["@odata.id"]
    bmc = _SlowTogether(bodies, fail={silent: BmcDeadlineError("no answer within 15 s")})
    inventory = asyncio.run(read_inventory(bmc, Depth.FULL))
    assert len(inventory.firmware) == 28
    assert [(gap.path, gap.why) for gap in inventory.gaps] == [(silent, "no answer within 15 s")]


def test_a_group_that_is_never_ready_ends_at_its_own_deadline(captures: Path) -> None:
    class Slow(StatefulBmc):
        async def members(self, path: str, *options: Any, **named: Any) -> Members:
            if path.endswith("/FirmwareInventory"):
                await asyncio.sleep(3600)
            return await super().members(path, *options, **named)

    bmc = Slow(dict(dump(captures, R750_FILE)))
    inventory = asyncio.run(read_inventory(bmc, Depth.FULL, patience_s=0.05))
    assert [(gap.what, gap.why) for gap in inventory.gaps] == [("firmware", "not read within 0.05 s")]
    assert (len(inventory.dimms), len(inventory.functions)) == (16, 7)


# https://github.com/dell/iDRAC-Redfish-Scripting/issues/251
@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_link_state_is_unknown_and_a_reset_is_advised_but_not_made(
    rack: Rack, empty: str | None
) -> None:
    rack.sim[0].change(f"{HOST_INTERFACES}/{EMBEDDED}", LinkStatus=empty)
    for kind in ("Ports", "NetworkPorts"):
        rack.sim[0].change(f"{CARDS}/NIC.Embedded.1/{kind}/NIC.Embedded.1-1", LinkStatus=empty)
    nic = part(rack.json(), "nic", EMBEDDED)
    assert nic["link"]["value"] is None
    assert ("a reset of the BMC may help" in nic["link"]["why"]) is (empty == "")
    assert not [one for one in asked(rack.sim) if one.startswith("POST") and "Sessions" not in one]


# https://github.com/bb-Ricardo/check_redfish/issues/196
def test_a_bmc_on_a_shared_port_is_one_port_with_the_hosts(rack: Rack) -> None:
    rack.sim[0].change(
        f"{MANAGER}/Oem/Dell/DellAttributes/iDRAC.Embedded.1",
        Attributes={"NIC.1.Selection": "LOM1", "CurrentNIC.1.ActiveNIC": "LOM1"},
    )
    bmc = part(rack.json(), "bmc", "NIC.1")
    own = rack.sim[0].identity
    assert bmc["mac_permanent"]["value"] == own["bmc_mac"].lower() != own[f"mac:{EMBEDDED}"].lower()
    shared = bmc["shared_with"]
    # two cards could be meant by LOM1, embedded and integrated: it says so and takes neither
    told = f"{shared['value']} {shared['why']}"
    assert "LOM1" in told
    assert EMBEDDED in told


@pytest.mark.parametrize(
    ("absent", "port"), [("NIC.Integrated.1", EMBEDDED), ("NIC.Embedded.1", "NIC.Integrated.1-1-1")]
)
def test_a_bmc_on_the_only_port_that_it_can_mean_is_modelled_as_that_port(
    simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], absent: str, port: str
) -> None:
    adapters = tuple(one for one in XE9680.adapters if one.id != absent)
    hardware = replace(XE9680, adapters=adapters)
    rack = Rack(tmp_path, simulator(1, first="127.33.0.1", hardware=hardware), capsys)
    rack.sim[0].change(
        f"{MANAGER}/Oem/Dell/DellAttributes/iDRAC.Embedded.1",
        Attributes={"NIC.1.Selection": "LOM1", "CurrentNIC.1.ActiveNIC": "LOM1"},
    )
    document = rack.json()
    bmc = part(document, "bmc", "NIC.1")
    assert (bmc["shared_with"]["value"], bmc["shared_with"]["how"]) == (port, "derived")
    own = rack.sim[0].identity
    assert bmc["mac_permanent"]["value"] == own["bmc_mac"].lower() != own[f"mac:{port}"].lower()
    assert document["findings"] == []
    rows = list(csv.DictReader(io.StringIO(rack.harvest("--format", "csv")[1])))
    assert [row["part"] for row in rows if row["role"] == "bmc"] == [f"NIC.1 on {port}"]


def test_the_usb_network_of_every_bmc_has_one_mac_and_that_is_no_duplicate(
    simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rack = Rack(tmp_path, simulator(3, first="127.33.0.1"), capsys)
    same, usb = "2A:1A:5A:BB:71:A5", {"Id": "usb0", "Name": "usb0"}  # as the DGX capture has it
    for bmc in rack.sim:
        for home in (HOST_INTERFACES, f"{MANAGER}/EthernetInterfaces"):
            bmc.add(f"{home}/usb0", {**usb, "MACAddress": same, "PermanentMACAddress": same}, into=home)
    maas = tmp_path / "maas.json"
    document = rack.json("--maas", str(maas))
    assert document["findings"] == []
    for host in rack.sim.hosts:
        roles = {
            one["role"]
            for family in ("nic", "bmc")
            for one in next(h for h in document["hosts"] if h["host"] == host)["parts"][family]
            if one["mac_permanent"]["value"] == same.lower()
        }
        assert roles == {"bmc-usb"}
        assert same.lower() not in {i.fact.value for i in rack.records()[host].current()}
    assert same.lower() not in maas.read_text().lower()
    assert rack.sim[0].identity[f"mac:{EMBEDDED}"].lower() in maas.read_text().lower()
    # the same MAC on a card of two machines is one
    for bmc in list(rack.sim)[:2]:
        bmc.change(f"{HOST_INTERFACES}/{EMBEDDED}", MACAddress=same, PermanentMACAddress=same)
        bmc.change(FUNCTION, Ethernet={"MACAddress": same, "PermanentMACAddress": same})
    assert "duplicate-mac" in rack.kinds(rack.json())


# https://github.com/dell/redfish-ansible-module/issues/64
def test_permanent_and_current_mac_are_both_kept_and_the_permanent_one_is_the_identity(
    rack: Rack,
) -> None:
    truth, virtual = rack.sim[0].identity[f"mac:{EMBEDDED}"].lower(), "02:11:22:33:44:55"
    rack.sim[0].change(f"{HOST_INTERFACES}/{EMBEDDED}", MACAddress=virtual)
    rack.sim[0].change(FUNCTION, Ethernet={"MACAddress": virtual})
    maas = rack.folder / "maas.json"
    nic = part(rack.json("--maas", str(maas)), "nic", EMBEDDED)
    assert (nic["mac_permanent"]["value"], nic["mac_current"]["value"]) == (truth, virtual)
    held = {i.fact.value for i in rack.records()["gpu001"].current()}
    assert truth in held
    assert virtual not in held
    assert virtual in maas.read_text()  # DHCP sees the one in use
    assert truth not in maas.read_text()
