"""Services of the BMC itself: Dell's attributes, network protocols and NTP, its clock."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.messages import message, refused, success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.sessions import Sessions
from tests.sim.idrac.shapes import listed, resource
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import MANAGER, OEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

ATTRIBUTES = f"{OEM}/DellAttributes"
TIME = f"{OEM}/DellTimeService"
MANAGE_TIME = f"{TIME}/Actions/DellTimeService.ManageTime"
PROTOCOL = f"{MANAGER}/NetworkProtocol"
_SERVICE_STATUS = {"Health": "OK", "State": "Enabled"}


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
    return _attributes_body(bmc, match["group"])


def _attributes_body(bmc: SimBmc, group: str) -> Body | None:
    values = bmc.part(ManagerAttributes).groups.get(group)
    if values is None:
        return None
    path = f"{ATTRIBUTES}/{group}"
    return resource(
        path,
        "DellAttributes",
        "v1_0_0",
        AttributeRegistry="ManagerAttributeRegistry.v1_0_0",
        Attributes=dict(values),
        Description="This schema provides the oem attributes",
        Id=group.partition(".")[0] + "Attributes",
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


def install(tree: Tree, _profile: Profile) -> None:
    """Attributes, network protocol, clock, services without content."""
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
    tree.family(rf"{ATTRIBUTES}/(?P<group>[^/]+)", _attributes)
    tree.family(rf"{MANAGER}/Attributes", lambda bmc, _match: _attributes_body(bmc, "iDRAC.Embedded.1"))
    tree.on_pattern("PATCH", rf"{ATTRIBUTES}/(?P<group>[^/]+?)(/Settings)?", _set_attributes)
