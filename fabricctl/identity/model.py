"""What identity inference ends in: assignments with their votes, ambiguities with their hypotheses, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Source(StrEnum):
    """What an assignment rests on, strongest first."""

    DECLARED = "declared"
    """A GUID or serial the site file names."""
    VOTES = "votes"
    """Neighbours over port-labelled links."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One discovered switch and the place it was given.

    :param seen: its key in the discovery (GUID); :param planned: plan key, None when it was given no place.
    :param votes_for: weight of links that agree with the place, :param votes_against: of those that do not.
    :param margin: votes for it minus votes for the best other place; <= 0 is no place at all.
    :param runner_up: plan key of that other place.
    :param described: the name its node description gives, empty when it says none.
    """

    seen: str
    planned: str | None
    source: Source
    votes_for: int = 0
    votes_against: int = 0
    margin: int = 0
    runner_up: str | None = None
    described: str = ""
    place: str = ""
    """Rack and unit of the place, as people read it; empty when nobody said."""
    described_differs: bool = False
    """The description names another planned switch than the place."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One way to explain what is seen.

    :param words: what would have happened, and what repairs it ("the host bundles are exchanged: move 64 host ends").
    :param names: discovered key -> plan key it implies, for the devices of the ambiguity.
    :param moves: plugs to move if it is the truth; :param renames: devices that stand elsewhere than assigned.
    """

    words: str
    names: tuple[tuple[str, str], ...]
    moves: int
    renames: int


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """Devices that cannot be told apart from here.

    :param devices: discovered keys; :param hypotheses: at least two, best first.
    :param decide_by: what to look at to decide, one instruction each.
    """

    devices: tuple[str, ...]
    hypotheses: tuple[Hypothesis, ...]
    decide_by: tuple[str, ...]


class Said(StrEnum):
    """Who says a contradicted identity."""

    DECLARED = "declared"
    """The site file, or a node-name-map."""
    SNAPSHOT = "snapshot"
    """The plan itself, which knows its devices by GUID."""
    HARVESTED = "harvested"
    """A list of HCA GUIDs read off the hosts."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A declared identity that the cabling speaks against: a finding.

    :param seen: discovered key; :param declared: plan key as declared; :param by_votes: plan key the votes say; of a
        harvested HCA, what it describes itself as and is cabled as.
    """

    seen: str
    declared: str
    by_votes: str
    votes_for: int
    votes_against: int
    said: Said = Said.DECLARED


class RefusalKind(StrEnum):
    """Why nothing is said."""

    WRONG_FABRIC = "wrong_fabric"
    """The discovery is not of the planned fabric."""
    NO_ANCHOR = "no_anchor"
    """Nothing ties the discovery to the plan: no host known by name, no switch declared."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing is said. :param evidence: one sentence each, the first says it all."""

    evidence: tuple[str, ...]
    kind: RefusalKind = RefusalKind.WRONG_FABRIC


@dataclass
class Identification:
    """The answer. ``names`` holds only what is certain: declared, or voted with margin and not ambiguous."""

    assignments: list[Assignment] = field(default_factory=list)
    ambiguities: list[Ambiguity] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    refusal: Refusal | None = None
    names: dict[str, str] = field(default_factory=dict)
    """Discovered key (GUID) -> planned name, ready for ``Names.declared``. Switches only: a host end inferred from
    where its cable is plugged would hide that two host cables are exchanged."""
    unplaced: list[str] = field(default_factory=list)
    """Discovered switches that no place of the plan fits."""
    unfilled: list[str] = field(default_factory=list)
    """Planned switches (plan keys) that no discovered one was given to."""
    notes: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    """Hypotheses taken as fact because somebody said so, one sentence each."""
    assumed_keys: frozenset[str] = frozenset()
    """Discovered keys whose name rests on them: not to be stored."""
    plan_names: dict[str, str] = field(default_factory=dict)
    """Plan key -> planned name, where they differ (a plan keyed by GUID)."""
    links: int = 0
    """Discovered cables between switches, for scale."""

    @property
    def ambiguous(self) -> set[str]:
        """Discovered keys of all devices that cannot be told apart."""
        return {device for ambiguity in self.ambiguities for device in ambiguity.devices}

    def name(self, planned: str) -> str:
        """Planned name of a plan key."""
        return self.plan_names.get(planned, planned)
