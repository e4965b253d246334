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
from provision.redfish.interrupt import finish
from provision.workflows.install_enrol import known_machines
from provision.workflows.install_model import FleetInterrupted, FlowOptions, Progress
from provision.workflows.install_send import AGAIN, INTERRUPTED, SENDING, UNANSWERED
from provision.workflows.install_told import reason_of, told_by

_TRIES = 2


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
    left = list(specs)
    try:
        for spec in specs:
            result = await _Change(provisioner, spec, options, seen).run()
            results.append(result)
            left.remove(spec)
            options.progress(Progress(spec.host, result.reason or result.end.value, result))
    except asyncio.CancelledError:
        words = "interrupted; run the command again"
        cut = [NodeResult(spec.host, Told.UNKNOWN, End.INTERRUPTED, reason=words) for spec in left]
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

    async def run(self) -> NodeResult:
        decision = self.seen.replacements[self.spec.host]
        known = self.seen.known.machines.values()
        machine = next((m for m in known if m.hostname.lower() == self.spec.host.lower()), None)
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
        made = await self._send(
            (f"{nic.name} {nic.mac}", f"{nic.name} {mac}"),
            lambda: self.provisioner.set_mac(machine, nic.id, mac),
            lambda found: any(one.id == nic.id and one.mac == mac for one in found.nics),
        )
        self.done.append(f"{nic.name}: {nic.mac} -> {mac}")
        return made

    async def _power(self, machine: Machine) -> Machine:
        power = self.spec.power
        before = self.seen.known.address(machine.id) or "no BMC address"
        made = await self._send(
            (before, f"{power.kind} {power.address} as {power.user}"),
            lambda: self.provisioner.set_power(machine.id, power),
            None,
        )
        self.done.append(f"BMC: {before} -> {power.address} as {power.user}")
        return made

    async def _send(
        self,
        move: tuple[str, str],
        command: Callable[[], Awaitable[Machine]],
        reached: Callable[[Machine], bool] | None,
    ) -> Machine:
        """Send a change that may be sent twice. :param reached: whether a machine shows it; None: nothing does."""
        before, after = move
        entry = self.options.book.begin(EventKind.NODE_REPLACE, self.spec.host, [(before, SENDING)])
        last: ProvisionerError | None = None
        for _ in range(_TRIES):
            self.calls += 1
            try:
                made = await finish(command())
            except AGAIN as error:
                last = error
                entry.tell([UNANSWERED])
                found = await self.provisioner.find(hostnames=[self.spec.host]) if reached is not None else []
                made_it = next((one for one in found if reached is not None and reached(one)), None)
                if made_it is None:
                    continue
                made = made_it
            except ProvisionerError as error:
                entry.tell([f"refused: {error.message}"])
                raise
            except asyncio.CancelledError:
                entry.tell([INTERRUPTED])
                raise
            entry.tell([after])
            return made
        raise last or ProvisionerError("nothing was sent")

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
