"""No session is left behind, however a run ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac.faults import Fault
from tests.sim.idrac.sessions import Sessions

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.fleet import FleetOptions, ask
told = json.loads(sys.stdin.readline())
targets = [Target(h, a, told["port"], trust=Trust(fingerprint=f)) for h, a, f in told["bmcs"]]
credentials = Credentials("root", Secret(told["password"]))
async def work(bmc):
    for _ in range(told["reads"]):
        await bmc.get("/redfish/v1/SessionService")
        print("read", flush=True)
        await asyncio.sleep(told["pause"])
options = FleetOptions(lambda target: credentials, writes=told["writes"], ledger=Path(told["ledger"]))
ask(targets, work, options)
print("done", flush=True)
"""


@pytest.fixture(scope="module")
def fleet() -> Iterator[Simulator]:
    with Simulator(6, [Profile.IDRAC9_7] * 3 + [Profile.IDRAC9_6] * 3, "127.32.1.1") as simulator:
        yield simulator


def open_sessions(fleet: Simulator) -> int:
    return sum(len(bmc.part(Sessions).open) for bmc in fleet)


def settled(fleet: Simulator, seconds: float) -> int:
    """Open sessions once there are none, or when time is up."""
    until = time.monotonic() + seconds
    while (count := open_sessions(fleet)) and time.monotonic() < until:
        time.sleep(0.05)
    return count


def start(
    fleet: Simulator, ledger: Path, *, reads: int = 1000, pause: float = 0.02, writes: bool = False
) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    told = {
        "port": fleet.port,
        "bmcs": [(bmc.host, bmc.address, bmc.fingerprint) for bmc in fleet],
        "password": fleet.password,
        "ledger": str(ledger),
        "reads": reads,
        "pause": pause,
        "writes": writes,
    }
    assert process.stdin is not None
    process.stdin.write(json.dumps(told) + "\n")
    process.stdin.flush()
    return process


def wait_for_logins(fleet: Simulator, process: subprocess.Popen[str]) -> None:
    """Until every login is answered, and the client knows."""
    assert process.stdout is not None
    for _ in range(60):
        process.stdout.readline()
    assert open_sessions(fleet) == 6


def opened(fleet: Simulator, number: int) -> bool:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if open_sessions(fleet) >= number:
            return True
        time.sleep(0.005)
    return False


@pytest.mark.parametrize("writes", [False, True], ids=["aiohttp", "dmtf"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_leaves_no_session(
    fleet: Simulator, tmp_path: Path, number: signal.Signals, writes: bool
) -> None:
    process = start(fleet, tmp_path / "ledger", writes=writes)
    wait_for_logins(fleet, process)
    os.killpg(process.pid, number)  # as a terminal does: the whole group
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0
    assert settled(fleet, 5) == 0, errors
    assert fleet.password not in errors


def test_a_run_that_ends_leaves_neither_session_nor_ledger(fleet: Simulator, tmp_path: Path) -> None:
    process = start(fleet, tmp_path / "ledger", reads=2)
    out, errors = process.communicate(timeout=20)
    assert "done" in out, errors
    assert open_sessions(fleet) == 0
    assert list((tmp_path / "ledger").iterdir()) == []


def test_what_not_even_the_reaper_could_end_is_ended_by_the_next_run(
    fleet: Simulator, tmp_path: Path
) -> None:
    process = start(fleet, tmp_path / "ledger")
    wait_for_logins(fleet, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for pid in [*map(int, children), process.pid]:
        os.kill(pid, signal.SIGKILL)  # as the end of a container or a power cut
    process.communicate(timeout=20)
    assert open_sessions(fleet) >= 6
    later = start(fleet, tmp_path / "ledger", reads=1)
    out, errors = later.communicate(timeout=20)
    assert "done" in out, errors
    assert open_sessions(fleet) == 0
    assert list((tmp_path / "ledger").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_run_killed_at_any_moment_leaves_no_session(fleet: Simulator, tmp_path: Path, seed: int) -> None:
    dice = Random(seed)
    for bmc in fleet:
        bmc.latency = lambda method, path, of: 0.05 + 0.1 * of.random()
    process = start(fleet, tmp_path / "ledger", pause=0.0)
    assert opened(fleet, 1)
    time.sleep(dice.random() * 0.3)
    process.kill()
    process.communicate(timeout=20)
    assert settled(fleet, 25) == 0
    until = time.monotonic() + 25
    while list((tmp_path / "ledger").iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    assert list((tmp_path / "ledger").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("profile", [0, 3], ids=["with times", "without"])
def test_the_session_of_a_login_that_was_never_answered_is_found_and_ended(
    fleet: Simulator, tmp_path: Path, profile: int
) -> None:
    bmc = fleet[profile]
    kept = bmc.part(Sessions).make("root", "127.0.0.9")
    bmc.fault(Fault("POST", ".*/Sessions", drop_answer=True, times=2))
    process = start(fleet, tmp_path / "ledger", reads=1)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    until = time.monotonic() + 12
    while list(bmc.part(Sessions).open) != [kept.id] and time.monotonic() < until:
        time.sleep(0.05)
    assert list(bmc.part(Sessions).open) == [kept.id]
    bmc.part(Sessions).open.clear()
