"""All storage of one machine, and what commissioning makes of it."""

from __future__ import annotations

from tests.sim.maas.custom_layout import UnappliableError, apply_custom, validate
from tests.sim.maas.hardware import MachineHardware
from tests.sim.maas.layouts import apply_layout
from tests.sim.maas.stored import Stored


class Storage(Stored):
    """Storage of one machine."""

    def commission(self, hardware: MachineHardware) -> str:
        """Take over the disks that commissioning found, and lay them out: the custom layout it brought, or flat.

        :returns: why a custom layout could not be applied (then nothing is laid out, and commissioning passes all
            the same), or nothing.
        :raises UnsupportedError: the custom layout itself is wrong; nothing is changed.
        """
        if hardware.layout is not None:
            validate(hardware.layout)
        self.custom = hardware.layout
        self.found(hardware.disks)
        if self.boot is None:
            self.clear()
        elif self.custom is None:
            apply_layout(self, "flat", {})
        else:
            try:
                apply_custom(self, self.custom)
            except UnappliableError as why:
                return f"Cannot apply custom layout: {why}"
        return ""

    def flat(self, root_id: int) -> None:
        """The flat layout with its root on a disk."""
        apply_layout(self, "flat", {"root_device": str(root_id)})
