"""What was read off one BMC, before anybody makes sense of it; and how Redfish bodies are taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from provision.bmc.inventory import Depth, Gap
from provision.bmc.outcome import Note

Body = Mapping[str, Any]
"""A JSON object; at run time a ``dict``, which is told from other values a good deal faster than a ``Mapping``."""
EMPTY: Body = {}
_FQDD = re.compile(r"[A-Za-z]+\.[A-Za-z]+\.[0-9A-Za-z]+")


@dataclass
class Bodies:
    """Resources of one machine, in any order.

    :param system: and ``chassis``: empty when they were not asked; :param interfaces: of the host.
    :param functions: and ``ports``: path of the adapter -> its members; a path that is absent was not asked.
    :param attributes: path of a function -> its DellNetworkAttributes; :param manager: attributes of the iDRAC.
    """

    depth: Depth
    root: Body = field(default_factory=dict)
    system_path: str = ""
    system: Body = field(default_factory=dict)
    interfaces: list[Body] = field(default_factory=list)
    bmc_interfaces: list[Body] = field(default_factory=list)
    adapters: list[Body] = field(default_factory=list)
    functions: dict[str, list[Body]] = field(default_factory=dict)
    ports: dict[str, list[Body]] = field(default_factory=dict)
    attributes: dict[str, Body] = field(default_factory=dict)
    manager: Body = field(default_factory=dict)
    processors: list[Body] = field(default_factory=list)
    drives: list[Body] = field(default_factory=list)
    psus: list[Body] = field(default_factory=list)
    dimms: list[Body] = field(default_factory=list)
    firmware: list[Body] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def dell(self) -> bool:
        """Whether this is a Dell, by its service root or its system."""
        told = (str(self.root.get("Vendor") or ""), str(self.system.get("Manufacturer") or ""))
        return any(text.lower().startswith("dell") for text in told) or bool(inner(self.root, "Oem", "Dell"))


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
