"""Facts of nodes in the store. Many nodes at once cost few statements: a fleet is told within seconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    Connection,
    Row,
    Select,
    String,
    Text,
    bindparam,
    false,
    insert,
    or_,
    select,
    type_coerce,
    update,
)

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import IN_LIST
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.node_rows import make_records
from fabricctl.adapters.store.schema import facts, moment_text
from fabricctl.nodes.facts import (
    FactMerge,
    FactTelling,
    HeldFact,
    Key,
    NodeFact,
    StoredFact,
    as_text,
    merge_node_facts,
)

CHUNK = 64
"""Nodes told in one transaction: other writers wait a tenth of a second at most."""
T = TypeVar("T")


class FactStore:
    """Facts of the nodes of a store; none is ever forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(
        self, names: Collection[str] | None = None, *, field: str | None = None
    ) -> dict[str, list[StoredFact]]:
        """Node -> facts that hold. :param names: of these nodes; :param field: of this field only."""
        query = select(facts).where(facts.c.until.is_(None)).order_by(facts.c.number)
        if field is not None:
            query = query.where(facts.c.field == field)
        found: dict[str, list[StoredFact]] = defaultdict(list)
        with self._database.reading() as connection:
            for row in _of_nodes(connection, query, names):
                found[row.node].append(_stored(row))
        return dict(found)

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
        for some in _chunks(ordered, CHUNK):
            with self._database.writing() as connection:
                make_records(connection, [one.node for one in some], who, reason, now)
                held = _held(connection, some)
                merges = {
                    one.node: merge_node_facts(held[one.node], one.facts, one.whole, one.gone) for one in some
                }
                _write(connection, merges, now)
                made.update(merges)
        return {one.node: made[one.node] for one in tellings}


def _held(connection: Connection, tellings: Sequence[FactTelling]) -> dict[str, dict[Key, HeldFact]]:
    """What holds of nodes, of the families they are told of; values stay JSON text, which is compared as it is."""
    found: dict[str, dict[Key, HeldFact]] = {one.node: {} for one in tellings}
    families = frozenset[str]().union(*(one.families for one in tellings))
    at = facts.c
    query = select(at.number, at.node, at.part, at.field, type_coerce(at.value, Text)).where(
        at.until.is_(None), or_(false(), *(at.field.startswith(f"{family}.") for family in sorted(families)))
    )
    for row in _of_nodes(connection, query, list(found)):
        number, node, part, field, text = tuple(row)
        found[node][part, field] = HeldFact(number, text)
    return found


def _write(connection: Connection, merges: Mapping[str, FactMerge], now: datetime) -> None:
    ended = [merge.held[key].number for merge in merges.values() for key in merge.ended]
    confirmed = [number for merge in merges.values() for number in merge.confirmed]
    _set(connection, "until", ended, now)
    _set(connection, "confirmed", confirmed, now)
    moment = moment_text(now)
    rows = [_row(node, fact, moment) for node, merge in merges.items() for fact in merge.added]
    if rows:
        connection.execute(_INSERT, rows)


def _set(connection: Connection, column: str, numbers: Iterable[int], now: datetime) -> None:
    """Give facts a time. Numbers of one node mostly follow each other: one statement for each run of them."""
    statement = (
        update(facts)
        .where(facts.c.number.between(bindparam("first"), bindparam("last")))
        .values({column: bindparam("moment")})
    )
    rows = [{"first": first, "last": last, "moment": now} for first, last in _runs(numbers)]
    if rows:
        connection.execute(statement, rows)


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """``1, 2, 3, 7`` -> ``(1, 3), (7, 7)``."""
    made: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if made and made[-1][1] == number - 1:
            made[-1] = (made[-1][0], number)
        else:
            made.append((number, number))
    return made


_INSERT = insert(facts).values(
    node=bindparam("of"),
    part=bindparam("its_part"),
    field=bindparam("its_field"),
    value=bindparam("json", type_=Text),
    source=bindparam("said_by"),
    since=bindparam("moment", type_=String),
    confirmed=bindparam("moment", type_=String),
)
"""Values and times as text already: having SQLAlchemy turn each of 75,000 facts costs a second of a large harvest."""


def _row(node: str, fact: NodeFact, moment: str) -> dict[str, str]:
    return {
        "of": node,
        "its_part": fact.part,
        "its_field": fact.field,
        "json": as_text(fact.value),
        "said_by": fact.source,
        "moment": moment,
    }


def _of_nodes(
    connection: Connection, query: Select[Any], names: Collection[str] | None
) -> Iterator[Row[Any]]:
    if names is None:
        yield from connection.execute(query)
        return
    for some in _chunks(list(dict.fromkeys(names)), IN_LIST):
        yield from connection.execute(query.where(facts.c.node.in_(some)))


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    return (list(items[at : at + size]) for at in range(0, len(items), size))


@reads_row
def _stored(row: Row[Any]) -> StoredFact:
    fact = NodeFact(row.part, row.field, row.value, row.source)
    return StoredFact(row.number, fact, row.since, row.confirmed, row.until)
