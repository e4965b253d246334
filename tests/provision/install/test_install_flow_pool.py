"""A node that is not known to be good does not get into the pool, and nobody's node is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricctl.nodes.model import EventKind, NodeState
from fabricctl.nodes.transitions import plan_transitions
from provision.install.deadlines import Deadlines
from provision.install.lifecycle import Act, Verb, Wish, decide
from provision.install.machine import Machine, Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_model import Progress
from provision.workflows.install_release import release
from tests.provision.install.flow_kit import Client, KilledError, Kit, by_host, flow_kit, hosts_of

HOST = "gpu001"
SHORT = Deadlines(commission_s=1200, deploy_s=1500, settle_s=60)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        kit.deadlines = SHORT
        yield kit


def fault(kit: Kit, kind: str, op: str, **more: Any) -> None:
    kit.maas.double.faults.add(kind, op=op, **{"count": None, **more})


def enrolled(kit: Kit) -> None:
    kit.run(lambda client: client.enrol([HOST]))


def ready(kit: Kit) -> None:
    enrolled(kit)
    kit.run(lambda client: client.commission([HOST]))


def deployed(kit: Kit, **more: Any) -> NodeResult:
    return by_host(kit.run(lambda client: client.deploy([HOST], **more)))[HOST]


def commissioned(kit: Kit, **more: Any) -> NodeResult:
    return by_host(kit.run(lambda client: client.commission([HOST], **more)))[HOST]


def released(kit: Kit, **more: Any) -> NodeResult:
    return kit.run(lambda client: release(client.maas, [HOST], client.options, **more))[0]


def asked(kit: Kit, op: str) -> int:
    return sum(one.op == op for one in kit.maas.double.requests)


def quarantines(kit: Kit) -> list[str]:
    """Last words of the events of quarantines."""
    events = kit.store.events.all(subjects=[HOST])
    return [event.after for event in events if event.kind is EventKind.NODE_QUARANTINE]


def recorded(kit: Kit, *states: NodeState, host: str = HOST) -> None:
    """Somebody sets its node record, one state after the other."""
    for state in states:
        record = kit.store.nodes.all([host])[host]
        moves = plan_transitions({host: (record.state, record.version)}, state)
        kit.store.nodes.change_states(moves, who="eve", reason="", now=kit.maas.double.time.wall())


# -- a phase that is given up ----------------------------------------------------------------------------------


def test_a_stuck_installation_whose_tag_is_refused_is_marked_as_broken_and_never_released(kit: Kit) -> None:
    ready(kit)
    fault(kit, "stuck-forever", "deploy")
    fault(kit, "error", "tags.update_nodes")
    result = deployed(kit)
    assert (result.outcome, result.end) == (Told.FINDING, End.QUARANTINED)
    assert "it has no tag" in result.reason
    assert kit.ends() == {HOST: ("Broken", False)}
    assert asked(kit, "release") == 0
    assert any("cannot be put on" in note for note in result.notes)
    assert deployed(kit).end is End.QUARANTINED


def test_a_stuck_commissioning_whose_tag_is_refused_does_not_go_back_where_it_came_from(kit: Kit) -> None:
    ready(kit)
    fault(kit, "stuck-forever", "commission")
    fault(kit, "error", "tags.update_nodes")
    assert commissioned(kit, again=True).end is End.QUARANTINED
    assert kit.ends() == {HOST: ("Broken", False)}
    assert asked(kit, "abort") == 0


def test_a_machine_that_is_neither_tagged_nor_broken_is_told_as_not_in_quarantine(kit: Kit) -> None:
    ready(kit)
    fault(kit, "stuck-forever", "deploy")
    for op in ("tags.update_nodes", "mark_broken"):
        fault(kit, "error", op)
    result = deployed(kit)
    assert (result.outcome, result.end) == (Told.UNKNOWN, End.FAILED)
    assert "it is NOT in quarantine" in result.reason
    assert kit.ends() == {HOST: ("Allocated", False)}
    assert asked(kit, "release") == 0
    assert kit.states([HOST]) == {HOST: NodeState.QUARANTINED}
    assert "it is NOT in quarantine" in quarantines(kit)[-1]


def test_a_machine_that_has_the_tag_and_cannot_be_marked_is_in_quarantine_and_says_so(kit: Kit) -> None:
    ready(kit)
    fault(kit, "fail", "deploy")
    fault(kit, "error", "mark_broken")
    result = deployed(kit)
    assert (result.outcome, result.end) == (Told.FINDING, End.QUARANTINED)
    assert "it has the tag, but it is not marked as broken" in result.reason


def test_a_quarantine_is_one_event_that_ends_with_the_reason(kit: Kit) -> None:
    ready(kit)
    fault(kit, "stuck-forever", "deploy")
    deployed(kit)
    (after,) = quarantines(kit)
    assert after.startswith("Broken: deploy took longer than 25 min")
    kinds = [event.kind for event in kit.store.events.all(subjects=[HOST])]
    assert EventKind.NODE_RELEASE not in kinds


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("tags.update_nodes", "tag on: being sent, no answer yet"),
        ("abort", "tag on: accepted; abort: being sent, no answer yet"),
        ("release", "tag on: accepted; abort: accepted; release: being sent, no answer yet"),
        ("mark_broken", "release: accepted; marked as broken: being sent, no answer yet"),
    ],
)
def test_a_quarantine_that_is_killed_says_how_far_it_came(kit: Kit, op: str, words: str) -> None:
    ready(kit)
    fault(kit, "stuck-forever", "deploy")

    async def work(client: Client) -> Any:
        answered = client.maas._transport.send  # the client dies as soon as this is answered

        async def send(ask: Any) -> Any:
            answer = await answered(ask)
            if ask.op == op.rpartition(".")[2]:
                raise KilledError
            return answer

        client.maas._transport.send = send  # type: ignore[method-assign]
        return await client.deploy([HOST])

    with pytest.raises(KilledError):
        kit.run(work)
    (after,) = quarantines(kit)
    assert after.endswith(words)
    assert deployed(kit).end is End.QUARANTINED
    assert kit.ends() == {HOST: ("Broken", True)}


# -- out of quarantine -----------------------------------------------------------------------------------------


def test_an_installation_out_of_quarantine_that_does_not_begin_stays_in_it(kit: Kit) -> None:
    ready(kit)
    fault(kit, "fail", "deploy", count=1)
    deployed(kit)
    fault(kit, "no-rack", "deploy")
    assert deployed(kit, from_quarantine=True).end is End.NOT_STARTED
    assert kit.ends() == {HOST: ("Ready", True)}
    assert kit.states([HOST]) == {HOST: NodeState.QUARANTINED}
    kit.maas.double.faults.clear()
    assert deployed(kit).end is End.QUARANTINED
    assert deployed(kit, from_quarantine=True).end is End.DEPLOYED
    assert kit.ends() == {HOST: ("Deployed", False)}


def test_one_that_is_refused_out_of_quarantine_stays_in_it(kit: Kit) -> None:
    ready(kit)
    fault(kit, "fail", "deploy", count=1)
    deployed(kit)
    assert deployed(kit, from_quarantine=True, rule=None).end is End.REFUSED
    _, tagged = kit.ends()[HOST]
    assert tagged
    assert kit.states([HOST]) == {HOST: NodeState.QUARANTINED}


def test_a_commissioning_out_of_quarantine_that_does_not_begin_stays_in_it(kit: Kit) -> None:
    enrolled(kit)
    fault(kit, "missing-gpu", "commission", count=1)
    commissioned(kit)
    fault(kit, "no-rack", "commission")
    assert commissioned(kit, from_quarantine=True).end is End.NOT_STARTED
    assert kit.ends() == {HOST: ("Ready", True)}


def test_a_failure_nobody_quarantined_gets_the_tag_before_it_is_tried_again(kit: Kit) -> None:
    ready(kit)
    fault(kit, "fail", "deploy", count=1)
    kit.more = {"wait": False}
    deployed(kit)
    kit.maas.advance(4000)
    kit.more = {}
    assert kit.ends() == {HOST: ("Failed deployment", False)}
    fault(kit, "no-rack", "deploy")
    assert deployed(kit, from_quarantine=True).end is End.NOT_STARTED
    assert kit.ends() == {HOST: ("Ready", True)}


@pytest.mark.parametrize("at", range(1, 16))
def test_a_run_out_of_quarantine_that_is_killed_leaves_no_machine_in_the_pool(kit: Kit, at: int) -> None:
    ready(kit)
    fault(kit, "fail", "deploy", count=1)
    deployed(kit)
    try:
        kit.run(lambda client: client.deploy([HOST], from_quarantine=True), kill_at=at)
    except KilledError:
        assert kit.ends() not in ({HOST: ("Ready", False)}, {HOST: ("Allocated", False)})
    else:
        assert kit.ends() == {HOST: ("Deployed", False)}


# -- releasing what failed -------------------------------------------------------------------------------------


def test_a_failed_installation_is_released_only_when_its_quarantine_is_overridden(kit: Kit) -> None:
    ready(kit)
    fault(kit, "fail", "deploy", count=1)
    kit.more = {"wait": False}
    deployed(kit)
    kit.maas.advance(4000)
    kit.more = {}
    assert released(kit).end is End.QUARANTINED
    assert asked(kit, "release") == 0
    assert kit.ends() == {HOST: ("Broken", True)}
    assert released(kit, from_quarantine=True).outcome is Told.OK


def test_somebody_elses_failure_is_not_quarantined_by_a_release() -> None:
    failed = Machine("abc", HOST, Stage.FAILED, "Failed deployment", failed=Phase.DEPLOY, owner="alice")
    step = decide(Wish(Verb.RELEASE), failed, user="ops")
    assert step.act is Act.REFUSE
    assert "for alice" in step.words
    wish = Wish(Verb.RELEASE, from_quarantine=True)
    assert decide(wish, failed, user="ops").act is Act.START


# -- node records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", list(Verb))
def test_a_node_record_in_quarantine_is_enough(kit: Kit, verb: Verb) -> None:
    ready(kit)
    if verb is Verb.RELEASE:
        deployed(kit)
    before = kit.ends()
    recorded(kit, NodeState.QUARANTINED)
    does = {Verb.COMMISSION: commissioned, Verb.DEPLOY: deployed, Verb.RELEASE: released}[verb]
    result = does(kit, again=True) if verb is Verb.COMMISSION else does(kit)
    assert (result.outcome, result.end) == (Told.FINDING, End.REFUSED)
    assert "its node record says quarantined" in result.reason
    assert kit.ends() == before
    assert kit.states([HOST]) == {HOST: NodeState.QUARANTINED}


def test_a_node_record_in_quarantine_comes_back_with_the_tag_on_until_it_is_judged(kit: Kit) -> None:
    ready(kit)
    recorded(kit, NodeState.QUARANTINED)
    fault(kit, "no-rack", "deploy")
    assert deployed(kit, from_quarantine=True).end is End.NOT_STARTED
    assert kit.ends() == {HOST: ("Ready", True)}
    kit.maas.double.faults.clear()
    assert deployed(kit, from_quarantine=True).end is End.DEPLOYED
    assert kit.ends() == {HOST: ("Deployed", False)}
    assert kit.states([HOST]) == {HOST: NodeState.PROVISIONING}


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ((NodeState.READY, NodeState.IN_SERVICE), "in service"),
        ((NodeState.READY, NodeState.IN_SERVICE, NodeState.DRAINING), "draining"),
        ((NodeState.QUARANTINED,), "quarantined"),
    ],
)
def test_a_node_whose_record_changes_while_it_waits_for_its_turn_is_left_alone(
    kit: Kit, states: tuple[NodeState, ...], words: str
) -> None:
    hosts = hosts_of(2)
    kit.more = {"deploying": 1, "wave": 1}
    kit.run(lambda client: client.bring_up(hosts))
    first: list[str] = []

    def heard(progress: Progress) -> None:
        if "started" in progress.words and not first:
            first.append(progress.host)
            recorded(kit, *states, host=next(host for host in hosts if host != progress.host))

    kit.more |= {"progress": heard}
    since = len(kit.maas.double.requests)
    results = by_host(kit.run(lambda client: client.deploy(hosts, redeploy=True, again=True)))
    (other,) = set(hosts) - set(first)
    assert results[first[0]].end is End.DEPLOYED
    assert (results[other].outcome, results[other].end) == (Told.FINDING, End.REFUSED)
    assert f"its node record says {words}" in results[other].reason
    writes = [one for one in kit.maas.double.requests[since:] if one.method != "GET"]
    assert not [one for one in writes if one.machine == other]
    assert kit.states([other]) == {other: states[-1]}
