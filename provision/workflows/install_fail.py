"""What becomes of a node whose phase failed or took too long: out of the pool, with the reason, whatever happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricctl.errors import ProvisionerError
from fabricctl.nodes.model import EventKind, NodeState
from provision.install.deadlines import overdue_words
from provision.install.lifecycle import under_way
from provision.install.machine import QUARANTINE_TAG, Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_send import AGAIN, send

if TYPE_CHECKING:
    from provision.workflows.install_node import Node

REASON_LENGTH = 240
"""Characters of a reason that are written into the provisioner; the whole of it is in the result."""


async def give_up(node: Node, phase: Phase, deadline_s: float) -> NodeResult | None:
    """End a phase that took too long. The tag comes first: whoever finds the machine half-way leaves it alone.

    :returns: None when the phase came to its end at the last moment.
    """
    reason = overdue_words(phase, deadline_s, node.machine.status)
    node.say(f"{reason}: giving it up")
    await _tag(node, on=True)
    await _abort(node, phase)
    if phase is not Phase.RELEASE and _came_through(node, phase):
        await _tag(node, on=False)
        return None
    if phase is Phase.DEPLOY and node.machine.stage in (Stage.ALLOCATED, Stage.FAILED, Stage.DEPLOYING):
        await _release(node, reason)
    return await quarantine(node, reason)


def _came_through(node: Node, phase: Phase) -> bool:
    wanted = Stage.READY if phase is Phase.COMMISSION else Stage.DEPLOYED
    return node.machine.stage is wanted


async def quarantine(node: Node, reason: str) -> NodeResult:
    """Tag, mark as broken, record. What the provisioner itself says about it is part of the reason."""
    why = await _why(node)
    reason = "; ".join(dict.fromkeys(text for text in (reason, why) if text))
    node.say(f"quarantine: {reason}")
    entry = node.begin(EventKind.NODE_QUARANTINE)

    async def carried_out() -> bool:
        machine = await node.look()
        return machine is None or (machine.stage is Stage.BROKEN and QUARANTINE_TAG in machine.tags)

    async def command() -> None:
        await node.call(lambda: node.provisioner.quarantine(node.machine, reason[:REASON_LENGTH]))

    try:
        sent = await send(command, carried_out, entry)
        await node.look()
    except ProvisionerError as error:
        return node.result(Told.UNKNOWN, End.FAILED, f"{reason}; could not be taken out of the pool: {error}")
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


async def _tag(node: Node, *, on: bool) -> None:
    """Put the tag on or take it off; to do so twice does no harm."""
    for _ in range(2):
        try:
            await node.call(lambda: node.provisioner.tag([node.machine.id], QUARANTINE_TAG, on=on))
        except AGAIN:
            continue
        except ProvisionerError as error:
            node.notes.append(f"tag {QUARANTINE_TAG}: {error.message}")
        return


async def _abort(node: Node, phase: Phase) -> None:
    """End the phase; a provisioner that lost its own job refuses that, and then it goes on without."""
    try:
        await node.call(lambda: node.provisioner.abort(node.machine.id))
    except ProvisionerError as error:
        node.notes.append(f"abort: {error.message}")
    settle = node.desk.options.deadlines.settle_s
    await node.until(lambda machine: under_way(machine) is not phase, settle, look=True)


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
