"""Intended and existing assemblies that do not agree, from a comparison of plan and discovery.

Starts from the planned links that are wrong and follows cables and slots from port to port, so the work grows with
the faults and not with the fabric. All is done in the order of names, so that what is equally good is chosen alike
however plan and discovery are ordered. What cannot be judged is left out: a slot none of whose links has both devices
seen, and a cable that only touches such slots. So are cables between devices outside the plan, guests of reserved
ports, and what leads from an unjudged slot to an unknown device: that device may well be the planned one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabricctl.cabling.classify import unexplained
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.model import WRONG, LinkClass
from fabricctl.fabric import Port
from fabricctl.hostset import fold
from fabricctl.repair.assemblies import joined, kind_of
from fabricctl.repair.cables import Cables
from fabricctl.repair.guests import Guests
from fabricctl.repair.knowledge import Devices, RepairKnowledge
from fabricctl.repair.lying import Lying
from fabricctl.repair.model import Assembly, AssemblyType, Mismatch, TypeSource
from fabricctl.repair.slots import Slots
from fabricctl.repair.sockets import Sockets


@dataclass
class Group:
    """One component: slots and cables that share ports with each other and with nothing else that is wrong."""

    slots: list[Assembly] = field(default_factory=list)
    cables: list[Assembly] = field(default_factory=list)


@dataclass
class Stock:
    """Everything that is to be sorted out.

    :param groups: independent components without a mismatch.
    :param excluded: how many wrong slots belong to components with a mismatch.
    """

    slots: Slots
    cables: Cables
    devices: Devices
    groups: list[Group]
    mismatches: tuple[Mismatch, ...] = ()
    excluded: int = 0
    notes: list[str] = field(default_factory=list)


def build(comparison: Comparison, knowledge: RepairKnowledge) -> Stock:
    """Slots that are not as planned and the cables in their ports, by component."""
    return _Builder(comparison, knowledge).run()


class _Builder:
    def __init__(self, comparison: Comparison, knowledge: RepairKnowledge) -> None:
        self.comparison, self.knowledge = comparison, knowledge
        self.devices = Devices(comparison, knowledge)
        self.sockets = Sockets(self.devices)
        lying = Lying(comparison, self.devices, self.sockets)
        self.slots = Slots(self.devices, self.sockets, lying)
        self.cables = Cables(self.devices, self.sockets, lying, self.slots)
        self.judged = {judged.link.a: judged.cls for judged in comparison.classified.judged}
        self.reserved = {**comparison.binding.plan.reserved, **knowledge.reserved}
        self.guests = Guests(self.reserved, self.devices, lying)
        self.kept: dict[int, Assembly] = {}
        """Slots of reserved ports, for guests who sit elsewhere."""
        self.wanted: dict[int, Assembly] = {}
        self.lying: dict[int, Assembly] = {}
        self.left: dict[int, Assembly] = {}
        self.known: dict[int, Assembly] = {}
        """Assemblies already looked at; holding them keeps their ids their own."""

    def run(self) -> Stock:
        todo: deque[Assembly] = deque()
        wrong = [judged.link.a for judged in self.comparison.classified.judged if judged.cls in WRONG]
        for port in sorted(wrong, key=self.devices.by_name):
            slot = self.slots.at(port)
            assert slot is not None
            todo.append(slot)
        while todo:
            self.follow(todo)
        for cable in sorted(self.strays(), key=self.devices.order):
            self.take(cable, todo)
        while todo:
            self.follow(todo)
        return self.stock()

    def follow(self, todo: deque[Assembly]) -> None:
        """One slot, and the cables in its ports."""
        slot = todo.popleft()
        if id(slot) in self.known:
            return
        self.known[id(slot)] = slot
        if all(self.cables.peer(a) == b for a, b in joined(slot)):
            return
        if self.fillable(slot):
            self.wanted[id(slot)] = slot
        for port in _ports(slot):
            cable = self.cables.at(port)
            if cable is not None:
                self.take(cable, todo)

    def take(self, cable: Assembly, todo: deque[Assembly]) -> None:
        """One cable, and the slots its plugs sit in."""
        if id(cable) in self.known:
            return
        self.known[id(cable)] = cable
        slots = [slot for port in _ports(cable) if (slot := self.slots.at(port)) is not None]
        todo.extend(slots)
        if any(self.fillable(slot) for slot in slots) or (not slots and self.ours(cable)):
            self.lying[id(cable)] = cable
            guest = self.guests.slot_of(cable)
            if guest is not None:
                self.kept[id(guest)] = guest
                self.slots.add(guest)
                todo.append(guest)
        else:
            self.left[id(cable)] = cable

    def ours(self, cable: Assembly) -> bool:
        """Whether a cable nobody planned may be pulled: both devices are the plan's and no port is reserved."""
        return all(self.devices.bound(p.node) and p not in self.reserved for p in _ports(cable))

    def fillable(self, slot: Assembly) -> bool:
        """Whether one of its links can be judged and made: both devices seen, and no doubt about them."""
        links = self.slots.plan.links
        return id(slot) in self.kept or any(
            self.devices.bound(a.node)
            and self.devices.bound(b.node)
            and self.judged.get(links[a].a) is not LinkClass.NOT_JUDGED
            for a, b in joined(slot)
            if a in links
        )

    def strays(self) -> Iterator[Assembly]:
        """Cables that touch no planned port; under ``--only`` none, since nothing says which are in scope."""
        classified = self.comparison.classified
        if sum(classified.counts.values()) < self.slots.plan.link_count:
            return
        for link in unexplained(classified, self.comparison.binding, self.comparison.seen):
            cable = self.cables.at(self.comparison.in_plan(link.a))
            if cable is not None:
                yield cable

    def stock(self) -> Stock:
        bad = self.slots.bad | self.cables.bad | self.impossible()
        groups: list[Group] = []
        mismatches: list[Mismatch] = []
        excluded = 0
        slots = sorted(self.wanted.values(), key=self.devices.order)
        cables = sorted(self.lying.values(), key=self.devices.order)
        for group in components(slots, cables):
            spoiled = {p: bad[p] for a in (*group.slots, *group.cables) for p in _ports(a) if p in bad}
            if spoiled:
                excluded += len(group.slots)
                mismatches += _merged(spoiled)
            else:
                groups.append(group)
        told = {port for mismatch in mismatches for port in mismatch.ports}
        mismatches += _merged({port: one for port, one in bad.items() if port not in told})
        return Stock(
            self.slots,
            self.cables,
            self.devices,
            groups,
            tuple(mismatches),
            excluded,
            [*self.notes(excluded)],
        )

    def impossible(self) -> dict[Port, Mismatch]:
        """Cables that say their type, in places of a plan that tells none and cannot be made with that type."""
        found: dict[Port, Mismatch] = {}
        for cable in self.lying.values():
            if cable.type_from is not TypeSource.CABLE_INFO:
                continue
            family = kind_of(cable).family
            slots = [slot for port in _ports(cable) if (slot := self.slots.at(port)) is not None]
            if not slots or any(
                kind_of(slot).family == family or slot.type_from is TypeSource.PLAN for slot in slots
            ):
                continue
            ports = tuple(_ports(cable))
            mismatch = Mismatch(
                ports,
                cable.type,
                f"the cable in {self.slots.words(ports[0])} is a {cable.type} by its part number "
                f"{cable.part_number or '(shared serial)'}, and the plan cannot be made with one there",
            )
            found.update(dict.fromkeys(ports, mismatch))
        return found

    def notes(self, excluded: int) -> Iterator[str]:
        if excluded:
            yield (
                f"{excluded:,} planned cables are left out: they hang together with a pattern that the declared kind "
                "of cable cannot make"
            )
        strangers = {
            self.devices.box(port.node)
            for cable in self.left.values()
            for port in _ports(cable)
            if not self.devices.planned(port.node) and any(map(self.slots.at, _ports(cable)))
        }
        if strangers:
            yield (
                f"cables to {fold(strangers)} are left alone: the plan does not know these devices and wants ones "
                "there that nobody saw; find out first whether they are the same"
            )
        unseen = {
            self.devices.box(end.node)
            for judged in self.comparison.classified.judged
            if judged.cls is LinkClass.MISWIRED
            for end, seen in ((judged.link.a, judged.seen_a), (judged.link.b, judged.seen_b))
            if seen is None
        }
        if unseen:
            yield (
                f"{fold(unseen)} was not seen while something else sits in a port that should lead there: no plug is "
                "moved to an unseen device"
            )
        if self.sockets.counted:
            yield (
                f"cages of {fold(self.sockets.counted)} were counted in order of the ports, since no panel is known "
                "for their model"
            )


def _merged(bad: Mapping[Port, Mismatch]) -> list[Mismatch]:
    """One mismatch per declared type: what hangs together has one reason."""
    by_type: dict[AssemblyType, dict[Mismatch, None]] = {}
    for mismatch in bad.values():
        by_type.setdefault(mismatch.declared, {})[mismatch] = None
    merged: list[Mismatch] = []
    for declared, found in by_type.items():
        ports = tuple(sorted({port for mismatch in found for port in mismatch.ports}))
        words = min(mismatch.words for mismatch in found)
        more = len({mismatch.words for mismatch in found}) - 1
        also = f" (and {more:,} more places like it)" if more else ""
        merged.append(
            Mismatch(
                ports,
                declared,
                f"{words}{also}: either the cable is no {declared} or a device is not the one named",
            )
        )
    return merged


def _ports(assembly: Assembly) -> Iterator[Port]:
    for plug in assembly.plugs:
        yield from plug.socket.ports


def components(slots: list[Assembly], cables: list[Assembly]) -> list[Group]:
    """Connected by shared ports; in order of their first slot or cable. Union-find over ports."""
    above: dict[Port, Port] = {}

    def root(port: Port) -> Port:
        top = port
        while (up := above.get(top, top)) != top:
            top = up
        while port != top:
            above[port], port = top, above.get(port, port)
        return top

    for assembly in (*slots, *cables):
        ports = list(_ports(assembly))
        first = root(ports[0])
        for port in ports[1:]:
            other = root(port)
            if other != first:
                above[other] = first
    groups: dict[Port, Group] = {}
    for slot in slots:
        groups.setdefault(root(slot.plugs[0].socket.ports[0]), Group()).slots.append(slot)
    for cable in cables:
        groups.setdefault(root(cable.plugs[0].socket.ports[0]), Group()).cables.append(cable)
    return list(groups.values())
