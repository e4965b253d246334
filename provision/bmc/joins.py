"""Which bodies speak of one and the same port: joined by what they name, never by position or by ids local to a card.

A tool that joined on such local ids gave a card another card's MAC (https://github.com/bmc-toolbox/bmclib/pull/449).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fabricctl.mac import parse_mac
from provision.bmc.json_bodies import EMPTY, Body, inner, is_fqdd, last, link, links, objects, path_of

_ASSIGNED = ("PhysicalPortAssignment", "PhysicalNetworkPortAssignment")
_ASSIGNABLE = ("AssignablePhysicalPorts", "AssignablePhysicalNetworkPorts")


def assigned_ports(function: Body) -> list[str]:
    """Paths of the ports a function says it is behind: one, or none when it does not tell or tells several."""
    for holder in (inner(function, "Links"), function):
        for name in _ASSIGNED:
            if path := link(holder, name):
                return [path]
    several = {path for name in _ASSIGNABLE for path in links(function, name)}
    return sorted(several) if len(several) == 1 else []


def linked_ports(adapter: Body) -> list[str]:
    """Every port path that a card's links name, each once.

    The collection of an iDRAC9 6.00.30 listed one of the two ports of a ConnectX-6; the card's links named both.
    """
    found: dict[str, None] = {}
    for controller in objects(adapter, "Controllers"):
        for name in ("NetworkPorts", "Ports"):
            found.update(dict.fromkeys(links(inner(controller, "Links"), name)))
    return list(found)


def portless(functions: Iterable[Body], ports: Sequence[Body]) -> list[str]:
    """Paths of ports that functions name and that must be asked, because no known port is theirs."""
    found: dict[str, None] = {}
    for function in functions:
        if not port_of(function, ports)[0]:
            found.update(dict.fromkeys(assigned_ports(function)))
    return list(found)


def port_of(function: Body, ports: Sequence[Body]) -> tuple[Body, str]:
    """The port of a function among those of its card, and what is odd about the way it was found.

    By the path the function names (or its FQDD: an iDRAC9 7.x keeps every port as a Port and as a NetworkPort); when
    that leads nowhere by the function the port names, then by the function's FQDD.
    """
    by_path = {path_of(port): port for port in ports}
    by_fqdd = {last(path): port for path, port in by_path.items() if is_fqdd(last(path))}
    said = assigned_ports(function)
    for path in said:
        found = by_path.get(path) or by_fqdd.get(last(path))
        if found is not None:
            return found, ""
    odd = "names a port that its card has not" if said else ""
    own = path_of(function)
    claiming = [port for port in ports if own in _claimed(port)]
    if len(claiming) == 1:
        return claiming[0], odd and f"{odd}; the port that names it is taken"
    name = last(own)
    close = [port for port in ports if is_fqdd(name) and _same_fqdd(name, last(path_of(port)))]
    if len(close) == 1:
        return close[0], odd and f"{odd}; the port with its FQDD is taken"
    return EMPTY, odd


def _claimed(port: Body) -> set[str]:
    """Functions a port says it carries."""
    limits = [
        entry for name in ("NetDevFuncMaxBWAlloc", "NetDevFuncMinBWAlloc") for entry in objects(port, name)
    ]
    named = {link(entry, "NetworkDeviceFunction") for entry in limits}
    return named | set(links(inner(port, "Links"), "AssociatedNetworkDeviceFunctions"))


def _same_fqdd(function: str, port: str) -> bool:
    """``NIC.Embedded.1-1-1`` is a partition of port ``NIC.Embedded.1-1``."""
    return function == port or function.startswith(f"{port}-")


def interfaces_of(interfaces: Sequence[Body], functions: Sequence[Body]) -> dict[str, Body]:
    """Path of a function -> the host's EthernetInterface that is the same.

    By the path the interface names, by FQDD, at last by a MAC that one function and one interface have.
    """
    found: dict[str, Body] = {}
    known = {path_of(function) for function in functions}
    by_fqdd = {last(path): path for path in known if is_fqdd(last(path))}
    left = []
    for interface in interfaces:
        names = inner(interface, "Links")
        named = [*links(names, "NetworkDeviceFunction"), *links(names, "NetworkDeviceFunctions")]
        path = next((path for path in named if path in known), "") or by_fqdd.get(
            last(path_of(interface)), ""
        )
        if path and path not in found:
            found[path] = interface
        else:
            left.append(interface)
    of_function = _by_mac((f, inner(f, "Ethernet")) for f in functions if path_of(f) not in found)
    of_interface = _by_mac((i, i) for i in left)
    for mac, (interface, *others) in of_interface.items():
        if not others and len(of_function.get(mac, ())) == 1:
            found[path_of(of_function[mac][0])] = interface
    return found


def _by_mac(bodies: Iterable[tuple[Body, Body]]) -> Mapping[str, list[Body]]:
    of: dict[str, list[Body]] = defaultdict(list)
    for body, holder in bodies:
        told = holder.get("PermanentMACAddress") or holder.get("MACAddress")
        if mac := parse_mac(str(told or "")):
            of[mac].append(body)
    return of
