"""Node records of a site: those stored, and those only planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import UsageError
from fabricctl.near import did_you_mean
from fabricctl.nodes.model import Event, Fact, NodeRecord, NodeState
from fabricctl.nodes.transitions import Transition, plan_transitions
from fabricctl.workflows.state_place import operator

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

DEFAULT_CAP = 64
"""``gates.max_nodes_per_change`` where no site file says otherwise."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of one site.

    :param location: of its store; :param site: None when only a store was named.
    """

    location: Location
    site: Site | None = None

    @property
    def site_name(self) -> str:
        """Name the store must belong to, empty when any may."""
        return self.site.name if self.site is not None else ""

    def records(self, names: Sequence[str] | None = None) -> dict[str, NodeRecord]:
        """Records by name: the site's nodes in its order, then others that are stored.

        A node of the site without a stored record is planned. A store that is not there yet holds none.

        :param names: only these. :raises UsageError: one is neither in the site nor stored.
        """
        stored = self._stored(names)
        planned = self._planned()
        if names is None:
            names = [*planned, *(name for name in stored if name not in planned)]
        unknown = [name for name in names if name not in stored and name not in planned]
        if unknown:
            raise self._unknown(unknown[0], [*planned, *stored])
        return {name: stored.get(name) or NodeRecord(name) for name in dict.fromkeys(names)}

    def plan(
        self, names: Sequence[str], to: NodeState, *, force: bool = False
    ) -> tuple[list[Transition], dict[str, NodeRecord]]:
        """Transitions that bring nodes to a state, and the records they start from.

        Without a site file a node that is not stored can only be entered, as planned.

        :raises UsageError: an unknown node, or more nodes than the site allows at once.
        :raises TransitionError: :raises InServiceError: as ``plan_transitions`` says.
        """
        if to is NodeState.PLANNED and self.site is None:
            stored = self._stored(names) if self.location.written else {}
            records = {name: stored.get(name) or NodeRecord(name) for name in dict.fromkeys(names)}
        else:
            records = self.records(names)
        states = {name: (record.state, record.version) for name, record in records.items()}
        transitions = plan_transitions(states, to, force=force)
        cap = self.site.gates.max_nodes_per_change if self.site is not None else DEFAULT_CAP
        if len(transitions) > cap:
            raise UsageError(
                f"this would change {len(transitions):,} nodes; at most {cap:,} may be changed at once",
                hint="do it in parts, or raise gates.max_nodes_per_change in the site file",
            )
        return transitions, records

    def change(self, transitions: Sequence[Transition], reason: str) -> None:
        """Make them, all or none."""
        with open_store(self.location, site=self.site_name) as store:
            store.nodes.change_states(transitions, who=operator(), reason=reason, now=datetime.now(UTC))

    def tell(
        self, name: str, facts: Sequence[Fact], retired: Sequence[str], reason: str, *, move: bool = False
    ) -> NodeRecord:
        """Add identities to a node and retire others.

        :param facts: and ``retired`` (canonical values): at least one of the two holds something.
        """
        self.records([name])  # a name nobody knows is a typing error, not a new node
        now, who = datetime.now(UTC), operator()
        with open_store(self.location, site=self.site_name) as store:
            return store.nodes.tell(name, facts, who=who, reason=reason, now=now, retired=retired, move=move)

    def events(
        self,
        *,
        since: datetime | None = None,
        subjects: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        """Events of the store, oldest first; of a store that is not there yet, none."""
        return self.latest_events(since=since, subjects=subjects, limit=limit)[0]

    def latest_events(
        self,
        *,
        since: datetime | None = None,
        subjects: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> tuple[list[Event], int]:
        """The same, and how many there are without the limit."""
        if self._absent():
            return [], 0
        with open_store(self.location, site=self.site_name, create=False) as store:
            return store.events.latest(since=since, subjects=subjects, limit=limit)

    def _stored(self, names: Sequence[str] | None) -> Mapping[str, NodeRecord]:
        if self._absent():
            return {}
        with open_store(self.location, site=self.site_name, create=False) as store:
            return store.nodes.all(names)

    def _absent(self) -> bool:
        """A site's store that was never written: nothing is wrong, it just holds nothing."""
        return self.site is not None and not self.location.written

    def _planned(self) -> dict[str, None]:
        if self.site is None:
            return {}
        from fabricctl.site.use import all_hosts

        return dict.fromkeys(all_hosts(self.site))

    def _unknown(self, name: str, known: Sequence[str]) -> UsageError:
        hint = did_you_mean(name, known)
        if self.site is not None:
            return UsageError(f"the site has no node {name!r}", hint=hint)
        hint = hint or "give --site, or enter it with node set --to planned"
        return UsageError(f"no node {name!r} is recorded", hint=hint)
