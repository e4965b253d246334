"""Network cards, their functions and ports, and the interfaces of host and BMC, read for an inventory."""

from __future__ import annotations

from collections.abc import Sequence

from provision.bmc.inventory import Depth, Family
from provision.bmc.joins import linked_ports, portless
from provision.bmc.json_bodies import EMPTY, Body, inner, is_fqdd, last, link, path_of
from provision.workflows.harvest_reader import Reader
from provision.workflows.together import together


async def interfaces(reader: Reader, system: str, manager: str) -> None:
    """Interfaces of the host and of the BMC itself."""
    bodies = reader.bodies
    bodies.interfaces, bodies.bmc_interfaces = await together(
        reader.members(f"{system}/EthernetInterfaces", "Ethernet interfaces of the host", Family.NIC),
        reader.members(f"{manager}/EthernetInterfaces", "Ethernet interfaces of the BMC", Family.BMC),
    )


async def system(reader: Reader, path: str) -> None:
    """The machine itself."""
    reader.bodies.system = await reader.get(path, "system", Family.SYSTEM) or EMPTY


async def manager(reader: Reader, path: str) -> None:
    """Attributes of an iDRAC: 41 kB for one of them, but a shared port stands nowhere else."""
    if not reader.bodies.dell:
        return
    name = path.rpartition("/")[2]
    newer = await reader.get(
        f"{path}/Oem/Dell/DellAttributes/{name}", "attributes of the iDRAC", Family.BMC, missing=True
    )
    reader.bodies.manager = newer or EMPTY


async def adapters(reader: Reader, chassis: tuple[str, ...]) -> None:
    """Cards of every chassis, each with what belongs to it."""
    listed = await together(
        *(reader.members(f"{path}/NetworkAdapters", "network adapters", Family.ADAPTER) for path in chassis)
    )
    reader.bodies.adapters = [adapter for adapters in listed for adapter in adapters]
    await together(*(_adapter(reader, adapter) for adapter in reader.bodies.adapters))


async def _adapter(reader: Reader, adapter: Body) -> None:
    path = path_of(adapter)
    name = path.rpartition("/")[2]
    collection = link(adapter, "NetworkDeviceFunctions") or f"{path}/NetworkDeviceFunctions"
    functions = reader.members(collection, f"functions of {name}", Family.NIC)
    if reader.bodies.depth is Depth.QUICK:
        reader.bodies.functions[path] = await functions
        if reader.bodies.functions[path] and not all(map(_has_mac, reader.bodies.functions[path])):
            reader.bodies.ports[path] = await _ports(reader, adapter, name)
    else:
        both = await together(functions, _ports(reader, adapter, name))
        reader.bodies.functions[path], reader.bodies.ports[path] = both
    await _linked_ports(reader, adapter, path)
    wanted = _attribute_paths(reader, reader.bodies.functions[path])
    answers = await together(*(reader.linked(attributes, Family.NIC) for _, attributes in wanted))
    for (function, _), body in zip(wanted, answers, strict=True):
        reader.bodies.attributes[function] = body or EMPTY


async def _ports(reader: Reader, adapter: Body, name: str) -> list[Body]:
    """Ports of a card; newer services call them Ports, older ones NetworkPorts, some have both and one is empty."""
    for kind in ("Ports", "NetworkPorts"):
        if collection := link(adapter, kind):
            return await reader.members(collection, f"ports of {name}", Family.NIC)
    return []


async def _linked_ports(reader: Reader, adapter: Body, path: str) -> None:
    """Ports that the card or a function without a port names; where a name leads nowhere, that is noted."""
    ports = reader.bodies.ports.get(path)
    if ports is None:
        return
    ports += await _absent_ports(reader, linked_ports(adapter), ports)
    ports += await _absent_ports(reader, portless(reader.bodies.functions[path], ports), ports)


async def _absent_ports(reader: Reader, named: Sequence[str], ports: Sequence[Body]) -> list[Body]:
    """Ports that are named and not known, neither by path nor by FQDD."""
    known = {path_of(port) for port in ports}
    fqdds = {last(path) for path in known if is_fqdd(last(path))}
    asked = [path for path in named if path not in known and last(path) not in fqdds]
    found = await together(*(reader.linked(path, Family.NIC) for path in asked))
    return [port for port in found if port]


def _attribute_paths(reader: Reader, functions: Sequence[Body]) -> list[tuple[str, str]]:
    """Functions whose DellNetworkAttributes are worth a request: path of the function, path of the attributes."""
    if reader.bodies.depth is Depth.QUICK:
        return []
    found = []
    for function in functions:
        dell = inner(function, "Oem", "Dell")
        told = dell.get("DellNICCapabilities") or dell.get("DellInfiniBandCapabilities")
        doubted = reader.bodies.depth is Depth.FULL and bool(dell.get("DellInfiniBand"))
        path = link(function, "Links", "Oem", "Dell", "DellNetworkAttributes")
        if path and (doubted or not told):
            found.append((path_of(function), path))
    return found


def _has_mac(function: Body) -> bool:
    told = inner(function, "Ethernet")
    return bool(told.get("PermanentMACAddress") or told.get("MACAddress"))
