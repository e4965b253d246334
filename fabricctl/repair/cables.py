"""What really lies there, as assemblies: one per cable, made when somebody asks for a port.

The type of a cable is what its EEPROM says (CABLE_INFO part number); a serial that two ports of a cage share says that
one plug sits in both; else it is what the plan wants in one of its places; else fibre.
"""

from __future__ import annotations

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import Link, Port
from fabricctl.repair.assemblies import KINDS, Kind, is_transceiver, kind_of, type_of_part
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.model import Assembly, AssemblyType, Mismatch, Plug, Socket, TypeSource
from fabricctl.repair.slots import Slots
from fabricctl.repair.sockets import Sockets

_OPTICAL = (KINDS[AssemblyType.FIBRE].family, KINDS[AssemblyType.FIBRE_SPLIT_2].family)


class Cables:
    """Existing cables by port (plan keys, as ``Comparison.in_plan`` names them).

    :ivar bad: ports of cables whose pattern cannot be made with the type they must be, with the mismatch.
    """

    def __init__(self, comparison: Comparison, devices: Devices, sockets: Sockets, slots: Slots) -> None:
        self.comparison, self.devices, self.sockets, self.slots = comparison, devices, sockets, slots
        self.seen_of = comparison.binding.seen_of
        self.bad: dict[Port, Mismatch] = {}
        self._at: dict[Port, Assembly] = {}

    def link(self, port: Port) -> Link | None:
        """The discovered link in a port, in the discovery's keys."""
        key = self.seen_of.get(port.node)
        if key is None:
            if self.devices.planned(port.node):
                return None
            key = port.node
        return self.comparison.seen.links.get(Port(key, port.number))

    def peer(self, port: Port) -> Port | None:
        """What a port is cabled to."""
        link = self.link(port)
        if link is None:
            return None
        here = Port(self.seen_of.get(port.node, port.node), port.number)
        return self.comparison.in_plan(link.other(here))

    def at(self, port: Port) -> Assembly | None:
        """The cable in a port; None when it is empty or its device was not seen."""
        if port not in self._at:
            link, peer = self.link(port), self.peer(port)
            if link is None or peer is None:
                return None
            self._enter(self._make(port, peer, link))
        return self._at[port]

    def _enter(self, cable: Assembly) -> None:
        """Its lit ports are its own, unless another cable was found there before."""
        for plug in cable.plugs:
            for port in plug.socket.ports:
                if self.link(port) is not None:
                    owner = self._at.setdefault(port, cable)
                    if owner is not cable:
                        words = f"{self.slots.words(port)} would carry two cables"
                        self._spoil(plug.socket.ports, owner, words)

    def _spoil(self, ports: tuple[Port, ...], cable: Assembly, words: str) -> None:
        mismatch = Mismatch(ports, cable.type, words)
        for port in ports:
            self.bad.setdefault(port, mismatch)

    def _make(self, a: Port, b: Port, link: Link) -> Assembly:
        kind, source, near = self._kind(a, b, link)
        part = link.detail.part_number if link.detail is not None else ""
        serial = link.detail.serial if link.detail is not None else ""
        length = link.detail.length_m if link.detail is not None else None
        made: tuple[Plug, ...] | str
        if a == b:
            made = (Plug("end", 1, Socket((a,))),)  # a loopback plug
        elif kind.is_splitter:
            made = self._split(kind, near)
        elif kind.ports > 1:
            made = self._twin(kind, near)
        else:
            made = self._ends(a, b)
        if isinstance(made, str):
            mismatch = Mismatch(tuple(sorted({a, b})), kind.type, made)
            self.bad.update(dict.fromkeys((a, b), mismatch))
            made = self._ends(a, b)
        return Assembly(kind.type, made, source, part_number=part, serial=serial, length_m=length)

    def _ends(self, a: Port, b: Port) -> tuple[Plug, ...]:
        first, second = sorted((a, b))
        return Plug("end", 1, Socket((first,))), Plug("end", 2, Socket((second,)))

    def _kind(self, a: Port, b: Port, link: Link) -> tuple[Kind, TypeSource, Port]:
        """Kind, how it is known, and for heads and twins the end to start from."""
        part = link.detail.part_number if link.detail is not None else ""
        told = type_of_part(part)
        planned = self._planned(a, b, optical=is_transceiver(part))
        if told is not None:
            kind = KINDS[told]
            return kind, TypeSource.CABLE_INFO, self._head(kind, a, b) if kind.is_splitter else a
        if planned is not None:
            return planned
        if is_transceiver(part):
            return KINDS[AssemblyType.FIBRE], TypeSource.CABLE_INFO, a
        shared = self._one_plug(a, b, link)
        return shared or (KINDS[AssemblyType.FIBRE], TypeSource.ASSUMED, a)

    def _planned(self, a: Port, b: Port, *, optical: bool) -> tuple[Kind, TypeSource, Port] | None:
        """What the plan wants in its places: a head's place first, then a twin plug's, then any single one."""
        found: list[tuple[int, Port, Assembly]] = []
        for port in (a, b):
            slot, plug = self.slots.at(port), self.slots.plug_at(port)
            if slot is None or plug is None or (optical and kind_of(slot).family not in _OPTICAL):
                continue
            kind = kind_of(slot)
            if kind.is_splitter and plug.role == "tail":
                continue
            rank = 0 if kind.is_splitter else 1 if kind.ports > 1 else 2
            if slot.type_from is TypeSource.ASSUMED:
                rank = 3
            found.append((rank, port, slot))
        if not found:
            return None
        rank, port, slot = min(found, key=lambda claim: claim[0])
        if rank == 3:
            return None
        return kind_of(slot), slot.type_from, port

    def _head(self, kind: Kind, a: Port, b: Port) -> Port:
        """Of a splitter known by its part number, the end its head is at."""
        for port in (a, b):
            plug = self.slots.plug_at(port)
            if plug is not None and plug.role == "head":
                return port
        for port in (a, b):
            place = self.sockets.of(port, kind.ports, kind.in_cage)
            if place is not None and not self.devices.is_hca(port.node):
                return port
        return a

    def _one_plug(self, a: Port, b: Port, link: Link) -> tuple[Kind, TypeSource, Port] | None:
        """One serial on both ports of a cage: a twin cable where both ends say so, else a 1:2 splitter."""
        serial = link.detail.serial if link.detail is not None else ""
        if not serial:
            return None
        shares: list[Port] = []
        for port in (a, b):
            for mate in self.sockets.of(port, 2, True) or ():
                there = self.link(mate) if mate != port else None
                if there is not None and there.detail is not None and there.detail.serial == serial:
                    shares.append(port)
        if not shares:
            return None
        both = len(shares) == 2
        return (
            KINDS[AssemblyType.TWIN_DAC if both else AssemblyType.DAC_SPLIT_2],
            TypeSource.CABLE_INFO,
            shares[0],
        )

    def _place(self, port: Port, kind: Kind) -> tuple[Port, ...] | None:
        """The place of ``kind.ports`` ports around a port: the plan's own where it has one, else the panel's."""
        plug = self.slots.plug_at(port)
        if plug is not None and len(plug.socket.ports) == kind.ports:
            return plug.socket.ports
        return self.sockets.of(port, kind.ports, kind.in_cage)

    def _twin(self, kind: Kind, near: Port) -> tuple[Plug, ...] | str:
        far = self.peer(near)
        assert far is not None
        place, other = self._place(near, kind), self._place(far, kind)
        if place is None:
            near, far, place, other = far, near, other, place
        if place is None:
            return f"nothing tells which two ports share a cage at {self.slots.words(near)}"
        peers = [self.peer(port) for port in place]
        if other is None:
            lit = tuple(peer for peer in peers if peer is not None)
            if len(lit) < 2 or len({self.devices.box(peer.node) for peer in lit}) > 1:
                return self._apart(place, peers)
            other = lit
        for peer, wanted in zip(peers, other, strict=True):
            if (peer is not None and peer != wanted) or (peer is None and self.link(wanted) is not None):
                return self._apart(place, peers)
        if place == other:
            return self._apart(place, peers)
        first, second = sorted((place, other))
        return Plug("end", 1, Socket(first)), Plug("end", 2, Socket(second))

    def _apart(self, place: tuple[Port, ...], peers: list[Port | None]) -> str:
        words = self.slots.words
        ends = " and ".join(words(peer) if peer is not None else "nothing" for peer in peers)
        return (
            f"one twin plug fills {' and '.join(map(words, place))}, but they lead to {ends}: not the two ports of one "
            "cage in the same order"
        )

    def _split(self, kind: Kind, head: Port) -> tuple[Plug, ...] | str:
        words = self.slots.words
        place = self._place(head, kind)
        if place is None:
            return f"no head of {kind.ports} ports fits {words(head)}"
        peers = [self.peer(port) for port in place]
        tails: list[Plug] = []
        for at, peer in enumerate(peers):
            if peer is None:
                continue
            plug = self.slots.plug_at(peer)
            if peer in place or (plug is not None and plug.role == "head"):
                return (
                    f"the head in {words(place[0])} leads to {words(peer)}, which is the place of a head, too"
                )
            tails.append(Plug("tail", at + 1, Socket((peer,))))
        return Plug("head", 1, Socket(place)), *tails
