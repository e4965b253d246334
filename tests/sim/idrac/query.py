"""Reading: one resource or a collection, with query options and pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.sim.idrac.call import Answer, Body, RefusedError
from tests.sim.idrac.filters import matches
from tests.sim.idrac.messages import not_found, refused
from tests.sim.idrac.template import Template, dumps
from tests.sim.idrac.tree import Collection, Mixed

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

PAGE = 50
_EXPAND = re.compile(r"(?P<what>[*.~])(\(\$levels=(?P<levels>\d+)\))?")
_KNOWN = frozenset({"$expand", "$select", "$filter", "$skip", "$top", "only"})


def single(bmc: SimBmc, path: str) -> bytes | None:
    """The bytes of one resource, None when it is not there; a collection without its pages and options."""
    if path in bmc.removed:
        return None
    if path in bmc.extra:
        return dumps(merged(bmc.extra[path], bmc.changes.get(path, {})))
    entry = bmc.tree.entries.get(path)
    if isinstance(entry, Template):
        data = entry.fill(bmc.identity)
        changes = bmc.changes.get(path)
        return data if changes is None else dumps(merged(json.loads(data), changes))
    if isinstance(entry, Collection):
        return _collection(bmc, path, entry, {})
    if isinstance(entry, Mixed):
        data = entry.fixed.fill(bmc.identity)[:-1] + b"," + dumps(entry.live(bmc))[1:]
        changes = bmc.changes.get(path)
        return data if changes is None else dumps(merged(json.loads(data), changes))
    body = entry(bmc) if entry is not None else _of_family(bmc, path)
    if body is None:
        return None
    changes = bmc.changes.get(path)
    return dumps(body if changes is None else merged(body, changes))


def _told(bmc: SimBmc, path: str) -> bytes | None:
    """The same within another resource: what the BMC refuses to tell (a missing licence) stays a link there."""
    try:
        return single(bmc, path)
    except RefusedError:
        return None


def _of_family(bmc: SimBmc, path: str) -> Body | None:
    for pattern, body in bmc.tree.families:
        match = pattern.fullmatch(path)
        if match is not None:
            return body(bmc, match)
    return None


def merged(body: Body, changes: Mapping[str, Any]) -> Body:
    """A body with some fields replaced, dictionaries field by field."""
    result = dict(body)
    for name, value in changes.items():
        old = result.get(name)
        nested = isinstance(old, dict) and isinstance(value, dict)
        result[name] = merged(old, value) if nested else value  # type: ignore[arg-type]
    return result


def read(bmc: SimBmc, path: str, options: Mapping[str, str], headers: Mapping[str, str]) -> Answer:
    """Answer a GET."""
    from tests.sim.idrac.etags import Etags

    _check(bmc, options)
    entry = bmc.tree.entries.get(path)
    if isinstance(entry, Collection) and path not in bmc.removed:
        if "only" in options:
            members = _shown(bmc, path, entry)
            if len(members) == 1:
                return read(bmc, members[0], {}, headers)
        return Answer(200, _collection(bmc, path, entry, options))
    found = single(bmc, path)
    if found is None:
        return not_found(bmc.profile, path)
    data = found
    etag = bmc.part(Etags).of(data)
    if headers.get("if-none-match") == etag:
        return Answer(304, None, {"ETag": etag})
    if "$expand" in options:
        data = dumps(_expanded(bmc, json.loads(data), path, options["$expand"]))
    if "$select" in options:
        data = dumps(_selected(json.loads(data), options["$select"]))
    return Answer(200, data, {"ETag": etag})


def _check(bmc: SimBmc, options: Mapping[str, str]) -> None:
    for name, value in options.items():
        if name not in _KNOWN:
            if name.startswith("$"):
                raise refused(bmc.profile, "QueryParameterUnsupported", name)
            continue  # DSP0266: a parameter without $ that is not known is ignored
        if name == "$expand":
            match = _EXPAND.fullmatch(value)
            if match is None or match["levels"] not in (None, "1"):
                raise refused(bmc.profile, "QueryParameterValueFormatError", value, name)
        if name == "only" and value:
            raise refused(bmc.profile, "QueryParameterValueFormatError", value, name)
        if name in ("$skip", "$top") and not value.isdecimal():
            raise refused(bmc.profile, "QueryParameterValueFormatError", value, name)


def _shown(bmc: SimBmc, path: str, entry: Collection) -> Sequence[str]:
    """Members as the collection shows them now, those a test hides left out."""
    members: Sequence[str] = [*entry.paths(bmc), *bmc.joined.get(path, ())]
    if path in bmc.tree.inventory and not bmc.power.collected:
        members = []
    for hide in bmc.tree.hidden:
        members = hide(bmc, path, members)
    changes = bmc.changes.get(path)
    if changes and "Members" in changes:
        return [member["@odata.id"] for member in changes["Members"]]
    return members


def _collection(bmc: SimBmc, path: str, entry: Collection, options: Mapping[str, str]) -> bytes:
    members = _shown(bmc, path, entry)
    expand = options.get("$expand", "")
    condition = options.get("$filter")
    if condition is not None:
        members = [member for member in members if _passes(bmc, member, condition)]
    total = len(members)
    skip = int(options.get("$skip", 0))
    top = int(options["$top"]) if "$top" in options else None
    # Logs and Dell's own collections come in pages of 50, expanded or not; standard ones in one piece: a capture
    # holds 233 metric definitions and 78 signatures unpaged, 77 sensors in two pages.
    size = PAGE if entry.paged else total
    if top is not None:
        size = min(size, top)
    page = members[skip : skip + size]
    whole = bool(expand) or entry.inline
    links = [(whole and _told(bmc, member)) or b'{"@odata.id":' + dumps(member) + b"}" for member in page]
    if whole and "$select" in options:
        links = [dumps(_selected(json.loads(link), options["$select"])) for link in links]
    tail = b',"Members":[' + b",".join(links) + b'],"Members@odata.count":' + str(total).encode()
    if top is None and skip + size < total:
        follow = f"{path}?" + _carried(options) + f"$skip={skip + size}"
        tail += b',"Members@odata.nextLink":' + dumps(follow)
    return entry.head.fill(bmc.identity)[:-1] + tail + b"}"


def _carried(options: Mapping[str, str]) -> str:
    """Options a next link repeats."""
    return "".join(
        f"{name}={value}&" for name, value in options.items() if name in ("$expand", "$filter", "$select")
    )


def _passes(bmc: SimBmc, member: str, condition: str) -> bool:
    data = single(bmc, member)
    try:
        return data is not None and matches(json.loads(data), condition)
    except ValueError:
        raise refused(bmc.profile, "QueryParameterValueFormatError", condition, "$filter") from None


def _expanded(bmc: SimBmc, body: Body, path: str, how: str) -> Body:
    """A body with what it refers to in place of links: ``.`` what is below it, ``~`` what Links says, ``*`` both."""
    links, below = how[0] in "~*", how[0] in ".*"

    def inlined(target: str) -> bytes | None:
        return None if target.partition("#")[0] == path else _told(bmc, target)

    return {
        name: _inline(value, inlined) if (links if name == "Links" else below) else value
        for name, value in body.items()
    }


def _inline(value: Any, inlined: Callable[[str], bytes | None]) -> Any:
    if isinstance(value, list):
        return [_inline(item, inlined) for item in value]
    if not isinstance(value, dict):
        return value
    target = value.get("@odata.id")
    if len(value) == 1 and isinstance(target, str):
        data = inlined(target)
        return value if data is None else json.loads(data)
    return {name: _inline(item, inlined) for name, item in value.items()}


def _selected(body: Body, names: str) -> Body:
    """Only some fields, and what every resource must keep."""
    wanted: dict[str, Any] = {}
    for name in names.split(","):
        head, _, rest = name.strip().partition("/")
        if rest:
            inner = body.get(head)
            if isinstance(inner, dict):
                wanted[head] = {**wanted.get(head, {}), **_selected(inner, rest)}
        elif head in body:
            wanted[head] = body[head]
    kept = {name: value for name, value in body.items() if name.startswith("@odata.")}
    return {**kept, **wanted}
