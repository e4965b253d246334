"""A small hall in which plugs, not ports, are moved: what it shows, and the fewest plugs by brute force.

The tables here are written by hand from the product pages, so that the code under test is not its own judge.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.fabric import Fabric, Link, LinkDetail, Node, NodeKind, Port
from fabricctl.model_tables import find_model
from fabricctl.plan.model import Plan, PlanFormat
from tests.cabling.fabrics import HDR, guid

Place = tuple[tuple[str, int], ...]
"""Ports of a cage or MPO socket: ((device, number), ...)."""


class Make(NamedTuple):
    """:param plugs: ports of each plug; :param joins: (plug, position) pairs; :param turns: plug permutations."""

    plugs: tuple[int, ...]
    joins: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    turns: tuple[tuple[int, ...], ...]
    family: str
    osfp: bool = False


PAIR = (((0, 0), (1, 0)),)
TWIN = (((0, 0), (1, 0)), ((0, 1), (1, 1)))
TURN = ((0, 1), (1, 0))
MAKES = {
    "fibre_straight": Make((1, 1), PAIR, TURN, "fibre"),
    "single_dac": Make((1, 1), PAIR, TURN, "single"),
    "twin_dac": Make((2, 2), TWIN, TURN, "twin", osfp=True),
    "twin_acc": Make((2, 2), TWIN, TURN, "twin", osfp=True),
    "fibre_split_1x2": Make((2, 1, 1), (((0, 0), (1, 0)), ((0, 1), (2, 0))), ((0, 1, 2),), "fibre12"),
    "dac_split_1x2": Make((2, 1, 1), (((0, 0), (1, 0)), ((0, 1), (2, 0))), ((0, 1, 2),), "dac12", osfp=True),
    "dac_split_1x4": Make(
        (4, 1, 1, 1, 1),
        tuple(((0, t), (t + 1, 0)) for t in range(4)),
        ((0, 1, 2, 3, 4),),
        "dac14",
        osfp=True,
    ),
}


@dataclass
class Cable:
    """A cable and where its plugs sit; None hangs loose."""

    type: str
    places: list[Place | None]
    part: str = ""
    serial: str = ""

    def links(self) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
        for (m, p), (n, q) in MAKES[self.type].joins:
            a, b = self.places[m], self.places[n]
            if a is not None and b is not None:
                yield a[p], b[q]


@dataclass
class Hall:
    """Planned cables and those that lie there.

    :param typed: whether the plan says what they are; :param model: of all switches, empty when nobody tells.
    """

    slots: list[Cable] = field(default_factory=list)
    cables: list[Cable] = field(default_factory=list)
    typed: bool = True
    link_class: str = ""
    racks: dict[str, str] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    strangers: set[str] = field(default_factory=set)
    model: str = ""

    def want(self, kind: str, *places: Place) -> Cable:
        """Plan a cable and lay it."""
        self.slots.append(Cable(kind, list(places)))
        self.cables.append(Cable(kind, list(places)))
        return self.cables[-1]

    def lay(self, kind: str, *places: Place, part: str = "") -> Cable:
        """A cable nobody planned."""
        self.cables.append(Cable(kind, list(places), part))
        return self.cables[-1]

    def swap(self, a: tuple[Cable, int], b: tuple[Cable, int]) -> None:
        """Exchange two plugs."""
        (one, m), (two, n) = a, b
        one.places[m], two.places[n] = two.places[n], one.places[m]

    def rotate(self, plugs: list[tuple[Cable, int]]) -> None:
        """Every plug goes where the next one was."""
        places = [cable.places[at] for cable, at in plugs]
        for (cable, at), place in zip(plugs, [*places[1:], places[0]], strict=True):
            cable.places[at] = place

    def fabric(self, cables: list[Cable], *, planned: bool) -> Fabric:
        made = Fabric()
        names = {d for c in [*self.slots, *self.cables] for p in c.places if p for d, _ in p}
        hidden = self.strangers if planned else self.dead

        def key(name: str) -> str:
            return name if planned else guid(name)

        for name in sorted(names - hidden):
            host, _, hca = name.partition(" ")
            made.nodes[key(name)] = Node(
                key(name),
                NodeKind.HCA if hca else NodeKind.SWITCH,
                name,
                guid=None if planned else guid(name),
                description=name,
                ports=1 if hca else 256,
                host=host if hca else None,
                hca=hca or None,
            )
        for cable in cables:
            detail = None
            if planned:
                detail = LinkDetail(assembly=cable.type if self.typed else "", link_class=self.link_class)
            elif cable.part or cable.serial:
                detail = LinkDetail(part_number=cable.part, serial=cable.serial)
            for (a, p), (b, q) in cable.links():
                if {a, b} & hidden:
                    continue
                link = Link(Port(key(a), p), Port(key(b), q), HDR, detail=detail)
                assert made.connect(link) is None, link
        return made

    def compare(self, reserved: dict[Port, str] | None = None) -> Comparison:
        plan = Plan(self.fabric(self.slots, planned=True), PlanFormat.CSV, reserved=reserved or {})
        seen = self.fabric(self.cables, planned=False)
        source = Source("test", DiscoveryFormat.IBNETDISCOVER, len(seen.nodes), seen.link_count)
        model = find_model(self.model) if self.model else None
        known = Knowledge(model_of=lambda name, _: model if " " not in name else None)
        comparison = verify(plan, Observation(seen, [source]), Options(knowledge=known)).comparison
        assert comparison is not None
        return comparison


def is_hca(place: Place) -> bool:
    return " " in place[0][0]


def stays(cable: Cable, slot: Cable) -> int | None:
    """Most plugs that may stay when the cable serves the slot; None when it cannot."""
    make = MAKES[cable.type]
    if make.family != MAKES[slot.type].family:
        return None
    best: int | None = None
    for turn in make.turns:
        pairs = [(place, slot.places[turn[at]]) for at, place in enumerate(cable.places)]
        if make.osfp and any(is_hca(a) != is_hca(b) for a, b in pairs if a and b):
            continue
        best = max(best or 0, sum(a == b for a, b in pairs))
    return best


def fewest_plugs(hall: Hall) -> int:
    """Plugs that must be handled, by trying every assignment of cables to slots."""
    cables = [cable for cable in hall.cables if None not in cable.places]
    slots = hall.slots

    @cache
    def most(at: int, used: frozenset[int]) -> int:
        if at == len(cables):
            return 0
        best = most(at + 1, used)
        for n, slot in enumerate(slots):
            if n not in used:
                same = stays(cables[at], slot)
                if same:
                    best = max(best, same + most(at + 1, used | {n}))
        return best

    return sum(len(cable.places) for cable in cables) - most(0, frozenset())


class Dealer:
    """Deals out free places: four ports of a switch at a time, hosts one by one."""

    def __init__(self, dice: random.Random, switches: int) -> None:
        self.dice, self.next = dice, dict.fromkeys((f"sw{n}" for n in range(1, switches + 1)), 0)
        self.hosts = 0

    def switch(self, ports: int) -> Place:
        name = self.dice.choice(list(self.next))
        first = self.next[name] = self.next[name] + 4
        return tuple((name, first - 4 + n) for n in range(1, ports + 1))

    def host(self, ports: int) -> Place:
        self.hosts += 1
        return tuple((f"gpu{self.hosts} mlx5_{n}", 1) for n in range(ports))


def random_hall(dice: random.Random, kinds: list[str], size: int) -> Hall:
    """Planned cables; then plugs of one form exchanged, rotated, put aside, and cables gone or added."""
    hall, deal = Hall(), Dealer(dice, 3)
    for _ in range(size):
        kind = dice.choice(kinds)
        first, *rest = MAKES[kind].plugs
        if len(rest) == 1:
            ends = deal.host(rest[0]) if dice.random() < 0.4 else deal.switch(rest[0])
            hall.want(kind, deal.switch(first), ends)
        else:
            hall.want(kind, deal.switch(first), *(deal.host(1) for _ in rest))
    for _ in range(dice.randrange(3)):
        if len(hall.cables) > 1:
            hall.cables.remove(dice.choice(hall.cables))
    for _ in range(dice.randrange(2)):
        kind = dice.choice(kinds)
        if MAKES[kind].plugs == (1, 1):
            hall.lay(kind, deal.switch(1), deal.switch(1))
    for _ in range(dice.randrange(1, 5)):
        _shuffle(hall, dice, deal)
    return hall


def _shuffle(hall: Hall, dice: random.Random, deal: Dealer) -> None:
    forms: dict[object, list[tuple[Cable, int]]] = {}
    for cable in hall.cables:
        make = MAKES[cable.type]
        for at, place in enumerate(cable.places):
            assert place is not None
            cage = cable.type.startswith(("twin", "dac", "single"))
            side = is_hca(place) if make.osfp else None
            forms.setdefault((make.plugs[at], cage, make.osfp, side), []).append((cable, at))
    plugs = dice.choice(list(forms.values()))
    fault = dice.random()
    if fault < 0.2:
        cable, at = plugs[0]
        place = cable.places[at]
        assert place is not None
        if not is_hca(place):
            cable.places[at] = deal.switch(MAKES[cable.type].plugs[at])
    else:
        hall.rotate(dice.sample(plugs, min(len(plugs), dice.choice((2, 2, 3, 4)))))
