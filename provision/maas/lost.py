"""From a request without an answer to the error an operator reads, and whether a read may be sent again."""

from __future__ import annotations

import os
import ssl

import aiohttp

from fabricctl.errors import (
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerUnreachableError,
)
from provision.maas.answers import Asked, shorten

_CA = "give MAAS's authority as maas.ca in the site file, and the name its certificate holds in maas.url"


def lost(asked: Asked, exc: BaseException, deadline_s: float) -> tuple[ProvisionerError, bool]:
    """The error of a request that has no answer, and whether a read may be sent once more.

    Whether MAAS may have received it decides about a write: before a connection stands nothing was sent.
    """
    host = asked.host
    if isinstance(exc, ssl.SSLCertVerificationError | aiohttp.ClientConnectorCertificateError):
        return ProvisionerUnreachableError(f"MAAS's certificate: {reason(exc)}", host=host, hint=_CA), False
    if isinstance(exc, aiohttp.ClientConnectorError):
        hint = "is maas.url http where MAAS speaks no TLS?" if isinstance(exc.os_error, ssl.SSLError) else ""
        return ProvisionerUnreachableError(
            f"no connection to MAAS: {reason(exc.os_error)}", host=host, hint=hint
        ), False
    if isinstance(exc, aiohttp.ConnectionTimeoutError):
        return ProvisionerUnreachableError("no connection to MAAS in time", host=host), False
    if isinstance(exc, aiohttp.InvalidURL):
        return ProvisionerUnreachableError("maas.url is no address", host=host), False
    if isinstance(exc, TimeoutError):
        what = f"no full answer within {deadline_s:g} s"
        return _either(asked, what, ProvisionerDeadlineError), False
    if isinstance(exc, aiohttp.ClientPayloadError):
        return _either(asked, "the answer is cut short", ProvisionerGarbledError), not asked.write
    if isinstance(exc, aiohttp.ClientResponseError | ValueError):
        return _either(asked, "the answer is no HTTP", ProvisionerGarbledError), False
    what = f"the connection broke: {reason(exc)}"
    return _either(asked, what, ProvisionerUnreachableError), not asked.write


def unreadable(asked: Asked, what: str) -> ProvisionerError:
    """The error of an answer that came and cannot be read: what a write did is not known then."""
    return _either(asked, what, ProvisionerGarbledError)


def _either(asked: Asked, what: str, read: type[ProvisionerError]) -> ProvisionerError:
    if asked.write:
        return ProvisionerOutcomeUnknownError(
            f"it may have been carried out: {asked}: {what}", host=asked.host
        )
    return read(f"{asked}: {what}", host=asked.host)


def reason(exc: BaseException) -> str:
    """Why, in few words and without the address, which is known."""
    inner = getattr(exc, "certificate_error", exc)
    if isinstance(inner, ssl.SSLCertVerificationError):
        return shorten(inner.verify_message or "not trusted", 160)
    if isinstance(exc, OSError) and exc.errno is not None and exc.errno > 0:
        return os.strerror(exc.errno).lower()
    return shorten(str(exc) or type(exc).__name__, 160).lower()
