"""Answers one request to one BMC: login, general checks, the resource or its handler. No network in here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qsl

from tests.sim.idrac import etags
from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.call import Answer, Body, Call, RefusedError
from tests.sim.idrac.messages import error, not_found
from tests.sim.idrac.metadata import METADATA, SERVICES, describe, document
from tests.sim.idrac.query import read
from tests.sim.idrac.readiness import Readiness
from tests.sim.idrac.sessions import Sessions, change_first, unauthorised, who

WRITES = frozenset({"POST", "PATCH", "PUT", "DELETE"})


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request off the wire. :param headers: names in lower case; :param client: address of whom it is from."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""
    client: str = ""


def answer(bmc: SimBmc, incoming: Incoming) -> tuple[Answer, str]:
    """What the BMC says, and who it takes the client for."""
    with bmc.lock:
        bmc.agenda.settle()
        path = bmc.tree.home("/" + incoming.path.strip("/"))
        user = ""
        try:
            login = who(bmc, incoming.headers, incoming.client)
            user = login.user
            wants = path if incoming.method in ("GET", "HEAD") else f"{incoming.method} {path}"
            refusal = _gate(bmc, incoming, path, wants, user)
            if refusal is not None:
                return refusal, user
            if incoming.method in ("GET", "HEAD"):
                said = document(path) or read(bmc, path, _options(incoming.query), incoming.headers)
                describe(bmc, path, said)
                return said, user
            call = _call(bmc, incoming, path, login.user, login.session)
            return _write(call), user
        except RefusedError as refusal_raised:
            return refusal_raised.answer, user


def _gate(bmc: SimBmc, incoming: Incoming, path: str, wants: str, user: str) -> Answer | None:
    """What refuses a request whatever it is about."""
    readiness = bmc.part(Readiness)
    if readiness.host_header_check and not readiness.knows_host(incoming.headers.get("host", "")):
        return Answer(
            400, b"<html><head><title>400 Bad Request</title></head></html>", {"Content-Type": "text/html"}
        )
    if not path.startswith("/redfish"):
        return not_found(bmc.profile, path)
    refusal = readiness.refusal(incoming.method, path)
    if refusal is not None:
        return refusal
    if incoming.headers.get("odata-version", "4.0") != "4.0":
        return error(bmc.profile, "PreconditionFailed")
    if not user and wants not in bmc.tree.anonymous and path not in (METADATA, SERVICES):
        return unauthorised(bmc)
    if user and bmc.part(Sessions).wants_change(path):
        return change_first(bmc)
    return None


def _call(bmc: SimBmc, incoming: Incoming, path: str, user: str, session: str) -> Call:
    handler_is, match = bmc.tree.handler(incoming.method, path)
    if handler_is is None:
        allowed = bmc.tree.methods(path)
        if not allowed:
            raise RefusedError(not_found(bmc.profile, path))
        refusal = error(bmc.profile, "OperationNotAllowed")
        refusal.headers["Allow"] = ", ".join(allowed)
        raise RefusedError(refusal)
    body: Body = {}
    if incoming.data and "json" in incoming.headers.get("content-type", "json"):
        try:
            body = json.loads(incoming.data)
        except ValueError:
            raise RefusedError(error(bmc.profile, "MalformedJSON")) from None
        if not isinstance(body, dict):
            raise RefusedError(error(bmc.profile, "MalformedJSON"))
    return Call(
        bmc,
        incoming.method,
        path,
        _options(incoming.query),
        incoming.headers,
        body,
        incoming.data,
        user,
        session,
        incoming.client,
        match,
    )


def _write(call: Call) -> Answer:
    refusal = etags.refusal(call)
    if refusal is not None:
        return refusal
    handler, _ = call.bmc.tree.handler(call.method, call.path)
    assert handler is not None  # _call looked
    return handler(call)


@lru_cache(maxsize=512)
def _options(query: str) -> Mapping[str, str]:
    return dict(parse_qsl(query, keep_blank_values=True))
