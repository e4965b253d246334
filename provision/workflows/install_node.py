"""One node of a run: its machine as it was read last, and what can be said, kept, sent and awaited for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from fabricctl.errors import FabricctlError, ProvisionerError
from fabricctl.nodes.facts import Value
from fabricctl.nodes.model import EventKind, NodeState
from provision.install.machine import QUARANTINE_TAG, Machine, Phase
from provision.install.outcome import End, NodeResult, Told
from provision.install.provisioner import Provisioner
from provision.workflows.install_book import KINDS, OUTDATED
from provision.workflows.install_model import Progress
from provision.workflows.install_past import NO_PAST
from provision.workflows.install_send import SENDING
from provision.workflows.install_told import reason_of, told_by
from provision.workflows.install_watch import Seen
from provision.workflows.install_work import Checked, Desk, Entry, Work

__all__ = ["Checked", "Node"]


class Node:
    """One node of a run.

    :param machine: as it was read last; :param begun: phases this run saw begin.
    """

    def __init__(self, host: str, machine: Machine, work: Work, desk: Desk) -> None:
        self.host, self.machine, self.work, self.desk = host, machine, work, desk
        self.begun: frozenset[Phase] = frozenset()
        self.before = machine.status
        self.calls = 0
        self.notes: list[str] = []
        self.written = False
        self.restored = False
        self.lost = False
        self.past = desk.pasts.get(host, NO_PAST)
        self._entries: dict[EventKind, Entry] = {}
        self._started = desk.options.clock()

    @property
    def provisioner(self) -> Provisioner:
        """Who is told."""
        return self.desk.provisioner

    @property
    def noted(self) -> Mapping[str, Value]:
        """Facts of the family ``install``, as they were when the run began."""
        return self.desk.noted.get(self.host, {})

    @property
    def tagged(self) -> bool:
        """Whether it is in quarantine by its tag."""
        return QUARANTINE_TAG in self.machine.tags

    @property
    def left(self) -> bool:
        """Whether an allocation to us is what an installation of ours left."""
        return self.lost or self.past.left(self.machine.status, self.desk.options.now())

    @property
    def installed_s(self) -> float | None:
        """Seconds since our installation was begun by which it is installed; None when that is not recorded."""
        return self.past.installed_s(self.machine.status, self.desk.options.now())

    @property
    def installed_here(self) -> bool:
        """Whether what is installed was begun by us, in this run or one before, or comes out of quarantine."""
        if Phase.DEPLOY in self.begun or self.tagged:
            return True
        foreign = self.desk.user and self.machine.owner and self.machine.owner != self.desk.user
        return self.installed_s is not None and not foreign

    def since(self, phase: Phase) -> float | None:
        """Seconds since a phase that is under way was begun by us, None when that is not recorded."""
        return self.past.under_way_s(KINDS[phase], self.desk.options.now())

    def say(self, words: str) -> None:
        """Tell how far it is."""
        self.desk.options.progress(Progress(self.host, words))

    def begin(self, kind: EventKind, after: str = SENDING) -> Entry:
        """Record a change before it is sent. :raises StateError: it cannot be kept, so it must not be sent."""
        with self.desk.writing():
            begun = self.desk.options.book.begin(kind, self.host, [(self.machine.status, after)])
        self.written = True
        entry = self._entries[kind] = Entry(self.desk, begun)
        return entry

    def entry(self, kind: EventKind) -> Entry | None:
        """The newest event of a kind, this run's or one that an earlier run began; None where there is none."""
        event = self.past.newest.get(kind)
        if kind not in self._entries and event is not None:
            self._entries[kind] = Entry(self.desk, self.desk.options.book.resume(event))
        return self._entries.get(kind)

    def outdate(self) -> None:
        """What a phase makes untrue is not kept any longer. :raises StateError: that cannot be kept."""
        with self.desk.writing():
            self.desk.options.book.withdraw(self.host, OUTDATED)

    def still(self) -> None:
        """A phase was refused: what it would have made untrue holds as before."""
        self.keep({name: self.noted[name] for name in OUTDATED if name in self.noted})

    def keep(self, notes: Mapping[str, Value]) -> None:
        """Keep facts. :raises StateError: they cannot be kept."""
        with self.desk.writing():
            self.desk.options.book.note({self.host: notes})

    def state(self, to: NodeState, reason: str) -> None:
        """Bring its node record to a state; where it cannot be, that is a note."""
        with self.desk.writing():
            words = self.desk.options.book.move([self.host], to, reason)
        if words and words not in self.notes:
            self.notes.append(words)

    def provisioning(self, reason: str) -> str:
        """Bring its node record on its way. :returns: why it cannot be, and then nothing must be begun."""
        with self.desk.writing():
            return self.desk.options.book.move([self.host], NodeState.PROVISIONING, reason)

    async def barred(self) -> str:
        """Why nothing may be begun on it now, by its node record as it is now; empty when it may."""
        with self.desk.writing():
            record = await self.desk.guard.record(self.host)
        if record.occupied:
            return record.occupied
        if record.state is NodeState.QUARANTINED and not self.tagged and not self.work.wish.from_quarantine:
            return "its node record says quarantined now; --from-quarantine takes it back"
        return ""

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

    def why(self, error: ProvisionerError) -> str:
        """What an error says, and what the provisioner says of the machine beside."""
        said = self.machine.said
        more = said and said != self.machine.status and said not in error.message
        return f"{reason_of(error)}; {said}" if more else reason_of(error)

    def gone(self) -> NodeResult:
        """The machine is not there any more."""
        words = f"{self.provisioner.name} has no machine {self.machine.id} any more"
        return self.result(Told.UNKNOWN, End.UNKNOWN, words)

    def failed(self, error: FabricctlError) -> NodeResult:
        """Something else than the provisioner did not do what was asked: that is this node's, and nobody else's."""
        if not self.begun:
            return self.result(told_by(error), End.NOT_STARTED, reason_of(error))
        return self.result(Told.UNKNOWN, End.UNKNOWN, f"it is {self.machine.status}; {reason_of(error)}")

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
<<<<<<< HEAD

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
        if self.machine.untold:
            return self.result(Told.UNKNOWN, End.UNKNOWN, step.words)
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
=======
>>>>>>> main
