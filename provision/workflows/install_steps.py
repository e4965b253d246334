"""One event for several commands that belong together: its text follows how far they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabricctl.errors import ProvisionerError
from fabricctl.nodes.model import EventKind
from provision.install.machine import QUARANTINE_TAG
from provision.redfish.interrupt import finish
from provision.workflows.install_send import AGAIN, SENDING
from provision.workflows.install_told import reason_of
from provision.workflows.journal import Begun

if TYPE_CHECKING:
    from provision.workflows.install_node import Node

_TRIES = 2


@dataclass
class Steps:
    """The steps of one event: ``tag on: accepted; abort: being sent, no answer yet``.

    :param said: step -> its words.
    """

    entry: Begun
    said: dict[str, str] = field(default_factory=dict)

    def step(self, name: str) -> Begun:
        """Begin one more, before it is sent. :raises StateError: that cannot be kept."""
        self.tell(name, SENDING)
        return _Step(self, name)

    def tell(self, name: str, words: str) -> None:
        """What is known of a step now."""
        self.said[name] = words
        self.entry.tell(["; ".join(f"{step}: {said}" for step, said in self.said.items())])

    def end(self, words: str) -> None:
        """What came of all of them."""
        self.entry.tell([words])


@dataclass(frozen=True)
class _Step:
    steps: Steps
    name: str

    def tell(self, afters: Sequence[str]) -> None:
        """What is known of it now."""
        self.steps.tell(self.name, "; ".join(afters))


def quarantine_steps(node: Node) -> Steps:
    """The event of a quarantine, or of its end. :raises StateError: it cannot be kept, so nothing must be sent."""
    return Steps(node.begin(EventKind.NODE_QUARANTINE))


async def put_tag(node: Node, steps: Steps, *, on: bool) -> str:
    """Put the tag on or take it off; to do so twice does no harm. :returns: why it could not be, empty when it was.

    After that the machine is as it was read last: whoever relies on the tag reads it again.
    """
    step = steps.step(f"tag {'on' if on else 'off'}")
    said = ""
    for _ in range(_TRIES):
        try:
            await finish(node.call(lambda: node.provisioner.tag([node.machine.id], QUARANTINE_TAG, on=on)))
        except ProvisionerError as error:
            said = f"tag {QUARANTINE_TAG} cannot be {'put on' if on else 'taken off'}: {reason_of(error)}"
            if not isinstance(error, AGAIN):
                break
        else:
            step.tell(["accepted"])
            await node.look()
            return "" if node.tagged is on else _not_seen(node, on=on)
    step.tell([said])
    await node.look()
    return "" if node.tagged is on else said


def _not_seen(node: Node, *, on: bool) -> str:
    state = "not on it" if on else "still on it"
    return f"{node.provisioner.name} accepted the change of tag {QUARANTINE_TAG}, and it is {state}"
