"""The client dies after any request; it is run again, and all is as if it had not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabricctl.nodes.model import NodeState
from provision.install.deadlines import Deadlines
from tests.provision.install.flow_kit import Client, KilledError, Kit, flow_kit, hosts_of
from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas.time import Durations

SHORT = Durations(commission_s=120, deploy_s=200, release_s=60)
GOOD, FAILS, STUCK, BARE, LOST = hosts_of(5)
HOSTS = [GOOD, FAILS, STUCK, BARE, LOST]
END = {
    GOOD: ("Deployed", False),
    FAILS: ("Broken", True),
    STUCK: ("Broken", True),
    BARE: ("Broken", True),
    LOST: ("Deployed", False),
}
STATES = {
    GOOD: NodeState.PROVISIONING,
    FAILS: NodeState.QUARANTINED,
    STUCK: NodeState.QUARANTINED,
    BARE: NodeState.QUARANTINED,
    LOST: NodeState.PROVISIONING,
}


def prepare(kit: Kit) -> None:
    """One host each that fails, hangs, has no disks, and whose answers get lost."""
    faults = kit.maas.double.faults
    faults.add("reorder-disks", GOOD, "commission")
    faults.add("fail", FAILS, "deploy", text="curtin: no space left")
    faults.add("stuck-forever", STUCK, "deploy")
    faults.add("no-disks", BARE, "commission")
    for op in ("create", "commission", "deploy"):
        faults.add("503-after-commit", LOST, op)
    kit.deadlines = Deadlines(deploy_s=420, settle_s=60)
    kit.more = {"poll_s": 30.0}


def bring_up(client: Client) -> Any:
    return client.bring_up(HOSTS)


def killed_and_run_again(folder: Path, kill_at: int) -> tuple[Kit, bool]:
    """:returns: the kit as it is at the end, and whether the client died at all."""
    with flow_kit(folder, durations=SHORT) as kit:
        prepare(kit)
        died = False
        try:
            kit.run(bring_up, kill_at=kill_at)
        except KilledError:
            died = True
        kit.run(bring_up)
        check(kit, kill_at)
        return kit, died


def check(kit: Kit, kill_at: int) -> None:
    where = f"killed after request {kill_at}"
    machines = kit.maas.double.machines.values()
    assert Counter(one.hostname for one in machines) == dict.fromkeys(HOSTS, 1), where
    assert kit.ends() == END, where
    assert kit.states(HOSTS) == STATES, where
    facts = kit.store.facts.current(HOSTS)
    ids = {
        host: {f.fact.field: f.fact.value for f in told}["install.machine_id"] for host, told in facts.items()
    }
    assert ids == {one.hostname: one.system_id for one in machines}, where
    roots = {
        host: {f.fact.field: f.fact.value for f in facts[host]}["install.root_serial"]
        for host in (GOOD, LOST)
    }
    assert all(str(serial).startswith("BOSS") for serial in roots.values()), where
    assert {GOOD, LOST} <= set(kit.keys.made), where
    assert kit.keys.withdrawn == [], where
    installs = Counter(
        one.machine for one in kit.maas.double.requests if one.op == "deploy" and one.status == 200
    )
    assert max(installs.values()) == 1, f"{where}: installed twice: {installs}"


def test_killed_now_and_then_it_ends_the_same(tmp_path: Path) -> None:
    for kill_at in (1, 14, 40, 60):
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        killed_and_run_again(folder, kill_at)


@pytest.mark.slow
def test_killed_after_any_request_it_ends_the_same(tmp_path: Path) -> None:
    kill_at, died = 1, True
    while died:
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        _, died = killed_and_run_again(folder, kill_at)
        kill_at += 1
    assert kill_at > 40, "this run has more requests than that"


@pytest.mark.slow
def test_killed_again_and_again_it_ends_the_same(tmp_path: Path) -> None:
    # A run asks 7 times before it begins anything, and looks at five hosts together before the first is begun; killed
    # sooner than that each time, none gets further.
    enough = 23
    with flow_kit(tmp_path, durations=SHORT) as kit:
        prepare(kit)
        for _ in range(60):
            try:
                kit.run(bring_up, kill_at=enough)
            except KilledError:
                continue
            break
        else:
            pytest.fail("it never came to an end")
        check(kit, enough)


ENDS_S = 300.0
"""Real seconds no client needs, however busy this computer is."""


def start(maas: ServedDouble, folder: Path, epoch: float) -> subprocess.Popen[bytes]:
    """A client as a process."""
    words = [maas.url, maas.api_key, str(folder), str(epoch), *HOSTS]
    module = "tests.provision.install.flow_child"
    root = Path(__file__).parents[3]
    return subprocess.Popen(
        [sys.executable, "-m", module, *words], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    )


def until(maas: ServedDouble, child: subprocess.Popen[bytes], requests: int) -> None:
    """Wait until a client has sent so many requests, or is done."""
    deadline = time.monotonic() + ENDS_S
    while len(maas.double.requests) < requests and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(5, 11, 19), (9, 30, 55), (14, 28, 41, 60, 80)])
def test_a_process_that_is_killed_for_real_is_run_again_and_nothing_is_there_twice(
    tmp_path: Path, steps: tuple[int, ...]
) -> None:
    with maas_double(speed=0.0, control=True) as maas:
        maas.double.faults.add("fail", FAILS, "deploy", text="curtin: no space left")
        maas.double.faults.add("stuck-forever", STUCK, "deploy")
        maas.double.faults.add("no-disks", BARE, "commission")
        epoch = time.time()
        kills = 0
        for requests in steps:
            child = start(maas, tmp_path, epoch)
            until(maas, child, requests)
            child.send_signal(signal.SIGKILL)
            kills += child.wait(ENDS_S) == -signal.SIGKILL
        assert kills, "no kill happened"
        last = start(maas, tmp_path, epoch)
        assert last.wait(ENDS_S) == 0
        names = Counter(one.hostname for one in maas.double.machines.values())
        ends = {one.hostname: one.status.value for one in maas.double.machines.values()}
    assert names == dict.fromkeys(HOSTS, 1)
    assert ends == {host: status for host, (status, _) in END.items()}
