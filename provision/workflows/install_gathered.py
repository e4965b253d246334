"""Many small writes at once become few, and none of them holds up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Gathered(Generic[T]):
    """Writes on another thread; what comes while one write is under way goes into the next, all together.

    :param write: writes several; one error or None for each of them.
    """

    def __init__(self, write: Callable[[Sequence[T]], Sequence[Exception | None]]) -> None:
        self._write = write
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, one: T) -> None:
        """Have it written, and wait for that. Cancelled, it may be written all the same.

        :raises Exception: what ``write`` gave for it, or raised.
        """
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, ended))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        await ended

    async def _run(self) -> None:
        while self._waiting:
            some, self._waiting = self._waiting, []
            try:
                errors = await asyncio.to_thread(self._write, [one for one, _ in some])
            except Exception as exc:  # noqa: BLE001 - whoever waits for it is told
                errors = [exc] * len(some)
            for (_, ended), error in zip(some, errors, strict=True):
                if ended.done():
                    continue
                if error is None:
                    ended.set_result(None)
                else:
                    ended.set_exception(error)
