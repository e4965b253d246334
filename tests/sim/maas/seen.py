"""What MAAS keeps of what commissioning tells (LXD's "resources" JSON)."""

from __future__ import annotations

from typing import Any

from tests.sim.maas.hardware import DiskHardware, GpuHardware, MachineHardware, NicHardware

Json = dict[str, Any]
MIB = 1024**2


def parse(document: Json) -> MachineHardware:
    """What MAAS keeps of such a document.

    InfiniBand ports are counted only: MAAS makes no interfaces of them.
    :raises KeyError, ValueError, TypeError: it is no such document.
    """
    found = document["resources"]
    system, cards = found["system"], found["network"]["cards"]
    return MachineHardware(
        serial=system["serial"],
        disks=tuple(_parsed_disk(disk) for disk in found["storage"]["disks"]),
        nics=tuple(
            _parsed_nic(card, port)
            for card in cards
            for port in card["ports"]
            if port["protocol"] == "ethernet"
        ),
        gpus=tuple(_parsed_gpu(card) for card in found["gpu"]["cards"]),
        memory_mib=found["memory"]["total"] // MIB,
        cores=_threads(found["cpu"]),
        cpu_speed=max(socket["frequency_turbo"] for socket in found["cpu"]["sockets"]),
        cpu_model=found["cpu"]["sockets"][0]["name"],
        vendor=system["vendor"],
        product=system["product"],
        uuid=system["uuid"],
        facts=_facts(system),
        hcas=sum(port["protocol"] == "infiniband" for card in cards for port in card["ports"]),
        layout=document.get("storage-extra"),
    )


def addresses(document: Json) -> dict[str, str]:
    """The first address of each interface, where it has one."""
    return {
        name: told["addresses"][0]["address"]
        for name, told in document.get("networks", {}).items()
        if told["addresses"]
    }


def _parsed_disk(disk: Json) -> DiskHardware:
    return DiskHardware(
        disk["serial"],
        disk["model"],
        disk["size"],
        disk["firmware_version"],
        disk["block_size"],
        disk["numa_node"],
        disk["id"],
        f"/dev/disk/by-id/{disk['device_id']}" if disk.get("device_id") else "",
    )


def _parsed_nic(card: Json, port: Json) -> NicHardware:
    return NicHardware(
        port["id"],
        port["address"],
        card["vendor"],
        card["product"],
        card["firmware_version"],
        port["link_speed"],
        card["numa_node"],
    )


def _parsed_gpu(card: Json) -> GpuHardware:
    return GpuHardware(
        card["pci_address"],
        card["vendor"],
        card["vendor_id"],
        card["product"],
        card["product_id"],
        card["numa_node"],
    )


def _threads(cpu: Json) -> tuple[tuple[int, ...], ...]:
    nodes: dict[int, list[int]] = {}
    for socket in cpu["sockets"]:
        for core in socket["cores"]:
            for thread in core["threads"]:
                nodes.setdefault(thread["numa_node"], []).append(thread["id"])
    return tuple(tuple(nodes[node]) for node in sorted(nodes))


def _facts(system: Json) -> dict[str, str]:
    """``hardware_info`` but the CPU's model; what is empty is not told of."""
    board, firmware, chassis = system["motherboard"], system["firmware"], system["chassis"]
    told = {
        f"system_{name}": system[name] for name in ("vendor", "product", "family", "version", "sku", "serial")
    }
    told |= {f"mainboard_{name}": board[name] for name in ("vendor", "product", "serial", "version")}
    told |= {f"mainboard_firmware_{name}": firmware[name] for name in ("vendor", "date", "version")}
    told |= {f"chassis_{name}": chassis[name] for name in ("vendor", "type", "serial", "version")}
    return {name: value for name, value in told.items() if value}
