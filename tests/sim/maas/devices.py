"""Devices on a machine's PCI bus as commissioning listed them: graphics of the BMC, GPUs, InfiniBand cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sim.maas.call import API, Answer, Incoming, Refusal, absent, invalid, not_allowed, ok
from tests.sim.maas.hardware import INFINIBAND_BUSES, GpuHardware, MachineHardware
from tests.sim.maas.machines import MachineRecord

TYPES = {"node": 0, "cpu": 1, "memory": 2, "storage": 3, "network": 4, "gpu": 5}
_NAMES = {4: "Network", 5: "GPU"}
BMC_GRAPHICS = GpuHardware(
    "0000:03:00.0", "Matrox Electronics Systems Ltd.", "102b", "Integrated Matrox G200eW3", "0536"
)
"""Dell's BMC has graphics of its own, and MAAS lists them as a GPU."""


def serve(record: MachineRecord, incoming: Incoming) -> Answer:
    """``nodes/ID/devices/`` and one of them."""
    if incoming.method != "GET":
        return not_allowed("GET")
    shown = list(_shown(record.system_id, record.commissioned)) if record.commissioned else []
    rest = incoming.parts[3:]
    if rest:
        one = next((one for one in shown if rest[0] in (str(one["id"]), one["pci_address"])), None)
        return absent("NodeDevice") if one is None else ok(one)
    query = incoming.query
    kind = query.get("hardware_type").lower()
    if kind:
        if kind not in TYPES and kind not in {str(number) for number in TYPES.values()}:
            raise Refusal(
                invalid({"__all__": ["Hardware type must be node, cpu, memory, storage, network, or gpu"]})
            )
        wanted = TYPES.get(kind) if kind in TYPES else int(kind)
        shown = [one for one in shown if one["hardware_type"] == wanted]
    for name in ("vendor_id", "product_id", "vendor_name", "product_name"):
        asked = query.get(name).lower()
        shown = [one for one in shown if not asked or str(one[name]).lower() == asked]
    return ok(shown)


def _shown(system_id: str, found: MachineHardware) -> Iterator[dict[str, Any]]:
    cards = [(5, card) for card in (BMC_GRAPHICS, *found.gpus)]
    for place in range(found.hcas):
        address = (
            f"0000:{INFINIBAND_BUSES[place % len(INFINIBAND_BUSES)]}:00.{place // len(INFINIBAND_BUSES)}"
        )
        cards.append(
            (4, GpuHardware(address, "Mellanox Technologies", "15b3", "MT2910 Family [ConnectX-7]", "1021"))
        )
    for number, (kind, card) in enumerate(cards, 1):
        yield {
            "id": number,
            "bus": 1,
            "bus_name": "PCIE",
            "hardware_type": kind,
            "hardware_type_name": _NAMES[kind],
            "system_id": system_id,
            "numa_node": card.numa_node,
            "physical_blockdevice": None,
            "physical_interface": None,
            "vendor_id": card.vendor_id,
            "product_id": card.product_id,
            "vendor_name": card.vendor,
            "product_name": card.product,
            "commissioning_driver": "",
            "bus_number": int(card.pci_address.split(":")[1], 16),
            "device_number": 0,
            "pci_address": card.pci_address,
            "resource_uri": f"{API}nodes/{system_id}/devices/{number}/",
        }
