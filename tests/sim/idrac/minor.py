"""Smaller services and Dell's own resources: they are linked from everywhere, and clients that crawl meet them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.hardware import XE9680
from tests.sim.idrac.messages import Text, known, refused
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import ENCLOSURE, listed, ref, resource
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import CHASSIS, MANAGER, OEM, ROOT, SYSTEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SWITCHES = f"{SYSTEM}/NetworkPorts/Oem/Dell/DellSwitchConnections"
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


known(
    "ServiceDisabled",
    Text(
        "The operation failed because the service at {0} is disabled and cannot accept requests.",
        "Enable the service and resubmit the request if the operation failed.",
        status=503,
        base=True,
    ),
)


def _subscribe(call: Call) -> Answer:
    """What is wrong with a subscription is said; there are none to be had, events are off."""
    profile = call.bmc.profile
    for name in ("Destination", "Protocol"):
        if name not in call.body:
            raise refused(profile, "PropertyMissing", name)
    if call.body["Protocol"] != "Redfish":
        raise refused(profile, "PropertyValueNotInList", str(call.body["Protocol"]), "Protocol")
    if not str(call.body["Destination"]).startswith(("http://", "https://")):
        raise refused(profile, "PropertyValueFormatError", str(call.body["Destination"]), "Destination")
    raise refused(profile, "ServiceDisabled", call.path.rpartition("/")[0])


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
    tree.on("POST", f"{events}/Subscriptions", _subscribe)
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


def install(tree: Tree, profile: Profile) -> None:
    """All of them."""
    _root_services(tree)
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
    tree.family(rf"{SYSTEM}/Storage/.+/Oem/Dell/DellNVMeSMARTAttributes", _license_needed)
    tree.family(rf"{ROOT}/AccountService/ExternalAccountProviders", _license_needed)
    for name in ("Thermal", "Power"):
        tree.live(f"{ENCLOSURE}/{name}", _enclosure_busy)
    tree.family(rf"(?P<part>{ROOT}/(Chassis|Systems)/.+)/Assembly", _assembly)
    firmware = f"{ROOT}/UpdateService/FirmwareInventory"
    tree.family(rf"{firmware}/(?P<id>[^/]+)/Oem/Dell/DellSoftwareInventory/(?P<dell>[^/]+)", _dell_software)
