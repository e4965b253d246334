"""Releasing: machines are given back, and their disks no longer hold a system anybody relies on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provision.install.lifecycle import Verb, Wish
from provision.install.machine import Phase
from provision.install.outcome import NodeResult
from provision.install.provisioner import Provisioner
from provision.workflows.install_model import FlowOptions
from provision.workflows.install_node import Checked, Node
from provision.workflows.install_run import Job, run_fleet


@dataclass(frozen=True)
class ReleaseWork:
    """One machine to give back. :param comment: written into the provisioner."""

    wish: Wish
    comment: str = ""

    def refused(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def prepare(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def send(self, node: Node, phase: Phase) -> None:  # noqa: ARG002
        """Begin."""
        await node.call(lambda: node.provisioner.release(node.machine.id, self.comment))

    async def check(self, node: Node) -> Checked:  # noqa: ARG002
        """Nothing is asked of a machine that was given back."""
        return Checked()


async def release(
    provisioner: Provisioner,
    hosts: Sequence[str],
    options: FlowOptions,
    *,
    comment: str = "",
    from_quarantine: bool = False,
) -> list[NodeResult]:
    """Give hosts back; see :func:`provision.workflows.install_run.run_fleet`."""
    wish = Wish(Verb.RELEASE, from_quarantine=from_quarantine)
    return await run_fleet(provisioner, [Job(host, ReleaseWork(wish, comment)) for host in hosts], options)
