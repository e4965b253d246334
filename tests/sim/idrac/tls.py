"""Certificates of simulated BMCs: self-signed, one each, made when first needed."""

from __future__ import annotations

import hashlib
import ipaddress
import ssl
import tempfile
import warnings
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VERSIONS = {"1.0": ssl.TLSVersion.TLSv1, "1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2}


@lru_cache(maxsize=1)
def _key() -> ec.EllipticCurvePrivateKey:
    """One key for the whole fleet: only the certificates must differ."""
    return ec.generate_private_key(ec.SECP256R1())


class Certificate(ssl.SSLContext):
    """The TLS side of one BMC: a server context whose certificate is made at the first connection.

    asyncio asks its context for a connection by ``wrap_bio``; this one passes that on to the context of the moment,
    so a certificate can be exchanged while the BMC serves, and 511 of them cost nothing before they are needed.
    """

    address: str
    tag: str
    newest: str
    serial: int
    _real: ssl.SSLContext | None
    _der: bytes

    @classmethod
    def of(cls, address: str, tag: str, serial: int) -> Certificate:
        """The certificate of a BMC."""
        made = cls(ssl.PROTOCOL_TLS_SERVER)
        made.address, made.tag, made.serial = address, tag, serial
        made.newest, made._real, made._der = "", None, b""
        return made

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate in DER, as 64 lower-case digits."""
        self.context()
        return hashlib.sha256(self._der).hexdigest()

    @property
    def pem(self) -> str:
        """The certificate, to trust as its own authority."""
        self.context()
        return ssl.DER_cert_to_PEM_cert(self._der)

    def renew(self) -> str:
        """Another certificate from the next connection on; its fingerprint."""
        self.serial += 1_000_000
        self._real = None
        return self.fingerprint

    def limit(self, newest: str) -> None:
        """Speak no newer TLS than this: ``1.1`` as an old BMC; empty: no limit."""
        self.newest = newest
        self._real = None

    def context(self) -> ssl.SSLContext:
        """The context of the moment."""
        if self._real is None:
            self._der, pem = _self_signed(self.address, self.tag, self.serial)
            self._real = _context(pem, self.newest)
        return self._real

    def wrap_bio(self, *args: Any, **named: Any) -> ssl.SSLObject:
        """A connection with the certificate of the moment."""
        return self.context().wrap_bio(*args, **named)


def _self_signed(address: str, tag: str, serial: int) -> tuple[bytes, bytes]:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Dell Inc."),
            x509.NameAttribute(NameOID.COMMON_NAME, f"idrac-{tag}"),
        ]
    )
    start = datetime.now(UTC) - timedelta(days=1)
    names = x509.SubjectAlternativeName(
        [x509.DNSName(f"idrac-{tag}"), x509.IPAddress(ipaddress.ip_address(address))]
    )
    certificate = (
        x509.CertificateBuilder(
            name, name, _key().public_key(), serial + 1, start, start + timedelta(days=3650)
        )
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(_key(), hashes.SHA256())
    )
    key = _key().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return (
        certificate.public_bytes(serialization.Encoding.DER),
        certificate.public_bytes(serialization.Encoding.PEM) + key,
    )


def _context(pem: bytes, newest: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.pem"
        path.touch(0o600)
        path.write_bytes(pem)
        context.load_cert_chain(path)
    if newest:
        if newest != "1.2":
            context.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # old on purpose
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = _VERSIONS[newest]
    return context
