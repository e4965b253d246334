"""Files that one process holds at a time, and that say who: the kernel lets go of them when their holder dies."""

from __future__ import annotations

import fcntl
import getpass
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

_STEP_S = 0.05
_LONGEST = 200


class HeldError(Exception):
    """Another process holds it. :param who: in words, ``PID 4711 of root since 2026-03-02 10:15:00 UTC``."""

    def __init__(self, who: str) -> None:
        super().__init__(who)
        self.who = who


@contextmanager
def held(
    path: Path,
    *,
    wait_s: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold the lock file, which is made where it is not there.

    :raises HeldError: another one still holds it after ``wait_s``; :raises OSError: it cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = clock() + wait_s
        while not _taken(descriptor):
            if clock() >= deadline:
                raise HeldError(_read(descriptor))
            sleep(_STEP_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _own_words().encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def holder_of(path: Path) -> str:
    """Who holds a lock file, in words; empty when nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return "" if _taken(descriptor) else _read(descriptor)
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _own_words() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        user = str(os.geteuid())
    return f"PID {os.getpid()} of {user} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _read(descriptor: int) -> str:
    text = os.pread(descriptor, _LONGEST, 0).decode("utf-8", "replace")
    return " ".join(text.split()) or "another fabricctl"
