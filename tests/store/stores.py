"""What tests of the store share: findings by hand, runs by hand, and a dump to compare."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import MetaData, create_engine, select

from fabricctl.adapters.store.location import Location, parse_location
from fabricctl.cabling.finding_id import Where
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import VerdictWord
from fabricctl.history.model import Known, Run, SourceSeen

T0 = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
DRIVER = Path(sys.executable)


def at(hours: float) -> datetime:
    return T0 + timedelta(hours=hours)


def finding(number: int, *, found: str = "down") -> Known:
    return Known(
        f"F-{number:012x}",
        FindingKind.MISSING,
        f"leaf{number}/1 - spine1/{number}",
        f"leaf{number}/1 - spine1/{number}: no link",
        "a cable",
        found,
        "plug in",
        (f"leaf{number}", "spine1"),
        Where((((f"leaf{number}", 1), ("spine1", number)),)),
    )


def known(numbers: Iterable[int]) -> dict[str, Known]:
    return {one.id: one for one in map(finding, numbers)}


def run(hours: float, numbers: Iterable[int] = (), *, series: str = "fabric compute", word: str = "") -> Run:
    several = list(numbers)
    return Run(
        series=series,
        made=at(hours),
        who="anna@ufm1",
        command="verify-cabling",
        word=VerdictWord(word or ("findings" if several else "ok")),
        plan="site.yaml",
        plan_digest="d0",
        sources=(SourceSeen("seen.txt", f"{hours}"),),
        counts={"intended": 100},
        findings=len(several),
        fingerprint=f"{series} {hours} {several}",
    )


def place(text: str) -> Location:
    return parse_location(text, said_by="test")


def dump(location: Location) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    engine = create_engine(location.url)
    tables = MetaData()
    with engine.connect() as connection:
        tables.reflect(connection)
        rows = {
            name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for name, table in sorted(tables.tables.items())
        }
    engine.dispose()
    return rows
