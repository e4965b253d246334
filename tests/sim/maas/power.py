"""The line from MAAS to the BMCs, where there are any: who switches the servers, and what MAAS knows of their power.

MAAS asks each BMC for its power every five minutes; in between it believes what it was told last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble
    from tests.sim.maas.machines import MachineRecord

POLL_S = 300.0
QUERY = "Failed to query node's BMC"
OFF = "Failed to power off node"
Parameters = Mapping[str, Any]
"""Of a machine's power, as MAAS has them: they name the BMC, whatever the machine is called."""


class Wires(Protocol):
    """BMCs that MAAS's power commands reach."""

    def problem(self, power: Parameters) -> str:
        """What MAAS's power driver says when it asks this BMC just now; empty: it answers."""
        ...

    def is_on(self, power: Parameters) -> bool:
        """Whether the server is on, asked or not."""
        ...

    def on(self, power: Parameters) -> None:
        """Off where it is on, one boot over the network, on."""
        ...

    def off(self, power: Parameters) -> None:
        """Cut its power, or it switches itself off."""
        ...


def is_on(record: MachineRecord) -> bool:
    """Whether the server really is on."""
    return record.power_on if record.wires is None else record.wires.is_on(record.power)


def cycle(record: MachineRecord, *, on: bool) -> None:
    """Switch as MAAS does: "on" of a machine that is on is a reset."""
    if on and is_on(record):
        record.resets += 1
    if record.wires is not None:
        (record.wires.on if on else record.wires.off)(record.power)
    record.power_on = on
    record.power_state = "on" if on else "off"
    record.changed()


def silent(double: MaasDouble, record: MachineRecord, kind: str = QUERY) -> str:
    """What is wrong with the BMC, which is an event then; empty: it answers."""
    said = record.wires.problem(record.power) if record.wires is not None else ""
    if said:
        record.power_state = "error"
        double.event(record, "WARNING" if kind == QUERY else "ERROR", kind, said)
        record.changed()
    return said


def look(record: MachineRecord) -> None:
    """Let MAAS see what is; a BMC that does not answer is an error, which is no event each time."""
    if record.wires is None or record.power_type in ("", "manual"):
        return
    seen = "error" if record.wires.problem(record.power) else "on" if is_on(record) else "off"
    if seen != record.power_state:
        record.power_state = seen
        record.changed()


def watch(double: MaasDouble) -> None:
    """Look at all machines from now on, every five minutes."""

    def again() -> None:
        for record in double.records.values():
            look(record)
        watch(double)

    double.time.after(POLL_S, again)
