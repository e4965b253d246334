"""Self-signed certificates of simulated BMCs."""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_BACK = datetime.timedelta(days=30)
_FORTH = datetime.timedelta(days=3650)


@dataclass(frozen=True)
class Certificate:
    """One certificate with its key, both PEM. :param fingerprint: SHA-256 of its DER, lower-case hex."""

    certificate: bytes
    key: bytes
    fingerprint: str

    def context(self) -> ssl.SSLContext:
        """What a server wants."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory(prefix="idrac-tls-") as folder:
            both = Path(folder) / "both.pem"
            both.touch(mode=0o600)
            both.write_bytes(self.key + self.certificate)
            context.load_cert_chain(both)
        return context


def make_certificate(address: str, name: str = "idrac-simulated") -> Certificate:
    """A certificate as a BMC makes itself at the factory: self-signed, its own address as alternative name."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACK)
        .not_valid_after(now + _FORTH)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    der = made.public_bytes(serialization.Encoding.DER)
    return Certificate(
        certificate=made.public_bytes(serialization.Encoding.PEM),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        fingerprint=hashlib.sha256(der).hexdigest(),
    )
