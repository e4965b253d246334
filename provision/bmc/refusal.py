"""What an error answer says, by message keys: the version inside an id changes with every firmware."""

from __future__ import annotations

from fabricctl.errors import BmcAnswerError, BmcError, BmcUnsupportedError
from provision.bmc.reply import message_key

REFUSED = (BmcAnswerError, BmcUnsupportedError)
"""Answers that say no: 405 and 501 come as the second."""


def keys_of(error: BmcError) -> frozenset[str]:
    """``{"SYS444", "SYS410"}`` of an answer's message ids; empty for an error that is no answer."""
    ids = error.ids if isinstance(error, BmcAnswerError) else ()
    return frozenset(message_key(message_id) for message_id in ids)


def refuses_place(error: BmcError) -> bool:
    """Whether an answer says that this resource cannot be written this way, so that another place may be tried."""
    if isinstance(error, BmcUnsupportedError):
        return True
    return isinstance(error, BmcAnswerError) and error.status in (400, 404, 405, 501)
