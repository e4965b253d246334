"""Rows of node records and identities: how they are read, made and told of in events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from fabricctl.adapters.store.events import IN_LIST
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.schema import identities, nodes
from fabricctl.nodes.model import Event, EventKind, Fact, Identity, IdentityKind, NodeRecord, NodeState
from fabricctl.words import many


def read_records(connection: Connection, names: Collection[str] | None) -> dict[str, NodeRecord]:
    """Records by name, those that are stored. :param names: only these."""
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


def make_records(
    connection: Connection, names: Collection[str], who: str, reason: str, now: datetime
) -> None:
    """Lock records, in the order of their names; make those that there are not."""
    wanted, found = sorted(set(names)), set[str]()
    for part in _parts(wanted):
        assert part is not None
        query = select(nodes.c.name).where(nodes.c.name.in_(part)).order_by(nodes.c.name).with_for_update()
        found |= {row.name for row in connection.execute(query)}
    state = NodeState.PLANNED.value
    rows = [
        {"name": name, "state": state, "version": 1, "since": now, "who": who, "reason": reason}
        for name in wanted
        if name not in found
    ]
    if rows:
        connection.execute(insert(nodes), rows)


def insert_identities(connection: Connection, name: str, added: Iterable[Identity]) -> None:
    """Store identities of a node."""
    if rows := identity_rows(name, added):
        connection.execute(insert(identities), rows)


def identity_rows(name: str, added: Iterable[Identity]) -> list[dict[str, Any]]:
    """Identities as rows of the table."""
    return [
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


def events_of(
    name: str, added: Iterable[Identity], ended: Iterable[Identity], who: str, reason: str, now: datetime
) -> Iterator[Event]:
    """Events of a merge: a value that took another's place is one, before and after."""
    left = {(old.fact.kind, old.fact.part): old.fact for old in ended}
    for new in added:
        old = left.pop((new.fact.kind, new.fact.part), None)
        yield told_event(name, old, new.fact, who, reason, now)
    for fact in left.values():
        yield told_event(name, fact, None, who, reason, now)


def first_events(
    name: str, added: Sequence[Identity], ended: Iterable[Identity], who: str, reason: str, now: datetime
) -> Iterator[Event]:
    """Events of a node whose addresses nobody knew before: what is new is one, with how many of each kind; the record
    itself holds the values."""
    left = {(old.fact.kind, old.fact.part) for old in ended}
    new = [identity for identity in added if (identity.fact.kind, identity.fact.part) not in left]
    counts = Counter(identity.fact.kind for identity in new)
    tags = [i.fact.value for i in new if i.fact.kind is IdentityKind.SERVICE_TAG and not i.fact.part]
    words = [f"service tag {tag}" for tag in tags]
    words += [
        many(number, kind.words)
        for kind in (IdentityKind.MAC, IdentityKind.GUID, IdentityKind.SERIAL)
        if (number := counts[kind])
    ]
    if new:
        text = f"harvested: {', '.join(words)}"
        yield Event(EventKind.NODE_IDENTITY, name, now, who, reason, "", text)
    replaced = [identity for identity in added if identity not in new]
    yield from events_of(name, replaced, ended, who, reason, now)


def told_event(
    name: str, before: Fact | None, after: Fact | None, who: str, reason: str, now: datetime
) -> Event:
    """One change of an identity."""
    return Event(EventKind.NODE_IDENTITY, name, now, who, reason, _fact_text(before), _fact_text(after))


def _fact_text(fact: Fact | None) -> str:
    if fact is None:
        return ""
    part = f"{fact.part} " if fact.part else ""
    return f"{part}{fact.kind.words} {fact.value} ({fact.source})"
