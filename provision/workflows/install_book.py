"""What is kept of installations in a site's store: events, node states, and facts of the family ``install``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from fabricctl.errors import InServiceError, StateConflictError, TransitionError
from fabricctl.nodes.facts import FactTelling, NodeFact, Value, family_of
from fabricctl.nodes.model import Event, EventKind, NodeRecord, NodeState
from fabricctl.nodes.transitions import OCCUPIED, plan_transitions
from provision.install.machine import Phase
from provision.workflows.install_past import PHASES, Past
from provision.workflows.journal import FORGET, Begun, Journal, Move, resumed

if TYPE_CHECKING:
    from fabricctl.adapters.store.store import Store

FAMILY = "install"
MACHINE_ID = "install.machine_id"
"""Id of its machine in the provisioner."""
DISKS = "install.disks"
"""Its disks as they were after the last good commissioning."""
ROOT = "install.root_serial"
"""Serial number of the disk the system is on."""
SERIES = "install.series"
"""What is installed."""
OUTDATED = (ROOT, SERIES)
"""Facts that a phase makes untrue from the moment it begins."""
KINDS = {
    Phase.COMMISSION: EventKind.NODE_COMMISSION,
    Phase.DEPLOY: EventKind.NODE_DEPLOY,
    Phase.RELEASE: EventKind.NODE_RELEASE,
}


class Book(Protocol):
    """Keeps what is done to hosts, from before it is sent."""

    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:
        """As :class:`provision.workflows.journal.Record`."""
        ...

    def move(self, hosts: Sequence[str], to: NodeState, reason: str) -> str:
        """Bring node records to a state. :returns: why it cannot be; empty when it was, or is so already."""
        ...

    def planned(self, hosts: Sequence[str]) -> list[str]:
        """Those that are planned and nothing more yet, by their node records."""
        ...

    def states(self, hosts: Sequence[str]) -> Mapping[str, NodeState]:
        """Node states as they are now, of hosts that have a record."""
        ...

    def occupied(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Hosts that must not be disturbed now -> why, in words: jobs may run on them, and nobody forces it."""
        ...

    def note(self, notes: Mapping[str, Mapping[str, Value]]) -> None:
        """Keep facts: host -> field -> value. :raises StateError: they cannot be kept."""
        ...

    def noted(self, hosts: Sequence[str]) -> Mapping[str, Mapping[str, Value]]:
        """Facts of the family ``install`` that hold: host -> field -> value."""
        ...

    def withdraw(self, host: str, fields: Sequence[str]) -> None:
        """Facts that do not hold any more. :raises StateError: that cannot be kept."""
        ...

    def past(self, hosts: Sequence[str]) -> Mapping[str, Past]:
        """What was begun on hosts before, of those of which something is recorded."""
        ...

    def resume(self, event: Event) -> Begun:
        """An event that was begun by an earlier run, to tell what came of it."""
        ...


class _NoBook:
    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:
        return FORGET.begin(kind, host, moves)

    def move(self, hosts: Sequence[str], to: NodeState, reason: str) -> str:  # noqa: ARG002
        return ""

    def planned(self, hosts: Sequence[str]) -> list[str]:  # noqa: ARG002
        return []

    def states(self, hosts: Sequence[str]) -> Mapping[str, NodeState]:  # noqa: ARG002
        return {}

    def occupied(self, hosts: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG002
        return {}

    def note(self, notes: Mapping[str, Mapping[str, Value]]) -> None:
        pass

    def noted(self, hosts: Sequence[str]) -> Mapping[str, Mapping[str, Value]]:  # noqa: ARG002
        return {}

    def withdraw(self, host: str, fields: Sequence[str]) -> None:
        pass

    def past(self, hosts: Sequence[str]) -> Mapping[str, Past]:  # noqa: ARG002
        return {}

    def resume(self, event: Event) -> Begun:
        return FORGET.begin(event.kind, event.subject, [(event.before, event.after)])


NO_BOOK: Book = _NoBook()
"""Keeps nothing: where somebody else keeps the record."""


def keep_facts(
    store: Store,
    notes: Mapping[str, Mapping[str, Value]],
    source: str,
    *,
    who: str,
    reason: str,
    now: datetime,
) -> None:
    """Keep facts about hosts as a whole, all of one host together.

    :param notes: host -> field -> value; :param source: who says so. :raises StateError: they cannot be kept.
    """
    tellings = [
        FactTelling(host, [NodeFact("", name, value, source) for name, value in fields.items()])
        for host, fields in notes.items()
        if fields
    ]
    if tellings:
        store.facts.tell(tellings, who=who, reason=reason, now=now)


@dataclass(frozen=True)
class StoreBook:
    """A book over one open store.

    :param source: who says the facts (``maas``); :param forced: hosts for which a guard was overridden.
    """

    store: Store
    reason: str
    source: str
    forced: Collection[str] = ()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def begin(self, kind: EventKind, host: str, moves: Sequence[Move]) -> Begun:
        """Keep what is about to be done. :raises StateError: it cannot be kept."""
        return Journal(self.store, self.reason, self.forced, self.now).begin(kind, host, moves)

    def move(self, hosts: Sequence[str], to: NodeState, reason: str) -> str:
        """Bring node records to a state, those that are not there. :returns: why one of them cannot be."""
        from fabricctl.workflows.state_place import operator

        records = self.store.nodes.all(list(hosts))
        states = {host: _state(records.get(host)) for host in hosts}
        wanted = {host: one for host, one in states.items() if one[0] is not to or not one[1]}
        try:
            forced = {host: one for host, one in wanted.items() if host in self.forced}
            plain = {host: one for host, one in wanted.items() if host not in self.forced}
            moves = [*plan_transitions(plain, to), *plan_transitions(forced, to, force=True)]
            self.store.nodes.change_states(moves, who=operator(), reason=reason, now=self.now())
        except (TransitionError, InServiceError, StateConflictError) as exc:
            return f"its node record was left as it is: {exc}"
        return ""

    def planned(self, hosts: Sequence[str]) -> list[str]:
        """Those that are planned and nothing more yet."""
        records = self.store.nodes.all(list(hosts))
        return [host for host in hosts if _state(records.get(host))[0] is NodeState.PLANNED]

    def states(self, hosts: Sequence[str]) -> Mapping[str, NodeState]:
        """Node states as they are now."""
        return {host: record.state for host, record in self.store.nodes.all(list(hosts)).items()}

    def occupied(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """Those in service or draining for which that was not overridden."""
        states = self.states(hosts)
        hint = "drain it and set it to repair first, or give --force-in-service"
        return {
            host: f"its node record says {state.words}: {hint}"
            for host, state in states.items()
            if state in OCCUPIED and host not in self.forced
        }

    def note(self, notes: Mapping[str, Mapping[str, Value]]) -> None:
        """Keep facts, all of one host together."""
        from fabricctl.workflows.state_place import operator

        keep_facts(self.store, notes, self.source, who=operator(), reason=self.reason, now=self.now())

    def noted(self, hosts: Sequence[str]) -> Mapping[str, Mapping[str, Value]]:
        """Facts of the family ``install`` that hold."""
        return {
            host: {
                stored.fact.field: stored.fact.value
                for stored in facts
                if family_of(stored.fact.field) == FAMILY and not stored.fact.part
            }
            for host, facts in self.store.facts.current(hosts).items()
        }

    def withdraw(self, host: str, fields: Sequence[str]) -> None:
        """Facts that do not hold any more."""
        from fabricctl.workflows.state_place import operator

        telling = FactTelling(host, [], gone=frozenset(("", name) for name in fields))
        self.store.facts.tell([telling], who=operator(), reason=self.reason, now=self.now())

    def past(self, hosts: Sequence[str]) -> Mapping[str, Past]:
        """What was begun on hosts before; events come oldest first, so the newest of a kind stays."""
        newest: dict[str, dict[EventKind, Event]] = {}
        for event in self.store.events.all(subjects=hosts):
            if event.kind in PHASES:
                newest.setdefault(event.subject, {})[event.kind] = event
        return {host: Past(events) for host, events in newest.items()}

    def resume(self, event: Event) -> Begun:
        """An event of an earlier run, to tell what came of it."""
        return resumed(self.store, event)


def _state(record: NodeRecord | None) -> tuple[NodeState, int]:
    return (NodeState.PLANNED, 0) if record is None else (record.state, record.version)
