"""New, still open, gone, returned: a series of runs seen from a baseline, and who comes back again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fabricctl.cabling.model import FindingKind
from fabricctl.errors import UsageError
from fabricctl.history.model import Episode, Known, Run
from fabricctl.hostset import natural_key


class Status(StrEnum):
    """What became of a finding since the baseline; each gets exactly one."""

    RETURNED = "returned"
    """There now; it had gone before."""
    NEW = "new"
    """There now for the first time, and not at the baseline."""
    OPEN = "open"
    """There at the baseline and ever since."""
    NOT_LOOKED_AT = "not_looked_at"
    """Open as far as is known; the last run could not look there."""
    GONE = "gone"
    """There at the baseline or later; the run that looked there again did not find it."""


OPEN_STATUSES = frozenset({Status.RETURNED, Status.NEW, Status.OPEN, Status.NOT_LOOKED_AT})
"""What nobody has seen repaired."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One finding as it stands.

    :param came_back: how often it was there again after it had gone, over all recorded runs.
    :param first: first run that ever had it; :param last: last one that had it; :param gone: run that saw it gone.
    """

    known: Known
    status: Status
    came_back: int
    first: Run
    last: Run
    gone: Run | None = None


@dataclass(frozen=True, slots=True)
class Offender:
    """A device whose faults come back. :param faults: different findings that named it, over all recorded runs.

    :param came_back: how often one of them returned; :param open: how many are open.
    """

    device: str
    came_back: int
    faults: int
    open: int
    first: Run
    last: Run


@dataclass(frozen=True, slots=True)
class Change:
    """A series since its baseline.

    :param baseline: run the rest is compared with; None: nothing had been recorded yet.
    :param latest: last run; :param standings: repeat offenders first, then worst kind first.
    :param offenders: devices with faults that came back, worst first.
    """

    series: str
    baseline: Run | None
    latest: Run
    standings: tuple[Standing, ...]
    offenders: tuple[Offender, ...]

    def count(self, status: Status) -> int:
        """Findings of one status."""
        return sum(standing.status is status for standing in self.standings)


def baseline_of(runs: Sequence[Run], since: int | datetime | None) -> Run | None:
    """The run to compare the latest with.

    :param runs: of one series, oldest first; :param since: number of a run (of any series: the last run of this one
        up to it counts), a moment (the last run before it counts), or None: the run before the latest.
    """
    if since is None:
        return runs[-2] if len(runs) > 1 else None
    if isinstance(since, int):
        before = [run for run in runs if run.number <= since]
    else:
        before = [run for run in runs if run.made < since]
    return before[-1] if before else None


def compare(
    runs: Sequence[Run],
    known: Mapping[str, Known],
    episodes: Iterable[Episode],
    since: int | datetime | None = None,
) -> Change:
    """Findings of one series since a baseline.

    :param runs: of the series, oldest first, at least one; :param known: findings by id.
    :param episodes: all of the series, in any order.
    :raises UsageError: no run is there at all.
    """
    if not runs:
        raise UsageError("no run is recorded")
    baseline, latest = baseline_of(runs, since), runs[-1]
    at = baseline.number if baseline is not None else 0
    by_number = {run.number: run for run in runs}
    of: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        of[episode.finding].append(episode)
    standings: list[Standing] = []
    for id, several in of.items():
        several.sort(key=lambda episode: episode.opened)
        status = status_of(several, at, latest.number)
        if status is not None:
            now = several[-1]
            first, last = by_number[several[0].opened], by_number[now.last]
            gone = by_number[now.gone] if now.gone is not None else None
            standings.append(Standing(known[id], status, len(several) - 1, first, last, gone))
    kinds = list(FindingKind)
    standings.sort(
        key=lambda s: (
            s.status is Status.GONE,
            -s.came_back,
            kinds.index(s.known.kind),
            natural_key(s.known.subject),
            s.known.id,
        )
    )
    return Change(latest.series, baseline, latest, tuple(standings), _offenders(of, known, by_number))


def status_of(episodes: Sequence[Episode], baseline: int, latest: int) -> Status | None:
    """Status of one finding; None when it had gone by the baseline and has not come back.

    :param episodes: of the finding, oldest first, at least one.
    :param baseline: number of the run to compare with, 0 for none; :param latest: number of the last run.
    """
    now = episodes[-1]
    if now.gone is not None:
        return Status.GONE if now.gone > baseline else None
    if now.last < latest:
        return Status.NOT_LOOKED_AT
    if now.opened <= baseline:
        return Status.OPEN
    return Status.RETURNED if len(episodes) > 1 else Status.NEW


def _offenders(
    of: Mapping[str, Sequence[Episode]], known: Mapping[str, Known], runs: Mapping[int, Run]
) -> tuple[Offender, ...]:
    """Devices named by a finding that came back; the more often the earlier."""
    named: dict[str, list[str]] = defaultdict(list)
    for id in of:
        for device in dict.fromkeys(known[id].devices):
            named[device].append(id)
    found = []
    for device, ids in named.items():
        back = sum(len(of[id]) - 1 for id in ids)
        if back:
            first = min(of[id][0].opened for id in ids)
            last = max(of[id][-1].last for id in ids)
            still = sum(of[id][-1].gone is None for id in ids)
            found.append(Offender(device, back, len(ids), still, runs[first], runs[last]))
    return tuple(sorted(found, key=lambda o: (-o.came_back, -o.faults, natural_key(o.device))))
