"""Firmware inventory: what is installed, what was before, under the ids an iDRAC makes of it.

An id is ``Installed-<component id>-<version>__<FQDD>``; the same device appears again as ``Current`` and ``Previous``,
and NVMe drives, GPUs and InfiniBand cards have component id 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.hardware import XE9680, Adapter, Kind, NetPort
from tests.sim.idrac.job_resources import accepted, refuse_when_running
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.messages import refused
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SERVICE = f"{ROOT}/UpdateService"
INVENTORY = f"{SERVICE}/FirmwareInventory"
BIOS_VERSIONS = {Profile.IDRAC9_6: "2.1.5", Profile.IDRAC9_7: "2.2.8", Profile.IDRAC10: "1.4.1"}
SIMPLE_UPDATE = f"{SERVICE}/Actions/UpdateService.SimpleUpdate"


@dataclass(frozen=True, slots=True)
class Component:
    """One firmware of one device.

    :param component: Dell's id, 0 where it gives none; :param previous: the version before, empty when unknown.
    :param current: it is also listed as ``Current`` (BIOS, NICs, backplanes do).
    :param pci: vendor, device, subvendor, subdevice of its PCI function.
    """

    fqdd: str
    name: str
    version: str
    component: int = 0
    kind: str = "FRMW"
    previous: str = ""
    current: bool = False
    pci: tuple[str, str, str, str] | None = None
    released: str = "00:00:00Z"
    updateable: bool = True


GPU = ("10DE", "2330", "10DE", "16C1")


def _of_port(card: Adapter, port: NetPort) -> Component:
    """Firmware of a network function; NVIDIA's have no component id of Dell's."""
    dell = {"NIC.Embedded.1": 108255, "NIC.Integrated.1": 108089}.get(card.id, 0)
    vendor, device, subvendor, subdevice = (part.upper() for part in card.ids)
    mac = "" if card.kind is Kind.INFINIBAND else f" - {{mac:{port.function}}}"
    name = card.model + mac
    pci = (vendor, device, subvendor, subdevice)
    return Component(port.function, name, card.firmware, dell, current=bool(dell), pci=pci)


def standard(profile: Profile) -> list[Component]:
    """What an XE9680 has."""
    bios, idrac = BIOS_VERSIONS[profile], profile.value.firmware
    cards = [_of_port(card, port) for card in XE9680.adapters for port in card.ports]
    gpus = [Component(one.id, one.model, one.firmware, pci=GPU) for one in XE9680.gpus]
    nvme = ("1E0F", "0007", "1028", "207E")
    drives = [Component(one.id, one.name, one.firmware, pci=nvme) for one in XE9680.drives if one.bus]
    supplies = [
        Component(f"PSU.Slot.{slot}", f"Power Supply.Slot.{slot}", "00.17.28", 108824) for slot in range(1, 7)
    ]
    return [
        Component(
            "BIOS.Setup.1-1",
            "BIOS",
            bios,
            159,
            "BIOS",
            previous="1.2.4",
            current=True,
            released="2024-01-12T00:00:00Z",
        ),
        Component(
            "iDRAC.Embedded.1-1",
            "Integrated Dell Remote Access Controller",
            idrac,
            25227,
            previous="5.10.50.00",
        ),
        Component("USC.Embedded.1:LC.Embedded.1", "Dell Lifecycle Controller", idrac, 28897, "APAC"),
        Component("CPLD.Embedded.1", "System CPLD", "1.6.0", 111500),
        Component(
            "Diagnostics.Embedded.1:LC.Embedded.1", "Dell 64 Bit uEFI Diagnostics", "4301A74", 25806, "APAC"
        ),
        Component("DriverPack.Embedded.1:LC.Embedded.1", "Dell OS Driver Pack", "23.10.08", 18981, "APAC"),
        Component("TPM.Integrated.1-1", "TPM", "7.2.3.1", 109673, updateable=False),
        Component("RAID.Backplane.Firmware.1", "Backplane 1", "7.10", 108088, current=True),
        Component("BOSS.SL.14-1", "BOSS-N1 Monolithic", "2.1.13.2025", 109983),
        *cards,
        *gpus,
        *drives,
        *supplies,
    ]


class Firmware:
    """Firmware of one machine; a test exchanges versions with :meth:`set`."""

    def __init__(self, bmc: SimBmc) -> None:
        self.components: dict[str, Component] = {one.fqdd: one for one in standard(bmc.profile)}

    def set(self, fqdd: str, version: str) -> None:
        """Another version is installed."""
        old = self.components[fqdd]
        self.components[fqdd] = replace(old, version=version, previous=old.version)

    def listed(self) -> Iterator[tuple[str, str, Component]]:
        """(state, version, component) of every entry: ``Installed`` and, where there are, the other two."""
        for one in self.components.values():
            if one.current:
                yield "Current", one.version, one
            yield "Installed", one.version, one
            if one.previous:
                yield "Previous", one.previous, one

    def ids(self) -> list[str]:
        """Ids in the order of the collection."""
        return sorted(_id(state, version, one) for state, version, one in self.listed())


def _id(state: str, version: str, one: Component) -> str:
    return f"{state}-{one.component}-{version}__{one.fqdd}"


def _numbers(version: str) -> list[int]:
    return [int(part) if part.isdecimal() else 0 for part in [*version.split("."), "0", "0", "0", "0"][:4]]


def _identity(one: Component) -> tuple[str, str]:
    if one.pci is None:
        return "OrgID:ComponentType:ComponentID", f"DCIM:{one.kind}:{one.component}"
    return "OrgID:ComponentType:VendorID:DeviceID:SubVendorID:SubDeviceID", "DCIM:firmware:" + ":".join(
        one.pci
    )


def _dell(path: str, state: str, version: str, one: Component, name: str) -> Body:
    dell_id = f"DCIM:{state.upper()}_0x23_{one.component % 997}__{one.fqdd}"
    numbers = _numbers(version)
    kind, value = _identity(one)
    vendor, device, subvendor, subdevice = one.pci or (None, None, None, None)
    return {
        "@odata.context": f"{ROOT}/$metadata#DellSoftwareInventory.DellSoftwareInventory",
        "@odata.id": f"{path}/Oem/Dell/DellSoftwareInventory/{dell_id}",
        "@odata.type": "#DellSoftwareInventory.v1_1_1.DellSoftwareInventory",
        "BuildNumber": numbers[3],
        "Classifications": ["BIOS/FCode" if one.kind == "BIOS" else "Firmware"],
        "Classifications@odata.count": 1,
        "ComponentID": str(one.component),
        "ComponentType": one.kind,
        "Description": "The DellSoftwareInventory resource is a representation of an available device firmware in the "
        "managed system.",
        "DeviceID": device,
        "ElementName": name,
        "HashValue": None,
        "Id": dell_id,
        "IdentityInfoType": [kind],
        "IdentityInfoType@odata.count": 1,
        "IdentityInfoValue": [value],
        "IdentityInfoValue@odata.count": 1,
        "InstallationDate": "2024-02-20T09:10:11Z" if state != "Previous" else "NA",
        "IsEntity": True,
        "MajorVersion": numbers[0],
        "MinorVersion": numbers[1],
        "Name": "DellSoftwareInventory",
        "RevisionNumber": numbers[2],
        "RevisionString": None,
        "Status": "Installed" if state != "Previous" else "AvailableForInstallation",
        "SubDeviceID": subdevice,
        "SubVendorID": subvendor,
        "VendorID": vendor,
        "impactsTPMmeasurements": True,
    }


def _body(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    wanted = match["id"]
    for state, version, one in bmc.part(Firmware).listed():
        if _id(state, version, one) == wanted:
            return _entry(bmc, state, version, one)
    return None


def dell_software(bmc: SimBmc, entry_id: str, dell_id: str) -> Body | None:
    """Dell's own view of an entry, at its own path."""
    for state, version, one in bmc.part(Firmware).listed():
        if _id(state, version, one) == entry_id:
            body: Body = _entry(bmc, state, version, one)["Oem"]["Dell"]["DellSoftwareInventory"]
            return body if body["Id"] == dell_id else None
    return None


def _entry(bmc: SimBmc, state: str, version: str, one: Component) -> Body:
    path = f"{INVENTORY}/{_id(state, version, one)}"
    name = re.sub(r"\{([^}]+)\}", lambda found: bmc.identity.get(found[1], ""), one.name).removesuffix(" - ")
    return {
        "@odata.context": f"{ROOT}/$metadata#SoftwareInventory.SoftwareInventory",
        "@odata.id": path,
        "@odata.type": "#SoftwareInventory.v1_4_0.SoftwareInventory",
        "Description": "Represents Firmware Inventory",
        "Id": _id(state, version, one),
        "Name": name,
        "Oem": {
            "Dell": {
                "@odata.type": "#DellOem.v1_3_0.DellOemResources",
                "DellSoftwareInventory": _dell(path, state, version, one, name),
            }
        },
        "ReleaseDate": one.released,
        "SoftwareId": str(one.component),
        "Status": {"Health": "OK", "State": "Enabled"},
        "Updateable": one.updateable,
        "Version": version,
    }


def _service(_bmc: SimBmc) -> Body:
    protocols: Sequence[str] = ("HTTP", "NFS", "CIFS", "TFTP", "HTTPS")
    return {
        "@odata.context": f"{ROOT}/$metadata#UpdateService.UpdateService",
        "@odata.id": SERVICE,
        "@odata.type": "#UpdateService.v1_9_0.UpdateService",
        "Actions": {
            "#UpdateService.SimpleUpdate": {
                "@Redfish.OperationApplyTimeSupport": {
                    "@odata.type": "#Settings.v1_3_3.OperationApplyTimeSupport",
                    "SupportedValues": ["Immediate", "OnReset", "OnStartUpdateRequest"],
                },
                "TransferProtocol@Redfish.AllowableValues": list(protocols),
                "target": SIMPLE_UPDATE,
            }
        },
        "Description": "Represents the properties for the Update Service",
        "FirmwareInventory": {"@odata.id": INVENTORY},
        "HttpPushUri": INVENTORY,
        "Id": "UpdateService",
        "MaxImageSizeBytes": None,
        "MultipartHttpPushUri": f"{SERVICE}/MultipartUpload",
        "Name": "Update Service",
        "ServiceEnabled": True,
        "SoftwareInventory": {"@odata.id": f"{SERVICE}/SoftwareInventory"},
        "Status": {"Health": "OK", "State": "Enabled"},
    }


def _simple_update(call: Call) -> Answer:
    image = call.body.get("ImageURI")
    if not isinstance(image, str):
        raise refused(call.bmc.profile, "ActionParameterMissing", "UpdateService.SimpleUpdate", "ImageURI")
    refuse_when_running(call.bmc)
    name = f"Firmware Update: {image.rpartition('/')[2]}"
    job = call.bmc.part(JobQueue).schedule("FirmwareUpdate", name, on_reset=False, duration_s=240.0)
    return accepted(call.bmc, job)


def install(tree: Tree, _profile: Profile) -> None:
    """The update service and its inventories."""
    tree.live(SERVICE, _service)
    tree.collection(
        INVENTORY,
        "SoftwareInventoryCollection",
        lambda bmc: [f"{INVENTORY}/{entry}" for entry in bmc.part(Firmware).ids()],
        about="Collection of Firmware Inventory",
    )
    tree.collection(f"{SERVICE}/SoftwareInventory", "SoftwareInventoryCollection", [])
    tree.family(rf"{INVENTORY}/(?P<id>[^/]+)", _body)
    tree.on("POST", SIMPLE_UPDATE, _simple_update)
