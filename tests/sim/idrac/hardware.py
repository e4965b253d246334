"""What the simulated server is made of: an eight-GPU machine of the XE9680's kind, as a description."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.sim.idrac.profile import Profile

_CHASSIS = "/redfish/v1/Chassis/System.Embedded.1"


class Kind(Enum):
    """Kinds of network adapters, as their FQDDs tell them apart."""

    NIC = "NIC"
    DPU = "DPU"
    INFINIBAND = "InfiniBand"


@dataclass(frozen=True, slots=True)
class NetPort:
    """One port of an adapter and the function on it. :param speed_mbps: of its link, 0: no link."""

    id: str
    function: str
    number: int
    label: str
    speed_mbps: int = 0


@dataclass(frozen=True, slots=True)
class Adapter:
    """A network adapter.

    :param vendor: of its MACs; :param ids: PCI vendor, device, subvendor, subdevice; :param bus: PCI bus number.
    """

    id: str
    kind: Kind
    ports: tuple[NetPort, ...]
    model: str
    maker: str
    part: str
    firmware: str
    efi: str
    vendor: int
    ids: tuple[str, str, str, str]
    bus: int
    cpu: int

    @property
    def slot(self) -> str:
        """``31`` of ``InfiniBand.Slot.31``."""
        return self.id.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive. :param controller: id of its storage; :param name: as the BMC writes it."""

    id: str
    controller: str
    name: str
    model: str
    maker: str
    part: str
    bytes: int
    firmware: str
    slot: int
    bus: int
    serial: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU. :param bus: PCI bus number."""

    id: str
    model: str
    part: str
    bus: int
    cpu: int
    firmware: str


@dataclass(frozen=True, slots=True)
class Hardware:
    """A server."""

    model: str
    system_id: int
    height: int
    adapters: tuple[Adapter, ...]
    drives: tuple[Drive, ...]
    gpus: tuple[Gpu, ...]
    dimms: tuple[str, ...]
    psus: tuple[str, ...]
    fans: tuple[str, ...]
    cpus: tuple[str, ...] = ("CPU.Socket.1", "CPU.Socket.2")
    dimm_mib: int = 65536
    cpu_model: str = "Intel(R) Xeon(R) Platinum 8480C"
    cpu_cores: int = 56


_IB_SLOTS = (31, 32, 33, 34, 37, 38, 39, 40)
_IB_BUSES = (0x1A, 0x3C, 0x4D, 0x5E, 0x9C, 0xBC, 0xCC, 0xDC)
_GPU_BUSES = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)
_NVIDIA = 0xB83FD2


def _infiniband(slot: int, bus: int) -> Adapter:
    name = f"InfiniBand.Slot.{slot}"
    port = NetPort(f"{name}-1", f"{name}-1", 1, f"InfiniBand in Slot {slot} Port 1", 400_000)
    return Adapter(
        name,
        Kind.INFINIBAND,
        (port,),
        "Mellanox ConnectX-7 Single Port NDR OSFP Adapter",
        "Mellanox Technologies",
        "0F9P1V",
        "28.39.1002",
        "14.29.14",
        _NVIDIA,
        ("15b3", "1021", "15b3", "0041"),
        bus,
        1 if slot < 35 else 2,
    )


def _ethernet() -> tuple[Adapter, ...]:
    embedded = tuple(
        NetPort(
            f"NIC.Embedded.{n}-1", f"NIC.Embedded.{n}-1-1", n, f"Embedded NIC 1 Port {n} Partition 1", speed
        )
        for n, speed in ((1, 1000), (2, 0))
    )
    integrated = tuple(
        NetPort(
            f"NIC.Integrated.1-{n}",
            f"NIC.Integrated.1-{n}-1",
            n,
            f"Integrated NIC 1 Port {n} Partition 1",
            speed,
        )
        for n, speed in ((1, 25_000), (2, 25_000))
    )
    dpu = (NetPort("NIC.Slot.36-1", "NIC.Slot.36-1", 1, "NIC in Slot 36 Port 1"),)
    broadcom = "Broadcom Inc. and subsidiaries"
    return (
        Adapter(
            *("NIC.Embedded.1", Kind.NIC, embedded, "Broadcom Gigabit Ethernet BCM5720", broadcom, "0RN3P8"),
            *("22.71.3", "21.6.0", 0x70B5E8, ("14e4", "165f", "1028", "0a6b"), 4, 1),
        ),
        Adapter(
            *("NIC.Integrated.1", Kind.NIC, integrated, "BRCM 2P 25G SFP 57414S OCP NIC", broadcom, "0KHCTP"),
            *("21.80.16.95", "218.0.169.2", 0xE43D1A, ("14e4", "16d7", "14e4", "4145"), 49, 1),
        ),
        Adapter(
            *(
                "NIC.Slot.36",
                Kind.DPU,
                dpu,
                "BlueField-3 SmartNIC Main Card",
                "Mellanox Technologies",
                "0JJKMK",
            ),
            *("32.39.1002", "14.33.10", 0xA088C2, ("15b3", "a2dc", "15b3", "0051"), 177, 2),
        ),
    )


def _nvme(bay: int) -> Drive:
    name = f"Disk.Bay.{bay}:Enclosure.Internal.0-1"
    return Drive(
        name,
        "CPU.1",
        f"PCIe SSD in Slot {bay} in Bay 1",
        "Dell Ent NVMe CM6 RI 3.84TB",
        "KIOXIA Corporation ",
        "PH-0N0VK1-TBPKK-16O-02F3-A01",
        3_840_755_982_336,
        "2.1.3",
        bay,
        0xE0 + bay,
        "61X",
    )


def _m2(number: int) -> Drive:
    return Drive(
        f"Disk.Direct.{number}-{number}:BOSS.SL.14-1",
        "BOSS.SL.14-1",
        f"SSD {number}",
        "MTFDDAV480TDS",
        "MICRON",
        "CN-0KX6T8-TBMIE-27Q-00A6-A00",
        480_103_981_056,
        "D4DJ003",
        number,
        0,
        "22",
    )


def xe9680() -> Hardware:
    """Eight H100, eight ConnectX-7 on adapters of their own, eleven adapters in all, eight NVMe, two M.2, six PSUs."""
    infiniband = tuple(_infiniband(slot, bus) for slot, bus in zip(_IB_SLOTS, _IB_BUSES, strict=True))
    gpus = tuple(
        Gpu(
            f"Video.Slot.{21 + n}-1",
            "NVIDIA H100 80GB HBM3",
            "692-2G520-0200-000",
            bus,
            1 + n // 4,
            "96.00.74.00.1A",
        )
        for n, bus in enumerate(_GPU_BUSES)
    )
    return Hardware(
        model="PowerEdge XE9680",
        system_id=2771,
        height=6,
        adapters=(*_ethernet(), *infiniband),
        drives=(*(_m2(number) for number in range(2)), *(_nvme(bay) for bay in range(8))),
        gpus=gpus,
        dimms=tuple(f"DIMM.Socket.{bank}{n}" for bank in "AB" for n in range(1, 17)),
        psus=tuple(f"PSU.Slot.{n}" for n in range(1, 7)),
        fans=tuple(f"Fan.Embedded.{n}{half}" for n in range(1, 7) for half in "AB"),
    )


XE9680 = xe9680()


def cooled_by(hardware: Hardware, profile: Profile) -> list[str]:
    """Links to the fans; an iDRAC10 has no ``Thermal`` any more."""
    if profile.value.generation == 10:
        return [f"{_CHASSIS}/ThermalSubsystem/Fans/{fan}" for fan in hardware.fans]
    return [f"{_CHASSIS}/Thermal#/Fans/{number}" for number in range(len(hardware.fans))]


def powered_by(hardware: Hardware, profile: Profile) -> list[str]:
    """Links to the power supplies; an iDRAC10 has no ``Power`` any more."""
    if profile.value.generation == 10:
        return [f"{_CHASSIS}/PowerSubsystem/PowerSupplies/{psu}" for psu in hardware.psus]
    return [f"{_CHASSIS}/Power#/PowerSupplies/{number}" for number in range(len(hardware.psus))]
