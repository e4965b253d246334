"""Installing many hosts: how it is done, and what came of each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from provision.install.deadlines import Deadlines
from provision.install.outcome import NodeResult
from provision.workflows.install_book import NO_BOOK, Book

REQUESTS_PER_TICK = 5
"""HTTP requests of one look at everything: what changed, in one page of a thousand events and never more than four, and
one bulk read."""
REQUESTS_PER_NODE = 6
"""HTTP requests a node costs in one verb when nothing goes wrong, beside the shared looks: an installation that is
asked for again releases, sets the boot disk and the layout, reads them back, and starts."""
REQUESTS_PER_FAILURE = 14
"""HTTP requests a node costs on top when its phase fails: the reason, the tag, abort, release, marked as broken."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Something was heard of a host. :param words: the provisioner's own, or what is being done.

    :param ended: its result, when this is the last that is heard of it.
    """

    host: str
    words: str
    ended: NodeResult | None = None


Gate = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""Hosts -> why some of them must not be started now (clocks that differ); asked once, before anything is sent."""
PowerOf = Callable[[str], Awaitable[str]]
"""Host -> ``on``, ``off``, or ``unknown`` by its BMC: a provisioner resets a machine that is on."""


@dataclass(frozen=True)
class FlowOptions:
    """How a fleet is installed.

    :param wave: nodes started at one tick; :param deploying: nodes under way at the same time.
    :param enrolling: hosts created at the same time; :param poll_s: seconds between two ticks.
    :param clock: seconds that only go forward; :param now: of the day, for records; :param book: where it is kept.
    :param gate: asked before anything is begun; :param wait: for the end of what is begun.
    :param locks: folder of the hosts' locks, see :mod:`provision.workflows.install_locks`.
    """

    wave: int = 32
    deploying: int = 128
    enrolling: int = 8
    poll_s: float = 10.0
    deadlines: Deadlines = field(default_factory=Deadlines)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    progress: Callable[[Progress], None] = lambda _: None
    book: Book = NO_BOOK
    gate: Gate | None = None
    wait: bool = True
    locks: Path | None = None


class FleetInterrupted(Exception):  # noqa: N818 - it is no error
    """Ctrl-C: nothing more was started; phases that were begun go on in the provisioner.

    :param results: one of every host; those that were not finished say so.
    """

    def __init__(self, results: Sequence[NodeResult]) -> None:
        super().__init__("interrupted")
        self.results = tuple(results)
