"""Keeping verdicts, and asking what became of their findings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import open_store
from fabricctl.cabling.verdict import Verdict
from fabricctl.discovery.model import Observation
from fabricctl.errors import StateError, UsageError
from fabricctl.history.compare import Change, compare
from fabricctl.history.looked import Looked
from fabricctl.history.model import Episode, Known, Run
from fabricctl.history.record import STDIN, known_of, run_of, series_of
from fabricctl.workflows.state_place import is_named, locate, operator

if TYPE_CHECKING:
    from fabricctl.adapters.store.runs import Recorded
    from fabricctl.workflows.verify_cabling import Intent


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """Why a verdict could not be kept. :param asked: somebody had named the store (else it is the default one)."""

    error: StateError | UsageError
    asked: bool


def record_verdict(
    intent: Intent,
    observation: Observation,
    verdict: Verdict,
    *,
    state: str,
    command: str = "verify-cabling",
    now: datetime | None = None,
) -> Recorded | NotRecorded:
    """Keep a verdict. A store that fails is a result: the verdict stands, whatever becomes of its record.

    :param intent: and ``observation``: what the verdict was made of; :param state: text of ``--state``.
    """
    asked = is_named(intent.site, state)
    try:
        location = locate(intent.site, state)
        known = known_of(verdict.findings)
        run = run_of(
            verdict,
            observation,
            intent.plan,
            intent.options,
            series=_series(intent),
            made=now or datetime.now(UTC),
            who=operator(),
            command=command,
            known=known,
        )
        looked = Looked(verdict, observation, intent.options)
        with open_store(location, site=intent.site.name if intent.site is not None else "") as store:
            return store.runs.record(run, known, looked.at)
    except (StateError, UsageError) as exc:
        return NotRecorded(exc, asked)


def _series(intent: Intent) -> str:
    plan, site = intent.plan, intent.site
    path = plan.path if plan is not None else ""
    whole = os.path.abspath(path) if path not in ("", STDIN) else path
    return series_of(intent.fabric, plan, path=whole, site=site.name if site is not None else "")


def changes(location: Location, *, site: str, since: int | datetime | None, fabric: str = "") -> list[Change]:
    """Every series of a store since a baseline, the one with the latest run last.

    :param site: name, when a site file was given; :param fabric: of the site: only this one.
    :raises UsageError: the store has no run of that fabric.
    """
    with open_store(location, site=site, create=False) as store:
        names = store.runs.series()
        if fabric:
            of_fabric = series_of(fabric)
            if of_fabric not in names:
                raise UsageError(
                    f"no run of fabric {fabric!r} is recorded; there are runs of {', '.join(names) or 'nothing'}"
                )
            names = [of_fabric]
        _check_since(store.runs.all(), since)
        return [compare(*store.runs.history(name), since=since) for name in names]


def _check_since(runs: list[Run], since: int | datetime | None) -> None:
    """:raises UsageError: there was no run since then."""
    if not runs or since is None:
        return
    latest = max(runs, key=lambda run: run.number)
    if (since > latest.number) if isinstance(since, int) else (since > max(run.made for run in runs)):
        when = f"run {since}" if isinstance(since, int) else since.isoformat(sep=" ", timespec="minutes")
        raise UsageError(f"there is no run since {when}; the latest is run {latest.number}")


def all_runs(location: Location, *, site: str) -> list[Run]:
    """Every run of a store, oldest first."""
    with open_store(location, site=site, create=False) as store:
        return store.runs.all()


@dataclass(frozen=True, slots=True)
class FindingHistory:
    """One finding of one series. :param times: when it was there, oldest first; :param runs: of the series by number.

    :param looked_at: False when it is open and the last run could not look there.
    """

    series: str
    known: Known
    times: tuple[Episode, ...]
    runs: dict[int, Run]
    looked_at: bool


def finding_histories(location: Location, id: str, *, site: str) -> list[FindingHistory]:
    """History of one finding, in every series that had it.

    :param id: or the beginning of one, with or without ``F-``, in any case.
    :raises UsageError: no finding or several begin so.
    """
    text = id.strip().lower().removeprefix("f-")
    if not text or not all(char in "0123456789abcdef" for char in text):
        raise UsageError(
            f"{id!r} is no finding's id; expected F- and hexadecimal digits, or the first of them"
        )
    with open_store(location, site=site, create=False) as store:
        found = store.runs.find(f"F-{text}")
        ids = sorted({id for _, id in found})
        if not ids:
            raise UsageError(f"no finding begins with F-{text}; fabricctl findings lists them")
        if len(ids) > 1:
            shown = ", ".join(ids[:4]) + (", ..." if len(ids) > 4 else "")
            raise UsageError(f"{len(ids)} findings begin with F-{text}: {shown}")
        histories = []
        for series, _ in found:
            runs, known, episodes = store.runs.history(series)
            times = tuple(episode for episode in episodes if episode.finding == ids[0])
            looked_at = times[-1].gone is not None or times[-1].last == runs[-1].number
            by_number = {run.number: run for run in runs}
            histories.append(FindingHistory(series, known[ids[0]], times, by_number, looked_at))
        return histories
