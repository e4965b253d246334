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


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A declared identity that the cabling speaks against: a finding.

    :param seen: discovered key; :param declared: plan key as declared; :param by_votes: plan key the votes say.
    """

    seen: str
    declared: str
    by_votes: str
    votes_for: int
    votes_against: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing is said: this is another fabric. :param evidence: one sentence each."""

    evidence: tuple[str, ...]


@dataclass
class Identification:
    """The answer. ``names`` holds only what is certain: declared, or voted with margin and not ambiguous."""

    assignments: list[Assignment] = field(default_factory=list)
    ambiguities: list[Ambiguity] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    refusal: Refusal | None = None
    names: dict[str, str] = field(default_factory=dict)
    """GUID -> planned name, ready for ``Names.declared``; hosts' HCAs that were inferred included."""
    unplaced: list[str] = field(default_factory=list)
    """Discovered switches that no place of the plan fits."""
    unfilled: list[str] = field(default_factory=list)
    """Planned switches (plan keys) that no discovered one was given to."""
    notes: list[str] = field(default_factory=list)
