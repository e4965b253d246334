"""Commissioning: MAAS boots a machine and takes over what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.maas import changes, network, outputs, scripts
from tests.sim.maas.call import Refusal, unreachable
from tests.sim.maas.forms import Form
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.phases import BMC, NO_POWER, NO_RACK, Work, begin, cycle_power, ended, new_set, stop
from tests.sim.maas.scripts import FAILED, INVENTORY, PASSED
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

_STEPS = ((0.08, "Performing PXE boot"), (0.2, "Loading ephemeral"), (0.35, "Gathering information"))


def commission(double: MaasDouble, record: MachineRecord, form: Form) -> None:
    """Begin to commission. :raises Refusal: 503 where no rack reaches the BMC; it is back where it was then."""
    before = record.status
    double.asked(record, "User starting node commissioning")
    double.event(record, "INFO", "Commissioning")
    record.owner = double.user
    record.spared = form.flag("skip_bmc_config")
    new_set(double, record, "commissioning")
    record.current.pop("testing", None)
    if form.get("testing_scripts") != "none":
        record.current["testing"] = record.current["commissioning"] + 1
    double.set_status(record, Status.COMMISSIONING)
    record.extra.pop("shown again", None)
    if not form.flag("skip_storage"):
        record.storage.clear()
    network.unlink(record)
    if not double.reachable(record, "commission"):
        _no_power(double, record, before)
    cycle_power(record, on=True)
    begin(
        double,
        record,
        Work(
            "commission",
            double.settings.durations.commission_s,
            _STEPS,
            lambda: _commissioned(double, record),
            lambda text: _failed(double, record, text),
        ),
    )


def _no_power(double: MaasDouble, record: MachineRecord, before: Status) -> None:
    """The power step after the commit failed: an event, the status goes back, the answer is 503."""
    text = NO_RACK.format(record.hostname)
    double.event(record, "WARNING", BMC, f"({double.user}) - {text}", by=True)
    said = f"({double.user}) - Aborting {record.status.name} and reverting to {before.name}. {NO_POWER}"
    double.event(record, "WARNING", BMC, said)
    current = record.script_set("commissioning")
    if current is not None:
        current.results.clear()
    changes.force(double, record, before)
    raise Refusal(unreachable(text))


def _commissioned(double: MaasDouble, record: MachineRecord) -> None:
    stop(record)
    changes.at_commissioning(double, record)
    if not record.spared:
        record.bmc_written += 1
    record.commissioned = record.hardware
    problem = record.storage.commission(record.hardware)
    network.found(double, record)
    for name in sorted(scripts.COMMISSIONING):
        ended(double, record, name, PASSED, 0)
        if name == INVENTORY and problem:
            double.event(record, "INFO", "Configuring storage", problem)
    cycle_power(record, on=False)
    record.owner, record.error_description = None, ""
    double.event(record, "INFO", "Ready")
    double.set_status(record, Status.READY)
    record.changed()


def _failed(double: MaasDouble, record: MachineRecord, text: str) -> None:
    """A script failed; MAAS stays with the machine's owner and says which."""
    stop(record)
    for name in sorted(scripts.COMMISSIONING):
        if name != INVENTORY:
            ended(double, record, name, PASSED, 0)
            continue
        ended(double, record, name, FAILED, 1, outputs.failed(name, text))
        double.event(record, "INFO", "Script", f"{name} failed")
    double.event(record, "INFO", "Failed commissioning")
    double.set_status(record, Status.FAILED_COMMISSIONING)
