"""What goes on inside MAAS, on a terminal line by line, elsewhere a line every so often."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricctl.cli.phases import Phases

SHOWN = 8
"""Different things that nodes do, with a line each."""
EVERY_S = 30.0
"""Seconds between two lines where nobody looks at a terminal: a log of an hour's deployment is a hundred lines."""


@contextmanager
def watched(phases: Phases, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[], None]]:
    """Show progress while something is done; call what is given whenever something may have changed."""
    from fabricctl.cli.console import say
    from fabricctl.cli.progress import live

    if sys.stderr.isatty():
        with live(lambda: "\n".join(rows(phases))):
            yield lambda: None
        return
    said, at = phases.head, clock()

    def changed() -> None:
        nonlocal said, at
        if clock() - at >= EVERY_S and phases.line != said:
            said, at = phases.line, clock()
            say(said)

    yield changed


def rows(phases: Phases) -> list[str]:
    """How many are done, then what the others do, hosts folded."""
    from fabricctl.cli.phases import span
    from fabricctl.hostset import fold

    waits = phases.waits()
    lines = [
        f"  {len(hosts):>4,}  {fold(hosts)}  {words}, {'longest ' if len(hosts) > 1 else ''}{span(longest)}"
        for words, hosts, longest in waits[:SHOWN]
    ]
    more = sum(len(hosts) for _, hosts, _ in waits[SHOWN:])
    return [phases.head, *lines, *([f"  {more:>4,}  others"] if more else [])]
