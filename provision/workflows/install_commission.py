"""Commissioning: the provisioner looks at a machine, and what it saw is compared with what should be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from fabricctl.errors import ProvisionerError
from fabricctl.nodes.facts import Value
from provision.install.disk_record import compare, fingerprint, read_fingerprint, unreadable
from provision.install.expected import ExpectedHardware
from provision.install.hardware import Lack, Shortfall, check_hardware
from provision.install.lifecycle import Verb, Wish
from provision.install.machine import Machine, Phase
from provision.install.outcome import NodeResult
from provision.install.provisioner import Provisioner
from provision.workflows.install_book import DISKS
from provision.workflows.install_model import FlowOptions
from provision.workflows.install_node import Checked, Node
from provision.workflows.install_past import COMPARED, NO_PAST, Past
from provision.workflows.install_run import Job, run_fleet

Judge = Callable[[Machine], Sequence[Shortfall]]
"""What of a machine's hardware differs from what should be there, and what could not be told."""


def no_judge(machine: Machine) -> Sequence[Shortfall]:
    """Where nothing is known of what should be there, a machine without any disk is still none."""
    return [one for one in check_hardware(machine, ExpectedHardware()) if one.told]


def lacks(judged: Sequence[Shortfall]) -> str:
    """What is wrong for certain, in one sentence; empty when nothing is."""
    wrong = [one.words for one in judged if one.told]
    return f"hardware is not as it should be: {'; '.join(wrong)}" if wrong else ""


def untold(judged: Sequence[Shortfall]) -> Sequence[str]:
    """What is expected, and the machine did not tell. Where nobody says what should be there, nothing is missing."""
    return tuple(one.words for one in judged if not one.told and one.expected)


def unasked(judged: Sequence[Shortfall]) -> Sequence[str]:
    """What nobody says what it should be."""
    return tuple(one.words for one in judged if not one.told and not one.expected)


@dataclass(frozen=True)
class CommissionWork:
    """One machine to look at. :param judge: compares its hardware."""

    wish: Wish
    judge: Judge = no_judge

    def refused(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def prepare(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def send(self, node: Node, phase: Phase) -> None:  # noqa: ARG002
        """Begin."""
        await node.call(lambda: node.provisioner.manage(node.machine.id))

    async def check(self, node: Node) -> Checked:
        """Ready is not enough: MAAS 3.7.3 says so, too, when commissioning uploaded nothing and there are no disks."""
        judged = self.judge(await counted(node))
        broken = lacks(judged)
        if broken:
            return Checked(broken=broken)
        node.notes += unasked(judged)
        checked = replace(recorded_disks(node), untold=untold(judged))
        return checked if checked.untold or checked.findings else replace(checked, proved=COMPARED)


@runtime_checkable
class CountsGpus(Protocol):
    """A provisioner that tells how many accelerators a machine has, in a request of its own."""

    async def gpus(self, id: str) -> int | None:
        """None where nobody looked."""
        ...


def uncounted(machine: Machine, one: Shortfall) -> bool:
    """Whether it is about GPUs that should be there, and nobody has counted."""
    return one.kind is Lack.GPUS and machine.gpus is None and bool(one.expected)


async def counted(node: Node) -> Machine:
    """The machine with its GPUs counted; as it is where that cannot be told."""
    provisioner = node.provisioner
    if node.machine.gpus is not None or not isinstance(provisioner, CountsGpus):
        return node.machine
    node.calls += 1
    try:
        return replace(node.machine, gpus=await provisioner.gpus(node.machine.id))
    except ProvisionerError as error:
        node.notes.append(f"its GPUs cannot be counted: {error.message}")
        return node.machine


def recorded_disks(node: Node) -> Checked:
    """Compare the disks with the record of them; the first time they are recorded."""
    seen = fingerprint(node.machine.disks)
    recorded = read_fingerprint(node.noted.get(DISKS))
    untold = unreadable(node.noted.get(DISKS))
    if untold:
        return Checked(untold=(untold,))
    if recorded is None:
        return Checked(notes={DISKS: seen.as_value()})
    changed = compare(recorded, seen)
    if changed:
        return Checked(findings=(f"disks are not those recorded: {'; '.join(changed)}",))
    return Checked()


def unfinished(machine: Machine, judge: Judge, noted: Mapping[str, Value], past: Past = NO_PAST) -> str:
    """What is left to do with a machine that says Ready, because nobody has looked at it since; empty when nothing is.

    A run that did not wait for the end of commissioning, or was killed after it, leaves it so. What was recorded of its
    disks before that commissioning is no proof. :param noted: facts of the family ``install``.
    """
    wrong = lacks(judge(machine))
    if wrong:
        return wrong
    known = read_fingerprint(noted.get(DISKS)) is not None
    if past.compared or (past.compared is None and known):
        return ""
    return "ready: compare its hardware" if known else "ready: compare its hardware, record its disks"


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
