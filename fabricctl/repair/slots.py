"""What the plan wants, as assemblies: one slot per planned cable, made when somebody asks for a port."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import Link, LinkDetail, Port
from fabricctl.repair.assemblies import KINDS, Kind, is_transceiver, type_of_part
from fabricctl.repair.knowledge import Devices, RepairKnowledge
from fabricctl.repair.lying import Lying
from fabricctl.repair.model import Assembly, AssemblyType, Mismatch, Plug, Socket, TypeSource
from fabricctl.repair.sockets import Sockets

_WORDS = frozenset(kind.value for kind in AssemblyType)


def planned_kinds(comparison: Comparison, knowledge: RepairKnowledge) -> Callable[[Link], AssemblyType]:
    """Planned link -> kind of cable, as the fewest moves take it: plan, site, the cable that lies there, else fibre."""
    devices = Devices(comparison, knowledge)
    sockets = Sockets(devices)
    slots = Slots(devices, sockets, Lying(comparison, devices, sockets))
    return lambda link: slots.kind_of(link)[0].type


class Slots:
    """Slots by port.

    :ivar bad: planned ports whose declared type cannot make what the plan joins there, with the mismatch.
    """

    def __init__(self, devices: Devices, sockets: Sockets, lying: Lying) -> None:
        self.devices, self.sockets, self.lying = devices, sockets, lying
        self.plan = devices.plan
        self.bad: dict[Port, Mismatch] = {}
        self._at: dict[Port, Assembly | None] = {}
        self._plugs: dict[Port, Plug] = {}

    def at(self, port: Port) -> Assembly | None:
        """The slot one of whose plugs sits on this port; None when the plan wants nothing there."""
        if port not in self._at:
            link = self.plan.links.get(port)
            if link is None:
                return None
            self.add(self._make(link))
        return self._at[port]

    def plug_at(self, port: Port) -> Plug | None:
        """The planned plug on this port."""
        return self._plugs.get(port) if self.at(port) is not None else None

    def words(self, port: Port) -> str:
        """A port for a sentence: ``ibl-p01-r1/27``."""
        return f"{self.devices.name(port.node)}/{self.devices.ends.own_number(port)}"

    @cached_property
    def splitters(self) -> tuple[Kind, ...]:
        """Kinds of splitters the plan tells of."""
        told = {self._told(link) for link in self.plan.each_link()}
        return tuple(kind for kind in KINDS.values() if kind.type in told and kind.is_splitter)

    def add(self, slot: Assembly) -> None:
        """Enter a slot under its ports."""
        for plug in slot.plugs:
            for port in plug.socket.ports:
                self._at[port] = slot
                self._plugs[port] = plug

    def _make(self, link: Link) -> Assembly:
        kind, source = self.kind_of(link)
        if kind.single:
            return self._assembly(kind, source, self._ends(link.a, link.b), [link])
        made = self._split(kind, link) if kind.is_splitter else self._twin(kind, link)
        if isinstance(made, str):
            if source is TypeSource.PLAN:
                mismatch = Mismatch((link.a, link.b), kind.type, made)
                self.bad.update(dict.fromkeys((link.a, link.b), mismatch))
                return self._assembly(kind, source, self._ends(link.a, link.b), [link])
            # the cable that lies there says its type, and the plan cannot be made with it: the slot stays untyped
            kind, source = KINDS[AssemblyType.FIBRE], TypeSource.ASSUMED
            return self._assembly(kind, source, self._ends(link.a, link.b), [link])
        links = [self.plan.links[port] for port in made[0].socket.ports if port in self.plan.links]
        return self._assembly(kind, source, made, links)

    def _assembly(
        self, kind: Kind, source: TypeSource, plugs: tuple[Plug, ...], links: list[Link]
    ) -> Assembly:
        details = [link.detail for link in links if link.detail is not None]
        return Assembly(
            kind.type,
            plugs,
            source,
            label=next((d.cable for d in details if d.cable), ""),
            part_number=next((d.part_number for d in details if d.part_number), ""),
            length_m=max((d.length_m for d in details if d.length_m is not None), default=None),
            lines=tuple(sorted({link.line for link in links if link.line})),
        )

    def _ends(self, a: Port, b: Port) -> tuple[Plug, ...]:
        first, second = sorted((a, b), key=self.devices.by_name)
        return Plug("end", 1, Socket((first,))), Plug("end", 2, Socket((second,)))

    def kind_of(self, link: Link) -> tuple[Kind, TypeSource]:
        """The kind the plan tells, else the one of the cables that lie there, else fibre."""
        told = self._told(link)
        if told is not None:
            return KINDS[told], TypeSource.PLAN
        for port in (link.a, link.b):
            part = self.lying.part(port)
            lies = type_of_part(part)
            if lies is None and is_transceiver(part):
                lies = AssemblyType.FIBRE
            shared = self.lying.one_plug(port) if lies is None else None
            if lies is not None or shared is not None:
                return KINDS[lies or (shared[0] if shared else AssemblyType.FIBRE)], TypeSource.CABLE_INFO
        return KINDS[AssemblyType.FIBRE], TypeSource.ASSUMED

    def _told(self, link: Link) -> AssemblyType | None:
        detail = link.detail
        if detail is None:
            return self.devices.knowledge.class_kind(link)
        if detail.assembly in _WORDS:
            return AssemblyType(detail.assembly)
        by_part = type_of_part(detail.part_number) or type_of_part(detail.cable)
        by_class = by_part or self.devices.knowledge.class_kind(link)
        return by_class or (AssemblyType.FIBRE if _optical(detail) else None)

    def _other_kind(self, kind: Kind, ports: list[Port]) -> str:
        """Why links that would share a plug cannot be one cable: the plan gives them different types."""
        for port in ports:
            link = self.plan.links.get(port)
            told = self._told(link) if link is not None else None
            if told is not None and KINDS[told].family != kind.family:
                return (
                    f"one plug would fill {' and '.join(map(self.words, ports))}, but the plan gives "
                    f"{self.words(port)} another kind of cable ({told})"
                )
        return ""

    def _twin(self, kind: Kind, link: Link) -> tuple[Plug, ...] | str:
        near, place, far = link.a, self.sockets.of(link.a, 2, in_cage=kind.in_cage), link.b
        if place is None:
            near, place, far = link.b, self.sockets.of(link.b, 2, in_cage=kind.in_cage), link.a
        if place is None:
            return (
                f"nothing tells which two ports share a cage at {self.words(link.a)} and {self.words(link.b)}"
            )
        peers = [self.plan.peer(port) for port in place]
        other = self.sockets.of(far, 2, in_cage=kind.in_cage)
        if other is None:
            found = tuple(peer for peer in peers if peer is not None)
            if len(found) < 2 or len({self.devices.box(peer.node) for peer in found}) > 1:
                return (
                    f"{self.words(place[0])} and {self.words(place[1])} share a plug, their far ends no cage"
                )
            other = found
        for port, peer, wanted in zip(place, peers, other, strict=True):
            if peer not in (wanted, None) or (peer is None and self.plan.peer(wanted) is not None):
                seen = self.words(peer) if peer is not None else "nothing"
                return (
                    f"the twin plug at {self.words(near)} puts {self.words(port)} on {self.words(wanted)}, "
                    f"the plan on {seen}"
                )
        clash = self._other_kind(kind, [*place])
        return clash or (Plug("end", 1, Socket(place)), Plug("end", 2, Socket(other)))

    def _split(self, kind: Kind, link: Link) -> tuple[Plug, ...] | str:
        sides = [end for end in (link.a, link.b) if not self.devices.is_hca(end.node)]
        why = f"no head of {kind.ports} ports fits {self.words(link.a)} or {self.words(link.b)}"
        for head in sides:
            place = self.sockets.of(head, kind.ports, in_cage=kind.in_cage)
            if place is None:
                continue
            peers = [self.plan.peer(port) for port in place]
            if any(peer in place for peer in peers):
                why = f"the head at {self.words(head)} would carry its own tail"
                continue
            clash = self._other_kind(kind, [*place])
            if clash:
                why = clash
                continue
            tails = [
                Plug("tail", at + 1, Socket((peer,))) for at, peer in enumerate(peers) if peer is not None
            ]
            return Plug("head", 1, Socket(place)), *tails
        return why


def _optical(detail: LinkDetail) -> bool:
    """Whether the plan names transceivers or MPO connectors."""
    return any(is_transceiver(part) for part in detail.modules) or any(
        "MPO" in connector.upper() for connector in detail.connectors
    )
