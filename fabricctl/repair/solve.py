"""The fewest plug moves that turn what is cabled into what is planned.

**Why it is the minimum.** Take the identities as given (which discovered device is which planned one) and the type of
every cable. A repair is any sequence of pulling and plugging, with cables taken away and new ones laid. When it is
done, each slot it settles is filled by one cable of the slot's type, and no cable fills two: repair defines an
assignment of some existing cables to slots. A plug that ends in another place than it began was in someone's hand at
least once; so was every plug of a cable that is taken away. Of a cable that serves a slot the plugs that need not
move are those that already sit where the slot wants them, under the plug permutation by which it serves. Hence

    plugs handled >= plugs of all cables - (sum over the assignment of plugs that stay)
                  >= plugs of all cables - W,

W being the greatest weight of any assignment. Conversely the assignment of weight W is carried out by moving each
other plug once, straight into its place: a plug that hangs capped for a while is in hand, not moved twice. So exactly
``plugs - W`` plugs are handled, and no repair does with fewer. A pair that shares no place adds nothing to W, hence
components of cables and slots that share ports are solved on their own and their minima add up.

For cables of two plugs no pair that is not yet right has a weight above one, so W is the size of a maximum matching of
paths and cycles: a component of w wrong cables and n slots takes ``min(w, n)`` moves, ``w - n`` cables are pulled or
``n - w`` laid. Splitters need the assignment itself (``fabricctl/repair/splitters.py``).

A cable pulled in one component may serve as the new one of another; no plug is saved by that, and the plan says how
many there are instead of pairing them up, since nobody knows which of them is sound and long enough.

Among minimum plans people's cost decides (``fabricctl/repair/cost.py``), component by component.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from fabricctl.cabling.comparison import Comparison
from fabricctl.hostset import natural_key
from fabricctl.repair.assemblies import joined, kind_of
from fabricctl.repair.build import Group, Stock, build
from fabricctl.repair.chains import Answer, Chains
from fabricctl.repair.cost import rack_key
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.model import Assembly, Move, MoveKind, Plug, RepairPlan, TypeSource
from fabricctl.repair.parts import part_orders, slow_by_rule
from fabricctl.repair.reach import Pair, Reach, Run, Way, class_note
from fabricctl.repair.sequence import in_sequence
from fabricctl.repair.splitters import assign
from fabricctl.words import many


def plan_repair(comparison: Comparison, knowledge: RepairKnowledge | None = None) -> RepairPlan:
    """The fewest moves, the parts orders beside them, and what cannot be planned.

    Time grows with the wrong cables, not with the fabric. Never fails: what cannot be told is a note or a mismatch.
    """
    return _Planner(build(comparison, knowledge or RepairKnowledge()), comparison).run()


class _Planner:
    def __init__(self, stock: Stock, comparison: Comparison) -> None:
        self.stock, self.comparison, self.devices = stock, comparison, stock.devices
        self.reach = Reach(stock.devices)
        self.visited: Counter[str] = Counter()
        self.could = self.popular()
        self.blocked = self.half_seen = 0

    def run(self) -> RepairPlan:
        solved = [moves for group in self.stock.groups if (moves := self.group(group))]
        solved.sort(key=self.first_place)
        moves = [
            _numbered(move, number)
            for number, component in enumerate(solved)
            for move in in_sequence(component, self.devices.where)
        ]
        handled = {id(move.cable): move.cable for move in moves}
        laid = {id(move.cable) for move in moves if move.kind is MoveKind.NEW}
        pulled = {id(move.cable) for move in moves if move.kind is MoveKind.PULL}
        filled = {port for key in laid for pair in joined(handled[key]) for port in pair}
        notes = [*self.stock.notes, *self.remarks(moves, len(pulled), len(laid))]
        return RepairPlan(
            tuple(moves),
            components=len(solved),
            plugs_moved=sum(move.kind is MoveKind.MOVE for move in moves),
            pulled=len(pulled),
            added=len(laid),
            parts=tuple(part_orders(self.stock, self.comparison.classified.judged, filled)),
            mismatches=self.stock.mismatches,
            assumed=sum(cable.type_from is TypeSource.ASSUMED for cable in handled.values()),
            notes=tuple(notes),
            unplanned=tuple(self.unplanned()),
        )

    def popular(self) -> Counter[str]:
        """Device or rack -> how many groups have a plug or a slot there."""
        could: Counter[str] = Counter()
        for group in self.stock.groups:
            if group.cables:
                plugs = (plug for each in (*group.cables, *group.slots) for plug in each.plugs)
                nodes = {plug.socket.node for plug in plugs}
                could.update({self.devices.box(node) for node in nodes})
                could.update({rack_key(self.devices.rack(node)) for node in nodes})
        return could

    def first_place(self, moves: list[Move]) -> tuple[object, ...]:
        """Components are numbered in the order of their first place."""
        return min(self.devices.where(s) for m in moves for s in (m.source, m.target) if s is not None)

    def group(self, group: Group) -> list[Move]:
        """The moves of one component, in no order yet."""
        if not group.cables:
            return []  # nothing lies in the wrong place: parts orders
        families: dict[str, tuple[list[Assembly], list[Assembly]]] = defaultdict(lambda: ([], []))
        for cable in group.cables:
            families[kind_of(cable).family][0].append(cable)
        for slot in group.slots:
            families[kind_of(slot).family][1].append(slot)
        answer = Answer()
        for cables, slots in families.values():
            if kind_of((cables or slots)[0]).is_splitter:
                answer.add(assign(cables, slots, self.devices, self.reach, self.visited))
            else:
                answer.add(Chains(cables, slots, self.devices, self.reach, self.could).solve(self.visited))
        moves = [*self.of_pairs(answer.pairs), *self.of_pulled(answer.pulled), *self.of_laid(answer.laid)]
        if self.held(moves):
            self.blocked += 1
            return []
        if any(map(self.wanted_unseen, answer.pulled)):
            self.half_seen += 1
            return []
        return moves

    def wanted_unseen(self, cable: Assembly) -> bool:
        """Whether a cable with no seen slot left sits where the plan wants one to a device that nobody saw.

        It may well belong there, or to the slot of another unseen device: it is not taken out on a guess.
        """
        links, seen_of = self.comparison.binding.plan.fabric.links, self.comparison.binding.seen_of
        ports = (port for plug in cable.plugs for port in plug.socket.ports)
        return any(port in links and links[port].other(port).node not in seen_of for port in ports)

    def held(self, moves: list[Move]) -> bool:
        """Whether a place stays occupied by a cable that is left alone."""
        freed = {port for move in moves if move.source is not None for port in move.source.ports}
        wanted = {port for move in moves if move.target is not None for port in move.target.ports}
        return any(self.stock.cables.peer(port) is not None for port in wanted - freed)

    def of_pairs(self, pairs: list[Pair]) -> Iterator[Move]:
        for pair in pairs:
            for way in pair.ways:
                plug = pair.cable.plugs[way.plug]
                run = self.reach.run(pair, way)
                yield Move(
                    MoveKind.MOVE,
                    pair.cable,
                    way.plug,
                    plug.socket,
                    way.target,
                    pair.slot,
                    0,
                    hosts=self.hosts(plug),
                    reaches=run.ok,
                    has_m=run.has_m,
                    needs_m=run.needs_m,
                    note=self.note(plug, way, run),
                    links=run.links,
                )

    def of_pulled(self, cables: list[Assembly]) -> Iterator[Move]:
        for cable in cables:
            strangers = [plug for plug in cable.plugs if not self.devices.planned(plug.socket.node)]
            note = f"its other plug is left to its owner: {self.there(strangers[0])}" if strangers else ""
            for index, plug in enumerate(cable.plugs):
                if plug not in strangers:
                    yield Move(
                        MoveKind.PULL,
                        cable,
                        index,
                        plug.socket,
                        None,
                        None,
                        0,
                        hosts=self.hosts(plug),
                        note=note,
                    )

    def of_laid(self, slots: list[Assembly]) -> Iterator[Move]:
        for slot in slots:
            dark = [p for pair in joined(slot) for p in pair if self.stock.cables.peer(p) is None]
            note = ""
            if dark:
                where = " and ".join(self.stock.slots.words(port) for port in dark)
                note = (
                    f"first look at {where}: a plug that sits there is that of a dark cable, perhaps this one"
                )
            for index, plug in enumerate(slot.plugs):
                yield Move(MoveKind.NEW, slot, index, None, plug.socket, slot, 0, note=note)

    def hosts(self, plug: Plug) -> tuple[str, ...]:
        """Hosts whose link goes through a plug now."""
        found: set[str] = set()
        for port in plug.socket.ports:
            peer = self.stock.cables.peer(port)
            if peer is not None:
                found.update(filter(None, (self.devices.host(port.node), self.devices.host(peer.node))))
        return tuple(sorted(found, key=natural_key))

    def note(self, plug: Plug, way: Way, run: Run) -> str:
        """What to know before touching it."""
        was, becomes = self.devices.speed(plug.socket.ports[0]), self.devices.speed(way.target.ports[0])
        notes = (self.foreign_note(plug), run.note, class_note(was, becomes))
        return "; ".join(note for note in notes if note)

    def foreign_note(self, plug: Plug) -> str:
        if self.devices.planned(plug.socket.node):
            return ""
        return f"{self.there(plug)}: ask its owner before pulling"

    def there(self, plug: Plug) -> str:
        return f"{self.stock.slots.words(plug.socket.ports[0])}, a device outside the plan"

    def remarks(self, moves: list[Move], pulled: int, laid: int) -> Iterator[str]:
        short = sum(move.reaches is False and move.links for move in moves)
        if short:
            yield f"{short:,} plugs belong to cables that do not span their new run: have longer ones at hand"
        strange = Counter(move.note for move in moves if not move.links)
        for why, plugs in strange.items():
            yield f"{plugs:,} plugs belong to cables that do not link where the plan wants them: {why}"
        if pulled and laid:
            yield (
                f"{pulled:,} cables are pulled and {laid:,} are to be laid: a pulled one that is sound and long enough "
                "saves a new one"
            )
        judged, planned = self.comparison.classified.judged, self.stock.slots.plan.link_count
        for (rate, expected), links in slow_by_rule(judged, planned).items():
            yield (
                f"{links:,} of {planned:,} planned links run at {rate} instead of {expected}: no fault of "
                "single cables, so no parts are ordered for them"
            )

    def unplanned(self) -> Iterator[str]:
        """Groups that are left as they are, and why."""
        if self.half_seen:
            yield (
                f"{many(self.half_seen, 'group')} of wrong cables {'is' if self.half_seen == 1 else 'are'} not "
                "planned: what belongs in their places is on devices that were not seen"
            )
        if self.blocked:
            yield (
                f"{self.blocked:,} groups of wrong cables are not planned: a place they need holds a cable that cannot "
                "be judged"
            )


def _numbered(move: Move, number: int) -> Move:
    return replace(move, component=number)
