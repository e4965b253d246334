"""Installing many hosts: how it is done, and what came of each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from provision.install.deadlines import Deadlines
from provision.install.outcome import NodeResult
from provision.workflows.install_book import NO_BOOK, Book


@dataclass(frozen=True, slots=True)
class Progress:
    """Something was heard of a host. :param words: the provisioner's own, or what is being done.

    :param ended: its result, when this is the last that is heard of it.
    """

    host: str
    words: str
    ended: NodeResult | None = None


@dataclass(frozen=True)
class FlowOptions:
    """How a fleet is installed.

    :param wave: nodes started at one tick; :param deploying: nodes under way at the same time.
    :param requests: hosts that are created at the same time; :param poll_s: seconds between two ticks.
    :param clock: seconds that only go forward; :param now: of the day, for records; :param book: where it is kept.
    :param wait: for the end of what is begun.
    :param locks: folder of the hosts' locks, see :mod:`provision.workflows.install_locks`.
    """

    wave: int = 32
    deploying: int = 128
    requests: int = 8
    poll_s: float = 10.0
    deadlines: Deadlines = field(default_factory=Deadlines)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    progress: Callable[[Progress], None] = lambda _: None
    book: Book = NO_BOOK
    wait: bool = True
    locks: Path | None = None


class FleetInterrupted(Exception):  # noqa: N818 - it is no error
    """Ctrl-C: nothing more was started; phases that were begun go on in the provisioner.

    :param results: one of every host; those that were not finished say so.
    """

    def __init__(self, results: Sequence[NodeResult]) -> None:
        super().__init__("interrupted")
        self.results = tuple(results)
