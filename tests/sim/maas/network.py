"""Interfaces of machines, and the one subnet they sit in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.sim.maas.call import (
    API,
    Answer,
    Incoming,
    Refusal,
    absent,
    dumps,
    invalid,
    not_allowed,
    ok,
    unrecognised,
)

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble
    from tests.sim.maas.hardware import NicHardware
    from tests.sim.maas.machines import MachineRecord

VLAN = {
    "vid": 0,
    "mtu": 1500,
    "dhcp_on": False,
    "external_dhcp": None,
    "relay_vlan": None,
    "fabric": "fabric-0",
    "id": 5001,
    "primary_rack": None,
    "secondary_rack": None,
    "name": "untagged",
    "space": "undefined",
    "fabric_id": 0,
    "resource_uri": f"{API}vlans/5001/",
}
SUBNET = {
    "name": "10.0.0.0/24",
    "description": "",
    "vlan": VLAN,
    "cidr": "10.0.0.0/24",
    "rdns_mode": 2,
    "gateway_ip": None,
    "dns_servers": [],
    "allow_dns": True,
    "allow_proxy": True,
    "active_discovery": False,
    "managed": True,
    "disabled_boot_architectures": [],
    "id": 1,
    "space": "undefined",
    "resource_uri": f"{API}subnets/1/",
}


@dataclass
class Interface:
    """An interface. :param seen: what commissioning found of it; None: known only from create.

    :param link: id of its link to the subnet; :param address: the address it was seen with.
    :param given: the address MAAS gave it for what is installed.
    """

    id: int
    name: str
    mac: str
    seen: NicHardware | None = None
    link: int | None = None
    address: str = ""
    given: str = ""

    def shown(self, system_id: str) -> dict[str, Any]:
        """As the API shows it."""
        seen = self.seen
        return {
            "id": self.id,
            "name": self.name,
            "type": "physical",
            "mac_address": self.mac,
            "system_id": system_id,
            "vlan": VLAN if seen else None,
            "links": self._links(),
            "discovered": [{"subnet": SUBNET, "ip_address": self.address}] if self.address else None,
            "vendor": seen.vendor if seen else None,
            "product": seen.product if seen else None,
            "firmware_version": seen.firmware if seen else None,
            "link_speed": seen.link_speed if seen else 0,
            "interface_speed": 0,
            "link_connected": True,
            "enabled": True,
            "effective_mtu": 1500,
            "sriov_max_vf": 0,
            "numa_node": seen.numa_node if seen else 0,
            "params": {},
            "tags": [],
            "children": [],
            "parents": [],
            "resource_uri": f"{API}nodes/{system_id}/interfaces/{self.id}/",
        }

    def _links(self) -> list[dict[str, Any]]:
        if not self.link:
            return []
        address = {"ip_address": self.given} if self.given else {}
        return [{"id": self.link, "mode": "auto", **address, "subnet": SUBNET}]


def unlink(record: MachineRecord) -> None:
    """A commissioning begins: interfaces are not configured any more."""
    for nic in record.nics:
        nic.link, nic.given = None, ""


def give_addresses(double: MaasDouble, record: MachineRecord) -> None:
    """An installation begins: each link gets an address of the subnet."""
    for nic in record.nics:
        if nic.link and not nic.given:
            number = double.new_id("address")
            nic.given = f"10.0.{number // 250}.{number % 250}"
    record.changed()


def found(double: MaasDouble, record: MachineRecord) -> None:
    """Take over what a commissioning found: interfaces are matched by MAC, those not seen are removed."""
    known = {nic.mac: nic for nic in record.nics}
    nics = []
    for place, seen in enumerate(record.hardware.nics):
        nic = known.get(seen.mac) or Interface(double.new_id("interface"), seen.name, seen.mac)
        nic.name, nic.seen = seen.name, seen
        if place == 0:
            nic.link = nic.link or double.new_id("link")
            nic.address = double.address_of(record)
        nics.append(nic)
    record.nics = nics
    record.boot_nic = nics[0].id if nics else None


def serve(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    """``nodes/ID/interfaces/`` and one of them."""
    rest = incoming.parts[3:]
    if incoming.op is not None:
        return unrecognised(incoming.method, incoming.op)
    if not rest:
        if incoming.method != "GET":
            return not_allowed("GET", "POST")
        return ok([nic.shown(record.system_id) for nic in record.nics])
    nic = next((one for one in record.nics if str(one.id) == rest[0]), None)
    if nic is None:
        return absent("Interface")
    if incoming.method == "PUT":
        _update(double, record, nic, incoming)
    elif incoming.method != "GET":
        return not_allowed("GET", "PUT", "DELETE")
    return ok(dumps(nic.shown(record.system_id)))


def _update(double: MaasDouble, record: MachineRecord, nic: Interface, incoming: Incoming) -> None:
    form = incoming.form
    if form.has("mac_address"):
        mac = double.mac(form.get("mac_address"))
        if mac is None:
            text = f"'{form.get('mac_address')}' is not a valid MAC address."
            raise Refusal(invalid({"mac_address": [text]}))
        for other in double.records.values():
            for one in other.nics:
                if one.mac == mac and one is not nic:
                    text = f"This MAC address is already in use by {one.name} (physical) on {other.hostname}."
                    raise Refusal(invalid({"mac_address": [text]}))
        nic.mac = mac
    nic.name = form.get("name", nic.name)
    record.changed()
