"""The double's statuses and actions against the tables of a real MAAS 3.7.3, and machines that live through them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas.states import ACTIONS, FAILURE, FIRST, MONITORED, SHORT_TIMEOUT_MIN, TRANSITIONS, Status
from tests.sim.maas_asker import Asker

MAC = "52:54:00:00:00:01"


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as served:
        yield served


@pytest.fixture
def ask(maas: ServedDouble) -> Asker:
    return Asker(maas.url, maas.api_key)


def _table(captures: Path, name: str) -> Any:
    return json.loads((captures / "maas" / name).read_text())


@pytest.mark.captures
def test_every_status_has_the_number_a_real_maas_gives_it(captures: Path) -> None:
    known = _table(captures, "machine-states-3.7.3.json")["statuses"]
    assert {str(one.number): one.value for one in Status} == known


@pytest.mark.captures
def test_the_transitions_are_those_of_a_real_maas(captures: Path) -> None:
    known = _table(captures, "machine-states-3.7.3.json")["transitions"]
    first = known.pop("None")
    assert {one.value for one in FIRST} == set(first)
    mine = {status.value: {one.value for one in after} for status, after in TRANSITIONS.items()}
    assert mine == {status: set(after) for status, after in known.items()}


@pytest.mark.captures
def test_failures_and_monitored_statuses_are_those_of_a_real_maas(captures: Path) -> None:
    known = _table(captures, "machine-states-3.7.3.json")
    assert {before.value: after.value for before, after in FAILURE.items()} == known["failure"]
    assert {one.value: FAILURE[one].value for one in MONITORED} == known["monitored"]
    assert {one.value: minutes for one, minutes in SHORT_TIMEOUT_MIN.items()} == known[
        "monitored_timeouts_min"
    ]


@pytest.mark.captures
def test_actions_are_offered_where_a_real_maas_offers_them(captures: Path) -> None:
    known = _table(captures, "node-actions-3.7.3.json")
    everywhere = {one.value for one in Status}
    for name, action in known.items():
        mine = {one.value for one in ACTIONS[name]} if name in ACTIONS else everywhere
        assert mine == set(action["actionable_statuses"]), name


def test_a_machine_goes_from_new_to_deployed_and_back(maas: ServedDouble, ask: Asker) -> None:
    name = ask.create("gpu001", MAC).json["system_id"]
    seen = [ask.read(name)["status_name"]]
    for op, form in (
        ("commission", {"skip_bmc_config": 1}),
        ("deploy", {"distro_series": "jammy"}),
        ("release", {}),
    ):
        seen.append(ask.act(name, op, **form).json["status_name"])
        maas.advance(20 * 60)
        seen.append(ask.read(name)["status_name"])
    assert seen == ["New", "Commissioning", "Ready", "Deploying", "Deployed", "Releasing", "Ready"]
