"""Where a live discovery is made from: the values of ``--from``."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from urllib.parse import unquote

from fabricctl import hostset
from fabricctl.errors import UsageError

LOCAL = "local"
_SSH = "ssh://"
_EXAMPLE = "expected local or ssh://user@host[,host...][?hca=mlx5_0&port=1]"
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z")
_IPV6 = re.compile(r"\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9._-]+)?)\](?::(.*))?\Z")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@\\+-]*\Z")
_HCA = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
_MAX_TCP_PORT = 65535
_MAX_HCA_PORT = 254
"""InfiniBand Architecture Specification: port numbers 1 to 254 (255 is reserved)."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """One place a discovery is made from.

    :param host: as written, empty for this machine; :param user: and :param port: of ssh, None where not told.
    :param hca: and :param hca_port: where to send from, None to choose an InfiniBand port that is up.
    """

    host: str = ""
    user: str | None = None
    port: int | None = None
    hca: str | None = None
    hca_port: int | None = None

    @property
    def label(self) -> str:
        """How it is named in messages: ``gpu001``, ``gpu001:2222 mlx5_0/1``, ``local``."""
        inside = f"[{self.host}]" if ":" in self.host and self.port else self.host
        place = f"{inside or LOCAL}:{self.port}" if self.port else inside or LOCAL
        if self.hca is None and self.hca_port is None:
            return place
        number = "" if self.hca_port is None else f"/{self.hca_port}"
        return f"{place} {self.hca or 'port'}{number}"


def parse_viewers(text: str) -> list[Viewer]:
    """Viewers of one ``--from`` value, in written order, duplicates dropped.

    ``local``, or ``ssh://`` with hosts or host sets separated by commas. A user goes for the hosts after it until
    the next user, a port for its own host or set; ``?hca=`` and ``&port=`` (of the HCA) go for all.

    :raises UsageError: with the part that is wrong.
    """
    place, question, query = text.strip().partition("?")
    if question and not query:
        raise UsageError(f"--from {_shown(text)}: nothing after the question mark; {_EXAMPLE}")
    hca, hca_port = _query(query, text)
    if place == LOCAL:
        return [Viewer(hca=hca, hca_port=hca_port)]
    if not place.startswith(_SSH):
        raise UsageError(f"--from {_shown(text)} is not understood; {_EXAMPLE}", hint=_guess(place))
    viewers: dict[Viewer, None] = {}
    user: str | None = None
    for part in _parts(place.removeprefix(_SSH).removesuffix("/"), text):
        user, hosts, port = _host_part(part, user, text)
        for host in hosts:
            viewers[Viewer(host, user, port, hca, hca_port)] = None
    return list(viewers)


def _shown(text: str) -> str:
    """The value without what may be a password (``user:secret@``)."""
    return repr(re.sub(r":[^@/,]*@", ":...@", text))


def _guess(place: str) -> str:
    if difflib.get_close_matches(place, [LOCAL], cutoff=0.7):
        return f"did you mean {LOCAL}?"
    if place and os.path.isfile(place):
        return "that is a file: a saved discovery goes to --discovered"
    tail = place.rpartition("/")[2]
    return f"did you mean {_SSH}{tail}?" if tail and ":" not in tail and " " not in tail else ""


def _query(query: str, text: str) -> tuple[str | None, int | None]:
    found: dict[str, str] = {}
    for pair in query.split("&") if query else []:
        key, equals, value = (unquote(word) for word in pair.partition("="))
        if key not in ("hca", "port") or not equals:
            near = difflib.get_close_matches(key, ("hca", "port"), n=1)
            raise UsageError(
                f"--from {_shown(text)}: {pair!r} is not understood; expected hca=NAME or port=NUMBER",
                hint=f"did you mean {near[0]}=?" if near and key != near[0] else "",
            )
        if key in found:
            raise UsageError(f"--from {_shown(text)}: {key}= is given twice")
        found[key] = value
    hca = found.get("hca")
    if hca is not None and not _HCA.match(hca):
        raise UsageError(f"--from {_shown(text)}: {hca!r} is not an HCA name; expected something like mlx5_0")
    number = found.get("port")
    return hca, None if number is None else _number(number, _MAX_HCA_PORT, "HCA port", text)


def _number(digits: str, most: int, what: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5 and 1 <= int(digits) <= most):
        raise UsageError(f"--from {_shown(text)}: {digits!r} is no {what}; expected 1 to {most}")
    return int(digits)


def _parts(hosts: str, text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts = re.findall(r"(?:\[[^\]]*\]|[^,\[])+", hosts)
    if ",".join(parts) != hosts or not parts:
        raise UsageError(f"--from {_shown(text)}: an empty host or an open bracket; {_EXAMPLE}")
    return parts


def _host_part(part: str, user: str | None, text: str) -> tuple[str | None, list[str], int | None]:
    """User, hosts and port of ``[user@]host[:port]``, where host may be a set or an IPv6 address in brackets."""
    name, at, place = part.rpartition("@")
    if at:
        if ":" in name:
            raise UsageError(f"--from {_shown(text)}: a password has no place here; ssh keys are used")
        if not _USER.match(name):
            raise UsageError(f"--from {_shown(text)}: {name!r} is not a user name")
        user = name
    ipv6 = _IPV6.match(place)
    if ipv6:
        hosts, port = [ipv6[1]], ipv6[2]
    else:
        names, colon, digits = place.partition(":")
        port = digits if colon else None
        if port and ":" in port:
            raise UsageError(
                f"--from {_shown(text)}: {place!r} has too many colons", hint="write IPv6 as [fe80::1]"
            )
        hosts = hostset.expand(names)
        for host in hosts:
            if not _HOST.match(host):
                raise UsageError(f"--from {_shown(text)}: {host!r} is not a host name; {_EXAMPLE}")
    return user, hosts, None if port is None else _number(port, _MAX_TCP_PORT, "TCP port", text)
