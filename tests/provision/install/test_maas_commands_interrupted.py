"""Ctrl-C while MAAS installs: what was begun goes on there, and the command says so."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from fabricctl.cli.maas import progress
from tests.provision.install.maas_hall import MaasHall, ready

Start = Callable[..., MaasHall]


@pytest.mark.slow
def test_an_interrupted_installation_goes_on_and_the_next_run_waits_for_it(hall_of: Start) -> None:
    hall = ready(hall_of(2))
    ran = hall.interrupted("deploy", "all", "--yes", when="Deploying")
    assert ran.code == 130, ran.all
    assert "Traceback" not in ran.all
    assert "what MAAS has begun goes on there; run the command again" in ran.err
    assert "interrupted" in ran.out
    with hall.waited_for():
        again = hall.do("deploy", "all", "--yes")
    assert "deployed" in again.out
    assert hall.statuses == {"gpu001": "Deployed", "gpu002": "Deployed"}
    assert len(hall.maas.double.records) == 2


@pytest.mark.slow
def test_an_interrupted_command_still_writes_its_document(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    ran = hall.interrupted("deploy", "all", "--yes", "--format", "json", when="Deploying")
    assert ran.code == 130, ran.all
    assert '"end": "interrupted"' in ran.out
    assert hall.maas.api_key not in ran.all


def test_progress_of_a_log_is_a_line_every_so_often_and_not_one_a_change(
    hall_of: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = ready(hall_of(2))
    hall.pace(240.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.5)
    began = time.monotonic()
    ran = hall.do("deploy", "all", "--yes")
    lines = [line for line in ran.err.splitlines() if line.startswith("fabricctl: deploy: ")]
    assert 1 <= len(lines) <= (time.monotonic() - began) / 0.5 + 1
    assert any("of 2 hosts" in line for line in lines)
