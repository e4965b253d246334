"""What commissioning tells about a machine (the "resources" JSON of LXD), made of its description."""

from __future__ import annotations

import zlib
from typing import Any

from tests.sim.maas.hardware import (
    INFINIBAND_BUSES,
    DiskHardware,
    GpuHardware,
    MachineHardware,
    NicHardware,
)

Json = dict[str, Any]
MIB = 1024**2
GIB = 1024**3


def resources(machine: MachineHardware, hostname: str, address: str = "") -> Json:
    """What 50-maas-01-commissioning writes: one JSON document, in the shape of MAAS 3.7.3's ``machine-resources``.

    :param address: what DHCP gave its first port (``10.0.0.101/24``).
    """
    document: Json = {
        "api_extensions": ["resources", "resources_v2", "api_os", "resources_system", "resources_usb_pci"],
        "api_version": "1.0",
        "environment": _environment(hostname),
        "resources": {
            "cpu": _cpu(machine),
            "memory": _memory(machine),
            "gpu": {"cards": [_gpu(gpu) for gpu in machine.gpus], "total": len(machine.gpus)},
            "network": _network(machine),
            "storage": {
                "disks": [_disk(at, disk) for at, disk in enumerate(machine.disks)],
                "total": len(machine.disks),
            },
            "usb": {"devices": [], "total": 0},
            "pci": {"devices": [], "total": 0},
            "system": _system(machine),
        },
        "networks": {
            nic.name: _address(nic, address if at == 0 else "") for at, nic in enumerate(machine.nics)
        },
    }
    if machine.layout is not None:
        document["storage-extra"] = machine.layout
    return document


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
    for socket, threads in enumerate(machine.cores):
        cores = [
            {
                "core": at // 2,
                "die": 0,
                "frequency": 2000,
                "threads": [_thread(id, socket, place) for place, id in enumerate(threads[at : at + 2])],
            }
            for at in range(0, len(threads), 2)
        ]
        sockets.append(
            {
                "name": machine.cpu_model,
                "vendor": "GenuineIntel",
                "socket": socket,
                "cores": cores,
                "frequency": 2000,
                "frequency_minimum": 800,
                "frequency_turbo": machine.cpu_speed,
            }
        )
    return {"architecture": "x86_64", "sockets": sockets, "total": sum(map(len, machine.cores))}


def _thread(id: int, socket: int, place: int) -> Json:
    return {"id": id, "numa_node": socket, "thread": place, "online": True, "isolated": False}


def _memory(machine: MachineHardware) -> Json:
    sockets = len(machine.cores)
    nodes = [
        {
            "numa_node": socket,
            "hugepages_used": 0,
            "hugepages_total": 0,
            "used": 8 * GIB,
            "total": machine.memory_mib * MIB // sockets,
        }
        for socket in range(sockets)
    ]
    pages = {"hugepages_total": 0, "hugepages_used": 0, "hugepages_size": 2 * MIB}
    return {"nodes": nodes, **pages, "used": 8 * GIB * sockets, "total": machine.memory_mib * MIB}


def _gpu(gpu: GpuHardware) -> Json:
    return {
        "driver": "",
        "driver_version": "",
        "numa_node": gpu.numa_node,
        "pci_address": gpu.pci_address,
        "vendor": gpu.vendor,
        "vendor_id": gpu.vendor_id,
        "product": gpu.product,
        "product_id": gpu.product_id,
    }


def _network(machine: MachineHardware) -> Json:
    cards = [_ethernet(at, nic) for at, nic in enumerate(machine.nics)]
    cards += [_hca(at, machine.serial) for at in range(machine.hcas)]
    return {"cards": cards, "total": len(cards)}


def _ethernet(at: int, nic: NicHardware) -> Json:
    port = {
        "id": nic.name,
        "address": nic.mac,
        "port": 0,
        "protocol": "ethernet",
        "auto_negotiation": True,
        "link_detected": True,
        "link_speed": nic.link_speed,
        "link_duplex": "full",
    }
    return {
        "driver": "ice",
        "driver_version": "6.8",
        "ports": [port],
        "numa_node": nic.numa_node,
        "pci_address": f"0000:{at + 2:02x}:00.0",
        "vendor": nic.vendor,
        "vendor_id": "8086",
        "product": nic.product,
        "product_id": "159b",
        "firmware_version": nic.firmware,
    }


def _hca(at: int, serial: str) -> Json:
    crc = zlib.crc32(serial.encode())
    mark = f"{crc >> 8 & 255:02x}:{crc & 255:02x}"
    port = {
        "id": f"ibp{at}s0",
        "address": f"00:00:10:49:fe:80:00:00:00:00:00:00:a0:88:c2:{mark}:{at:02x}:00:01",
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
        "pci_address": f"0000:{INFINIBAND_BUSES[at]}:00.0",
        "vendor": "Mellanox Technologies",
        "vendor_id": "15b3",
        "product": "MT2910 Family [ConnectX-7]",
        "product_id": "1021",
        "firmware_version": "28.39.1002",
    }


def _disk(at: int, disk: DiskHardware) -> Json:
    return {
        "id": disk.name or f"nvme{at}n1",
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
        "device_id": disk.by_id.removeprefix("/dev/disk/by-id/"),
        "partitions": [],
    }


def _system(machine: MachineHardware) -> Json:
    info = machine.facts
    return {
        "uuid": machine.uuid,
        "vendor": machine.vendor,
        "product": machine.product,
        "family": machine.product.partition(" ")[0],
        "version": info.get("system_version", ""),
        "sku": info.get("system_sku", "SKU=0B9F"),
        "serial": machine.serial,
        "type": "physical",
        "firmware": {
            "vendor": machine.vendor,
            "date": info.get("mainboard_firmware_date", "05/01/2024"),
            "version": info.get("mainboard_firmware_version", "2.1.5"),
        },
        "chassis": {
            "vendor": machine.vendor,
            "type": info.get("chassis_type", "Rack Mount Chassis"),
            "serial": info.get("chassis_serial", machine.serial),
            "version": info.get("chassis_version", ""),
        },
        "motherboard": {
            "vendor": machine.vendor,
            "product": info.get("mainboard_product", "0M5TNR"),
            "serial": info.get("mainboard_serial", f".{machine.serial}."),
            "version": info.get("mainboard_version", "A02"),
        },
    }


def _address(nic: NicHardware, given: str) -> Json:
    address, _, netmask = given.partition("/")
    found = {"family": "inet", "address": address, "netmask": netmask, "scope": "global"}
    counted = ("bytes_received", "bytes_sent", "packets_received", "packets_sent")
    return {
        "addresses": [found] if given else [],
        "counters": dict.fromkeys(counted, 0),
        "hwaddr": nic.mac,
        "mtu": 1500,
        "state": "up",
        "type": "broadcast",
        "bond": None,
        "bridge": None,
        "vlan": None,
        "ovn": None,
    }
