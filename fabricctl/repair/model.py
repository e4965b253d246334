"""Plugs, places and assemblies: what a person in the hall can take in the hand.

A *place* is a cage, or one MPO socket of a transceiver seated in a cage; it has one or more InfiniBand ports, in
order. An *assembly* is one cable: plugs, and which position of which plug is joined to which. The unit of movement
is a plug: a splitter's head takes both its ports with it.

Ports are in the plan's keys (``Comparison.in_plan``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fabricctl.cable_kinds import AssemblyType as AssemblyType
from fabricctl.fabric import Port


class TypeSource(StrEnum):
    """How an assembly's type is known."""

    PLAN = "plan"
    CABLE_INFO = "cable_info"
    ASSUMED = "assumed"


class Socket(NamedTuple):
    """A place a plug sits in: the InfiniBand ports it occupies, in order of its positions."""

    ports: tuple[Port, ...]

    @property
    def node(self) -> str:
        """Key of the device."""
        return self.ports[0].node


class Plug(NamedTuple):
    """One plug of an assembly. :param role: ``end``, ``head`` or ``tail``; :param number: 1-based among its role."""

    role: str
    number: int
    socket: Socket


@dataclass(frozen=True, slots=True)
class Assembly:
    """One cable, planned or existing.

    :param plugs: in the type's order; which position of which plug is joined to which is the type's map.
    :param label: what the plan calls it; :param length_m: as planned; :param lines: plan lines that wrote it.
    """

    type: AssemblyType
    plugs: tuple[Plug, ...]
    type_from: TypeSource = TypeSource.ASSUMED
    label: str = ""
    part_number: str = ""
    serial: str = ""
    length_m: float | None = None
    lines: tuple[int, ...] = ()


class MoveKind(StrEnum):
    """What is done with a plug."""

    MOVE = "move"
    PULL = "pull"
    """A cable nobody planned, or one left over: both plugs out."""
    NEW = "new"
    """A cable that is not there: lay a new one."""


@dataclass(frozen=True, slots=True)
class Move:
    """One plug's way. PULL and NEW are one entry per plug, too.

    :param cable: the existing assembly (of NEW: the intended one); :param plug: index into its plugs.
    :param source: where the plug is, None when NEW; :param target: where it goes, None when PULL.
    :param becomes: the intended assembly this cable serves when the plan is done, None when PULL.
    :param component: 0-based number of the independent group of moves it belongs to.
    :param out: and :param into: 1-based steps within the component at which the plug comes out and goes in; 0 where
        it does not. Equal when it is done in one go; else the plug hangs capped in between (``hangs``).
    :param hosts: hosts whose link goes through this plug now: they lose it while the plug is out.
    :param reaches: whether the cable spans its new run, None when nothing tells.
    :param has_m: what the cable spans for certain; :param needs_m: the longest new run of this plug.
    :param note: what to know before touching it, one sentence, may be empty.
    """

    kind: MoveKind
    cable: Assembly
    plug: int
    source: Socket | None
    target: Socket | None
    becomes: Assembly | None
    component: int
    out: int = 0
    into: int = 0
    hosts: tuple[str, ...] = ()
    reaches: bool | None = None
    has_m: float | None = None
    needs_m: float | None = None
    note: str = ""
    links: bool = True
    """False when no cable of its make links at the speed planned there, however long; ``note`` says why."""

    @property
    def hangs(self) -> bool:
        """The plug comes out first and hangs capped until its place is free."""
        return 0 < self.out < self.into


class OrderKind(StrEnum):
    """Parts work that is no move."""

    CABLE = "cable"
    TRANSCEIVER = "transceiver"
    SWITCH = "switch"
    HCA = "hca"


@dataclass(frozen=True, slots=True)
class PartOrder:
    """A missing or dead part. :param ports: plan ports it is about; :param words: what is seen, one sentence."""

    kind: OrderKind
    device: str
    ports: tuple[Port, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A pattern that cannot be made with cables of the declared type: wrong type or wrong identity. A finding."""

    ports: tuple[Port, ...]
    declared: AssemblyType
    words: str


@dataclass(frozen=True)
class RepairPlan:
    """The fewest moves.

    :param moves: grouped by component, inside a component in the order their plugs come out (``out``, ``into``).
    :param components: number of independent groups.
    :param plugs_moved: plugs of kind MOVE; :param pulled: and :param added: whole cables.
    :param assumed: how many of the cables that are moved, pulled or laid are of an assumed type.
    """

    moves: tuple[Move, ...]
    components: int
    plugs_moved: int
    pulled: int
    added: int
    parts: tuple[PartOrder, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    assumed: int = 0
    notes: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()
    """Groups of wrong cables that are left as they are, and why: silence about them would read as health."""
