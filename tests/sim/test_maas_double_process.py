"""The double by hand: started as a process, asked, told, and ended by a signal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.sim.maas.process import maas_double
from tests.sim.maas_asker import Asker

ROOT = Path(__file__).resolve().parents[2]
MAC = "52:54:00:00:00:01"


def _start(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.sim.maas", "--port", "0", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _running(*options: str) -> Iterator[tuple[subprocess.Popen[str], Asker]]:
    process = _start("--json", *options)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        said: dict[str, Any] = json.loads(lines[-1])
        assert lines[0].strip().endswith(said["url"])
        assert lines[1].strip() == f"API key: {said['api_key']}"
        yield process, Asker(said["url"], said["api_key"])
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


def _control(ask: Asker, method: str, place: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    return ask.send(method, f"/control/{place}", data)


def test_it_serves_until_sigterm_and_ends_cleanly() -> None:
    with _running("--machines", "3") as (process, ask):
        assert len(ask("GET", "machines/").json) == 3
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=10)
        assert (process.returncode, complaints) == (0, "")


def test_it_is_told_about_faults_and_time_over_the_control_path() -> None:
    with _running("--speed", "0") as (_, ask):
        rule = {"kind": "fail", "machine": "gpu001", "op": "commission"}
        assert _control(ask, "POST", "faults", [rule]).status == 200
        name = ask.create("gpu001", MAC).json["system_id"]
        ask.act(name, "commission")
        state = _control(ask, "POST", "advance", 3600).json
        assert state["machines"]["gpu001"]["status"] == "Failed commissioning"
        assert state["faults"] == [{"kind": "fail", "machine": "gpu001", "hits": 1}]
        assert _control(ask, "POST", "faults", [{"kind": "explode"}]).status == 400
        assert _control(ask, "DELETE", "faults").json["faults"] == []


def test_faults_come_from_a_file(tmp_path: Path) -> None:
    rules = tmp_path / "faults.json"
    rules.write_text(json.dumps([{"kind": "503-after-commit", "op": "create"}]))
    with _running("--faults", str(rules)) as (_, ask):
        assert ask.create("gpu001", MAC).status == 503


def test_a_file_of_faults_that_makes_no_sense_ends_it_with_2(tmp_path: Path) -> None:
    rules = tmp_path / "faults.json"
    rules.write_text('[{"kind": "explode"}]')
    process = _start("--faults", str(rules))
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "no fault 'explode'" in complaints


def test_control_is_served_by_the_process_only() -> None:
    with maas_double() as maas:
        assert _control(Asker(maas.url, maas.api_key), "GET", "state").status == 404


def test_a_list_of_511_machines_is_put_together_from_what_is_known() -> None:
    with maas_double() as maas:
        ask = Asker(maas.url, maas.api_key)
        for number in range(511):
            mac = f"52:54:00:00:{number >> 8:02x}:{number & 255:02x}"
            maas.double.add_machine(f"gpu{number:03}", [mac])
        for name in maas.double.machines:
            ask.act(name, "commission")
        maas.advance(3600)
        assert len(maas.double.in_status("Ready")) == 511
        shown = ask("GET", "machines/").json
        assert len(shown) == 511
        assert all(len(one["physicalblockdevice_set"]) == 9 for one in shown)
        kept = [record._json for record in maas.double.machines.values()]
        assert ask("GET", "machines/").json == shown
        assert all(
            record._json is before for record, before in zip(maas.double.machines.values(), kept, strict=True)
        )
