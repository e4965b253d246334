"""Each test that takes ``location`` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from fabricctl.adapters.store.location import Location
from tests.sim.postgres import Postgres
from tests.store.stores import place


@pytest.fixture(params=["sqlite", "postgresql"])
def location_factory(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Location]:
    if request.param == "sqlite":
        numbers = count()
        return lambda: place(str(tmp_path / f"site{next(numbers) or ''}.sqlite"))
    server: Postgres = request.getfixturevalue("postgres")
    return lambda: place(server.new_database())


@pytest.fixture
def location(location_factory: Callable[[], Location]) -> Location:
    return location_factory()
