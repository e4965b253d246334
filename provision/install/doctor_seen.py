"""What probes saw of MAAS's roles, as values; nothing here is judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.mac import Mac


class Why(StrEnum):
    """Why no answer came."""

    REFUSED = "refused"
    """The host says that nothing listens there, or ended the connection."""
    SILENT = "silent"
    """Nothing came in time."""
    GARBLED = "garbled"
    """What came was not an answer of this protocol."""
    UNREACHABLE = "unreachable"
    """This machine has no way there, or its link is down."""
    UNNAMED = "unnamed"
    """The server's name is not known to this machine's own resolver."""
    FORBIDDEN = "forbidden"
    """This process may not do it: it needs rights."""
    UNTRUSTED = "untrusted"
    """TLS with it failed."""


AT_OUR_END = frozenset({Why.UNREACHABLE, Why.UNNAMED, Why.FORBIDDEN})
"""Reasons that say nothing of the server."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nothing came. :param words: for people, without the server's name: ``no answer to 3 queries in 4 s``."""

    why: Why
    words: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A DHCPOFFER. :param server: its server identifier (option 54); :param sender: address the packet came from.

    :param address: the one offered; :param next_server: ``siaddr``; :param bootfile: field ``file`` or option 67.
    :param tftp_name: option 66; :param lease_s: option 51, 0 when not told.
    """

    server: str
    sender: str
    address: str
    next_server: str = ""
    bootfile: str = ""
    tftp_name: str = ""
    lease_s: int = 0


@dataclass(frozen=True, slots=True)
class DhcpSeen:
    """Offers to one DHCPDISCOVER. :param way: ``broadcast on eth0`` or ``as a relay to 192.0.2.1``.

    :param waited_s: how long offers were collected.
    """

    mac: Mac
    way: str
    offers: tuple[Offer, ...]
    waited_s: float


@dataclass(frozen=True, slots=True)
class DnsSeen:
    """An answer of a DNS server. :param rcode: ``NOERROR``, ``NXDOMAIN`` …; :param answers: in text form, sorted.

    :param tcp: asked again over TCP as the answer did not fit a datagram.
    """

    name: str
    kind: str
    rcode: str
    answers: tuple[str, ...] = ()
    tcp: bool = False


@dataclass(frozen=True, slots=True)
class NtpSeen:
    """An NTP server's answer, by RFC 5905. :param offset_s: its clock minus ours; :param delay_s: round trip.

    :param leap: 3 is not synchronised; :param stratum: 0 is a kiss-of-death whose code is ``reference``.
    :param root_delay_s: and ``root_dispersion_s``: to the primary source, as it says.
    """

    offset_s: float
    delay_s: float
    leap: int
    stratum: int
    root_delay_s: float
    root_dispersion_s: float
    reference: str = ""

    @property
    def root_distance_s(self) -> float:
        """How far its time may be off from the primary source's, at most (RFC 5905, section 11.2)."""
        return (self.root_delay_s + self.delay_s) / 2 + self.root_dispersion_s


@dataclass(frozen=True, slots=True)
class HttpSeen:
    """An HTTP answer. :param body: its beginning; :param headers: names in lower case."""

    url: str
    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProxySeen:
    """A GET through a proxy, and the same without it.

    :param through: what came through the proxy; NoAnswer when the proxy itself did not answer.
    :param direct: what came without, asked only when the proxy's answer was an error; None when not asked.
    """

    proxy: str
    url: str
    through: HttpSeen | NoAnswer
    direct: HttpSeen | NoAnswer | None = None
