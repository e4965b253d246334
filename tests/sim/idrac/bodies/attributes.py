"""Attributes of network cards and of the BMC itself, as Dell keeps them beside the standard resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.hardware import Adapter, Hardware, Kind, NetPort
from tests.sim.idrac.messages import refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.sessions import Sessions
from tests.sim.idrac.shapes import CHASSIS, MANAGER, resource, settings_at
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

HOME = f"{MANAGER}/Oem/Dell/DellAttributes"
IDRAC = f"{HOME}/iDRAC.Embedded.1"
_SPEEDS = {400_000: "400Gbps", 25_000: "25Gbps", 1000: "1000Mbps"}


class BmcAttributes:
    """What may be set about a BMC. ``NIC.1.Selection``: Dedicated, or LOM1…: it shares that port with the host."""

    def __init__(self, bmc: SimBmc) -> None:
        self.values: dict[str, Any] = {
            "IPv4.1.Address": bmc.address,
            "Info.1.Name": "iDRAC",
            "Info.1.Version": bmc.profile.value.firmware,
            "NIC.1.DNSRacName": f"idrac-{bmc.service_tag}",
            "NIC.1.Selection": "Dedicated",
            "NIC.1.SwitchConnection": "No Link",
            "NIC.1.SwitchPortConnection": "No Link",
            "NTPConfigGroup.1.NTP1": "",
            "NTPConfigGroup.1.NTPEnable": "Disabled",
            "OS-BMC.1.AdminState": "Disabled",
            "OS-BMC.1.UsbNicIpAddress": "169.254.1.1",
            "SecureDefaultPassword.1.ForceChangePassword": "False",
            "Time.1.Timezone": "UTC",
            "WebServer.1.Enable": "Enabled",
        }


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Attributes of every card, and of the BMC."""
    for adapter in hardware.adapters:
        for port in adapter.ports:
            home = f"{CHASSIS}/NetworkAdapters/{adapter.id}/NetworkDeviceFunctions/{port.function}"
            path = f"{home}/Oem/Dell/DellNetworkAttributes/{port.function}"
            tree.fixed(path, _of_port(adapter, port, path))
            tree.fixed(f"{path}/Settings", _pending(f"{path}/Settings", port.function))
    tree.live(IDRAC, _of_bmc)
    tree.on("PATCH", IDRAC, _patch)
    tree.collection(HOME, "DellAttributesCollection", [IDRAC], paged=True)


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


def _web(bmc: SimBmc) -> Body:
    sessions = bmc.part(Sessions)
    return {
        "WebServer.1.HostHeaderCheck": "Enabled" if bmc.readiness.host_header_check else "Disabled",
        "WebServer.1.MaxNumberOfSessions": sessions.limit,
        "WebServer.1.Timeout": int(sessions.timeout_s),
    }


def _of_bmc(bmc: SimBmc) -> Body:
    values = {**bmc.part(BmcAttributes).values, **_web(bmc), "NIC.1.MACAddress": bmc.identity["bmc_mac"]}
    return resource(
        IDRAC,
        "DellAttributes",
        "v1_0_0",
        AttributeRegistry="ManagerAttributeRegistry.v1_0_0",
        Attributes=dict(sorted(values.items())),
        Description="This schema provides the oem attributes",
        Id="iDRACAttributes",
        Name="OEMAttributeRegistry",
    )


def _patch(call: Call) -> Answer:
    bmc = call.bmc
    wanted = call.body.get("Attributes")
    if not isinstance(wanted, dict):
        raise refused(bmc.profile, "PropertyMissing", "Attributes")
    known = bmc.part(BmcAttributes).values
    for name, value in wanted.items():
        if name == "WebServer.1.HostHeaderCheck" and value in ("Enabled", "Disabled"):
            bmc.readiness.host_header_check = value == "Enabled"
        elif name == "WebServer.1.Timeout" and isinstance(value, int):
            bmc.part(Sessions).timeout_s = float(value)
        elif name in known and isinstance(value, type(known[name])):
            known[name] = value
        else:
            raise refused(bmc.profile, "SYS428", name)
    return success(bmc.profile)
