"""Storage: NVMe drives on the processor's own lanes, two M.2 on a BOSS card."""

from __future__ import annotations

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Drive, Hardware
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import (
    CHASSIS,
    ENCLOSURE,
    INVENTORIED,
    OK,
    ROOT,
    SYSTEM,
    affinity,
    dell,
    linked,
    listed,
    ref,
    resource,
    settings_at,
)
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

STORAGE = f"{SYSTEM}/Storage"
NOBODY = {"DurableName": None, "DurableNameFormat": None}
_TIMES = ("Immediate", "OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset")


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """All of storage."""
    names = list(dict.fromkeys(drive.controller for drive in reversed(hardware.drives)))
    tree.collection(
        STORAGE,
        "StorageCollection",
        [f"{STORAGE}/{name}" for name in names],
        name="Storage Collection",
        about="Collection Of Storage entities",
    )
    tree.collection(
        f"{SYSTEM}/SimpleStorage",
        "SimpleStorageCollection",
        [f"{SYSTEM}/SimpleStorage/{name}" for name in names],
        name="Simple Storage Collection",
        about="Collection of Controllers for this system",
    )
    for name in names:
        drives = [drive for drive in hardware.drives if drive.controller == name]
        tree.fixed(f"{STORAGE}/{name}", _storage(name, drives))
        tree.fixed(f"{SYSTEM}/SimpleStorage/{name}", _simple(name, drives))
        _volumes(tree, name, drives)
        for drive in drives:
            tree.fixed(f"{STORAGE}/{name}/Drives/{drive.id}", _drive(drive))
        if name != "CPU.1":
            _controller(tree, name)
    tree.inventory |= {STORAGE, f"{SYSTEM}/SimpleStorage"}


def _title(name: str) -> str:
    return "CPU.1" if name == "CPU.1" else "BOSS-N1 Monolithic"


def _storage(name: str, drives: list[Drive]) -> Body:
    path = f"{STORAGE}/{name}"
    body = resource(
        path,
        "Storage",
        "v1_10_1",
        Description=_title(name),
        **linked("Drives", (f"{path}/Drives/{drive.id}" for drive in reversed(drives))),
        Id=name,
        Links={
            **linked("Enclosures", [ENCLOSURE, CHASSIS] if name == "CPU.1" else [CHASSIS]),
            "Oem": affinity(),
            "SimpleStorage": ref(f"{SYSTEM}/SimpleStorage/{name}"),
        },
        Name=_title(name),
        Status=OK,
        Volumes=ref(f"{path}/Volumes"),
    )
    if name == "CPU.1":
        return body
    summary = {
        "@odata.id": f"{path}#/StorageControllers/0",
        "@odata.type": "#Storage.v1_10_1.StorageController",
        "Assembly": ref(f"{CHASSIS}/Assembly"),
        "FirmwareVersion": "2.1.13.2025",
        "MemberId": "0",
        **_controller_facts(),
    }
    return body | {
        "Controllers": ref(f"{path}/Controllers"),
        **listed("Identifiers", [NOBODY]),
        "Oem": dell(),
        **listed("StorageControllers", [summary]),
    }


def _controller_facts() -> Body:
    return {
        "CacheSummary": {"TotalCacheSizeMiB": 0},
        "ControllerRates": {"ConsistencyCheckRatePercent": None, "RebuildRatePercent": None},
        **listed("Identifiers", [NOBODY]),
        "Links": linked("PCIeFunctions", []),
        "Manufacturer": "DELL",
        "Model": "BOSS-N1 Monolithic",
        "Name": "BOSS-N1 Monolithic",
        "Status": OK,
        **listed("SupportedControllerProtocols", ["PCIe"]),
        **listed("SupportedDeviceProtocols", ["NVMe"]),
        **listed("SupportedRAIDTypes", ["RAID1"]),
    }


def _controller(tree: Tree, name: str) -> None:
    home = f"{STORAGE}/{name}/Controllers"
    tree.collection(
        home,
        "StorageControllerCollection",
        [f"{home}/{name}"],
        name="Storage controller Collection",
        about="Collection Of Storage controllers",
    )
    body = resource(
        f"{home}/{name}",
        "StorageController",
        "v1_2_0",
        Description="BOSS-N1 Monolithic",
        FirmwareVersion="2.1.13.2025",
        Id=name,
        Oem={"Dell": {"@odata.type": "#DellOemStorageController.v1_0_0.DellOemStorageController"}},
        SpeedGbps=None,
        **_controller_facts(),
    )
    tree.fixed(
        f"{home}/{name}", {"@Redfish.Settings": settings_at(f"{home}/{name}/Settings", *_TIMES), **body}
    )


def _volumes(tree: Tree, name: str, drives: list[Drive]) -> None:
    home = f"{STORAGE}/{name}/Volumes"
    if name == "CPU.1":
        volumes = {drive.id: [drive] for drive in reversed(drives)}
    else:
        volumes = {f"Disk.Virtual.0:{name}": drives}
    tree.collection(
        home,
        "VolumeCollection",
        [f"{home}/{volume}" for volume in volumes],
        name="Volume Collection",
        about="Collection Of Volume",
    )
    for volume, on in volumes.items():
        raw = name == "CPU.1"
        title = on[0].name if raw else "VD_0"
        body = resource(
            f"{home}/{volume}",
            "Volume",
            "v1_6_2",
            Actions={},
            BlockSizeBytes=0,
            CapacityBytes=on[0].bytes,
            Description=title,
            DisplayName=None,
            Encrypted=None,
            EncryptionTypes=[],
            Id=volume,
            Identifiers=[],
            Links=linked("Drives", (f"{STORAGE}/{name}/Drives/{drive.id}" for drive in on)),
            MediaSpanCount=None,
            Name=title,
            Operations=[],
            OptimumIOSizeBytes=None,
            RAIDType=None if raw else "RAID1",
            ReadCachePolicy=None,
            Status=OK,
            VolumeType="RawDevice" if raw else "Mirrored",
            WriteCachePolicy=None,
        )
        tree.fixed(
            f"{home}/{volume}",
            {"@Redfish.Settings": settings_at(f"{home}/{volume}/Settings", *_TIMES), **body},
        )


def _simple(name: str, drives: list[Drive]) -> Body:
    devices = [
        {
            "CapacityBytes": drive.bytes,
            "Manufacturer": drive.maker,
            "Model": f"{drive.model:<40}",
            "Name": drive.name,
            "Status": OK,
        }
        for drive in reversed(drives)
    ]
    return resource(
        f"{SYSTEM}/SimpleStorage/{name}",
        "SimpleStorage",
        "v1_3_1",
        Description="Simple Storage Controller",
        **listed("Devices", devices),
        Id=name,
        Links={"Chassis": ref(CHASSIS), "Storage": ref(f"{STORAGE}/{name}")},
        Name=_title(name),
        Status=OK,
        UefiDevicePath="PciRoot(0xB)/Pci(0x5,0x0)/Pci(0x0,0x0)",
    )


def _drive(drive: Drive) -> Body:
    path = f"{STORAGE}/{drive.controller}/Drives/{drive.id}"
    nvme = drive.controller == "CPU.1"
    where = (
        f"{STORAGE}/{drive.controller}/Volumes/{drive.id if nvme else 'Disk.Virtual.0:' + drive.controller}"
    )
    speed = 31.507692307692309 if nvme else 6
    erase = {
        "@Redfish.OperationApplyTimeSupport": {
            "@odata.type": "#Settings.v1_3_3.OperationApplyTimeSupport",
            **{"SupportedValues": ["Immediate", "OnReset"]},
        },
        "target": f"{path}/Actions/Drive.SecureErase",
    }
    return resource(
        path,
        "Drive",
        "v1_12_1",
        Actions={"#Drive.SecureErase": erase},
        Assembly=ref(f"{CHASSIS}/Assembly"),
        BlockSizeBytes=0 if nvme else 512,
        CapableSpeedGbs=speed,
        CapacityBytes=drive.bytes,
        Description=drive.name,
        EncryptionAbility="None",
        EncryptionStatus="Unencrypted",
        FailurePredicted=False,
        HotspareType="None",
        Id=drive.id,
        **listed("Identifiers", [NOBODY]),
        Links={
            "Chassis": ref(ENCLOSURE if nvme else CHASSIS),
            "Oem": affinity("CPU.Socket.2") if nvme else affinity(),
            **linked("PCIeFunctions", []),
            **linked("Volumes", [where]),
        },
        Location=[],
        LocationIndicatorActive=None,
        Manufacturer=drive.maker,
        MediaType="SSD",
        Model=drive.model,
        Name=drive.name,
        NegotiatedSpeedGbs=speed,
        Oem=dell(**_dell_views(drive, path, nvme)),
        **listed("Operations", []),
        PartNumber=drive.part,
        PhysicalLocation={"PartLocation": {"LocationOrdinalValue": drive.slot, "LocationType": "Slot"}},
        PredictedMediaLifeLeftPercent=100,
        Protocol="PCIe" if nvme else "SATA",
        Revision=drive.firmware,
        RotationSpeedRPM=None,
        SerialNumber=own("serial", drive.id),
        Status=OK,
        WriteCacheEnabled=False,
    )


def _dell_views(drive: Drive, path: str, nvme: bool) -> Body:
    shared: Body = {
        "AvailableSparePercent": 100,
        "DeviceProtocol": "NVMe 1.4" if nvme else None,
        "DeviceSidebandProtocol": "NVMe-MI1.1" if nvme else None,
        "DriveFormFactor": "2.5Inch" if nvme else "M.2",
        "EncryptionProtocol": "None",
        "ErrorDescription": None,
        "ErrorRecoverable": "NotApplicable",
        "FreeSizeInBytes": None,
        "Id": drive.id,
        "PCIeCapableLinkWidth": "x4",
        "PCIeNegotiatedLinkWidth": "x4",
        "ProductID": "7",
        "RAIDType": "Unknown",
        "RaidStatus": None,
        "Slot": drive.slot,
        "SystemEraseCapability": "CryptographicErasePD",
        "UsedSizeInBytes": 0,
    }
    unknown = (
        *(
            "Certified",
            "Connector",
            "CryptographicEraseCapable",
            "ForeignKeyIdentifier",
            "LastSystemInventoryTime",
        ),
        *(
            "LastUpdateTime",
            "ManufacturingDay",
            "ManufacturingWeek",
            "ManufacturingYear",
            "NonRAIDDiskCachePolicy",
        ),
        *(
            "OperationName",
            "OperationPercentCompletePercent",
            "PPID",
            "PowerStatus",
            "PredictiveFailureState",
        ),
        *("SASAddress", "T10PICapability", "WWN"),
    )
    disk = resource(
        f"{path}/Oem/Dell/DellDrives/{drive.id}",
        "DellPhysicalDisk",
        "v1_6_0",
        Description="An instance of DellPhysicalDisk will have Physical Disk specific data.",
        Name="DellPhysicalDisk",
        **shared,
        **dict.fromkeys(unknown),
    )
    if not nvme:
        return {"DellDriveSMARTAttributes": None, "DellPhysicalDisk": disk}
    ssd = resource(
        f"{path}/Oem/Dell/DellPCIeSSDs/{drive.id}",
        "DellPCIeSSD",
        "v1_7_0",
        Bus=f"{drive.bus:X}",
        BusProtocol="PCIE",
        Description="An instance of DellPCIeSSD will have PCIe Solid State Drive specific data.",
        Device="0",
        DriveState="Ready",
        Function="0",
        HotSpareStatus=None,
        MediaType="SolidStateDrive",
        Name="DellPCIeSSD",
        **shared,
    )
    smart = ref(f"{path}/Oem/Dell/DellNVMeSMARTAttributes")
    return {
        "DellDriveSMARTAttributes": None,
        "DellNVMeSMARTAttributes": smart,
        "DellPCIeSSD": ssd,
        "DellPhysicalDisk": disk,
    }


__all__ = ["INVENTORIED", "ROOT", "STORAGE", "install"]
