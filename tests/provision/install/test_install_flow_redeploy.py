"""Installing anew: killed and run again, no host is installed anew a second time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provision.install.outcome import End, NodeResult
from tests.provision.install.flow_kit import Client, KilledError, Kit, by_host, flow_kit, hosts_of
from tests.sim.maas.time import Durations

SHORT = Durations(commission_s=120, deploy_s=200, release_s=60)
HOSTS = hosts_of(2)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with installed(tmp_path) as kit:
        yield kit


def installed(folder: Path) -> Any:
    return flow_kit(folder, durations=SHORT)


def begin(kit: Kit) -> None:
    """All are installed, a day ago."""
    kit.more = {"poll_s": 30.0}
    kit.run(lambda client: client.bring_up(HOSTS))
    kit.maas.advance(86_400)


def anew(kit: Kit, kill_at: int | None = None, **more: Any) -> dict[str, NodeResult]:
    async def work(client: Client) -> list[NodeResult]:
        return await client.deploy(HOSTS, redeploy=True, **more)

    return by_host(kit.run(work, kill_at=kill_at))


def installs(kit: Kit) -> Counter[str]:
    """Host -> installations that were begun."""
    return Counter(
        one.machine for one in kit.maas.double.requests if one.op == "deploy" and one.status == 200
    )


def killed_and_run_again(kit: Kit, kill_at: int) -> bool:
    """:returns: whether the client died at all."""
    begin(kit)
    before, died = installs(kit), False
    try:
        anew(kit, kill_at)
    except KilledError:
        died = True
    anew(kit)
    assert installs(kit) - before == dict.fromkeys(before, 1), f"killed after request {kill_at}"
    assert set(kit.ends().values()) == {("Deployed", False)}
    assert set(kit.keys.made) == set(kit.keys.settled) == set(HOSTS), f"killed after request {kill_at}"
    assert kit.keys.withdrawn == [], f"killed after request {kill_at}: a key that may be installed"
    return died


@pytest.mark.parametrize("kill_at", [3, 12, 24, 26])
def test_killed_now_and_then_every_host_is_installed_anew_once(kit: Kit, kill_at: int) -> None:
    killed_and_run_again(kit, kill_at)


@pytest.mark.slow
def test_killed_after_any_request_every_host_is_installed_anew_once(tmp_path: Path) -> None:
    kill_at, died = 1, True
    while died:
        folder = tmp_path / str(kill_at)
        folder.mkdir()
        with installed(folder) as kit:
            died = killed_and_run_again(kit, kill_at)
        kill_at += 1
    assert kill_at > 20, "this run has more requests than that"


def test_a_host_that_was_just_installed_is_left_out_unless_it_is_asked_for_again(kit: Kit) -> None:
    begin(kit)
    anew(kit)
    before = installs(kit)
    assert {one.end for one in anew(kit).values()} == {End.UNCHANGED}
    assert installs(kit) == before
    assert {one.end for one in anew(kit, again=True).values()} == {End.DEPLOYED}
    assert installs(kit) - before == dict.fromkeys(before, 1)


def test_six_hours_later_it_is_another_wish(kit: Kit) -> None:
    begin(kit)
    anew(kit)
    kit.maas.advance(6 * 3600)
    assert {one.end for one in anew(kit).values()} == {End.DEPLOYED}


def test_one_that_was_not_waited_for_is_looked_at_and_left_out(kit: Kit) -> None:
    begin(kit)
    kit.more = {"wait": False}
    anew(kit)  # released, and begun
    kit.maas.advance(1200)
    kit.more = {}
    before = installs(kit)
    assert {one.end for one in anew(kit).values()} == {End.UNCHANGED}
    assert installs(kit) == before
    afters = {event.subject: event.after for event in kit.store.events.all() if event.kind == "node.deploy"}
    assert afters == dict.fromkeys(HOSTS, "Deployed; boot disk verified")
