"""Versions of the tables: a new store is made whole, an older one is brought forward, a newer one refused."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, MetaData, insert, inspect, select, update

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.schema import metadata, version_table
from fabricctl.adapters.store.steps import MIGRATIONS, Migration
from fabricctl.errors import StateError, StateVersionError

_TOPIC = 1
_NEWER = "install the fabricctl that wrote it, or a newer one"


def prepare(
    database: Database,
    site: str = "",
    *,
    tables: MetaData = metadata,
    steps: Sequence[Migration] = MIGRATIONS,
) -> None:
    """Make or upgrade the tables; several processes may do so at once.

    :param site: name of the site the store is opened for; empty asks for none.
    :raises StateVersionError: written by a newer fabricctl, or something else lives there.
    :raises StateError: it belongs to another site.
    """
    wanted = len(steps) + 1
    with database.reading() as connection:
        if _version(connection, database) == (wanted, site or _site(connection)):
            return
    with database.writing() as connection:
        database.alone(connection, _TOPIC)
        _upgrade(connection, database, tables, steps)
        _claim(connection, database, site)


def _upgrade(
    connection: Connection, database: Database, tables: MetaData, steps: Sequence[Migration]
) -> None:
    found, wanted = _version(connection, database)[0], len(steps) + 1
    place = database.location.place
    if found > wanted:
        raise StateVersionError(
            f"has version {found} of the tables; this fabricctl knows versions up to {wanted}",
            place=place,
            hint=_NEWER,
        )
    if found == 0:
        tables.create_all(connection)
        connection.execute(insert(version_table).values(version=wanted, site=""))
        return
    for step in steps[found - 1 :]:
        step(connection)
    if found < wanted:
        connection.execute(update(version_table).values(version=wanted))


def _claim(connection: Connection, database: Database, site: str) -> None:
    owner = _site(connection)
    if site and not owner:
        connection.execute(update(version_table).values(site=site))
    elif site and owner != site:
        raise StateError(
            f"belongs to site {owner!r}, not to {site!r}",
            place=database.location.place,
            hint="one store per site: name another one",
        )


def _version(connection: Connection, database: Database) -> tuple[int, str]:
    """Version (0: nothing is there) and site."""
    names = set(inspect(connection).get_table_names())
    if version_table.name in names:
        row = connection.execute(select(version_table)).first()
        if row is not None:
            return int(row.version), str(row.site)
    foreign = sorted(names if database.sqlite else names & set(metadata.tables))
    if foreign:
        shown = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise StateVersionError(
            f"is no state store of fabricctl: something else lives there (tables {shown})",
            place=database.location.place,
            hint="name another file or database",
        )
    return 0, ""


def _site(connection: Connection) -> str:
    if not inspect(connection).has_table(version_table.name):
        return ""
    return str(connection.execute(select(version_table.c.site)).scalar() or "")
