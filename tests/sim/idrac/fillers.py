"""Resources that others link to and few read: Dell's network attributes, slots, settings of parts, video, services."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import XE9680, Adapter, Hardware, Kind, NetPort
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.readings import Readings
from tests.sim.idrac.shapes import CHASSIS, ENCLOSURE, OK, SYSTEM, listed, ref, resource, settings_at
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

_TIMES = ("Immediate", "AtMaintenanceWindowStart", "OnReset", "InMaintenanceWindowOnReset")
_SERVICES = (
    "OSDeploymentService",
    "SoftwareInstallationService",
    "RaidService",
    "MetricService",
    "BIOSService",
)
_EMPTY = ("DellSensors", "DellNumericSensors", "DellGPUSensors", "DellPresenceAndStatusSensors")


def _network_attributes(adapter: Adapter, port: NetPort) -> Body:
    """``DellNetworkAttributes``. Its link state is that of the firmware's setup, and contradicts the port's."""
    mac = own("mac", port.function)
    fabric = adapter.kind is Kind.INFINIBAND
    attributes: Body = {
        "ChipMdl": adapter.model,
        "PCIDeviceID": adapter.ids[1].upper(),
        "BusDeviceFunction": f"{adapter.bus:02X}:00:{port.number - 1:02d}",
        "MacAddr": mac,
        "VirtMacAddr": "00:00:00:00:00:00" if fabric else own("virtual_mac", port.function),
        "PXEBootSupport": "Available",
        "SRIOVSupport": "Available",
        "FamilyVersion": adapter.firmware,
        "EFIVersion": adapter.efi,
        "BlnkLeds": 0,
        "BannerMessageTimeout": 4,
        # A capture has "Disconnected" here for a port that is up (InfiniBand.Slot.7-1, iDRAC9 6.00.30).
        "LinkStatus": "Disconnected",
        "LnkSpeed": "NA" if fabric else "AutoNeg",
        "LegacyBootProto": "PXE",
    }
    if fabric:
        attributes["PKey"] = 0
    home = f"{CHASSIS}/NetworkAdapters/{adapter.id}/NetworkDeviceFunctions/{port.function}"
    path = f"{home}/Oem/Dell/DellNetworkAttributes/{port.function}"
    return {
        "@Redfish.Settings": settings_at(f"{path}/Settings", *_TIMES),
        **resource(
            path,
            "DellAttributes",
            "v1_0_0",
            AttributeRegistry=f"NetworkAttributeRegistry_{port.function}",
            Attributes=attributes,
            Description="DellNetworkAttributes represents the Network device attribute details.",
            Id=port.function,
            Name="DellNetworkAttributes",
        ),
    }


def _slots(hardware: Hardware) -> list[Body]:
    """``DellSlots``: more than a page of them."""
    occupied = [*hardware.cpus, *hardware.fans, *hardware.psus, *hardware.dimms]
    free = [f"Fan.Embedded.{number}C" for number in range(1, 9)]
    home = f"{SYSTEM}/Oem/Dell/DellSlots"
    return [
        resource(
            f"{home}/{name}_0x23_Slot",
            "DellSlot",
            "v1_1_0",
            Description="An instance of DellSlot will have data about each slot.",
            EmptySlot=name in free,
            Id=f"{name}_0x23_Slot",
            Name="DellSlot",
            NumberDescription=name.rpartition(".")[2],
            SlotType="Unknown",
        )
        for name in (*occupied, *free)
    ]


def _settings(_bmc: SimBmc, match: re.Match[str]) -> Body | None:
    """Pending settings of a part: nothing is pending."""
    kind = {
        "NetworkDeviceFunctions": ("NetworkDeviceFunction", "v1_7_0"),
        "Volumes": ("Volume", "v1_8_0"),
        "Controllers": ("StorageController", "v1_4_0"),
        "DellNetworkAttributes": ("DellAttributes", "v1_0_0"),
    }[match["kind"]]
    extra: Body = {"Attributes": {}} if kind[0] == "DellAttributes" else {}
    return resource(match[0], *kind, Description=kind[0], Id="Settings", Name=kind[0], **extra)


def _gpu_heat(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    which = [gpu.id for gpu in XE9680.gpus].index(match["gpu"]) + 1
    probes = {probe.id: probe for probe in bmc.part(Readings).probes()}
    entry = {
        "@odata.id": f"{match[0]}#/Temperatures/0",
        "Name": "Gpu Temperature",
        "MemberId": "0",
        "ReadingCelsius": probes[f"SystemBoardGPU{which}Temp"].celsius,
        "RelatedItem": [ref(f"{SYSTEM}/Processors/{match['gpu']}")],
    }
    about = "GPU ThermalMetrics"
    return resource(
        match[0],
        "Thermal",
        "v1_7_1",
        Description=about,
        Name=about,
        Id=match["gpu"],
        **listed("Temperatures", [entry]),
    )


def _gpu_power(_bmc: SimBmc, match: re.Match[str]) -> Body | None:
    entry = {
        "@odata.id": f"{match[0]}#/PowerControl/0",
        "MemberId": "0",
        "Name": "Total GPU board power consumption",
        "PowerConsumedWatts": None,
    }
    about = "GPU PowerMetrics"
    fields = listed("PowerControl", [entry])
    return resource(match[0], "Power", "v1_7_1", Description=about, Name=about, Id=match["gpu"], **fields)


def _pcie_slots(hardware: Hardware) -> Body:
    slots = [
        {
            "HotPluggable": False,
            "Lanes": 16,
            "Location": {"PartLocation": {"LocationOrdinalValue": int(adapter.slot), "LocationType": "Slot"}},
            "PCIeType": "Gen5",
            "SlotType": "FullLength",
            "Status": {"State": "Enabled"},
        }
        for adapter in hardware.adapters
        if ".Slot." in adapter.id
    ]
    about = "This Resource shall represent a set of PCIe slot information."
    path = f"{CHASSIS}/PCIeSlots"
    return resource(
        path, "PCIeSlots", "v1_4_1", Description=about, Id="PCIeSlots", Name="PCIeSlots", Slots=slots
    )


def _enclosure(tree: Tree) -> None:
    path = f"{ENCLOSURE}/Settings"
    tree.fixed(
        path,
        resource(
            path,
            "Chassis",
            "v1_16_0",
            AssetTag="",
            ChassisType="StorageEnclosure",
            Description="Backplane 1",
            Id="Enclosure.Internal.0-1",
            Name="Backplane 1",
            Status=OK,
        ),
    )
    tree.collection(f"{ENCLOSURE}/PCIeDevices", "PCIeDeviceCollection", [])


def _absent(tree: Tree, path: str) -> bool:
    return path not in tree.entries


def install(tree: Tree, _profile: Profile, hardware: Hardware) -> None:
    """What is not there yet."""
    for adapter in hardware.adapters:
        for port in adapter.ports:
            body = _network_attributes(adapter, port)
            tree.fixed(body["@odata.id"], body, embedded=False)
    home = f"{SYSTEM}/Oem/Dell"
    slots = _slots(hardware)
    for slot in slots:
        tree.fixed(slot["@odata.id"], slot)
    paths = [slot["@odata.id"] for slot in slots]
    tree.collection(f"{home}/DellSlots", "DellSlotCollection", paths, paged=True, inline=True)
    for name in (*_EMPTY, "DellVideo", "DellChassis"):
        if _absent(tree, f"{home}/{name}"):
            tree.collection(f"{home}/{name}", f"{name.removesuffix('s')}Collection", [], paged=True)
    for name in _SERVICES:
        path = f"{home}/Dell{name}"
        about = f"Dell{name}"
        if _absent(tree, path):
            tree.fixed(
                path, resource(path, about, "v1_0_0", Actions={}, Description=about, Id=about, Name=about)
            )
    tree.collection(f"{SYSTEM}/Boot/Certificates", "CertificateCollection", [])
    tree.fixed(f"{CHASSIS}/PCIeSlots", _pcie_slots(hardware))
    _enclosure(tree)
    gpus = "|".join(re.escape(gpu.id) for gpu in XE9680.gpus)
    video = rf"{SYSTEM}/Processors/(?P<gpu>{gpus})/Oem/Dell"
    tree.family(rf"{video}/ThermalMetrics", _gpu_heat)
    tree.family(rf"{video}/PowerMetrics", _gpu_power)
    for kind in ("NetworkDeviceFunctions", "Volumes", "Controllers"):
        tree.family(
            rf"(?:{SYSTEM}|{CHASSIS})/(?:NetworkAdapters|Storage)/[^/]+/(?P<kind>{kind})/[^/]+/Settings",
            _settings,
        )
    tree.family(
        rf"{CHASSIS}/NetworkAdapters/.+/Oem/Dell/(?P<kind>DellNetworkAttributes)/[^/]+/Settings", _settings
    )
