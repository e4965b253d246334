"""What really lies there, as assemblies: one per cable, made when somebody asks for a port.

The type of a cable is what its EEPROM says (CABLE_INFO part number); else the first of the kinds that the plan wants in
its two places that can join what is joined there; else a serial that two ports of a cage share says that one plug sits
in both; else it is taken for fibre.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl.fabric import Link, Port
from fabricctl.repair.assemblies import KINDS, Kind, is_transceiver, kind_of, type_of_part
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.lying import Lying
from fabricctl.repair.model import Assembly, AssemblyType, Mismatch, Plug, Socket, TypeSource
from fabricctl.repair.slots import Slots
from fabricctl.repair.sockets import Sockets

_Made = tuple[Kind, TypeSource, tuple[Plug, ...] | str]
"""Kind, how it is known, and the plugs, or why it cannot be one."""
_OPTICAL = (KINDS[AssemblyType.FIBRE].family, KINDS[AssemblyType.FIBRE_SPLIT_2].family)


class Cables:
    """Existing cables by port (plan keys, as ``Comparison.in_plan`` names them).

    :ivar bad: ports of cables whose pattern cannot be made with the type they must be, with the mismatch.
    """

    def __init__(self, devices: Devices, sockets: Sockets, lying: Lying, slots: Slots) -> None:
        self.devices, self.sockets, self.slots = devices, sockets, slots
        self.link, self.peer, self.one_plug = lying.link, lying.peer, lying.one_plug
        self.bad: dict[Port, Mismatch] = {}
        self._at: dict[Port, Assembly] = {}

    def at(self, port: Port) -> Assembly | None:
        """The cable in a port; None when it is empty or its device was not seen."""
        if port not in self._at:
            link, peer = self.link(port), self.peer(port)
            if link is None or peer is None:
                return None
            near, far = sorted((port, peer), key=self.devices.by_name)  # whoever asks first
            self._enter(self._make(near, far, link))
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
        detail = link.detail
        part = detail.part_number if detail is not None else ""
        told = type_of_part(part)
        if a == b:  # a loopback plug
            made: _Made = (KINDS[told or AssemblyType.FIBRE], TypeSource.ASSUMED, (_end(1, (a,)),))
        elif told is not None:
            made = self._told(KINDS[told], a, b)
        else:
            modules = detail.modules if detail is not None else ()
            made = self._fitting(a, b, optical=any(map(is_transceiver, (part, *modules))))
        kind, source, plugs = made
        if isinstance(plugs, str):
            mismatch = Mismatch(tuple(sorted({a, b})), kind.type, plugs)
            self.bad.update(dict.fromkeys((a, b), mismatch))
            plugs = self._ends(a, b)
        return Assembly(
            kind.type,
            plugs,
            source,
            part_number=part,
            serial=detail.serial if detail is not None else "",
            length_m=detail.length_m if detail is not None else None,
        )

    def _ends(self, a: Port, b: Port) -> tuple[Plug, ...]:
        first, second = sorted((a, b), key=self.devices.by_name)
        return _end(1, (first,)), _end(2, (second,))

    def _told(self, kind: Kind, a: Port, b: Port) -> _Made:
        """A cable whose part number is known."""
        shape: tuple[Plug, ...] | str = self._ends(a, b)
        if not kind.single:
            tries = [self._shape(kind, near, strict=False) for near in self._nears(kind, a, b, strict=False)]
            shape = next((made for made in tries if not isinstance(made, str)), tries[0] if tries else "")
        return kind, TypeSource.CABLE_INFO, shape or f"no plug of a {kind.type} fits {self.slots.words(a)}"

    def _fitting(self, a: Port, b: Port, *, optical: bool) -> _Made:
        """Of the kinds the plan wants in its places, the first that can join what is joined."""
        claims = self._claims(a, b, optical=optical)
        failed: _Made | None = None
        for kind, source in claims:
            if kind.single:
                continue
            for near in self._nears(kind, a, b, strict=True):
                shape = self._shape(kind, near, strict=True)
                if not isinstance(shape, str):
                    return kind, source, shape
                if self.slots.at(near) is not None:  # a place nobody planned makes nothing impossible
                    failed = failed or (kind, source, shape)
        if failed is not None:
            return failed
        single = next((claim for claim in claims if claim[0].single), None)
        if single is not None:
            return *single, self._ends(a, b)
        fibre = KINDS[AssemblyType.FIBRE]
        if optical:
            return fibre, TypeSource.CABLE_INFO, self._ends(a, b)
        shared = self.one_plug(a)
        if shared is not None:
            kind = KINDS[shared[0]]
            shape = self._shape(kind, shared[1], strict=True)
            if not isinstance(shape, str):
                return kind, TypeSource.CABLE_INFO, shape
        return fibre, TypeSource.ASSUMED, self._ends(a, b)

    def _claims(self, a: Port, b: Port, *, optical: bool) -> list[tuple[Kind, TypeSource]]:
        """Kinds of the slots at both ends, one that both want first."""
        slots = [slot for port in (a, b) if (slot := self.slots.at(port)) is not None]
        slots += [slot for port in (a, b) if self.slots.at(port) is None for slot in self._beside(port)]
        found: dict[AssemblyType, tuple[Kind, TypeSource]] = {}
        for slot in slots:
            kind = kind_of(slot)
            if slot.type_from is not TypeSource.ASSUMED and not (optical and kind.family not in _OPTICAL):
                found.setdefault(kind.type, (kind, slot.type_from))
        return sorted(found.values(), key=lambda claim: -sum(slot.type == claim[0].type for slot in slots))

    def _beside(self, port: Port) -> Iterator[Assembly]:
        """Splitters whose tails lead to the same unplanned place: then a head was put aside there."""
        for kind in self.slots.splitters if not self.devices.is_hca(port.node) else ():
            for mate in self.sockets.of(port, kind.ports, in_cage=kind.in_cage) or ():
                peer = self.peer(mate) if mate != port else None
                slot = self.slots.at(peer) if peer is not None else None
                if slot is not None and slot.type == kind.type:
                    yield slot

    def _nears(self, kind: Kind, a: Port, b: Port, *, strict: bool) -> list[Port]:
        """The ends at which the kind's widest plug may sit: places of its size, a planned head's place first.

        :param strict: a place the plan wants for another size of plug is none; a part number outranks that.
        """
        found: list[tuple[bool, Port]] = []
        for port in (a, b):
            slot, plug = self.slots.at(port), self.slots.plug_at(port)
            claimed = slot is not None and slot.type_from is not TypeSource.ASSUMED
            if slot is not None and plug is not None and claimed and strict:
                if len(plug.socket.ports) != kind.ports or kind_of(slot).in_cage != kind.in_cage:
                    continue
            elif kind.is_splitter and self.devices.is_hca(port.node):
                continue
            found.append((plug is None or plug.role != "head", port))
        return [port for _, port in sorted(found, key=lambda item: item[0])]

    def _shape(self, kind: Kind, near: Port, *, strict: bool) -> tuple[Plug, ...] | str:
        return (self._split if kind.is_splitter else self._twin)(kind, near, strict=strict)

    def _place(self, port: Port, kind: Kind, *, strict: bool) -> tuple[Port, ...] | None:
        """The place of ``kind.ports`` ports around a port: the plan's own where it has one, else the panel's.

        :returns: nothing in it where the plan wants another size of plug (and ``strict``), None when nothing tells.
        """
        slot, plug = self.slots.at(port), self.slots.plug_at(port)
        if slot is not None and plug is not None and slot.type_from is not TypeSource.ASSUMED:
            if len(plug.socket.ports) == kind.ports and kind_of(slot).in_cage == kind.in_cage:
                return plug.socket.ports
            if strict:
                return ()
        return self.sockets.of(port, kind.ports, in_cage=kind.in_cage)

    def _twin(self, kind: Kind, near: Port, *, strict: bool) -> tuple[Plug, ...] | str:
        far = self.peer(near)
        assert far is not None
        place, other = self._place(near, kind, strict=strict), self._place(far, kind, strict=strict)
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
        if len(place) != len(other):
            return self._apart((near,), [far])
        for peer, wanted in zip(peers, other, strict=True):
            if (peer is not None and peer != wanted) or (peer is None and self.link(wanted) is not None):
                return self._apart(place, peers)
        if place == other:
            return self._apart(place, peers)
        first, second = sorted((place, other))
        return _end(1, first), _end(2, second)

    def _apart(self, place: tuple[Port, ...], peers: list[Port | None]) -> str:
        words = self.slots.words
        ends = " and ".join(words(peer) if peer is not None else "nothing" for peer in peers)
        return (
            f"one twin plug would fill the cage of {' and '.join(map(words, place))}, but they lead to {ends}: not the "
            "two ports of one cage in the same order"
        )

    def _split(self, kind: Kind, head: Port, *, strict: bool) -> tuple[Plug, ...] | str:
        words = self.slots.words
        place = self._place(head, kind, strict=strict)
        if not place:
            return f"no head of {kind.ports} ports fits {words(head)}"
        peers = [self.peer(port) for port in place]
        lit = {peer for peer in peers if peer is not None}
        if len(lit) == 1 and strict and self.slots.at(head) is None:
            return f"one cable alone in {words(head)} is no sign of a head"
        for peer in lit:
            plug = self.slots.plug_at(peer)
            around = plug.socket.ports if plug is not None else ()
            if kind.in_cage and not around and not self.devices.is_hca(peer.node):
                around = self.sockets.of(peer, 2, in_cage=True) or ()
            if peer in place or (plug is not None and plug.role == "head"):
                return (
                    f"the head in {words(place[0])} leads to {words(peer)}, which is the place of a head, too"
                )
            if kind.in_cage and any(port != peer and self.link(port) is not None for port in around):
                return f"the tail in {words(peer)} would share its cage with another cable"
        tails = [Plug("tail", at + 1, Socket((peer,))) for at, peer in enumerate(peers) if peer is not None]
        return Plug("head", 1, Socket(place)), *tails


def _end(number: int, ports: tuple[Port, ...]) -> Plug:
    return Plug("end", number, Socket(ports))
