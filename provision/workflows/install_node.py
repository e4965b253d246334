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
