"""What is in one machine, as its BMC tells it: parts by their own ids (FQDD on a Dell), each field with its source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from provision.bmc.reading import Reading


class Depth(IntEnum):
    """How much is read."""

    QUICK = 1
    """MACs and GUIDs."""
    DEFAULT = 2
    """Also the system, link states, speeds, shared BMC port."""
    FULL = 3
    """Also GPUs, drives, power supplies, memory, firmware."""


class LinkState(StrEnum):
    """State of a port's link."""

    UP = "up"
    DOWN = "down"


class Technology(StrEnum):
    """What a network function speaks."""

    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    OTHER = "other"


class Role(StrEnum):
    """Whose a network interface is."""

    HOST = "host"
    BMC = "bmc"
    USB = "bmc-usb"
    """The BMC's own network over USB, between host and BMC: the same MAC may be on many machines."""


@dataclass(frozen=True, slots=True)
class NetFunction:
    """A network function, which is one port of a card as the host sees it.

    :param id: FQDD (``InfiniBand.Slot.7-1``), else the id the BMC gives it; :param path: its resource.
    :param adapter: id of its card, empty when the BMC tells of none.
    :param enabled: whether it is in use; :param type_disabled: its type is Disabled, yet a BlueField in DPU mode, which
        says so, boots all the same.
    :param mac_permanent: burnt in, the identity; :param mac_current: in use, what DHCP sees.
    :param node_guid: and ``port_guid``: of an InfiniBand function; :param port: id of the physical port.
    """

    id: str
    path: str
    adapter: str
    role: Role
    technology: Reading[str]
    enabled: Reading[bool]
    mac_permanent: Reading[str]
    mac_current: Reading[str]
    node_guid: Reading[str]
    port_guid: Reading[str]
    link: Reading[str]
    speed: Reading[str]
    pxe: Reading[bool]
    port: Reading[str]
    type_disabled: bool = False

    @property
    def infiniband(self) -> bool:
        """Whether it speaks InfiniBand."""
        return self.technology.value == Technology.INFINIBAND

    @property
    def mac(self) -> str | None:
        """The MAC that identifies it: the permanent one, else the one in use."""
        return self.mac_permanent.value or self.mac_current.value

    @property
    def used(self) -> bool:
        """Whether it is not known to be out of use."""
        return self.enabled.value is not False


@dataclass(frozen=True, slots=True)
class Adapter:
    """A network card or chip. :param id: FQDD without port (``NIC.Slot.5``)."""

    id: str
    path: str
    slot: Reading[str]
    manufacturer: Reading[str]
    model: Reading[str]
    part_number: Reading[str]
    serial: Reading[str]
    firmware: Reading[str]
    functions: tuple[NetFunction, ...] = ()


@dataclass(frozen=True, slots=True)
class BmcNic:
    """An interface of the BMC itself.

    :param shared_with: FQDD of the host's port it shares a cable with; absent when it has its own.
    """

    id: str
    path: str
    role: Role
    mac_permanent: Reading[str]
    mac_current: Reading[str]
    address: Reading[str]
    link: Reading[str]
    shared_with: Reading[str]

    @property
    def mac(self) -> str | None:
        """The MAC that identifies it."""
        return self.mac_permanent.value or self.mac_current.value


@dataclass(frozen=True, slots=True)
class Gpu:
    """An accelerator."""

    id: str
    path: str
    model: Reading[str]
    manufacturer: Reading[str]
    part_number: Reading[str]
    serial: Reading[str]
    uuid: Reading[str]
    firmware: Reading[str]
    health: Reading[str]


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive."""

    id: str
    path: str
    model: Reading[str]
    manufacturer: Reading[str]
    part_number: Reading[str]
    serial: Reading[str]
    firmware: Reading[str]
    protocol: Reading[str]
    media: Reading[str]
    capacity_bytes: Reading[int]
    health: Reading[str]


@dataclass(frozen=True, slots=True)
class Psu:
    """A power supply."""

    id: str
    path: str
    model: Reading[str]
    manufacturer: Reading[str]
    part_number: Reading[str]
    serial: Reading[str]
    firmware: Reading[str]
    capacity_watts: Reading[int]
    health: Reading[str]


@dataclass(frozen=True, slots=True)
class Dimm:
    """A memory module."""

    id: str
    path: str
    manufacturer: Reading[str]
    part_number: Reading[str]
    serial: Reading[str]
    capacity_mib: Reading[int]
    speed_mhz: Reading[int]
    health: Reading[str]


@dataclass(frozen=True, slots=True)
class FirmwareComponent:
    """A version of a firmware.

    :param fqdd: the part it runs on, empty when the id does not tell; :param state: ``installed``, ``previous``, ...
    :param component: the maker's number of this kind of firmware; an iDRAC gives NVMe drives and HCAs all 0.
    """

    id: str
    path: str
    fqdd: str
    component: str
    state: str
    name: Reading[str]
    version: Reading[str]

    @property
    def runs_on(self) -> str:
        """What stays the same when the version changes: FQDD and component, else the id."""
        return f"{self.fqdd} {self.component}".rstrip() if self.fqdd else self.id


Part = NetFunction | Adapter | BmcNic | Gpu | Drive | Psu | Dimm | FirmwareComponent


@dataclass(frozen=True, slots=True)
class System:
    """The machine as a whole.

    :param service_tag: printed on the chassis of a Dell; :param serial: the system's serial number, which on a Dell is
        that of the board and changes with it.
    """

    path: str
    service_tag: Reading[str]
    serial: Reading[str]
    manufacturer: Reading[str]
    model: Reading[str]
    uuid: Reading[str]
    bios_version: Reading[str]
    power: Reading[str]


class Family(StrEnum):
    """Kinds of parts; they come from the same resources, so they are there or missing together."""

    SYSTEM = "system"
    BMC = "bmc"
    ADAPTER = "adapter"
    NIC = "nic"
    GPU = "gpu"
    DRIVE = "drive"
    PSU = "psu"
    DIMM = "dimm"
    FIRMWARE = "firmware"


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that should have been read and was not.

    :param what: for people, ``firmware`` or ``ports of NIC.Slot.5``; :param family: whose parts may be missing.
    """

    what: str
    path: str
    why: str
    family: Family


@dataclass(frozen=True)
class Inventory:
    """One machine.

    :param adapters: network cards, in natural order of their ids; :param loose: host interfaces no card is told of.
    :param gaps: what could not be read; the inventory is complete for its depth when there are none.
    """

    depth: Depth
    system: System
    bmc_nics: tuple[BmcNic, ...] = ()
    adapters: tuple[Adapter, ...] = ()
    loose: tuple[NetFunction, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    drives: tuple[Drive, ...] = ()
    psus: tuple[Psu, ...] = ()
    dimms: tuple[Dimm, ...] = ()
    firmware: tuple[FirmwareComponent, ...] = ()
    gaps: tuple[Gap, ...] = field(default=())

    @property
    def functions(self) -> tuple[NetFunction, ...]:
        """Every network function of the host."""
        return (*(function for adapter in self.adapters for function in adapter.functions), *self.loose)

    @property
    def hcas(self) -> tuple[NetFunction, ...]:
        """InfiniBand functions in use: each is one HCA (``mlx5_N``) to the host."""
        return tuple(f for f in self.functions if f.infiniband and f.used)

    def parts(self) -> Iterator[tuple[Family, System | Part]]:
        """Every part with its family."""
        yield Family.SYSTEM, self.system
        yield from ((Family.BMC, nic) for nic in self.bmc_nics)
        for adapter in self.adapters:
            yield Family.ADAPTER, adapter
            yield from ((Family.NIC, function) for function in adapter.functions)
        yield from ((Family.NIC, function) for function in self.loose)
        yield from ((Family.GPU, part) for part in self.gpus)
        yield from ((Family.DRIVE, part) for part in self.drives)
        yield from ((Family.PSU, part) for part in self.psus)
        yield from ((Family.DIMM, part) for part in self.dimms)
        yield from ((Family.FIRMWARE, part) for part in self.firmware)
