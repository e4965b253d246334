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
from provision.workflows.install_node import Node
from provision.workflows.install_watch import Watch
from provision.workflows.install_way import bring
from provision.workflows.install_work import Desk, Work, user_of

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
    :raises StateError: what was recorded of them cannot be read; nothing was sent.
    """
    hosts = [job.host for job in jobs]
    with alone(options.locks, hosts) as locks:
        machines = await lookup(provisioner, [host for host in hosts if host not in locks.busy])
        user = await user_of(provisioner) if machines else ""
        return await _Run(provisioner, jobs, options, machines, user, locks).go()


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
        user: str,
        locks: Alone,
    ) -> None:
        self.provisioner, self.jobs, self.options = provisioner, jobs, options
        self.machines, self.user, self.locks = machines, user, locks
        self.names = {machine.id: host for host, machine in machines.items()}
        self.results: dict[str, NodeResult] = {}
        self.nodes: dict[str, Node] = {}

    async def go(self) -> list[NodeResult]:
        hosts = [job.host for job in self.jobs]
        watch = Watch(self.provisioner, self.options, self._heard)
        noted, pasts = self.options.book.noted(hosts), self.options.book.past(hosts)
        states = self.options.book.states(hosts)
        desk = Desk(self.provisioner, self.options, watch, noted, pasts, self.user, states=states)
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
            _broken(tasks)  # looked at: asyncio need not complain that nobody did
        broken = _broken([looking, *tasks])
        return [self.results.get(job.host) or self._cut(job, broken) for job in self.jobs]

    async def _all(self, tasks: Sequence[asyncio.Future[None]], looking: asyncio.Future[None]) -> None:
        """Await all; when nobody looks any more, or this is cancelled, all are cancelled and tell how far they came."""
        pending: set[asyncio.Future[None]] = set(tasks)
        try:
            while pending and not looking.done():
                done, _ = await asyncio.wait({*pending, looking}, return_when=asyncio.FIRST_COMPLETED)
                pending -= done
                for one in done:
                    if isinstance(error := one.exception(), BaseException) and not isinstance(
                        error, Exception
                    ):
                        raise error
        finally:
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending)

    async def _one(self, job: Job, desk: Desk) -> None:
        result = self.locks.result(job.host) or await self._bring(job, desk)
        self.locks.let_go(job.host)
        self.results[job.host] = result
        self.options.progress(Progress(job.host, result.reason or result.end.value, result))

    async def _bring(self, job: Job, desk: Desk) -> NodeResult:
        machine = self.machines.get(job.host)
        why = self._stranger(job.host, machine, desk)
        if machine is None or why:
            words = why or f"{self.provisioner.name} has no machine of this name: enrol it first"
            id = machine.id if machine is not None else ""
            return NodeResult(job.host, Told.FINDING, End.REFUSED, reason=words, machine_id=id)
        node = self.nodes[job.host] = Node(job.host, machine, job.work, desk)
        try:
            return await bring(node)
        except FabricctlError as error:
            return node.failed(error)
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

    def _cut(self, job: Job, broken: str = "") -> NodeResult:
        """A node that was not finished when the run ended. :param broken: why it ended, empty when interrupted."""
        node, why = self.nodes.get(job.host), broken or "interrupted"
        end = End.UNKNOWN if broken else End.INTERRUPTED
        if node is None:
            return NodeResult(job.host, Told.UNKNOWN, end, reason=f"{why}; nothing was sent")
        words = f"{why}; nothing was sent"
        if node.begun:
            phases = " and ".join(sorted(phase.value for phase in node.begun))
            words = f"{why}; {phases} goes on in {self.provisioner.name}: run the command again to go on"
        elif node.written:
            words = f"{why}; look at {self.provisioner.name}, or run the command again"
        return node.result(Told.UNKNOWN, end, words)


def _broken(tasks: Sequence[asyncio.Future[None]]) -> str:
    """What went wrong with a whole run, empty when nothing did: results that are there are told all the same."""
    errors = [error for task in tasks if not task.cancelled() and (error := task.exception()) is not None]
    for error in errors:
        LOG.debug("a run broke off", exc_info=error)
    name = type(errors[0]).__name__ if errors else ""
    return f"fabricctl failed: {name} (a bug: run again with --debug and report it)" if errors else ""
