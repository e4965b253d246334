"""Commissioning: the provisioner looks at a machine, and what it saw is compared with what should be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from provision.install.disk_record import compare, fingerprint, read_fingerprint
from provision.install.lifecycle import Verb, Wish
from provision.install.machine import Machine, Phase
from provision.install.outcome import NodeResult
from provision.install.provisioner import Provisioner
from provision.workflows.install_book import DISKS
from provision.workflows.install_model import FlowOptions
from provision.workflows.install_node import Checked, Node
from provision.workflows.install_run import Job, run_fleet

Judge = Callable[[Machine], Sequence[str]]
"""What of a machine's hardware is not as it should be, one line each; empty when all is."""


def no_judge(machine: Machine) -> Sequence[str]:
    """Where nothing is known of what should be there, a machine without any disk is still none."""
    return () if machine.disks else ("expected disks, found none at all",)


@dataclass(frozen=True)
class CommissionWork:
    """One machine to look at. :param judge: compares its hardware."""

    wish: Wish
    judge: Judge = no_judge

    async def prepare(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def send(self, node: Node, phase: Phase) -> None:  # noqa: ARG002
        """Begin."""
        await node.call(lambda: node.provisioner.manage(node.machine.id))

    async def check(self, node: Node) -> Checked:
        """Ready is not enough: MAAS 3.7.3 says so, too, when commissioning uploaded nothing and there are no disks."""
        missing = list(self.judge(node.machine))
        if missing:
            return Checked(broken=f"hardware is not as it should be: {'; '.join(missing)}")
        return recorded_disks(node)


def recorded_disks(node: Node) -> Checked:
    """Compare the disks with the record of them; the first time they are recorded."""
    seen = fingerprint(node.machine.disks)
    recorded = read_fingerprint(node.noted.get(DISKS))
    if recorded is None:
        return Checked(notes={DISKS: seen.as_value()})
    changed = compare(recorded, seen)
    if changed:
        return Checked(findings=(f"disks are not those recorded: {'; '.join(changed)}",))
    return Checked()


async def commission(
    provisioner: Provisioner,
    hosts: Sequence[str],
    options: FlowOptions,
    *,
    judges: Mapping[str, Judge],
    again: bool = False,
    from_quarantine: bool = False,
) -> list[NodeResult]:
    """Commission hosts; see :func:`provision.workflows.install_run.run_fleet`.

    :param judges: host -> how its hardware is judged. :param again: also machines that are ready.
    """
    wish = Wish(Verb.COMMISSION, again, from_quarantine)
    jobs = [Job(host, CommissionWork(wish, judges.get(host, no_judge))) for host in hosts]
    return await run_fleet(provisioner, jobs, options)
