"""What a simulated machine is made of, and what its commissioning tells about it (LXD's "resources" JSON)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
GIB = 1024**3
GPU_BUSES = tuple(range(0x19, 0x9A, 0x10))
HCA_BUSES = tuple(range(0x18, 0x99, 0x10))


@dataclass(frozen=True, slots=True)
class DiskHardware:
    """A disk. :param size: bytes; :param numa_node: of the CPU it hangs on."""

    model: str
    serial: str
    size: int
    firmware: str = "1.0"
    block_size: int = 512
    numa_node: int = 0

    @property
    def device_id(self) -> str:
        """Its name below ``/dev/disk/by-id``."""
        return f"nvme-{self.model.replace(' ', '_')}_{self.serial}"


@dataclass(frozen=True, slots=True)
class NicHardware:
    """An Ethernet port. :param address: what DHCP gave it (``10.0.0.101/24``), empty: nothing."""

    name: str
    mac: str
    address: str = ""
    speed_mbps: int = 25_000
    link: bool = True
    numa_node: int = 0


@dataclass(frozen=True)
class MachineHardware:
    """A machine. The order of ``disks`` is the order in which the kernel finds them, and so their names.

    :param gpus: number of GPUs; :param hcas: number of InfiniBand HCAs (MAAS makes no interfaces of them).
    :param cores: per socket; :param memory: bytes; :param layout: a custom storage layout, as a site's own
        commissioning script may write it (MAAS's ``storage-extra``), keyed by kernel names.
    """

    service_tag: str
    uuid: str
    disks: tuple[DiskHardware, ...]
    nics: tuple[NicHardware, ...]
    gpus: int = 8
    hcas: int = 8
    sockets: int = 2
    cores: int = 4
    memory: int = 2048 * GIB
    layout: Json | None = field(default=None, compare=False)

    def reordered(self, order: Sequence[int]) -> MachineHardware:
        """The same disks, found in another order. :param order: old positions, every one once."""
        assert sorted(order) == list(range(len(self.disks))), "an order names every disk once"
        return replace(self, disks=tuple(self.disks[index] for index in order))

    def with_disk(self, index: int, **changes: Any) -> MachineHardware:
        """Another disk at a place: ``with_disk(0, serial="NEW")`` is a replaced boot card."""
        disks = list(self.disks)
        disks[index] = replace(disks[index], **changes)
        return replace(self, disks=tuple(disks))

    def with_boot_card_replaced(self, serial: str) -> MachineHardware:
        """The boot card (a BOSS, wherever it was found) replaced by one with another serial."""
        index = next(at for at, disk in enumerate(self.disks) if "BOSS" in disk.model)
        return self.with_disk(index, serial=serial)

    def with_one_serial(self, serial: str = "SAME") -> MachineHardware:
        """All data disks tell the same serial, as some controllers do."""
        return replace(
            self, disks=tuple(d if "BOSS" in d.model else replace(d, serial=serial) for d in self.disks)
        )

    def without_disk(self, index: int) -> MachineHardware:
        """A disk is not found (pulled, dead)."""
        return replace(self, disks=self.disks[:index] + self.disks[index + 1 :])

    def without_disks(self) -> MachineHardware:
        """No disk is found at all."""
        return replace(self, disks=())

    def without_nic(self, index: int) -> MachineHardware:
        """An Ethernet port is not found."""
        return replace(self, nics=self.nics[:index] + self.nics[index + 1 :])

    def without_gpus(self, count: int = 1) -> MachineHardware:
        """That many GPUs fell off the bus."""
        return replace(self, gpus=self.gpus - count)

    def resources(self, hostname: str) -> Json:
        """What 50-maas-01-commissioning writes: one JSON document.

        The shape is that of ``machine-resources`` of MAAS 3.7.3.
        """
        document: Json = {
            "api_extensions": [
                "resources",
                "resources_v2",
                "api_os",
                "resources_system",
                "resources_usb_pci",
            ],
            "api_version": "1.0",
            "environment": _environment(hostname),
            "resources": {
                "cpu": _cpu(self),
                "memory": _memory(self),
                "gpu": {"cards": [_gpu(at) for at in range(self.gpus)], "total": self.gpus},
                "network": _network(self),
                "storage": {
                    "disks": [_disk(at, disk) for at, disk in enumerate(self.disks)],
                    "total": len(self.disks),
                },
                "usb": {"devices": [], "total": 0},
                "pci": {"devices": [], "total": 0},
                "system": _system(self),
            },
            "networks": {nic.name: _address(nic) for nic in self.nics},
        }
        if self.layout is not None:
            document["storage-extra"] = self.layout
        return document


def xe9680(hostname: str, macs: Sequence[str]) -> MachineHardware:
    """A machine of the XE9680's kind: a BOSS-N1 boot card, eight NVMe disks, eight GPUs, eight HCAs.

    Serials, service tag and address follow the number in the hostname, so two machines never share one.
    :param macs: of its Ethernet ports in the kernel's order; none: one made of the number.
    """
    digits = "".join(letter for letter in hostname if letter.isdigit())
    number = int(digits or "0") if digits else sum(hostname.encode()) + 1000
    boss = DiskHardware("Dell BOSS-N1", f"BOSS{number:03d}", 960_197_124_096)
    data = [
        DiskHardware("Dell Ent NVMe P5600 3.84TB", f"S600{number}{at:02d}", 3_840_755_982_336)
        for at in range(1, 9)
    ]
    third, fourth = divmod(number + 100, 250)
    names = ["eno8303", "eno8403", *(f"ens{at}" for at in range(2, 20))]
    found = list(macs) or [f"52:54:01:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"]
    nics = [NicHardware(name, mac.lower()) for name, mac in zip(names, found, strict=False)]
    nics[0] = replace(nics[0], address=f"10.0.{third}.{fourth + 1 if third else fourth}/24")
    return MachineHardware(
        service_tag=f"SVCTAG{number:03d}",
        uuid=f"4c4c4544-0000-1000-8000-{number:012d}",
        disks=(boss, *data),
        nics=tuple(nics),
    )


def _environment(hostname: str) -> Json:
    return {
        "kernel": "Linux",
        "kernel_architecture": "x86_64",
        "kernel_version": "6.8.0-45-generic",
        "os_name": "ubuntu",
        "os_version": "24.04",
        "server": "maas-machine-resources",
        "server_name": hostname,
        "server_version": "5.0",
    }


def _cpu(machine: MachineHardware) -> Json:
    sockets = []
    for socket in range(machine.sockets):
        first = socket * machine.cores * 2
        cores = [
            {
                "core": core,
                "die": 0,
                "frequency": 2000,
                "threads": [
                    {
                        "id": first + core * 2 + thread,
                        "numa_node": socket,
                        "thread": thread,
                        "online": True,
                        "isolated": False,
                    }
                    for thread in (0, 1)
                ],
            }
            for core in range(machine.cores)
        ]
        sockets.append(
            {
                "name": "Intel(R) Xeon(R) Platinum 8480C",
                "vendor": "GenuineIntel",
                "socket": socket,
                "cores": cores,
                "frequency": 2000,
                "frequency_minimum": 800,
                "frequency_turbo": 3800,
            }
        )
    total = machine.sockets * machine.cores * 2
    return {"architecture": "x86_64", "sockets": sockets, "total": total}


def _memory(machine: MachineHardware) -> Json:
    nodes = [
        {
            "numa_node": socket,
            "hugepages_used": 0,
            "hugepages_total": 0,
            "used": 8 * GIB,
            "total": machine.memory // machine.sockets,
        }
        for socket in range(machine.sockets)
    ]
    used = 8 * GIB * machine.sockets
    pages = {"hugepages_total": 0, "hugepages_used": 0, "hugepages_size": 2 * 1024**2}
    return {"nodes": nodes, **pages, "used": used, "total": machine.memory}


def _gpu(at: int) -> Json:
    return {
        "driver": "",
        "driver_version": "",
        "numa_node": at // 4,
        "pci_address": f"0000:{GPU_BUSES[at]:02x}:00.0",
        "vendor": "NVIDIA Corporation",
        "vendor_id": "10de",
        "product": "GH100 [H100 SXM5 80GB]",
        "product_id": "2330",
    }


def _network(machine: MachineHardware) -> Json:
    cards = [_ethernet(at, nic) for at, nic in enumerate(machine.nics)]
    number = int("".join(letter for letter in machine.service_tag if letter.isdigit()) or "0")
    cards += [_hca(at, number) for at in range(machine.hcas)]
    return {"cards": cards, "total": len(cards)}


def _ethernet(at: int, nic: NicHardware) -> Json:
    port = {
        "id": nic.name,
        "address": nic.mac,
        "port": 0,
        "protocol": "ethernet",
        "auto_negotiation": True,
        "link_detected": nic.link,
        "link_speed": nic.speed_mbps,
        "link_duplex": "full",
    }
    return {
        "driver": "ice",
        "driver_version": "6.8",
        "ports": [port],
        "numa_node": nic.numa_node,
        "pci_address": f"0000:{at + 2:02x}:00.0",
        "vendor": "Intel Corporation",
        "vendor_id": "8086",
        "product": "E810",
        "product_id": "159b",
        "firmware_version": "4.5",
    }


def _hca(at: int, machine: int) -> Json:
    guid = f"a0:88:c2:03:{machine >> 8 & 255:02x}:{machine & 255:02x}:{at:02x}:01"
    port = {
        "id": f"ibp{at}s0",
        "address": f"00:00:10:49:fe:80:00:00:00:00:00:00:{guid}",
        "port": 0,
        "protocol": "infiniband",
        "auto_negotiation": False,
        "link_detected": True,
        "link_speed": 400_000,
        "infiniband": {
            "issm_name": f"issm{at}",
            "issm_device": f"231:{64 + at}",
            "mad_name": f"umad{at}",
            "mad_device": f"231:{at}",
            "verb_name": f"uverbs{at}",
            "verb_device": f"231:{192 + at}",
        },
    }
    return {
        "driver": "mlx5_core",
        "driver_version": "24.10",
        "ports": [port],
        "numa_node": at // 4,
        "pci_address": f"0000:{HCA_BUSES[at]:02x}:00.0",
        "vendor": "Mellanox Technologies",
        "vendor_id": "15b3",
        "product": "MT2910 Family [ConnectX-7]",
        "product_id": "1021",
        "firmware_version": "28.39.1002",
    }


def _disk(at: int, disk: DiskHardware) -> Json:
    return {
        "id": f"nvme{at}n1",
        "device": f"259:{at}",
        "model": disk.model,
        "type": "nvme",
        "read_only": False,
        "mounted": False,
        "size": disk.size,
        "removable": False,
        "wwn": f"eui.{disk.serial}",
        "numa_node": disk.numa_node,
        "device_path": f"pci-0000:{at:02x}:00.0-nvme-1",
        "block_size": disk.block_size,
        "firmware_version": disk.firmware,
        "rpm": 0,
        "serial": disk.serial,
        "device_id": disk.device_id,
        "partitions": [],
    }


def _system(machine: MachineHardware) -> Json:
    dell = "Dell Inc."
    return {
        "uuid": machine.uuid,
        "vendor": dell,
        "product": "PowerEdge XE9680",
        "family": "PowerEdge",
        "version": "",
        "sku": "SKU=0B9F",
        "serial": machine.service_tag,
        "type": "physical",
        "firmware": {"vendor": dell, "date": "05/01/2024", "version": "2.1.5"},
        "chassis": {
            "vendor": dell,
            "type": "Rack Mount Chassis",
            "serial": machine.service_tag,
            "version": "",
        },
        "motherboard": {
            "vendor": dell,
            "product": "0M5TNR",
            "serial": f".{machine.service_tag}.",
            "version": "A02",
        },
    }


def _address(nic: NicHardware) -> Json:
    address, _, netmask = nic.address.partition("/")
    found = {"family": "inet", "address": address, "netmask": netmask, "scope": "global"}
    counted = ("bytes_received", "bytes_sent", "packets_received", "packets_sent")
    return {
        "addresses": [found] if nic.address else [],
        "counters": dict.fromkeys(counted, 0),
        "hwaddr": nic.mac,
        "mtu": 1500,
        "state": "up" if nic.link else "down",
        "type": "broadcast",
        "bond": None,
        "bridge": None,
        "vlan": None,
        "ovn": None,
    }
