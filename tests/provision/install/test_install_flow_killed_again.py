"""Killed after any request while it comes out of quarantine, or is given back; then it is run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provision.install.outcome import NodeResult, Told
from provision.workflows.install_release import release
from tests.provision.install.flow_kit import Client, KilledError, Kit, flow_kit
from tests.sim.maas.time import Durations

SHORT = Durations(commission_s=120, deploy_s=200, release_s=60)
HOST = "gpu001"


async def commission(client: Client) -> list[NodeResult]:
    return await client.commission([HOST], from_quarantine=True)


async def deploy(client: Client) -> list[NodeResult]:
    return await client.deploy([HOST], from_quarantine=True)


async def give_back(client: Client) -> list[NodeResult]:
    return await release(client.maas, [HOST], client.options)


def quarantined(kit: Kit) -> None:
    """Ready, and then taken out of the pool."""

    async def work(client: Client) -> None:
        await client.enrol([HOST])
        await client.commission([HOST])
        (machine,) = await client.maas.find(hostnames=[HOST])
        await client.maas.quarantine(machine, "bad disk")

    kit.run(work)


def installed(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))


CASES = {
    "commission": (quarantined, commission, "Ready"),
    "deploy": (quarantined, deploy, "Deployed"),
    "release": (installed, give_back, "Ready"),
}


def killed(folder: Path, case: str, kill_at: int) -> bool:
    """:returns: whether it died."""
    begin, work, end = CASES[case]
    with flow_kit(folder, durations=SHORT) as kit:
        begin(kit)
        before = asked(kit)
        died = dies(kit, work, kill_at)
        status, tagged = kit.ends()[HOST]
        looked_at = not died or any("taken out" in one.after for one in kit.store.events.all())
        if begin is quarantined and not tagged and not looked_at:
            # the tag goes last, so it may be off only where all that was asked for had ended
            assert status == end, f"killed after request {kill_at}: {status} without its tag"
        (result,) = kit.run(work)
        where = f"killed after request {kill_at}: {result}"
        assert result.outcome is Told.OK, where
        assert kit.ends()[HOST] == (end, False), where
        if case == "commission":
            assert asked(kit) > before, f"{where}: nobody looked at it"
        return died


def asked(kit: Kit) -> int:
    return sum(one.op == "commission" and one.status == 200 for one in kit.maas.double.requests)


def dies(kit: Kit, work: Callable[[Client], Any], kill_at: int) -> bool:
    try:
        kit.run(work, kill_at=kill_at)
    except KilledError:
        return True
    return False


@pytest.mark.parametrize("case", CASES)
def test_killed_now_and_then_it_ends_the_same(tmp_path: Path, case: str) -> None:
    for kill_at in (5, 7):
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        assert killed(folder, case, kill_at), "no kill happened"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_killed_after_any_request_it_ends_the_same(tmp_path: Path, case: str) -> None:
    kill_at, died = 1, True
    while died:
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        died = killed(folder, case, kill_at)
        kill_at += 1
    assert kill_at > 8, "this run has more requests than that"
