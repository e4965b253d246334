"""Network adapters, their functions and ports, Ethernet interfaces.

Oddities of captures are kept, because drivers stumble over them: InfiniBand cards are no Ethernet interfaces; their
function names a port that is not there (404) and no type; a collection of ports may lack one; a BlueField's function
says Disabled and nothing of its health.
"""

from __future__ import annotations

from tests.sim.idrac.bodies.network_dell import capabilities_of, infiniband_of, metrics_of, nic_of
from tests.sim.idrac.bodies.network_ports import add_ports
from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Adapter, Hardware, Kind, NetPort
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import (
    CHASSIS,
    OK,
    SYSTEM,
    UNKNOWN,
    affinity,
    dell,
    linked,
    listed,
    ref,
    resource,
    settings_at,
)
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

ADAPTERS = f"{CHASSIS}/NetworkAdapters"
INTERFACES = f"{SYSTEM}/EthernetInterfaces"


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """All of the network."""
    places = [f"{ADAPTERS}/{adapter.id}" for adapter in hardware.adapters]
    tree.collection(
        ADAPTERS,
        "NetworkAdapterCollection",
        places,
        name="Network Adapter Collection",
        about="Collection Of Network Adapter",
    )
    interfaces = [f"{SYSTEM}/NetworkInterfaces/{adapter.id}" for adapter in hardware.adapters]
    tree.collection(
        f"{SYSTEM}/NetworkInterfaces",
        "NetworkInterfaceCollection",
        interfaces,
        name="Network Interface Collection",
        about="Collection Of Network Interface entities",
    )
    for adapter, place, interface in zip(hardware.adapters, places, interfaces, strict=True):
        tree.fixed(place, _adapter(adapter, place, profile))
        tree.fixed(interface, _interface(adapter, place, interface, profile))
        _functions(tree, adapter, place, profile)
        add_ports(tree, adapter, place, profile)
    ethernet = [
        (adapter, port)
        for adapter in hardware.adapters
        if adapter.kind is not Kind.INFINIBAND
        for port in adapter.ports
    ]
    tree.collection(
        INTERFACES,
        "EthernetInterfaceCollection",
        [f"{INTERFACES}/{port.function}" for _, port in ethernet],
        name="System Ethernet Interface Collection",
        about="Collection of Ethernet Interfaces for this System",
    )
    for adapter, port in ethernet:
        tree.fixed(f"{INTERFACES}/{port.function}", _ethernet(adapter, port))
    tree.inventory |= {ADAPTERS, INTERFACES, f"{SYSTEM}/NetworkInterfaces"}


def _status(adapter: Adapter) -> Body:
    return UNKNOWN if adapter.kind is Kind.DPU else OK


def _ports_of(place: str, adapter: Adapter, profile: Profile) -> Body:
    traits = profile.value
    links: Body = {}
    if traits.new_ports:
        links |= linked("Ports", (f"{place}/Ports/{port.id}" for port in reversed(adapter.ports)))
    if traits.old_ports:
        links |= linked(
            "NetworkPorts", (f"{place}/NetworkPorts/{port.id}" for port in reversed(adapter.ports))
        )
    return links


def _adapter(adapter: Adapter, place: str, profile: Profile) -> Body:
    bare = adapter.kind is Kind.INFINIBAND  # an HCA tells neither part nor serial number, nor its model
    functions = [f"{place}/NetworkDeviceFunctions/{port.function}" for port in reversed(adapter.ports)]
    virtual = {"DeviceMaxCount": 254, "MinAssignmentGroupSize": 0, "NetworkPortMaxCount": 127}
    controller = {
        "ControllerCapabilities": {
            "DataCenterBridging": {"Capable": True},
            "NPAR": {"NparCapable": adapter.kind is Kind.NIC, "NparEnabled": False},
            "NPIV": {"MaxDeviceLogins": None if bare else 0, "MaxPortLogins": None if bare else 0},
            "NetworkDeviceFunctionCount": len(adapter.ports),
            "NetworkPortCount": 1 if bare else len(adapter.ports),
            "VirtualizationOffload": {"SRIOV": {"SRIOVVEPACapable": False}, "VirtualFunction": virtual},
        },
        "FirmwarePackageVersion": adapter.firmware,
        "Links": {
            **linked("NetworkDeviceFunctions", functions),
            **_ports_of(place, adapter, profile),
            "Oem": affinity(f"CPU.Socket.{adapter.cpu}"),
        },
    }
    body = resource(
        place,
        "NetworkAdapter",
        "v1_7_0",
        Assembly=ref(f"{CHASSIS}/Assembly" if bare else f"{place}/Assembly"),
        **listed("Controllers", [controller]),
        Description="Network Adapter View",
        Id=adapter.id,
        Manufacturer=adapter.maker,
        Model=None if bare else adapter.model,
        Name="Network Adapter View",
        NetworkDeviceFunctions=ref(f"{place}/NetworkDeviceFunctions"),
        PartNumber=None if bare else adapter.part,
        SerialNumber=None if bare else own("serial", adapter.id),
        Status=_status(adapter),
    )
    return body | _collections(place, profile)


def _collections(place: str, profile: Profile) -> Body:
    traits = profile.value
    links: Body = {}
    if traits.old_ports:
        links["NetworkPorts"] = ref(f"{place}/NetworkPorts")
    if traits.new_ports:
        links["Ports"] = ref(f"{place}/Ports")
    return links


def _interface(adapter: Adapter, place: str, path: str, profile: Profile) -> Body:
    body = resource(
        path,
        "NetworkInterface",
        "v1_2_1",
        Description="Network Device View",
        Id=adapter.id,
        Links={"NetworkAdapter": ref(place)},
        Name="Network Device View",
        NetworkDeviceFunctions=ref(f"{place}/NetworkDeviceFunctions"),
        Status=_status(adapter),
    )
    return body | _collections(place, profile)


def _functions(tree: Tree, adapter: Adapter, place: str, profile: Profile) -> None:
    home = f"{place}/NetworkDeviceFunctions"
    tree.collection(
        home,
        "NetworkDeviceFunctionCollection",
        [f"{home}/{port.function}" for port in adapter.ports],
        name="Network Device Function Collection",
        about="Collection Of Network Device Function entities",
    )
    for port in adapter.ports:
        path = f"{home}/{port.function}"
        # A BlueField's Dell resources stand in its function but answer 404 at their own paths.
        body = _function(adapter, port, place, path, profile)
        tree.fixed(path, body, embedded=adapter.kind is not Kind.DPU)


def _dell_parts(adapter: Adapter, port: NetPort, path: str, profile: Profile) -> dict[str, Body | None]:
    names = (
        "DellNIC",
        "DellNICPortMetrics",
        "DellNICCapabilities",
        "DellFC",
        "DellFCPortMetrics",
        "DellFCCapabilities",
    )
    parts: dict[str, Body | None] = dict.fromkeys(names)
    parts |= dict.fromkeys(("DellInfiniBand", "DellInfiniBandPortMetrics", "DellInfiniBandCapabilities"))
    if adapter.kind is Kind.INFINIBAND:
        parts["DellInfiniBand"] = infiniband_of(adapter, port, path, profile)
    else:
        parts["DellNIC"] = nic_of(adapter, port, path)
    if adapter.kind is not Kind.DPU:
        word = "InfiniBand" if adapter.kind is Kind.INFINIBAND else "NIC"
        parts[f"Dell{word}PortMetrics"] = metrics_of(adapter, port, path)
        parts[f"Dell{word}Capabilities"] = capabilities_of(adapter, port, path)
    return parts


def assigned_port(adapter: Adapter, port: NetPort, place: str, profile: Profile) -> str:
    """Where a function says its port is. Of an HCA under iDRAC9 it names one that is not there (captured: 404)."""
    if not profile.value.old_ports:
        return f"{place}/Ports/{port.id}"
    return f"{place}/NetworkPorts/{adapter.id if adapter.kind is Kind.INFINIBAND else port.id}"


def _function(adapter: Adapter, port: NetPort, place: str, path: str, profile: Profile) -> Body:
    hca, dpu = adapter.kind is Kind.INFINIBAND, adapter.kind is Kind.DPU
    at = assigned_port(adapter, port, place, profile)
    links = affinity(f"CPU.Socket.{adapter.cpu}")
    links["Dell"]["DellNetworkAttributes"] = ref(f"{path}/Oem/Dell/DellNetworkAttributes/{port.function}")
    kinds = [] if hca else ["Disabled"] if dpu else ["Disabled", "Ethernet"]
    mac = own("mac", port.function)
    body = resource(
        path,
        "NetworkDeviceFunction",
        "v1_7_0",
        **listed("AssignablePhysicalPorts", [ref(at)]),
        Description="NetworkDeviceFunction",
        Ethernet={
            "MACAddress": own("virtual_mac", port.function) if not hca else mac,
            "MTUSize": None,
            "PermanentMACAddress": mac,
            "VLAN": {} if hca else {"VLANEnable": False, "VLANId": 1},
        },
        FibreChannel={} if hca else _FIBRE_CHANNEL,
        Id=port.function,
        Links={"PhysicalPortAssignment": ref(at), "Oem": links},
        MaxVirtualFunctions=127,
        Name="NetworkDeviceFunction",
        **listed("NetDevFuncCapabilities", kinds),
        NetDevFuncType=None if hca else "Disabled" if dpu else "Ethernet",
        Oem=dell(**_dell_parts(adapter, port, path, profile)),
        PhysicalPortAssignment=ref(at),
        Status=_status(adapter),
        iSCSIBoot=_ISCSI if hca or dpu else {},
    )
    where = f"{SYSTEM}/NetworkAdapters/{adapter.id}/NetworkDeviceFunctions/{port.function}/Settings"
    times = ("OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset")
    body = {"@Redfish.Settings": settings_at(where, *times), **body}
    if hca and profile is Profile.IDRAC10:
        # The schema's own place for GUIDs (NetworkDeviceFunction 1.5); no capture of an iDRAC10 is at hand.
        guid = own("guid", port.function)
        body["InfiniBand"] = {"MTUSize": None, "NodeGUID": guid, "PermanentNodeGUID": guid}
        body["InfiniBand"] |= {"PermanentPortGUID": guid, "PortGUID": guid}
        body["NetDevFuncType"] = "InfiniBand"
    return body


_FIBRE_CHANNEL: Body = {
    **listed("BootTargets", [{"LUNID": None, "WWPN": None}]),
    **dict.fromkeys(
        ("FCoEActiveVLANId", "FCoELocalVLANId", "PermanentWWNN", "PermanentWWPN", "WWNN", "WWNSource")
    ),
    "WWPN": None,
}
_ISCSI: Body = {
    "AuthenticationMethod": "None",
    "CHAPSecret": None,
    "CHAPUsername": None,
    "IPAddressType": "IPv4",
    "IPMaskDNSViaDHCP": True,
    "InitiatorDefaultGateway": "0.0.0.0",  # noqa: S104  a value, nothing is bound
    "InitiatorIPAddress": "0.0.0.0",  # noqa: S104
    "InitiatorName": None,
    "InitiatorNetmask": "0.0.0.0",  # noqa: S104
    "PrimaryDNS": "0.0.0.0",  # noqa: S104
    "PrimaryLUN": 0,
    "PrimaryTargetIPAddress": "0.0.0.0",  # noqa: S104
    "PrimaryTargetName": None,
    "PrimaryTargetTCPPort": 3260,
    "PrimaryVLANEnable": None,
    "PrimaryVLANId": None,
    **dict.fromkeys(
        (
            "SecondaryDNS",
            "SecondaryLUN",
            "SecondaryTargetIPAddress",
            "SecondaryTargetName",
            "SecondaryTargetTCPPort",
        )
    ),
    "SecondaryVLANEnable": None,
    "SecondaryVLANId": None,
    "TargetInfoViaDHCP": True,
}


def _ethernet(adapter: Adapter, port: NetPort) -> Body:
    dpu = adapter.kind is Kind.DPU
    up = port.speed_mbps > 0
    return resource(
        f"{INTERFACES}/{port.function}",
        "EthernetInterface",
        "v1_6_4",
        AutoNeg=up,
        Description=port.label,
        EthernetInterfaceType="Physical",
        FQDN=None,
        FullDuplex=up,
        HostName=None,
        **listed("IPv4Addresses", []),
        **listed("IPv6AddressPolicyTable", []),
        **listed("IPv6Addresses", []),
        IPv6DefaultGateway=None,
        **listed("IPv6StaticAddresses", []),
        Id=port.function,
        InterfaceEnabled=not dpu,
        LinkStatus=None if dpu else "LinkUp" if up else "LinkDown",
        Links={"Chassis": ref(CHASSIS)},
        MACAddress=own("virtual_mac", port.function),
        MTUSize=None,
        MaxIPv6StaticAddresses=None,
        Name="System Ethernet Interface",
        **listed("NameServers", []),
        PermanentMACAddress=own("mac", port.function),
        SpeedMbps=port.speed_mbps,
        Status={"Health": None, "State": None} if dpu else {"Health": "OK", "State": "Enabled"},
        UefiDevicePath=f"PciRoot(0x{adapter.cpu})/Pci(0x1,0x0)/Pci(0x0,0x{port.number - 1})",
        VLAN={},
    )
