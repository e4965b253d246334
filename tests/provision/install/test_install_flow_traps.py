"""The traps of MAAS 3.7.3 that concern commissioning and installing, each on the double."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.nodes.model import Event, EventKind, NodeState
from provision.install.deadlines import Deadlines
from provision.install.disk_record import fingerprint
from provision.install.machine import QUARANTINE_TAG, Machine, Stage
from provision.install.outcome import End, Told
from provision.workflows.install_commission import no_judge, unfinished
from provision.workflows.install_deploy import unrecorded
from provision.workflows.install_past import Past
from tests.provision.install.flow_kit import Kit, flow_kit, hosts_of, judge_of
from tests.provision.install.flow_one import HOST, asked, commissioned, deployed, fault, ready

QUARANTINED = ("Broken", True)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


# -- commissioning ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("no-disks", "no disk at all"),
        ("missing-disk", "is missing"),
        ("missing-nic", "NIC.Embedded.1-1-1"),
        ("missing-memory", "of memory, found"),
        ("missing-gpu", "expected 8 GPUs, found 7"),
    ],
)
def test_ready_with_missing_hardware_is_a_failure_and_goes_into_quarantine(
    kit: Kit, kind: str, words: str
) -> None:
    fault(kit, kind, "commission")
    ready(kit)
    assert kit.ends() == {HOST: QUARANTINED}
    assert words in kit.maas.double.machine(HOST).error_description
    assert kit.states([HOST]) == {HOST: NodeState.QUARANTINED}


def test_what_a_killed_run_left_unlooked_at_is_told_for_the_plan(kit: Kit) -> None:
    fault(kit, "missing-disk", "commission")
    kit.run(lambda client: client.enrol([HOST]))
    kit.more = {"wait": False}
    commissioned(kit)
    kit.maas.advance(1200)
    machine = kit.run(lambda client: client.maas.find(hostnames=[HOST]))[0]
    assert machine.status == "Ready"
    assert "is missing" in unfinished(machine, judge_of(HOST), {})
    assert unfinished(machine, no_judge, {}) == "ready: compare its hardware, record its disks"
    recorded = {"install.disks": fingerprint(machine.disks).as_value()}
    assert unfinished(machine, no_judge, recorded) == ""


def test_an_installation_nobody_saw_the_end_of_is_told_for_the_plan() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    machine = Machine("a1", HOST, Stage.DEPLOYED, "Deployed")

    def left(after: str, kind: EventKind = EventKind.NODE_DEPLOY) -> str:
        event = Event(kind, HOST, now, "alice", "", "Ready", after, number=1)
        return unrecorded(machine, Past({kind: event}), now)

    look = "installed: look at its boot disk, record it"
    assert left("accepted, not waited for") == look
    assert left("Deployed, found by a later run") == look
    assert left("Deployed; boot disk verified") == ""
    assert left("refused: no power") == ""
    assert left("Ready", EventKind.NODE_COMMISSION) == ""
    assert unrecorded(machine, Past(), now) == ""


def test_a_failed_commissioning_is_quarantined_with_what_maas_says(kit: Kit) -> None:
    fault(kit, "fail", "commission", text="mce: hardware error")
    kit.run(lambda client: client.enrol([HOST]))
    result = commissioned(kit)
    assert (result.outcome, result.end) == (Told.FINDING, End.QUARANTINED)
    assert "50-maas-01-commissioning failed" in result.reason
    assert kit.ends() == {HOST: QUARANTINED}


def test_commissioning_that_never_ends_is_given_up_by_our_own_clock(kit: Kit) -> None:
    kit.deadlines = Deadlines(commission_s=1200, settle_s=60)
    fault(kit, "stuck-forever", "commission")
    kit.run(lambda client: client.enrol([HOST]))
    result = commissioned(kit)
    assert result.end is End.QUARANTINED
    assert "commission took longer than 20 min and is still Commissioning" in result.reason
    assert QUARANTINE_TAG in kit.maas.double.machine(HOST).tags
    assert 1200 <= result.seconds < 1500
    assert commissioned(kit).end is End.QUARANTINED
    assert commissioned(kit, from_quarantine=True).end is End.READY


def test_the_reason_of_an_aborted_commissioning_stands_in_the_description_beside_the_operators_text(
    kit: Kit,
) -> None:
    kit.deadlines = Deadlines(commission_s=1200, settle_s=60)
    fault(kit, "stuck-forever", "commission")
    kit.run(lambda client: client.enrol([HOST]))
    record = kit.maas.double.machine(HOST)
    record.description = "fan replaced\nask alice"
    record.changed()
    commissioned(kit)
    assert kit.ends() == {HOST: ("New", True)}
    own, ours = record.description.rsplit("\n", 1)
    assert own == "fan replaced\nask alice"
    assert ours.startswith("quarantined by fabricctl: commission took longer than 20 min")
    again = commissioned(kit)
    assert "commission took longer than 20 min" in again.reason
    assert commissioned(kit, from_quarantine=True).end is End.READY
    assert record.description == "fan replaced\nask alice"


def test_a_description_that_maas_does_not_let_be_written_is_no_reason_against_a_quarantine(kit: Kit) -> None:
    kit.deadlines = Deadlines(commission_s=1200, settle_s=60)
    fault(kit, "stuck-forever", "commission")
    fault(kit, "error", "update", count=None)
    kit.run(lambda client: client.enrol([HOST]))
    assert commissioned(kit).end is End.QUARANTINED
    assert kit.ends() == {HOST: ("New", True)}


def test_maas_gives_up_before_our_clock_where_that_is_longer(kit: Kit) -> None:
    kit.deadlines = Deadlines(commission_s=7200, settle_s=60)
    fault(kit, "stuck", "commission")
    kit.run(lambda client: client.enrol([HOST]))
    result = commissioned(kit)
    assert "timed out after 30 minutes" in result.reason
    assert kit.ends() == {HOST: QUARANTINED}


def test_no_bmc_user_is_made_by_commissioning(kit: Kit) -> None:
    ready(kit)
    assert kit.maas.double.machine(HOST).bmc_written == 0


def test_a_commissioning_that_no_rack_can_start_is_not_started_and_says_why(kit: Kit) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    fault(kit, "no-rack", "commission", count=None)
    result = commissioned(kit)
    assert result.end is End.NOT_STARTED
    assert result.outcome is not Told.OK
    assert "BMC" in result.reason
    assert kit.ends() == {HOST: ("New", False)}


def test_a_lost_answer_to_commission_is_not_a_second_commissioning(kit: Kit) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    fault(kit, "503-after-commit", "commission")
    assert commissioned(kit).end is End.READY
    assert asked(kit, "commission") == 1


# -- installing ------------------------------------------------------------------------------------------------


def test_a_failed_installation_does_not_go_back_into_the_pool(kit: Kit) -> None:
    ready(kit)
    fault(kit, "fail", "deploy", text="curtin: no space left")
    result = deployed(kit)
    assert (result.outcome, result.end) == (Told.FINDING, End.QUARANTINED)
    assert "curtin: no space left" in result.reason
    assert kit.ends() == {HOST: QUARANTINED}
    record = kit.maas.double.machine(HOST)
    texts = [one.description for one in kit.maas.double.events.of(record.system_id)]
    assert not any("to 'Ready'" in text for text in texts[texts.index("From 'Allocated' to 'Deploying'") :])


def test_stuck_deploying_is_aborted_released_and_marked_broken(kit: Kit) -> None:
    kit.deadlines = Deadlines(deploy_s=1500, settle_s=60)
    ready(kit)
    fault(kit, "stuck-forever", "deploy")
    result = deployed(kit)
    assert result.end is End.QUARANTINED
    assert "deploy took longer than 25 min and is still Deploying" in result.reason
    assert kit.ends() == {HOST: QUARANTINED}
    order = [one.op for one in kit.maas.double.requests if one.op in ("abort", "release", "mark_broken")]
    assert order == ["abort", "release", "mark_broken"]


def test_the_tag_is_on_before_a_stuck_machine_is_aborted(kit: Kit) -> None:
    kit.deadlines = Deadlines(deploy_s=1500, settle_s=60)
    ready(kit)
    fault(kit, "stuck-forever", "deploy")
    deployed(kit)
    order = [one.op for one in kit.maas.double.requests if one.op in ("abort", "tags.update_nodes")]
    assert order.index("tags.update_nodes") < order.index("abort")


def test_a_machine_that_maas_cannot_abort_ends_in_quarantine_all_the_same(kit: Kit) -> None:
    kit.deadlines = Deadlines(deploy_s=1500, settle_s=60)
    ready(kit)
    fault(kit, "stuck-forever", "deploy")
    fault(kit, "error", "abort", count=None)
    result = deployed(kit)
    assert result.end is End.QUARANTINED
    assert any("abort" in note for note in result.notes)


@pytest.mark.parametrize("kind", ["503-after-commit", "drop-after"])
def test_a_lost_answer_to_deploy_is_not_a_second_installation(kit: Kit, kind: str) -> None:
    ready(kit)
    fault(kit, kind, "deploy")
    assert deployed(kit).end is End.DEPLOYED
    assert asked(kit, "deploy") == 1
    assert kit.keys.made == [HOST]
    assert kit.keys.settled == kit.keys.withdrawn == [], "nobody told us that it is our installation"


def test_a_504_whose_work_goes_on_is_waited_for(kit: Kit) -> None:
    ready(kit)
    fault(kit, "504-continues", "deploy", later=35)
    assert deployed(kit).end is End.DEPLOYED
    assert asked(kit, "deploy") == 1


def test_collisions_in_the_database_are_nobodys_failure(kit: Kit) -> None:
    ready(kit)
    fault(kit, "conflict", "deploy", count=2)
    assert deployed(kit).end is End.DEPLOYED


def test_an_installation_no_rack_can_start_is_not_started_and_says_why(kit: Kit) -> None:
    ready(kit)
    fault(kit, "no-rack", "deploy", count=None)
    result = deployed(kit)
    assert result.outcome is not Told.OK
    assert result.end in (End.NOT_STARTED, End.QUARANTINED)
    assert "BMC" in result.reason
    assert kit.maas.double.machine(HOST).status.value in ("Ready", "Broken")


def test_a_quarantined_host_comes_back_only_when_asked(kit: Kit) -> None:
    fault(kit, "fail", "commission")
    ready(kit)
    assert commissioned(kit).end is End.QUARANTINED
    assert deployed(kit).outcome is Told.FINDING
    assert kit.ends() == {HOST: QUARANTINED}
    result = commissioned(kit, from_quarantine=True)
    assert (result.outcome, result.end) == (Told.OK, End.READY)
    assert kit.ends() == {HOST: ("Ready", False)}
    assert kit.states([HOST]) == {HOST: NodeState.PROVISIONING}
    assert asked(kit, "commission") == 2


def test_an_installed_host_is_installed_again_only_when_asked(kit: Kit) -> None:
    ready(kit)
    deployed(kit)
    assert deployed(kit).end is End.UNCHANGED
    assert asked(kit, "deploy") == 1
    exported: list[str] = []

    async def export(host: str) -> str:
        exported.append(kit.maas.double.machine(host).status.value)
        return f"pools of {host} kept"

    result = deployed(kit, redeploy=True, again=True, export=export)
    assert result.end is End.DEPLOYED
    assert exported == ["Deployed"]
    assert result.notes == (f"pools of {HOST} kept",)
    assert asked(kit, "release") == 1
    assert asked(kit, "deploy") == 2


def test_every_change_is_an_event_that_tells_how_it_ended(kit: Kit) -> None:
    hosts = hosts_of(2)
    fault(kit, "fail", "deploy", host="gpu002")
    kit.run(lambda client: client.bring_up(hosts))
    events = kit.store.events.all()
    about = {host: [(e.kind, e.after) for e in events if e.subject == host] for host in hosts}
    installs = {
        host: [after for kind, after in told if kind is EventKind.NODE_DEPLOY] for host, told in about.items()
    }
    assert installs == {"gpu001": ["Deployed; boot disk verified"], "gpu002": ["Failed deployment"]}
    assert any(kind is EventKind.NODE_QUARANTINE for kind, _ in about["gpu002"])
    assert not any("no answer yet" in event.after for event in events)


def test_nothing_secret_is_kept(kit: Kit, tmp_path: Path) -> None:
    ready(kit)
    deployed(kit)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("state.db*"))
    assert b"calvin" not in kept
    assert b"cloud-config" not in kept
    assert kit.maas.api_key.split(":")[2].encode() not in kept
