"""JSON that somebody hands in: read within bounds, and what is wrong with it as one line."""

from __future__ import annotations

import json
from typing import Any

from fabricctl.errors import InputError

MAX_DEPTH = 100
"""Levels of nesting; nothing that is read here has ten."""


def json_of(text: str, path: str, what: str = "JSON", *, hint: str = "") -> Any:
    """The value a text holds.

    :param what: what was expected, for the message.
    :raises InputError: it is no JSON, or nested too deep, with path and line.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as exc:
        message = f"this is no {what}: {exc.msg} at column {exc.colno}"
        raise InputError(message, path=path, line=exc.lineno, hint=hint) from exc
    except ValueError as exc:  # a number of more digits than Python takes
        raise InputError(f"this is no {what}: {exc}", path=path, hint=hint) from exc
    except RecursionError as exc:
        raise _too_deep(path, what, hint) from exc
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        items = (item for one in level for item in (one.values() if isinstance(one, dict) else one))
        level = [item for item in items if isinstance(item, dict | list)]
    if level:
        raise _too_deep(path, what, hint)
    return value


def _too_deep(path: str, what: str, hint: str) -> InputError:
    return InputError(f"this is no {what}: nested more than {MAX_DEPTH} levels deep", path=path, hint=hint)
