"""What a machine really consists of, whatever MAAS has been told so far."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

BOSS_SIZE = 960_197_124_096
NVME_SIZE = 3_840_755_982_336


@dataclass(frozen=True)
class DiskHardware:
    """A disk, in the order the kernel finds it; its name follows from the order."""

    serial: str
    model: str
    size: int
    firmware: str = "1.0"
    block_size: int = 512
    numa_node: int = 0
    name: str = ""
    """As the kernel names it; empty: ``nvme<place>n1``."""
    id_path: str = ""

    @property
    def by_id(self) -> str:
        """Its path below ``/dev/disk/by-id``."""
        return self.id_path or f"/dev/disk/by-id/nvme-{self.model.replace(' ', '_')}_{self.serial}"


@dataclass(frozen=True)
class NicHardware:
    """An Ethernet port. :param link_speed: Mbit/s."""

    name: str
    mac: str
    vendor: str = "Intel Corporation"
    product: str = "E810"
    firmware: str = "4.5"
    link_speed: int = 25000
    numa_node: int = 0


@dataclass(frozen=True)
class GpuHardware:
    """A GPU on the PCI bus."""

    pci_address: str
    vendor: str = "NVIDIA Corporation"
    vendor_id: str = "10de"
    product: str = "GH100 [H100 SXM5 80GB]"
    product_id: str = "2330"
    numa_node: int = 0


@dataclass(frozen=True)
class MachineHardware:
    """A whole server.

    :param serial: the service tag; :param uuid: of the system; :param cores: threads of each NUMA node.
    """

    serial: str
    disks: tuple[DiskHardware, ...]
    nics: tuple[NicHardware, ...]
    gpus: tuple[GpuHardware, ...] = ()
    memory_mib: int = 2 * 1024 * 1024
    cores: tuple[tuple[int, ...], ...] = (tuple(range(8)), tuple(range(8, 16)))
    cpu_speed: int = 3800
    cpu_model: str = "Intel(R) Xeon(R) Platinum 8480C"
    vendor: str = "Dell Inc."
    product: str = "PowerEdge XE9680"
    uuid: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    """More of ``hardware_info``, over what is usual."""
    hcas: int = 8
    """InfiniBand ports; MAAS makes no interfaces of them."""
    layout: dict[str, Any] | None = field(default=None, compare=False)
    """A custom storage layout, as a site's own commissioning script may write it (``storage-extra``)."""

    def with_disks(self, disks: Sequence[DiskHardware]) -> MachineHardware:
        """The same with other disks, or the same disks in another order."""
        return replace(self, disks=tuple(disks))

    def reordered(self, order: Sequence[int]) -> MachineHardware:
        """The same disks, found in another order. :param order: old places, each once."""
        assert sorted(order) == list(range(len(self.disks))), "an order names every disk once"
        return self.with_disks([self.disks[place] for place in order])

    def with_boot_card_replaced(self, serial: str) -> MachineHardware:
        """The boot card (a BOSS, wherever it was found) replaced by one with another serial number."""
        return self.with_disks(
            [replace(disk, serial=serial) if "BOSS" in disk.model else disk for disk in self.disks]
        )

    def with_one_serial(self, serial: str = "SAME") -> MachineHardware:
        """All data disks tell the same serial number, as some controllers do."""
        return self.with_disks(
            [disk if "BOSS" in disk.model else replace(disk, serial=serial) for disk in self.disks]
        )

    def without_disk(self, place: int) -> MachineHardware:
        """A disk is not found (pulled, dead)."""
        return self.with_disks(self.disks[:place] + self.disks[place + 1 :])

    def without_nic(self, place: int) -> MachineHardware:
        """An Ethernet port is not found."""
        return replace(self, nics=self.nics[:place] + self.nics[place + 1 :])

    def without_gpus(self, count: int = 1) -> MachineHardware:
        """That many GPUs fell off the bus."""
        return replace(self, gpus=self.gpus[: len(self.gpus) - count])


Hardware = Callable[[str, Sequence[str]], MachineHardware]
"""(host name, MACs that were given at create) -> what the machine consists of."""
_PORTS = ("eno8303", "eno8403", "ens3f0np0", "ens3f1np1")
INFINIBAND_BUSES = ("18", "28", "38", "48", "58", "68", "78", "88")
_GPU_BUSES = ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")


def xe9680(hostname: str, macs: Sequence[str]) -> MachineHardware:
    """A Dell XE9680: a BOSS card, eight NVMe disks, eight GPUs, 2 TiB; serials follow from the host name."""
    mark = hashlib.sha256(hostname.encode()).hexdigest().upper()
    disks = [DiskHardware(f"BOSS{mark[:6]}", "Dell BOSS-N1", BOSS_SIZE)]
    disks += [
        DiskHardware(f"S6{mark[:5]}{place:02}", "Dell Ent NVMe P5600 3.84TB", NVME_SIZE, numa_node=place // 5)
        for place in range(1, 9)
    ]
    nics = [
        NicHardware(_PORTS[place % 4] if place < 4 else f"ens{place}", mac) for place, mac in enumerate(macs)
    ]
    gpus = [GpuHardware(f"0000:{bus}:00.0", numa_node=place // 4) for place, bus in enumerate(_GPU_BUSES)]
    return MachineHardware(
        serial=mark[6:13],
        disks=tuple(disks),
        nics=tuple(nics),
        gpus=tuple(gpus),
        uuid=f"4c4c4544-{mark[:4]}-{mark[4:8]}-80{mark[8:10]}-{mark[10:22]}".lower(),
    )


def varied(share: float = 1 / 3, seed: int = 1) -> Hardware:
    """As :func:`xe9680`, but where the kernel finds a disk first is chance, as on real buses.

    :param share: of the hosts that find a data disk before the boot card.
    """

    def made(hostname: str, macs: Sequence[str]) -> MachineHardware:
        hardware = xe9680(hostname, macs)
        dice = random.Random(f"{seed}/{hostname}/disks")
        if dice.random() >= share:
            return hardware
        others = list(range(1, len(hardware.disks)))
        dice.shuffle(others)
        others.insert(dice.randrange(1, len(others) + 1), 0)
        return hardware.reordered(others)

    return made
