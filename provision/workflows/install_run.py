"""Hundreds of nodes at once: each on its own way, looked at together; a node that fails is in nobody's way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricctl.errors import FabricctlError
from provision.install.machine import Machine
from provision.install.outcome import End, NodeResult, Told
from provision.install.provisioner import Provisioner
from provision.workflows.install_book import MACHINE_ID
from provision.workflows.install_locks import Alone, alone
from provision.workflows.install_model import FleetInterrupted, FlowOptions, Progress
from provision.workflows.install_node import Desk, Node, Work
from provision.workflows.install_watch import Watch

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """One host and what is to be done with it."""

    host: str
    work: Work


async def run_fleet(provisioner: Provisioner, jobs: Sequence[Job], options: FlowOptions) -> list[NodeResult]:
    """Bring every machine to where its job wants it; results in the order of the jobs.

    A host that another command is at is left alone; nothing that was read before its lock was held is decided on.

    :raises FleetInterrupted: cancelled (Ctrl-C): nothing more was started, what was begun goes on.
    :raises ProvisionerError: the machines could not be looked up at all; nothing was sent.
    :raises StateError: what is done cannot be recorded, so nothing more is.
    """
    hosts = [job.host for job in jobs]
    with alone(options.locks, hosts) as locks:
        free = [host for host in hosts if host not in locks.busy]
        machines = await lookup(provisioner, free)
        refused = await options.gate(free) if options.gate is not None else {}
        return await _Run(provisioner, jobs, options, machines, refused, locks).go()


async def lookup(provisioner: Provisioner, hosts: Sequence[str]) -> dict[str, Machine]:
    """Host -> its machine, of those that have one; one bulk look."""
    if not hosts:
        return {}
    wanted = {host.lower(): host for host in hosts}
    found = await provisioner.find(hostnames=hosts)
    return {wanted[m.hostname.lower()]: m for m in found if m.hostname.lower() in wanted}


class _Run:
    def __init__(
        self,
        provisioner: Provisioner,
        jobs: Sequence[Job],
        options: FlowOptions,
        machines: Mapping[str, Machine],
        refused: Mapping[str, str],
        locks: Alone,
    ) -> None:
        self.provisioner, self.jobs, self.options = provisioner, jobs, options
        self.machines, self.refused, self.locks = machines, refused, locks
        self.names = {machine.id: host for host, machine in machines.items()}
        self.results: dict[str, NodeResult] = {}
        self.nodes: dict[str, Node] = {}

    async def go(self) -> list[NodeResult]:
        hosts = [job.host for job in self.jobs]
        watch = Watch(self.provisioner, self.options, self._heard)
        noted, pasts = self.options.book.noted(hosts), self.options.book.past(hosts)
        desk = Desk(self.provisioner, self.options, watch, noted, pasts)
        tasks = [asyncio.ensure_future(self._one(job, desk)) for job in self.jobs]
        looking = asyncio.ensure_future(watch.run())
        try:
            await self._all(tasks, looking)
        except asyncio.CancelledError:
            raise FleetInterrupted(
                [self.results.get(job.host) or self._cut(job) for job in self.jobs]
            ) from None
        finally:
            looking.cancel()
            await asyncio.wait([looking])
        return [self.results[job.host] for job in self.jobs]

    async def _all(self, tasks: Sequence[asyncio.Future[None]], looking: asyncio.Future[None]) -> None:
        """Await all; when one fails, or this is cancelled, the others are cancelled and tell how far they came."""
        pending: set[asyncio.Future[None]] = set(tasks)
        try:
            while pending:
                done, _ = await asyncio.wait({*pending, looking}, return_when=asyncio.FIRST_COMPLETED)
                for one in done:
                    one.result()
                pending -= done
        finally:
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending)
            for task in pending:
                if not task.cancelled():
                    task.exception()  # looked at: the first failure is the one that is told

    async def _one(self, job: Job, desk: Desk) -> None:
        result = self.locks.result(job.host) or await self._bring(job, desk)
        self.locks.let_go(job.host)
        self.results[job.host] = result
        self.options.progress(Progress(job.host, result.reason or result.end.value, result))

    async def _bring(self, job: Job, desk: Desk) -> NodeResult:
        machine = self.machines.get(job.host)
        why = self.refused.get(job.host, "") or self._stranger(job.host, machine, desk)
        if machine is None or why:
            words = why or f"{self.provisioner.name} has no machine of this name: enrol it first"
            id = machine.id if machine is not None else ""
            return NodeResult(job.host, Told.FINDING, End.REFUSED, reason=words, machine_id=id)
        node = self.nodes[job.host] = Node(job.host, machine, job.work, desk)
        try:
            return await node.run()
        except FabricctlError:
            raise
        except Exception as exc:
            LOG.debug("work on %s failed", job.host, exc_info=exc)
            bug = f"fabricctl failed on this node: {type(exc).__name__} (a bug: run again with --debug and report it)"
            return node.result(Told.UNKNOWN, End.UNKNOWN, bug)

    def _stranger(self, host: str, machine: Machine | None, desk: Desk) -> str:
        """Why the machine of a host's name is not the one that was enrolled for it; empty when it may be."""
        recorded = desk.noted.get(host, {}).get(MACHINE_ID, "")
        if machine is None or not recorded or recorded == machine.id:
            return ""
        return f"expected machine {recorded} as recorded, found {machine.id} under this name: enrol it again"

    def _heard(self, id: str, words: str) -> None:
        host = self.names.get(id)
        if host is not None and host not in self.results:
            self.options.progress(Progress(host, words))

    def _cut(self, job: Job) -> NodeResult:
        """A node that was not finished when the run was interrupted."""
        node = self.nodes.get(job.host)
        if node is None:
            return NodeResult(job.host, Told.UNKNOWN, End.INTERRUPTED, reason="interrupted; nothing was sent")
        words = "interrupted; nothing was sent"
        if node.begun:
            phases = " and ".join(sorted(phase.value for phase in node.begun))
            words = (
                f"interrupted; {phases} goes on in {self.provisioner.name}: run the command again to go on"
            )
        elif node.written:
            words = f"interrupted; look at {self.provisioner.name}, or run the command again"
        return node.result(Told.UNKNOWN, End.INTERRUPTED, words)
