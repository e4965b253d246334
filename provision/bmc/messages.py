"""What an answer means for the next step: told by its message ids, not by its status.

The same "not ready" comes with 400, 500 and 503, and the same 503 means "come back in 30 seconds" or "every session is
taken". Where a service gives no known message, the status decides as HTTP (RFC 9110) defines it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import Enum

from provision.bmc.reply import Message, Reply


class Meaning(Enum):
    """What to do with an answer."""

    OK = "ok"
    NOT_READY = "not ready"
    """Nothing was done; the same request will succeed later."""
    BUSY = "busy"
    """Nothing was done; a job that is under way must end first."""
    PENDING = "configuration pending"
    """Nothing was done; a scheduled job waits for a reboot, and waiting does not help."""
    SESSIONS_FULL = "every session is taken"
    PASSWORD_CHANGE = "password must be changed"  # noqa: S105 - a state's name
    LOCKED_OUT = "locked out"
    UNAUTHORIZED = "not logged in"
    LICENCE = "licence missing"
    NOT_FOUND = "not found"
    STALE = "changed meanwhile"
    """412: the ETag no longer fits."""
    WANTS_ETAG = "wants If-Match"
    """428: RFC 6585."""
    ERROR = "error"


BY_MESSAGE: Mapping[str, Meaning] = {
    # https://github.com/ironcore-dev/metal-operator/issues/170: 503 and "Retry in 30 seconds" soon after boot
    "SYS518": Meaning.NOT_READY,
    # https://github.com/quadsproject/badfish/issues/129: 400, iDRAC9, in the middle of a run over 100 nodes
    "SWC0700": Meaning.NOT_READY,
    # https://github.com/microsoft/lisa/pull/4421: "the provider is not ready", after a Lifecycle Controller restart
    "RAC0508": Meaning.NOT_READY,
    # DSP0268 Base registry: the service names a time itself, or is overloaded for a moment
    "ServiceTemporarilyUnavailable": Meaning.NOT_READY,
    "ServiceInUnknownState": Meaning.NOT_READY,
    "ServiceShuttingDown": Meaning.NOT_READY,
    "ResourceExhaustion": Meaning.NOT_READY,
    "ResourceInStandby": Meaning.NOT_READY,
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/113: 503, one configuration job at a time
    "RAC0679": Meaning.BUSY,
    # https://github.com/dell/dellemc-openmanage-ansible-modules/issues/273: 400, a configuration waits for a reboot
    "LC068": Meaning.PENDING,
    "ResourceInUse": Meaning.BUSY,
    # https://github.com/quadsproject/badfish/issues/447: 503, "maximum number of user sessions"
    "RAC0218": Meaning.SESSIONS_FULL,
    "SessionLimitExceeded": Meaning.SESSIONS_FULL,
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/346: default password, even its own PATCH is refused
    "SWC1908": Meaning.PASSWORD_CHANGE,
    "PasswordChangeRequired": Meaning.PASSWORD_CHANGE,
    # iDRAC7/8/9 user's guides, "Invalid password credentials": login failed and delayed for so many seconds
    "RAC0212": Meaning.LOCKED_OUT,
    # capture of an R750, iDRAC9 6.00.30: inside otherwise good inventories
    "LIC501": Meaning.LICENCE,
    "SWC0242": Meaning.LICENCE,
    # the same capture: a link to a port that does not exist; DSP0268 Base registry
    "SYS403": Meaning.NOT_FOUND,
    "ResourceMissingAtURI": Meaning.NOT_FOUND,
    "ResourceNotFound": Meaning.NOT_FOUND,
    "PreconditionFailed": Meaning.STALE,
    "PreconditionRequired": Meaning.WANTS_ETAG,
    "NoValidSession": Meaning.UNAUTHORIZED,
}
"""Message key -> meaning, each with where it was seen. Only an error answer is looked up."""

BY_STATUS: Mapping[int, Meaning] = {
    401: Meaning.UNAUTHORIZED,
    404: Meaning.NOT_FOUND,
    410: Meaning.NOT_FOUND,
    412: Meaning.STALE,
    428: Meaning.WANTS_ETAG,
    429: Meaning.NOT_READY,
    503: Meaning.NOT_READY,
}

LONGEST_WAIT_S = 600.0
"""No BMC is believed that asks for more."""

_LOCKED = re.compile(
    r"login delayed for|account (?:is |has been )?locked|too many (?:failed|unsuccessful) login"
    r"|(?:address|client|login attempts?) (?:is |are |has been )?blocked",
    re.IGNORECASE,
)
_SESSIONS_FULL = re.compile(r"maximum number of (?:user )?sessions", re.IGNORECASE)
_IN_TEXT = re.compile(
    r"(?:retry|try again|wait)\D{0,40}?(?P<number>\d{1,5})\s*(?P<unit>second|minute)", re.IGNORECASE
)


_FIRST = (Meaning.PASSWORD_CHANGE, Meaning.LOCKED_OUT, Meaning.SESSIONS_FULL, Meaning.NOT_READY)
"""What counts before other messages of the same answer: these four say that nothing was even looked at."""


def meaning(reply: Reply) -> Meaning:
    """What to do with an answer; a success is a success, whatever it says besides."""
    if reply.ok:
        return Meaning.OK
    by_message = told(reply)
    return BY_STATUS.get(reply.status, Meaning.ERROR) if by_message is None else by_message


def told(reply: Reply) -> Meaning | None:
    """What the messages alone say, None when none of them is known."""
    found = [known for message in reply.messages if (known := _of_message(message)) is not None]
    return next((first for first in _FIRST if first in found), found[0] if found else None)


def _of_message(message: Message) -> Meaning | None:
    if _LOCKED.search(message.text):
        return Meaning.LOCKED_OUT
    known = BY_MESSAGE.get(message.key)
    if known is Meaning.LOCKED_OUT:  # RAC0212 is also the plain "login failed" of a first attempt
        return Meaning.UNAUTHORIZED
    if known is None and _SESSIONS_FULL.search(message.text):
        return Meaning.SESSIONS_FULL
    return known


def asked_wait(reply: Reply, now: float | None = None) -> float | None:
    """Seconds after which the BMC wants to be asked again; None when it does not say.

    ``Retry-After`` in seconds or as a date (RFC 9110), else "retry in 30 seconds" in a message. Never negative, never
    more than ten minutes.

    :param now: seconds since 1970, for a date; a date is skipped without it.
    """
    told = _header_wait(reply.headers.get("retry-after", "").strip(), now)
    if told is None:
        texts = (text for message in reply.messages for text in (message.text, message.resolution))
        told = next((wait for text in texts if (wait := _text_wait(text)) is not None), None)
    return None if told is None else min(max(told, 0.0), LONGEST_WAIT_S)


def _header_wait(text: str, now: float | None) -> float | None:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    if not text or now is None:
        return None
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None


def _text_wait(text: str) -> float | None:
    match = _IN_TEXT.search(text)
    if match is None:
        return None
    return float(match["number"]) * (60.0 if match["unit"].lower() == "minute" else 1.0)


def said(reply: Reply) -> str:
    """What the BMC said, in one line for people: status, message ids and the first sentence."""
    first = next((message for message in reply.messages if message.id or message.text), None)
    if first is None:
        return f"HTTP {reply.status}"
    ids = _printable(first.key or first.id)[:80]
    text = _printable(first.text)[:240]
    told = f"{ids}: {text}" if ids and text else ids or text
    return f"HTTP {reply.status} {told}".rstrip()


def _printable(text: str) -> str:
    """One line without what a terminal might obey."""
    return "".join(sign if sign.isprintable() else " " for sign in " ".join(text.split())).strip()
