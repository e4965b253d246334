"""One database behind one class: short transactions, the same on SQLite and PostgreSQL.

SQLite runs in WAL mode: readers never wait, one writer at a time waits for another up to ``BUSY_S``. WAL wants a local
disk (https://www.sqlite.org/wal.html); controllers on several machines share a PostgreSQL. A process killed at any
instant leaves the last whole transaction. Open a store in the process that uses it, never before a fork.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError

from fabricctl.adapters.store.failures import mapped
from fabricctl.adapters.store.location import Location
from fabricctl.errors import StateError, StateUnavailableError

BUSY_S = 10.0
"""Longest wait for another writer."""
CONNECT_S = 10
"""Longest wait for a database server's answer."""
_WRITES = "fabricctl_writes"


class Database:
    """Transactions on a location; end it with ``close``.

    :param create: make the file and its folder when they are not there (a database server is asked either way).
    :raises StateError: it cannot be used, or is not there and must not be made.
    """

    def __init__(self, location: Location, *, create: bool = True, busy_s: float = BUSY_S) -> None:
        self.location = location
        self.sqlite = bool(location.path)
        if self.sqlite:
            _make_file(location, create)
        self.engine = _sqlite(location, busy_s) if self.sqlite else _postgresql(location, busy_s)
        self._busy_s = busy_s

    def to_wal(self) -> None:
        """Switch a SQLite file to WAL, once it is known to be ours."""
        if self.sqlite:
            with mapped(self.location):
                _to_wal(self.engine, self.location, self._busy_s)

    def close(self) -> None:
        """Give connections back."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view; nothing is written."""
        with mapped(self.location), self.engine.connect() as connection:
            if not self.sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing. On SQLite nobody else writes meanwhile."""
        with (
            mapped(self.location),
            self.engine.connect() as connection,
            connection.execution_options(**{_WRITES: True}).begin(),
        ):
            yield connection

    def alone(self, connection: Connection, topic: int) -> None:
        """Wait until no other transaction holds the topic; SQLite's writers are alone anyway."""
        if not self.sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK_SPACE}, {topic:d})")


_LOCK_SPACE = 0x0FAB


def _make_file(location: Location, create: bool) -> None:
    path = Path(location.path)
    try:
        found = (
            path.stat()
        )  # is_dir() and exists() swallow some errors and let others through, by Python version
    except FileNotFoundError as exc:
        if not create:
            hint = "verify-cabling with --site or --state starts it, or node set with --site"
            raise StateError("there is none yet", place=location.place, hint=hint) from exc
    except (OSError, ValueError) as exc:
        raise _cannot(location, "be made" if create else "be read", exc) from exc
    else:
        if stat.S_ISREG(found.st_mode):
            return
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no plain file"
        raise StateError(f"is {what}; expected a file", place=location.place)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as exc:
        raise _cannot(location, "be made", exc) from exc


def _cannot(location: Location, what: str, exc: OSError | ValueError) -> StateError:
    reason = str(getattr(exc, "strerror", "") or exc).lower()
    return StateError(f"cannot {what}: {reason}", place=location.place)


def _sqlite(location: Location, busy_s: float) -> Engine:
    engine = create_engine(location.url, connect_args={"timeout": busy_s})

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = (
            None  # we say BEGIN ourselves: the driver would begin too late to be alone
        )
        for setting in ("foreign_keys=ON", "synchronous=FULL"):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _to_wal(engine: Engine, location: Location, busy_s: float) -> None:
    """Switch a new file to WAL; two processes that do it at once get "busy" without a wait, so we wait."""
    deadline = time.monotonic() + busy_s
    while True:
        raw = engine.raw_connection()
        try:
            mode = str(raw.cursor().execute("PRAGMA journal_mode").fetchone()[0])
            if mode == "wal" or str(raw.cursor().execute("PRAGMA journal_mode=WAL").fetchone()[0]) == "wal":
                return
        except Exception as exc:
            if "locked" not in str(exc):
                raise DatabaseError("PRAGMA journal_mode", None, exc) from exc
        finally:
            raw.close()
        if time.monotonic() > deadline:
            raise StateUnavailableError("another process holds it locked", place=location.place)
        time.sleep(0.02)


def _postgresql(location: Location, busy_s: float) -> Engine:
    settings = {
        "connect_timeout": CONNECT_S,
        "application_name": "fabricctl",
        "options": f"-c lock_timeout={int(busy_s * 1000)}",
    }
    try:
        return create_engine(location.url, pool_pre_ping=True, hide_parameters=True, connect_args=settings)
    except ImportError as exc:
        raise StateError(
            "the driver for PostgreSQL is not installed",
            place=location.place,
            hint="pip install 'fabricctl[postgresql]'",
        ) from exc
