"""What Ctrl-C must not cut off half-way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from provision.bmc.reply import Reply

GRACE_S = 5.0
"""Seconds an interrupted login or command may still take, so that its outcome is known."""


async def finish(work: Awaitable[Reply]) -> Reply:
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
