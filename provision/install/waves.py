"""How many nodes may be started now, and which of them are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

READ_AT_ONCE = 64
"""Machines in one bulk read: one with nine disks is 32 KB in MAAS 3.7.3."""
STALE_S = 300.0
"""A machine that is waited for is read again after so long, also when nothing is said of it: an event that was written
late, with a number below the last one seen, is never told."""


def startable(waiting: int, flowing: int, *, wave: int, at_once: int) -> int:
    """How many more may be started at this tick. :param flowing: nodes that are under way.

    One that hangs keeps its place until its deadline: nobody can tell it from one that is silent and goes on.
    """
    return max(0, min(waiting, wave, at_once - flowing))


@dataclass(frozen=True, slots=True)
class Watched:
    """A machine that is waited for. Times are seconds of one clock.

    :param due: when its phase must have ended; :param read: when it was last read; :param urgent: since when something
        is known to have changed, None when nothing is.
    """

    due: float
    read: float
    urgent: float | None = None


def to_read(watched: Mapping[str, Watched], now: float, most: int = READ_AT_ONCE) -> list[str]:
    """Ids to read at this tick, at most so many: those that are due, then changed ones, then stale ones, each oldest
    first. Those left out come at the next tick, for they grow older.
    """
    due = [id for id, one in watched.items() if one.due <= now]
    changed = [id for id, one in watched.items() if one.urgent is not None and one.due > now]
    stale = [
        id
        for id, one in watched.items()
        if one.urgent is None and one.due > now and now - one.read >= STALE_S
    ]
    ordered: Sequence[str] = [
        *sorted(due, key=lambda id: watched[id].due),
        *sorted(changed, key=lambda id: watched[id].urgent or 0.0),
        *sorted(stale, key=lambda id: watched[id].read),
    ]
    return list(ordered[:most])
