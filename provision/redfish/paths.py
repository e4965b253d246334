"""Paths as they go over the wire, from links as BMCs write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

_PLAIN = re.compile(r"/[A-Za-z0-9/._~:@!$&'()*+,;=%?-]*\Z")


def clean(link: str) -> str:
    """A path with its query, without host and fragment: a login goes to its own BMC, whatever a link says."""
    if _PLAIN.match(link) and not link.startswith("//"):
        return link
    parts = urlsplit(link)
    path = "/" + quote(parts.path.lstrip("/"), safe="/._~:@!$&'()*+,;=%-")
    return path + (
        f"?{quote(parts.query, safe=chr(47) + '._~:@!$&()*+,;=%?-' + chr(39))}" if parts.query else ""
    )


def link_of(value: object) -> str:
    """The ``@odata.id`` of a link; empty when it is none."""
    found = value.get("@odata.id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def links_of(value: object) -> list[str]:
    """Every link of a list of links; of a single link that one."""
    listed = value if isinstance(value, list) else [value]
    return [link for entry in listed if (link := link_of(entry))]


def at(resource: Mapping[str, Any], *names: str) -> Any:
    """What stands under these names, None where one of them is absent or null."""
    value: Any = resource
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def with_query(path: str, query: str) -> str:
    """The path with one more query option."""
    return f"{path}{'&' if '?' in path else '?'}{query}"
