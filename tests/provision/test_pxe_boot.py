"""One real PXE boot: our commands, a simulated BMC, and a virtual machine that follows it in a network of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.provision.killing import Site
from tests.sim.idrac import Simulator
from tests.sim.idrac.power import Phase
from tests.sim.pxe import GREETING, PxeLab
from tests.sim.pxe import missing as missing_for_pxe
from tests.sim.pxe_bmc import Follower

pytestmark = pytest.mark.slow

BOOT_S = 180.0
HOST = "gpu001"
CARD = "NIC.Embedded.1-1-1"


@dataclass
class Room:
    """Everything there is."""

    site: Site
    lab: PxeLab
    machine: Follower
    mac: str


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    absent = missing_for_pxe() + ([] if os.geteuid() == 0 else ["root"])
    if absent and os.environ.get("REQUIRE_TOOLS") != "1":
        pytest.skip(f"tools not installed: {', '.join(absent)}")
    # POST and everything else in real time: the machine is real
    with Simulator(1, first="127.35.0.1", speed=1.0) as simulator:
        bmc = simulator[HOST]
        mac = bmc.identity[f"mac:{CARD}"]
        bmc.power.set(Phase.OFF)
        with PxeLab({mac: HOST}) as lab:
            site = Site(simulator, tmp_path)
            yield Room(site, lab, Follower(bmc, lab, mac), mac)


def run(room: Room, *words: str) -> str:
    done = room.site.fabricctl(*words)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def wait_for(what: Callable[[], object], room: Room) -> None:
    deadline = time.monotonic() + BOOT_S
    while not what():
        console = room.machine.machine.console() if room.machine.machine else "no machine"
        assert time.monotonic() < deadline, f"{console}\n{room.lab.log()[-2000:]}"
        time.sleep(0.2)


def test_boot_pxe_and_power_on_end_with_the_boot_script_fetched_once(room: Room) -> None:
    bmc = room.site.simulator[HOST]
    run(room, "bmc", "trust", HOST, "--yes")
    assert room.mac.lower() in run(room, "bmc", "harvest", HOST, "--format", "json").lower()
    run(room, "bmc", "boot", "pxe", HOST, "--yes")
    assert not room.lab.asked(room.mac)
    run(room, "bmc", "power", "on", HOST, "--yes")
    wait_for(lambda: room.lab.fetched(room.mac), room)
    wait_for(lambda: room.machine.machine and GREETING in room.machine.machine.console(), room)
    assert room.machine.booted == ["Pxe"]
    assert room.machine.running

    assert (bmc.boot_override.target, bmc.boot_override.enabled) == ("None", "Disabled")
    assert "Pxe, once: consumed" in run(room, "bmc", "boot", "status", HOST)

    # the next boot is the disk's, and asks the network for nothing
    run(room, "bmc", "power", "off", HOST, "--force", "--grace", "0", "--yes")
    wait_for(lambda: not room.machine.running and bmc.power.state == "Off", room)
    run(room, "bmc", "boot", "disk", HOST, "--yes")
    run(room, "bmc", "power", "on", HOST, "--yes")
    wait_for(
        lambda: room.machine.machine and "UEFI Interactive Shell" in room.machine.machine.console(), room
    )
    assert room.machine.booted == ["Pxe", "Hdd"]
    assert room.lab.fetched(room.mac) == 1
