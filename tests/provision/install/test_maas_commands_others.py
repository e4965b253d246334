"""Commands on machines that others installed, whose record cannot be read, or that only their record quarantines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.facts import FactTelling, NodeFact, Value
from provision.install.disk_record import unreadable
from tests.provision.install.maas_hall import MaasHall, maas_hall, ready


@pytest.fixture
def hall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[MaasHall]:
    with maas_hall(tmp_path, capsys) as hall:
        yield hall


def keep(hall: MaasHall, host: str, value: Value) -> None:
    """Another record of its disks."""
    place = parse_location(str(hall.folder / "hall.sqlite"), said_by="test")
    with open_store(place, site="simulated") as store:
        telling = FactTelling(host, [NodeFact("", "install.disks", value, "maas")])
        store.facts.tell([telling], who="eve", reason="", now=datetime.now(UTC))


def sent(hall: MaasHall) -> list[Any]:
    return [one.op for one in hall.maas.double.requests if one.op in ("deploy", "release")]


def test_a_record_that_is_there_and_cannot_be_read_is_no_missing_record() -> None:
    assert unreadable(None) == ""
    assert unreadable({"version": 1, "disks": []}) == ""
    assert "version 2, expected 1" in unreadable({"version": 2, "disks": []})
    assert "damaged" in unreadable({"version": 1, "disks": [1]})


def test_a_record_of_disks_that_cannot_be_read_stops_an_installation(hall: MaasHall) -> None:
    ready(hall)
    keep(hall, "gpu001", {"version": 2, "disks": []})
    ran = hall.run("maas", "deploy", "gpu001", "--yes", "--skip-clock-check")
    assert ran.code == 3, ran.all
    assert "cannot be read" in " ".join(ran.all.split())
    assert sent(hall) == []
    assert hall.run("maas", "disks", "gpu001").code == 3


def test_a_record_that_says_quarantined_stops_an_installation_and_is_a_finding(hall: MaasHall) -> None:
    ready(hall)
    assert hall.run("node", "set", "gpu001", "--to", "quarantined", "--yes", "--reason", "x").code == 0
    ran = hall.run("maas", "deploy", "gpu001", "--yes", "--skip-clock-check")
    assert ran.code == 1, ran.all
    assert sent(hall) == []
    status = hall.run("maas", "status", "gpu001")
    assert status.code == 1, status.all
    assert "node record says quarantined" in " ".join(status.all.split())
