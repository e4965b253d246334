"""Facts of nodes in the store. Many nodes at once cost few statements: a fleet is told within seconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, insert, select, update

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import IN_LIST
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.node_rows import make_records
from fabricctl.adapters.store.schema import facts
from fabricctl.nodes.facts import FactMerge, FactTelling, NodeFact, StoredFact, merge_node_facts

CHUNK = 64
"""Nodes told in one transaction: other writers wait a tenth of a second at most."""
T = TypeVar("T")


class FactStore:
    """Facts of the nodes of a store; none is ever forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(
        self, names: Collection[str] | None = None, *, part: str | None = None
    ) -> dict[str, list[StoredFact]]:
        """Node -> facts that hold. :param names: of these nodes; :param part: of this part only."""
        with self._database.reading() as connection:
            return _held(connection, names, part)

    def history(self, name: str) -> list[StoredFact]:
        """Every fact ever told of a node, oldest first."""
        query = select(facts).where(facts.c.node == name).order_by(facts.c.number)
        with self._database.reading() as connection:
            return [_stored(row) for row in connection.execute(query)]

    def tell(
        self, tellings: Sequence[FactTelling], *, who: str, reason: str, now: datetime
    ) -> dict[str, FactMerge]:
        """Lay facts over those of many nodes, a few nodes at a time; makes records (planned) where there are none.

        Each transaction is whole: of a process killed half way, some nodes are told and the others are as before.

        :returns: node -> what changed, in the order told.
        """
        made: dict[str, FactMerge] = {}
        ordered = sorted(tellings, key=lambda one: one.node)  # one order: no two wait in a circle
        for part in _chunks(ordered, CHUNK):
            with self._database.writing() as connection:
                make_records(connection, [one.node for one in part], who, reason, now)
                held = _held(connection, [one.node for one in part], None)
                merges = {
                    one.node: merge_node_facts(held.get(one.node, ()), one.facts, one.gone) for one in part
                }
                _write(connection, merges, now)
                made.update(merges)
        return {one.node: made[one.node] for one in tellings}


def _write(connection: Connection, merges: dict[str, FactMerge], now: datetime) -> None:
    ended = [old.number for merge in merges.values() for old in merge.ended]
    confirmed = [old.number for merge in merges.values() for old in merge.confirmed]
    for numbers in _chunks(ended, IN_LIST):
        connection.execute(update(facts).where(facts.c.number.in_(numbers)).values(until=now))
    for numbers in _chunks(confirmed, IN_LIST):
        connection.execute(update(facts).where(facts.c.number.in_(numbers)).values(confirmed=now))
    rows = [_row(node, fact, now) for node, merge in merges.items() for fact in merge.added]
    if rows:
        connection.execute(insert(facts), rows)


def _row(node: str, fact: NodeFact, now: datetime) -> dict[str, Any]:
    return {
        "node": node,
        "part": fact.part,
        "field": fact.field,
        "value": fact.value,
        "source": fact.source,
        "since": now,
        "confirmed": now,
    }


def _held(
    connection: Connection, names: Collection[str] | None, part: str | None
) -> dict[str, list[StoredFact]]:
    found: dict[str, list[StoredFact]] = defaultdict(list)
    query = select(facts).where(facts.c.until.is_(None)).order_by(facts.c.number)
    if part is not None:
        query = query.where(facts.c.part == part)
    parts: Iterable[list[str] | None] = (
        [None] if names is None else _chunks(list(dict.fromkeys(names)), IN_LIST)
    )
    for some in parts:
        rows = connection.execute(query if some is None else query.where(facts.c.node.in_(some)))
        for row in rows:
            found[row.node].append(_stored(row))
    return dict(found)


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    return (list(items[at : at + size]) for at in range(0, len(items), size))


@reads_row
def _stored(row: Row[Any]) -> StoredFact:
    fact = NodeFact(row.part, row.field, row.value, row.source)
    return StoredFact(row.number, fact, row.since, row.confirmed, row.until)
