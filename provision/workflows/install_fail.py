"""What becomes of a node whose phase failed or took too long: out of the pool, with the reason, whatever happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricctl.errors import ProvisionerError, ProvisionerStateError, StateError
from fabricctl.nodes.model import NodeState
from provision.install.deadlines import overdue_words
from provision.install.lifecycle import under_way
from provision.install.machine import Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_send import send
from provision.workflows.install_steps import Steps, put_tag, quarantine_steps

if TYPE_CHECKING:
    from provision.workflows.install_node import Node

REASON_LENGTH = 240
"""Characters of a reason that are written into the provisioner; the whole of it is in the result."""


async def give_up(node: Node, phase: Phase, deadline_s: float) -> NodeResult | None:
    """End a phase that took too long. The tag comes first: whoever finds the machine half-way leaves it alone.

    A machine that does not show the tag is never released, and not taken out of a phase that would end in the pool.
    :returns: None when the phase came to its end at the last moment.
    :raises StateError: it cannot be recorded, so nothing is done.
    """
    reason = overdue_words(phase, deadline_s, node.machine.status)
    node.say(f"{reason}: giving it up")
    steps, tagged = quarantine_steps(node), node.tagged
    if not tagged:
        wrong = await put_tag(node, steps, on=True)
        if wrong:
            node.notes.append(wrong)
            node.state(NodeState.QUARANTINED, reason)
    if node.tagged or phase is not Phase.COMMISSION:
        refused = await _abort(node, phase, steps)
        if _came_through(node, phase, refused=refused):
            return await _back(node, steps, tagged=tagged)
    if (
        phase is Phase.DEPLOY
        and node.tagged
        and node.machine.stage in (Stage.ALLOCATED, Stage.FAILED, Stage.DEPLOYING)
    ):
        await _release(node, reason, steps)
    return await quarantine(node, reason, steps)


def _came_through(node: Node, phase: Phase, *, refused: bool) -> bool:
    """Whether it ended by itself. A release that was cut off may look like one that ended, unless that was refused."""
    if phase is Phase.DEPLOY:
        return node.machine.stage is Stage.DEPLOYED
    return node.machine.stage is Stage.READY and (refused or phase is Phase.COMMISSION)


async def _back(node: Node, steps: Steps, *, tagged: bool) -> NodeResult | None:
    """It ended by itself meanwhile. :param tagged: it had the tag before, and keeps it until it was looked at."""
    if node.tagged and not tagged:
        wrong = await put_tag(node, steps, on=False)
        if wrong:
            return node.result(Told.UNKNOWN, End.QUARANTINED, wrong)
    steps.end(f"{node.machine.status}, it came to its end meanwhile")
    return None if await node.look() is not None else node.gone()


async def quarantine(node: Node, reason: str, steps: Steps | None = None) -> NodeResult:
    """Tag, mark as broken, record. What the provisioner itself says about it is part of the reason.

    :param steps: of a quarantine that was begun before.
    """
    why = await _why(node)
    reason = "; ".join(dict.fromkeys(text for text in (reason, why) if text))
    node.say(f"quarantine: {reason}")
    try:
        return await _quarantine(node, reason, steps or quarantine_steps(node))
    except ProvisionerError as error:
        return node.result(Told.UNKNOWN, End.FAILED, f"{reason}; could not be taken out of the pool: {error}")
    except StateError as error:
        out = node.machine.stage is Stage.BROKEN or node.tagged
        end = End.QUARANTINED if out else End.FAILED
        return node.result(Told.FINDING, end, f"{reason}; it cannot be recorded: {error}")


async def _quarantine(node: Node, reason: str, steps: Steps) -> NodeResult:
    async def carried_out() -> bool:
        machine = await node.look()
        return machine is None or (machine.stage is Stage.BROKEN and node.tagged)

    async def command() -> None:
        await node.call(lambda: node.provisioner.quarantine(node.machine, reason[:REASON_LENGTH]))

    sent = await send(command, carried_out, steps.step("marked as broken"))
    await node.look()
    node.state(NodeState.QUARANTINED, reason)
    said = sent.error.message if sent.error is not None else ""
    if node.machine.stage is not Stage.BROKEN and not node.tagged:
        wrong = (
            f"it is NOT in quarantine, it has no tag and is not marked as broken{f': {said}' if said else ''}"
        )
        steps.end(f"{node.machine.status}, {wrong}: {reason}")
        return node.result(Told.UNKNOWN, End.FAILED, f"{reason}; {wrong}")
    half = _half(node, said)
    steps.end(f"{node.machine.status}{f', {half}' if half else ''}: {reason}")
    return node.result(Told.FINDING, End.QUARANTINED, f"{reason}; {half}" if half else reason)


def _half(node: Node, said: str) -> str:
    """What of a quarantine is not there; either of its two marks keeps a machine out of the pool."""
    if not node.tagged:
        return f"it has no tag: {said}" if said else "it has no tag"
    if node.machine.stage is Stage.BROKEN or not said:
        return ""
    return f"it has the tag, but it is not marked as broken: {said}"


async def _why(node: Node) -> str:
    """The provisioner's own words; that it cannot say is no reason to leave the machine in the pool."""
    node.calls += 1
    try:
        why = await node.provisioner.why(node.machine)
    except ProvisionerError:
        return ""
    return "" if why == node.machine.status else why


async def _abort(node: Node, phase: Phase, steps: Steps) -> bool:
    """End the phase; a provisioner that lost its own job refuses that, and then it goes on without.

    :returns: whether it was refused because nothing is under way that could be ended.
    """
    refused = False
    step = steps.step("abort")
    try:
        await node.call(lambda: node.provisioner.abort(node.machine.id))
        step.tell(["accepted"])
    except ProvisionerError as error:
        refused = isinstance(error, ProvisionerStateError)
        node.notes.append(f"abort: {error.message}")
        step.tell([error.message])
    settle = node.desk.options.deadlines.settle_s
    await node.until(lambda machine: under_way(machine) is not phase, settle, look=True)
    return refused


async def _release(node: Node, reason: str, steps: Steps) -> None:
    """Give the machine back, so that nobody owns it; where that cannot be, marking it as broken does it too."""
    stage = node.machine.stage

    async def began() -> bool:
        settle = node.desk.options.deadlines.settle_s
        seen = await node.until(lambda machine: machine.stage is not stage, settle, look=True)
        return not seen.overdue

    async def command() -> None:
        await node.call(lambda: node.provisioner.release(node.machine.id, reason[:REASON_LENGTH]))

    sent = await send(command, began, steps.step("release"))
    if sent.error is not None:
        node.notes.append(f"release: {sent.error.message}")
        return
    within = node.desk.options.deadlines.release_s
    await node.until(lambda machine: machine.stage is not Stage.RELEASING, within, look=True)
