"""Database errors as errors an operator can act on, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from fabricctl.adapters.store.location import Location
from fabricctl.errors import (
    StateConflictError,
    StateDamagedError,
    StateError,
    StateUnavailableError,
)

_SQLITE: dict[str, tuple[type[StateError], str, str]] = {
    "SQLITE_BUSY": (
        StateUnavailableError,
        "another process holds it locked",
        "try again when that has ended",
    ),
    "SQLITE_LOCKED": (
        StateUnavailableError,
        "another process holds it locked",
        "try again when that has ended",
    ),
    "SQLITE_READONLY": (
        StateError,
        "may not be written",
        "its owner and mode? its folder must be writable too",
    ),
    "SQLITE_CANTOPEN": (
        StateError,
        "cannot be opened",
        "its owner and mode? its folder must be writable too",
    ),
    "SQLITE_PERM": (StateError, "may not be opened", "its owner and mode?"),
    "SQLITE_FULL": (StateError, "cannot be written: the disk is full", ""),
    "SQLITE_IOERR": (StateUnavailableError, "reading or writing failed", "is the disk full or failing?"),
    "SQLITE_NOTADB": (StateDamagedError, "is no SQLite file", "give another file, or move this one away"),
    "SQLITE_CORRUPT": (
        StateDamagedError,
        "is damaged",
        "restore a backup, or move it away and start a new one",
    ),
}
"""Primary result code (https://www.sqlite.org/rescode.html) -> class, what is wrong, what to do."""

_POSTGRESQL: dict[str, tuple[type[StateError], str]] = {
    "42501": (StateError, "the user may not do this"),
    "25006": (StateError, "the database is read-only (a standby?)"),
    "55P03": (StateUnavailableError, "another process holds it locked"),
    "40P01": (StateUnavailableError, "two processes waited for each other"),
    "40001": (StateUnavailableError, "another process wrote at the same time"),
    "57P01": (StateUnavailableError, "the database server is shutting down"),
}
"""SQLSTATE (PostgreSQL manual, appendix A) -> class and what is wrong."""


Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class RowError(Exception):
    """A row that this fabricctl did not write: changed by hand, or by another version."""


def reads_row(parse: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Mark a function that makes a value of a stored row: what it cannot read is a damaged store, no bug."""

    @wraps(parse)
    def read(*args: Arguments.args, **named: Arguments.kwargs) -> Value:
        try:
            return parse(*args, **named)
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise RowError(" ".join(str(exc).split())) from exc

    return read


@contextmanager
def mapped(location: Location) -> Iterator[None]:
    """Turn whatever SQLAlchemy and the drivers raise into the error tree."""
    try:
        yield
    except RowError as exc:
        raise StateDamagedError(
            f"holds a row that cannot be read ({exc})",
            place=location.place,
            hint="was it changed by hand? restore a backup, or use the fabricctl that wrote it",
        ) from exc
    except IntegrityError as exc:
        raise StateConflictError(
            f"the record changed meanwhile ({_first_line(exc)})", place=location.place, hint="look again"
        ) from exc
    except DBAPIError as exc:
        raise _of_driver(exc, location) from exc
    except SQLAlchemyError as exc:
        raise StateUnavailableError(_first_line(exc), place=location.place) from exc


def _of_driver(exc: DBAPIError, location: Location) -> StateError:
    name = str(getattr(exc.orig, "sqlite_errorname", "") or "")
    for code, (kind, text, hint) in _SQLITE.items():
        if name == code or name.startswith(f"{code}_"):
            return kind(text, place=location.place, hint=hint)
    state = str(getattr(exc.orig, "sqlstate", "") or "")
    if state in _POSTGRESQL:
        kind, text = _POSTGRESQL[state]
        return kind(f"{text} ({_first_line(exc)})", place=location.place)
    if location.path or not isinstance(exc, OperationalError | InterfaceError):
        return StateError(f"cannot be used: {_first_line(exc)}", place=location.place)
    return StateUnavailableError(f"the database does not answer: {_first_line(exc)}", place=location.place)


def _first_line(exc: SQLAlchemyError) -> str:
    text = str(getattr(exc, "orig", None) or exc).strip()
    return text.splitlines()[0] if text else type(exc).__name__
