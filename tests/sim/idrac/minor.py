"""Smaller services and Dell's own resources: they are linked from everywhere, and clients that crawl meet them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.hardware import XE9680
from tests.sim.idrac.messages import message, refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.sessions import Sessions
from tests.sim.idrac.shapes import ENCLOSURE, listed, ref, resource
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import CHASSIS, MANAGER, OEM, ROOT, SYSTEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SWITCHES = f"{SYSTEM}/NetworkPorts/Oem/Dell/DellSwitchConnections"
PROTOCOL = f"{MANAGER}/NetworkProtocol"
ATTRIBUTES = f"{OEM}/DellAttributes"
TIME = f"{OEM}/DellTimeService"
MANAGE_TIME = f"{TIME}/Actions/DellTimeService.ManageTime"
_SERVICE_STATUS = {"Health": "OK", "State": "Enabled"}


class SwitchPorts:
    """To which switch port each network port is wired, as LLDP says: FQDD -> (chassis id, port id)."""

    def __init__(self, bmc: SimBmc) -> None:
        number = int(bmc.address.rpartition(".")[2])
        self.ports: dict[str, tuple[str, str]] = {"iDRAC.Embedded.1": ("b0:4f:13:31:dc:40", f"swp{number}")}
        for adapter in XE9680.adapters:
            if adapter.id.startswith("InfiniBand"):
                continue  # LLDP is of Ethernet: there are no entries for these
            for port in adapter.ports:
                wired = ("b0:4f:13:22:a1:00", f"swp{number}s{port.number - 1}")
                self.ports[port.function] = wired if port.speed_mbps else ("No Link", "No Link")


def _switch_connection(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    wired = bmc.part(SwitchPorts).ports.get(match["fqdd"])
    if wired is None:
        return None
    return resource(
        f"{SWITCHES}/{match['fqdd']}",
        "DellSwitchConnection",
        "v1_1_0",
        Description="An instance of DellSwitchConnection will have the switch connection view information of all the "
        "ports.",
        FQDD=match["fqdd"],
        Id=match["fqdd"],
        InstanceID=match["fqdd"],
        Name="DellSwitchConnection",
        StaleData="NotStale",
        SwitchConnectionID=wired[0],
        SwitchPortConnectionID=wired[1],
    )


class ManagerAttributes:
    """Dell's attributes of the BMC, the system and the Lifecycle Controller."""

    def __init__(self, bmc: SimBmc) -> None:
        sessions = bmc.part(Sessions)
        self.groups: dict[str, dict[str, Any]] = {
            "iDRAC.Embedded.1": {
                "CurrentNIC.1.MACAddress": bmc.identity["bmc_mac"],
                "Info.1.Version": bmc.profile.value.firmware,
                "NIC.1.Selection": "Dedicated",
                "NTPConfigGroup.1.NTP1": "",
                "NTPConfigGroup.1.NTPEnable": "Disabled",
                "SecureDefaultPassword.1.ForceChangePassword": str(sessions.change_required),
                "ServerBoot.1.BootOnce": "Enabled",
                "ServerBoot.1.FirstBootDevice": "Normal",
                "Time.1.Timezone": "UTC",
                "VirtualMedia.1.Attached": "AutoAttach",
                "WebServer.1.HostHeaderCheck": "Enabled",
                "WebServer.1.MaxNumberOfSessions": sessions.limit,
                "WebServer.1.Timeout": int(sessions.timeout_s),
            },
            "System.Embedded.1": {
                "ServerOS.1.HostName": "",
                "ServerPwr.1.PSRapidOn": "Disabled",
                "ThermalSettings.1.ThermalProfile": "Default Thermal Profile Settings",
            },
            "LifecycleController.Embedded.1": {
                "LCAttributes.1.CollectSystemInventoryOnRestart": "Enabled",
                "LCAttributes.1.LifecycleControllerState": "Enabled",
            },
        }


def _attributes(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    values = bmc.part(ManagerAttributes).groups.get(match["group"])
    if values is None:
        return None
    path = f"{ATTRIBUTES}/{match['group']}"
    return resource(
        path,
        "DellAttributes",
        "v1_0_0",
        AttributeRegistry="ManagerAttributeRegistry.v1_0_0",
        Attributes=dict(values),
        Description="This schema provides the oem attributes",
        Id=match["group"].partition(".")[0] + "Attributes",
        Name="OEMAttributeRegistry",
    )


def _set_attributes(call: Call) -> Answer:
    values = call.bmc.part(ManagerAttributes).groups.get(call.part("group"))
    wanted = call.body.get("Attributes")
    if values is None:
        raise refused(call.bmc.profile, "SYS403", call.path)
    if not isinstance(wanted, dict):
        raise refused(call.bmc.profile, "PropertyMissing", "Attributes")
    for name in wanted:
        if name not in values:
            raise refused(call.bmc.profile, "SYS409", name)
    values.update(wanted)
    return success(call.bmc.profile)


def _manage_time(call: Call) -> Answer:
    """Read or set the clock of the BMC."""
    bmc = call.bmc
    if call.body.get("GetRequest") is True:
        said = [message(bmc.profile, "Success")]
        now = bmc.time().replace(microsecond=0).isoformat()
        return Answer(200, {"@Message.ExtendedInfo": said, "TimeData": now})
    set_clock(bmc, call.body.get("TimeData"))
    return success(bmc.profile)


def set_clock(bmc: SimBmc, text: Any) -> None:
    """Set the BMC's clock to a written time.

    :raises RefusedError: it is none.
    """
    try:
        wanted = datetime.fromisoformat(str(text))
    except ValueError:
        raise refused(bmc.profile, "PropertyValueFormatError", str(text), "DateTime") from None
    if wanted.tzinfo is None:
        wanted = wanted.replace(tzinfo=bmc.started.tzinfo)
    bmc.clock_skew_s += (wanted - bmc.time()).total_seconds()


def _manager_patch(call: Call) -> Answer:
    for name in call.body:
        if name not in ("DateTime", "DateTimeLocalOffset"):
            raise refused(call.bmc.profile, "PropertyUnknown", name)
    if "DateTime" in call.body:
        set_clock(call.bmc, call.body["DateTime"])
    return success(call.bmc.profile)


class TimeServers:
    """NTP of one BMC."""

    def __init__(self, _bmc: SimBmc) -> None:
        self.servers: list[str] = ["", "", ""]
        self.enabled = False

    def change(self, wanted: list[Any]) -> None:
        """PATCH of an array (DSP0266): null takes an element out, {} leaves it, what is not given goes."""
        paired = zip(wanted, [*self.servers, *[""] * len(wanted)], strict=False)
        self.servers = [old if new == {} else str(new) for new, old in paired if new is not None]


def _protocol(bmc: SimBmc) -> Body:
    ntp = bmc.part(TimeServers)
    return resource(
        PROTOCOL,
        "ManagerNetworkProtocol",
        "v1_5_0",
        Description="Manager Network Service Status",
        FQDN="",
        HTTP={"Port": 80, "ProtocolEnabled": False},
        HTTPS={"Port": 443, "ProtocolEnabled": True},
        HostName="",
        IPMI={"Port": 623, "ProtocolEnabled": False},
        Id="NetworkProtocol",
        NTP={**listed("NTPServers", ntp.servers), "ProtocolEnabled": ntp.enabled},
        Name="Manager Network Protocol",
        SNMP={"Port": 161, "ProtocolEnabled": False},
        SSH={"Port": 22, "ProtocolEnabled": True},
        Status=_SERVICE_STATUS,
        VirtualMedia={"Port": 5900, "ProtocolEnabled": True},
    )


def _protocol_patch(call: Call) -> Answer:
    ntp, wanted = call.bmc.part(TimeServers), call.body.get("NTP")
    if set(call.body) != {"NTP"} or not isinstance(wanted, dict):
        raise refused(call.bmc.profile, "PropertyUnknown", next(iter(call.body), "NTP"))
    servers, enabled = wanted.get("NTPServers"), wanted.get("ProtocolEnabled", ntp.enabled)
    if (servers is not None and not isinstance(servers, list)) or not isinstance(enabled, bool):
        raise refused(call.bmc.profile, "PropertyValueNotInList", str(wanted), "NTP")
    if servers is not None:
        ntp.change(servers)
    ntp.enabled = enabled
    return success(call.bmc.profile)


def _license_needed(bmc: SimBmc, _match: re.Match[str]) -> Body | None:
    raise refused(bmc.profile, "LIC501")


def _enclosure_busy(bmc: SimBmc) -> Body | None:
    """Sub-chassis answer 503 for what they have not (check_redfish#14)."""
    raise refused(bmc.profile, "SYS518")


def _assembly(_bmc: SimBmc, match: re.Match[str]) -> Body | None:
    path = f"{match['part']}/Assembly"
    return resource(
        path,
        "Assembly",
        "v1_3_0",
        **listed("Assemblies", []),
        Description="Represents the assembly of a part",
        Id="Assembly",
        Name="Assembly",
    )


def _dell_software(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    from tests.sim.idrac.firmware import dell_software

    return dell_software(bmc, match["id"], match["dell"])


def _root_services(tree: Tree) -> None:
    events = f"{ROOT}/EventService"
    tree.fixed(
        events,
        resource(
            events,
            "EventService",
            "v1_7_0",
            DeliveryRetryAttempts=3,
            DeliveryRetryIntervalSeconds=5,
            Description="Event Service represents the properties for the service",
            Id="EventService",
            Name="Event Service",
            ServiceEnabled=False,
            Status=_SERVICE_STATUS,
            Subscriptions=ref(f"{events}/Subscriptions"),
        ),
    )
    tree.collection(f"{events}/Subscriptions", "EventDestinationCollection", [])
    certificates = f"{ROOT}/CertificateService"
    tree.fixed(
        certificates,
        resource(
            certificates,
            "CertificateService",
            "v1_0_0",
            Description="Certificate Service",
            Id="CertificateService",
            Name="Certificate Service",
        ),
    )
    telemetry = f"{ROOT}/TelemetryService"
    tree.fixed(
        telemetry,
        resource(
            telemetry,
            "TelemetryService",
            "v1_2_0",
            Description="Telemetry Service",
            Id="TelemetryService",
            Name="Telemetry Service",
            ServiceEnabled=False,
            Status=_SERVICE_STATUS,
        ),
    )
    tree.collection(f"{ROOT}/Fabrics", "FabricCollection", [])
    tree.collection(f"{ROOT}/JsonSchemas", "JsonSchemaFileCollection", [])


def _manager_services(tree: Tree) -> None:
    tree.live(PROTOCOL, _protocol)
    tree.on("PATCH", PROTOCOL, _protocol_patch)
    named = {
        "DellTimeService": {"#DellTimeService.ManageTime": {"target": MANAGE_TIME}},
        "DellLicenseManagementService": {},
        "DelliDRACCardService": {},
    }
    for name, actions in named.items():
        path = f"{OEM}/{name}"
        body = resource(path, name, "v1_0_1", Actions=actions, Description=name, Id=name, Name=name)
        tree.fixed(path, body)
    tree.on("POST", MANAGE_TIME, _manage_time)
    tree.on("PATCH", MANAGER, _manager_patch)
    privileges = f"{MANAGER}/PrivilegeRegistry"
    tree.fixed(
        privileges,
        resource(
            privileges,
            "PrivilegeRegistry",
            "v1_1_4",
            Description="The Privilege Registry",
            Id="PrivilegeRegistry",
            **listed("Mappings", []),
            Name="PrivilegeRegistry",
            **listed("OEMPrivilegesUsed", []),
            **listed(
                "PrivilegesUsed", ["Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents"]
            ),
        ),
    )


def install(tree: Tree, profile: Profile) -> None:
    """All of them."""
    _root_services(tree)
    _manager_services(tree)
    if profile.value.generation < 10:
        # iDRAC9 still answers at the places of its first firmware; iDRAC10 does not (badfish 1.8 probes both).
        tree.aliases |= {
            f"{SYSTEM}/NetworkAdapters": f"{CHASSIS}/NetworkAdapters",
            f"{SYSTEM}/BootSources": f"{SYSTEM}/Oem/Dell/DellBootSources",
            f"{MANAGER}/Jobs": f"{OEM}/Jobs",
            f"{ROOT}/Dell/Managers/iDRAC.Embedded.1": OEM,
        }
    tree.collection(
        SWITCHES,
        "DellSwitchConnectionCollection",
        lambda bmc: [f"{SWITCHES}/{fqdd}" for fqdd in bmc.part(SwitchPorts).ports],
        name="DellSwitchConnectionCollection",
        about="A collection of DellSwitchConnection resource",
        paged=True,
        inline=True,
    )
    tree.family(rf"{SWITCHES}/(?P<fqdd>[^/]+)", _switch_connection)
    tree.family(rf"{ATTRIBUTES}/(?P<group>[^/]+)", _attributes)
    tree.family(rf"{MANAGER}/Attributes(?P<group>)", lambda bmc, _match: _attributes_of_idrac(bmc))
    tree.on_pattern("PATCH", rf"{ATTRIBUTES}/(?P<group>[^/]+)(/Settings)?", _set_attributes)
    tree.family(rf"{SYSTEM}/Storage/.+/Oem/Dell/DellNVMeSMARTAttributes", _license_needed)
    tree.family(rf"{ROOT}/AccountService/ExternalAccountProviders", _license_needed)
    for name in ("Thermal", "Power"):
        tree.live(f"{ENCLOSURE}/{name}", _enclosure_busy)
    tree.family(rf"(?P<part>{ROOT}/(Chassis|Systems)/.+)/Assembly", _assembly)
    firmware = f"{ROOT}/UpdateService/FirmwareInventory"
    tree.family(rf"{firmware}/(?P<id>[^/]+)/Oem/Dell/DellSoftwareInventory/(?P<dell>[^/]+)", _dell_software)


_IDRAC = re.compile(r"(?P<group>iDRAC\.Embedded\.1)")


def _attributes_of_idrac(bmc: SimBmc) -> Body | None:
    match = _IDRAC.fullmatch("iDRAC.Embedded.1")
    return _attributes(bmc, match) if match else None
