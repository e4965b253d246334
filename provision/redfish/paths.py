"""Paths as they go over the wire, from links as BMCs write them."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, quote, unquote, urlsplit

from fabricctl.errors import BmcLinkError
from provision.bmc.target import Target

_PLAIN = re.compile(r"/[A-Za-z0-9/._~:@!$&'()*+,;=%?-]*\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def own_path(link: str, target: Target) -> str:
    """The path, with its query and without fragment, of a link that leads to this BMC.

    :raises BmcLinkError: it leads to another host, or is none that a Redfish service has: nothing is asked there, as
        the login would be shown to it.
    """
    parts = _split(link)
    if parts is not None and parts.netloc and not _is_own(parts, target):
        raise BmcLinkError(f"{shown(link)} leads to another host: not followed", bmc=str(target))
    return plain_path(link)


def plain_path(link: str) -> str:
    """The path of a link, with its query and without fragment; the host it may name is left out.

    :raises BmcLinkError: it is none that a Redfish service has.
    """
    parts = _split(link)
    if parts is None:
        return link
    if parts.scheme not in ("", "https", "http") or (parts.scheme and not parts.netloc):
        raise BmcLinkError(f"{shown(link)} is no link of a Redfish service: not followed")
    path = "/" + quote(parts.path.removeprefix("/"), safe="/._~:@!$&'()*+,;=%-")
    _must_be_plain(link, path)
    return path + (f"?{quote(parts.query, safe=_IN_QUERY)}" if parts.query else "")


_IN_QUERY = "/._~:@!$&()*+,;=%?-'"


def _split(link: str) -> SplitResult | None:
    """Its parts; None where it is a path as it should be.

    :raises BmcLinkError: it has none.
    """
    if _PLAIN.match(link) and not link.startswith("//") and ".." not in link and "%" not in link:
        return None
    if not link or _CONTROL.search(link) or link.startswith("//"):
        raise BmcLinkError(f"{shown(link)} is no link of a Redfish service: not followed")
    try:
        parts = urlsplit(link)
        parts.port  # noqa: B018 - read here because reading it is what fails
    except ValueError as exc:
        raise BmcLinkError(f"{shown(link)} is no link of a Redfish service: not followed") from exc
    return parts


def _must_be_plain(link: str, path: str) -> None:
    """No way up, also not a quoted one, and nothing that another reader could take for a host."""
    steps = unquote(path)
    if ".." in steps.split("/") or "\\" in steps or path.startswith("//") or _CONTROL.search(steps):
        raise BmcLinkError(f"{shown(link)} is no link of a Redfish service: not followed")


def _is_own(parts: SplitResult, target: Target) -> bool:
    if parts.username is not None or parts.password is not None:
        return False
    return _host(parts.hostname or "") == _host(target.address) and parts.port in (None, target.port)


def _host(name: str) -> str:
    try:
        return str(ip_address(name))
    except ValueError:
        return name.lower()


def shown(link: str) -> str:
    """A link in a sentence: in quotes, cut, and with nothing in it that a terminal would obey."""
    return ascii(link if len(link) <= 120 else link[:117] + "...")


def link_of(value: object) -> str:
    """The ``@odata.id`` of a link, as it was written; empty when it is none."""
    found = value.get("@odata.id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def with_query(path: str, query: str) -> str:
    """The path with one more query option."""
    return f"{path}{'&' if '?' in path else '?'}{query}"
