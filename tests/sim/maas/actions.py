"""Operations on one machine, with the words MAAS refuses them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.sim.maas import changes, commissioning, create, deploying, phases, power, rescue, storage_ops
from tests.sim.maas.call import (
    Answer,
    Incoming,
    Refusal,
    deleted,
    done_text,
    invalid,
    not_allowed,
    ok,
    refused,
    unrecognised,
)
from tests.sim.maas.machines import MachineRecord
from tests.sim.maas.scripts import COMMISSIONING
from tests.sim.maas.states import ACTIONS, Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

Act = Callable[["MaasDouble", MachineRecord, Incoming], Answer | None]
"""None: the answer is the machine."""
RELEASABLE = ACTIONS["release"] | {Status.RESERVED, Status.BROKEN}
_MODES = {
    Status.COMMISSIONING: ("node commissioning", "commissioning", Status.NEW),
    Status.DEPLOYING: ("deployment", "deployment", Status.ALLOCATED),
    Status.DISK_ERASING: ("disk erase", "disk erasing", Status.FAILED_DISK_ERASING),
    Status.TESTING: ("node testing", "testing", Status.READY),
}
"""Status -> words of the request, words of the event, what it becomes when it is aborted."""


def serve(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    """``machines/ID/``."""
    if incoming.method not in ("GET", "PUT", "POST", "DELETE"):
        return not_allowed("GET", "PUT", "POST", "DELETE")
    act = _ACTS.get((incoming.method, incoming.op))
    if act is None:
        return unrecognised(incoming.method, incoming.op)
    answer = act(double, record, incoming)
    record.changed()
    return ok(record.json(double.around)) if answer is None else answer


def unlocked(record: MachineRecord) -> None:
    """:raises Refusal: 403 without a word, the machine is locked."""
    if record.locked:
        raise Refusal(refused(403, ""))


def _read(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    return ok(record.json(double.around))


def _delete(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    unlocked(record)
    phases.stop(record)
    del double.records[record.system_id]
    double.events.drop(record.system_id)
    return deleted()


def _commission(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.status not in ACTIONS["commission"]:
        text = "Commission is not available because of the current state of the node."
        raise Refusal(invalid({"__all__": [text]}))
    form, errors = incoming.form, {}
    known = {*COMMISSIONING, "none", "", *double.scripts}
    for name in ("commissioning_scripts", "testing_scripts"):
        asked = [one for text in form.all(name) for one in text.split(",")]
        wrong = [one for one in asked if one not in known]
        if wrong:
            errors[name] = [create.CHOICE.format(one) for one in wrong]
    if errors:
        raise Refusal(invalid(errors))
    commissioning.commission(double, record, form)


def _release(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    release(double, record, incoming)


def release(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    """Release a machine; one that is ready or being released is left as it is."""
    unlocked(record)
    if record.status in (Status.RELEASING, Status.READY):
        return
    if record.status not in RELEASABLE:
        raise deploying.state(f"Machine cannot be released in its current state ('{record.status.value}').")
    form = incoming.form
    phases.release(double, record, form.get("comment"), erase=form.flag("erase"))


def _abort(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer | None:
    mode = _MODES.get(record.status)
    if mode is None:
        where = f"node {record.system_id} is in state {record.status.value}"
        raise deploying.state(f"Cannot abort in current state: {where}.")
    asked, said, becomes = mode
    phases.stop(record)
    double.asked(record, f"User aborting {asked}", incoming.form.get("comment"))
    double.event(record, "INFO", f"Aborted {said}")
    if record.status is Status.COMMISSIONING:
        record.owner = None
    phases.abort_scripts(double, record)
    shown = record.json(double.around)
    phases.power_off_soon(double, record)
    if record.status is Status.TESTING:
        becomes = record.extra.get("before test", becomes)
    double.set_status(record, becomes)
    return ok(shown)


def _power_on(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.owner is None:
        raise deploying.state("Can't start node: it hasn't been allocated.")
    _need_rack(double, record, "power_on")
    double.asked(record, "User powering up node", incoming.form.get("comment"))
    phases.cycle_power(record, on=True)


def _power_off(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    _need_rack(double, record, "power_off")
    double.asked(record, "User powering down node", incoming.form.get("comment"))
    phases.cycle_power(record, on=False)


def _query(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    if not double.racked(record, "query_power_state"):
        raise _no_rack(double, record)
    if not power.silent(double, record):
        record.power_state = "on" if power.is_on(record) else "off"
    return ok({"state": record.power_state})


def _need_rack(double: MaasDouble, record: MachineRecord, op: str) -> None:
    if not double.reachable(record, op):
        raise _no_rack(double, record)


def _no_rack(double: MaasDouble, record: MachineRecord) -> Refusal:
    text = phases.NO_RACK.format(record.hostname)
    double.event(record, "WARNING", power.QUERY, text)
    return Refusal(refused(503, text))


def _mark_broken(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.owner != double.user:
        raise Refusal(refused(403, ""))
    comment = incoming.form.get("comment") or incoming.form.get("error_description")
    double.asked(record, "User marking node broken", comment)
    phases.stop(record)
    if record.status in RELEASABLE:
        phases.releasing(double, record)
        phases.stop(record)
        if not power.silent(double, record, power.OFF):
            phases.cycle_power(record, on=False)
    double.set_status(record, Status.BROKEN)
    changes.show_filesystems(record)
    record.error_description = comment


def _mark_fixed(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    """It does not say ``New`` again, whatever it was before; and whoever owned it owns it still."""
    if record.status is not Status.BROKEN:
        raise deploying.state("Can't mark a non-broken node as 'Ready'.")
    double.asked(record, "User marking node fixed", incoming.form.get("comment"))
    record.error_description, record.osystem, record.series, record.kernel = "", "", "", None
    double.set_status(record, Status.DEPLOYED if record.previous is Status.DEPLOYED else Status.READY)


def _lock(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.locked:
        raise deploying.state("Machine is already locked")
    if record.status not in ACTIONS["lock"]:
        raise deploying.state("Can't lock, node is not deployed or deploying")
    double.asked(record, "User locking node", incoming.form.get("comment"))
    record.locked = True


def _unlock(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if not record.locked:
        raise deploying.state("Machine is not locked")
    double.asked(record, "User unlocking node", incoming.form.get("comment"))
    record.locked = False


def _override(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    if record.status is not Status.FAILED_TESTING:
        raise deploying.state("Unable to override node status. Node is not in 'Failed testing' status.")
    double.asked(record, "User overrode 'Failed testing' status", incoming.form.get("comment"))
    double.set_status(record, Status.DEPLOYED if record.osystem else Status.READY)


def _rescue(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    rescue.enter(double, record, incoming.form.get("comment"))


def _leave_rescue(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    rescue.leave(double, record, incoming.form.get("comment"))


def _test(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    rescue.test(double, record)


def _token(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    return ok(record.token)


def _details(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    return done_text("")


def _owner_data(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    for name, values in incoming.form.fields.items():
        if name == "op":
            continue
        if values[-1]:
            record.owner_data[name] = values[-1]
        else:
            record.owner_data.pop(name, None)


def _nothing(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> None:
    """It changes nothing that is kept."""


def _power_parameters(double: MaasDouble, record: MachineRecord, incoming: Incoming) -> Answer:
    return ok(record.power)


_ACTS: dict[tuple[str, str | None], Act] = {
    ("GET", None): _read,
    ("PUT", None): create.update,
    ("DELETE", None): _delete,
    ("GET", "power_parameters"): _power_parameters,
    ("GET", "query_power_state"): _query,
    ("GET", "get_token"): _token,
    ("GET", "details"): _details,
    ("POST", "commission"): _commission,
    ("POST", "deploy"): deploying.deploy,
    ("POST", "release"): _release,
    ("POST", "abort"): _abort,
    ("POST", "power_on"): _power_on,
    ("POST", "power_off"): _power_off,
    ("POST", "mark_broken"): _mark_broken,
    ("POST", "mark_fixed"): _mark_fixed,
    ("POST", "lock"): _lock,
    ("POST", "unlock"): _unlock,
    ("POST", "override_failed_testing"): _override,
    ("POST", "rescue_mode"): _rescue,
    ("POST", "exit_rescue_mode"): _leave_rescue,
    ("POST", "test"): _test,
    ("POST", "set_owner_data"): _owner_data,
    ("POST", "set_workload_annotations"): _owner_data,
    ("POST", "clear_default_gateways"): _nothing,
    **storage_ops.ACTS,
}
