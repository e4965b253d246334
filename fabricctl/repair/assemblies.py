"""The kinds of cables: plugs, what each carries, which positions are joined, how far they reach, what they are called.

Sources, all under docs.nvidia.com/networking/display/: 400g100gpam4ovpub (LinkX 100G-PAM4 product line, "Transceivers
and Fiber Details"), intrcnctcabreqndr400eth (cable requirements), mcp4y10nxxx2x400pub, mcp7y00nxxx800pub (ordering
information), mms4x00ns400, mms4x00nm800g500m, 800g200gpam4list. What rests on memory alone says so (``status``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from fabricctl.fabric import Port
from fabricctl.repair.model import Assembly, AssemblyType, Plug

NO_REACH: Mapping[str, float] = MappingProxyType({})


class PlugShape(NamedTuple):
    """One plug of a kind. :param role: ``end``, ``head`` or ``tail``; :param ports: how many ports it carries."""

    role: str
    number: int
    ports: int = 1


class Position(NamedTuple):
    """A position of a plug: index of the plug in the kind's order, 0-based position in it."""

    plug: int
    at: int


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of assembly.

    :param plugs: in order; :param joins: which position is joined to which (the position map).
    :param permutations: which planned plug each plug may play: ``(1, 0)`` turns a cable round. A splitter has none but
        the identity: tail 1 always carries the head's first lanes, so turned tails carry other ports.
    :param in_cage: the plug fills a whole cage (copper, or a module moulded to its cable); else it is an MPO in a
        transceiver that stays where it is.
    :param keeps_side: plugs of the switch side and of the HCA side differ: OSFP is finned (IHS) in air-cooled switch
        cages and flat-topped (RHS) in ConnectX-7 cards, DGX systems and liquid-cooled switches, so no plug changes
        between them.
    :param family: kinds of one family fit each other's places.
    :param reach_m: of copper, speed name -> longest length made, metres; nothing where no source tells.
    :param part_numbers: prefixes.
    """

    type: AssemblyType
    plugs: tuple[PlugShape, ...]
    joins: tuple[tuple[Position, Position], ...]
    permutations: tuple[tuple[int, ...], ...]
    in_cage: bool
    keeps_side: bool
    family: str
    part_numbers: tuple[str, ...]
    reach_m: Mapping[str, float] = field(default=NO_REACH)
    status: str = "confirmed"

    @property
    def is_splitter(self) -> bool:
        """One head, several tails."""
        return self.plugs[0].role == "head"

    @property
    def ports(self) -> int:
        """Ports of its widest plug."""
        return self.plugs[0].ports

    @property
    def single(self) -> bool:
        """One port at each of two ends."""
        return len(self.plugs) == 2 and self.ports == 1

    def index(self, plug: Plug) -> int:
        """Index of a plug in the kind's order."""
        return plug.number - 1 if plug.role != "tail" else plug.number


def _two(ports: int) -> tuple[tuple[PlugShape, ...], tuple[tuple[Position, Position], ...]]:
    plugs = (PlugShape("end", 1, ports), PlugShape("end", 2, ports))
    return plugs, tuple((Position(0, at), Position(1, at)) for at in range(ports))


def _split(tails: int) -> tuple[tuple[PlugShape, ...], tuple[tuple[Position, Position], ...]]:
    plugs = (PlugShape("head", 1, tails), *(PlugShape("tail", t + 1) for t in range(tails)))
    return plugs, tuple((Position(0, t), Position(t + 1, 0)) for t in range(tails))


_TURN = ((0, 1), (1, 0))

KINDS: Mapping[AssemblyType, Kind] = MappingProxyType(
    {
        kind.type: kind
        for kind in (
            # how far fibres reach depends on part numbers: fabricctl/repair/reach.py
            Kind(
                AssemblyType.FIBRE,
                *_two(1),
                permutations=_TURN,
                in_cage=False,
                keeps_side=False,
                family="straight fibre",
                part_numbers=("MFP7E10", "MFP7E30"),
            ),
            Kind(
                AssemblyType.FIBRE_SPLIT_2,
                *_split(2),
                permutations=((0, 1, 2),),
                in_cage=False,
                keeps_side=False,
                family="1:2 fibre",
                part_numbers=("MFP7E20", "MFP7E40"),
            ),
            # made in 0.5, 1, 1.5 and 2 m
            Kind(
                AssemblyType.TWIN_DAC,
                *_two(2),
                permutations=_TURN,
                in_cage=True,
                keeps_side=True,
                family="twin copper",
                part_numbers=("MCP4Y10",),
                reach_m={"NDR": 2},
            ),
            # made in 3, 4 and 5 m; the part number rests on memory
            Kind(
                AssemblyType.TWIN_ACC,
                *_two(2),
                permutations=_TURN,
                in_cage=True,
                keeps_side=True,
                family="twin copper",
                part_numbers=("MCA4J80",),
                reach_m={"NDR": 5},
                status="usual",
            ),
            # passive 1 to 3 m, active (ACC) 4 and 5 m
            Kind(
                AssemblyType.DAC_SPLIT_2,
                *_split(2),
                permutations=((0, 1, 2),),
                in_cage=True,
                keeps_side=True,
                family="1:2 copper",
                part_numbers=("MCP7Y00", "MCP7Y10", "MCA7J60", "MCA7J65"),
                reach_m={"NDR": 5},
            ),
            # head of four 200G ports: its switch runs in the split-ready profile
            Kind(
                AssemblyType.DAC_SPLIT_4,
                *_split(4),
                permutations=((0, 1, 2, 3, 4),),
                in_cage=True,
                keeps_side=True,
                family="1:4 copper",
                part_numbers=("MCP7Y50", "MCP7Y40", "MCA7J70", "MCA7J75"),
                reach_m={"NDR": 5},
            ),
            # QSFP cages of switch and HCA take the same plug; active optical cables of one port move alike.
            # Prefixes from memory, no reach: copper ends at metres, the optical ones at a hundred.
            Kind(
                AssemblyType.SINGLE_DAC,
                *_two(1),
                permutations=_TURN,
                in_cage=True,
                keeps_side=False,
                family="single copper",
                part_numbers=("MCP1650", "MCP1600", "MFS1S00", "MFA1A00"),
                status="usual",
            ),
        )
    }
)
"""Every kind by its type."""

TRANSCEIVERS = ("MMA", "MMS")
"""Prefixes of transceivers: what reads so is fibre, straight or split."""


def kind_of(assembly: Assembly) -> Kind:
    """The kind of an assembly."""
    return KINDS[assembly.type]


def type_of_part(part_number: str) -> AssemblyType | None:
    """The type a cable's part number says; None for a transceiver, another maker's part or no part number."""
    text = part_number.strip().upper()
    for kind in KINDS.values():
        if text.startswith(kind.part_numbers):
            return kind.type
    return None


def is_transceiver(part_number: str) -> bool:
    """Whether the part is a transceiver, so that what hangs on it is fibre."""
    return part_number.strip().upper().startswith(TRANSCEIVERS)


def seated(assembly: Assembly) -> dict[int, Plug]:
    """Plug index in the kind's order -> plug; a plug nobody sees (a dark tail) is not in it."""
    kind = kind_of(assembly)
    return {kind.index(plug): plug for plug in assembly.plugs}


def joined(assembly: Assembly) -> Iterator[tuple[Port, Port]]:
    """The pairs of ports it joins, as far as both plugs are known."""
    plugs = seated(assembly)
    for near, far in kind_of(assembly).joins:
        a, b = plugs.get(near.plug), plugs.get(far.plug)
        if a is None or b is None:
            continue
        if near.at < len(a.socket.ports) and far.at < len(b.socket.ports):
            yield a.socket.ports[near.at], b.socket.ports[far.at]
