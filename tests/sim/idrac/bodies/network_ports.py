"""Ports of network adapters: ``NetworkPorts`` as iDRAC9 has them, ``Ports`` as newer firmware does."""

from __future__ import annotations

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Adapter, Kind, NetPort
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import OK, UNKNOWN, dell, listed, ref, resource
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree


def add_ports(tree: Tree, adapter: Adapter, place: str, profile: Profile) -> None:
    """Ports of one adapter in the collections this firmware has."""
    if profile.value.old_ports:
        home = f"{place}/NetworkPorts"
        tree.collection(
            home,
            "NetworkPortCollection",
            [f"{home}/{port.id}" for port in adapter.ports],
            name="Network Port Collection",
            about="Collection Of Network Port entities",
        )
        for port in adapter.ports:
            tree.fixed(f"{home}/{port.id}", _network_port(adapter, port, place))
            if adapter.kind is Kind.INFINIBAND:
                tree.fixed(_transceiver_at(home, port), _transceiver(port, home))
    if profile.value.new_ports:
        home = f"{place}/Ports"
        tree.collection(home, "PortCollection", [f"{home}/{port.id}" for port in adapter.ports])
        for port in adapter.ports:
            tree.fixed(f"{home}/{port.id}", _port(adapter, port, home))


def _transceiver_id(port: NetPort) -> str:
    return f"NetworkTransceiver.Integrated.1:{port.id}"


def _transceiver_at(home: str, port: NetPort) -> str:
    return f"{home}/{port.id}/Oem/Dell/DellNetworkTransceivers/{_transceiver_id(port)}"


def _transceiver(port: NetPort, home: str) -> Body:
    name = _transceiver_id(port)
    return resource(
        _transceiver_at(home, port),
        "DellNetworkTransceiver",
        "v1_1_0",
        DeviceDescription=f"Network Transceiver in {port.label}",
        FQDD=name,
        Id=name,
        IdentifierType="OSFP",
        InterfaceType="OpticalFiber",
        Name="DellNetworkTransceiver",
        PartNumber="MMS4X00-NS400",
        Revision="A5",
        SerialNumber=own("serial", name),
        VendorName="NVIDIA",
    )


def _network_port(adapter: Adapter, port: NetPort, place: str) -> Body:
    hca, dpu, up = adapter.kind is Kind.INFINIBAND, adapter.kind is Kind.DPU, port.speed_mbps > 0
    technology = "InfiniBand" if hca else "Ethernet"
    home = f"{place}/NetworkPorts"
    function = ref(f"{place}/NetworkDeviceFunctions/{port.function}")
    speed = None if hca else port.speed_mbps
    flow = "None" if adapter.kind is Kind.NIC else None
    capable = ["WakeOnLAN"] if adapter.kind is Kind.NIC else []
    return resource(
        f"{home}/{port.id}",
        "NetworkPort",
        "v1_4_1",
        ActiveLinkTechnology=technology,
        AssociatedNetworkAddresses=[own("mac", port.function)],
        CurrentLinkSpeedMbps=speed,
        Description="Network Port View",
        EEEEnabled=None,
        FlowControlConfiguration=flow,
        FlowControlStatus=flow,
        Id=adapter.id if dpu else port.id,
        LinkStatus=None if dpu else "Up" if up else "Down",
        Name="Network Port View",
        **listed("NetDevFuncMaxBWAlloc", [{"MaxBWAllocPercent": None, "NetworkDeviceFunction": function}]),
        **listed("NetDevFuncMinBWAlloc", [{"MinBWAllocPercent": None, "NetworkDeviceFunction": function}]),
        Oem=dell(DellNetworkTransceiver=_transceiver(port, home)) if hca else {},
        PhysicalPortNumber=adapter.slot if dpu else str(port.number),
        Status=UNKNOWN if dpu else OK,
        **listed("SupportedEthernetCapabilities", capable),
        **listed(
            "SupportedLinkCapabilities",
            [{"AutoSpeedNegotiation": None, "LinkNetworkTechnology": technology, "LinkSpeedMbps": speed}],
        ),
        VendorId=adapter.ids[0],
        WakeOnLANEnabled=False if adapter.kind is Kind.NIC else None,
    )


def _port(adapter: Adapter, port: NetPort, home: str) -> Body:
    """``Port`` of DSP2046; no capture of one by Dell is at hand, so it holds what the schema says and no more."""
    hca, dpu, up = adapter.kind is Kind.INFINIBAND, adapter.kind is Kind.DPU, port.speed_mbps > 0
    body = resource(
        f"{home}/{port.id}",
        "Port",
        "v1_6_0",
        CurrentSpeedGbps=None if dpu else port.speed_mbps / 1000,
        Description="Network Port View",
        Id=port.id,
        LinkNetworkTechnology="InfiniBand" if hca else "Ethernet",
        LinkStatus=None if dpu else "LinkUp" if up else "LinkDown",
        Name="Network Port View",
        PortId=str(port.number),
        PortProtocol="InfiniBand" if hca else "Ethernet",
        PortType="BidirectionalPort",
        Status=UNKNOWN if dpu else OK,
    )
    if hca:
        guid = own("guid", port.function)
        body["InfiniBand"] = {"AssociatedNodeGUIDs": [guid], "AssociatedPortGUIDs": [guid]}
    else:
        body["Ethernet"] = {"AssociatedMACAddresses": [own("mac", port.function)], "FlowControlStatus": None}
    return body
