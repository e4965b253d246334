"""The progress of work on many nodes: how many are done, what the others wait for, which are slow."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

FEW = 3
"""So many that are left are named."""


@dataclass
class Phases:
    """Counts of one run. It is read by the thread that draws the line.

    :param what: being done, in words that stand before ": 17 of 511 BMCs". :param noun: what is counted.
    """

    what: str
    total: int
    clock: Callable[[], float] = time.monotonic
    noun: str = "BMCs"
    done: int = 0
    _now: dict[str, tuple[str, float]] = field(default_factory=dict)

    def tell(self, host: str, words: str) -> None:
        """A host waits for something from now on; told again, since when stands."""
        before = self._now.get(host)
        if before is None or before[0] != words:
            self._now[host] = (words, self.clock())

    def end(self, host: str, done: int) -> None:
        """A host is finished. :param done: so many are by now."""
        self._now.pop(host, None)
        self.done = done

    @property
    def head(self) -> str:
        """``boot pxe: 0 of 18 BMCs``."""
        return f"{self.what}: {self.done:,} of {self.total:,} {self.noun}"

    @property
    def line(self) -> str:
        """``boot pxe: 0 of 18 BMCs; 18 waiting for the boot, longest 40 s``."""
        from fabricctl.hostset import fold

        named = self.total - self.done <= FEW
        parts = [self.head]
        for words, hosts, longest in self.waits():
            who = fold(hosts) if named else f"{len(hosts):,}"
            parts.append(f"{who} {words}, {'longest ' if len(hosts) > 1 else ''}{span(longest)}")
        return "; ".join(parts)

    def waits(self) -> list[tuple[str, list[str], float]]:
        """What is waited for, by whom, and for how many seconds at most; what most wait for comes first."""
        of: dict[str, list[tuple[str, float]]] = {}
        for host, (words, since) in list(self._now.items()):
            of.setdefault(words, []).append((host, since))
        now = self.clock()
        return [
            (words, [host for host, _ in hosts], now - min(since for _, since in hosts))
            for words, hosts in sorted(of.items(), key=lambda one: -len(one[1]))
        ]


def span(seconds: float) -> str:
    """``40 s``, ``7 min``."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds // 60:.0f} min"
