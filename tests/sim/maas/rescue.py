"""Rescue mode and hardware tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.maas import changes
from tests.sim.maas.call import Refusal, refused, unreachable
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.phases import BMC, NO_RACK, Work, begin, cycle_power, fail, stop
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

NEVER = (
    "Unable to start machine testing; this node has never been commissioned. "
    "Please use the 'Commission' action to commission & test this machine."
)


def enter(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin to boot into rescue mode. :raises Refusal: 409 from the wrong status, 503 without a rack."""
    before = record.status
    double.set_status(record, Status.ENTERING_RESCUE_MODE)
    double.asked(record, "User starting rescue mode", comment)
    double.event(record, "INFO", "Entering rescue mode")
    record.extra["before rescue"] = before
    if not double.reachable(record, "rescue_mode"):
        text = NO_RACK.format(record.hostname)
        double.event(record, "WARNING", BMC, f"({double.user}) - {text}", by=True)
        changes.force(double, record, before)
        raise Refusal(unreachable(text))
    record.owner = record.owner or double.user
    cycle_power(record, on=True)

    def end() -> None:
        stop(record)
        double.event(record, "INFO", "Rescue mode")
        double.set_status(record, Status.RESCUE_MODE)

    def failed(text: str) -> None:
        fail(double, record, text or "Failed to enter rescue mode.")

    begin(double, record, Work("rescue_mode", double.settings.durations.rescue_s, (), end, failed))


def leave(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin to leave rescue mode. :raises Refusal: 409."""
    before = record.extra.get("before rescue", Status.READY)
    double.set_status(record, Status.EXITING_RESCUE_MODE)
    double.asked(record, "User stopping rescue mode", comment)
    cycle_power(record, on=before is Status.DEPLOYED)

    def end() -> None:
        stop(record)
        if before is not Status.DEPLOYED:
            record.owner = None
        changes.force(double, record, before)
        double.event(record, "INFO", "Exited rescue mode")

    def failed(_text: str) -> None:
        stop(record)
        double.event(record, "INFO", "Failed exiting rescue mode")
        double.set_status(record, Status.FAILED_EXITING_RESCUE_MODE)

    begin(double, record, Work("exit_rescue_mode", double.settings.durations.rescue_s / 2, (), end, failed))


def test(double: MaasDouble, record: MachineRecord) -> None:
    """Begin hardware tests. :raises Refusal: never commissioned, or not now."""
    if record.status is Status.NEW and "commissioning" not in record.current:
        raise Refusal(refused(400, NEVER))
    before = record.status
    double.set_status(record, Status.TESTING)
    double.asked(record, "User starting node testing")
    double.event(record, "INFO", "Testing")
    record.extra["before test"] = before
    record.owner = record.owner or double.user
    cycle_power(record, on=True)

    def end() -> None:
        stop(record)
        cycle_power(record, on=before is Status.DEPLOYED)
        if before is Status.READY:
            record.owner = None
        changes.force(double, record, before)

    def failed(text: str) -> None:
        stop(record)
        record.error_description = text
        double.event(record, "INFO", "Failed testing")
        double.set_status(record, Status.FAILED_TESTING)

    begin(double, record, Work("test", double.settings.durations.test_s, (), end, failed))
