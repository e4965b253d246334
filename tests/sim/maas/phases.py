"""Work that takes long: commissioning, installing, releasing; its steps, its end, its failures, MAAS's own timeout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.maas import changes, network, scripts
from tests.sim.maas.call import Refusal, refused, unreachable
from tests.sim.maas.forms import Form
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.scripts import (
    ABORTED,
    BMC_CONFIG,
    FAILED,
    INVENTORY,
    PASSED,
    PENDING,
    SKIPPED,
    STATUS_NAMES,
)
from tests.sim.maas.states import MONITORED, Status, timeout_minutes

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

NO_RACK = "No rack controllers can access the BMC of node {}"
_BMC = "Failed to query node's BMC"
_POWER = "Unable to power control the node. Please check power credentials."
_INSTALL = "Installation failed (refer to the installation log for more information)."


@dataclass(frozen=True)
class Work:
    """A phase. :param op: as faults name it; :param steps: (share of the time, INFO event) on the way.

    :param end: what happens when it is done; :param fail: when it fails, with the fault's text.
    """

    op: str
    seconds: float
    steps: tuple[tuple[float, str], ...]
    end: Callable[[], None]
    fail: Callable[[str], None]


def begin(double: MaasDouble, record: MachineRecord, work: Work) -> None:
    """Start a phase in the status the machine is in now."""
    stop(record)
    names = (record.hostname, record.system_id)
    fault = double.faults.strike(["stuck", "stuck-forever", "fail"], work.op, names)
    seconds = double.time.about(work.seconds)
    status = record.status
    last = 1.0 if fault is None else fault.at
    for share, kind in work.steps:
        if share < last:
            _later(double, record, seconds * share, lambda kind=kind: double.event(record, "INFO", kind))  # type: ignore[misc]
    if fault is None:
        _later(double, record, seconds, work.end)
    elif fault.kind == "fail":
        text = fault.text
        _later(double, record, seconds * fault.at, lambda: work.fail(text))
    if status in MONITORED and (fault is None or fault.kind != "stuck-forever"):
        minutes = timeout_minutes(status, double.settings.node_timeout)
        _later(double, record, minutes * 60, lambda: _timed_out(double, record, status, minutes))


def stop(record: MachineRecord) -> None:
    """Nothing that was planned for it will happen."""
    for timer in record.timers:
        timer.cancel()
    record.timers.clear()


def _later(double: MaasDouble, record: MachineRecord, seconds: float, action: Callable[[], None]) -> None:
    record.timers.append(double.time.after(seconds, action))


def _timed_out(double: MaasDouble, record: MachineRecord, status: Status, minutes: int) -> None:
    for one in record.script_sets:
        for result in one.results:
            if result.status == PENDING:
                result.end(ABORTED, 0, double.time.wall())
    fail(double, record, f"Node operation '{status.value}' timed out after {minutes} minutes.")


def fail(double: MaasDouble, record: MachineRecord, text: str) -> None:
    """MAAS gives up: the failure of its status, with a reason."""
    from tests.sim.maas.states import FAILURE

    stop(record)
    double.event(record, "ERROR", "Marking node failed", text)
    record.error_description = text
    double.set_status(record, FAILURE[record.status])


def cycle_power(record: MachineRecord, *, on: bool) -> None:
    """Switch as MAAS does: "on" of a machine that is on is a reset."""
    if on and record.power_on:
        record.resets += 1
    record.power_on = on
    record.power_state = "on" if on else "off"
    record.changed()


# -- commissioning ---------------------------------------------------------------------------------------------


def commission(double: MaasDouble, record: MachineRecord, form: Form) -> None:
    """Begin to commission. :raises Refusal: 503 where no rack reaches the BMC; it is back where it was then."""
    before = record.status
    double.asked(record, "User starting node commissioning", form.get("comment"))
    double.event(record, "INFO", "Commissioning")
    record.owner = double.user
    record.spared = form.flag("skip_bmc_config")
    _new_set(double, record, "commissioning")
    double.set_status(record, Status.COMMISSIONING)
    record.extra.pop("shown again", None)
    record.storage.clear()
    if not double.reachable(record, "commission"):
        _no_power(double, record, before)
    cycle_power(record, on=True)
    steps = ((0.08, "Performing PXE boot"), (0.2, "Loading ephemeral"), (0.35, "Gathering information"))
    begin(
        double,
        record,
        Work(
            "commission",
            double.settings.durations.commission_s,
            steps,
            lambda: _commissioned(double, record),
            lambda text: _commission_failed(double, record, text),
        ),
    )


def _new_set(double: MaasDouble, record: MachineRecord, kind: str) -> None:
    double.new_id("script set")
    number, at = double.new_id("script set"), double.time.wall()
    usual = scripts.COMMISSIONING if kind == "commissioning" else {scripts.INSTALLATION: (0, 600)}
    results = []
    for name, (script, seconds) in usual.items():
        results.append(
            scripts.ScriptResult(double.new_id("script result"), name, script, at, estimated_s=seconds)
        )
    record.script_sets.append(scripts.ScriptSet(number, kind, record.system_id, at, results))
    record.current[kind] = number
    if kind == "commissioning" and record.spared:
        ended(double, record, BMC_CONFIG, SKIPPED, 0)
    record.changed()


def ended(
    double: MaasDouble, record: MachineRecord, name: str, status: int, exit_status: int, output: str = ""
) -> None:
    """A script of the current sets ended."""
    for kind in ("commissioning", "installation", "testing"):
        current = record.script_set(kind)
        result = current.named(name) if current else None
        if result is None or result.status not in (PENDING, scripts.RUNNING):
            continue
        said = f"{name} changed status from '{STATUS_NAMES[result.status]}' to '{STATUS_NAMES[status]}'"
        result.end(status, exit_status, double.time.wall(), output)
        double.event(record, "DEBUG", "Script result", said)
        record.changed()
        return


def _no_power(double: MaasDouble, record: MachineRecord, before: Status) -> None:
    """The power step after the commit failed: an event, the status goes back, the answer is 503."""
    text = NO_RACK.format(record.hostname)
    double.event(record, "WARNING", _BMC, f"({double.user}) - {text}", by=True)
    said = f"({double.user}) - Aborting {record.status.name} and reverting to {before.name}. {_POWER}"
    double.event(record, "WARNING", _BMC, said)
    current = record.script_set("commissioning")
    if record.status is Status.COMMISSIONING and current is not None:
        current.results.clear()
    changes.force(double, record, before)
    raise Refusal(unreachable(text))


def _commissioned(double: MaasDouble, record: MachineRecord) -> None:
    stop(record)
    changes.at_commissioning(double, record)
    if not record.spared:
        record.bmc_written += 1
    for name in sorted(scripts.COMMISSIONING):
        ended(double, record, name, PASSED, 0)
    record.commissioned = record.hardware
    record.storage.commission(record.hardware)
    network.found(double, record)
    cycle_power(record, on=False)
    record.owner = None
    record.error_description = ""
    double.event(record, "INFO", "Ready")
    double.set_status(record, Status.READY)
    record.changed()


def _commission_failed(double: MaasDouble, record: MachineRecord, text: str) -> None:
    stop(record)
    for name in sorted(scripts.COMMISSIONING):
        if name != INVENTORY:
            ended(double, record, name, PASSED, 0)
            continue
        ended(double, record, name, FAILED, 1, text or "no disks were told of")
        double.event(record, "INFO", "Script", f"{name} failed")
    double.event(record, "INFO", "Failed commissioning")
    double.set_status(record, Status.FAILED_COMMISSIONING)


# -- installing ------------------------------------------------------------------------------------------------


def deploy(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin to install; the system and kernel are set already."""
    double.asked(record, "User starting deployment", comment)
    double.set_status(record, Status.DEPLOYING)
    double.event(record, "INFO", "Deploying")
    record.error_description = ""
    _new_set(double, record, "installation")
    record.netboot = True
    cycle_power(record, on=True)
    steps = (
        *((0.05, "Performing PXE boot"), (0.12, "Loading ephemeral"), (0.25, "Configuring storage")),
        *((0.3, "Installing OS"), (0.7, "Configuring OS"), (0.8, "Rebooting")),
    )
    begin(
        double,
        record,
        Work(
            "deploy",
            double.settings.durations.deploy_s,
            steps,
            lambda: deployed(double, record),
            lambda text: _deploy_failed(double, record, text),
        ),
    )


def deployed(double: MaasDouble, record: MachineRecord) -> None:
    """It runs what was installed."""
    stop(record)
    ended(double, record, scripts.INSTALLATION, PASSED, 0)
    record.netboot = False
    image = f"{record.osystem}/{record.series}/{record.architecture}"
    double.event(record, "INFO", "Image Deployed", f"deployed {image}")
    double.set_status(record, Status.DEPLOYED)
    double.event(record, "INFO", "Deployed")
    if double.faults.strike(["locked"], "deploy", (record.hostname, record.system_id)) is not None:
        record.locked = True


def _deploy_failed(double: MaasDouble, record: MachineRecord, text: str) -> None:
    ended(
        double, record, scripts.INSTALLATION, FAILED, 1, text or "curtin: Installation failed with exception"
    )
    double.event(record, "ERROR", "Node installation failure", text) if text else None
    fail(double, record, _INSTALL)


# -- giving back -----------------------------------------------------------------------------------------------


def release(double: MaasDouble, record: MachineRecord, comment: str, *, erase: bool) -> None:
    """Begin to give a machine back."""
    durations = double.settings.durations
    if erase:
        double.asked(record, "User erasing disk", comment)
        double.set_status(record, Status.DISK_ERASING)
        cycle_power(record, on=True)
        work = Work(
            "release",
            durations.erase_s,
            (),
            lambda: _releasing(double, record),
            lambda text: fail(double, record, text or "Failed to erase disks."),
        )
        begin(double, record, work)
        return
    double.asked(record, "User releasing node", comment)
    double.set_status(record, Status.RELEASING)
    _releasing(double, record)


def _releasing(double: MaasDouble, record: MachineRecord) -> None:
    if record.status is not Status.RELEASING:
        double.set_status(record, Status.RELEASING)
    double.event(record, "INFO", "Releasing")
    record.osystem, record.series, record.kernel, record.ephemeral = "", "", None, False
    record.netboot, record.user_data, record.agent = True, b"", ""
    record.owner_data = {}
    changes.hide_filesystems(record)
    record.changed()
    work = Work(
        "release",
        double.settings.durations.release_s,
        (),
        lambda: _released(double, record),
        lambda text: fail(double, record, text or "Power off failed."),
    )
    begin(double, record, work)


def _released(double: MaasDouble, record: MachineRecord) -> None:
    stop(record)
    cycle_power(record, on=False)
    record.owner, record.error_description = None, ""
    changes.show_filesystems(record)
    double.event(record, "INFO", "Released")
    double.set_status(record, Status.READY)


# -- rescue mode and tests -------------------------------------------------------------------------------------


def enter_rescue(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin to boot into rescue mode. :raises Refusal: 409 from the wrong status, 503 without a rack."""
    before = record.status
    double.set_status(record, Status.ENTERING_RESCUE_MODE)
    double.asked(record, "User starting rescue mode", comment)
    double.event(record, "INFO", "Entering rescue mode")
    record.extra["before rescue"] = before
    record.owner = record.owner or double.user
    if not double.reachable(record, "rescue_mode"):
        record.owner = None
        text = NO_RACK.format(record.hostname)
        double.event(record, "WARNING", _BMC, f"({double.user}) - {text}", by=True)
        changes.force(double, record, before)
        raise Refusal(unreachable(text))
    cycle_power(record, on=True)

    def end() -> None:
        stop(record)
        double.event(record, "INFO", "Rescue mode")
        double.set_status(record, Status.RESCUE_MODE)

    seconds = double.settings.durations.rescue_s
    begin(double, record, Work("rescue_mode", seconds, (), end, lambda text: fail(double, record, text)))


def exit_rescue(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin to leave rescue mode. :raises Refusal: 409."""
    before = record.extra.get("before rescue", Status.READY)
    double.set_status(record, Status.EXITING_RESCUE_MODE)
    double.asked(record, "User stopping rescue mode", comment)
    cycle_power(record, on=before is Status.DEPLOYED)

    def end() -> None:
        stop(record)
        double.event(record, "INFO", "Exited rescue mode")
        if before is not Status.DEPLOYED:
            record.owner = None
        changes.force(double, record, before)

    seconds = double.settings.durations.rescue_s / 2
    begin(double, record, Work("exit_rescue_mode", seconds, (), end, lambda text: fail(double, record, text)))


def test(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin hardware tests. :raises Refusal: never commissioned, or not now."""
    if record.commissioned is None:
        text = "Unable to start machine testing; this node has never been commissioned. "
        raise Refusal(
            refused(400, text + "Please use the 'Commission' action to commission & test this machine.")
        )
    before = record.status
    double.set_status(record, Status.TESTING)
    double.asked(record, "User starting node testing", comment)
    double.event(record, "INFO", "Testing")
    record.extra["before test"] = before
    cycle_power(record, on=True)

    def end() -> None:
        stop(record)
        cycle_power(record, on=before is Status.DEPLOYED)
        changes.force(double, record, before)

    def failed(text: str) -> None:
        stop(record)
        record.error_description = text
        double.event(record, "INFO", "Failed testing")
        double.set_status(record, Status.FAILED_TESTING)

    begin(double, record, Work("test", double.settings.durations.test_s, (), end, failed))


__all__ = ["begin", "commission", "deploy", "release", "stop"]
