"""Each test that takes ``location`` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.adapters.store.location import Location
from tests.sim.postgres import Postgres
from tests.store.stores import place


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "sqlite":
        return place(str(tmp_path / "site.sqlite"))
    server: Postgres = request.getfixturevalue("postgres")
    return place(server.new_database())
