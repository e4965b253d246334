"""A work order: what a person in the hall is asked to do, in words, and what a program needs to check it later.

The values here are also the published form: ``fabricctl/report/work_order_json.py`` writes and reads them as they
stand, and the text below a field is its description in ``fabricctl schema work-order``. Within one version fields are
only added, with a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fabricctl.repair.model import AssemblyType, OrderKind, TypeSource

DOCS: Final[Mapping[str, bool]] = {"use_attribute_docstrings": True}
"""For pydantic, which makes the schema: the text below a field describes it."""


class StepKind(StrEnum):
    """What is done in a step."""

    MOVE = "move"
    """One plug goes to another place."""
    PULL = "pull"
    """A whole cable comes out."""
    LAY = "lay"
    """A new cable goes in."""


@dataclass(frozen=True, slots=True)
class PortId:
    """One InfiniBand port, as any discovery names it."""

    __pydantic_config__ = DOCS

    guid: str
    """Canonical node GUID; empty when the device was never seen and the plan does not tell."""
    port: int
    """InfiniBand port number as the discovery writes it."""
    name: str
    """Device name, as planned: ibl-p01-r1, or gpu001 mlx5_3."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a plug sits or shall sit, in the words of the hall."""

    __pydantic_config__ = DOCS

    words: str
    """The whole place: rack B07, U31, rear (usual), ibl-p01-r1, cage 14 port 1 (lanes 1-4)."""
    where: str
    """The part on the device: cage 14 port 1 (lanes 1-4)."""
    mark: str
    """Of an MPO in a shared cage: the MPO of lanes 1-4; check the mark on the plug. Else empty."""
    detail: str
    """What else tells where it is: InfiniBand port 27; top row, column 7 (usual)."""
    label: str
    """How a cable label names it: B07-U31-C14P1."""
    rack: str
    """Empty when nobody told."""
    unit: str
    """U31; empty when nobody told."""
    side: str
    """Side of the rack, with how that is known: rear (usual); empty when unknown."""
    device: str
    """Switch, or host."""
    hca: str
    """Of a host, the HCA: mlx5_3."""
    ports: tuple[PortId, ...]
    """The InfiniBand ports of the place, in the order of the plug's positions."""

    @property
    def short(self) -> str:
        """The part on the device without what stands in brackets: cage 14 port 1."""
        return self.where.split(" (")[0]

    @property
    def careful(self) -> str:
        """The part on the device, for where a plug goes in: port 2 (the MPO of lanes 5-8; check the mark ...)."""
        return f"{self.short} ({self.mark})" if self.mark else self.where

    @property
    def brief(self) -> str:
        """Device and place without brackets: ibl-p01-r1 cage 14 port 1."""
        return f"{self.device} {self.hca}".rstrip() if self.hca else f"{self.device} {self.short}"

    @property
    def stand(self) -> str:
        """Where to stand: rack B07, U31, rear (usual), ibl-p01-r1."""
        return self.words.removesuffix(f", {self.where}")


@dataclass(frozen=True, slots=True)
class FarEnd:
    """Another plug of the same cable."""

    __pydantic_config__ = DOCS

    now: Spot
    """Where it is when the order is made; of a new cable, where it shall go."""
    later: Spot | None
    """Where it shall be when the order is done, null when it stays."""
    step: int
    """Number of the step that moves it, 0 when none does."""
    role: str
    """end, head or tail."""


@dataclass(frozen=True, slots=True)
class Joint:
    """One position of a moving plug, for the check: done when ``target`` is joined to one of ``far``."""

    __pydantic_config__ = DOCS

    source: PortId | None
    """Where the position is now, null of a new cable."""
    target: PortId | None
    """Where it shall be, null when the cable is pulled."""
    far: tuple[PortId, ...]
    """The port at the cable's other end: now, and later where that end moves too."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do."""

    __pydantic_config__ = DOCS

    number: int
    """For reading: 1, 2, 3 in the order of work. A rerun may number otherwise."""
    id: str
    """From what is done, never from when: the same step has the same id in every run."""
    kind: StepKind
    group: int
    """Steps that belong together, 1-based; they are done in their order, one after the other."""
    place_in_group: int
    """1-based."""
    group_size: int
    text: str
    """What to do, one sentence."""
    first: tuple[str, ...]
    """What to do before it, one sentence each: plugs that must make way and hang until their own step."""
    hangs_since: int
    """Number of the step that unplugged this plug to make way, 0 when it is plugged in until now."""
    sources: tuple[Spot, ...]
    """Where the plug is; of a cable to pull, every plug of it; none of a new cable."""
    targets: tuple[Spot, ...]
    """Where it goes; of a new cable, every plug of it; none when pulled."""
    others: tuple[FarEnd, ...]
    """The other plugs of the same cable, to trace it by."""
    label_here: str
    """What the label at this plug should say when done: own end to far end."""
    label_far: str
    """The same, read from the far end."""
    label_now: str
    """What a label made from what is plugged in today would say; empty where that is no other."""
    plan_label: str
    """What the plan calls the cable, empty when it has no name for it."""
    cable: AssemblyType
    cable_words: str
    """Kind, length, part and serial number in words, with how they are known."""
    type_from: TypeSource
    expect: str
    """The sign of success."""
    hosts: str
    """Hosts that lose a link while this is done, folded; empty when none does."""
    hosts_words: str
    """The same as a sentence; says so when none does."""
    minutes: float
    """Estimate; see the notes of the order."""
    stop_if: tuple[str, ...]
    """Reasons to stop that hold for this step, beside those of every step."""
    undo: str
    joints: tuple[Joint, ...]
    """For the check."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part to look at, to order or to exchange: work of its own, no step."""

    __pydantic_config__ = DOCS

    id: str
    kind: OrderKind
    device: str
    text: str
    """What is seen, one sentence."""
    action: str
    """What to do, one sentence."""
    spots: tuple[Spot, ...]
    """The ports it is about."""
    far: tuple[Spot | None, ...]
    """What each of these ports should be joined to, null when the plan leaves it empty."""


@dataclass(frozen=True, slots=True)
class LookFirst:
    """Something that does not fit and is to be looked at before any step near it is done."""

    __pydantic_config__ = DOCS

    text: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """What to do, in the order to do it."""

    __pydantic_config__ = DOCS

    site: str
    """Name of the site, empty when not told."""
    plan: str
    """What the fabric was compared with."""
    discoveries: tuple[str, ...]
    """What was read of the fabric."""
    made: str
    """When, ISO 8601; empty when not told."""
    steps: tuple[Step, ...]
    parts: tuple[Part, ...] = ()
    look_first: tuple[LookFirst, ...] = ()
    not_covered: tuple[str, ...] = ()
    """What could not be told, so what this order says nothing about."""
    notes: tuple[str, ...] = ()
    part: int = 1
    """Which technician's share this is, 1-based."""
    of_parts: int = 1
    """Among how many technicians the work is shared."""
    limited_to: str = ""
    """device NAME or rack NAME when only a piece was asked for."""
    left_out: int = 0
    """Steps of the whole repair that are not in this piece."""

    @property
    def groups(self) -> int:
        """Groups of steps that belong together."""
        return len({step.group for step in self.steps})

    @property
    def minutes(self) -> float:
        """Estimate for all steps."""
        return sum(step.minutes for step in self.steps)

    @property
    def racks(self) -> tuple[str, ...]:
        """Racks to work at, in the order of the first step there."""
        spots = (spot for step in self.steps for spot in (*step.sources, *step.targets))
        return tuple(dict.fromkeys(spot.rack for spot in spots if spot.rack))

    @property
    def empty(self) -> bool:
        """Nothing to do at all."""
        return not (self.steps or self.parts or self.look_first)


@dataclass(frozen=True)
class About:
    """What heads a work order. :param made: ISO 8601; the rest as in ``WorkOrder``.

    :param look_first: what to look at before any step, one text each: causes that may be settled without a move.
    """

    site: str = ""
    plan: str = ""
    discoveries: tuple[str, ...] = ()
    made: str = ""
    not_covered: tuple[str, ...] = ()
    look_first: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
