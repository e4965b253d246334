"""From a request to its answer: who asks, what goes wrong, and whose part of the API it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.sim.maas import actions, describe, devices, lists, metadata, network, places, storage_ops, tags
from tests.sim.maas.auth import Login, check, forbidden, wrong_key
from tests.sim.maas.call import (
    API,
    Answer,
    Incoming,
    Logged,
    Refusal,
    Reply,
    absent,
    not_allowed,
    ok,
    refused,
    unreachable,
    unrecognised,
)
from tests.sim.maas.events import query
from tests.sim.maas.faults import Fault
from tests.sim.maas.forms import FormError, parse_body, parse_query

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

_PLAIN = {"GET": "read", "POST": "create", "PUT": "update", "DELETE": "delete"}
_ANONYMOUS = ("machines", "nodes", "rackcontrollers")
"""Collections that serve some operations to anybody; the others want to know who asks before anything else."""
Names = tuple[str, ...]


def serve(double: MaasDouble, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
    """Answer one request; what was asked and answered is logged."""
    path, _, asked = target.partition("?")
    if not path.startswith((API, metadata.METADATA)):
        return _logged(double, method, path, "", Reply(absent("page")))
    try:
        form = parse_body(headers.get("content-type", ""), body)
    except FormError:
        return _logged(double, method, path, "", Reply(Answer(400, b"", {"Content-Type": "text/html"})))
    authorization = headers.get("authorization", "")
    if path.startswith(metadata.METADATA):
        answer = metadata.serve(double, method, path, authorization, form)
        return _logged(double, method, path, "metadata", Reply(answer))
    login, problem = check(authorization, double.key, double.time.real().timestamp())
    known = login is Login.KNOWN
    incoming = Incoming(method, path.removeprefix(API), parse_query(asked), form, known, target)
    op, names = _about(double, incoming)
    reply = Reply(wrong_key(problem)) if login is Login.WRONG else _with_faults(double, incoming, op, names)
    return _logged(double, method, path, op, reply, names)


def _logged(double: MaasDouble, method: str, path: str, op: str, reply: Reply, names: Names = ()) -> Reply:
    status = 0 if reply.drop else reply.answer.status
    double.requests.append(Logged(method, path, op, status, names[0] if names else ""))
    return reply


def _about(double: MaasDouble, incoming: Incoming) -> tuple[str, Names]:
    """(operation as faults name it, names of the machine it is about)."""
    head, *rest = incoming.parts
    record = double.records.get(rest[0]) if rest and head in ("machines", "nodes") else None
    many = head == "machines" and not rest
    plain = "list" if many and incoming.method == "GET" else _PLAIN.get(incoming.method, incoming.method)
    name = incoming.op or plain
    if head == "nodes" and len(rest) > 1:
        name = f"{rest[1]}.{name}"
    elif head != "machines":
        name = f"{head}.{name}"
    if record is not None:
        return name, (record.hostname, record.system_id)
    if many and name == "create":
        return name, (incoming.form.get("hostname"),)
    if many and name == "allocate":
        record = double.find(incoming.form.get("system_id") or incoming.form.get("name"))
    return name, (record.hostname, record.system_id) if record else ()


def _with_faults(double: MaasDouble, incoming: Incoming, op: str, names: Names) -> Reply:
    strike = double.faults.strike
    slow = strike(["slow"], op, names)
    delay = slow.seconds if slow else 0.0
    before = strike(["conflict", "drop-before", "error"], op, names)
    if before is not None:
        return Reply(_instead(before), delay, drop=before.kind == "drop-before")
    after = strike(["503-after-commit", "504-continues", "drop-after"], op, names)
    if after is not None and after.kind == "504-continues" and after.later > 0:
        double.time.after(after.later, lambda: _quietly(double, incoming))
        return Reply(_instead(after), delay + after.seconds)
    answer = _answer(double, incoming)
    if after is None:
        return Reply(answer, delay)
    if answer.status >= 400:
        after.hits -= 1  # nothing was committed: it strikes the next one
        return Reply(answer, delay)
    return Reply(_instead(after), delay + after.seconds, drop=after.kind == "drop-after")


def _quietly(double: MaasDouble, incoming: Incoming) -> None:
    _answer(double, incoming)


def _answer(double: MaasDouble, incoming: Incoming) -> Answer:
    try:
        return _route(double, incoming)
    except Refusal as refusal:
        return refusal.answer


def _route(double: MaasDouble, incoming: Incoming) -> Answer:
    head, *rest = incoming.parts
    if head in ("version", "describe") and not rest:
        return describe.serve(double, incoming, head)
    if not incoming.known and not (head in _ANONYMOUS and incoming.op == "is_registered"):
        anybody = head in _ANONYMOUS and not rest
        return unrecognised(incoming.method, incoming.op) if anybody else forbidden()
    if head in ("machines", "nodes"):
        return _machines(double, incoming, head, rest)
    serve_it = _COLLECTIONS.get(head)
    return absent("page") if serve_it is None else serve_it(double, incoming)


def _machines(double: MaasDouble, incoming: Incoming, head: str, rest: list[str]) -> Answer:
    if not rest:
        return lists.serve(double, incoming)
    record = double.records.get(rest[0])
    if record is None:
        return absent("Machine" if head == "machines" else "Node")
    if head == "machines" or len(rest) == 1:
        return actions.serve(double, record, incoming)
    match rest[1]:
        case "interfaces":
            return network.serve(double, record, incoming)
        case "results":
            return lists.results(record, incoming)
        case "devices":
            return devices.serve(record, incoming)
    return storage_ops.serve(double, record, incoming)


def _events(double: MaasDouble, incoming: Incoming) -> Answer:
    if incoming.method != "GET":
        return not_allowed("GET")
    if incoming.op != "query":
        return unrecognised(incoming.method, incoming.op)
    names = {one.system_id: one.hostname for one in double.records.values()}
    filtered = any(incoming.query.has(name) for name in lists.FILTERS)
    wanted = {one.system_id for one in lists.chosen(double, incoming.query)} if filtered else None
    return query(double.events, incoming, names, wanted)


def _users(double: MaasDouble, incoming: Incoming) -> Answer:
    if incoming.method != "GET":
        return not_allowed("GET", "POST")
    me = {
        "is_superuser": True,
        "username": double.user,
        "email": "a@example.com",
        "is_local": True,
        "resource_uri": f"{API}users/{double.user}/",
    }
    if incoming.op == "whoami":
        return ok(me)
    return ok([me]) if incoming.op is None else unrecognised(incoming.method, incoming.op)


_COLLECTIONS: dict[str, Callable[[MaasDouble, Incoming], Answer]] = {
    "events": _events,
    "users": _users,
    "tags": tags.serve,
    **dict.fromkeys(places.NAMES, places.serve),
}


def _instead(fault: Fault) -> Answer:
    """What a fault answers with."""
    if fault.kind == "conflict":
        answer = refused(
            409, fault.text or "Conflict error. Try your request again, as it will most likely succeed."
        )
        answer.headers["Retry-After"] = "5"
        return answer
    if fault.kind == "503-after-commit":
        return unreachable(fault.text or "Unable to power control the node. Please check power credentials.")
    if fault.kind == "504-continues":
        body = fault.text or "<html><head><title>504 Gateway Time-out</title></head></html>"
        return Answer(504, body.encode(), {"Content-Type": "text/html"})
    return refused(500, fault.text or "Internal Server Error")
