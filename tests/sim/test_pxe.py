"""The lab itself: what boots from the network does, what boots from disk asks nothing, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.sim.pxe import GREETING, Machine, PxeLab
from tests.sim.pxe import missing as missing_for_pxe

pytestmark = pytest.mark.slow

MAC = "02:00:00:aa:00:01"
BOOT_S = 120.0


@pytest.fixture
def lab() -> Iterator[PxeLab]:
    absent = missing_for_pxe() + ([] if os.geteuid() == 0 else ["root"])
    if absent and os.environ.get("REQUIRE_TOOLS") != "1":
        pytest.skip(f"tools not installed: {', '.join(absent)}")
    with PxeLab({MAC: "node001"}) as running:
        yield running


def wait_for(what: Callable[[], object], machine: Machine, seconds: float = BOOT_S) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert machine.running, machine.console()
        assert time.monotonic() < deadline, machine.console()
        time.sleep(0.1)


def test_a_machine_that_boots_its_card_fetches_the_script_and_runs_it(lab: PxeLab) -> None:
    left = threading.Event()
    machine = lab.boot(MAC.upper(), network=True, left_post=left.set)
    wait_for(lambda: f"{GREETING} {MAC} 192.0.2.50" in machine.console(), machine)
    assert left.wait(BOOT_S)  # told by the machine's own thread
    assert lab.fetched(MAC) == 1
    assert lab.leased(MAC) == "192.0.2.50"


def test_a_machine_that_boots_its_disk_asks_for_no_address(lab: PxeLab) -> None:
    left = threading.Event()
    machine = lab.boot(MAC, network=False, left_post=left.set)
    wait_for(lambda: "UEFI Interactive Shell" in machine.console(), machine)
    assert left.wait(BOOT_S)  # told by the machine's own thread
    assert not lab.asked(MAC)


def test_power_cut_and_a_machine_that_dies_are_told_apart(lab: PxeLab) -> None:
    told: list[bool] = []
    cut = lab.boot(MAC, network=False, ended=told.append)
    cut.stop()
    assert told == [False]
    died = lab.boot(MAC, network=False, ended=told.append)
    wait_for(lambda: died.pid, died)
    os.kill(died.pid, 15)
    deadline = time.monotonic() + 10
    while len(told) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert told == [False, True]


def test_nothing_is_left_behind() -> None:
    if missing_for_pxe() or os.geteuid() != 0:
        pytest.skip("tools not installed: qemu")
    with PxeLab({MAC: "node001"}) as lab:
        name, folder = lab.namespace, lab.folder
        machine = lab.boot(MAC, network=False)
        pids = [machine.pid, lab.pid]
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    assert name not in listed
    assert not folder.exists()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
