"""How long a job is waited for: decisions over what was seen and how much time went by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from provision.bmc.jobs import Job, Phase


class Unseen(Enum):
    """A look that showed no job."""

    SILENT = "silent"
    """The BMC does not answer, or answers that it is not ready: it may be restarting itself."""
    NOT_THERE = "not there"
    """The BMC answers, but knows no such job."""


Seen = Job | Unseen


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds of a wait, in seconds.

    :param total_s: for the job; :param silence_s: for a BMC that restarts itself, as after its own update (5 to 10
        minutes); :param appear_s: until a job that was just made shows up. :param poll_s: between two looks at first,
        :param slowest_s: later.
    """

    total_s: float = 1800.0
    silence_s: float = 600.0
    appear_s: float = 30.0
    poll_s: float = 2.0
    slowest_s: float = 30.0


class End(Enum):
    """Why a wait is over."""

    SETTLED = "settled"
    """The job came to an end, or to what was waited for."""
    GONE = "gone"
    """It was seen, and is in none of the places any more: ended and deleted by itself, or cleared by somebody."""
    NEVER_SEEN = "never seen"
    SILENT = "silent"
    """The BMC did not answer for too long."""
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Watch:
    """A wait as it stands. :param at: seconds since it began, at the last look; :param silent_since: of the gap."""

    patience: Patience = Patience()
    until_waiting: bool = False
    last: Job | None = None
    at: float = 0.0
    silent_since: float | None = None
    absent_since: float | None = None
    looks: int = 0


def look(watch: Watch, at: float, seen: Seen) -> tuple[Watch, float | End]:
    """Take in one look.

    :param at: seconds since the wait began. :returns: the watch as it stands now, and seconds until the next look or
        why the wait is over. Whatever is seen, a wait ends once ``total_s`` or ``silence_s`` is over.
    """
    patience = watch.patience
    gap_s = patience.silence_s if seen is Unseen.SILENT else patience.appear_s
    silent = (at if watch.silent_since is None else watch.silent_since) if seen is Unseen.SILENT else None
    absent = (at if watch.absent_since is None else watch.absent_since) if seen is Unseen.NOT_THERE else None
    now = replace(watch, at=at, silent_since=silent, absent_since=absent, looks=watch.looks + 1)
    if isinstance(seen, Job):
        now = replace(now, last=seen)
        waiting = seen.phase is Phase.WAITING and watch.until_waiting
        if seen.phase.over or waiting:
            return now, End.SETTLED
    since = silent if silent is not None else absent
    if since is not None and at - since >= gap_s:
        if seen is Unseen.SILENT:
            return now, End.SILENT
        return now, End.GONE if watch.last is not None else End.NEVER_SEEN
    if at >= patience.total_s:
        return now, End.SILENT if seen is Unseen.SILENT else End.TOO_LONG
    return now, min(patience.slowest_s, patience.poll_s * 1.5 ** min(watch.looks, 20))
