"""Tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.maas import lists
from tests.sim.maas.call import (
    API,
    Answer,
    Incoming,
    Refusal,
    absent,
    deleted,
    invalid,
    not_allowed,
    ok,
    unrecognised,
)

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

_NAME = re.compile(r"[a-zA-Z0-9_-]+\Z")


def serve(double: MaasDouble, incoming: Incoming) -> Answer:
    """``tags/`` and one of them."""
    rest = incoming.parts[1:]
    if not rest:
        return _all(double, incoming)
    tag = double.tags.get(rest[0])
    if tag is None:
        return absent("Tag")
    match incoming.method, incoming.op:
        case "GET", None:
            return ok(tag)
        case "GET", "machines" | "nodes":
            return ok(lists.many(double, [one for one in double.records.values() if rest[0] in one.tags]))
        case "POST", "update_nodes":
            return _update(double, rest[0], incoming)
        case "DELETE", None:
            for record in double.records.values():
                record.tags.discard(rest[0])
                record.changed()
            del double.tags[rest[0]]
            return deleted()
    return unrecognised(incoming.method, incoming.op)


def _all(double: MaasDouble, incoming: Incoming) -> Answer:
    if incoming.method not in ("GET", "POST"):
        return not_allowed("GET", "POST")
    if incoming.op is not None:
        return unrecognised(incoming.method, incoming.op)
    if incoming.method == "GET":
        return ok(list(double.tags.values()))
    form = incoming.form
    name = form.get("name")
    if not name:
        raise Refusal(invalid({"name": ["This field is required."]}))
    if not _NAME.match(name):
        raise Refusal(invalid({"name": ["Enter a valid value."]}))
    if name in double.tags:
        raise Refusal(invalid({"name": ["Tag with this Name already exists."]}))
    double.tags[name] = {
        "name": name,
        "definition": form.get("definition"),
        "comment": form.get("comment"),
        "kernel_opts": form.get("kernel_opts"),
        "resource_uri": f"{API}tags/{name}/",
    }
    return ok(double.tags[name])


def _update(double: MaasDouble, name: str, incoming: Incoming) -> Answer:
    """Unknown machines are left out without a word; those that have the tag already are counted, too.

    ``maasserver/api/tags.py`` (3.7) counts the machines it found by id, whatever their tags were.
    """
    counted = {"added": 0, "removed": 0}
    for field, word in (("add", "added"), ("remove", "removed")):
        for asked in incoming.form.all(field):
            record = double.records.get(asked)
            if record is None:
                continue
            (record.tags.add if field == "add" else record.tags.discard)(name)
            record.changed()
            counted[word] += 1
    return ok(counted)
