"""Addresses of web services in a site file: refused with words where nothing can be reached by them."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

_URL = re.compile(r"https?://(?P<place>[^/@\s?#]+)(?P<path>/[^@\s?#]*)?(?P<query>[?#][^@\s]*)?\Z")
_PLACE = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]+)(?P<colon>:(?P<port>.*))?\Z")
_LABEL = re.compile(r"\w(?:[\w-]{0,61}\w)?\Z")


def web_address(text: str, expected: str, *, path: bool = True, query: bool = False) -> str:
    """An address as it was written.

    :param expected: in words: ``http(s)://HOST[:PORT]/MAAS``; :param path: and ``query``: it may have one.
    :raises ValueError: nothing can be reached by it: what was expected, what was found, and what is wrong with it.
    """
    wrong = _wrong(text, path=path, query=query)
    if wrong is not None:
        found = "one with a user or password in it" if "@" in text else repr(text[:60])
        raise ValueError(f"expected {expected}, found {found}{wrong}")
    return text


def _wrong(text: str, *, path: bool, query: bool) -> str | None:
    """What is wrong, None when nothing is."""
    url = _URL.match(text)
    if url is None or (url["query"] and not query) or (not path and (url["path"] or "/") != "/"):
        return ""
    place = _PLACE.match(url["place"])
    if place is None:
        return f": {url['place'][:40]!r} is no host with a port"
    if not _is_host(place["host"]):
        return f": {place['host'][:40]!r} is no host"
    if place["colon"] and not _is_port(place["port"]):
        return f": port {place['port'][:10]!r} is not from 1 to 65535"
    return None


def _is_host(host: str) -> bool:
    if host.startswith("["):
        try:
            IPv6Address(host[1:-1])
        except ValueError:
            return False
        return True
    return all(_LABEL.match(label) for label in host.removesuffix(".").split("."))


def _is_port(port: str) -> bool:
    return re.fullmatch(r"[0-9]{1,5}", port) is not None and 0 < int(port) < 65536
