"""Ctrl-C and SIGTERM: what they cancel, and what they must not cut off half-way."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

GRACE_S = 5.0
"""Seconds an interrupted login or command may still take, so that its outcome is known."""


async def finish(work: Awaitable[T]) -> T:
    """Await what should not be cut off half-way: when interrupted, it may end within a few seconds first."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=GRACE_S)
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=1.0)
        elif not task.cancelled():
            task.exception()  # looked at: asyncio need not complain that nobody did
        raise


async def interruptible(run: Awaitable[T]) -> T:
    """Cancel a run when asked to stop: its tasks log out, or say how far they came, on their way."""
    task = asyncio.ensure_future(run)
    with _signals(task.cancel):
        return await task


@contextmanager
def _signals(stop: Callable[[], Any]) -> Iterator[None]:
    """SIGINT and SIGTERM call ``stop``; only the main thread can have them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number] or signal.SIG_DFL)
