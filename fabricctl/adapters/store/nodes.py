"""Node records. Each change is one transaction and compares the record with what the change was decided on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import write_events
from fabricctl.adapters.store.node_bulk import tell_all
from fabricctl.adapters.store.node_rows import (
    events_of,
    insert_identities,
    make_records,
    read_records,
    told_event,
)
from fabricctl.adapters.store.schema import identities, nodes
from fabricctl.errors import StateConflictError, UsageError
from fabricctl.nodes.fleet import IdentityTelling
from fabricctl.nodes.identities import Merge, merge_facts
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
            return read_records(connection, names)

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
                    raise self._changed(change.name, "it is recorded by another process just now") from exc
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
        return self._changed(change.name, f"it is {state}")

    def _changed(self, name: str, now: str) -> StateConflictError:
        return StateConflictError(
            f"{name} was changed by somebody else meanwhile: {now}; nothing was changed",
            place=self._database.location.place,
            hint="look again, then decide again",
        )

    def tell_many(
        self, tellings: Sequence[IdentityTelling], *, who: str, reason: str, now: datetime
    ) -> dict[str, Merge]:
        """Lay identities over those of many nodes, all in one transaction; makes records (planned) where needed.

        :param tellings: decided by :func:`fabricctl.nodes.fleet.plan_identities`.
        :returns: node -> what changed. :raises StateConflictError: a node has one that the plan does not take from it.
        """
        with self._database.writing() as connection:
            return tell_all(
                connection, tellings, who=who, reason=reason, now=now, conflict=self._taken_meanwhile
            )

    def _taken_meanwhile(self, fact: Fact, node: str) -> StateConflictError:
        return self._changed(node, f"it got the {fact.kind.words} {fact.value}")

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
            make_records(connection, [name], who, reason, now)
            made = _retire(connection, read_records(connection, [name])[name], retired, who, reason, now)
            changed = bool(made)
            merge = merge_facts(read_records(connection, [name])[name].identities, facts, now)
            for taken in _holders(connection, [i.fact for i in merge.added], name):
                if not move:
                    raise _taken(taken)
                _end(connection, taken.node, Fact(IdentityKind(taken.kind), taken.value, taken.part), now)
                _bump(connection, taken.node)
                fact = Fact(IdentityKind(taken.kind), taken.value, taken.part, taken.source)
                made.append(told_event(taken.node, fact, None, who, f"now on {name}: {reason}", now))
            for old in merge.ended:
                _end(connection, name, old.fact, now)
            insert_identities(connection, name, merge.added)
            _confirm(connection, name, merge.confirmed, now)
            made += events_of(name, merge.added, merge.ended, who, reason, now)
            write_events(connection, made)
            if changed or merge.added or merge.ended:
                _bump(connection, name)
            return read_records(connection, [name])[name]


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
        made.append(told_event(record.name, of[value], None, who, reason, now))
    return made


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


def _before(change: Transition) -> str:
    """What it was before; nothing, when a node is only entered."""
    return "" if change.before is change.after else change.before.value
