"""Events: who changed what, when and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, update

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.schema import events
from fabricctl.nodes.model import Event, EventKind

IN_LIST = 500
"""Names in one query: below what every SQLite build accepts as parameters."""


class EventStore:
    """Events of a store. What changes the store writes them in its own transaction; what changes hardware adds them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, made: Iterable[Event]) -> None:
        """Record changes that were made outside the store: power, boot, settings of a BMC."""
        with self._database.writing() as connection:
            write_events(connection, made)

    def begin(self, about: Iterable[Event]) -> list[int]:
        """Record changes before they are made; ``tell`` brings each to what is known of it. :returns: their numbers."""
        with self._database.writing() as connection:
            done = [connection.execute(insert(events), _values(event)) for event in about]
            return [int(one.inserted_primary_key[0]) for one in done if one.inserted_primary_key]

    def tell(self, afters: Mapping[int, str]) -> None:
        """Say what became of changes. :param afters: number of an event this process began -> what it is after it."""
        with self._database.writing() as connection:
            for number, after in afters.items():
                connection.execute(update(events).where(events.c.number == number).values(after=after))

    def all(
        self,
        *,
        since: datetime | None = None,
        subjects: Collection[str] | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        """Events, oldest first.

        :param since: that moment and later; :param subjects: of these nodes only; :param limit: the latest so many.
        """
        return self.latest(since=since, subjects=subjects, limit=limit)[0]

    def latest(
        self,
        *,
        since: datetime | None = None,
        subjects: Collection[str] | None = None,
        limit: int | None = None,
    ) -> tuple[list[Event], int]:
        """As :meth:`all`, and how many there are without the limit."""
        few = subjects is None or len(subjects) <= IN_LIST

        def where(query: Select[Any]) -> Select[Any]:
            if since is not None:
                query = query.where(events.c.at >= since)
            if few and subjects is not None:
                query = query.where(events.c.subject.in_(list(subjects)))
            return query

        query = where(select(events)).order_by(events.c.number.desc())
        if limit is not None and few:
            query = query.limit(limit)
        with self._database.reading() as connection:
            found = [_event(row) for row in connection.execute(query)]
            total = len(found)
            if limit is not None and few and total == limit:
                total = connection.execute(where(select(func.count()).select_from(events))).scalar_one()
        if subjects is not None and not few:
            wanted = set(subjects)
            found = [event for event in found if event.subject in wanted]
            total = len(found)
            found = found[:limit]
        return found[::-1], total


def write_events(connection: Connection, made: Iterable[Event]) -> None:
    """Add events inside a transaction."""
    rows = [_values(event) for event in made]
    if rows:
        connection.execute(insert(events), rows)


def _values(event: Event) -> dict[str, Any]:
    return {
        "at": event.at,
        "kind": event.kind.value,
        "subject": event.subject,
        "who": event.who,
        "reason": event.reason,
        "before": event.before,
        "after": event.after,
        "forced": event.forced,
    }


@reads_row
def _event(row: Row[Any]) -> Event:
    return Event(
        EventKind(row.kind),
        row.subject,
        row.at,
        row.who,
        row.reason,
        row.before,
        row.after,
        bool(row.forced),
        row.number,
    )
