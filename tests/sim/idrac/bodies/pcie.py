"""PCIe devices and functions, under the system and (as newer firmware wants it) under the chassis."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Adapter, Drive, Gpu, Hardware, Kind
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, INVENTORIED, OK, SYSTEM, affinity, dell, linked, ref, resource
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

_ETAG = '"1768367080"'


@dataclass(frozen=True, slots=True)
class Device:
    """One device. :param ids: PCI vendor, device, subvendor, subdevice; :param functions: FQDDs of its functions."""

    bus: int
    name: str
    maker: str
    model: str | None
    part: str | None
    serial: str | None
    firmware: str
    klass: str
    code: str
    ids: tuple[str, str, str, str]
    cpu: int
    functions: tuple[str, ...]

    @property
    def id(self) -> str:
        """``202-0``."""
        return f"{self.bus}-0"


def devices_of(hardware: Hardware) -> list[Device]:
    """Adapters, GPUs and NVMe drives."""
    cards = [_of_card(card) for card in hardware.adapters]
    gpus = [_of_gpu(gpu) for gpu in hardware.gpus]
    return cards + gpus + [_of_drive(drive) for drive in hardware.drives if drive.bus]


def _of_gpu(gpu: Gpu) -> Device:
    return Device(
        gpu.bus,
        "GH100 [H100 SXM5 80GB]",
        "NVIDIA Corporation",
        gpu.model,
        gpu.part,
        own("serial", gpu.id),
        gpu.firmware,
        "DisplayController",
        "0x000302",
        ("10de", "2330", "10de", "16c1"),
        gpu.cpu,
        (gpu.id,),
    )


def _of_drive(drive: Drive) -> Device:
    return Device(
        drive.bus,
        drive.model,
        drive.maker,
        drive.model,
        drive.part,
        own("serial", drive.id),
        drive.firmware,
        "MassStorageController",
        "0x000801",
        ("1e0f", "0007", "1028", "2210"),
        2,
        (drive.id,),
    )


def _of_card(card: Adapter) -> Device:
    hca = card.kind is Kind.INFINIBAND
    return Device(
        card.bus,
        "MT2910 Family [ConnectX-7]" if hca else card.model,
        card.maker,
        None if hca else card.model,
        None if hca else card.part,
        None if hca else own("serial", card.id),
        card.firmware,
        "NetworkController",
        "0x000002",
        card.ids,
        card.cpu,
        tuple(port.function for port in card.ports),
    )


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Devices in both places."""
    devices = devices_of(hardware)
    home = f"{CHASSIS}/PCIeDevices"
    tree.collection(
        home,
        "PCIeDeviceCollection",
        [f"{home}/{device.id}" for device in devices],
        name="PCIe Devices Collection",
        about="Collection of PCIeDevices",
    )
    for device in devices:
        old, new = f"{SYSTEM}/PCIeDevices/{device.id}", f"{home}/{device.id}"
        tree.fixed(old, _device(device, old))
        tree.fixed(new, _device(device, new) | {"PCIeFunctions": ref(f"{new}/PCIeFunctions")})
        paths = [f"{new}/PCIeFunctions/{device.id}-{n}" for n in range(len(device.functions))]
        tree.collection(f"{new}/PCIeFunctions", "PCIeFunctionCollection", paths)
        for number, function in enumerate(device.functions):
            for place in (old, new):
                path = f"{place}/PCIeFunctions/{device.id}-{number}"
                tree.fixed(path, _function(device, number, function, path))
    tree.inventory.add(home)


def _device(device: Device, path: str) -> Body:
    functions = (
        f"{SYSTEM}/PCIeDevices/{device.id}/PCIeFunctions/{device.id}-{n}"
        for n in range(len(device.functions))
    )
    links: Body = {**linked("Chassis", [CHASSIS]), **linked("PCIeFunctions", functions)}
    if path.startswith(CHASSIS):
        links["Oem"] = affinity(f"CPU.Socket.{device.cpu}")
    body = resource(
        path,
        "PCIeDevice",
        "v1_7_0",
        AssetTag=None,
        Description=device.name,
        DeviceType="MultiFunction" if len(device.functions) > 1 else "SingleFunction",
        FirmwareVersion=device.firmware,
        Id=device.id,
        Links=links,
        Manufacturer=device.maker,
        Model=device.model,
        Name=device.name,
        PartNumber=device.part,
        SKU=None,
        SerialNumber=device.serial,
        Status=OK,
    )
    if not path.startswith(CHASSIS):
        body["Assembly"] = ref(f"{CHASSIS}/Assembly")
    return body | {"@odata.etag": _ETAG}


def _function(device: Device, number: int, function: str, path: str) -> Body:
    vendor, code, subvendor, subdevice = device.ids
    view = resource(
        f"{path}/Oem/Dell/DellPCIeFunctions/{function}",
        "DellPCIeFunction",
        "v1_4_0",
        DataBusWidth="16XOrX16",
        Description="An instance of DellPCIeFunction will have PCI device specific data.",
        Id=function,
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        Name="DellPCIeFunction",
        SlotLength="LongLength",
        SlotType="PCIExpressGen5",
    )
    body = resource(
        path,
        "PCIeFunction",
        "v1_3_0",
        ClassCode=device.code,
        Description=device.name,
        DeviceClass=device.klass,
        DeviceId=f"0x{code}",
        FunctionId=number,
        FunctionType="Physical",
        Id=f"{device.id}-{number}",
        Links={
            **linked("Drives", []),
            **linked("EthernetInterfaces", []),
            "PCIeDevice": ref(path.partition("/PCIeFunctions")[0]),
            **linked("StorageControllers", []),
        },
        Name=device.name,
        Oem=dell(DellPCIeFunction=view),
        RevisionId="0x00",
        Status=OK,
        SubsystemId=f"0x{subdevice}",
        SubsystemVendorId=f"0x{subvendor}",
        VendorId=f"0x{vendor}",
    )
    return body | {"@odata.etag": _ETAG}
