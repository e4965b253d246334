"""What an error answer of Ironic means. Texts as Ironic 39 writes them (``ironic/common/exception.py``)."""

from __future__ import annotations

import json
import re
from typing import Any

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerAnswerError,
    ProvisionerBusyError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerRefusedError,
    ProvisionerStateError,
    ProvisionerUnsupportedError,
)
from provision.http.lost import failure_of
from provision.http.mask import Mask

LONGEST = 400
"""Characters of an answer that are shown."""
_BUSY = ("is locked by host", "lack of free conductor workers")
"""Nothing was done, and the same request may be sent again."""
_TAKEN = re.compile(r"A (?:node|port|portgroup) with .+ already exists")
_STATES = (
    "while it is in state",
    "it's in maintenance mode",
    "is associated with instance",
    "is not locked",
    "is protected",
    "while the node is in state",
)


def told(raw: bytes, mask: Mask | None = None) -> str:
    """Ironic's words in the body of an error, on one line. :param mask: takes secrets out before anything is cut off.

    ``error_message`` holds JSON inside a string, with the words in ``faultstring`` or ``description``; before the API
    proper answers, HTTP basic says ``{"error": {"message": ...}}``.
    """
    text = raw.decode("utf-8", "replace")
    words = _words(_parsed(text))
    return (mask or Mask()).line(words or re.sub(r"<[^>]+>", " ", text), LONGEST)


def _words(body: Any) -> str:
    if isinstance(body, str):
        inner = _parsed(body)
        return _words(inner) if isinstance(inner, dict) else body
    if not isinstance(body, dict):
        return ""
    for name in ("error_message", "faultstring", "description", "error", "message", "title"):
        if body.get(name):
            return _words(body[name])
    return ""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def error_of(status: int, words: str, asked: str, *, write: bool) -> ProvisionerError:
    """The error of an answer from 400 on.

    :param words: by :func:`told`; :param asked: method and path; :param write: the request was to change something.
    """
    said = f"Ironic: {words}" if words else f"Ironic answered {status} to {asked}"
    if status == 401:
        return ProvisionerLoginError(said, status=status, hint="check ironic.user and ironic.password")
    if any(part in words for part in _BUSY):
        return ProvisionerBusyError(said, status=status)
    if status == 409 and _TAKEN.search(words):
        return OtherMachineError(said, status=status)
    if status in (400, 409) and any(part in words for part in _STATES):
        return ProvisionerStateError(said, status=status)
    kinds: dict[int, type[ProvisionerError]] = {
        403: ProvisionerForbiddenError,
        404: ProvisionerNotFoundError,
        406: ProvisionerUnsupportedError,
        400: ProvisionerRefusedError,
        409: ProvisionerRefusedError,
    }
    kind = failure_of(status, write=write) if status >= 500 else kinds.get(status, ProvisionerAnswerError)
    if kind is ProvisionerOutcomeUnknownError:
        said = f"it may have been carried out: {asked}: {said}"
    return kind(said, status=status)
