"""What becomes of a node whose phase failed or took too long: out of the pool, with the reason, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fabricctl.errors import ProvisionerError, ProvisionerStateError, StateError
from fabricctl.nodes.model import EventKind, NodeState
from provision.install.deadlines import overdue_words
from provision.install.lifecycle import under_way
from provision.install.machine import QUARANTINE_TAG, Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.redfish.interrupt import finish
from provision.workflows.install_send import AGAIN, send
from provision.workflows.install_told import reason_of

if TYPE_CHECKING:
    from provision.workflows.install_node import Node

_TRIES = 2
REASON_LENGTH = 240
"""Characters of a reason that are written into the provisioner; the whole of it is in the result."""


async def give_up(node: Node, phase: Phase, deadline_s: float) -> NodeResult | None:
    """End a phase that took too long. The tag comes first: whoever finds the machine half-way leaves it alone.

    :returns: None when the phase came to its end at the last moment.
    """
    reason = overdue_words(phase, deadline_s, node.machine.status)
    node.say(f"{reason}: giving it up")
    tagged = node.tagged
    wrong = "" if tagged else await put_tag(node, on=True)
    node.notes += [wrong] if wrong else []
    refused = await _abort(node, phase)
    if _came_through(node, phase, refused=refused):
        return None if tagged else await _back(node)
    if phase is Phase.DEPLOY and node.machine.stage in (Stage.ALLOCATED, Stage.FAILED, Stage.DEPLOYING):
        await _release(node, reason)
    return await quarantine(node, reason)


def _came_through(node: Node, phase: Phase, *, refused: bool) -> bool:
    """Whether it ended by itself. A release that was cut off may look like one that ended, unless that was refused."""
    if phase is Phase.DEPLOY:
        return node.machine.stage is Stage.DEPLOYED
    return node.machine.stage is Stage.READY and (refused or phase is Phase.COMMISSION)


async def _back(node: Node) -> NodeResult | None:
    """Take the tag off that was put on before it ended by itself."""
    wrong = await put_tag(node, on=False)
    if wrong:
        return node.result(Told.UNKNOWN, End.QUARANTINED, wrong)
    return None if await node.look() is not None else node.gone()


async def quarantine(node: Node, reason: str) -> NodeResult:
    """Tag, mark as broken, record. What the provisioner itself says about it is part of the reason."""
    why = await _why(node)
    reason = "; ".join(dict.fromkeys(text for text in (reason, why) if text))
    node.say(f"quarantine: {reason}")
    try:
        return await _quarantine(node, reason)
    except ProvisionerError as error:
        return node.result(Told.UNKNOWN, End.FAILED, f"{reason}; could not be taken out of the pool: {error}")
    except StateError as error:
        out = node.machine.stage is Stage.BROKEN and node.tagged
        end = End.QUARANTINED if out else End.FAILED
        return node.result(Told.FINDING, end, f"{reason}; it cannot be recorded: {error}")


async def _quarantine(node: Node, reason: str) -> NodeResult:
    entry = node.begin(EventKind.NODE_QUARANTINE)

    async def carried_out() -> bool:
        machine = await node.look()
        return machine is None or (machine.stage is Stage.BROKEN and QUARANTINE_TAG in machine.tags)

    async def command() -> None:
        await node.call(lambda: node.provisioner.quarantine(node.machine, reason[:REASON_LENGTH]))

    sent = await send(command, carried_out, entry)
    await node.look()
    node.state(NodeState.QUARANTINED, reason)
    if sent.error is not None:
        tagged = "it has the tag, but " if QUARANTINE_TAG in node.machine.tags else ""
        return node.result(
            Told.FINDING, End.FAILED, f"{reason}; {tagged}it is not marked as broken: {sent.error.message}"
        )
    entry.tell([f"{node.machine.status}: {reason}"])
    return node.result(Told.FINDING, End.QUARANTINED, reason)


async def _why(node: Node) -> str:
    """The provisioner's own words; that it cannot say is no reason to leave the machine in the pool."""
    node.calls += 1
    try:
        why = await node.provisioner.why(node.machine)
    except ProvisionerError:
        return ""
    return "" if why == node.machine.status else why


async def put_tag(node: Node, *, on: bool) -> str:
    """Put the tag on or take it off; to do so twice does no harm. :returns: why it could not be, empty when it was."""
    said = ""
    for _ in range(_TRIES):
        try:
            await finish(node.call(lambda: node.provisioner.tag([node.machine.id], QUARANTINE_TAG, on=on)))
        except ProvisionerError as error:
            said = f"tag {QUARANTINE_TAG} cannot be {'put on' if on else 'taken off'}: {reason_of(error)}"
            if not isinstance(error, AGAIN):
                return said
        else:
            tags = [tag for tag in node.machine.tags if tag != QUARANTINE_TAG]
            node.machine = replace(node.machine, tags=(*tags, *([QUARANTINE_TAG] if on else [])))
            return ""
    return said


async def _abort(node: Node, phase: Phase) -> bool:
    """End the phase; a provisioner that lost its own job refuses that, and then it goes on without.

    :returns: whether it was refused because nothing is under way that could be ended.
    """
    refused = False
    try:
        await node.call(lambda: node.provisioner.abort(node.machine.id))
    except ProvisionerError as error:
        refused = isinstance(error, ProvisionerStateError)
        node.notes.append(f"abort: {error.message}")
    settle = node.desk.options.deadlines.settle_s
    await node.until(lambda machine: under_way(machine) is not phase, settle, look=True)
    return refused


async def _release(node: Node, reason: str) -> None:
    """Give the machine back, so that nobody owns it; where that cannot be, marking it as broken does it too."""
    entry = node.begin(EventKind.NODE_RELEASE)
    stage = node.machine.stage

    async def began() -> bool:
        settle = node.desk.options.deadlines.settle_s
        seen = await node.until(lambda machine: machine.stage is not stage, settle, look=True)
        return not seen.overdue

    async def command() -> None:
        await node.call(lambda: node.provisioner.release(node.machine.id, reason[:REASON_LENGTH]))

    sent = await send(command, began, entry)
    if sent.error is not None:
        node.notes.append(f"release: {sent.error.message}")
        return
    within = node.desk.options.deadlines.release_s
    await node.until(lambda machine: machine.stage is not Stage.RELEASING, within, look=True)
    entry.tell([node.machine.status])
