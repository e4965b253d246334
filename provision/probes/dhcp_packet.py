"""DHCPDISCOVER as a server's UEFI firmware sends it, and the offer that comes back (RFC 2131, 2132, 4578, 3396)."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from fabricctl.mac import Mac
from fabricctl.words import printable
from provision.install.doctor_seen import Offer

COOKIE = bytes((99, 130, 83, 99))
BROADCAST = 0x8000
_HEADER = struct.Struct("!BBBBIHH4s4s4s4s16s64s128s")
_SMALLEST = 300
"""Bytes of a BOOTP message; servers may drop shorter ones (RFC 1542, section 2.1)."""
UEFI_X64 = 7
"""Architecture of option 93 as UEFI firmware of x64 sends it (RFC 4578 and its errata: 7, not 9)."""
_WANTED = bytes((1, 3, 6, 12, 13, 15, 28, 43, 51, 54, 58, 59, 60, 66, 67, 97))
_PAD, _END = 0, 255
_MESSAGE, _SERVER, _LEASE, _TFTP_NAME, _BOOTFILE, _OVERLOAD = 53, 54, 51, 66, 67, 52
_DISCOVER, _OFFER = 1, 2


def discover(mac: Mac, xid: int, *, relay: str = "0.0.0.0") -> bytes:  # noqa: S104 (no relay, not an address bound)
    """A DHCPDISCOVER of a machine that boots over the network by UEFI.

    :param xid: transaction id, 32 bits; :param relay: ``giaddr``: the answer then goes there, to port 67.
    """
    hardware = bytes.fromhex(mac.replace(":", ""))
    client = b"\x00" + hardware.rjust(16, b"\x00")
    options = (
        (_MESSAGE, bytes((_DISCOVER,))),
        (55, _WANTED),
        (57, struct.pack("!H", 1472)),
        (60, b"PXEClient:Arch:00007:UNDI:003016"),
        (93, struct.pack("!H", UEFI_X64)),
        (94, bytes((1, 3, 16))),
        (97, client),
    )
    none = bytes(4)
    header = _HEADER.pack(
        1,
        1,
        6,
        1 if relay != "0.0.0.0" else 0,  # noqa: S104 (no relay, not an address bound)
        xid,
        4,  # seconds since the client began: some relays wait for more than its first packet
        BROADCAST,
        none,
        none,
        none,
        ipaddress.IPv4Address(relay).packed,
        hardware.ljust(16, b"\x00"),
        b"",
        b"",
    )
    body = b"".join(bytes((code, len(value))) + value for code, value in options)
    return (header + COOKIE + body + bytes((_END,))).ljust(_SMALLEST, b"\x00")


@dataclass(frozen=True, slots=True)
class Reply:
    """A DHCP message of a server. :param mac: of the machine it is for; :param offer: None when it is none."""

    xid: int
    mac: str
    offer: Offer | None


def read_reply(data: bytes, sender: str) -> Reply | None:
    """Read a server's message; None when it is not one, or is cut short."""
    if len(data) < _HEADER.size + len(COOKIE) or data[_HEADER.size : _HEADER.size + 4] != COOKIE:
        return None
    op, _, length, _, xid, _, _, _, yours, next_server, _, hardware, sname, file = _HEADER.unpack_from(data)
    if op != 2 or length != 6:
        return None
    options = _joined(_options(data[_HEADER.size + 4 :]))
    overload = options.get(_OVERLOAD, b"\x00")[:1]
    if overload in (b"\x01", b"\x03"):  # options go on in these fields (RFC 2132, section 9.3)
        options = {**_joined(_options(file)), **options}
        file = b""
    if overload in (b"\x02", b"\x03"):
        options = {**_joined(_options(sname)), **options}
    mac = ":".join(f"{byte:02x}" for byte in hardware[:6])
    if options.get(_MESSAGE) != bytes((_OFFER,)):
        return Reply(xid, mac, None)
    server = options.get(_SERVER, b"")
    lease = options.get(_LEASE, b"")
    return Reply(
        xid,
        mac,
        Offer(
            server=_ip(server) or sender,
            sender=sender,
            address=_ip(yours),
            next_server=_ip(next_server),
            bootfile=_text(options.get(_BOOTFILE, b"")) or _text(file),
            tftp_name=_text(options.get(_TFTP_NAME, b"")),
            lease_s=int.from_bytes(lease) if len(lease) == 4 else 0,
        ),
    )


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        code = data[at]
        if code == _END:
            return
        if code == _PAD:
            at += 1
            continue
        if at + 1 >= len(data):
            return
        length = data[at + 1]
        value = data[at + 2 : at + 2 + length]
        if len(value) < length:
            return
        yield code, value
        at += 2 + length


def _joined(options: Iterator[tuple[int, bytes]]) -> dict[int, bytes]:
    """Options that were split are one (RFC 3396)."""
    found: dict[int, bytes] = {}
    for code, value in options:
        found[code] = found.get(code, b"") + value
    return found


def _ip(packed: bytes) -> str:
    return str(ipaddress.IPv4Address(packed)) if len(packed) == 4 and any(packed) else ""


def _text(data: bytes) -> str:
    return printable(data.split(b"\x00", 1)[0].decode("utf-8", "replace"))
