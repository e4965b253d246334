"""What the other resources link to and nobody harvests: so that no link dangles that does not on a real one.

Installed last: it looks at what the others name. Small bodies, no more than their schemas demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Hardware
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, ENCLOSURE, MANAGER, OK, ROOT, SYSTEM, listed, resource
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Collection, Mixed, Tree, links_of

_COLLECTIONS = {
    f"{ROOT}/Fabrics": "FabricCollection",
    f"{ROOT}/JsonSchemas": "JsonSchemaFileCollection",
    f"{ROOT}/Registries": "MessageRegistryFileCollection",
    f"{ENCLOSURE}/PCIeDevices": "PCIeDeviceCollection",
    f"{SYSTEM}/Boot/Certificates": "CertificateCollection",
}
_SERVICES = (
    "BIOSService",
    "MetricService",
    "OSDeploymentService",
    "RaidService",
    "SoftwareInstallationService",
)


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Serve what is named but not served yet."""
    for path, kind in _COLLECTIONS.items():
        if path not in tree.entries:
            tree.collection(path, kind, [])
    _services(tree)
    _add(tree, f"{CHASSIS}/PCIeSlots", _slots(hardware))
    _add(tree, f"{MANAGER}/NetworkProtocol", _protocols())
    for gpu in hardware.gpus:
        for kind in ("PowerMetrics", "ThermalMetrics"):
            path = f"{SYSTEM}/Processors/{gpu.id}/Oem/Dell/{kind}"
            about = f"GPU {kind}"
            body = resource(path, f"Dell{kind}", "v1_0_0", Description=about, Id=gpu.id, Name=about)
            _add(tree, path, body)
    for number in range(1, len(hardware.psus) + 1):
        path = f"{CHASSIS}/Power/PowerSupplies/PSU.Slot.{number}/Assembly"
        _add(tree, path, _assembly(path))
    privileges = f"{MANAGER}/PrivilegeRegistry"
    said = {
        "Description": "Redfish BMC Privilege Registry",
        "Id": "PrivilegeRegistry",
        "Name": "Privilege Registry",
    }
    body = resource(privileges, "PrivilegeRegistry", "v1_1_4", **said, **listed("Mappings", []))
    _add(tree, privileges, body)
    for path in sorted(set(_named(tree))):
        if path.endswith("/Assembly"):
            _add(tree, path, _assembly(path))
        elif path.endswith("/Settings"):
            _add(tree, path, _settings(tree, path))


def _add(tree: Tree, path: str, body: Body) -> None:
    if path not in tree.entries:
        tree.fixed(path, body)


def _services(tree: Tree) -> None:
    oem = f"{SYSTEM}/Oem/Dell"
    for name in _SERVICES:
        path, kind = f"{oem}/Dell{name}", f"Dell{name}"
        _add(tree, path, resource(path, kind, "v1_0_0", Description=kind, Id=kind, Name=kind))
    for name in ("TimeService", "LicenseManagementService", "iDRACCardService"):
        path, kind = f"{MANAGER}/Oem/Dell/Dell{name}", f"Dell{name}"
        _add(tree, path, resource(path, kind, "v1_0_0", Description=kind, Id=kind, Name=kind))
    for name in (
        "BootSources",
        "Chassis",
        "GPUSensors",
        "NumericSensors",
        "PresenceAndStatusSensors",
        "Sensors",
    ):
        if f"{oem}/Dell{name}" not in tree.entries:
            tree.collection(f"{oem}/Dell{name}", f"Dell{name.removesuffix('s')}Collection", [], paged=True)
    for name in ("Slots", "Video"):
        if f"{oem}/Dell{name}" not in tree.entries:
            tree.collection(f"{oem}/Dell{name}", f"Dell{name.removesuffix('s')}Collection", [], paged=True)
    for name in ("CertificateService", "EventService", "TelemetryService"):
        path = f"{ROOT}/{name}"
        about = f"{name.removesuffix('Service')} Service"
        _add(tree, path, resource(path, name, "v1_0_0", Description=about, Id=name, Name=about))


def _named(tree: Tree) -> Iterator[str]:
    """Paths that fixed resources link to."""
    for entry in list(tree.entries.values()):
        if isinstance(entry, Collection):
            continue
        fixed = entry.fixed if isinstance(entry, Mixed) else entry
        yield from links_of(fixed)


def _assembly(path: str) -> Body:
    return resource(
        path,
        "Assembly",
        "v1_3_0",
        **listed("Assemblies", []),
        Description="Represents the properties of Assembly for the device",
        Id="Assembly",
        Name=f"{path.split('/')[-2]}#FRU",
    )


def _settings(tree: Tree, path: str) -> Body:
    """The settings resource of something: of its type, with nothing pending."""
    of = path.removesuffix("/Settings").replace(f"{SYSTEM}/NetworkAdapters", f"{CHASSIS}/NetworkAdapters")
    kind = tree.type_of(of) or "#Settings.v1_3_3.Settings"
    name = kind.rpartition(".")[2]
    return {
        "@odata.context": f"{ROOT}/$metadata#{name}.{name}",
        "@odata.id": path,
        "@odata.type": kind,
        "Description": f"{name} settings",
        "Id": "Settings",
        "Name": f"{name} Settings",
    }


def _slots(hardware: Hardware) -> Body:
    slots: list[dict[str, Any]] = []
    for adapter in hardware.adapters:
        if ".Slot." in adapter.id:
            where = {"LocationOrdinalValue": int(adapter.slot), "LocationType": "Slot"}
            slots.append(
                {
                    "HotPluggable": False,
                    "Lanes": 16,
                    "Location": {"PartLocation": where},
                    "PCIeType": "Gen5",
                    "SlotType": "FullLength",
                    "Status": {"State": "Enabled", "Health": "OK"},
                }
            )
    path = f"{CHASSIS}/PCIeSlots"
    about = "PCIe Slot Information"
    return resource(
        path, "PCIeSlots", "v1_4_1", Description=about, Id="PCIeSlots", Name=about, **listed("Slots", slots)
    )


def _protocols() -> Body:
    ports = {"HTTP": 80, "HTTPS": 443, "KVMIP": 5900, "SNMP": 161, "SSH": 22}
    return resource(
        f"{MANAGER}/NetworkProtocol",
        "ManagerNetworkProtocol",
        "v1_7_0",
        Description="Manager Network Service Status",
        FQDN="",
        HostName=f"idrac-{own('tag')}",
        IPMI={"ProtocolEnabled": True},
        Id="NetworkProtocol",
        NTP={**listed("NTPServers", []), "ProtocolEnabled": False},
        Name="Manager Network Protocol",
        Status=OK,
        VirtualMedia={"ProtocolEnabled": True},
        **{name: {"Port": port, "ProtocolEnabled": True} for name, port in ports.items()},
    )
