"""Giving machines back on the double, and enrolling that is interrupted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.install.deadlines import Deadlines
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_model import FleetInterrupted
from provision.workflows.install_release import release
from tests.provision.install.flow_kit import Client, Kit, flow_kit, hosts_of

HOST = "gpu001"


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def released(kit: Kit, *, from_quarantine: bool = False) -> NodeResult:
    return kit.run(
        lambda client: release(
            client.maas, [HOST], client.options, comment="moved", from_quarantine=from_quarantine
        )
    )[0]


def test_an_installed_host_is_given_back(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    result = released(kit)
    assert (result.outcome, result.end, result.before, result.after) == (
        Told.OK,
        End.RELEASED,
        "Deployed",
        "Ready",
    )
    assert kit.ends() == {HOST: ("Ready", False)}
    assert released(kit).end is End.UNCHANGED


def test_a_locked_host_is_refused_in_words(kit: Kit) -> None:
    kit.maas.double.faults.add("locked", HOST, "deploy")
    kit.run(lambda client: client.bring_up([HOST]))
    result = released(kit)
    assert (result.outcome, result.end) == (Told.FINDING, End.REFUSED)
    assert result.reason == "it is Deployed and locked: unlock it in the provisioner first"
    assert not [one for one in kit.maas.double.requests if one.op == "release"]


def test_a_lost_answer_to_release_is_looked_after(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up([HOST]))
    kit.maas.double.faults.add("503-after-commit", HOST, "release")
    assert released(kit).end is End.RELEASED
    assert sum(one.op == "release" for one in kit.maas.double.requests) == 1


@pytest.mark.parametrize("kind", ["fail", "stuck", "stuck-forever"])
def test_a_release_that_does_not_end_well_is_kept_out_of_the_pool(kit: Kit, kind: str) -> None:
    kit.deadlines = Deadlines(release_s=900, settle_s=60)
    kit.run(lambda client: client.bring_up([HOST]))
    kit.maas.double.faults.add(kind, HOST, "release")
    result = released(kit)
    assert result.outcome is Told.FINDING
    assert result.end in (End.QUARANTINED, End.FAILED)
    assert result.reason
    status, tagged = kit.ends()[HOST]
    assert tagged
    assert status != "Ready"


def test_a_quarantined_host_is_released_only_when_asked(kit: Kit) -> None:
    kit.maas.double.faults.add("fail", HOST, "deploy")
    kit.run(lambda client: client.bring_up([HOST]))
    assert released(kit).end is End.QUARANTINED
    assert kit.ends() == {HOST: ("Broken", True)}
    assert released(kit, from_quarantine=True).outcome is Told.OK
    assert kit.ends() == {HOST: ("Ready", False)}


def test_enrolling_that_is_interrupted_says_what_was_sent_and_is_gone_on_with(kit: Kit) -> None:
    hosts = hosts_of(30)
    kit.more = {"requests": 2}

    async def work(client: Client) -> tuple[NodeResult, ...]:
        task = asyncio.ensure_future(client.enrol(hosts))
        while sum(one.op == "create" for one in kit.maas.double.requests) < 5:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(FleetInterrupted) as stopped:
            await task
        return stopped.value.results

    results = kit.run(work)
    assert [one.host for one in results] == hosts
    untouched = {one.host for one in results if one.reason == "interrupted; nothing was sent"}
    there = {one.hostname for one in kit.maas.double.machines.values()}
    assert len(untouched) > 10
    assert not untouched & there
    assert not any("no answer yet" in event.after for event in kit.store.events.all())
    assert {one.outcome for one in kit.run(lambda client: client.enrol(hosts))} == {Told.OK}
    names = Counter(one.hostname for one in kit.maas.double.machines.values())
    assert names == dict.fromkeys(hosts, 1)
