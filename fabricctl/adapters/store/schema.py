"""The tables. A change here wants a step in ``migrate.py``; a test holds both together.

No column holds a secret: names, states, times, places, texts of findings, and who did what.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.engine import Dialect

from fabricctl.adapters.store.failures import reads_row


@lru_cache(maxsize=64)
def moment_text(moment: datetime) -> str:
    """A moment as the store writes it; a harvest writes one and the same into tens of thousands of rows."""
    assert moment.tzinfo is not None, "a moment needs a time zone"
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


class Moment(TypeDecorator[datetime]):
    """A moment as UTC text of one length, so that text order is time order in every database."""

    impl = String(32)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Python to database; a time without zone would mean another moment on another machine."""
        if value is None:
            return None
        return moment_text(value)

    @reads_row
    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Database to Python."""
        return None if value is None else datetime.fromisoformat(value)


_ENCODER = json.JSONEncoder(separators=(",", ":"))


class Json(TypeDecorator[Any]):
    """A small value as JSON text in plain ASCII: any name survives, undecodable bytes included."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Python to database."""
        return None if value is None else _ENCODER.encode(value)

    @reads_row
    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Database to Python."""
        return None if value is None else json.loads(value)


metadata = MetaData()

version_table = Table(
    "fabricctl_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("site", Text, nullable=False),
)
"""One row: the version of the tables, and the site the store belongs to (empty until a site file names one)."""

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("series", Text, nullable=False),
    Column("made", Moment, nullable=False),
    Column("who", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("word", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("plan_digest", Text, nullable=False),
    Column("sources", Json, nullable=False),
    Column("only", Text, nullable=False),
    Column("counts", Json, nullable=False),
    Column("doubts", Json, nullable=False),
    Column("findings", Integer, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Index("runs_of_series", "series", "number"),
    sqlite_autoincrement=True,  # a number once given is never another run's
)

findings = Table(
    "findings",
    metadata,
    Column("series", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("headline", Text, nullable=False),
    Column("expected", Text, nullable=False),
    Column("found", Text, nullable=False),
    Column("fix", Text, nullable=False),
    Column("devices", Json, nullable=False),
    Column("place", Json, nullable=False),
    Index("findings_by_id", "id"),
)

episodes = Table(
    "episodes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("series", Text, nullable=False),
    Column("finding", Text, nullable=False),
    Column("opened", Integer, ForeignKey("runs.number"), nullable=False),
    Column("last", Integer, ForeignKey("runs.number"), nullable=False),
    Column("gone", Integer, ForeignKey("runs.number")),
    ForeignKeyConstraint(["series", "finding"], ["findings.series", "findings.id"]),
    Index("episodes_of_finding", "series", "finding"),
)
one_open_episode = Index(
    "one_open_episode",
    episodes.c.series,
    episodes.c.finding,
    unique=True,
    sqlite_where=episodes.c.gone.is_(None),
    postgresql_where=episodes.c.gone.is_(None),
)
"""A finding is open once or not at all."""

nodes = Table(
    "nodes",
    metadata,
    Column("name", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("since", Moment, nullable=False),
    Column("who", Text, nullable=False),
    Column("reason", Text, nullable=False),
)

identities = Table(
    "node_identities",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("node", Text, ForeignKey("nodes.name"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("since", Moment, nullable=False),
    Column("confirmed", Moment, nullable=False),
    Column("until", Moment),
    Index("identities_of_node", "node"),
)
one_holder = Index(
    "one_holder",
    identities.c.kind,
    identities.c.value,
    unique=True,
    sqlite_where=identities.c.until.is_(None),
    postgresql_where=identities.c.until.is_(None),
)
"""An identity belongs to one node at a time."""

facts = Table(
    "node_facts",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("node", Text, ForeignKey("nodes.name"), nullable=False),
    Column("part", Text, nullable=False),
    Column("field", Text, nullable=False),
    Column("value", Json, nullable=False),
    Column("source", Text, nullable=False),
    Column("since", Moment, nullable=False),
    Column("confirmed", Moment, nullable=False),
    Column("until", Moment),
    Index("facts_of_node", "node"),
)
"""What is known of a node's parts, field by field: ``NIC.Slot.5-1``, ``link``, ``up``. Identities stand apart."""
one_fact = Index(
    "one_fact",
    facts.c.node,
    facts.c.part,
    facts.c.field,
    unique=True,
    sqlite_where=facts.c.until.is_(None),
    postgresql_where=facts.c.until.is_(None),
)
"""A field of a part has one value at a time."""

pins = Table(
    "bmc_pins",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("host", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("since", Moment, nullable=False),
    Column("who", Text, nullable=False),
    Column("until", Moment),
)
"""Certificates of BMCs as they were at first contact: SHA-256 of the DER form."""
one_pin = Index(
    "one_pin",
    pins.c.host,
    unique=True,
    sqlite_where=pins.c.until.is_(None),
    postgresql_where=pins.c.until.is_(None),
)

events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", Moment, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
    Column("forced", Boolean, nullable=False),
    Index("events_of_subject", "subject", "number"),
    Index("events_by_time", "at"),
    sqlite_autoincrement=True,
)
