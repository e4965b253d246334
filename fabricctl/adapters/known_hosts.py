"""Recorded ssh host keys: which keys a host may show, and which never.

Format: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT": plain, wildcard, negated and hashed names, ``[host]:port``, and
the markers ``@revoked`` and ``@cert-authority``. Nothing is written to these files here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from fabricctl.adapters.files import read_input
from fabricctl.adapters.store.location import default_file
from fabricctl.errors import HostKeyError

SSH_PORT = 22


@dataclass(frozen=True, slots=True)
class RecordedKey:
    """One line about a host. :param marker: empty, ``@revoked`` or ``@cert-authority``."""

    type: str
    blob: bytes
    path: str
    line: int
    marker: str = ""


def recorded_keys(files: Iterable[str], host: str, port: int) -> list[RecordedKey]:
    """All lines about a host in these files; a file that is not there is passed over.

    :raises InputError: a file cannot be read.
    """
    return [key for path in files if Path(path).is_file() for key in _matching(path, entry_name(host, port))]


def site_file(site_name: str) -> str:
    """File of the host keys that were made for a site's hosts when they were installed; it may not be there.

    :raises StateError: there is no home folder.
    """
    return default_file(site_name, ".known_hosts")


def entry_name(host: str, port: int) -> str:
    """How a host is written in the file: its port only where it is not 22."""
    return host.lower() if port == SSH_PORT else f"[{host.lower()}]:{port}"


def fingerprint(blob: bytes) -> str:
    """``SHA256:...`` as ``ssh-keygen -l`` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _matching(path: str, name: str) -> Iterator[RecordedKey]:
    text = read_input(path).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or not _names(words[0], name):
            continue
        try:
            blob = base64.b64decode(words[2], validate=True)
        except binascii.Error:
            continue  # as ssh does: a damaged line records nothing, so the host stays unknown
        yield RecordedKey(words[1], blob, path, number, marker)


def _names(patterns: str, name: str) -> bool:
    if patterns.startswith("|1|"):
        return _hashed(patterns, name)
    matched = False
    for pattern in patterns.lower().split(","):
        negated = pattern.startswith("!")
        if _glob(pattern[negated:], name):
            if negated:
                return False
            matched = True
    return matched


def _glob(pattern: str, name: str) -> bool:
    """``*`` and ``?`` only: a bracket is part of ``[host]:port``, never a character class."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def _hashed(entry: str, name: str) -> bool:
    """``|1|salt|hmac-sha1(salt, name)``, both base64."""
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in entry[3:].split("|"))
    except ValueError:
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)


def check(viewer: str, host: str, port: int, shown_type: str, shown: bytes, known: list[RecordedKey]) -> None:
    """Return when the key a host shows is one recorded for it.

    :raises HostKeyError: unknown, different or revoked.
    """
    plain = [key for key in known if not key.marker]
    for key in known:
        if key.marker == "@revoked" and key.blob == shown:
            raise HostKeyError(
                f"shows a revoked {shown_type} key {fingerprint(shown)} ({key.path}:{key.line})",
                viewer=viewer,
                hint="do not log in; find out who runs this host",
            )
    if any(key.blob == shown for key in plain):
        return
    if plain:
        raise _differs(viewer, host, port, shown_type, shown, plain)
    raise _unknown(viewer, host, port, shown_type, shown, any(key.marker for key in known))


def _differs(
    viewer: str, host: str, port: int, shown_type: str, shown: bytes, plain: list[RecordedKey]
) -> HostKeyError:
    nearest = next((key for key in plain if key.type == shown_type), plain[0])
    return HostKeyError(
        f"host key differs from the recorded one: shows {shown_type} {fingerprint(shown)}, "
        f"expected {nearest.type} {fingerprint(nearest.blob)} ({nearest.path}:{nearest.line})",
        viewer=viewer,
        hint="find out why before anything else; only if the host was reinstalled: "
        f"ssh-keygen -R '{entry_name(host, port)}' -f {nearest.path}, then record its new key",
    )


def _unknown(
    viewer: str, host: str, port: int, shown_type: str, shown: bytes, by_authority: bool
) -> HostKeyError:
    authority = "; host certificates (@cert-authority) are not supported" if by_authority else ""
    scan = f"ssh-keyscan -p {port} {host}" if port != SSH_PORT else f"ssh-keyscan {host}"
    return HostKeyError(
        f"host key is unknown: shows {shown_type} {fingerprint(shown)}, none is recorded for "
        f"{entry_name(host, port)}{authority}",
        viewer=viewer,
        hint="compare that fingerprint with `ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub` on the host's own "
        f"console, and only if it is the same record it: {scan} >> ~/.ssh/known_hosts",
    )
