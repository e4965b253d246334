"""Identities of many nodes in one transaction: a harvest of a fleet is stored within seconds, all of it or nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from fabricctl.adapters.store.events import IN_LIST, write_events
from fabricctl.adapters.store.node_rows import (
    events_of,
    first_events,
    identity_rows,
    make_records,
    read_records,
    told_event,
)
from fabricctl.adapters.store.schema import identities, nodes
from fabricctl.errors import StateConflictError
from fabricctl.nodes.fleet import Holder, IdentityTelling, Value, holders
from fabricctl.nodes.identities import Merge, merge_facts
from fabricctl.nodes.model import Event, Fact, Identity, IdentityKind, NodeRecord

Conflict = Callable[[Fact, str], StateConflictError]


def tell_all(
    connection: Connection,
    tellings: Sequence[IdentityTelling],
    *,
    who: str,
    reason: str,
    now: datetime,
    conflict: Conflict,
) -> dict[str, Merge]:
    """Lay identities over those of many nodes.

    :param conflict: makes the error of an identity that somebody else got since the plan was made.
    """
    taken_from = {node for telling in tellings for node in telling.takes.values()}
    make_records(connection, {*(t.node for t in tellings), *taken_from}, who, reason, now)
    records = read_records(connection, {*(t.node for t in tellings), *taken_from})
    merges = {telling.node: _merge(records[telling.node], telling, now) for telling in tellings}
    for telling in tellings:
        if telling.only_new and (lost := merges[telling.node].ended):
            raise conflict(lost[0].fact, telling.node)
    events = [
        event for node, merge in merges.items() for event in _events(records[node], merge, who, reason, now)
    ]
    takes = {telling.node: telling.takes for telling in tellings}
    freed = {(node, _value(old)) for node, merge in merges.items() for old in merge.ended}
    taken: dict[str, list[Fact]] = defaultdict(list)
    for node, fact, holder in _held_elsewhere(connection, records, merges):
        value = (fact.kind, fact.value)
        if (holder.node, value) in freed:
            continue
        if takes[node].get(value) != holder.node:
            raise conflict(fact, holder.node)
        old = Fact(fact.kind, fact.value, holder.part, holder.source)
        taken[holder.node].append(old)
        events.append(told_event(holder.node, old, None, who, f"now on {node}: {reason}", now))
    ended = [(node, old.fact) for node, merge in merges.items() for old in merge.ended]
    ended += [(node, fact) for node, gone in taken.items() for fact in gone]
    _set(connection, "until", ended, now)
    _set(connection, "confirmed", [(n, i.fact) for n, m in merges.items() for i in m.confirmed], now)
    rows = [row for node, merge in merges.items() for row in identity_rows(node, merge.added)]
    if rows:
        connection.execute(insert(identities), rows)
    write_events(connection, events)
    _bump(connection, [*(node for node, m in merges.items() if m.added or m.ended), *taken])
    return merges


FEW = 3
"""Identities of a node that is told of first which are an event each; more are one together."""


def _events(record: NodeRecord, merge: Merge, who: str, reason: str, now: datetime) -> Iterable[Event]:
    addresses = (IdentityKind.MAC, IdentityKind.GUID)
    first = len(merge.added) > FEW and not any(i.fact.kind in addresses for i in record.identities)
    make = first_events if first else events_of
    return make(record.name, merge.added, merge.ended, who, reason, now)


def _merge(record: NodeRecord, telling: IdentityTelling, now: datetime) -> Merge:
    gone = {(fact.kind, fact.value) for fact in telling.retired}
    retired = tuple(replace(old, until=now) for old in record.current() if _value(old) in gone)
    kept = [old for old in record.current() if _value(old) not in gone]
    made = merge_facts(kept, telling.facts, now)
    return Merge(made.added, (*retired, *made.ended), made.confirmed)


def _value(identity: Identity) -> Value:
    return (identity.fact.kind, identity.fact.value)


def _held_elsewhere(
    connection: Connection, records: dict[str, NodeRecord], merges: dict[str, Merge]
) -> Iterable[tuple[str, Fact, Holder]]:
    """Identities to be added that another node holds: of those at hand, then of the rest of the store."""
    added = {_value(new): (node, new.fact) for node, merge in merges.items() for new in merge.added}
    if not added:
        return
    found = {value: holder for value, holder in holders(records.values()).items() if value in added}
    values = sorted({value for _, value in added})
    for at in range(0, len(values), IN_LIST):
        query = select(identities).where(
            identities.c.value.in_(values[at : at + IN_LIST]), identities.c.until.is_(None)
        )
        for row in connection.execute(query):
            found.setdefault((IdentityKind(row.kind), row.value), Holder(row.node, row.part, row.source))
    for value, holder in found.items():
        node, fact = added.get(value, ("", None))
        if fact is not None and holder.node != node:
            yield node, fact, holder


def _set(connection: Connection, column: str, held: Sequence[tuple[str, Fact]], now: datetime) -> None:
    """Give identities that hold a time."""
    at = identities.c
    statement = (
        update(identities)
        .where(
            at.node == bindparam("of"),
            at.kind == bindparam("what"),
            at.value == bindparam("which"),
            at.until.is_(None),
        )
        .values({column: bindparam("moment")})
    )
    rows: list[dict[str, Any]] = [
        {"of": node, "what": fact.kind.value, "which": fact.value, "moment": now} for node, fact in held
    ]
    if rows:
        connection.execute(statement, rows)


def _bump(connection: Connection, changed: Iterable[str]) -> None:
    names = sorted(set(changed))
    for at in range(0, len(names), IN_LIST):
        some = nodes.c.name.in_(names[at : at + IN_LIST])
        connection.execute(update(nodes).where(some).values(version=nodes.c.version + 1))
