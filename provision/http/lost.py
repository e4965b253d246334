"""From a request without an answer, or with a server's own failure, to the error an operator reads."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass

import aiohttp

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerUnreachableError,
)
from provision.http.asked import Asked, shorten


@dataclass(frozen=True, slots=True)
class Named:
    """Who is asked. :param name: for people: ``MAAS``; :param section: of the site file: ``maas``; :param url: its."""

    name: str
    section: str
    url: str


def not_sent(named: Named, asked: Asked, exc: BaseException) -> ProvisionerError:
    """The error of a request that never left: whatever it was to do, nothing happened."""
    host, name, section = asked.host, named.name, named.section
    if isinstance(exc, ssl.SSLCertVerificationError | aiohttp.ClientConnectorCertificateError):
        hint = (
            f"give {name}'s authority as {section}.ca in the site file, and the name its certificate holds in "
            f"{section}.url"
        )
        return ProvisionerUnreachableError(f"{name}'s certificate: {reason(exc)}", host=host, hint=hint)
    if isinstance(exc, aiohttp.InvalidURL):
        return no_address(named, host)
    if isinstance(exc, aiohttp.ClientConnectorError):
        tls = isinstance(exc.os_error, ssl.SSLError)
        hint = f"is {section}.url http where {name} speaks no TLS?" if tls else ""
        said = reason(exc.os_error)
        return ProvisionerUnreachableError(f"no connection to {name}: {said}", host=host, hint=hint)
    if isinstance(exc, TimeoutError):
        return ProvisionerUnreachableError(f"no connection to {name} in time", host=host)
    return ProvisionerUnreachableError(f"no connection to {name}: {reason(exc)}", host=host)


def no_address(named: Named, host: str = "") -> ProvisionerError:
    """Its URL is none, so that nothing can be sent."""
    return ProvisionerUnreachableError(f"{named.section}.url is no address: {named.url}", host=host)


def lost(asked: Asked, exc: BaseException, deadline_s: float) -> tuple[ProvisionerError, bool]:
    """The error of a request that left and has no answer, and whether a read may be sent once more.

    Whether the server may have received it decides about a write: once there was a connection, it may.
    """
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


def failure_of(status: int, *, write: bool) -> type[ProvisionerError]:
    """The error of a server's own failure, or a proxy's before it (500 to 599): a write may have been carried out."""
    if write:
        return ProvisionerOutcomeUnknownError
    if status in (502, 503):
        return ProvisionerUnreachableError
    return ProvisionerDeadlineError if status == 504 else ProvisionerAnswerError


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
    if isinstance(exc, OSError) and exc.strerror:  # a name that is not known
        return shorten(exc.strerror, 160).lower()
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return "server disconnected"  # its text may hold what the server said
    return shorten(str(exc) or type(exc).__name__, 160).lower()
