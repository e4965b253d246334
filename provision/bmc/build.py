"""One machine's inventory out of what was read of it; the same whatever the order it was read in."""

from __future__ import annotations

from dataclasses import replace

from provision.bmc.bodies import Bodies
from provision.bmc.inventory import Inventory
from provision.bmc.network import adapters_of, bmc_nics_of
from provision.bmc.outcome import Note
from provision.bmc.parts import dimms_of, drives_of, firmware_of, gpus_of, psus_of, system_of


def build(bodies: Bodies) -> tuple[Inventory, tuple[Note, ...]]:
    """The inventory, and what was odd in the bodies."""
    bodies = replace(bodies, notes=[])
    adapters, loose = adapters_of(bodies)
    functions = [*(f for adapter in adapters for f in adapter.functions), *loose]
    inventory = Inventory(
        depth=bodies.depth,
        system=system_of(bodies),
        bmc_nics=bmc_nics_of(bodies, functions),
        adapters=adapters,
        loose=loose,
        gpus=gpus_of(bodies),
        drives=drives_of(bodies),
        psus=psus_of(bodies),
        dimms=dimms_of(bodies),
        firmware=firmware_of(bodies),
        gaps=tuple(sorted(bodies.gaps, key=lambda gap: (gap.what, gap.path))),
    )
    return inventory, tuple(bodies.notes)
