"""One BMC as the site names it: where it is, whom it should belong to, and how far its certificate is trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Verify(StrEnum):
    """How the certificate of a BMC is checked."""

    PINNED = "pinned"
    """Against the fingerprint recorded at first contact (``fabricctl bmc trust``)."""
    CA = "ca"
    """Against a certificate authority and the address."""
    OFF = "off"
    """Not at all: explicit, per BMC, shown in every report."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How one BMC is trusted.

    :param fingerprint: SHA-256 of the certificate in DER, 64 lower-case digits; empty when none was recorded.
    :param ca_file: PEM file of authorities; :param tls_floor: oldest TLS version spoken, ``1.2`` unless a BMC is older.
    """

    verify: Verify = Verify.PINNED
    fingerprint: str = ""
    ca_file: str = ""
    tls_floor: str = "1.2"


@dataclass(frozen=True, slots=True)
class Target:
    """One BMC.

    :param host: the node it belongs to by the site; :param address: IP address (or name) it is asked at.
    :param model: node model of the site, empty when unknown; :param service_tag: of the site or the node record.
    :param basic: send HTTP Basic with every request instead of a session: by explicit option only.
    """

    host: str
    address: str
    port: int = 443
    model: str = ""
    service_tag: str = ""
    trust: Trust = field(default_factory=Trust)
    basic: bool = False

    @property
    def url(self) -> str:
        """``https://192.0.2.1`` or ``https://[2001:db8::1]:8443``."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"https://{host}" + ("" if self.port == 443 else f":{self.port}")

    def __str__(self) -> str:
        """As errors name it: ``gpu001 (192.0.2.1)``."""
        where = self.address if self.port == 443 else f"{self.address} port {self.port}"
        return f"{self.host} ({where})" if self.host and self.host != self.address else where
