"""The steps from each version of the tables to the next.

A step spells out its tables as they were when it was released, and takes nothing of ``schema.py``: that moves on, and a
store of version 1 would get tables of today from a step of then, which the next step would make once more.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Column, Connection, ForeignKey, Index, Integer, MetaData, String, Table, Text

Migration = Callable[[Connection], None]


def _facts_and_pins(connection: Connection) -> None:
    """Version 2: what BMCs say of a node's parts, and the certificates they showed."""
    tables = MetaData()
    Table("nodes", tables, Column("name", Text, primary_key=True))  # is there: what the next one points to
    facts = Table(
        "node_facts",
        tables,
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("node", Text, ForeignKey("nodes.name"), nullable=False),
        Column("part", Text, nullable=False),
        Column("field", Text, nullable=False),
        Column("value", Text, nullable=False),
        Column("source", Text, nullable=False),
        Column("since", String(32), nullable=False),
        Column("confirmed", String(32), nullable=False),
        Column("until", String(32)),
        Index("facts_of_node", "node"),
    )
    pins = Table(
        "bmc_pins",
        tables,
        Column("number", Integer, primary_key=True, autoincrement=True),
        Column("host", Text, nullable=False),
        Column("address", Text, nullable=False),
        Column("fingerprint", Text, nullable=False),
        Column("since", String(32), nullable=False),
        Column("who", Text, nullable=False),
        Column("until", String(32)),
    )
    for name, table, columns in (
        ("one_fact", facts, ("node", "part", "field")),
        ("one_pin", pins, ("host",)),
    ):
        holds = table.c.until.is_(None)
        what = [table.c[column] for column in columns]
        Index(name, *what, unique=True, sqlite_where=holds, postgresql_where=holds)
    for table in (facts, pins):
        table.create(connection)


MIGRATIONS: tuple[Migration, ...] = (_facts_and_pins,)
"""Step i brings version i + 1 to version i + 2; a step once released is never changed."""
