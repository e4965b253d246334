"""What is joined with what, whatever the order; shapes no dump has."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricctl.errors import BmcAnswerError, BmcLoginError, BmcUnreachableError
from provision.bmc.bodies import Bodies
from provision.bmc.build import build
from provision.bmc.inventory import Depth, Family, Inventory, Role
from provision.bmc.joins import port_of
from provision.bmc.node_facts import identities_of, unread
from provision.workflows.harvest_read import read_inventory
from tests.provision.dumps import DGX_FILE, R750_FILE, dump
from tests.provision.stateful_bmc import DELL, DGX, StatefulBmc

CHASSIS = "/redfish/v1/Chassis/1/NetworkAdapters"


def card(name: str, **more: Any) -> dict[str, Any]:
    return {"@odata.id": f"{CHASSIS}/{name}", "Id": name, **more}


def function(name: str, number: str, mac: str | None = None, **more: Any) -> dict[str, Any]:
    path = f"{CHASSIS}/{name}/NetworkDeviceFunctions/{number}"
    return {"@odata.id": path, "Id": number, "Ethernet": {"PermanentMACAddress": mac}, **more}


def interface(name: str, mac: str, **more: Any) -> dict[str, Any]:
    return {
        "@odata.id": f"/redfish/v1/Systems/1/EthernetInterfaces/{name}",
        "PermanentMACAddress": mac,
        **more,
    }


def made(**parts: Any) -> Inventory:
    return build(Bodies(Depth.DEFAULT, root={"Vendor": "Contoso"}, **parts))[0]


def test_functions_called_1_on_every_card_stay_apart() -> None:
    cards = [card("A"), card("B")]
    functions = {
        f"{CHASSIS}/{name}": [function(name, "1", f"02:00:00:00:00:0{at}", NetDevFuncType="Ethernet")]
        for at, name in enumerate("AB", 1)
    }
    interfaces = [interface("1", "02:00:00:00:00:02"), interface("2", "02:00:00:00:00:01")]
    inventory = made(adapters=cards, functions=functions, interfaces=interfaces)
    assert {f.id: f.mac for f in inventory.functions} == {
        "A/1": "02:00:00:00:00:01",
        "B/1": "02:00:00:00:00:02",
    }
    assert inventory.loose == ()  # joined by the MAC, not by the number


def test_a_port_called_1_of_another_card_is_never_taken() -> None:
    port = {
        "@odata.id": f"{CHASSIS}/B/Ports/1",
        "Ethernet": {"AssociatedMACAddresses": ["02:00:00:00:00:99"]},
    }
    mine = function("A", "1", Links={"PhysicalNetworkPortAssignment": {"@odata.id": f"{CHASSIS}/A/Ports/1"}})
    assert port_of(mine, [port])[0] == {}


def test_an_interface_no_card_is_told_of_is_kept() -> None:
    inventory = made(interfaces=[interface("eth7", "02:00:00:00:00:07")])
    assert [(f.id, f.adapter, f.mac) for f in inventory.loose] == [("eth7", "", "02:00:00:00:00:07")]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("usb0", {}),
        ("3", {"Name": "vusb0"}),
        ("NIC.Slot.1-1", {"UefiDevicePath": "PciRoot(0x0)/Pci(0x14,0x0)/USB(0xD,0x0)/MAC(020000000007,0x1)"}),
    ],
)
def test_the_network_over_usb_is_nobodys_identity(name: str, more: dict[str, Any]) -> None:
    inventory = made(interfaces=[interface(name, "02:00:00:00:00:07", **more)])
    assert inventory.functions[0].role is Role.USB
    assert [fact.value for fact in identities_of(inventory)] == []


def test_a_read_guid_is_preferred_and_nothing_is_derived_beside_it() -> None:
    told = function(
        "A",
        "1",
        "b8:3f:d2:a4:1b:d2",
        NetDevFuncType="InfiniBand",
        InfiniBand={"PermanentNodeGUID": "B8:3F:D2:03:00:A4:1B:D2", "PermanentPortGUID": None},
    )
    inventory = made(adapters=[card("A")], functions={f"{CHASSIS}/A": [told]}, ports={f"{CHASSIS}/A": []})
    (hca,) = inventory.hcas
    assert (hca.node_guid.value, hca.node_guid.how.value) == ("0xb83fd20300a41bd2", "read")
    assert hca.port_guid.value is None
    assert {f.source for f in identities_of(inventory)} == {"redfish"}


def test_guids_a_port_tells_are_read() -> None:
    guids = {"AssociatedNodeGUIDs": ["0xb83fd20300a41bd2"], "AssociatedPortGUIDs": ["0xb83fd20300a41bd3"]}
    port = {"@odata.id": f"{CHASSIS}/A/Ports/9", "InfiniBand": guids}
    told = function(
        "A",
        "1",
        NetDevFuncType="InfiniBand",
        Links={"PhysicalNetworkPortAssignment": {"@odata.id": f"{CHASSIS}/A/Ports/9"}},
    )
    inventory = made(adapters=[card("A")], functions={f"{CHASSIS}/A": [told]}, ports={f"{CHASSIS}/A": [port]})
    (hca,) = inventory.hcas
    assert (hca.node_guid.value, hca.port_guid.value) == ("0xb83fd20300a41bd2", "0xb83fd20300a41bd3")
    assert {f.part: f.value for f in identities_of(inventory)} == {
        "A/1": "0xb83fd20300a41bd2",
        "A/1 port": "0xb83fd20300a41bd3",
    }


@pytest.mark.parametrize("mac", ["00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF", "01:00:5E:00:00:01", "N/A"])
def test_what_is_no_cards_mac_is_missing_with_what_was_there(mac: str) -> None:
    told = function("A", "1", mac, NetDevFuncType="Ethernet")
    inventory = made(adapters=[card("A")], functions={f"{CHASSIS}/A": [told]}, ports={f"{CHASSIS}/A": []})
    assert inventory.functions[0].mac is None
    why = inventory.functions[0].mac_permanent.why
    assert "which is no" in why
    assert mac.lower() in why.lower()


def test_a_shared_port_that_can_be_one_only_is_named() -> None:
    told = {"@odata.id": f"{CHASSIS}/NIC.Embedded.1/NetworkDeviceFunctions/NIC.Embedded.1-1-1"}
    bmc = {"@odata.id": "/redfish/v1/Managers/1/EthernetInterfaces/NIC.1", "MACAddress": "02:00:00:00:00:01"}
    inventory = made(
        adapters=[card("NIC.Embedded.1")],
        functions={f"{CHASSIS}/NIC.Embedded.1": [told]},
        bmc_interfaces=[bmc],
        manager={"@odata.id": "/m", "Attributes": {"NIC.1.Selection": "LOM1"}},
    )
    assert inventory.bmc_nics[0].shared_with.value == "NIC.Embedded.1-1-1"


def shuffled(value: Any, dice: random.Random) -> Any:
    """The same body with every list of links or members in another order."""
    if isinstance(value, list):
        items = [shuffled(item, dice) for item in value]
        if all(isinstance(item, dict) and "@odata.id" in item for item in items):
            dice.shuffle(items)
        return items
    return {name: shuffled(item, dice) for name, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(("name", "layout"), [(R750_FILE, DELL), (DGX_FILE, DGX)])
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_an_inventory_is_the_same_in_whatever_order_things_are_listed(
    captures: Path, name: str, layout: Any, seed: int
) -> None:
    bodies = dump(captures, name)
    listed = {path: body for path, body in bodies.items() if "Members" in body or "Controllers" in body}
    other = {**bodies, **shuffled(listed, random.Random(seed))}
    plain = asyncio.run(read_inventory(StatefulBmc(bodies, layout)))
    assert asyncio.run(read_inventory(StatefulBmc(other, layout))) == plain


def test_a_card_whose_functions_cannot_be_read_is_a_gap_and_the_rest_is_there(captures: Path) -> None:
    path = f"{DELL.chassis[0]}/NetworkAdapters/NIC.Slot.5/NetworkDeviceFunctions"
    bmc = StatefulBmc(dict(dump(captures, R750_FILE)), fail={path: BmcAnswerError("HTTP 500", status=500)})
    inventory = asyncio.run(read_inventory(bmc))
    assert [(gap.what, gap.why, gap.family) for gap in inventory.gaps] == [
        ("functions of NIC.Slot.5", "HTTP 500", Family.NIC)
    ]
    assert len(inventory.hcas) == 2
    # its interface is still there, without a card
    assert [f.mac for f in inventory.loose] == ["b8:3f:d2:90:97:c4"]


def test_a_refused_login_ends_it_and_is_the_error(captures: Path) -> None:
    path = f"{DELL.system}/EthernetInterfaces"
    bmc = StatefulBmc(dict(dump(captures, R750_FILE)), fail={path: BmcLoginError("refused")})
    with pytest.raises(BmcLoginError, match="refused"):
        asyncio.run(read_inventory(bmc))


def test_a_bmc_that_tells_nothing_is_an_error_and_no_empty_inventory(captures: Path) -> None:
    bodies = dump(captures, R750_FILE)
    fail = {path: BmcUnreachableError("reset") for path in bodies if path != "/redfish/v1"}
    with pytest.raises(BmcUnreachableError, match="reset"):
        asyncio.run(read_inventory(StatefulBmc(bodies, fail=fail)))


def test_a_bmc_without_any_card_could_not_tell() -> None:
    bmc = StatefulBmc({"/redfish/v1": {"Vendor": "Dell"}, f"{DELL.system}": {"SKU": "F54P1G3"}})
    inventory = asyncio.run(read_inventory(bmc))
    assert [one.what for one in unread(inventory)] == ["network cards", "the BMC's own MAC"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), value=json_values)
def test_no_body_however_odd_breaks_the_inventory(captures: Path, seed: int, value: Any) -> None:
    dice = random.Random(seed)
    bodies = dump(captures, R750_FILE)
    homes = (f"{DELL.chassis[0]}/NetworkAdapters", f"{DELL.system}/Ethernet", f"{DELL.manager}/Ethernet")
    path = dice.choice(sorted(path for path in bodies if path.startswith(homes)))
    body = json.loads(json.dumps(bodies[path]))
    spoil(body, value, dice)
    asyncio.run(read_inventory(StatefulBmc({**bodies, path: body}), Depth.FULL))


def spoil(body: Any, value: Any, dice: random.Random) -> None:
    """Put a value somewhere into a body, members and their paths excepted: those are the driver's to check."""
    names = [name for name in sorted(body) if name not in ("@odata.id", "Members")]
    if not names:
        return
    name = dice.choice(names)
    if isinstance(body[name], dict) and body[name] and dice.random() < 0.8:
        spoil(body[name], value, dice)
    else:
        body[name] = value
