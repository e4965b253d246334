"""Ready is believed only where somebody compared since, and an event tells its end whoever saw it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricctl.nodes.model import EventKind
from provision.install.disk_rule import DiskRule
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_commission import unfinished
from provision.workflows.install_past import NO_PAST, Past
from provision.workflows.install_release import release
from tests.provision.install.flow_kit import Client, KilledError, Kit, flow_kit, judge_of

HOST = "gpu001"


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def not_waited(kit: Kit, verb: str, passes_s: float = 2400) -> None:
    """Begun, and over before anybody looks."""
    kit.more = {"wait": False}
    kit.run(lambda client: done(client, verb))
    kit.more = {}
    kit.maas.advance(passes_s)


async def done(client: Client, verb: str) -> NodeResult:
    if verb == "release":
        return (await release(client.maas, [HOST], client.options))[0]
    told: list[NodeResult] = await getattr(client, verb)([HOST])
    return told[0]


def run(kit: Kit, verb: str) -> NodeResult:
    return kit.run(lambda client: done(client, verb))


def enrolled(kit: Kit, *faults: str) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    for fault in faults:
        kit.maas.double.faults.add(fault, HOST, "commission")


def past(kit: Kit) -> Past:
    return kit.run(lambda client: _past(client)).get(HOST, NO_PAST)


async def _past(client: Client) -> dict[str, Past]:
    return dict(client.options.book.past([HOST]))


def after(kit: Kit, kind: EventKind) -> str:
    return past(kit).newest[kind].after


def devices(kit: Kit) -> int:
    return sum(path.endswith("/devices/") for path in (one.path for one in kit.maas.double.requests))


def test_a_gpu_that_is_missing_is_seen_by_deploy_when_nobody_waited_for_commissioning(kit: Kit) -> None:
    enrolled(kit, "missing-gpu")
    not_waited(kit, "commission")
    result = run(kit, "deploy")
    assert (result.outcome, result.end) == (Told.FINDING, End.REFUSED)
    assert "expected 8 GPUs, found 7" in result.reason
    assert kit.ends() == {HOST: ("Ready", False)}


def test_a_gpu_that_is_missing_is_seen_wherever_commissioning_was_killed(kit: Kit) -> None:
    enrolled(kit, "missing-gpu")
    ends = set()
    for kill_at in range(3, 9):
        try:
            kit.run(lambda client: client.commission([HOST]), kill_at=kill_at)
        except KilledError:
            kit.maas.advance(2400)
        ends.add(run(kit, "deploy").end)
    assert ends <= {End.REFUSED, End.NOT_STARTED, End.QUARANTINED}
    assert not [one for one in kit.maas.double.requests if one.op == "deploy"]


def test_gpus_are_counted_once_for_an_installation(kit: Kit) -> None:
    enrolled(kit)
    run(kit, "commission")
    before = devices(kit)
    assert run(kit, "deploy").end is End.DEPLOYED
    assert devices(kit) == before + 1


def test_gpus_that_cannot_be_counted_are_no_reason_to_install(kit: Kit) -> None:
    enrolled(kit)
    run(kit, "commission")
    kit.maas.double.faults.add("error", HOST, "devices*", count=None)
    result = run(kit, "deploy")
    assert result.outcome is Told.UNKNOWN
    assert "its GPUs cannot be counted: " in result.reason
    assert kit.ends() == {HOST: ("Ready", False)}


def test_disks_that_were_recorded_before_are_no_proof_for_a_new_commissioning(kit: Kit) -> None:
    enrolled(kit)
    run(kit, "commission")
    assert left(kit) == ""
    kit.maas.double.faults.add("missing-gpu", HOST, "commission")
    kit.more = {"wait": False}
    kit.run(lambda client: client.commission([HOST], again=True))
    kit.more = {}
    kit.maas.advance(2400)
    assert left(kit) == "ready: compare its hardware"
    result = run(kit, "commission")
    assert (result.end, "expected 8 GPUs, found 7" in result.reason) == (End.QUARANTINED, True)


def left(kit: Kit) -> str:
    """What the plan of commission says of it."""

    async def look(client: Client) -> str:
        (machine,) = await client.maas.find(hostnames=[HOST])
        noted = client.options.book.noted([HOST]).get(HOST, {})
        return unfinished(machine, judge_of(HOST), noted, client.options.book.past([HOST])[HOST])

    return kit.run(look)


def test_the_run_that_sees_the_end_tells_it_to_the_event_of_the_run_that_did_not_wait(kit: Kit) -> None:
    enrolled(kit)
    not_waited(kit, "commission")
    assert after(kit, EventKind.NODE_COMMISSION) == "accepted, not waited for"
    run(kit, "commission")
    assert after(kit, EventKind.NODE_COMMISSION) == "Ready; hardware compared"
    not_waited(kit, "deploy")
    run(kit, "deploy")
    assert after(kit, EventKind.NODE_DEPLOY) == "Deployed; boot disk verified"
    not_waited(kit, "release")
    run(kit, "deploy")
    assert after(kit, EventKind.NODE_RELEASE) == "Ready, found by a later run"


def test_the_run_that_waits_on_tells_the_end_to_the_event_of_the_run_that_was_killed(kit: Kit) -> None:
    enrolled(kit)
    not_waited(kit, "commission", passes_s=60)
    assert kit.ends() == {HOST: ("Commissioning", False)}
    run(kit, "commission")
    assert after(kit, EventKind.NODE_COMMISSION) == "Ready; hardware compared"


def test_a_failure_nobody_waited_for_is_told_to_its_event(kit: Kit) -> None:
    enrolled(kit)
    run(kit, "commission")
    kit.maas.double.faults.add("fail", HOST, "deploy", text="curtin: no space left")
    not_waited(kit, "deploy")
    assert run(kit, "deploy").end is End.QUARANTINED
    assert after(kit, EventKind.NODE_DEPLOY) == "Failed deployment, found by a later run"
    assert "curtin: no space left" in after(kit, EventKind.NODE_QUARANTINE)


def failed(kit: Kit) -> None:
    """A failed deployment nobody waited for, of a host that was installed before."""
    enrolled(kit)
    run(kit, "commission")
    kit.maas.double.faults.add("fail", HOST, "deploy", text="curtin: no space left")
    not_waited(kit, "deploy")
    assert kit.ends() == {HOST: ("Failed deployment", False)}


def test_out_of_a_failed_deployment_pools_are_kept_before_the_release(kit: Kit) -> None:
    failed(kit)
    kept: list[str] = []

    async def export(host: str) -> str:
        kept.append(kit.maas.double.machine(host).status.value)
        return "pool data kept"

    async def again(client: Client) -> list[NodeResult]:
        return await client.deploy([HOST], from_quarantine=True, export=export)

    (result,) = kit.run(again)
    assert (result.end, kept) == (End.DEPLOYED, ["Failed deployment"])
    assert "pool data kept" in result.notes


def test_out_of_a_failed_deployment_a_host_that_will_be_refused_is_not_released(kit: Kit) -> None:
    failed(kit)

    async def again(client: Client) -> list[NodeResult]:
        return await client.deploy([HOST], rule=DiskRule(model="*PERC*"), from_quarantine=True)

    (result,) = kit.run(again)
    assert result.end is End.REFUSED
    assert kit.ends() == {HOST: ("Failed deployment", True)}, "kept out of the pool, and not released"
    assert not [one for one in kit.maas.double.requests if one.op == "release"]
