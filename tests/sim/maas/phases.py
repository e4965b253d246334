"""Work that takes long: its steps, its end, its failures, MAAS's own timeout; installing and giving back.

Commissioning is in ``commissioning.py``, rescue mode and tests in ``rescue.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.sim.maas import changes, power, scripts
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.outputs import NOTHING, Left, failed
from tests.sim.maas.scripts import (
    ABORTED,
    BMC_CONFIG,
    FAILED,
    PASSED,
    PENDING,
    RUNNING,
    SKIPPED,
    STATUS_NAMES,
)
from tests.sim.maas.states import FAILURE, MONITORED, Status, timeout_minutes

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

NO_RACK = "No rack controllers can access the BMC of node {}"
BMC = power.QUERY
NO_POWER = "Unable to power control the node. Please check power credentials."
_INSTALL = "Installation failed (refer to the installation log for more information)."
_STEPS = (
    *((0.05, "Performing PXE boot"), (0.12, "Loading ephemeral"), (0.25, "Configuring storage")),
    *((0.3, "Installing OS"), (0.7, "Configuring OS"), (0.8, "Rebooting")),
)


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
            _later(double, record, seconds * share, partial(double.event, record, "INFO", kind))
    if fault is None:
        _later(double, record, seconds, partial(_end, record, work))
    elif fault.kind == "fail":
        _later(double, record, seconds * fault.at, partial(work.fail, fault.text))
    if status in MONITORED and (fault is None or fault.kind != "stuck-forever"):
        minutes = timeout_minutes(status, double.settings.node_timeout)
        _later(double, record, minutes * 60, partial(_timed_out, double, record, status, minutes))


def _end(record: MachineRecord, work: Work) -> None:
    """A server that somebody switched off meanwhile tells nothing: MAAS's own timeout ends the phase."""
    if work.op not in ("commission", "deploy") or power.is_on(record):
        work.end()


def stop(record: MachineRecord) -> None:
    """Nothing that was planned for it will happen."""
    for timer in record.timers:
        timer.cancel()
    record.timers.clear()


def power_off_soon(double: MaasDouble, record: MachineRecord) -> None:
    """Order it off; it is off a little later, where its BMC answers."""
    if not power.silent(double, record, power.OFF):
        _later(double, record, double.settings.durations.power_s, partial(cycle_power, record, on=False))


def _later(double: MaasDouble, record: MachineRecord, seconds: float, action: Callable[[], Any]) -> None:
    record.timers.append(double.time.after(seconds, action))


def _timed_out(double: MaasDouble, record: MachineRecord, status: Status, minutes: int) -> None:
    abort_scripts(double, record)
    fail(double, record, f"Node operation '{status.value}' timed out after {minutes} minutes.")


def fail(double: MaasDouble, record: MachineRecord, text: str) -> None:
    """MAAS gives up: the failure of its status, with a reason."""
    stop(record)
    double.event(record, "ERROR", "Marking node failed", text)
    record.error_description = text
    double.set_status(record, FAILURE[record.status])


cycle_power = power.cycle


# -- scripts ---------------------------------------------------------------------------------------------------


def new_set(double: MaasDouble, record: MachineRecord, kind: str) -> None:
    """A new set of scripts, none of them run yet. :param kind: ``commissioning``, ``installation``."""
    double.new_id("script set")
    number, at = double.new_id("script set"), double.time.wall()
    usual = scripts.COMMISSIONING if kind == "commissioning" else {scripts.INSTALLATION: (0, 600)}
    results = [
        scripts.ScriptResult(
            double.new_id("script result"),
            name,
            script,
            at,
            estimated_s=seconds,
            parameters=scripts.BMC_PARAMETERS if name == BMC_CONFIG else {},
        )
        for name, (script, seconds) in usual.items()
    ]
    record.script_sets.append(scripts.ScriptSet(number, kind, record.system_id, at, results))
    record.current[kind] = number
    if kind == "commissioning" and record.spared:
        ended(double, record, BMC_CONFIG, SKIPPED, 0)
    record.changed()


def ended(
    double: MaasDouble,
    record: MachineRecord,
    name: str,
    status: int,
    exit_status: int,
    left: Left = NOTHING,
) -> None:
    """A script of the current sets ended. :param left: what it printed."""
    for kind in scripts.KINDS:
        current = record.script_set(kind)
        result = current.named(name) if current else None
        if result is None or result.status not in (PENDING, RUNNING):
            continue
        said = f"{name} changed status from '{STATUS_NAMES[result.status]}' to '{STATUS_NAMES[status]}'"
        result.end(status, exit_status, double.time.wall(), left.output, left.stdout, left.stderr)
        double.event(record, "DEBUG", "Script result", said)
        record.changed()
        return


def abort_scripts(double: MaasDouble, record: MachineRecord) -> None:
    """What has not ended of the current sets will not."""
    for kind in scripts.KINDS:
        current = record.script_set(kind)
        for result in current.results if current else ():
            if result.status in (PENDING, RUNNING):
                result.status, result.updated = ABORTED, double.time.wall()
    record.changed()


# -- installing ------------------------------------------------------------------------------------------------


def deploy(double: MaasDouble, record: MachineRecord, comment: str) -> None:
    """Begin to install; the system and kernel are set already."""
    double.asked(record, "User starting deployment", comment)
    double.set_status(record, Status.DEPLOYING)
    double.event(record, "INFO", "Deploying")
    record.error_description = ""
    new_set(double, record, "installation")
    record.netboot = True
    cycle_power(record, on=True)
    begin(
        double,
        record,
        Work(
            "deploy",
            double.settings.durations.deploy_s,
            _STEPS,
            lambda: deployed(double, record),
            lambda text: _deploy_failed(double, record, text),
        ),
    )


def deployed(double: MaasDouble, record: MachineRecord, *, logged: bool = True) -> None:
    """It runs what was installed. :param logged: the installer's log was uploaded."""
    stop(record)
    if logged:
        ended(double, record, scripts.INSTALLATION, PASSED, 0)
    record.netboot = False
    image = f"{record.osystem}/{record.series}/{record.architecture}"
    double.event(record, "INFO", "Image Deployed", f"deployed {image}")
    double.set_status(record, Status.DEPLOYED)
    double.event(record, "INFO", "Deployed")
    if double.faults.strike(["locked"], "deploy", (record.hostname, record.system_id)) is not None:
        record.locked = True


def _deploy_failed(double: MaasDouble, record: MachineRecord, text: str) -> None:
    ended(double, record, scripts.INSTALLATION, FAILED, 1, failed(scripts.INSTALLATION, text))
    if text:
        double.event(record, "ERROR", "Node installation failure", text)
    fail(double, record, _INSTALL)


# -- giving back -----------------------------------------------------------------------------------------------


def release(double: MaasDouble, record: MachineRecord, comment: str, *, erase: bool) -> None:
    """Begin to give a machine back."""
    if not erase:
        double.asked(record, "User releasing node", comment)
        releasing(double, record)
        return
    double.asked(record, "User erasing disk", comment)
    double.set_status(record, Status.DISK_ERASING)
    cycle_power(record, on=True)
    work = Work(
        "release",
        double.settings.durations.erase_s,
        (),
        lambda: releasing(double, record),
        lambda text: fail(double, record, text or "Failed to erase disks."),
    )
    begin(double, record, work)


def releasing(double: MaasDouble, record: MachineRecord) -> None:
    """Forget the installation and switch off; a machine that is off or cannot be asked is ready at once."""
    stop(record)
    double.set_status(record, Status.RELEASING)
    double.event(record, "INFO", "Releasing")
    record.osystem, record.series, record.kernel, record.ephemeral = "", "", None, False
    record.netboot, record.user_data, record.agent = True, b"", ""
    changes.hide_filesystems(record)
    record.changed()
    if record.power_state == "off" or record.power_type == "manual":
        _released(double, record)
        return

    def off() -> None:
        if said := power.silent(double, record, power.OFF):
            fail(double, record, f"Power off for the node failed: {said}")
        else:
            _released(double, record)

    def stays_on(text: str) -> None:
        fail(double, record, text or "Power off failed.")

    begin(double, record, Work("release", double.settings.durations.release_s, (), off, stays_on))


def _released(double: MaasDouble, record: MachineRecord) -> None:
    stop(record)
    cycle_power(record, on=False)
    current = record.script_set("commissioning")
    passed = current is not None and current.status == PASSED
    record.owner, record.owner_data, record.error_description = None, {}, ""
    changes.show_filesystems(record)
    for nic in record.nics:
        nic.given = ""
    double.set_status(record, Status.READY if passed else Status.NEW)
    double.event(record, "INFO", "Released")
