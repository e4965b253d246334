"""MACs and GUIDs of one network function: where they are looked for, in which order, and what is said when not found.

Order for a MAC: EthernetInterfaces, NetworkDeviceFunctions, DellNIC, the addresses of the port. An iDRAC10 of an R770
left the first one empty although the link was up (https://github.com/dell/iDRAC-Redfish-Scripting/issues/349);
others leave it null.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from fabricctl.guid import parse_guid
from fabricctl.mac import guid_of_mac, parse_mac
from provision.bmc.json_bodies import Body, inner, path_of
from provision.bmc.reading import How, Reading, absent, derived, read

NOT_ASKED = "not asked"
_ZERO = "00:00:00:00:00:00"
_IN_NAME = re.compile(r"(?:\A|[\s-])([0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})\s*\Z")


class Place(NamedTuple):
    """One place a value may stand at. :param why: in place of the value, why it was not asked."""

    name: str
    source: str
    value: Any = None
    why: str = ""
    rule: str = ""


def mac_of(places: Sequence[Place]) -> Reading[str]:
    """The first place that tells a MAC of one card; others that tell another one are said to contradict it."""
    return _first(places, _mac)


def guid_of(places: Sequence[Place]) -> Reading[str]:
    """The same for a GUID."""
    return _first(places, _guid)


def _first(places: Sequence[Place], parse: Any) -> Reading[str]:
    found: Reading[str] | None = None
    silent, others = [], []
    for place in places:
        value, reason = (None, place.why) if place.why else parse(place.value)
        if value is None:
            silent.append(f"{place.name} {reason}")
        elif found is None:
            found = derived(value, place.source, place.rule) if place.rule else read(value, place.source)
        elif value != found.value:
            others.append(f"{place.name} says {value}")
    if found is None:
        return absent(", ".join(silent) or "no place tells it")
    if others and found.how is How.READ:
        return read(str(found.value), found.source, ", ".join(others))
    return found


def _mac(value: Any) -> tuple[str | None, str]:
    if value is None:
        return None, "tells none"
    if not str(value).strip():
        return None, "is empty"
    mac = parse_mac(str(value))
    if mac is None:
        return None, f"says {str(value)[:40]!r}, which is no MAC"
    if int(mac[:2], 16) & 1 or mac == _ZERO:
        return None, f"says {mac}, which is no card's"
    return mac, ""


def _guid(value: Any) -> tuple[str | None, str]:
    if value is None:
        return None, "tells none"
    if not str(value).strip():
        return None, "is empty"
    guid = parse_guid(str(value))
    if guid is None:
        return None, f"says {str(value)[:40]!r}, which is no GUID"
    return (guid, "") if int(guid, 16) not in (0, 2**64 - 1) else (None, f"says {guid}, which is no card's")


def macs(interface: Body, function: Body, ports: Sequence[Body] | None) -> tuple[Reading[str], Reading[str]]:
    """Permanent and current MAC of a function.

    A current MAC that no place tells is the permanent one; never the other way round, since a virtual address (NPAR,
    FlexAddress) is no identity (https://github.com/dell/redfish-ansible-module/issues/64).

    :param interface: its EthernetInterface, :param function: its NetworkDeviceFunction, either may be empty.
    :param ports: the one port it is behind, none when it is unknown, None when ports were not asked.
    """
    permanent = mac_of(_mac_places(interface, function, ports, "PermanentMACAddress", "PermanentMACAddress"))
    current = mac_of(_mac_places(interface, function, ports, "MACAddress", "CurrentMACAddress"))
    if not current.known and permanent.known:
        rule = "no place tells an address in use, so it is the permanent one"
        current = derived(str(permanent.value), permanent.source, rule)
    return permanent, current


def _mac_places(
    interface: Body, function: Body, ports: Sequence[Body] | None, standard: str, dell: str
) -> list[Place]:
    nic = inner(function, "Oem", "Dell", "DellNIC")
    made = [
        Place("EthernetInterfaces", path_of(interface), interface.get(standard))
        if interface
        else Place("EthernetInterfaces", "", why="has no such interface"),
        Place("NetworkDeviceFunctions", path_of(function), inner(function, "Ethernet").get(standard))
        if function
        else Place("NetworkDeviceFunctions", "", why="has no such function"),
    ]
    if nic:
        named = _IN_NAME.search(str(nic.get("ProductName") or ""))
        made.append(Place("DellNIC", path_of(nic) or path_of(function), nic.get(dell)))
        if named and nic.get(dell) is None:
            rule = "as written in the ProductName of DellNIC"
            made[-1] = Place("DellNIC", path_of(nic) or path_of(function), named[1], rule=rule)
    made.append(_port_place(ports))
    return made


def _port_place(ports: Sequence[Body] | None) -> Place:
    if ports is None:
        return Place("NetworkPorts", "", why=NOT_ASKED)
    for port in ports:
        ethernet = inner(port, "Ethernet").get("AssociatedMACAddresses")
        listed = port.get("AssociatedNetworkAddresses") or ethernet
        if isinstance(listed, list) and len(listed) == 1:
            return Place("NetworkPorts", path_of(port), listed[0])
        if listed:
            return Place("NetworkPorts", path_of(port), why="tell several addresses")
    return Place("NetworkPorts", path_of(ports[0]) if ports else "")


def guids(
    function: Body, ports: Sequence[Body] | None, permanent: Reading[str]
) -> tuple[Reading[str], Reading[str]]:
    """Node and port GUID of an InfiniBand function: read where told, else both derived from the permanent MAC.

    Seen: an iDRAC9 6.00.30 tells ``""`` of a ConnectX-6, a DGX H100 tells neither GUID nor MAC.
    """
    node = guid_of(_guid_places(function, ports, ("PermanentNodeGUID", "NodeGUID"), "AssociatedNodeGUIDs"))
    port = guid_of(_guid_places(function, ports, ("PermanentPortGUID", "PortGUID"), "AssociatedPortGUIDs"))
    if node.known or port.known:
        return node, port
    made = guid_of_mac(str(permanent.value)) if permanent.known else None
    if made is None:
        no_mac = f"; and no MAC to derive it from: {permanent.why}"
        return absent(node.why + no_mac, node.source), absent(port.why + no_mac, port.source)
    guid: Reading[str] = derived(made.value, permanent.source, made.rule)
    return guid, guid


def _guid_places(
    function: Body, ports: Sequence[Body] | None, names: Sequence[str], of_port: str
) -> list[Place]:
    standard, dell = inner(function, "InfiniBand"), inner(function, "Oem", "Dell", "DellInfiniBand")
    made = [Place("InfiniBand", path_of(function), _any(standard, names))]
    if dell:
        made.append(Place("DellInfiniBand", path_of(dell) or path_of(function), _any(dell, names)))
    if ports is None:
        return [*made, Place("ports", "", why=NOT_ASKED)]
    for port in ports:
        listed = inner(port, "InfiniBand").get(of_port)
        if isinstance(listed, list) and len(listed) == 1:
            return [*made, Place("ports", path_of(port), listed[0])]
    return [*made, Place("ports", path_of(ports[0]) if ports else "")]


def _any(body: Body, names: Sequence[str]) -> Any:
    """The first property that says something, else "" when one is there and empty, else None."""
    told = [body[name] for name in names if body.get(name) is not None]
    return next((value for value in told if str(value).strip()), told[0] if told else None)
