"""Whom a command is waiting for: the end of a line of progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provision.bmc.target import Target


class Patience:
    """BMCs that are not ready, since when.

    :param show: shows a line of progress.
    """

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._show, self._clock = show, clock
        self._since: dict[str, float] = {}
        self._text = ""

    def say(self, text: str, done: str = "") -> None:
        """Show how far it is. :param done: host that is finished, so not waited for any more."""
        self._since.pop(done, None)
        self._text = text
        self._show(text + self.words())

    def waiting(self, target: Target, waits: bool) -> None:
        """A BMC is waited for, or goes on."""
        if waits:
            self._since.setdefault(target.host, self._clock())
        else:
            self._since.pop(target.host, None)
        self._show(self._text + self.words())

    def words(self) -> str:
        """``; 2 not ready for 60 s``, by the one that is waited for longest; one alone is named."""
        since = dict(self._since)  # the thread that draws the line may ask while it changes
        if not since:
            return ""
        longest = self._clock() - min(since.values())
        (first, *more) = since
        who = f"{len(self._since):,}" if more else first
        return f"; {who} not ready for {longest:.0f} s"
