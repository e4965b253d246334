"""Commands about BMCs killed at any point: no session stays, nothing is done twice, the store is whole, a rerun ends.

Kill points are counted in requests that the BMCs have seen, plus a part of the time of one: they fall everywhere
between the first connection and the last logout, however slow the machine.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.provision.killing import Killed, Site
from tests.sim.idrac import Simulator, steady_latency
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.media import VirtualMedia

pytestmark = pytest.mark.slow

COUNT = 4
ANSWER_S = 0.03
SHORTLY_S = 25.0
"""A login whose answer nobody saw is looked for up to 15 s after the end."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TURNS, FEW = range(8), range(3)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Simulator(COUNT, first="127.34.0.1", latency=steady_latency(ANSWER_S), speed=200.0) as simulator:
        lab = Site(simulator, tmp_path)
        trusted = lab.fabricctl("bmc", "trust", "all", "--yes")
        assert trusted.returncode == 0, trusted.stderr
        yield lab


def kill_somewhere(site: Site, turn: int, most: int, *words: str) -> Killed:
    """Kill a command after a number of requests of which it sends about ``most``."""
    dice = random.Random(f"{words[1]} {turn}")
    before = requests(site)
    wanted = before + dice.randint(0, most)
    part = dice.uniform(0.0, ANSWER_S)
    reached: list[float] = []

    def when() -> bool:
        if not reached and requests(site) >= wanted:
            reached.append(time.monotonic())
        return bool(reached) and time.monotonic() - reached[0] >= part

    killed = site.killed(*words, number=dice.choice(SIGNALS), when=when)
    assert "Traceback" not in killed.err, killed.err
    assert killed.code in (0, 3, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT), killed
    assert site.settled(SHORTLY_S), f"{killed}\nsessions {site.sessions()}, processes {site.left_running()}"
    assert site.store_is_whole()
    return killed


def requests(site: Site) -> int:
    return sum(len(bmc.requests) for bmc in site.simulator)


@pytest.mark.parametrize("turn", TURNS)
def test_a_harvest_killed_anywhere_leaves_no_session_and_the_next_one_finishes(site: Site, turn: int) -> None:
    kill_somewhere(site, turn, COUNT * 17, "bmc", "harvest", "all", "--quick")
    again = site.fabricctl("bmc", "harvest", "all", "--quick")
    assert again.returncode == 0, again.stdout + again.stderr
    assert site.settled(SHORTLY_S)


@pytest.mark.parametrize("turn", TURNS)
def test_power_on_killed_anywhere_is_carried_out_once(site: Site, turn: int) -> None:
    for bmc in site.simulator:
        bmc.power.off(0)
        bmc.settle()
    kill_somewhere(site, turn, COUNT * 8, "bmc", "power", "on", "all", "--yes")
    assert all(bmc.power.actions in ([], ["On"]) for bmc in site.simulator)
    assert {bmc.host for bmc in site.simulator if bmc.power.actions} <= site.changed("node.power")
    again = site.fabricctl("bmc", "power", "on", "all", "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    assert [bmc.power.actions for bmc in site.simulator] == [["On"]] * COUNT
    assert site.settled(SHORTLY_S)


@pytest.mark.parametrize("turn", TURNS)
def test_boot_pxe_killed_anywhere_is_either_set_or_not(site: Site, turn: int) -> None:
    kill_somewhere(site, turn, COUNT * 8, "bmc", "boot", "pxe", "all", "--yes")
    for bmc in site.simulator:
        override = bmc.boot_override
        assert (override.target, override.enabled) in (("None", "Disabled"), ("Pxe", "Once"))
        assert override.target == "None" or bmc.host in site.changed("node.boot")
    again = site.fabricctl("bmc", "boot", "pxe", "all", "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    assert {(bmc.boot_override.target, bmc.boot_override.enabled) for bmc in site.simulator} == {
        ("Pxe", "Once")
    }
    writes = [[entry for entry in bmc.asked("PATCH") if entry.status < 300] for bmc in site.simulator]
    assert all(len(done) == 1 for done in writes), "an override that was set already is not set again"
    assert site.settled(SHORTLY_S)


def test_what_a_run_left_that_was_killed_with_its_helper_is_ended_by_the_next_run(site: Site) -> None:
    """As when the machine loses power: nobody is there to log out."""
    wanted = COUNT * 5

    def when() -> bool:
        if requests(site) < wanted:
            return False
        for pid in site.left_running():
            with suppress(ProcessLookupError):  # it ended by itself
                os.kill(pid, signal.SIGKILL)
        return True

    site.killed("bmc", "harvest", "all", "--quick", number=signal.SIGKILL, when=when)
    assert site.sessions(), "killed too early or too late to have sessions open"
    again = site.fabricctl("bmc", "harvest", "all", "--quick")
    assert again.returncode == 0, again.stdout + again.stderr
    assert site.settled(SHORTLY_S), site.sessions()


@pytest.mark.parametrize("turn", FEW)
def test_a_power_cycle_killed_anywhere_sends_no_action_twice(site: Site, turn: int) -> None:
    kill_somewhere(site, turn, COUNT * 10, "bmc", "power", "cycle", "all", "--force", "--yes")
    sent = [list(bmc.power.actions) for bmc in site.simulator]
    assert all(len(actions) <= 1 for actions in sent), sent
    again = site.fabricctl("bmc", "power", "cycle", "all", "--force", "--yes")
    assert again.returncode == 0, again.stdout + again.stderr
    assert [
        len(bmc.power.actions) - len(before) for bmc, before in zip(site.simulator, sent, strict=True)
    ] == [1] * COUNT
    assert site.settled(SHORTLY_S)


@pytest.mark.parametrize("turn", FEW)
def test_bios_set_killed_anywhere_makes_one_job(site: Site, turn: int) -> None:
    command = ("bmc", "bios", "set", "all", "LogicalProc=Disabled", "--yes")
    kill_somewhere(site, turn, COUNT * 12, *command)
    for bmc in site.simulator:
        pending = bmc.part(Bios).pending
        assert (pending, len(list(bmc.jobs))) in (({}, 0), ({"LogicalProc": "Disabled"}, 1))
    again = site.fabricctl(*command)
    assert again.returncode == 0, again.stdout + again.stderr
    for bmc in site.simulator:
        assert bmc.part(Bios).pending == {"LogicalProc": "Disabled"}
        assert len(list(bmc.jobs)) == 1
        assert len([entry for entry in bmc.asked("PATCH") if entry.status < 300]) == 1
    assert site.settled(SHORTLY_S)


@pytest.mark.parametrize("turn", FEW)
def test_media_insert_killed_anywhere_inserts_once(site: Site, turn: int) -> None:
    command = ("bmc", "media", "insert", "all", "http://192.0.2.10/node.iso", "--no-boot", "--yes")
    kill_somewhere(site, turn, COUNT * 8, *command)
    assert all(len(bmc.part(VirtualMedia).history) <= 1 for bmc in site.simulator)
    again = site.fabricctl(*command)
    assert again.returncode == 0, again.stdout + again.stderr
    for bmc in site.simulator:
        assert [what for what, _, _ in bmc.part(VirtualMedia).history] == ["insert"]
    assert site.settled(SHORTLY_S)
