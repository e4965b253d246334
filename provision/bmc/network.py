"""Network cards, their functions and the BMC's own interfaces, out of Redfish bodies."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabricctl.hostset import natural_key
from fabricctl.rates import parse_rate
from provision.bmc.addresses import Place, guids, mac_of, macs
from provision.bmc.bodies import Bodies
from provision.bmc.inventory import Adapter, BmcNic, Depth, LinkState, NetFunction, Role, Technology
from provision.bmc.joins import interfaces_of, port_of
from provision.bmc.json_bodies import EMPTY, Body, each_once, inner, is_fqdd, last, objects, path_of
from provision.bmc.outcome import Note
from provision.bmc.reading import How, Reading, absent, derived, read, words

_SLOT = re.compile(r"[A-Za-z]+\.(Slot|Embedded|Integrated|Mezzanine)\.([0-9]+[A-Z]?)")
_QUICK = "not asked in a quick harvest"
_LINKS = {
    **dict.fromkeys(("linkup", "up", "connected"), LinkState.UP),
    **dict.fromkeys(("linkdown", "down", "nolink", "disconnected"), LinkState.DOWN),
}
_YES, _NO = ("Supported", "Available"), ("NotSupported", "Unavailable")


def adapters_of(bodies: Bodies) -> tuple[tuple[Adapter, ...], tuple[NetFunction, ...]]:
    """Cards with their functions, and interfaces of the host that no card is told of; natural order of their ids."""
    every = each_once(body for listed in bodies.functions.values() for body in listed)
    interfaces = each_once(bodies.interfaces)
    joined = interfaces_of(interfaces, every)
    made = [_adapter(bodies, body, joined) for body in each_once(bodies.adapters)]
    taken = {path_of(interface) for interface in joined.values()}
    loose = [
        _function(bodies, EMPTY, EMPTY, interface, None)
        for interface in interfaces
        if path_of(interface) not in taken
    ]
    return (
        tuple(sorted(made, key=lambda adapter: (natural_key(adapter.id), adapter.path))),
        tuple(sorted(loose, key=lambda function: (natural_key(function.id), function.path))),
    )


def _adapter(bodies: Bodies, body: Body, joined: dict[str, Body]) -> Adapter:
    path = path_of(body)
    ports = None if path not in bodies.ports else each_once(bodies.ports[path])
    functions = [
        _function(bodies, body, function, joined.get(path_of(function), EMPTY), ports)
        for function in each_once(bodies.functions.get(path, ()))
    ]
    controller = next(objects(body, "Controllers"), EMPTY)
    firmware = words(controller, "FirmwarePackageVersion", path)
    return Adapter(
        id=last(path),
        path=path,
        slot=_slot(body, path),
        manufacturer=words(body, "Manufacturer", path),
        model=_model(body, path, bodies.functions.get(path, ())),
        part_number=words(body, "PartNumber", path),
        serial=words(body, "SerialNumber", path),
        firmware=absent("the BMC says 'nil'", path) if firmware.value == "nil" else firmware,
        functions=tuple(sorted(functions, key=lambda made: (natural_key(made.id), made.path))),
    )


def _slot(body: Body, path: str) -> Reading[str]:
    label = str(inner(body, "Location", "PartLocation").get("ServiceLabel") or "").strip()
    if label:
        return read(label, path)
    match = _SLOT.match(last(path))
    return (
        derived(f"{match[1]} {match[2]}", path, "from its FQDD")
        if match
        else absent("no label and no FQDD", path)
    )


def _model(body: Body, path: str, functions: Sequence[Body]) -> Reading[str]:
    """Model of the card, else the product name of its functions: an iDRAC9 leaves the model of an HCA null."""
    model = words(body, "Model", path)
    if model.known:
        return model
    for function in each_once(functions):
        for name in ("DellNIC", "DellInfiniBand"):
            part = inner(function, "Oem", "Dell", name)
            if product := str(part.get("ProductName") or "").strip():
                plain = re.sub(r"\s+-\s+[0-9A-Fa-f:]{17}\Z", "", product)
                return read(plain, path_of(part) or path_of(function), f"ProductName; {model.why}")
    return model


def _function(
    bodies: Bodies, adapter: Body, function: Body, interface: Body, ports: Sequence[Body] | None
) -> NetFunction:
    path = path_of(function) or path_of(interface)
    port, odd = port_of(function, ports) if function and ports is not None else (EMPTY, "")
    if odd:
        bodies.notes.append(Note(path, odd))
    behind = None if ports is None and function else ([port] if port else [])
    attributes = inner(bodies.attributes.get(path, EMPTY), "Attributes")
    technology = _technology(function, interface, port)
    permanent, current = macs(interface, function, behind)
    for name, mac in (("permanent", permanent), ("current", current)):
        if mac.how is How.READ and mac.why:
            bodies.notes.append(Note(path, f"{name} MAC: {mac.source} says {mac.value}, {mac.why}"))
    if technology.value == Technology.INFINIBAND:
        node_guid, port_guid = guids(function, behind, permanent)
    else:
        node_guid = port_guid = absent("no InfiniBand function", path)
    return NetFunction(
        id=_id(adapter, path),
        path=path,
        adapter=last(path_of(adapter)),
        role=Role.USB if _over_usb(interface) else Role.HOST,
        technology=technology,
        enabled=_enabled(function, interface),
        type_disabled=_type_disabled(function),
        mac_permanent=permanent,
        mac_current=current,
        node_guid=node_guid,
        port_guid=port_guid,
        link=_link(bodies, path, interface, port, attributes, asked=ports is not None or not function),
        speed=_speed(function, interface, port, attributes),
        pxe=_pxe(function, attributes, bodies.depth),
        port=read(last(path_of(port)), path_of(port), odd) if port else absent(odd or _unasked(ports), path),
    )


def _unasked(ports: Sequence[Body] | None) -> str:
    return _QUICK if ports is None else "no port names it and it names none"


def _id(adapter: Body, path: str) -> str:
    """FQDD, or the id a card's function has, together with the card's: ``1`` alone may be any card's."""
    own, card = last(path), last(path_of(adapter))
    return own if not card or is_fqdd(own) or card in own else f"{card}/{own}"


def _over_usb(interface: Body) -> bool:
    """Whether it is the network between host and BMC over USB.

    Not told by HostInterfaces: an iDRAC9 6.00.30 links every interface of the host there, and its own NIC.1.
    """
    names = (last(path_of(interface)), str(interface.get("Name") or ""))
    by_name = any(re.search(r"(?:\A|[\W_])v?usb\d*(?:\Z|[\W_])", name, re.IGNORECASE) for name in names)
    return by_name or "USB(" in str(interface.get("UefiDevicePath") or "")


def _technology(function: Body, interface: Body, port: Body) -> Reading[str]:
    kind, path = str(function.get("NetDevFuncType") or ""), path_of(function)
    said = f"NetDevFuncType is {kind or 'null'}"
    if kind in ("Ethernet", "InfiniBand"):
        return read(Technology(kind.lower()).value, path)
    if inner(function, "Oem", "Dell", "DellInfiniBand") or last(path).startswith("InfiniBand."):
        return derived(Technology.INFINIBAND.value, path, f"{said}, but Dell's part of it is InfiniBand")
    for name in ("ActiveLinkTechnology", "LinkNetworkTechnology", "PortProtocol"):
        told = str(port.get(name) or "")
        if told in ("Ethernet", "InfiniBand"):
            return derived(Technology(told.lower()).value, path_of(port), f"{name} of its port; {said}")
    if interface or last(path).startswith("NIC."):
        source = path_of(interface) or path
        return derived(Technology.ETHERNET.value, source, f"it is an Ethernet interface; {said}")
    if kind and kind != "Disabled":
        return read(Technology.OTHER.value, path, said)
    return absent(said, path)


def _enabled(function: Body, interface: Body) -> Reading[bool]:
    """Whether it is in use; a function of type Disabled is not, though a BlueField in DPU mode boots through it."""
    if _type_disabled(function):
        return read(False, path_of(function), "NetDevFuncType is Disabled; its card may work nevertheless")
    for body in (function, interface):
        state = str(inner(body, "Status").get("State") or "")
        if state:
            return read(state not in ("Disabled", "Absent", "UnavailableOffline"), path_of(body))
    return absent("no state is told", path_of(function) or path_of(interface))


def _type_disabled(function: Body) -> bool:
    return function.get("NetDevFuncType") == "Disabled"


def _link(
    bodies: Bodies, path: str, interface: Body, port: Body, attributes: Body, *, asked: bool
) -> Reading[str]:
    """Up, down or absent. The port's word counts before the interface's, that before the card's at its last start."""
    told: list[tuple[str, str, str]] = []
    silent: list[str] = [] if asked else [f"NetworkPorts {_QUICK}"]
    card = bodies.attributes.get(path, EMPTY)
    for name, source, holder in (
        ("port", path_of(port), port),
        ("EthernetInterfaces", path_of(interface), interface),
        ("DellNetworkAttributes", path_of(card), attributes),
    ):
        if not holder:
            continue
        state = holder.get("LinkStatus")
        if state == "":
            silent.append(f"{name} says '': the BMC's memory of it is stale, a reset of the BMC may help")
        elif found := _LINKS.get(str(state).lower()):
            told.append((name, source, found.value))
        else:
            silent.append(f"{name} says {state}" if state is not None else f"{name} tells none")
    if not told:
        return absent(", ".join(silent) or "no place tells it", path)
    name, source, value = told[0]
    against = ", ".join(f"{other} says {state}" for other, _, state in told[1:] if state != value)
    if against:
        bodies.notes.append(Note(path, f"link: {name} says {value}, {against}"))
    return read(value, source, against)


def _speed(function: Body, interface: Body, port: Body, attributes: Body) -> Reading[str]:
    """``4xHDR`` for InfiniBand, else ``25 Gb/s``; zero says nothing."""
    metrics = inner(function, "Oem", "Dell", "DellInfiniBandPortMetrics")
    rate = parse_rate(f"{str(metrics.get('LinkWidth') or '').lower()}{metrics.get('LinkSpeed') or ''}")
    if rate is not None:
        return read(f"{rate.width}x{rate.speed}", path_of(metrics) or path_of(function))
    gbps = (
        (port, port.get("CurrentSpeedGbps"), 1.0),
        (port, port.get("CurrentLinkSpeedMbps"), 1000.0),
        (interface, interface.get("SpeedMbps"), 1000.0),
    )
    for body, value, unit in gbps:
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return read(f"{value / unit:g} Gb/s", path_of(body))
    match = re.fullmatch(r"([0-9]+)\s*Gbps", str(attributes.get("LnkSpeed") or ""))
    if match:
        return read(f"{match[1]} Gb/s", path_of(function), "DellNetworkAttributes")
    return absent("no place tells a speed", path_of(port) or path_of(interface) or path_of(function))


def _pxe(function: Body, attributes: Body, depth: Depth) -> Reading[bool]:
    for name in ("DellNICCapabilities", "DellInfiniBandCapabilities"):
        part = inner(function, "Oem", "Dell", name)
        told = part.get("PXEBootSupport")
        if told in (*_YES, *_NO):
            return read(told in _YES, path_of(part) or path_of(function))
    told = attributes.get("PXEBootSupport")
    if told in (*_YES, *_NO):
        return read(told in _YES, path_of(function), "DellNetworkAttributes")
    modes = function.get("BootMode@Redfish.AllowableValues")
    if isinstance(modes, list) and modes:
        return read("PXE" in modes, path_of(function), "BootMode@Redfish.AllowableValues")
    if function.get("BootMode"):
        mode = str(function.get("BootMode"))
        return read(mode == "PXE", path_of(function)) if mode == "PXE" else absent(f"BootMode is {mode}")
    return absent(_QUICK if depth is Depth.QUICK else "no capability is told", path_of(function))


def bmc_nics_of(bodies: Bodies, functions: Sequence[NetFunction]) -> tuple[BmcNic, ...]:
    """The BMC's interfaces, in natural order."""
    made = [_bmc_nic(bodies, body, functions) for body in each_once(bodies.bmc_interfaces)]
    return tuple(sorted(made, key=lambda nic: (natural_key(nic.id), nic.path)))


def _bmc_nic(bodies: Bodies, body: Body, functions: Sequence[NetFunction]) -> BmcNic:
    path = path_of(body)
    role = Role.USB if _over_usb(body) else Role.BMC
    permanent = mac_of([Place("EthernetInterfaces", path, body.get("PermanentMACAddress"))])
    current = mac_of([Place("EthernetInterfaces", path, body.get("MACAddress"))])
    addresses = (str(entry.get("Address") or "") for entry in objects(body, "IPv4Addresses"))
    address = next((text for text in addresses if text and text != "0.0.0.0"), "")  # noqa: S104 - compared, not bound
    state = body.get("LinkStatus")
    link_state = _LINKS.get(str(state).lower())
    root_mac = mac_of(
        [Place("root", "/redfish/v1", inner(bodies.root, "Oem", "Dell").get("ManagerMACAddress"))]
    )
    if role is Role.BMC and root_mac.known and root_mac.value not in (permanent.value, current.value):
        bodies.notes.append(Note(path, f"the service root says the BMC's MAC is {root_mac.value}"))
    return BmcNic(
        id=last(path),
        path=path,
        role=role,
        mac_permanent=permanent,
        mac_current=current,
        address=read(address, path) if address else absent("no IPv4 address is told", path),
        link=read(link_state.value, path) if link_state else absent(f"LinkStatus is {state}", path),
        shared_with=_shared(bodies, role, functions),
    )


def _shared(bodies: Bodies, role: Role, functions: Sequence[NetFunction]) -> Reading[str]:
    """FQDD of the host's port whose cable the BMC uses: the BMC has its own MAC there, but it is one port.

    A report that took them for two ports found a cable too few (https://github.com/bb-Ricardo/check_redfish/issues/196).
    """
    if role is Role.USB:
        return absent("a network over USB has no cable")
    attributes, source = inner(bodies.manager, "Attributes"), path_of(bodies.manager)
    if not attributes:
        return absent(_QUICK if bodies.depth is Depth.QUICK else "no attribute tells it", source)
    chosen = attributes.get("CurrentNIC.1.ActiveNIC") or attributes.get("NIC.1.Selection")
    chosen = attributes.get("NIC.1.Selection") if chosen in (None, "None") else chosen
    match = re.fullmatch(r"LOM([1-8])", str(chosen))
    if match is None:
        return absent(f"its port is {str(chosen).lower()}" if chosen else "no attribute tells it", source)
    number = match[1]
    pattern = re.compile(rf"NIC\.(?:Embedded\.{number}-1|Integrated\.1-{number})-1\Z")
    ports = [function.id for function in functions if pattern.match(function.id)]
    if len(ports) == 1:
        return derived(ports[0], source, f"NIC.1.Selection is {chosen}")
    either = f"; {' or '.join(ports)}" if ports else ""
    return absent(f"shared with {chosen}, which port that is cannot be told{either}", source)
