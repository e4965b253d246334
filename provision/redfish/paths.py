"""Paths as they go over the wire, from links as BMCs write them."""

from __future__ import annotations

import re
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
    """The ``@odata.id`` of a link, as it was written; empty when it is none."""
    found = value.get("@odata.id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def with_query(path: str, query: str) -> str:
    """The path with one more query option."""
    return f"{path}{'&' if '?' in path else '?'}{query}"
