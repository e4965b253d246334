"""What is waited for at a BMC, told to whoever shows progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("phase", default=None)


def phase(words: str) -> None:
    """From now on this is waited for, in words that follow a number: ``waiting for the boot``."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(words)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Within, in this task and those it starts, phases are told to somebody."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
