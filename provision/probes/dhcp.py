"""A DHCPDISCOVER for a known machine, and every offer that comes. No address is taken: nothing is requested."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from dataclasses import dataclass

from fabricctl.mac import Mac
from provision.install.doctor_seen import DhcpSeen, NoAnswer, Offer, Why
from provision.probes.dhcp_packet import discover, read_reply
from provision.probes.failing import why_of

SERVER_PORT = 67
TRIES = 2
"""DHCPDISCOVERs sent: a datagram may be lost."""
_LARGEST = 2048


@dataclass(frozen=True, slots=True)
class Way:
    """How the question goes out: by broadcast from ``interface``, or as a relay would, straight to ``server``.

    :param interface: in the machines' own network; :param port: of the server; a client listens on the next one.
    """

    interface: str = ""
    server: str = ""
    port: int = SERVER_PORT

    @property
    def words(self) -> str:
        """For people."""
        return f"by broadcast on {self.interface}" if self.interface else f"as a relay to {self.server}"


async def ask_dhcp(mac: Mac, way: Way, *, xid: int, window_s: float = 4.0) -> DhcpSeen | NoAnswer:
    """Collect the offers to one machine's DHCPDISCOVER during a window: a second server may be slower.

    Needs the right to use ports below 1024 and to name an interface (root, or CAP_NET_BIND_SERVICE and CAP_NET_RAW).

    :param xid: transaction id; :param window_s: seconds to listen; the question is repeated half-way.
    """
    try:
        sock, relay = _relaying(way) if not way.interface else (_broadcasting(way), "")
    except OSError as error:
        return _not_sent(error, way)
    with sock:
        packet = discover(mac, xid, relay=relay) if relay else discover(mac, xid)
        goal = ("255.255.255.255", way.port) if way.interface else (way.server, way.port)
        try:
            offers = await _collect(
                sock, packet, goal, lambda data, sender: _ours(data, sender, mac, xid), window_s
            )
        except OSError as error:
            return why_of(error)
    return DhcpSeen(mac, way.words, tuple(offers), window_s)


def _ours(data: bytes, sender: str, mac: Mac, xid: int) -> Offer | None:
    reply = read_reply(data, sender)
    return reply.offer if reply is not None and (reply.xid, reply.mac) == (xid, mac) else None


async def _collect(
    sock: socket.socket,
    packet: bytes,
    goal: tuple[str, int],
    read: Callable[[bytes, str], Offer | None],
    window_s: float,
) -> list[Offer]:
    loop = asyncio.get_running_loop()
    found: dict[tuple[str, str], Offer] = {}
    end = loop.time() + window_s
    for left in range(TRIES, 0, -1):
        await loop.sock_sendto(sock, packet, goal)
        until = end - window_s * (left - 1) / TRIES
        while (wait_s := until - loop.time()) > 0:
            try:
                async with asyncio.timeout(wait_s):
                    data, sender = await loop.sock_recvfrom(sock, _LARGEST)
            except TimeoutError:
                break
            offer = read(data, str(sender[0]))
            if offer is not None:
                found[offer.server, offer.sender] = offer
    return list(found.values())


def _broadcasting(way: Way) -> socket.socket:
    sock = _datagrams()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, way.interface.encode() + b"\x00")
        sock.bind(("255.255.255.255", way.port + 1))
    except OSError:
        sock.close()
        raise
    return sock


def _relaying(way: Way) -> tuple[socket.socket, str]:
    """A socket on the port a relay listens on, at the address from which the server is reached."""
    with _datagrams() as route:
        route.connect((way.server, way.port))
        address = str(route.getsockname()[0])
    sock = _datagrams()
    try:
        sock.bind((address, way.port))
    except OSError:
        sock.close()
        raise
    return sock, address


def _datagrams() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return sock


def _not_sent(error: OSError, way: Way) -> NoAnswer:
    if error.errno in (errno.EPERM, errno.EACCES):
        return NoAnswer(Why.FORBIDDEN, "only root may send it: run it with sudo, or --skip dhcp")
    if error.errno == errno.ENODEV:
        return NoAnswer(Why.UNREACHABLE, f"this machine has no interface {way.interface}")
    if error.errno == errno.EADDRINUSE:
        port = way.port + 1 if way.interface else way.port
        return NoAnswer(Why.UNREACHABLE, f"another program of this machine holds UDP port {port}")
    return why_of(error)
