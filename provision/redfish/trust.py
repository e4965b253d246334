"""Whom a connection is trusted to: pinned certificate, authority, or explicitly nobody."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import ssl
import warnings
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from fabricctl.errors import BmcDeadlineError, BmcFingerprintError, BmcTlsError, BmcUnreachableError
from provision.bmc.target import Target, Trust, Verify
from provision.redfish.tls import context_of
from provision.redfish.transport import CONNECT_S


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a BMC shows of itself.

    :param fingerprint: SHA-256 of the DER form, 64 lower-case digits.
    """

    fingerprint: str
    not_before: datetime
    not_after: datetime
    subject: str
    issuer: str = ""


def must_be_trusted(target: Target) -> None:
    """Refuse a BMC whose certificate nobody recorded, before anything is sent to it.

    :raises BmcTlsError: its certificate is to be pinned, and there is none.
    """
    if target.trust.verify is Verify.PINNED and not target.trust.fingerprint:
        raise BmcTlsError(
            "no certificate is recorded for this BMC, so it gets no password",
            bmc=str(target),
            hint=f"run fabricctl bmc trust {target.host}; it tells, too, when the BMC does not answer at all",
        )


def fingerprint_of(der: bytes) -> str:
    """SHA-256 of a certificate in DER, 64 lower-case digits."""
    return hashlib.sha256(der).hexdigest()


def other_certificate(target: Target, found: str) -> BmcFingerprintError:
    """The error of another certificate than the pinned one."""
    return BmcFingerprintError(
        f"expected the pinned certificate {target.trust.fingerprint}, found {found}; nothing was sent",
        bmc=str(target),
        hint=f"if it was renewed on purpose: fabricctl bmc trust {target.host} --replace --reason TEXT; else somebody "
        "stands between",
    )


def tls_context(trust: Trust) -> ssl.SSLContext:
    """A TLS context; a pinned certificate is compared by the transport, as OpenSSL knows no pins.

    :raises BmcTlsError: the file of authorities cannot be read.
    """
    return _context(trust.ca_file if trust.verify is Verify.CA else "", trust.tls_floor)


@lru_cache(maxsize=64)
def _context(ca_file: str, floor: str) -> ssl.SSLContext:
    try:
        return context_of(ca_file, floor)
    except OSError as exc:  # ssl.SSLError is one
        reason = exc.strerror or "expected PEM certificates"
        raise BmcTlsError(f"authorities in {ca_file} cannot be read: {reason}") from exc


def tls_refusal(target: Target, exc: BaseException) -> BmcTlsError | BmcUnreachableError:
    """The error of a TLS handshake that failed, with what to do."""
    if isinstance(exc, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return ended_in_handshake(target)
    text = str(exc)
    verify = re.search(r"certificate verify failed: ([^(\[]+)", text)
    if verify:
        return BmcTlsError(
            f"the authorities in {target.trust.ca_file} do not vouch for its certificate: {verify[1].strip()}",
            bmc=str(target),
        )
    words = _words(exc)
    hint = _older(target) if re.search(r"protocol|version|handshake", words) else ""
    return BmcTlsError(f"no TLS connection: {words}", bmc=str(target), hint=hint)


def ended_in_handshake(target: Target) -> BmcUnreachableError:
    """The error of a BMC that ends the connection instead of a handshake: too busy, or too old."""
    return BmcUnreachableError(
        "it ended the connection in the TLS handshake", bmc=str(target), hint=_older(target)
    )


def broken_tls(target: Target, path: str, exc: BaseException) -> BmcUnreachableError:
    """The error of TLS that broke after the handshake, when the request may have arrived."""
    return BmcUnreachableError(f"{path}: the connection broke: {_words(exc)}", bmc=str(target))


def _words(exc: BaseException) -> str:
    reason = getattr(exc, "reason", None) or str(exc) or type(exc).__name__
    return str(reason).replace("_", " ").lower()


def _older(target: Target) -> str:
    return (
        f"if it always does, it may know nothing newer than TLS below {target.trust.tls_floor}: lower tls_floor for it "
        "under management.bmc_access"
    )


async def fetch_certificate(target: Target, deadline_s: float = CONNECT_S) -> Certificate:
    """The certificate a BMC shows, whoever it is: nothing is sent to it.

    :raises BmcUnreachableError: :raises BmcDeadlineError: :raises BmcTlsError: as they say.
    """
    context = _context("", target.trust.tls_floor)
    try:
        async with asyncio.timeout(deadline_s):
            _, writer = await asyncio.open_connection(target.address, target.port, ssl=context)
    except TimeoutError as exc:
        raise BmcDeadlineError(f"no TLS connection within {deadline_s:g} s", bmc=str(target)) from exc
    except ssl.SSLError as exc:
        raise tls_refusal(target, exc) from exc
    except ConnectionResetError as exc:
        raise ended_in_handshake(target) from exc
    except OSError as exc:
        reason = os.strerror(exc.errno).lower() if exc.errno and exc.errno > 0 else str(exc).lower()
        raise BmcUnreachableError(f"no connection: {reason}", bmc=str(target)) from exc
    try:
        tls = writer.get_extra_info("ssl_object")
        der = tls.getpeercert(binary_form=True) if tls is not None else None
    finally:
        writer.transport.abort()
    if not der:
        raise BmcTlsError("it shows no certificate", bmc=str(target))
    return read_certificate(der)


def read_certificate(der: bytes) -> Certificate:
    """Fingerprint, validity and names of a certificate.

    :raises BmcTlsError: it cannot be read.
    """
    from cryptography import x509

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # serial numbers of zero, negative ones: firmware writes them
            read = x509.load_der_x509_certificate(der)
            return Certificate(
                fingerprint_of(der),
                read.not_valid_before_utc,
                read.not_valid_after_utc,
                read.subject.rfc4514_string(),
                read.issuer.rfc4514_string(),
            )
    except ValueError as exc:
        raise BmcTlsError(f"its certificate cannot be read: {exc}") from exc
