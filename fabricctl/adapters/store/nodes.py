"""Node records. Each change is one transaction and compares the record with what the change was decided on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import IN_LIST, write_events
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.schema import identities, nodes
from fabricctl.errors import StateConflictError, UsageError
from fabricctl.nodes.identities import merge_facts
from fabricctl.nodes.model import (
    Event,
    EventKind,
    Fact,
    Identity,
    IdentityKind,
    NodeRecord,
    NodeState,
)
from fabricctl.nodes.transitions import Transition


class NodeStore:
    """Node records of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, names: Collection[str] | None = None) -> dict[str, NodeRecord]:
        """Records by name, those that are stored. :param names: only these."""
        with self._database.reading() as connection:
            return _records(connection, names)

    def change_states(
        self, transitions: Sequence[Transition], *, who: str, reason: str, now: datetime
    ) -> None:
        """Make transitions, all or none, and an event of each.

        :param transitions: decided by :func:`fabricctl.nodes.transitions.plan_transitions`.
        :raises StateConflictError: a record is not the one the change was decided on; nothing was changed.
        """
        with self._database.writing() as connection:
            for change in sorted(
                transitions, key=lambda change: change.name
            ):  # one order: no two wait in a circle
                self._change(connection, change, who, reason, now)
            write_events(
                connection,
                (
                    Event(EventKind.NODE_STATE, c.name, now, who, reason, _before(c), c.after.value, c.forced)
                    for c in transitions
                ),
            )

    def _change(
        self, connection: Connection, change: Transition, who: str, reason: str, now: datetime
    ) -> None:
        values = {"state": change.after.value, "since": now, "who": who, "reason": reason}
        if change.version == 0:
            if connection.execute(select(nodes.c.name).where(nodes.c.name == change.name)).first() is None:
                try:
                    connection.execute(insert(nodes).values(name=change.name, version=1, **values))
                except (
                    IntegrityError
                ) as exc:  # made at the same instant: the transaction is lost, nobody can look
                    raise self._changed(change.name, "recorded by another process just now") from exc
                return
        else:
            same = (
                nodes.c.name == change.name,
                nodes.c.version == change.version,
                nodes.c.state == change.before.value,
            )
            done = connection.execute(update(nodes).where(*same).values(version=change.version + 1, **values))
            if done.rowcount == 1:
                return
        raise self._conflict(connection, change)

    def _conflict(self, connection: Connection, change: Transition) -> StateConflictError:
        row = connection.execute(select(nodes).where(nodes.c.name == change.name)).first()
        state = "gone" if row is None else f"{NodeState(row.state).words} (by {row.who}: {row.reason})"
        return self._changed(change.name, state)

    def _changed(self, name: str, now: str) -> StateConflictError:
        return StateConflictError(
            f"{name} was changed by somebody else meanwhile: it is {now}; nothing was changed",
            place=self._database.location.place,
            hint="look again, then decide again",
        )

    def tell(
        self,
        name: str,
        facts: Iterable[Fact],
        *,
        who: str,
        reason: str,
        now: datetime,
        retired: Iterable[str] = (),
        move: bool = False,
    ) -> NodeRecord:
        """Lay identities over those of a node; makes its record (planned) when there is none.

        What changes is an event; being told again what is known only moves its ``confirmed`` time.

        :param retired: canonical values that no longer hold.
        :param move: take an identity that another node has; otherwise that is refused.
        :raises UsageError: another node has one of them, or the node has not what should be retired.
        """
        with self._database.writing() as connection:
            _make_record(connection, name, who, reason, now)
            made = _retire(connection, _records(connection, [name])[name], retired, who, reason, now)
            changed = bool(made)
            merge = merge_facts(_records(connection, [name])[name].identities, facts, now)
            for taken in _holders(connection, [i.fact for i in merge.added], name):
                if not move:
                    raise _taken(taken)
                _end(connection, taken.node, Fact(IdentityKind(taken.kind), taken.value, taken.part), now)
                _bump(connection, taken.node)
                fact = Fact(IdentityKind(taken.kind), taken.value, taken.part, taken.source)
                made.append(_told_event(taken.node, fact, None, who, f"now on {name}: {reason}", now))
            for old in merge.ended:
                _end(connection, name, old.fact, now)
            _insert_identities(connection, name, merge.added)
            _confirm(connection, name, merge.confirmed, now)
            made += _events_of(name, merge.added, merge.ended, who, reason, now)
            write_events(connection, made)
            if changed or merge.added or merge.ended:
                _bump(connection, name)
            return _records(connection, [name])[name]


def _records(connection: Connection, names: Collection[str] | None) -> dict[str, NodeRecord]:
    of: dict[str, list[Identity]] = defaultdict(list)
    rows: list[Row[Any]] = []
    for part in _parts(names):
        told = select(identities).order_by(identities.c.number)
        query = select(nodes).order_by(nodes.c.name)
        if part is not None:
            told, query = told.where(identities.c.node.in_(part)), query.where(nodes.c.name.in_(part))
        for row in connection.execute(told):
            of[row.node].append(_identity(row))
        rows += connection.execute(query)
    return {row.name: _record(row, of[row.name]) for row in rows}


@reads_row
def _identity(row: Row[Any]) -> Identity:
    fact = Fact(IdentityKind(row.kind), row.value, row.part, row.source)
    return Identity(fact, row.since, row.confirmed, row.until)


@reads_row
def _record(row: Row[Any], held: Sequence[Identity]) -> NodeRecord:
    return NodeRecord(
        row.name, NodeState(row.state), row.version, row.since, row.who, row.reason, tuple(held)
    )


def _parts(names: Collection[str] | None) -> Iterator[list[str] | None]:
    if names is None:
        yield None
        return
    unique = list(dict.fromkeys(names))
    yield from (unique[at : at + IN_LIST] for at in range(0, len(unique), IN_LIST))


def _make_record(connection: Connection, name: str, who: str, reason: str, now: datetime) -> None:
    """Lock the record; make it when there is none."""
    if connection.execute(select(nodes.c.name).where(nodes.c.name == name).with_for_update()).first() is None:
        state = NodeState.PLANNED.value
        connection.execute(
            insert(nodes).values(name=name, state=state, version=1, since=now, who=who, reason=reason)
        )


def _bump(connection: Connection, name: str) -> None:
    connection.execute(update(nodes).where(nodes.c.name == name).values(version=nodes.c.version + 1))


def _retire(
    connection: Connection, record: NodeRecord, values: Iterable[str], who: str, reason: str, now: datetime
) -> list[Event]:
    """End identities of a node; the events of it."""
    of = {identity.fact.value: identity.fact for identity in record.current()}
    made = []
    for value in values:
        if value not in of:
            raise UsageError(f"{record.name} has no identity {value!r}; it has {', '.join(of) or 'none'}")
        _end(connection, record.name, of[value], now)
        made.append(_told_event(record.name, of[value], None, who, reason, now))
    return made


def _insert_identities(connection: Connection, name: str, added: Iterable[Identity]) -> None:
    rows = [
        {
            "node": name,
            "kind": identity.fact.kind.value,
            "value": identity.fact.value,
            "part": identity.fact.part,
            "source": identity.fact.source,
            "since": identity.since,
            "confirmed": identity.confirmed,
        }
        for identity in added
    ]
    if rows:
        connection.execute(insert(identities), rows)


def _end(connection: Connection, name: str, fact: Fact, now: datetime) -> None:
    connection.execute(update(identities).where(*_holds(name, fact)).values(until=now))


def _confirm(connection: Connection, name: str, confirmed: Iterable[Identity], now: datetime) -> None:
    for identity in confirmed:
        connection.execute(update(identities).where(*_holds(name, identity.fact)).values(confirmed=now))


def _holds(name: str, fact: Fact) -> tuple[Any, ...]:
    at = identities.c
    return (at.node == name, at.kind == fact.kind.value, at.value == fact.value, at.until.is_(None))


def _holders(connection: Connection, facts: Iterable[Fact], name: str) -> list[Row[Any]]:
    """Identities that hold on other nodes."""
    found: list[Row[Any]] = []
    for fact in facts:
        query = select(identities).where(
            identities.c.kind == fact.kind.value,
            identities.c.value == fact.value,
            identities.c.until.is_(None),
            identities.c.node != name,
        )
        found += connection.execute(query)
    return found


def _taken(row: Row[Any]) -> UsageError:
    kind = IdentityKind(row.kind).words
    return UsageError(
        f"{kind} {row.value} belongs to {row.node} (by {row.source}, since {row.since:%Y-%m-%d})",
        hint="two nodes cannot share it: mistyped, or moved? if moved, add --move",
    )


def _events_of(
    name: str, added: Iterable[Identity], ended: Iterable[Identity], who: str, reason: str, now: datetime
) -> Iterator[Event]:
    """A value that took another's place is one event, before and after."""
    left = {(old.fact.kind, old.fact.part): old.fact for old in ended}
    for new in added:
        old = left.pop((new.fact.kind, new.fact.part), None)
        yield _told_event(name, old, new.fact, who, reason, now)
    for fact in left.values():
        yield _told_event(name, fact, None, who, reason, now)


def _told_event(
    name: str, before: Fact | None, after: Fact | None, who: str, reason: str, now: datetime
) -> Event:
    return Event(EventKind.NODE_IDENTITY, name, now, who, reason, _fact_text(before), _fact_text(after))


def _fact_text(fact: Fact | None) -> str:
    if fact is None:
        return ""
    part = f"{fact.part} " if fact.part else ""
    return f"{part}{fact.kind.words} {fact.value} ({fact.source})"


def _before(change: Transition) -> str:
    """What it was before; nothing, when a node is only entered."""
    return "" if change.before is change.after else change.before.value
