"""How Redfish bodies are taken apart: nothing in them is believed to be of the type it should be.

``path_of`` and what is built on it cut a trailing slash off, so that paths can be compared; a link that is to be asked
exactly as it was written is ``provision.redfish.paths.link_of``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Body = Mapping[str, Any]
"""A JSON object; at run time a ``dict``, which is told from other values a good deal faster than a ``Mapping``."""
EMPTY: Body = {}
_FQDD = re.compile(r"[A-Za-z]+\.[A-Za-z]+\.[0-9A-Za-z]+")


def text(value: Any) -> str:
    """A string as it is; empty for anything else."""
    return value if isinstance(value, str) else ""


def is_number(text: str) -> bool:
    """Whether a text is a whole number as machines count: ``isdigit`` alone also takes ``²``, and any length."""
    return text.isascii() and text.isdigit() and len(text) <= 18


def path_of(body: Body) -> str:
    """``@odata.id`` without a trailing slash."""
    return str(body.get("@odata.id") or "").rstrip("/")


def last(path: str) -> str:
    """The last segment of a path: what a resource is called, whatever its Id says.

    An iDRAC9 6.00.30 gives port ``NIC.Slot.5-1`` of a BlueField-2 the Id ``NIC.Slot.5``.
    """
    return path.rstrip("/").rpartition("/")[2]


def inner(body: Any, *keys: str) -> Body:
    """A nested object; empty when it or one around it is absent, null or no object."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else EMPTY


def link(body: Any, *keys: str) -> str:
    """Path that a nested reference names, empty when there is none."""
    return path_of(inner(body, *keys))


def links(body: Any, key: str) -> list[str]:
    """Paths in a list of references; also of a single reference."""
    value = body.get(key) if isinstance(body, dict) else None
    listed = value if isinstance(value, list) else [value]
    return [path for item in listed if isinstance(item, dict) and (path := path_of(item))]


def objects(body: Any, key: str) -> Iterator[Body]:
    """Objects in a list; anything else in it is left out."""
    value = body.get(key) if isinstance(body, dict) else None
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def each_once(bodies: Iterable[Body]) -> list[Body]:
    """Bodies by their paths, each once, in the order of the paths: what comes of them is in no way by position."""
    found: dict[str, Body] = {}
    for body in bodies:
        found.setdefault(path_of(body), body)
    return [found[path] for path in sorted(found)]


def is_fqdd(text: str) -> bool:
    """Whether an id names a part all by itself (``NIC.Embedded.1-1-1``), unlike ``1`` or ``NetworkDeviceFunction0``."""
    return _FQDD.match(text) is not None


def service_link(root: Body, name: str) -> str:
    """Path of a service as the root names it, ``/redfish/v1/NAME`` when it does not."""
    return link(root, name) or f"/redfish/v1/{name}"
