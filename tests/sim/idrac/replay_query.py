"""Redfish query options over bodies of a dump."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LEVELS = re.compile(r"\$levels=(?P<levels>\d+)")


def expand(body: Mapping[str, Any], option: str, bodies: Mapping[str, Any]) -> dict[str, Any]:
    """A body with the resources it refers to in their place, as deep as ``$levels`` says (1 when it does not).

    ``*`` follows every reference, ``.`` those outside ``Links``, ``~`` those inside. A reference whose target the dump
    lacks, or answered with an error, stays a reference.
    """
    found = _LEVELS.search(option)
    return _expanded_resource(body, option[:1], int(found["levels"]) if found else 1, bodies)


def _expanded_resource(
    body: Mapping[str, Any], kind: str, levels: int, bodies: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        name: _expanded(value, kind, levels, bodies) if _follows(kind, name) else value
        for name, value in body.items()
    }


def _follows(kind: str, name: str) -> bool:
    return {".": name != "Links", "~": name == "Links"}.get(kind, True)


def _expanded(value: Any, kind: str, levels: int, bodies: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_expanded(entry, kind, levels, bodies) for entry in value]
    if not isinstance(value, dict):
        return value
    if set(value) != {"@odata.id"}:
        return {name: _expanded(entry, kind, levels, bodies) for name, entry in value.items()}
    target = bodies.get(value["@odata.id"])
    if not isinstance(target, dict) or "error" in target:
        return value
    return _expanded_resource(target, kind, levels - 1, bodies) if levels > 1 else target


def select(body: Mapping[str, Any], option: str) -> dict[str, Any]:
    """The properties asked for, and those every resource has (DSP0266: ``@odata`` annotations always come)."""
    wanted = {name.strip().partition("/")[0] for name in option.split(",")}
    return {
        name: value
        for name, value in body.items()
        if name.partition("@")[0] in wanted or name.startswith("@odata.")
    }
