"""Ethernet addresses: one canonical form, six pairs of lower-case digits joined by colons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NewType, TypeVar

from fabricctl.guid import Guid, parse_guid

Mac = NewType("Mac", str)
"""An Ethernet address in its canonical form: only :func:`parse_mac` and what works on addresses make one."""
_A = TypeVar("_A", Mac, Guid)

_PAIRS = re.compile(r"[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}\Z")
_DOTTED = re.compile(r"[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}\Z")
_BARE = re.compile(r"[0-9a-f]{12}\Z")
_HARDWARE = re.compile(r"[0-9a-f]{2}(?:([:-]?)[0-9a-f]{2})(?:\1[0-9a-f]{2}){18}\Z")
_EUI64 = "0300"
"""What Mellanox and NVIDIA put between the two halves of an adapter's MAC to make its GUID."""


@lru_cache(maxsize=4096)
def parse_mac(text: str) -> Mac | None:
    """Return the canonical form (``0c:42:a1:00:12:ef``) of a 48-bit address, None when it is none.

    Accepted, in upper or lower case: pairs joined by ``:`` or ``-`` (IEEE 802-2014, 8.1), three groups of four
    joined by ``.`` (switch operating systems), and twelve digits without separators (Redfish, labels). A card's
    address stands in many places of what its BMC tells, so the last ones are remembered.
    """
    text = text.strip().lower()
    if not any(pattern.match(text) for pattern in (_PAIRS, _DOTTED, _BARE)):
        return None
    return _joined(re.sub(r"[:.-]", "", text))


def _joined(digits: str) -> Mac:
    return Mac(":".join(digits[at : at + 2] for at in range(0, len(digits), 2)))


def next_mac(mac: str, step: int = 1) -> Mac:
    """The address ``step`` further on: port 2 of an adapter has that of port 1 plus one."""
    return _joined(f"{(int(mac.replace(':', ''), 16) + step) % 2**48:012x}")


@dataclass(frozen=True, slots=True)
class Derived(Generic[_A]):
    """A GUID or MAC that was worked out and not read. It is never trusted alone: ibstat or the fabric confirms it.

    :param value: canonical; :param rule: how it was worked out, for people.
    """

    value: _A
    rule: str


def guid_of_mac(mac: str) -> Derived[Guid] | None:
    """The GUID an InfiniBand adapter with this MAC has if it follows its vendor's rule; None for no unicast MAC.

    ``b8:3f:d2:a4:1b:d2`` -> ``0xb83fd20300a41bd2``: 03 00 stand between the halves, and no bit is turned over, unlike
    in the modified EUI-64 of RFC 4291. Seen on ConnectX-6 and -7 (xcat-core issue 7777; NVIDIA site explorer).
    """
    found = parse_mac(mac)
    digits = (found or "").replace(":", "")
    if not digits or int(digits[:2], 16) & 1 or not int(digits, 16):
        return None
    return Derived(Guid(f"0x{digits[:6]}{_EUI64}{digits[6:]}"), f"MAC {found} with 03:00 between its halves")


def mac_of_guid(guid: str) -> Derived[Mac] | None:
    """The MAC behind a GUID made by the rule of :func:`guid_of_mac`; None when this GUID was not made so."""
    found = parse_guid(guid)
    digits = (found or "0x")[2:]
    if digits[6:10] != _EUI64:
        return None
    return Derived(_joined(digits[:6] + digits[10:]), f"GUID {found} without the 03:00 in its middle")


@dataclass(frozen=True, slots=True)
class HardwareAddress:
    """A 20-byte IPoIB link-layer address (RFC 4391, 9.1.1), as ``ip link`` shows it.

    :param queue_pair: 24 bits; :param subnet_prefix: ``0xfe80000000000000`` unless a subnet manager changed it.
    :param guid: port GUID, canonical.
    """

    queue_pair: int
    subnet_prefix: str
    guid: Guid


def parse_hardware_address(text: str) -> HardwareAddress | None:
    """Read ``80:00:00:48:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:a4:1b:d2``; None when it is none."""
    text = text.strip().lower()
    if not _HARDWARE.match(text):
        return None
    digits = re.sub(r"[:-]", "", text)
    return HardwareAddress(int(digits[2:8], 16), f"0x{digits[8:24]}", Guid(f"0x{digits[24:]}"))
