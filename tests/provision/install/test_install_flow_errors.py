"""One host's error is its own; a key that is refused, a store that is full, a bug end no more than they must."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fabricctl.errors import FabricctlError, ProvisionerLoginError, SecretError, StateError, UsageError
from provision.bmc.secret import Secret
from provision.install.deadlines import Deadlines
from provision.install.outcome import End, NodeResult, Told
from provision.install.spec import Changes
from provision.workflows.install_release import release
from provision.workflows.install_send import SENDING
from tests.provision.install.flow_kit import Client, Keys, Kit, by_host, flow_kit, hosts_of

BAD = "gpu002"
GOOD = ["gpu001", "gpu003"]
ERRORS = [UsageError("no such name"), SecretError("not there", reference="env:X"), StateError("is locked")]


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def ready(kit: Kit, hosts: list[str]) -> None:
    kit.run(lambda client: client.enrol(hosts))
    kit.run(lambda client: client.commission(hosts))


def deployed(kit: Kit, hosts: list[str], **more: Any) -> dict[str, NodeResult]:
    return by_host(kit.run(lambda client: client.deploy(hosts, **more)))


@dataclass
class BadKeys(Keys):
    """Keys of one host cannot be made, or not be settled."""

    make_fails: FabricctlError | None = None
    settle_fails: FabricctlError | None = None
    host: str = field(default=BAD)

    async def make(self, host: str) -> Secret:
        if host == self.host and self.make_fails is not None:
            raise self.make_fails
        return await super().make(host)

    async def accepted(self, host: str) -> None:
        if host == self.host and self.settle_fails is not None:
            raise self.settle_fails
        await super().accepted(host)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("redeploy", [False, True])
def test_what_is_wrong_with_one_host_ends_no_other(kit: Kit, error: FabricctlError, redeploy: bool) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    if redeploy:
        deployed(kit, hosts)
    kit.keys = BadKeys(make_fails=error)
    results = deployed(kit, hosts, redeploy=redeploy, again=redeploy)
    assert {results[host].end for host in GOOD} == {End.DEPLOYED}
    assert results[BAD].outcome is not Told.OK
    assert str(error) in results[BAD].reason
    assert kit.ends()[BAD] == ("Ready", False)
    assert not [one for one in kit.store.events.all() if one.after == SENDING]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_key_too_many_that_stays_recorded_is_a_note_of_that_host_alone(
    kit: Kit, error: FabricctlError
) -> None:
    hosts = hosts_of(3)
    ready(kit, hosts)
    kit.keys = BadKeys(settle_fails=error)
    results = deployed(kit, hosts)
    assert {one.end for one in results.values()} == {End.DEPLOYED}
    assert [host for host in hosts if any(str(error) in note for note in results[host].notes)] == [BAD]


def test_a_store_that_cannot_be_written_any_more_stops_what_is_not_begun_and_loses_no_result(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = hosts_of(5)
    ready(kit, hosts)
    kit.more = {"wave": 1, "deploying": 2}
    begin, begun = kit.store.events.begin, list[Any]()

    def full(events: Any) -> list[int]:
        if len(begun) == 3:
            raise StateError("the disk is full")
        begun.append(events)
        return list(begin(events))

    monkeypatch.setattr(kit.store.events, "begin", full)
    results = deployed(kit, hosts)
    assert [one.host for one in results.values()] == hosts
    assert [results[host].end for host in hosts[:3]] == [End.DEPLOYED] * 3
    assert [results[host].end for host in hosts[3:]] == [End.NOT_STARTED] * 2
    assert all("the disk is full" in results[host].reason for host in hosts[3:])
    assert {kit.ends()[host] for host in hosts[3:]} == {("Ready", False)}
    assert sum(one.op == "deploy" for one in kit.maas.double.requests) == 3


def test_a_failed_host_whose_quarantine_cannot_be_recorded_is_told_with_its_reason(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(kit, ["gpu001"])
    kit.maas.double.faults.add("fail", "gpu001", "deploy", text="curtin: no space left")
    begin, begun = kit.store.events.begin, list[Any]()

    def full(events: Any) -> list[int]:
        if begun:
            raise StateError("the disk is full")
        begun.append(events)
        return list(begin(events))

    monkeypatch.setattr(kit.store.events, "begin", full)
    result = deployed(kit, ["gpu001"])["gpu001"]
    assert result.end is End.FAILED
    assert "curtin: no space left" in result.reason
    assert "the disk is full" in result.reason


def test_a_bug_while_machines_are_looked_at_loses_no_result(kit: Kit) -> None:
    hosts = hosts_of(2)
    ready(kit, hosts)
    kit.more = {"deploying": 1}

    async def work(client: Client) -> list[NodeResult]:
        changes = client.maas.changes

        async def broken(cursor: str) -> Changes:
            if len(kit.keys.settled) == 2:  # the second was accepted, so the first has ended
                raise KeyError("a bug")
            return await changes(cursor)

        client.maas.changes = broken  # type: ignore[method-assign]
        return await client.deploy(hosts)

    first, second = kit.run(work)
    assert first.end is End.DEPLOYED
    assert second.outcome is Told.UNKNOWN
    assert second.reason.startswith("fabricctl failed: KeyError (a bug")


def test_a_key_that_is_refused_ends_a_run_at_once_and_nothing_more_is_begun(kit: Kit) -> None:
    hosts = hosts_of(4)
    ready(kit, hosts)
    kit.more = {"wave": 1, "deploying": 2}

    async def work(client: Client) -> tuple[list[NodeResult], float]:
        changes, began = client.maas.changes, client.options.clock()
        refused: list[float] = []

        async def revoked(cursor: str) -> Changes:
            if client.options.clock() - began > 120:
                refused.append(client.options.clock())
                raise ProvisionerLoginError("the API key is refused", hint="the key is read from env:KEY")
            return await changes(cursor)

        client.maas.changes = revoked  # type: ignore[method-assign]
        results = await client.deploy(hosts)
        return results, client.options.clock() - refused[0]

    results, took = kit.run(work)
    assert took <= 10
    assert {(one.outcome, one.reason) for one in results} == {
        (Told.UNKNOWN, "the API key is refused (the key is read from env:KEY)")
    }
    assert sum(one.op == "deploy" for one in kit.maas.double.requests) == 2


def test_a_release_that_ends_while_it_is_given_up_is_done(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up(["gpu001"]))
    kit.deadlines = Deadlines(release_s=30, settle_s=240)
    (result,) = kit.run(lambda client: release(client.maas, ["gpu001"], client.options))
    assert (result.outcome, result.end) == (Told.OK, End.RELEASED)
    assert kit.ends() == {"gpu001": ("Ready", False)}


def test_a_redeploy_whose_release_ends_while_it_is_given_up_goes_on(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up(["gpu001"]))
    kit.deadlines = Deadlines(release_s=30, settle_s=240)
    assert deployed(kit, ["gpu001"], redeploy=True, again=True)["gpu001"].end is End.DEPLOYED


def test_a_release_that_was_cut_off_is_kept_out_of_the_pool(kit: Kit) -> None:
    kit.run(lambda client: client.bring_up(["gpu001"]))
    kit.deadlines = Deadlines(release_s=600, settle_s=60)
    kit.maas.double.faults.add("stuck-forever", "gpu001", "release")
    (result,) = kit.run(lambda client: release(client.maas, ["gpu001"], client.options))
    assert result.outcome is Told.FINDING
    assert kit.ends()["gpu001"][1]
