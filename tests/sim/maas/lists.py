"""``machines/``: reading many, choosing them, and what concerns many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.maas import actions, create, deploying
from tests.sim.maas.call import (
    Answer,
    Incoming,
    Refusal,
    absent,
    invalid,
    not_allowed,
    ok,
    refused,
    unrecognised,
)
from tests.sim.maas.forms import Form
from tests.sim.maas.machines import MachineRecord, shown
from tests.sim.maas.scripts import KINDS
from tests.sim.maas.states import Status

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

FILTERS = (
    "hostname",
    "mac_address",
    "id",
    "domain",
    "zone",
    "pool",
    "agent_name",
    "status",
    "tags",
    "not_tags",
)
_WORDS = {one.word: one for one in Status}


def serve(double: MaasDouble, incoming: Incoming) -> Answer:
    """The collection."""
    if incoming.method not in ("GET", "POST"):
        return not_allowed("GET", "POST")
    match incoming.method, incoming.op:
        case "GET", None:
            return ok(many(double, chosen(double, incoming.query)))
        case "GET", "power_parameters":
            asked = set(incoming.query.all("id"))
            records = [one for one in double.records.values() if not asked or one.system_id in asked]
            return ok({one.system_id: one.power for one in records})
        case "GET", "is_registered":
            mac = double.mac(incoming.query.get("mac_address"))
            return ok(any(mac in one.macs for one in double.records.values()))
        case "GET", "list_allocated":
            return ok(
                many(double, [one for one in double.records.values() if one.status is Status.ALLOCATED])
            )
        case "POST", None:
            return create.serve(double, incoming)
        case "POST", "allocate":
            return allocate(double, incoming)
        case "POST", "release":
            return release(double, incoming)
    return unrecognised(incoming.method, incoming.op)


def many(double: MaasDouble, records: list[MachineRecord]) -> bytes:
    """JSON of several, put together from what each keeps."""
    around = double.around
    return b"[" + b", ".join(one.json(around) for one in records) + b"]"


def chosen(double: MaasDouble, query: Form) -> list[MachineRecord]:
    """Machines a query asks for. :raises Refusal: a status or MAC that is none."""
    errors: dict[str, list[str]] = {}
    for mac in query.all("mac_address"):
        if double.mac(mac) is None:
            errors.setdefault("mac_address", []).append(f"'{mac}' is not a valid MAC address.")
    for status in query.all("status"):
        if status not in _WORDS:
            errors["status"] = [create.CHOICE.format(status)]
    if errors:
        raise Refusal(invalid(errors))
    macs = {double.mac(mac) for mac in query.all("mac_address")}
    statuses = {_WORDS[status] for status in query.all("status")}
    found = []
    for one in double.records.values():
        if (macs and not macs & one.macs) or (statuses and one.status not in statuses):
            continue
        if _named(one, query):
            found.append(one)
    return found


def _named(one: MachineRecord, query: Form) -> bool:
    mine = {
        "hostname": (one.hostname, one.fqdn),
        "id": (one.system_id,),
        "domain": (one.domain,),
        "zone": (one.zone,),
        "pool": (one.pool,),
        "agent_name": (one.agent,),
    }
    for name, values in mine.items():
        asked = query.all(name)
        if asked and not set(asked) & set(values):
            return False
    return set(query.all("tags")) <= one.tags and not set(query.all("not_tags")) & one.tags


def allocate(double: MaasDouble, incoming: Incoming) -> Answer:
    """Give the user one that is ready."""
    form = incoming.form
    asked = form.get("system_id") or form.get("name")
    for record in double.records.values():
        named = not asked or asked in (record.system_id, record.hostname)
        same = all(not form.get(name) or form.get(name) == getattr(record, name) for name in ("pool", "zone"))
        tagged = set(form.all("tags")) <= record.tags and not set(form.all("not_tags")) & record.tags
        if named and same and tagged and record.status is Status.READY and not record.locked:
            if not form.flag("dry_run"):
                deploying.acquire(double, record, form)
            return ok({**shown(record, double.around), "constraints_by_type": {}})
    if form.get("system_id"):
        raise Refusal(refused(409, f"No machine with system ID {form.get('system_id')} available."))
    if asked:
        raise Refusal(refused(409, f"No machine with name {asked} available."))
    raise Refusal(refused(409, "No machine available."))


def release(double: MaasDouble, incoming: Incoming) -> Answer:
    """Release several: all of them or none."""
    asked = incoming.form.all("machines")
    unknown = [one for one in asked if one not in double.records]
    if unknown:
        text = f"Unknown machine(s): {', '.join(sorted(unknown))}."
        raise Refusal(refused(400, text))
    released = []
    for name in asked:
        record = double.records[name]
        if record.status in (Status.READY, Status.RELEASING):
            continue
        actions.release(double, record, incoming)
        released.append(name)
    return ok(released)


def results(record: MachineRecord, incoming: Incoming) -> Answer:
    """``nodes/ID/results/``: sets of scripts, oldest first."""
    if incoming.method != "GET":
        return not_allowed("GET")
    printed = incoming.query.has("include_output")
    only = [name for text in incoming.query.all("filters") for name in text.split(",") if name]
    rest = incoming.parts[3:]
    if rest:
        wanted = record.current.get(rest[0].removeprefix("current-"), rest[0])
        found = next((one for one in record.script_sets if str(one.id) == str(wanted)), None)
        return absent("ScriptSet") if found is None else ok(found.shown(printed=printed, only=only))
    asked = set(incoming.query.all("type"))
    numbers = {str(KINDS[kind][0]): kind for kind in KINDS}
    kinds = {numbers.get(one, one) for one in asked}
    sets = [one for one in record.script_sets if not kinds or one.kind in kinds]
    return ok([one.shown(printed=printed, only=only) for one in sets])
