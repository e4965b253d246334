"""Runs, findings and their episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, func, insert, select, update

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import IN_LIST
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.schema import episodes, findings, runs
from fabricctl.cabling.finding_id import Where
from fabricctl.cabling.model import FindingKind, Spot
from fabricctl.cabling.verdict import VerdictWord
from fabricctl.history.model import Episode, Known, Run, SourceSeen, Step
from fabricctl.history.step import LooksAt, advance

_TOPIC = 2


@dataclass(frozen=True, slots=True)
class Recorded:
    """What recording did.

    :param number: of the run; :param new: False when the last run of the series was the same in all but time and
        this one closes nothing either: then nothing at all was written.
    :param returned: the part of ``step.opened`` that had been there before and gone.
    """

    number: int
    new: bool
    step: Step
    returned: tuple[str, ...] = ()


class RunStore:
    """Runs of a store. Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, run: Run, known: Mapping[str, Known], looks_at: LooksAt) -> Recorded:
        """Keep a run and bring its series' findings forward.

        :param run: its ``number`` is given here; :param known: its findings by id.
        :param looks_at: whether this run would have shown an older finding.
        :raises StateError: it could not be written; then nothing was.
        """
        with self._database.writing() as connection:
            self._database.alone(connection, _TOPIC)
            last = connection.execute(
                select(runs.c.number, runs.c.fingerprint)
                .where(runs.c.series == run.series)
                .order_by(runs.c.number.desc())
                .limit(1)
            ).first()
            stored = _findings(connection, run.series)
            step = advance(_open(connection, run.series, stored), known, looks_at)
            if last is not None and last.fingerprint == run.fingerprint and not step.gone:
                return Recorded(last.number, new=False, step=Step(still=tuple(known)))
            number = _insert_run(connection, run)
            _write_texts(connection, run.series, known, stored)
            _write_episodes(connection, run.series, number, step)
            returned = tuple(id for id in step.opened if id in stored)
            return Recorded(number, new=True, step=step, returned=returned)

    def all(self, series: str | None = None) -> list[Run]:
        """Runs, oldest first."""
        query = select(runs).order_by(runs.c.number)
        if series is not None:
            query = query.where(runs.c.series == series)
        with self._database.reading() as connection:
            return [_run(row) for row in connection.execute(query)]

    def series(self) -> list[str]:
        """Names of all series, the one with the latest run last."""
        query = select(runs.c.series).group_by(runs.c.series).order_by(func.max(runs.c.number))
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def history(self, series: str) -> tuple[list[Run], dict[str, Known], list[Episode]]:
        """All of one series in one consistent view: runs, findings by id, episodes."""
        with self._database.reading() as connection:
            rows = connection.execute(select(runs).where(runs.c.series == series).order_by(runs.c.number))
            made = [_run(row) for row in rows]
            known = _findings(connection, series)
            times = connection.execute(
                select(episodes).where(episodes.c.series == series).order_by(episodes.c.number)
            )
            numbers = {run.number for run in made}
            return made, known, [_episode(row, known, numbers) for row in times]

    def find(self, prefix: str) -> list[tuple[str, str]]:
        """Series and id of findings whose id starts with a text. :param prefix: ``F-`` and at least one digit."""
        query = (
            select(findings.c.series, findings.c.id)
            .where(and_(findings.c.id >= prefix, findings.c.id < prefix + "~"))
            .order_by(findings.c.id, findings.c.series)
        )
        with self._database.reading() as connection:
            return [(row.series, row.id) for row in connection.execute(query)]


def _insert_run(connection: Connection, run: Run) -> int:
    result = connection.execute(
        insert(runs).values(
            series=run.series,
            made=run.made,
            who=run.who,
            command=run.command,
            word=run.word.value,
            plan=run.plan,
            plan_digest=run.plan_digest,
            sources=[[source.label, source.digest] for source in run.sources],
            only=run.only,
            counts=run.counts,
            doubts=list(run.doubts),
            findings=run.findings,
            fingerprint=run.fingerprint,
        )
    )
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])


def _findings(connection: Connection, series: str) -> dict[str, Known]:
    rows = connection.execute(select(findings).where(findings.c.series == series))
    return {row.id: _known(row) for row in rows}


@reads_row
def _open(connection: Connection, series: str, stored: Mapping[str, Known]) -> dict[str, Known]:
    query = select(episodes.c.finding).where(_open_episodes(series))
    return {id: stored[id] for id in connection.execute(query).scalars()}


@reads_row
def _episode(row: Row[Any], known: Mapping[str, Known], numbers: Collection[int]) -> Episode:
    if row.finding not in known or not all(
        run in numbers for run in (row.opened, row.last, row.gone or row.opened)
    ):
        raise ValueError(f"an episode of {row.finding} names a finding or run that is not there")
    return Episode(row.finding, row.opened, row.last, row.gone)


def _open_episodes(series: str) -> ColumnElement[bool]:
    return and_(episodes.c.series == series, episodes.c.gone.is_(None))


def _write_texts(
    connection: Connection, series: str, known: Mapping[str, Known], stored: Mapping[str, Known]
) -> None:
    """Findings with their latest texts; rows that are right already are not touched."""
    fresh = [_texts(k) | {"series": series, "id": k.id} for k in known.values() if k.id not in stored]
    changed = [
        _texts(k) | {"of_series": series, "of_id": k.id} for k in known.values() if stored.get(k.id, k) != k
    ]
    if fresh:
        connection.execute(insert(findings), fresh)
    if changed:
        which = (findings.c.series == bindparam("of_series"), findings.c.id == bindparam("of_id"))
        connection.execute(update(findings).where(*which), changed)


def _write_episodes(connection: Connection, series: str, number: int, step: Step) -> None:
    """Close what is gone, carry on what is still there, open what came; in this order."""
    is_open = _open_episodes(series)
    one = and_(is_open, episodes.c.finding == bindparam("of_id"))
    if step.gone:
        gone = update(episodes).where(one).values(gone=number)
        connection.execute(gone, [{"of_id": id} for id in step.gone])
    carry = update(episodes).values(last=number)
    if len(step.not_looked) <= IN_LIST:  # nearly all are still there: one statement instead of thousands
        connection.execute(carry.where(is_open, episodes.c.finding.not_in(step.not_looked)))
    elif step.still:
        connection.execute(carry.where(one), [{"of_id": id} for id in step.still])
    opened = [
        {"series": series, "finding": id, "opened": number, "last": number, "gone": None}
        for id in step.opened
    ]
    if opened:
        connection.execute(insert(episodes), opened)


def _texts(known: Known) -> dict[str, Any]:
    return {
        "kind": known.kind.value,
        "subject": known.subject,
        "headline": known.headline,
        "expected": known.expected,
        "found": known.found,
        "fix": known.fix,
        "devices": list(known.devices),
        "place": {"links": known.where.links, "devices": known.where.devices},
    }


@reads_row
def _known(row: Row[Any]) -> Known:
    return Known(
        row.id,
        FindingKind(row.kind),
        row.subject,
        row.headline,
        row.expected,
        row.found,
        row.fix,
        tuple(row.devices),
        _where(row.place),
    )


def _where(place: Mapping[str, Iterable[Any]]) -> Where:
    links = tuple(tuple(_spot(*spot) for spot in link) for link in place["links"])
    return Where(links, tuple(place["devices"]))


def _spot(key: str, *port: int) -> Spot:
    return (str(key), *map(int, port))


@reads_row
def _run(row: Row[Any]) -> Run:
    return Run(
        series=row.series,
        made=row.made,
        who=row.who,
        command=row.command,
        word=VerdictWord(row.word),
        plan=row.plan,
        plan_digest=row.plan_digest,
        sources=tuple(SourceSeen(label, digest) for label, digest in row.sources),
        only=row.only,
        counts=row.counts,
        doubts=tuple(row.doubts),
        findings=row.findings,
        fingerprint=row.fingerprint,
        number=row.number,
    )
