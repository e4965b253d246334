"""Runs that end early, waves, and how much is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fabricctl.errors import StateError
from fabricctl.nodes.model import EventKind
from provision.install.deadlines import Deadlines
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_model import FleetInterrupted
from tests.provision.install.flow_kit import Client, Kit, by_host, flow_kit, hosts_of
from tests.sim.maas.time import Durations


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def ready(kit: Kit, hosts: Sequence[str]) -> None:
    async def work(client: Client) -> None:
        await client.enrol(hosts)
        await client.commission(hosts)

    kit.run(work)


def interrupted(kit: Kit, hosts: Sequence[str], deploys: int) -> tuple[NodeResult, ...]:
    """Install hosts, and stop as Ctrl-C does once so many installations were begun."""

    async def work(client: Client) -> tuple[NodeResult, ...]:
        task = asyncio.ensure_future(client.deploy(hosts))
        while sum(1 for one in kit.maas.double.requests if one.op == "deploy") < deploys:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(FleetInterrupted) as stopped:
            await task
        return stopped.value.results

    return kit.run(work)


def test_ctrl_c_starts_nothing_more_and_says_what_goes_on(kit: Kit) -> None:
    hosts = hosts_of(6)
    ready(kit, hosts)
    kit.more = {"wave": 1}
    results = interrupted(kit, hosts, deploys=2)
    assert [one.host for one in results] == hosts
    assert {one.end for one in results} == {End.INTERRUPTED}
    begun = [one.host for one in results if "deploy goes on in MAAS" in one.reason]
    untouched = [one.host for one in results if one.reason == "interrupted; nothing was sent"]
    deploying = [one.hostname for one in kit.maas.double.in_status("Deploying")]
    sent = [one.host for one in results if one.reason.startswith("interrupted; look at MAAS")]
    assert begun
    assert begun + sent == deploying == hosts[: len(deploying)]
    assert deploying + untouched == hosts
    assert untouched


def test_after_ctrl_c_no_event_says_that_it_is_being_sent(kit: Kit) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    kit.more = {"wave": 1}
    interrupted(kit, hosts, deploys=1)
    told = [one.after for one in kit.store.events.all() if one.kind is EventKind.NODE_DEPLOY]
    assert told
    assert not any("no answer yet" in after for after in told)
    assert any("goes on" in after or "interrupted" in after for after in told)


def test_a_run_after_ctrl_c_goes_on_where_it_was(kit: Kit) -> None:
    hosts = hosts_of(4)
    ready(kit, hosts)
    kit.more = {"wave": 1}
    interrupted(kit, hosts, deploys=2)
    results = kit.run(lambda client: client.deploy(hosts))
    assert {one.end for one in results} == {End.DEPLOYED}
    installs = Counter(one.machine for one in kit.maas.double.requests if one.op == "deploy")
    assert installs == dict.fromkeys(hosts, 1)


def test_no_more_are_started_at_a_tick_than_a_wave(kit: Kit) -> None:
    hosts = hosts_of(10)
    ready(kit, hosts)
    kit.more = {"wave": 3}
    kit.run(lambda client: client.deploy(hosts))
    double = kit.maas.double
    texts = [one for one in double.events.events if one.description.endswith("to 'Deploying'")]
    at_once = Counter(one.created for one in texts)
    assert sorted(at_once.values()) == [1, 3, 3, 3]


def test_no_more_are_installed_at_the_same_time_than_the_limit(kit: Kit) -> None:
    hosts = hosts_of(7)
    ready(kit, hosts)
    kit.more = {"deploying": 2}
    kit.run(lambda client: client.deploy(hosts))
    assert most_at_once(kit) == 2


def most_at_once(kit: Kit) -> int:
    """Machines that were Deploying at the same time, by MAAS's events."""
    under_way, most = 0, 0
    for event in kit.maas.double.events.events:
        under_way += event.description.endswith("to 'Deploying'")
        under_way -= event.description.startswith("From 'Deploying'")
        most = max(most, under_way)
    return most


@pytest.mark.parametrize("stuck", [1, 2])
def test_a_host_that_hangs_counts_until_its_deadline_and_costs_others_one_place(kit: Kit, stuck: int) -> None:
    hosts = hosts_of(6)
    ready(kit, hosts)
    for host in hosts[:stuck]:
        kit.maas.double.faults.add("stuck-forever", host, "deploy")
    kit.more = {"deploying": 2}
    kit.deadlines = Deadlines(deploy_s=2400, settle_s=60)
    results = by_host(kit.run(lambda client: client.deploy(hosts)))
    assert all(results[host].end is End.DEPLOYED for host in hosts[stuck:])
    assert most_at_once(kit) == 2
    first = min(results[host].seconds for host in hosts[stuck:])
    assert first < 1000 if stuck == 1 else 2400 < first < 2400 + 1200
    installs = 1000 * (len(hosts) - stuck)  # one after the other, 12 min each and a fifth more
    assert max(results[host].seconds for host in hosts[stuck:]) < 2400 + installs


def test_without_waiting_no_more_are_begun_than_the_limit_and_the_rest_is_said(kit: Kit) -> None:
    hosts = hosts_of(5)
    ready(kit, hosts)
    kit.more = {"deploying": 2, "wait": False}
    results = kit.run(lambda client: client.deploy(hosts))
    assert Counter(one.end for one in results) == {End.BEGUN: 2, End.NOT_STARTED: 3}
    assert "2 are under way, which is the limit" in results[-1].reason
    assert most_at_once(kit) == 2


def test_a_host_that_is_silent_for_half_an_hour_and_goes_on_is_counted_all_the_time(tmp_path: Path) -> None:
    slow = Durations(deploy_s=2 * 3600)
    with flow_kit(tmp_path, durations=slow, node_timeout=240) as kit:
        hosts = hosts_of(4)
        ready(kit, hosts)
        kit.more = {"deploying": 2, "poll_s": 60.0}
        kit.deadlines = Deadlines(deploy_s=4 * 3600, settle_s=60)
        results = kit.run(lambda client: client.deploy(hosts))
        assert {one.end for one in results} == {End.DEPLOYED}
        assert most_at_once(kit) == 2


def test_a_maas_that_falls_silent_ends_the_run_with_could_not_tell(kit: Kit) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    kit.maas.double.faults.add("drop-before", "", "events.query", count=None, after=1)
    results = kit.run(lambda client: client.deploy(hosts))
    assert {(one.outcome, one.end) for one in results} == {(Told.UNKNOWN, End.UNKNOWN)}
    assert {one.hostname for one in kit.maas.double.in_status("Deploying")} == set(hosts)


def test_nothing_is_begun_at_a_maas_that_does_not_answer_and_progress_says_so(kit: Kit) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    kit.said.clear()
    kit.maas.double.faults.add("drop-before", "", "events.query", count=None)
    results = kit.run(lambda client: client.deploy(hosts))
    assert {(one.outcome, one.end) for one in results} == {(Told.UNKNOWN, End.UNKNOWN)}
    assert {one.hostname for one in kit.maas.double.in_status("Ready")} == set(hosts)
    told = [one.words for one in kit.said if one.host == "gpu001" and "has not answered" in one.words]
    assert told[0].startswith("MAAS has not answered for 60 s: ")
    assert len(told) == 9


def test_a_maas_that_is_silent_for_a_while_costs_nothing(kit: Kit) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    kit.maas.double.faults.add("drop-before", "", "events.query", count=10, after=4)
    results = kit.run(lambda client: client.deploy(hosts))
    assert {one.end for one in results} == {End.DEPLOYED}


def test_a_host_that_was_never_enrolled_is_refused(kit: Kit) -> None:
    (result,) = kit.run(lambda client: client.deploy(["gpu001"]))
    assert result.end is End.REFUSED
    assert "enrol it first" in result.reason


def test_a_machine_that_took_the_name_of_an_enrolled_one_is_refused(kit: Kit) -> None:
    ready(kit, ["gpu001"])
    old = kit.maas.double.machine("gpu001").system_id
    del kit.maas.double.records[old]
    kit.maas.double.add_machine("gpu001", ["52:54:00:00:00:77"])
    (result,) = kit.run(lambda client: client.commission(["gpu001"]))
    assert result.end is End.REFUSED
    assert f"expected machine {old} as recorded" in result.reason


def test_what_cannot_be_recorded_is_not_done(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    ready(kit, ["gpu001"])

    def full(_: object) -> list[int]:
        raise StateError("the disk is full")

    monkeypatch.setattr(kit.store.events, "begin", full)
    (result,) = kit.run(lambda client: client.deploy(["gpu001"]))
    assert (result.end, result.written) == (End.NOT_STARTED, False)
    assert "the disk is full" in result.reason
    assert kit.ends() == {"gpu001": ("Ready", False)}


def test_without_waiting_a_run_ends_when_all_are_begun(kit: Kit) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    kit.more = {"wait": False}
    results = kit.run(lambda client: client.deploy(hosts))
    assert {(one.outcome, one.end) for one in results} == {(Told.OK, End.BEGUN)}
    assert sorted(kit.keys.settled) == hosts
    kit.more = {}
    assert {one.outcome for one in kit.run(lambda client: client.deploy(hosts))} == {Told.OK}
    assert sorted(kit.keys.settled) == hosts


def test_progress_tells_maas_own_words_and_ends_once_for_each_host(kit: Kit) -> None:
    hosts = hosts_of(2)
    ready(kit, hosts)
    kit.said.clear()
    kit.run(lambda client: client.deploy(hosts))
    words = {one.words for one in kit.said if one.host == "gpu001"}
    assert any("Installing OS" in word for word in words), words
    ended = Counter(one.host for one in kit.said if one.ended is not None)
    assert ended == dict.fromkeys(hosts, 1)
