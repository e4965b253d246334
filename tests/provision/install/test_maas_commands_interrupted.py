"""Ctrl-C while MAAS installs: what was begun goes on there, and the command says so."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.provision.install.maas_hall import MaasHall, ready

Start = Callable[..., MaasHall]


@pytest.mark.slow
def test_an_interrupted_installation_goes_on_and_the_next_run_waits_for_it(hall_of: Start) -> None:
    hall = ready(hall_of(2, speed=240.0))
    ran = hall.interrupted("deploy", "all", "--yes", when="Deploying")
    assert ran.code == 130, ran.all
    assert "Traceback" not in ran.all
    assert "what MAAS has begun goes on there; run the command again" in ran.err
    assert "interrupted" in ran.out
    again = hall.do("deploy", "all", "--yes")
    assert "deployed" in again.out
    assert hall.statuses == {"gpu001": "Deployed", "gpu002": "Deployed"}
    assert len(hall.maas.double.records) == 2


@pytest.mark.slow
def test_an_interrupted_command_still_writes_its_document(hall_of: Start) -> None:
    hall = ready(hall_of(1, speed=60.0))
    ran = hall.interrupted("deploy", "all", "--yes", "--format", "json", when="Deploying")
    assert ran.code == 130, ran.all
    assert '"end": "interrupted"' in ran.out
    assert hall.maas.api_key not in ran.all


@pytest.mark.slow
def test_progress_of_a_log_is_a_line_every_so_often_and_not_one_a_change(hall_of: Start) -> None:
    hall = ready(hall_of(2, speed=600.0))
    began = time.monotonic()
    ran = hall.process("maas", "deploy", "all", "--yes")
    assert ran.code == 0, ran.all
    lines = [line for line in ran.err.splitlines() if line.startswith("fabricctl: deploy: ")]
    assert len(lines) <= (time.monotonic() - began) / 30 + 1
