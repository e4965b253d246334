"""What people do wrong with many cables at once: every fault here is one act, with the truth of what it moved.

By hand::

    python -m tests.sim.netgen hall --fault leaf-rotated > hall.net
    python -m tests.sim.netgen hall --fault leaves-per-rail --truth truth.json > islands.net

Each fault picks devices that no earlier one touched (whole layers excepted), so that several can be put together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.sim.netgen import Box, End

if TYPE_CHECKING:
    from tests.sim.faults import Fault, Site

Moves = dict[End, End]
"""End where a plug belongs -> end it is put into."""

DGX_CAGES = ((7, 4), (6, 5), (2, 1), (3, 0))
"""GPU (rail - 1) behind port 1 and port 2 of cages 1 to 4 of a DGX H100 (its user guide, tables 5 and 6)."""


class Floor:
    """The net as people walk through it: devices by tier, unit and place, blocks of ports, hosts."""

    def __init__(self, site: Site) -> None:
        self.site, self.net = site, site.net
        self.spoiled = {end.node for end in site.hit}

    def switches(self, tier: int, unit: int | None = None) -> list[Box]:
        """In the order of unit and index."""
        return [
            box for box in self.net.boxes.values() if box.tier == tier and (unit is None or box.unit == unit)
        ]

    def units(self) -> list[int]:
        return sorted({box.unit for box in self.switches(1)})

    def pick(self, boxes: list[Box], number: int = 1) -> list[Box]:
        """So many untouched ones, in order."""
        fresh = [box for box in boxes if box.node not in self.spoiled]
        return sorted(self.site.dice.sample(fresh, number), key=lambda box: box.guid)

    def ends(self, box: Box, side: int) -> list[End]:
        """Its cabled ports towards a lower (-1) or higher tier (+1), or all (0), in order."""
        found = []
        for number in range(1, box.ports + 1):
            far = self.net.cables.get(End(box.node, number))
            if far is not None and (not side or (self.net.boxes[far.node].tier - box.tier) * side > 0):
                found.append(End(box.node, number))
        return found

    def bundle(self, box: Box, far: Box) -> list[End]:
        return [end for end in self.ends(box, 0) if self.net.cables[end].node == far.node]

    def hosts(self, unit: int | None = None) -> dict[str, list[End]]:
        """Host -> the ends of its HCAs in rail order; only hosts with all their rails, none that was touched."""
        found: dict[str, list[End]] = defaultdict(list)
        for box in self.net.boxes.values():
            if not box.tier and not box.name.startswith("ufm") and (unit is None or box.unit == unit):
                found[box.name.split()[0]].append(End(box.node, 1))
        return {
            host: ends
            for host, ends in found.items()
            if all(end in self.net.cables and end not in self.site.hit for end in ends)
        }

    def some_host(self) -> list[End]:
        hosts = self.hosts()
        return hosts[self.site.dice.choice(sorted(hosts))]


def rotated(ends: list[End], step: int) -> Moves:
    return {end: ends[(at + step) % len(ends)] for at, end in enumerate(ends)}


def flipped(ends: list[End]) -> Moves:
    return dict(zip(ends, reversed(ends), strict=True))


def exchanged(first: Iterable[End], second: Iterable[End]) -> Moves:
    moves: Moves = {}
    for a, b in zip(first, second, strict=True):
        moves[a], moves[b] = b, a
    return moves


def twins(ends: list[End]) -> Moves:
    """Ports 1 and 2, 3 and 4, ... of a switch exchanged."""
    return exchanged([end for end in ends if end.port % 2], [end for end in ends if not end.port % 2])


def same_ports(a: Box, b: Box, ends: list[End]) -> Moves:
    """Plugs of one switch on the same ports of another, and back."""
    return exchanged(ends, [End(b.node, end.port) for end in ends if end.node == a.node])


# -- on one switch ---------------------------------------------------------------------------------------------


def _leaf_rotated(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1))
    return rotated(floor.ends(leaf, +1), 1)


def _unit_rotated(floor: Floor) -> Moves:
    moves: Moves = {}
    for leaf in floor.switches(1, floor.site.dice.choice(floor.units()[:-1])):
        moves |= rotated(floor.ends(leaf, +1), 1)
    return moves


def _spine_rotated(floor: Floor) -> Moves:
    (spine,) = floor.pick(floor.switches(2))
    return rotated(floor.ends(spine, +1), 1)


def _host_ports_rotated(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1)[: -len(floor.switches(1, 1))])
    return rotated(floor.ends(leaf, -1), 1)


def _uplinks_reversed(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1))
    return flipped(floor.ends(leaf, +1))


def _trunk_reversed(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1))
    ends = floor.ends(leaf, +1)
    size = min(8, len(ends) // 2 if len(ends) > 7 else len(ends))
    start = floor.site.dice.randrange(0, len(ends) // size) * size
    return flipped(ends[start : start + size])


def _cages(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1))
    return twins(floor.ends(leaf, +1))


def _unit_cages(floor: Floor) -> Moves:
    moves: Moves = {}
    for leaf in floor.switches(1, floor.site.dice.choice(floor.units()[:-1])):
        moves |= twins(floor.ends(leaf, +1))
    return moves


# -- exchanges -------------------------------------------------------------------------------------------------


def _host_bundles(floor: Floor) -> Moves:
    unit = floor.site.dice.choice(floor.units()[:-1])
    a, b = floor.pick(floor.switches(1, unit), 2)
    return same_ports(a, b, floor.ends(a, -1))


def _uplink_bundles(floor: Floor) -> Moves:
    a, b = floor.pick(floor.switches(1, floor.site.dice.choice(floor.units())), 2)
    return same_ports(a, b, floor.ends(a, +1))


def _spine_bundles(floor: Floor) -> Moves:
    """The cables of two spines to one leaf: spines of its unit, or in a fabric with spines per rail those it sees."""
    unit = floor.site.dice.choice(floor.units())
    spines, first = floor.switches(2, unit), floor.switches(1, unit)[0]
    if len(spines) > 1 and all(floor.bundle(spine, first) for spine in spines):
        a, b = floor.pick(spines, 2)
        (leaf,) = floor.pick(floor.switches(1, unit))
    else:
        (leaf,) = floor.pick(floor.switches(1, unit))
        a, b = floor.pick([spine for spine in floor.switches(2) if floor.bundle(spine, leaf)], 2)
    return exchanged(floor.bundle(a, leaf), floor.bundle(b, leaf))


def _misplaced(tier: int) -> Callable[[Floor], Moves]:
    def misplace(floor: Floor) -> Moves:
        full = max(len(floor.ends(box, 0)) for box in floor.switches(tier))
        a, b = floor.pick([box for box in floor.switches(tier) if len(floor.ends(box, 0)) == full], 2)
        return same_ports(a, b, floor.ends(a, 0))

    return misplace


def _hosts_exchanged(floor: Floor) -> Moves:
    hosts = floor.hosts()
    a, b = floor.site.dice.sample(sorted(hosts), 2)
    return exchanged(hosts[a], hosts[b])


def _wrong_unit(floor: Floor) -> Moves:
    """A rack of hosts of one unit and the same rack of another."""
    a, b = floor.site.dice.sample(floor.units()[:-1], 2)
    here, there = floor.hosts(a), floor.hosts(b)
    count = max(2, len(here) // 4)
    moves: Moves = {}
    for one, two in zip(sorted(here)[:count], sorted(there)[:count], strict=True):
        moves |= exchanged(here[one], there[two])
    return moves


def _leaves_wrong_unit(floor: Floor) -> Moves:
    """The uplinks of all leaves of two units."""
    a, b = floor.site.dice.sample(floor.units(), 2)
    moves: Moves = {}
    for one, two in zip(floor.switches(1, a), floor.switches(1, b), strict=True):
        moves |= same_ports(one, two, floor.ends(one, +1))
    return moves


# -- hosts -----------------------------------------------------------------------------------------------------


def dgx_cage_ports(ends: list[End]) -> Moves:
    """The two ports of each cage of a DGX H100 exchanged: rails 1 and 4, 2 and 3, 5 and 8, 6 and 7."""
    moves: Moves = {}
    for a, b in DGX_CAGES:
        moves |= exchanged([ends[a]], [ends[b]])
    return moves


def dgx_cages_reversed(ends: list[End]) -> Moves:
    """Its cages in reverse order: rails r and r + 4."""
    moves: Moves = {}
    for cage, opposite in ((0, 3), (1, 2)):
        moves |= exchanged([ends[gpu] for gpu in DGX_CAGES[cage]], [ends[gpu] for gpu in DGX_CAGES[opposite]])
    return moves


def _host_reversed(floor: Floor) -> Moves:
    return flipped(floor.some_host())


def _host_cage_ports(floor: Floor) -> Moves:
    return dgx_cage_ports(floor.some_host())


def _host_cages_reversed(floor: Floor) -> Moves:
    return dgx_cages_reversed(floor.some_host())


def _unit_host_cage_ports(floor: Floor) -> Moves:
    moves: Moves = {}
    for ends in floor.hosts(floor.site.dice.choice(floor.units()[:-1])).values():
        moves |= dgx_cage_ports(ends)
    return moves


def _cards(floor: Floor) -> Moves:
    ends = floor.some_host()
    a, b = floor.site.dice.sample(ends, 2)
    return exchanged([a], [b])


# -- splitters (the plan must declare the host cables of leaves as 1:2 splitters, a head in each cage) -----------


def _tails_crossed(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1)[: -len(floor.switches(1, 1))])
    return twins(floor.ends(leaf, -1))


def _one_tail_crossed(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1)[: -len(floor.switches(1, 1))])
    return twins(floor.ends(leaf, -1)[2:4])


def _heads_exchanged(floor: Floor) -> Moves:
    (leaf,) = floor.pick(floor.switches(1)[: -len(floor.switches(1, 1))])
    ends = floor.ends(leaf, -1)
    return exchanged(ends[:2], ends[-2:])


# -- whole layers and numbering ----------------------------------------------------------------------------------


def _leaves_per_rail(floor: Floor) -> Moves:
    """Leaf r of every unit to the spines r of all units: as many networks as rails, every count right."""
    units = floor.units()
    moves: Moves = {}
    leaves = {unit: floor.switches(1, unit) for unit in units}
    spines = {unit: floor.switches(2, unit) for unit in units}
    for r in range(len(leaves[units[0]])):
        for place, unit in enumerate(units):
            ups = floor.ends(leaves[unit][r], +1)
            wide = len(ups) // len(units)
            if not wide:
                raise ValueError("fewer uplinks than units: no room for a cable to each")
            for at, end in enumerate(ups):
                spine = spines[units[at // wide]][r]
                port = floor.ends(spine, -1)[place * wide + at % wide]
                moves[floor.net.cables[end]] = port
    return moves


def _cores_per_unit(floor: Floor) -> Moves:
    """The spines of a unit to cores of their own: as many networks as units, every count right."""
    units, cores = floor.units(), floor.switches(3)
    ports = {core.node: floor.ends(core, -1) for core in cores}
    moves: Moves = {}
    share = len(cores) // len(units)
    for place, unit in enumerate(units):
        own = [end for core in cores[place * share : (place + 1) * share] for end in ports[core.node]]
        ups = [end for spine in floor.switches(2, unit) for end in floor.ends(spine, +1)]
        for end, to in zip(ups, own, strict=True):
            moves[floor.net.cables[end]] = to
    return moves


def _renumber(floor: Floor, boxes: list[Box]) -> Moves:
    moves: Moves = {}
    for box in boxes:
        for end in floor.ends(box, 0):
            moves[end] = End(box.node, 2 * end.port - 1)
        floor.net.boxes[box.node] = replace(box, ports=2 * box.ports)
    return moves


def _split_ready(floor: Floor) -> Moves:
    """One leaf in the profile that numbers port p as 2p - 1."""
    return _renumber(floor, floor.pick(floor.switches(1)))


def _all_doubled(floor: Floor) -> Moves:
    """Every switch, as a plan that counts cages sees them (or a fabric all in split-ready profile)."""
    return _renumber(floor, [box for box in floor.net.boxes.values() if box.is_switch])


SYSTEMATIC: dict[str, Callable[[Floor], Moves]] = {
    "leaf-rotated": _leaf_rotated,
    "unit-rotated": _unit_rotated,
    "spine-rotated": _spine_rotated,
    "host-ports-rotated": _host_ports_rotated,
    "uplinks-reversed": _uplinks_reversed,
    "trunk-reversed": _trunk_reversed,
    "cages-exchanged": _cages,
    "unit-cages-exchanged": _unit_cages,
    "host-bundles": _host_bundles,
    "uplink-bundles": _uplink_bundles,
    "spine-bundles": _spine_bundles,
    "leaf-misplaced": _misplaced(1),
    "spine-misplaced": _misplaced(2),
    "core-misplaced": _misplaced(3),
    "hosts-exchanged": _hosts_exchanged,
    "hosts-wrong-unit": _wrong_unit,
    "leaves-wrong-unit": _leaves_wrong_unit,
    "host-reversed": _host_reversed,
    "host-cage-ports": _host_cage_ports,
    "host-cages-reversed": _host_cages_reversed,
    "unit-host-cage-ports": _unit_host_cage_ports,
    "cards-exchanged": _cards,
    "tails-crossed": _tails_crossed,
    "one-tail-crossed": _one_tail_crossed,
    "heads-exchanged": _heads_exchanged,
    "leaves-per-rail": _leaves_per_rail,
    "cores-per-unit": _cores_per_unit,
    "split-ready": _split_ready,
    "all-doubled": _all_doubled,
}
"""Fault kinds by the word used on the command line and in truth files."""


def put(site: Site, kind: str) -> Fault:
    """Do it: every plug at its new place at once. The truth names the cables it moved."""
    from tests.sim.faults import Fault

    moves = SYSTEMATIC[kind](Floor(site))
    net = site.net
    cables = {frozenset((end, net.cables[end])): (end, net.cables[end]) for end in moves if end in net.cables}
    rows = sorted(
        tuple(sorted(pair, key=lambda end: (net.boxes[end.node].tier, end))) for pair in cables.values()
    )
    after = [(a, b, moves.get(a, a), moves.get(b, b)) for a, b in rows]
    stay = {frozenset((a, b)) for a, b, _, _ in after} & {frozenset((c, d)) for _, _, c, d in after}
    after = [row for row in after if frozenset(row[:2]) not in stay]
    planned = tuple(site.name(a, b) for a, b, _, _ in after)
    for a, _, _, _ in after:
        net.cut(a)
    for a, b, c, d in after:
        net.connect(c, d)
        site.hit |= {a, b, c, d}
    return Fault(kind, planned, tuple(site.name(c, d) for _, _, c, d in after))
