"""The describe document we make: nothing in it that a real MAAS 3.7.3 does not offer, and where it says it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import read_capture
from tests.sim.maas.describe import document
from tests.sim.maas.process import maas_double
from tests.sim.maas_asker import Asker

Calls = set[tuple[str, str, str, str | None]]


def _calls(described: dict[str, Any]) -> Calls:
    handlers = [one[kind] for one in described["resources"] for kind in ("auth", "anon") if one[kind]]
    return {
        (one["name"], one["path"], action["method"], action["op"])
        for one in handlers
        for action in one["actions"]
    }


@pytest.mark.captures
def test_everything_we_describe_is_described_by_a_real_maas(captures: Path) -> None:
    real = json.loads(read_capture(captures / "maas" / "describe-3.7.3.json.gz"))
    ours = document("http://127.0.0.1:5240")
    assert _calls(ours) - _calls(real) == set()
    assert ours["hash"] == real["hash"]


@pytest.mark.captures
def test_what_a_real_maas_offers_for_a_machine_is_described(captures: Path) -> None:
    real = json.loads(read_capture(captures / "maas" / "describe-3.7.3.json.gz"))
    mine = {call for call in _calls(document("")) if call[0] == "MachineHandler"}
    assert mine == {call for call in _calls(real) if call[0] == "MachineHandler"}


@pytest.mark.captures
def test_a_real_document_may_be_served_instead(captures: Path) -> None:
    real = read_capture(captures / "maas" / "describe-3.7.3.json.gz").encode()
    with maas_double() as maas:
        maas.double.description = real
        assert Asker(maas.url, maas.api_key).send("GET", "api/2.0/describe/").text.encode() == real


def test_the_document_leads_to_the_server_it_came_from() -> None:
    with maas_double() as maas:
        described = Asker(maas.url, maas.api_key).send("GET", "api/2.0/describe/").json
        uris = {one["auth"]["uri"] for one in described["resources"] if one["auth"]}
        assert all(uri.startswith(f"{maas.url}/api/2.0/") for uri in uris)
