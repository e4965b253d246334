"""Node records as they are now, read together for all hosts that begin something at the same moment."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fabricctl.errors import StateError
from fabricctl.nodes.model import NodeState
from provision.workflows.install_book import Book


@dataclass(frozen=True, slots=True)
class NowRecorded:
    """A node record. :param state: None where there is none; :param occupied: why it must not be disturbed."""

    state: NodeState | None
    occupied: str


class Guard:
    """Reads the node records of those that ask in the same turn of the event loop in one look."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._asked: dict[str, asyncio.Future[NowRecorded]] = {}

    async def record(self, host: str) -> NowRecorded:
        """As it is now. :raises StateError: it cannot be read, so nothing may be begun."""
        loop = asyncio.get_running_loop()
        if not self._asked:
            loop.call_soon(self._read)
        return await self._asked.setdefault(host, loop.create_future())

    def _read(self) -> None:
        asked, self._asked = self._asked, {}
        try:
            states, occupied = self._book.states(list(asked)), self._book.occupied(list(asked))
        except StateError as error:
            for answer in asked.values():
                if not answer.done():
                    answer.set_exception(error)
            return
        for host, answer in asked.items():
            if not answer.done():
                answer.set_result(NowRecorded(states.get(host), occupied.get(host, "")))
