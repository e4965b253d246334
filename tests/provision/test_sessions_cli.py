"""``fabricctl bmc sessions`` on simulated BMCs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabricctl.cli.main import app
from tests.sim.idrac import Simulator

Make = Callable[..., Simulator]


def site_of(fleet: Simulator, folder: Path) -> Path:
    path = folder / "site.yaml"
    text = fleet.site_text().replace("port:", "verify: 'off', port:")
    nodes = f"nodes: {{'gpu[001-{len(fleet):03d}]': {{model: m}}}}"
    path.write_text(f"name: lab\nnode_models: {{m: {{hcas: [mlx5_0], gpus: 8}}}}\n{nodes}\n{text}")
    return path


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["bmc", "sessions", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def fleet(simulator: Make) -> Simulator:
    fleet = simulator(2)
    fleet[0].sessions.make("root", "127.0.0.1")
    fleet[0].sessions.make("admin", "192.0.2.7")
    return fleet


def test_sessions_are_listed_with_their_owners(fleet: Simulator, tmp_path: Path) -> None:
    code, out = run("gpu[001-002]", "--site", str(site_of(fleet, tmp_path)), "--format", "json")
    assert code == 0, out
    rows = [(row["host"], row["session"], row["user"], row["whose"]) for row in json.loads(out)["sessions"]]
    assert sorted(rows) == [
        ("gpu001", "1", "root", "own, left behind"),
        ("gpu001", "2", "admin", "others"),
        ("gpu001", "3", "root", "this command"),
        ("gpu002", "1", "root", "this command"),
    ]
    assert len(fleet[0].sessions) == 2


def test_own_sessions_are_ended_and_those_of_others_are_not(fleet: Simulator, tmp_path: Path) -> None:
    code, out = run("gpu001", "--site", str(site_of(fleet, tmp_path)), "--clear-own")
    assert code == 0, out
    assert "own, ended now" in out
    assert [session.user for session in fleet[0].sessions.open.values()] == ["admin"]


def test_sessions_of_a_fabricctl_that_runs_are_left_alone(fleet: Simulator, tmp_path: Path) -> None:
    from provision.redfish.ledger import Ledger
    from provision.workflows.access import session_folder

    ledger = Ledger(session_folder())
    ledger.open()
    told = {"address": fleet[0].address, "port": fleet.port, "user": "root", "at": 4e9}
    ledger.write({"asking": 1, **told})
    ledger.write({"opened": 1, "uri": "/redfish/v1/SessionService/Sessions/1"})
    try:
        code, out = run("gpu001", "--site", str(site_of(fleet, tmp_path)), "--clear-own")
    finally:
        ledger.remove()
    assert code == 0, out
    assert "another fabricctl" in out
    assert len(fleet[0].sessions) == 2


def test_what_a_dead_run_wrote_down_is_ended_at_the_next_login(fleet: Simulator, tmp_path: Path) -> None:
    from provision.redfish.ledger import Ledger
    from provision.workflows.access import session_folder

    ledger = Ledger(session_folder())
    ledger.open()
    told = {"address": fleet[0].address, "port": fleet.port, "user": "root", "at": 4e9}
    ledger.write({"asking": 1, **told})
    ledger.write({"opened": 1, "uri": "/redfish/v1/SessionService/Sessions/1"})
    mode = os.stat(ledger.path).st_mode & 0o777
    ledger.leave()
    code, out = run("gpu001", "--site", str(site_of(fleet, tmp_path)))
    assert code == 0, out
    assert "a session that a killed run left was ended" in out
    assert [session.user for session in fleet[0].sessions.open.values()] == ["admin"]
    assert mode == 0o600
    assert not ledger.path.exists()


def test_full_sessions_make_the_exit_code_3(
    fleet: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provision.redfish.session.FULL_PAUSE_S", 0.01)
    fleet[1].sessions.fill()
    code, out = run("all", "--site", str(site_of(fleet, tmp_path)))
    assert code == 3
    assert "gpu002" in out
    assert "every session of the BMC is taken" in " ".join(out.split())
    assert fleet.password not in out
