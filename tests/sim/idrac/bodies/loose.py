"""What the other resources link to and nobody harvests: so that no link dangles that does not on a real one.

Installed last: it looks at what the others name. Small bodies, no more than their schemas demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Hardware
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, ENCLOSURE, ROOT, SYSTEM, listed, resource
from tests.sim.idrac.tree import Collection, Mixed, Tree, links_of

_COLLECTIONS = {
    f"{ENCLOSURE}/PCIeDevices": "PCIeDeviceCollection",
    f"{SYSTEM}/Boot/Certificates": "CertificateCollection",
}
_DELL_COLLECTIONS = (
    *("BootSources", "Chassis", "GPUSensors", "NumericSensors", "PresenceAndStatusSensors", "Sensors"),
    *("Slots", "Video"),
)
_DELL_SERVICES = (
    *("BIOSService", "MetricService", "OSDeploymentService", "RaidService", "SoftwareInstallationService"),
)


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Serve what is named but not served yet."""
    for path, kind in _COLLECTIONS.items():
        if path not in tree.entries:
            tree.collection(path, kind, [])
    oem = f"{SYSTEM}/Oem/Dell"
    for name in _DELL_COLLECTIONS:
        if f"{oem}/Dell{name}" not in tree.entries:
            tree.collection(f"{oem}/Dell{name}", f"Dell{name.removesuffix('s')}Collection", [], paged=True)
    for name in _DELL_SERVICES:
        kind = f"Dell{name}"
        body = resource(f"{oem}/{kind}", kind, "v1_0_0", Description=kind, Id=kind, Name=kind)
        _add(tree, f"{oem}/{kind}", body)
    _add(tree, f"{CHASSIS}/PCIeSlots", _slots(hardware))
    for gpu in hardware.gpus:
        for kind in ("PowerMetrics", "ThermalMetrics"):
            path = f"{SYSTEM}/Processors/{gpu.id}/Oem/Dell/{kind}"
            about = f"GPU {kind}"
            body = resource(path, f"Dell{kind}", "v1_0_0", Description=about, Id=gpu.id, Name=about)
            _add(tree, path, body)
    for path in sorted(set(_named(tree))):
        if path.endswith("/Settings"):
            _add(tree, path, _settings(tree, path))


def _add(tree: Tree, path: str, body: Body) -> None:
    if path not in tree.entries and not any(pattern.fullmatch(path) for pattern, _ in tree.families):
        tree.fixed(path, body)


def _named(tree: Tree) -> Iterator[str]:
    """Paths that fixed resources link to."""
    for entry in list(tree.entries.values()):
        if isinstance(entry, Collection):
            continue
        fixed = entry.fixed if isinstance(entry, Mixed) else entry
        yield from links_of(fixed)


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
