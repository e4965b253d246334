"""The way of one node: read, decide, do one thing, wait, decide again; whatever fails ends in quarantine."""

from __future__ import annotations

import asyncio

from fabricctl.errors import ProvisionerError
from fabricctl.nodes.model import EventKind, NodeState
from provision.install.deadlines import remaining
from provision.install.lifecycle import Act, Step, Verb, decide, phase_of, under_way
from provision.install.machine import Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_book import KINDS
from provision.workflows.install_fail import give_up, quarantine
from provision.workflows.install_node import Node
from provision.workflows.install_past import found_later, proved
from provision.workflows.install_send import GOES_ON, NOT_WAITED, send
from provision.workflows.install_steps import Steps, put_tag, quarantine_steps
from provision.workflows.install_told import reason_of, told_by
from provision.workflows.install_work import Entry

_STEPS = 16
"""Decisions about one node: more would mean that somebody else moves it about."""
_REACHED = {Verb.COMMISSION: End.READY, Verb.DEPLOY: End.DEPLOYED, Verb.RELEASE: End.RELEASED}


async def bring(node: Node) -> NodeResult:
    """All of it. What counts is what the provisioner says and what is recorded, so a run that was killed goes on.

    :raises FabricctlError: something else than the provisioner did not do what was asked.
    """
    _settle(node)
    try:
        for _ in range(_STEPS):
            step = decide(
                node.work.wish,
                node.machine,
                node.begun,
                ours=node.left,
                installed_s=node.installed_s,
                user=node.desk.user,
                quarantined=node.desk.states.get(node.host) is NodeState.QUARANTINED,
            )
            result = await _do(node, step)
            if result is not None:
                return result
        return node.result(Told.UNKNOWN, End.UNKNOWN, "somebody else changes it all the time")
    except ProvisionerError as error:
        return node.result(Told.UNKNOWN, End.UNKNOWN, reason_of(error))
    finally:
        node.desk.watch.leave(node.machine.id)


def _settle(node: Node) -> None:
    """An earlier run began something, and did not see its end: where it has ended, its event says so."""
    last = node.past.last
    phase = under_way(node.machine)
    if last is None or not node.past.open or (phase is not None and KINDS[phase] is last.kind):
        return
    entry = node.entry(last.kind)
    if entry is not None:
        found = found_later(node.machine.status)
        entry.tell([f"{last.after}; {found}" if last.kind is EventKind.NODE_QUARANTINE else found])


async def _do(node: Node, step: Step) -> NodeResult | None:
    if step.act is Act.START and step.phase is not None:
        return await _start(node, step.phase)
    if step.act is Act.WAIT and step.phase is not None:
        return await _wait(node, step.phase)
    if step.act is Act.RESTORE:
        return await _restore(node)
    if step.act is Act.QUARANTINE:
        return await quarantine(node, step.words)
    if step.act is Act.DONE:
        return await _done(node)
    return _stop(node, step)


def _stop(node: Node, step: Step) -> NodeResult:
    """Nothing more can be done: refused, or it did not begin."""
    if node.machine.untold:
        return node.result(Told.UNKNOWN, End.UNKNOWN, step.words)
    if step.act is Act.FAIL:
        return node.result(Told.FINDING, End.NOT_STARTED, step.words)
    if node.machine.stage is Stage.BROKEN or node.tagged:
        node.state(NodeState.QUARANTINED, node.machine.said or step.words)
        return node.result(Told.FINDING, End.QUARANTINED, step.words)
    return node.result(Told.FINDING, End.REFUSED, step.words)


async def _done(node: Node) -> NodeResult:
    """It is in the state that was wanted: is it as wanted?"""
    checked = await node.work.check(node)
    if checked.broken:
        return await quarantine(node, checked.broken)
    if checked.notes:
        node.keep(checked.notes)
    verb = node.work.wish.verb
    entry = node.entry(KINDS[phase_of(verb)]) if checked.proved else None
    if entry is not None:
        entry.tell([proved(node.machine.status, checked.proved)])
    if node.tagged:
        steps = quarantine_steps(node)
        wrong = await _taken_back(node, steps)
        if wrong:
            return node.result(Told.UNKNOWN, End.QUARANTINED, wrong)
        steps.end("taken out of quarantine")
        node.state(NodeState.PROVISIONING, "taken out of quarantine")
    if checked.untold or checked.findings:
        outcome = Told.UNKNOWN if checked.untold else Told.FINDING
        reason = "; ".join([*checked.findings, *checked.untold])
        return node.result(outcome, _REACHED[verb], reason)
    return node.result(Told.OK, _REACHED[verb] if node.begun or node.written else End.UNCHANGED)


async def _taken_back(node: Node, steps: Steps) -> str:
    """Its tag off, last of all. :returns: why it could not be, empty when it was."""
    if not node.restored:
        try:
            await node.call(lambda: node.provisioner.restore(node.machine))
        except ProvisionerError as error:
            return f"it cannot be taken out of quarantine: {reason_of(error)}"
    return await put_tag(node, steps, on=False)


async def _restore(node: Node) -> NodeResult | None:
    """Have it marked as fixed, because that was asked for. It keeps the tag until it is as wanted."""
    if node.restored:
        return node.result(Told.FINDING, End.QUARANTINED, "its quarantine did not end when it was told to")
    node.restored = True
    node.say("ending its quarantine")
    steps = quarantine_steps(node)
    if not node.tagged:
        wrong = await put_tag(node, steps, on=True)
        if wrong:
            return node.result(Told.UNKNOWN, End.NOT_STARTED, wrong)

    async def carried_out() -> bool:
        machine = await node.look()
        return machine is None or machine.stage is not Stage.BROKEN

    async def command() -> None:
        await node.call(lambda: node.provisioner.restore(node.machine))

    if node.machine.stage is not Stage.BROKEN:
        steps.end("tagged until it is as wanted")
        return None
    sent = await send(command, carried_out, steps.step("marked as fixed"))
    if sent.error is not None:
        node.machine = await node.look() or node.machine
        return node.result(told_by(sent.error), End.NOT_STARTED, reason_of(sent.error))
    steps.end("marked as fixed, still tagged")
    return None if await node.look() is not None else node.gone()


async def _start(node: Node, phase: Phase) -> NodeResult | None:
    refused = node.work.refused(node, phase)
    if refused:
        return node.result(Told.FINDING, End.REFUSED, refused)
    stage = node.machine.stage
    node.say("waiting for its turn")
    if not await node.desk.watch.place(node.machine.id):
        words = f"{node.desk.options.deploying} are under way, which is the limit: run the command again"
        return node.result(Told.FINDING, End.NOT_STARTED, words)
    if node.desk.unwritable:
        return node.result(Told.FINDING, End.NOT_STARTED, f"not begun: {node.desk.unwritable}")
    if await node.look() is None:
        return node.gone()
    if node.machine.stage is not stage:
        node.desk.watch.leave(node.machine.id)
        return None  # it moved meanwhile: decide again
    refused = await node.work.prepare(node, phase)
    if refused:
        return node.result(Told.FINDING, End.REFUSED, refused)
    barred = await node.barred()
    if not barred and not node.tagged:
        barred = node.provisioning(f"{phase.value} begun")
    if barred:
        return node.result(Told.FINDING, End.REFUSED, barred)
    entry = node.begin(KINDS[phase])
    node.outdate()

    async def began() -> bool:
        settle = node.desk.options.deadlines.settle_s
        seen = await node.until(lambda machine: machine.stage is not stage, settle, look=True)
        return seen.machine is not None and not seen.overdue

    node.say(f"{phase.value}: being started")
    sent = await send(lambda: node.work.send(node, phase), began, entry)
    if sent.error is None:
        return await _begun(node, phase, entry)
    if await node.look() is None:
        return node.gone()
    if node.machine.stage is stage:
        if not sent.lost:
            node.still()
        return node.result(told_by(sent.error), End.NOT_STARTED, node.why(sent.error))
    node.lost = sent.lost and phase is Phase.DEPLOY
    return None  # it moved meanwhile: decide again


async def _begun(node: Node, phase: Phase, entry: Entry) -> NodeResult | None:
    """It was accepted. What comes out of quarantine is waited for in any case: its tag goes when it was looked at."""
    node.begun |= {phase}
    if not node.desk.options.wait and phase is phase_of(node.work.wish.verb) and not node.tagged:
        node.desk.watch.keep(node.machine.id)
        entry.tell([NOT_WAITED])
        return node.result(Told.OK, End.BEGUN, f"{phase.value} goes on in {node.provisioner.name}")
    return await _wait(node, phase, entry)


async def _wait(node: Node, phase: Phase, entry: Entry | None = None) -> NodeResult | None:
    """Wait for the end of a phase, this run's or one that was under way before."""
    deadline = node.desk.options.deadlines.of(phase)
    within = deadline if entry is not None else remaining(deadline, node.since(phase))
    node.desk.watch.take(node.machine.id)
    node.begun |= {phase}
    if entry is None and node.since(phase) is not None:
        entry = node.entry(KINDS[phase])
    try:
        seen = await node.until(lambda machine: under_way(machine) is not phase, within)
    except asyncio.CancelledError:
        if entry is not None:
            entry.tell([GOES_ON])
        raise
    finally:
        node.desk.watch.leave(node.machine.id)
    if seen.machine is None:
        return node.gone()
    if entry is not None:
        entry.tell([node.machine.status if not seen.overdue else f"overdue: {node.machine.status}"])
    node.say(node.machine.status)
    return await give_up(node, phase, deadline) if seen.overdue else None
