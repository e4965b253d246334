"""Enrolling: look first, create what is not there, and after every lost answer look again before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabricctl.errors import OtherMachineError, ProvisionerError
from fabricctl.nodes.model import EventKind, NodeState
from provision.install.addresses import bmc_address
from provision.install.adoption import Adoption, Choice, Known, adoption, collisions
from provision.install.machine import Machine
from provision.install.outcome import End, NodeResult, Told
from provision.install.provisioner import Provisioner
from provision.install.spec import EnrolSpec
from provision.redfish.interrupt import finish
from provision.workflows.install_book import MACHINE_ID
from provision.workflows.install_locks import alone
from provision.workflows.install_model import FleetInterrupted, FlowOptions, Progress
from provision.workflows.install_send import AGAIN, LOST, SENDING, send
from provision.workflows.install_told import reason_of, told_by
from provision.workflows.journal import Begun

CREATES = 2
"""How often a machine is created at most: the second time only after it was looked for in vain."""


@dataclass(frozen=True)
class Look:
    """What enrolling would do. :param adoptions: host -> decision; :param known: what the provisioner has."""

    specs: Mapping[str, EnrolSpec]
    adoptions: Mapping[str, Adoption]
    known: Known


async def look(provisioner: Provisioner, specs: Sequence[EnrolSpec]) -> Look:
    """What is there already, in four requests or a few more. Nothing is changed.

    :raises ProvisionerError: it cannot be told, so nothing may be created.
    """
    known = await known_machines(provisioner, specs)
    clashes = collisions(specs)
    adoptions = {
        spec.host: Adoption(Choice.REFUSE, words=clashes[spec.host])
        if spec.host in clashes
        else adoption(spec, known)
        for spec in specs
    }
    return Look({spec.host: spec for spec in specs}, adoptions, known)


async def known_machines(provisioner: Provisioner, specs: Sequence[EnrolSpec]) -> Known:
    """Machines with a MAC, a name or a BMC address of the request."""
    if not specs:
        return Known({}, {})
    found = await provisioner.find(macs=[mac for spec in specs for mac in spec.macs])
    found += await provisioner.find(hostnames=[spec.host for spec in specs])
    bmc = await provisioner.bmc_addresses()
    machines = {machine.id or machine.hostname: machine for machine in found}
    wanted = {bmc_address(spec.power.address) for spec in specs}
    others = [id for id, address in bmc.items() if bmc_address(address) in wanted and id not in machines]
    machines |= {machine.id: machine for machine in (await provisioner.read(others) if others else [])}
    return Known(machines, bmc)


@dataclass
class _Host:
    """One host while it is enrolled.

    :param lost: why it is not known whether it was created; :param taken: it is known that not by us.
    :param power: it is there without a BMC address; :param created: how often that was asked for.
    """

    spec: EnrolSpec
    before: str = ""
    machine: Machine | None = None
    entry: Begun | None = None
    lost: ProvisionerError | None = None
    taken: bool = False
    power: bool = False
    created: int = 0
    calls: int = 0
    result: NodeResult | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def end(self) -> End:
        """Where it is when its machine is there."""
        return End.ENROLLED if self.created and not self.taken else End.KNOWN


_Work = Callable[[_Host], Awaitable[None]]


async def enrol(
    provisioner: Provisioner, specs: Sequence[EnrolSpec], options: FlowOptions, seen: Look | None = None
) -> list[NodeResult]:
    """Enrol hosts; results in the order of the specs. Nothing is commissioned.

    :param seen: what was looked up just now for the plan.
    :raises ProvisionerError: it cannot be told what is there; nothing was sent.
    :raises FleetInterrupted: cancelled; :raises StateError: what is done cannot be recorded.
    """
    with alone(options.locks, [spec.host for spec in specs]) as locks:
        free = [spec for spec in specs if spec.host not in locks.busy]
        run = _Enrol(provisioner, free, options, seen or await look(provisioner, free))

        def results(*, cut: bool = False) -> list[NodeResult]:
            ended = {one.host: one for one in run.results(cut=cut)}
            told = (locks.result(spec.host) or ended.get(spec.host) for spec in specs)
            return [one for one in told if one is not None]

        try:
            await run.go()
        except asyncio.CancelledError:
            raise FleetInterrupted(results(cut=True)) from None
        return results()


class _Enrol:
    def __init__(
        self, provisioner: Provisioner, specs: Sequence[EnrolSpec], options: FlowOptions, seen: Look
    ) -> None:
        self.provisioner, self.options, self.seen = provisioner, options, seen
        self.hosts = {spec.host: _Host(spec) for spec in specs}
        self.started = options.clock()

    async def go(self) -> None:
        for host in self.hosts.values():
            self._decide(host, self.seen.adoptions[host.spec.host])
        for _ in range(CREATES):
            missing = [host for host in self._open() if host.machine is None]
            await self._each(missing, self._create)
            await self._find_lost()
        for host in self._open():
            if host.machine is None and host.lost is not None:
                if host.entry is not None:
                    host.entry.tell([LOST])
                self._end(host, Told.UNKNOWN, End.UNKNOWN, reason_of(host.lost))
        await self._each([host for host in self._open() if host.machine is not None], self._power)
        await self._tags()
        self._record()

    def _open(self) -> list[_Host]:
        return [host for host in self.hosts.values() if host.result is None]

    def _decide(self, host: _Host, decision: Adoption) -> None:
        if decision.choice is Choice.REFUSE:
            self._end(host, Told.FINDING, End.REFUSED, decision.words)
        elif decision.machine is not None:
            host.machine, host.power = decision.machine, decision.power
            host.before = host.before or decision.machine.status

    async def _each(self, hosts: Iterable[_Host], work: _Work) -> None:
        """Work on many at once; each one's failure is its own."""
        waiting = iter(hosts)

        async def worker() -> None:
            for host in waiting:
                await work(host)

        tasks = [asyncio.ensure_future(worker()) for _ in range(self.options.requests)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        failures = [error for task in tasks if not task.cancelled() and (error := task.exception())]
        if failures:
            raise failures[0]

    async def _create(self, host: _Host) -> None:
        """Create it once. Whatever the answer, what counts is what is there afterwards."""
        spec = host.spec
        if host.entry is None:
            host.entry = self.options.book.begin(EventKind.NODE_ENROL, spec.host, [("not there", SENDING)])
        host.created += 1
        self.options.progress(Progress(spec.host, "being created"))

        async def once() -> None:
            host.calls += 1
            host.machine = await self.provisioner.create(spec)

        sent = await send(once, None, host.entry, done=lambda: f"created: {_id(host)}")
        if sent.lost or isinstance(sent.error, OtherMachineError):
            host.lost, host.taken = sent.error, not sent.lost and host.created == 1
        elif sent.error is not None:
            self._end(host, told_by(sent.error), End.NOT_STARTED, reason_of(sent.error))

    async def _find_lost(self) -> None:
        """Look for those whose answer was lost, all in one, until they are there or long enough were not."""
        until = self.options.clock() + self.options.deadlines.settle_s
        while True:
            lost = [host for host in self._open() if host.machine is None and host.lost is not None]
            if not lost:
                return
            known = await self._known([host.spec for host in lost])
            if known is not None:
                for host in lost:
                    self._found(host, adoption(host.spec, known))
            waits = [host for host in lost if host.machine is None and host.result is None]
            if not waits or self.options.clock() >= until:
                return
            await self.options.sleep(self.options.poll_s)

    async def _known(self, specs: Sequence[EnrolSpec]) -> Known | None:
        try:
            return await known_machines(self.provisioner, specs)
        except ProvisionerError as error:
            for spec in specs:
                self.hosts[spec.host].lost = error
            return None

    def _found(self, host: _Host, decision: Adoption) -> None:
        self._decide(host, decision)
        if host.entry is None:
            return
        if host.machine is not None and host.taken:
            host.entry.tell([f"refused: somebody else has created it: {_id(host)}"])
        elif host.machine is not None:
            host.entry.tell([f"answer lost; it was created: {_id(host)}"])
        elif host.result is not None:
            host.entry.tell([f"refused: {decision.words}"])

    async def _power(self, host: _Host) -> None:
        """Give a machine that was there without a BMC address its own."""
        machine, power = host.machine, host.spec.power
        if machine is None or not host.power:
            return
        entry = self.options.book.begin(EventKind.NODE_ENROL, host.spec.host, [("no BMC address", SENDING)])

        async def once() -> None:
            host.calls += 1
            host.machine = await self.provisioner.set_power(machine.id, power)

        async def carried_out() -> bool:
            addresses = await self.provisioner.bmc_addresses()
            return bmc_address(addresses.get(machine.id, "")) == bmc_address(power.address)

        def done() -> str:
            return f"BMC address {power.address}"

        try:
            sent = await send(once, carried_out, entry, done=done, found=done)
            error = sent.error
        except ProvisionerError as lost:
            error = lost
        if error is not None:
            self._end(host, told_by(error), End.KNOWN, reason_of(error))

    async def _tags(self) -> None:
        """Put on tags that are missing, each on all its hosts at once."""
        wanted: dict[str, list[_Host]] = {}
        for host in self._open():
            for tag in host.spec.tags if host.machine is not None else ():
                if host.machine is not None and tag not in host.machine.tags:
                    wanted.setdefault(tag, []).append(host)
        for tag, hosts in wanted.items():
            ids = [host.machine.id for host in hosts if host.machine is not None]
            for attempt in range(2):
                try:
                    await finish(self.provisioner.tag(ids, tag))
                except AGAIN as error:
                    if attempt:
                        self._untagged(hosts, tag, error)
                    continue
                except ProvisionerError as error:
                    self._untagged(hosts, tag, error)
                break

    def _untagged(self, hosts: Iterable[_Host], tag: str, error: ProvisionerError) -> None:
        for host in hosts:
            self._end(host, told_by(error), host.end, f"tag {tag} is not on it: {reason_of(error)}")

    def _record(self) -> None:
        """Keep the ids, and bring planned nodes on their way."""
        there = [host for host in self.hosts.values() if host.machine is not None]
        self.options.book.note(
            {host.spec.host: {MACHINE_ID: host.machine.id} for host in there if host.machine is not None}
        )
        names = [host.spec.host for host in there]
        planned = self.options.book.planned(names)
        words = self.options.book.move(planned, NodeState.PROVISIONING, "enrolled") if planned else ""
        for host in self._open():
            host.notes += [words] if words and host.spec.host in planned else []
            host.notes += _elsewhere(host)
            self._end(host, Told.OK, host.end)

    def _end(self, host: _Host, outcome: Told, end: End, reason: str = "") -> None:
        machine = host.machine
        host.result = NodeResult(
            host.spec.host,
            outcome,
            end,
            before=host.before or "not there",
            after=machine.status if machine is not None else "",
            reason=reason,
            notes=tuple(host.notes),
            machine_id=machine.id if machine is not None else "",
            seconds=self.options.clock() - self.started,
            requests=host.calls,
            written=host.calls > 0,
        )
        self.options.progress(Progress(host.spec.host, reason or end.value, host.result))

    def results(self, *, cut: bool = False) -> list[NodeResult]:
        """Of every host. :param cut: some were not finished."""
        if cut:
            for host in self._open():
                words = (
                    "interrupted; run the command again" if host.calls else "interrupted; nothing was sent"
                )
                self._end(host, Told.UNKNOWN, End.INTERRUPTED, words)
        return [host.result for host in self.hosts.values() if host.result is not None]


def _id(host: _Host) -> str:
    return host.machine.id if host.machine is not None else "no id"


def _elsewhere(host: _Host) -> list[str]:
    """Pool and zone of a machine that was there already are left as they are; what to do about it is told."""
    machine, spec = host.machine, host.spec
    if machine is None:
        return []
    pairs = (("pool", machine.pool, spec.pool), ("zone", machine.zone, spec.zone))
    return [
        f"it is in {what} {is_}, expected {wanted}: move it there in MAAS, or write {what}: {is_} in the site file"
        for what, is_, wanted in pairs
        if wanted and is_ != wanted
    ]
