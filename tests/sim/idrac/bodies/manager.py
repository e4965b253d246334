"""The BMC itself: manager, its network interface, its USB network card to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.hardware import Hardware
from tests.sim.idrac.messages import refused
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, INVENTORIED, MANAGER, ROOT, SYSTEM, linked, listed, ref, resource
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

RESTART_S = 240.0
"""How long nobody answers while an iDRAC restarts."""


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Managers, the manager and its interfaces."""
    tree.collection(f"{ROOT}/Managers", "ManagerCollection", [MANAGER], name="Manager", about="BMC")
    tree.mixed(MANAGER, _manager(profile), _live)
    tree.on("POST", f"{MANAGER}/Actions/Manager.Reset", _reset)
    interface = f"{MANAGER}/EthernetInterfaces/NIC.1"
    tree.collection(
        f"{MANAGER}/EthernetInterfaces",
        "EthernetInterfaceCollection",
        [interface],
        name="Ethernet Network Interface Collection",
        about="Collection of EthernetInterfaces for this Manager",
    )
    tree.fixed(interface, _interface(interface))
    host = f"{MANAGER}/HostInterfaces/Host.1"
    tree.collection(
        f"{MANAGER}/HostInterfaces",
        "HostInterfaceCollection",
        [host],
        name="Host Interface Collection",
        about="Collection of Host Interfaces for this System",
    )
    tree.fixed(host, _host_interface(host, interface))


def _live(bmc: SimBmc) -> Body:
    now = bmc.time().replace(microsecond=0)
    return {
        "DateTime": now.isoformat(),
        "DateTimeLocalOffset": now.strftime("%z")[:3] + ":00",
        "PowerState": "On",
    }


def _reset(call: Call) -> Answer:
    kind = call.body.get("ResetType")
    if kind not in ("GracefulRestart", "ForceRestart"):
        raise refused(call.bmc.profile, "SYS426", str(kind), "ResetType")
    call.bmc.readiness.restart(RESTART_S)
    return Answer(204)


def _manager(profile: Profile) -> Body:
    traits = profile.value
    oem = f"{MANAGER}/Oem/Dell"
    services = ("JobService", "LCService", "TimeService", "LicenseManagementService", "iDRACCardService")
    attributes = ("iDRAC.Embedded.1",)
    image = f"{ROOT}/UpdateService/FirmwareInventory/Installed-25227-{traits.firmware}__iDRAC.Embedded.1-1"
    links = {
        "ActiveSoftwareImage": ref(image),
        **linked("ManagerForChassis", [CHASSIS]),
        **linked("ManagerForServers", [SYSTEM]),
        "ManagerInChassis": ref(CHASSIS),
        "Oem": {
            "Dell": {
                "@odata.type": "#DellOem.v1_3_0.DellOemLinks",
                **linked("DellAttributes", (f"{oem}/DellAttributes/{name}" for name in attributes)),
                **{f"Dell{name}": ref(f"{oem}/Dell{name}") for name in services},
                "DellSwitchConnectionCollection": ref(
                    f"{SYSTEM}/NetworkPorts/Oem/Dell/DellSwitchConnections"
                ),
                "Jobs": ref(f"{oem}/Jobs"),
            }
        },
        **linked("SoftwareImages", [image]),
    }
    reset = {
        "ResetType@Redfish.AllowableValues": ["GracefulRestart"],
        "target": f"{MANAGER}/Actions/Manager.Reset",
    }
    return resource(
        MANAGER,
        "Manager",
        "v1_12_0" if profile is Profile.IDRAC9_6 else "v1_18_0",
        Actions={"#Manager.Reset": reset, "Oem": _oem_actions()},
        CommandShell=_console("SSH", "IPMI", sessions=5),
        Description="BMC",
        EthernetInterfaces=ref(f"{MANAGER}/EthernetInterfaces"),
        FirmwareVersion=traits.firmware,
        GraphicalConsole=_console("KVMIP", sessions=6),
        HostInterfaces=ref(f"{MANAGER}/HostInterfaces"),
        Id="iDRAC.Embedded.1",
        LastResetTime=INVENTORIED,
        Links=links,
        LogServices=ref(f"{MANAGER}/LogServices"),
        ManagerType="BMC",
        Model=traits.model,
        Name="Manager",
        NetworkProtocol=ref(f"{MANAGER}/NetworkProtocol"),
        Oem={"Dell": {"@odata.type": "#DellManager.v1_2_0.DellManager", "DelliDRACCard": _card()}},
        **listed("Redundancy", []),
        SerialConsole=_console(sessions=0),
        Status={"Health": "OK", "State": "Enabled"},
        TimeZoneName="UTC",
        UUID=own("platform_guid"),
        **({"VirtualMedia": ref(f"{MANAGER}/VirtualMedia")} if traits.generation < 10 else {}),
    )


def _oem_actions() -> Body:
    target = f"{MANAGER}/Actions/Oem/EID_674_Manager.ImportSystemConfiguration"
    shares = {
        "ShareType@Redfish.AllowableValues": ["LOCAL"],
        "Target@Redfish.AllowableValues": ["ALL", "IDRAC"],
    }
    return {
        "#OemManager.v1_4_0.OemManager#OemManager.ImportSystemConfiguration": {
            "ShareParameters": shares,
            "target": target,
        }
    }


def _console(*kinds: str, sessions: int) -> Body:
    return {
        **listed("ConnectTypesSupported", kinds),
        "MaxConcurrentSessions": sessions,
        "ServiceEnabled": sessions > 0,
    }


def _card() -> Body:
    name = "iDRAC.Embedded.1-1_0x23_IDRACinfo"
    return resource(
        f"{MANAGER}/Oem/Dell/DelliDRACCard/{name}",
        "DelliDRACCard",
        "v1_1_0",
        Description="An instance of DelliDRACCard will have data specific to the iDRAC in the managed system.",
        IPMIVersion="2.0",
        Id=name,
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        Name="DelliDRACCard",
        URLString=f"https://{own('address')}:443",
    )


def _interface(path: str) -> Body:
    # Fifteen addresses that are none and one that is link-local: so a capture has it.
    unset = {"Address": "::", "AddressOrigin": None, "AddressState": None, "PrefixLength": 64}
    local = {
        "Address": "fe80::1",
        "AddressOrigin": "LinkLocal",
        "AddressState": "Preferred",
        "PrefixLength": 64,
    }
    address = {
        "Address": own("address"),
        "AddressOrigin": "DHCP",
        "Gateway": "127.0.0.1",
        "SubnetMask": "255.0.0.0",
    }
    return resource(
        path,
        "EthernetInterface",
        "v1_6_4",
        AutoNeg=True,
        Description="Management Network Interface",
        EthernetInterfaceType="Physical",
        FQDN="",
        FullDuplex=True,
        HostName=f"idrac-{own('tag')}",
        **listed("IPv4Addresses", [address]),
        **listed("IPv6AddressPolicyTable", []),
        **listed("IPv6Addresses", [*[unset] * 15, local]),
        IPv6DefaultGateway="::",
        **listed("IPv6StaticAddresses", [{"Address": "::", "PrefixLength": 64}]),
        Id="NIC.1",
        InterfaceEnabled=True,
        Links={"Chassis": ref(CHASSIS)},
        MACAddress=own("bmc_mac"),
        MTUSize=1500,
        MaxIPv6StaticAddresses=1,
        Name="Manager Ethernet Interface",
        **listed("NameServers", ["0.0.0.0", "0.0.0.0", "::", "::"]),  # noqa: S104  values, nothing is bound
        PermanentMACAddress=own("bmc_mac"),
        SpeedMbps=1000,
        Status={"Health": "OK", "State": "Enabled"},
        VLAN={"VLANEnable": False, "VLANId": 1},
    )


def _host_interface(path: str, interface: str) -> Body:
    return resource(
        path,
        "HostInterface",
        "v1_3_0",
        Description="Management for Host Interface",
        ExternallyAccessible=False,
        HostEthernetInterfaces=ref(f"{SYSTEM}/EthernetInterfaces"),
        HostInterfaceType="NetworkHostInterface",
        Id="Host.1",
        InterfaceEnabled=False,
        ManagerEthernetInterface=ref(interface),
        Name="Managed Host Interface 1",
    )
