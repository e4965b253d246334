"""ssh host keys made before a host is installed, so that the first login to it is verified.

Format of lines: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT". The private half is never recorded; see
:mod:`provision.workflows.install_keys`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fabricctl.errors import UsageError
from fabricctl.nodes.facts import Value
from provision.bmc.secret import Secret

FIELD = "ssh.host_key"
"""Field of the node fact that holds a :class:`HostKeyRecord`."""
VERSION = 1
SSH_PORT = 22
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.:-]*[A-Za-z0-9_])?\Z|::[0-9a-fA-F:.]*\Z")
_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9@.-]*\Z")


@dataclass(frozen=True, slots=True)
class HostKey:
    """A key pair. :param private: OpenSSH's format, for the host alone; :param public: ``ssh-ed25519 AAAA...``."""

    private: Secret
    public: str


@dataclass(frozen=True, slots=True)
class HostKeyRecord:
    """Public keys a host may show, and the names it is reached by.

    :param installed: of the last installation that was accepted, empty before the first.
    :param offered: of installations that may have been accepted: sent, and no answer came. Oldest first.
    """

    names: tuple[str, ...] = ()
    port: int = SSH_PORT
    installed: str = ""
    offered: tuple[str, ...] = field(default=())

    @property
    def keys(self) -> tuple[str, ...]:
        """All it may show now."""
        return tuple(dict.fromkeys([*([self.installed] if self.installed else []), *self.offered]))

    def as_value(self) -> Value:
        """For the state store."""
        return {
            "version": VERSION,
            "names": list(self.names),
            "port": self.port,
            "installed": self.installed,
            "offered": list(self.offered),
        }


def offer(record: HostKeyRecord, public: str, names: Iterable[str], *, port: int = SSH_PORT) -> HostKeyRecord:
    """Before an installation is asked for: its key is added, what was there stays.

    :raises UsageError: this is no public key, or a name cannot stand in a known_hosts file.
    """
    key = plain_key(public)
    told = tuple(dict.fromkeys(_name(name) for name in names)) or record.names
    offered = tuple(old for old in record.offered if old != key)
    return replace(record, names=told, port=port, offered=(*offered, key))


def accepted(record: HostKeyRecord, public: str) -> HostKeyRecord:
    """The installation with this key was accepted: its key takes the place of all others."""
    return replace(record, installed=plain_key(public), offered=())


def refused(record: HostKeyRecord, public: str) -> HostKeyRecord:
    """The installation with this key was refused: nothing changed on the host. With an unknown outcome call nothing."""
    key = plain_key(public)
    return replace(record, offered=tuple(one for one in record.offered if one != key))


def read_record(value: object) -> HostKeyRecord | None:
    """The record out of the state store; None when it is of another version or no such record."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return None
    names, port = value.get("names"), value.get("port")
    installed, offered = value.get("installed"), value.get("offered")
    if not (isinstance(names, list) and isinstance(offered, list) and isinstance(installed, str)):
        return None
    if not isinstance(port, int) or not all(isinstance(text, str) for text in (*names, *offered)):
        return None
    return HostKeyRecord(tuple(names), port, installed, tuple(offered))


def known_hosts(records: Iterable[tuple[str, HostKeyRecord]]) -> str:
    """A whole known_hosts file. :param records: node and its record; nodes without keys are left out."""
    lines = [
        known_hosts_line(record.names or (node,), key, port=record.port, comment=node)
        for node, record in sorted(records, key=lambda pair: pair[0])
        for key in record.keys
    ]
    head = "# Written by fabricctl from its state store; changes are lost.\n"
    return head + "".join(f"{line}\n" for line in lines)


def known_hosts_line(names: Iterable[str], public: str, *, port: int = SSH_PORT, comment: str = "") -> str:
    """One line, without its end.

    :raises UsageError: a name would be a pattern, a marker or several words; or this is no public key.
    """
    written = [_written(_name(name), port) for name in names]
    if not written:
        raise UsageError("a line of known_hosts names at least one host")
    tail = f" {_name(comment)}" if comment else ""
    return f"{','.join(dict.fromkeys(written))} {plain_key(public)}{tail}"


def _written(name: str, port: int) -> str:
    return name if port == SSH_PORT else f"[{name}]:{port}"


def _name(text: str) -> str:
    """A host name or an address in lower case: nothing ssh would read as a pattern, a marker or a comment."""
    if not _NAME.match(text):
        raise UsageError(f"expected a host name or an IP address, found {text[:80]!r}")
    return text.lower()


def plain_key(text: str) -> str:
    """``TYPE BASE64`` of a public key in OpenSSH's format, its comment dropped.

    :raises UsageError: it is none, or a private key.
    """
    words = text.split(maxsplit=2)
    if "PRIVATE KEY" in text:
        raise UsageError("expected a public ssh key, found a private one")
    if len(words) < 2 or not text.isprintable() or _type_inside(words[1]) != words[0]:
        raise UsageError(f"expected a public ssh key such as ssh-ed25519 AAAA..., found {text[:40]!r}")
    return f"{words[0]} {words[1]}"


def _type_inside(encoded: str) -> str:
    """The type a key's bytes begin with (RFC 4253, 6.6: a string with its length before it), empty when none."""
    try:
        blob = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return ""
    length = int.from_bytes(blob[:4], "big")
    name = blob[4 : 4 + length]
    if not 0 < length <= 64 or len(blob) <= 4 + length or len(name) < length:
        return ""
    told = name.decode("ascii", "replace")
    return told if _TYPE.match(told) else ""
