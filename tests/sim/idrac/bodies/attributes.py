"""Attributes of network cards, as Dell keeps them beside the standard resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Adapter, Hardware, Kind, NetPort
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, resource, settings_at
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

if TYPE_CHECKING:
    pass

_SPEEDS = {400_000: "400Gbps", 25_000: "25Gbps", 1000: "1000Mbps"}


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Attributes of every card."""
    for adapter in hardware.adapters:
        for port in adapter.ports:
            home = f"{CHASSIS}/NetworkAdapters/{adapter.id}/NetworkDeviceFunctions/{port.function}"
            path = f"{home}/Oem/Dell/DellNetworkAttributes/{port.function}"
            tree.fixed(path, _of_port(adapter, port, path))
            tree.fixed(f"{path}/Settings", _pending(f"{path}/Settings", port.function))


def _of_port(adapter: Adapter, port: NetPort, path: str) -> Body:
    """An HCA's says Disconnected though its port says Up: a capture has that contradiction."""
    hca = adapter.kind is Kind.INFINIBAND
    connected = port.speed_mbps > 0 and not hca
    bus = f"{adapter.bus:02X}:00:0{port.number - 1}"
    can = dict.fromkeys(("PXEBootSupport", "SRIOVSupport", "DCBXSupport", "OnChipThermalSensor"), "Available")
    cannot = dict.fromkeys(("FCoEBootSupport", "TOESupport", "NicPartitioningSupport"), "Unavailable")
    body = resource(
        path,
        "DellAttributes",
        "v1_0_0",
        AttributeRegistry=f"NetworkAttributeRegistry_{port.function}",
        Attributes={
            "DeviceName": "Mellanox Network Adapter" if adapter.kind is not Kind.NIC else adapter.model,
            "ChipMdl": adapter.model,
            "PCIDeviceID": adapter.ids[1].upper(),
            "BusDeviceFunction": bus,
            "MacAddr": own("mac", port.function),
            "VirtMacAddr": "00:00:00:00:00:00",
            **can,
            **cannot,
            "FamilyVersion": adapter.firmware,
            "EFIVersion": adapter.efi,
            "LinkStatus": "Connected" if connected else "Disconnected",
            "LnkSpeed": _SPEEDS.get(port.speed_mbps, "Unknown") if connected else "AutoNeg",
            "LegacyBootProto": "PXE" if adapter.kind is not Kind.INFINIBAND else "NONE",
            "VirtualizationMode": "SRIOV" if hca else "None",
        },
        Description="DellNetworkAttributes represents the Network device attribute details.",
        Id=port.function,
        Name="DellNetworkAttributes",
    )
    times = ("Immediate", "AtMaintenanceWindowStart", "OnReset", "InMaintenanceWindowOnReset")
    return {"@Redfish.Settings": settings_at(f"{path}/Settings", *times), **body}


def _pending(path: str, function: str) -> Body:
    return resource(
        path,
        "DellAttributes",
        "v1_0_0",
        AttributeRegistry=f"NetworkAttributeRegistry_{function}",
        Attributes={},
        Description="This schema provides settings of the oem attributes",
        Id=function,
        Name="DellNetworkAttributes",
    )
