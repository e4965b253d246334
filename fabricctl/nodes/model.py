"""One record per node: who it is, with the source of every fact, and what state it is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fabricctl.errors import UsageError
from fabricctl.guid import parse_guid
from fabricctl.mac import parse_mac


class NodeState(StrEnum):
    """Where a node stands between crate and service."""

    PLANNED = "planned"
    """In the site file; nothing has been done to it."""
    PROVISIONING = "provisioning"
    """Being found, commissioned or installed."""
    READY = "ready"
    """Installed and accepted, not used yet."""
    IN_SERVICE = "in_service"
    """Jobs may run on it: nothing may disturb it."""
    DRAINING = "draining"
    """No new jobs; those that run may still be there."""
    REPAIR = "repair"
    """Out of use while somebody works on it."""
    QUARANTINED = "quarantined"
    """Out of use until somebody finds out what is wrong."""

    @property
    def words(self) -> str:
        """As people write it: ``in service``."""
        return self.value.replace("_", " ")


def parse_state(text: str) -> NodeState:
    """``in service``, ``in-service`` or ``in_service``, in any case.

    :raises UsageError: no such state; it names them all.
    """
    word = "_".join(text.strip().lower().replace("-", " ").replace("_", " ").split())
    try:
        return NodeState(word)
    except ValueError:
        all_states = ", ".join(state.words for state in NodeState)
        raise UsageError(f"there is no node state {text!r}; expected one of {all_states}") from None


class IdentityKind(StrEnum):
    """What a node can be told by."""

    SERVICE_TAG = "service_tag"
    SERIAL = "serial"
    MAC = "mac"
    GUID = "guid"

    @property
    def words(self) -> str:
        """As people write it."""
        return {"service_tag": "service tag", "serial": "serial", "mac": "MAC", "guid": "GUID"}[self.value]


SINGLE = frozenset({IdentityKind.SERVICE_TAG, IdentityKind.SERIAL})
"""Kinds of which a node (or a named part of it) has one: another value replaces the old one."""


DERIVED = "derived"
"""Source of a GUID that was worked out from a MAC: it may be wrong until ibstat or the fabric confirms it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One identity as somebody states it.

    :param value: canonical; :param part: which part of the node carries it (``mlx5_3``, ``bmc``, ``eth0``), empty for
        the chassis or when nobody knows. A part has one value per kind: a new one replaces the old one.
    :param source: who says so: ``operator``, ``redfish``, ``maas``, ...; ``derived`` when nobody does.
    """

    kind: IdentityKind
    value: str
    part: str = ""
    source: str = "operator"


@dataclass(frozen=True, slots=True)
class Identity:
    """A fact with its time. :param until: when another value took its place or it was retired, None while it holds.

    :param since: when it was first told; :param confirmed: when it was told last.
    """

    fact: Fact
    since: datetime
    confirmed: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node.

    :param version: counts every change; 0 when nothing is stored and the node is only planned.
    :param since: when it got its state, :param who: did it, :param reason: why; None and empty when only planned.
    :param identities: those that hold and those that held, oldest first.
    """

    name: str
    state: NodeState = NodeState.PLANNED
    version: int = 0
    since: datetime | None = None
    who: str = ""
    reason: str = ""
    identities: tuple[Identity, ...] = ()

    def current(self, kind: IdentityKind | None = None) -> tuple[Identity, ...]:
        """Identities that hold, of one kind or all."""
        return tuple(i for i in self.identities if i.until is None and kind in (None, i.fact.kind))


class EventKind(StrEnum):
    """What was changed."""

    NODE_STATE = "node.state"
    NODE_IDENTITY = "node.identity"
    NODE_POWER = "node.power"
    NODE_BOOT = "node.boot"
    NODE_MEDIA = "node.media"
    NODE_BIOS = "node.bios"
    NODE_LED = "node.led"
    NODE_JOB = "node.job"
    NODE_ENROL = "node.enrol"
    NODE_COMMISSION = "node.commission"
    NODE_DEPLOY = "node.deploy"
    NODE_RELEASE = "node.release"
    NODE_REPLACE = "node.replace"
    NODE_QUARANTINE = "node.quarantine"
    BMC_TRUST = "bmc.trust"
    BMC_PASSWORD = "bmc.password"  # noqa: S105 - the name of a change, not a password
    BMC_SESSION = "bmc.session"


@dataclass(frozen=True, slots=True)
class Event:
    """One change: who, when, why, before and after.

    :param subject: what was changed, a node's name; :param number: given by the store, 0 before.
    :param forced: a guard was overridden for it.
    """

    kind: EventKind
    subject: str
    at: datetime
    who: str
    reason: str
    before: str
    after: str
    forced: bool = False
    number: int = 0


def make_fact(kind: IdentityKind, text: str, source: str = "operator") -> Fact:
    """Read ``VALUE`` or ``PART=VALUE`` into its canonical form.

    MACs become lower-case pairs joined by colons, GUIDs ``0x`` and 16 digits; service tags and serials are written in
    upper case, as vendors print them.

    :raises UsageError: the value is none of its kind.
    """
    part, equals, value = text.rpartition("=")
    part, value = part.strip(), value.strip()
    if equals and not part:
        raise UsageError(
            f"{kind.words} {text!r} names no part; expected VALUE or PART=VALUE, such as mlx5_0=..."
        )
    found = _READERS[kind](value)
    if found is None:
        raise UsageError(f"{value!r} is no {kind.words}; expected {_EXAMPLES[kind]}")
    return Fact(kind, found, part, source)


def _label(text: str) -> str | None:
    """A service tag or serial: printable, no blanks, at most 64 characters."""
    plain = text.isascii() and text.isprintable() and " " not in text
    return text.upper() if text and plain and len(text) <= 64 else None


def _mac(text: str) -> str | None:
    """A MAC of one card: neither all zero nor a group's (IEEE 802-2014, 8.2.2: lowest bit of the first byte)."""
    mac = parse_mac(text)
    return None if mac is None or int(mac[:2], 16) & 1 or not int(mac.replace(":", ""), 16) else mac


def _guid(text: str) -> str | None:
    """A GUID of one node: neither zero nor all ones."""
    guid = parse_guid(text)
    return None if guid is None or int(guid, 16) in (0, 2**64 - 1) else guid


_READERS: dict[IdentityKind, Callable[[str], str | None]] = {
    IdentityKind.SERVICE_TAG: _label,
    IdentityKind.SERIAL: _label,
    IdentityKind.MAC: _mac,
    IdentityKind.GUID: _guid,
}
_EXAMPLES = {
    IdentityKind.SERVICE_TAG: "letters and digits without blanks, such as 7XK4QZ3",
    IdentityKind.SERIAL: "letters and digits without blanks, such as MT2243X00123",
    IdentityKind.MAC: "six pairs of digits, such as 0c:42:a1:00:12:ef",
    IdentityKind.GUID: "16 hexadecimal digits, such as 0x0c42a10300b3c4d5",
}
