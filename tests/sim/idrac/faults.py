"""Faults by rule, and how long answers take."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property


@dataclass
class Fault:
    """Something that goes wrong with requests of a kind.

    :param method: and ``path``: which requests; regular expressions, the whole path without its query must match.
    :param status: answer with it instead, nothing is carried out; :param message_id: of the answer (``SYS518``).
    :param message: its text instead of the registry's; :param retry_after: seconds, as the header says.
    :param args: arguments of that text; those it lacks are the path that was asked for.
    :param times: how many requests it hits, None: all; :param after: how many matching ones pass unharmed before.
    :param delay_s: real seconds the answer waits; :param cut_body: the body ends half-way and the connection with it.
    :param reset: the connection is reset, nothing is carried out; :param hang: no answer, ever.
    :param drop_answer: carried out, but the connection ends before a byte of the answer is sent.
    :param carried: with ``status`` or ``message_id``: carried out all the same, whatever the answer says.
    :param body: answer with this text, not with an iDRAC's error; :param chance: share of matching requests it hits.
    """

    method: str = ".*"
    path: str = ".*"
    status: int | None = None
    message_id: str = ""
    message: str = ""
    args: tuple[str, ...] = ()
    retry_after: int | None = None
    times: int | None = None
    after: int = 0
    delay_s: float = 0.0
    cut_body: bool = False
    reset: bool = False
    drop_answer: bool = False
    hang: bool = False
    body: str | None = None
    carried: bool = False
    chance: float = 1.0
    hits: int = field(default=0, init=False)
    seen: int = field(default=0, init=False)

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        return re.compile(self.method), re.compile(self.path)

    def strikes(self, method: str, path: str, dice: random.Random) -> bool:
        """Whether it hits this request; counts."""
        of_method, of_path = self._patterns
        if not (of_method.fullmatch(method) and of_path.fullmatch(path)):
            return False
        self.seen += 1
        spent = self.times is not None and self.hits >= self.times
        if spent or self.seen <= self.after or (self.chance < 1 and dice.random() >= self.chance):
            return False
        self.hits += 1
        return True


Latency = Callable[[str, str, random.Random], float]
"""(method, path, dice) -> real seconds an answer takes."""


def measured_latency(
    mean_s: float = 0.19, tail: float = 0.01, tail_s: float = 2.0, slowest_s: float = 18.0
) -> Latency:
    """As captures of two iDRAC9 show: 0.19 s on average, never under 0.096 s, entries of a log up to 18 s.

    :param tail: share of other requests that take ``tail_s``.
    """

    def latency(_method: str, path: str, dice: random.Random) -> float:
        if path.endswith("/Entries"):
            return dice.uniform(slowest_s / 6, slowest_s)
        if dice.random() < tail:
            return tail_s
        least = mean_s * 0.5
        return least + dice.expovariate(1 / (mean_s - least))

    return latency


def steady_latency(seconds: float, tail: float = 0.0, tail_s: float = 0.0) -> Latency:
    """Always the same, but for a share that is slow."""

    def latency(_method: str, _path: str, dice: random.Random) -> float:
        return tail_s if tail and dice.random() < tail else seconds

    return latency
