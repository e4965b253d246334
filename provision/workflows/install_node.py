"""One node on its way: read, decide, do one thing, wait, decide again; whatever fails ends in quarantine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerUnsupportedError,
)
from fabricctl.nodes.facts import Value
from fabricctl.nodes.model import EventKind, NodeState
from provision.install.deadlines import remaining
from provision.install.lifecycle import Act, Step, Verb, Wish, decide, phase_of, under_way
from provision.install.machine import QUARANTINE_TAG, Machine, Phase, Stage
from provision.install.outcome import End, NodeResult, Told
from provision.install.provisioner import Provisioner
from provision.workflows.install_fail import give_up, quarantine
from provision.workflows.install_model import FlowOptions, Progress
from provision.workflows.install_past import NO_PAST, Past, found_later, proved
from provision.workflows.install_send import GOES_ON, NOT_WAITED, SENDING, send
from provision.workflows.install_watch import Seen, Watch
from provision.workflows.journal import Begun

KINDS = {
    Phase.COMMISSION: EventKind.NODE_COMMISSION,
    Phase.DEPLOY: EventKind.NODE_DEPLOY,
    Phase.RELEASE: EventKind.NODE_RELEASE,
}
_STEPS = 16
"""Decisions about one node: more would mean that somebody else moves it about."""
_REACHED = {Verb.COMMISSION: End.READY, Verb.DEPLOY: End.DEPLOYED, Verb.RELEASE: End.RELEASED}


class Work(Protocol):
    """What a verb adds to the way every node goes."""

    @property
    def wish(self) -> Wish:
        """What is wanted."""
        ...

    async def prepare(self, node: Node, phase: Phase) -> str:
        """Before a phase is begun; nothing is sent. :returns: why it must not be, empty when it may."""
        ...

    async def send(self, node: Node, phase: Phase) -> None:
        """Begin a phase."""
        ...

    async def check(self, node: Node) -> Checked:
        """When the machine is as wanted by its state: is it by what it is?"""
        ...


@dataclass(frozen=True, slots=True)
class Checked:
    """What was seen of a machine that reached its state.

    :param broken: why it must not be used, which puts it in quarantine; :param findings: what else is not as wanted.
    :param untold: what could not be told; :param notes: facts to keep.
    :param proved: what the event of the phase is told beside the state: what was looked at, and is right.
    """

    broken: str = ""
    findings: Sequence[str] = ()
    untold: Sequence[str] = ()
    notes: Mapping[str, Value] = field(default_factory=dict)
    proved: str = ""


@dataclass
class Desk:
    """What all nodes of a run share."""

    provisioner: Provisioner
    options: FlowOptions
    watch: Watch
    noted: Mapping[str, Mapping[str, Value]]
    pasts: Mapping[str, Past]


class Node:
    """One node of a run.

    :param machine: as it was read last; :param begun: phases this run saw begin.
    """

    def __init__(self, host: str, machine: Machine, work: Work, desk: Desk) -> None:
        self.host, self.machine, self.work, self.desk = host, machine, work, desk
        self.wish = work.wish
        self.begun: frozenset[Phase] = frozenset()
        self.before = machine.status
        self.calls = 0
        self.notes: list[str] = []
        self.written = False
        self.past = desk.pasts.get(host, NO_PAST)
        self._entries: dict[EventKind, Begun] = {}
        self._restored = False
        self._started = desk.options.clock()

    @property
    def provisioner(self) -> Provisioner:
        """Who is told."""
        return self.desk.provisioner

    @property
    def noted(self) -> Mapping[str, Value]:
        """Facts of the family ``install``, as they were when the run began."""
        return self.desk.noted.get(self.host, {})

    def say(self, words: str) -> None:
        """Tell how far it is."""
        self.desk.options.progress(Progress(self.host, words))

    def begin(self, kind: EventKind, after: str = SENDING) -> Begun:
        """Record a change before it is sent."""
        self.written = True
        entry = self.desk.options.book.begin(kind, self.host, [(self.machine.status, after)])
        self._entries[kind] = entry
        return entry

    def entry(self, kind: EventKind) -> Begun | None:
        """The newest event of a kind, this run's or one that an earlier run began; None where there is none."""
        event = self.past.newest.get(kind)
        if kind not in self._entries and event is not None:
            self._entries[kind] = self.desk.options.book.resume(event)
        return self._entries.get(kind)

    def keep(self, notes: Mapping[str, Value]) -> None:
        """Keep facts."""
        self.desk.options.book.note({self.host: notes})

    def state(self, to: NodeState, reason: str) -> None:
        """Bring its node record to a state; where it cannot be, that is a note."""
        words = self.desk.options.book.move([self.host], to, reason)
        if words and words not in self.notes:
            self.notes.append(words)

    async def look(self) -> Machine | None:
        """Read it again, with the others."""
        found = await self.desk.watch.look(self.machine.id)
        self.machine = found or self.machine
        return found

    async def until(self, ends: Callable[[Machine], bool], within_s: float, *, look: bool = False) -> Seen:
        """Wait; see :meth:`Watch.until`."""
        seen = await self.desk.watch.until(self.machine.id, ends, within_s, look=look)
        self.machine = seen.machine or self.machine
        return seen

    async def call(self, work: Callable[[], Awaitable[None]]) -> None:
        """Send something for this node alone."""
        self.calls += 1
        await work()

    def result(self, outcome: Told, end: End, reason: str = "") -> NodeResult:
        """What came of it."""
        return NodeResult(
            self.host,
            outcome,
            end,
            before=self.before,
            after=self.machine.status,
            reason=reason,
            notes=tuple(self.notes),
            machine_id=self.machine.id,
            seconds=self.desk.options.clock() - self._started,
            requests=self.calls,
            written=self.written,
        )

    async def run(self) -> NodeResult:
        """All of it. Only what the provisioner says counts, so a run that was killed goes on where it is."""
        self._settle()
        try:
            for _ in range(_STEPS):
                step = decide(
                    self.wish, self.machine, self.begun, ours=self.ours, installed_s=self._installed_s
                )
                result = await self._do(step)
                if result is not None:
                    return result
            return self.result(Told.UNKNOWN, End.UNKNOWN, "somebody else changes it all the time")
        except ProvisionerError as error:
            return self.result(Told.UNKNOWN, End.UNKNOWN, reason_of(error))
        finally:
            self.desk.watch.leave(self.machine.id)

    @property
    def ours(self) -> bool:
        """Whether the last phase that is recorded of it is an installation by us, which may have ended meanwhile."""
        return self.past.ours

    @property
    def _installed_s(self) -> float | None:
        return self.past.installed_s(self.machine.status, self.desk.options.now())

    def _settle(self) -> None:
        """An earlier run began something, and did not see its end: where it has ended, its event says so."""
        last = self.past.last
        phase = under_way(self.machine)
        if last is None or not self.past.open or (phase is not None and KINDS[phase] is last.kind):
            return
        entry = self.entry(last.kind)
        if entry is not None:
            entry.tell([found_later(self.machine.status)])

    async def _do(self, step: Step) -> NodeResult | None:
        if step.act is Act.START and step.phase is not None:
            return await self._start(step.phase)
        if step.act is Act.WAIT and step.phase is not None:
            return await self._wait(step.phase)
        if step.act is Act.RESTORE:
            return await self._restore()
        if step.act is Act.QUARANTINE:
            return await quarantine(self, step.words)
        if step.act is Act.DONE:
            return await self._done()
        return self._stop(step)

    def _stop(self, step: Step) -> NodeResult:
        """Nothing more can be done: refused, or it did not begin."""
        if step.act is Act.FAIL:
            return self.result(Told.FINDING, End.NOT_STARTED, step.words)
        if self.machine.stage is Stage.BROKEN or QUARANTINE_TAG in self.machine.tags:
            self.state(NodeState.QUARANTINED, self.machine.said or step.words)
            return self.result(Told.FINDING, End.QUARANTINED, step.words)
        return self.result(Told.FINDING, End.REFUSED, step.words)

    async def _done(self) -> NodeResult | None:
        checked = await self.work.check(self)
        if checked.broken:
            return await quarantine(self, checked.broken)
        if checked.notes:
            self.keep(checked.notes)
        entry = self.entry(KINDS[phase_of(self.wish.verb)]) if checked.proved else None
        if entry is not None:
            entry.tell([proved(self.machine.status, checked.proved)])
        end = _REACHED[self.wish.verb] if self.begun or self.written else End.UNCHANGED
        if checked.untold or checked.findings:
            outcome = Told.UNKNOWN if checked.untold else Told.FINDING
            reason = "; ".join([*checked.findings, *checked.untold])
            return self.result(outcome, _REACHED[self.wish.verb], reason)
        return self.result(Told.OK, end)

    async def _restore(self) -> NodeResult | None:
        """End its quarantine, because that was asked for."""
        if self._restored:
            return self.result(
                Told.FINDING, End.QUARANTINED, "its quarantine did not end when it was told to"
            )
        self.say("ending its quarantine")
        entry = self.begin(EventKind.NODE_QUARANTINE)

        async def carried_out() -> bool:
            machine = await self.look()
            return machine is None or (
                machine.stage is not Stage.BROKEN and QUARANTINE_TAG not in machine.tags
            )

        async def command() -> None:
            await self.call(lambda: self.provisioner.restore(self.machine))

        sent = await send(command, carried_out, entry)
        if sent.error is not None:
            self.machine = await self.look() or self.machine
            return self.result(told_by(sent.error), End.NOT_STARTED, reason_of(sent.error))
        entry.tell(["taken out of quarantine"])
        self.state(NodeState.PROVISIONING, "taken out of quarantine")
        if self.wish.verb is Verb.COMMISSION:
            self.wish = replace(self.wish, again=True)  # marked as fixed it says Ready, whatever was wrong
        self._restored = True
        return None if await self.look() is not None else self._gone()

    async def _start(self, phase: Phase) -> NodeResult | None:
        refused = await self.work.prepare(self, phase)
        if refused:
            return self.result(Told.FINDING, End.REFUSED, refused)
        self.say("waiting for its turn")
        await self.desk.watch.place(self.machine.id)
        stage = self.machine.stage
        self.state(NodeState.PROVISIONING, f"{phase.value} begun")
        entry = self.begin(KINDS[phase])

        async def began() -> bool:
            settle = self.desk.options.deadlines.settle_s
            seen = await self.until(lambda machine: machine.stage is not stage, settle, look=True)
            return seen.machine is not None and not seen.overdue

        self.say(f"{phase.value}: being started")
        sent = await send(lambda: self.work.send(self, phase), began, entry)
        if sent.error is None:
            self.begun |= {phase}
            if not self.desk.options.wait and phase is phase_of(self.wish.verb):
                entry.tell([NOT_WAITED])
                return self.result(Told.OK, End.BEGUN, f"{phase.value} goes on in {self.provisioner.name}")
            return await self._wait(phase, entry)
        if await self.look() is None:
            return self._gone()
        if self.machine.stage is stage:
            return self.result(told_by(sent.error), End.NOT_STARTED, self._why(sent.error))
        return None  # it moved meanwhile: decide again

    def _why(self, error: ProvisionerError) -> str:
        said = self.machine.said
        more = said and said != self.machine.status and said not in error.message
        return f"{reason_of(error)}; {said}" if more else reason_of(error)

    async def _wait(self, phase: Phase, entry: Begun | None = None) -> NodeResult | None:
        """Wait for the end of a phase, this run's or one that was under way before."""
        deadline = self.desk.options.deadlines.of(phase)
        within = deadline if entry is not None else remaining(deadline, self._since(phase))
        self.desk.watch.take(self.machine.id)
        self.begun |= {phase}
        if entry is None and self._since(phase) is not None:
            entry = self.entry(KINDS[phase])
        try:
            seen = await self.until(lambda machine: under_way(machine) is not phase, within)
        except asyncio.CancelledError:
            if entry is not None:
                entry.tell([GOES_ON])
            raise
        finally:
            self.desk.watch.leave(self.machine.id)
        if seen.machine is None:
            return self._gone()
        if entry is not None:
            entry.tell([self.machine.status if not seen.overdue else f"overdue: {self.machine.status}"])
        self.say(self.machine.status)
        return await give_up(self, phase, deadline) if seen.overdue else None

    def _since(self, phase: Phase) -> float | None:
        """Seconds since the phase was begun by what is recorded, None when it is not."""
        return self.past.since_s(KINDS[phase], self.desk.options.now())

    def _gone(self) -> NodeResult:
        words = f"{self.provisioner.name} has no machine {self.machine.id} any more"
        return self.result(Told.UNKNOWN, End.UNKNOWN, words)


def reason_of(error: ProvisionerError) -> str:
    """Its words, the host left out."""
    return error.message if not error.hint else f"{error.message} ({error.hint})"


_ANSWERS = (
    ProvisionerRefusedError,
    ProvisionerForbiddenError,
    ProvisionerPowerError,
    ProvisionerUnsupportedError,
    OtherMachineError,
)
"""Errors that are an answer about the machine, so that it is known how things stand."""


def told_by(error: ProvisionerError) -> Told:
    """Whether an error tells how things stand."""
    return Told.FINDING if isinstance(error, _ANSWERS) else Told.UNKNOWN
