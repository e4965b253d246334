"""Replacing parts: another NIC or BMC in the same machine; its id, host name and addresses stay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fabricctl.errors import ProvisionerError
from fabricctl.nodes.model import EventKind, Identity
from provision.install.adoption import Known
from provision.install.machine import Machine
from provision.install.outcome import End, NodeResult, Told
from provision.install.provisioner import Provisioner
from provision.install.replacement import RECOMMISSION, NicChange, Replacement, replacement
from provision.install.spec import EnrolSpec
from provision.workflows.install_enrol import known_machines
from provision.workflows.install_locks import alone
from provision.workflows.install_model import FleetInterrupted, FlowOptions, Progress
from provision.workflows.install_send import SENDING, send
from provision.workflows.install_told import reason_of, told_by

INTERRUPTED_WORDS = "interrupted; run the command again"


@dataclass(frozen=True)
class ReplaceLook:
    """What replacing would do. :param replacements: host -> decision."""

    replacements: Mapping[str, Replacement]
    known: Known


async def look_replace(
    provisioner: Provisioner,
    specs: Sequence[EnrolSpec],
    identities: Mapping[str, Sequence[Identity]],
    *,
    credentials: bool = False,
) -> ReplaceLook:
    """What is to be changed; nothing is sent. :raises ProvisionerError: it cannot be told.

    :param identities: host -> identities of its node record, former ones included.
    """
    known = await known_machines(provisioner, specs)
    return ReplaceLook(
        {
            spec.host: replacement(spec, known, identities.get(spec.host, ()), credentials=credentials)
            for spec in specs
        },
        known,
    )


async def replace_parts(
    provisioner: Provisioner, specs: Sequence[EnrolSpec], options: FlowOptions, seen: ReplaceLook
) -> list[NodeResult]:
    """Change what is to be changed, host by host; results in the order of the specs.

    :raises FleetInterrupted: cancelled; :raises StateError: what is done cannot be recorded.
    """
    results: list[NodeResult] = []
    changes = [_Change(provisioner, spec, options, seen) for spec in specs]
    with alone(options.locks, [spec.host for spec in specs]) as locks:
        try:
            for change in changes:
                host = change.spec.host
                results.append(result := locks.result(host) or await change.run())
                locks.let_go(host)
                options.progress(Progress(host, result.reason or result.end.value, result))
        except asyncio.CancelledError:
            cut = [locks.result(one.spec.host) or one.cut() for one in changes[len(results) :]]
            raise FleetInterrupted([*results, *cut]) from None
    return results


@dataclass
class _Change:
    provisioner: Provisioner
    spec: EnrolSpec
    options: FlowOptions
    seen: ReplaceLook
    calls: int = 0
    done: list[str] = field(default_factory=list)
    sending: str = ""

    @property
    def machine(self) -> Machine | None:
        """As it was looked up."""
        known = self.seen.known.machines.values()
        return next((m for m in known if m.hostname.lower() == self.spec.host.lower()), None)

    async def run(self) -> NodeResult:
        decision = self.seen.replacements[self.spec.host]
        machine = self.machine
        if decision.refused or machine is None:
            return self._result(machine, Told.FINDING, End.REFUSED, decision.refused)
        if decision.nothing:
            return self._result(machine, Told.OK, End.UNCHANGED)
        try:
            for change in decision.nics:
                machine = await self._nic(machine, change)
            if decision.power:
                machine = await self._power(machine)
        except ProvisionerError as error:
            reason = "; ".join([*self.done, reason_of(error)])
            return self._result(machine, told_by(error), End.NOT_STARTED, reason)
        return self._result(machine, Told.OK, End.REPLACED, "; ".join(self.done), (RECOMMISSION,))

    async def _nic(self, machine: Machine, change: NicChange) -> Machine:
        """Change one MAC; its id in the provisioner stays, so doing it twice does no harm."""
        nic, mac = change.nic, change.mac
        return await self._send(
            f"{nic.name}: {nic.mac} -> {mac}",
            (f"{nic.name} {nic.mac}", f"{nic.name} {mac}"),
            lambda: self.provisioner.set_mac(machine, nic.id, mac),
            lambda found: any(one.id == nic.id and one.mac == mac for one in found.nics),
        )

    async def _power(self, machine: Machine) -> Machine:
        """Change how its BMC is reached; nothing shows that a password was taken, so a lost answer is sent again."""
        power = self.spec.power
        before = self.seen.known.address(machine.id) or "no BMC address"
        return await self._send(
            f"BMC: {before} -> {power.address} as {power.user}",
            (before, f"{power.kind} {power.address} as {power.user}"),
            lambda: self.provisioner.set_power(machine.id, power),
            lambda _: False,
        )

    async def _send(
        self,
        what: str,
        move: tuple[str, str],
        command: Callable[[], Awaitable[Machine]],
        reached: Callable[[Machine], bool],
    ) -> Machine:
        """Send a change that may be sent twice. :param reached: whether a machine shows it."""
        before, after = move
        made: list[Machine] = []

        async def once() -> None:
            self.calls += 1
            made.append(await command())

        async def carried_out() -> bool:
            found = await self.provisioner.find(hostnames=[self.spec.host])
            made.extend(one for one in found if reached(one))
            return bool(made)

        entry = self.options.book.begin(EventKind.NODE_REPLACE, self.spec.host, [(before, SENDING)])
        self.sending = what
        sent = await send(once, carried_out, entry, done=lambda: after, found=lambda: after)
        self.sending = ""
        if sent.error is not None:
            raise sent.error
        self.done.append(what)
        return made[-1]

    def cut(self) -> NodeResult:
        """What came of it when it was interrupted on its way."""
        sending = [f"not known whether it was done: {self.sending}"] if self.sending else []
        words = "; ".join([INTERRUPTED_WORDS, *self.done, *sending])
        return self._result(self.machine, Told.UNKNOWN, End.INTERRUPTED, words)

    def _result(
        self, machine: Machine | None, told: Told, end: End, reason: str = "", notes: tuple[str, ...] = ()
    ) -> NodeResult:
        status = machine.status if machine is not None else ""
        return NodeResult(
            self.spec.host,
            told,
            end,
            before=status,
            after=status,
            reason=reason,
            notes=notes,
            machine_id=machine.id if machine is not None else "",
            requests=self.calls,
            written=self.calls > 0,
        )
