"""Plugs that kept their port number but sit on another device: bundles, whole switches, hosts, units exchanged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from fabricctl.causes.candidate import MIN_FIT, Candidate
from fabricctl.causes.layout import ALL, DOWN, Block, Layout
from fabricctl.causes.model import CauseKind
from fabricctl.fabric import Port
from fabricctl.hostset import natural_key

Target = dict[str, str]
"""Device -> the device most of its plugs sit on."""


def exchange_candidates(displaced: Mapping[Port, Port], layout: Layout) -> Iterator[Candidate]:
    """Everything that went from one switch to another."""
    across = {
        own: there
        for own, there in displaced.items()
        if own[0] != there[0] and layout.is_switch(own[0]) and layout.is_switch(there[0])
    }
    yield from _by_side(across, layout, displaced)
    yield from _by_bundle(across, layout)
    yield from _by_unit(displaced, layout)


def cycles(target: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The devices of each closed round, or of each chain that ends where nothing goes on; and whether it is closed."""
    left = dict(sorted(target.items(), key=lambda item: natural_key(item[0])))
    heads = [key for key in left if key not in set(target.values())]
    for start in [*heads, *left]:
        path: list[str] = []
        key = start
        while key in left:
            path.append(key)
            key = left.pop(key)
        if path:
            closed = key == start
            yield tuple(path if closed else [*path, key]), closed


# -- whole blocks, same port number ---------------------------------------------------------------------------


def _by_side(
    across: Mapping[Port, Port], layout: Layout, displaced: Mapping[Port, Port]
) -> Iterator[Candidate]:
    """Host bundles or uplinks of switches exchanged; when all their ports are, the switches themselves."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    other_ports: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for own, there in across.items():
        far = layout.planned(own)
        side = layout.side(own[0], far.node) if far is not None else ALL
        (counts if own[1] == there[1] else other_ports)[own[0], side][there[0]] += 1
    targets: dict[str, Target] = defaultdict(dict)
    for (node, side), best in _most(counts, layout, 0.5 * MIN_FIT):
        targets[side][node] = best
    twisted: set[str] = set()
    for (node, side), best in _most(other_ports, layout, MIN_FIT):
        if node not in targets[side] and targets[side].get(best) == node:
            targets[side][node] = best
            twisted.add(node)
    whole = _whole_switches(targets, layout)
    yield from _rounds(whole, ALL, layout, displaced, twisted)
    for side, target in sorted(targets.items()):
        yield from _rounds(target, side, layout, displaced, twisted)


def _most(
    counts: Mapping[tuple[str, str], Counter[str]], layout: Layout, share: float
) -> Iterator[tuple[tuple[str, str], str]]:
    """Block (switch and side) -> the device with most of its plugs, where that is enough of the block."""
    for (node, side), found in counts.items():
        block = next((b for b in layout.sides(node) if b.side == side), None)
        best, number = min(found.items(), key=lambda item: (-item[1], natural_key(item[0])))
        if block is not None and number >= max(2, share * len(block.ports)):
            yield (node, side), best


def _whole_switches(targets: Mapping[str, Target], layout: Layout) -> Target:
    """Switches all of whose blocks went to the same one."""
    found: Target = {}
    for node in {node for target in targets.values() for node in target}:
        to = {targets.get(block.side, {}).get(node) for block in layout.sides(node)}
        only = to.pop() if len(to) == 1 else None
        if only is not None:
            found[node] = only
    return found


def _goes_on(node: str, ports: Iterable[int], displaced: Mapping[Port, Port]) -> bool:
    """Whether the plugs of a chain's last device sit elsewhere, too: then it is no chain but something else."""
    return any(Port(node, number) in displaced for number in ports)


def _rounds(
    target: Target, side: str, layout: Layout, displaced: Mapping[Port, Port], twisted: Set[str]
) -> Iterator[Candidate]:
    for path, closed in cycles(target):
        ring = _from_first_unit(path, layout, closed=closed)
        steps = [(a, target[a]) for a in ring if a in target]
        blocks = [_block(a, side, layout) for a, _ in steps]
        moves = {
            Port(b.node, n): Port(to, n) for b, (_, to) in zip(blocks, steps, strict=True) for n in b.ports
        }
        one_block = all(len(layout.sides(a)) == 1 for a in ring)
        whole = side == ALL or one_block
        if not closed and _goes_on(ring[-1], _block(ring[-1], side, layout).ports, displaced):
            continue
        yield Candidate(
            CauseKind.WRONG_RACK if whole else CauseKind.BUNDLES_EXCHANGED,
            moves,
            ring,
            _pair_family(ring, side, layout, "whole" if whole else "side"),
            side=side,
            wraps=closed,
            pairs=(ring,),
            twisted=not twisted.isdisjoint(ring),
        )
        if len(ring) > 2 and closed:
            yield from _pairs_of(ring, target, side, layout)


def _pairs_of(ring: Sequence[str], target: Target, side: str, layout: Layout) -> Iterator[Candidate]:
    """Neighbours of a ring that are counterparts in two units: a part of the ring may be an exchange of units."""
    for a in ring:
        pair = _from_first_unit((a, target[a]), layout, closed=True)
        family = _pair_family(pair, side, layout, "side")
        if family is not None and side != ALL and _place(pair[0], layout) == _place(pair[1], layout):
            one, two = (_block(key, side, layout) for key in pair)
            moves = {Port(one.node, n): Port(two.node, n) for n in one.ports}
            moves |= {Port(two.node, n): Port(one.node, n) for n in two.ports}
            yield Candidate(
                CauseKind.BUNDLES_EXCHANGED, moves, pair, family, side=side, pairs=(pair,), loose=True
            )


def _place(key: str, layout: Layout) -> int:
    """How many switches of its unit and tier come before it by name: the same for counterparts in two units."""
    unit, tier, own = layout.unit.get(key), layout.tier.get(key), natural_key(layout.name(key))
    same = (other for other, found in layout.unit.items() if found == unit and layout.tier.get(other) == tier)
    return sum(natural_key(layout.name(other)) < own for other in same)


def _pair_family(ring: Sequence[str], side: str, layout: Layout, word: str) -> tuple[object, ...] | None:
    """Exchanges of the same units, on every rail: one act on the units."""
    units = [layout.unit.get(key, "") for key in ring]
    tiers = {layout.tier.get(key) for key in ring}
    if "" in units or len(set(units)) < len(units) or len(tiers) > 1:
        return None
    if len({layout.rail.get(key) for key in ring}) > 1:
        return None
    return (word, side, tiers.pop(), tuple(units))


def _from_first_unit(ring: tuple[str, ...], layout: Layout, *, closed: bool) -> tuple[str, ...]:
    """A round told from the device of the first unit on, so that rounds of the same units read alike."""
    if not closed:
        return ring
    at = min(
        range(len(ring)), key=lambda n: (natural_key(layout.unit.get(ring[n], "")), natural_key(ring[n]))
    )
    return ring[at:] + ring[:at]


def _block(node: str, side: str, layout: Layout) -> Block:
    if side == ALL:
        return layout.whole(node)
    return next((b for b in layout.sides(node) if b.side == side), Block(node, side, ()))


# -- bundles towards one device -------------------------------------------------------------------------------


def _by_bundle(across: Mapping[Port, Port], layout: Layout) -> Iterator[Candidate]:
    """The cables of two (or more) switches to one device, exchanged in their order."""
    place: dict[tuple[str, str], dict[int, int]] = {}
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def index(node: str, far: str) -> dict[int, int]:
        found = place.get((node, far))
        if found is None:
            ports = [number for number, other in layout.ports.get(node, ()) if other.node == far]
            found = place[node, far] = {number: at for at, number in enumerate(ports)}
        return found

    for own, there in across.items():
        far = layout.planned(own)
        if far is None or not layout.is_switch(far.node):
            continue
        here, beyond = index(own[0], far.node), index(there[0], far.node)
        if len(here) > 1 and len(here) == len(beyond) and here[own[1]] == beyond.get(there[1]):
            counts[own[0], far.node][there[0]] += 1
    targets: dict[str, Target] = defaultdict(dict)
    for (node, far_key), found in counts.items():
        best, number = min(found.items(), key=lambda item: (-item[1], natural_key(item[0])))
        if number >= MIN_FIT * 0.75 * len(place[node, far_key]):
            targets[far_key][node] = best
    for far_key, target in sorted(targets.items()):
        for ring, closed in cycles(target):
            if not closed and _goes_on(ring[-1], index(ring[-1], far_key), across):
                continue
            moves = {
                Port(a, m): Port(target[a], n)
                for a in ring
                if a in target
                for m, n in zip(place[a, far_key], index(target[a], far_key), strict=True)
            }
            yield Candidate(
                CauseKind.BUNDLES_EXCHANGED,
                moves,
                ring,
                side=layout.side(ring[0], far_key),
                far=far_key,
                wraps=closed,
                pairs=(ring,),
            )


# -- hosts ----------------------------------------------------------------------------------------------------


def host_exchanges(displaced: Mapping[Port, Port], layout: Layout) -> Iterator[Candidate]:
    """Hosts that carry each other's cables, HCA by HCA."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    nodes = layout.nodes
    for own, there in displaced.items():
        host, other = layout.host(own[0]), layout.host(there[0])
        if host and other and host != other and nodes[own[0]].hca == nodes[there[0]].hca:
            counts[host][other] += 1
    target: Target = {}
    for host, found in counts.items():
        best, number = min(found.items(), key=lambda item: (-item[1], natural_key(item[0])))
        if number >= max(2, MIN_FIT * 0.75 * len(layout.hcas[host])):
            target[host] = best
    for ring, closed in cycles(target):
        last = [key for key in layout.hcas[ring[-1]] if _goes_on(key, (1,), displaced)]
        if not closed and last:
            continue
        moves = {}
        for host in ring:
            if host not in target:
                continue
            by_hca = {nodes[key].hca: key for key in layout.hcas[target[host]]}
            for key in layout.hcas[host]:
                to = by_hca.get(nodes[key].hca)
                if to is not None:
                    moves.update({Port(key, n): Port(to, n) for n, _ in layout.ports.get(key, ())})
        yield Candidate(
            CauseKind.WRONG_RACK, moves, ring, side="host", wraps=closed, pairs=(ring,), acts=len(ring) // 2
        )


# -- another unit ---------------------------------------------------------------------------------------------


def _by_unit(displaced: Mapping[Port, Port], layout: Layout) -> Iterator[Candidate]:
    """Hosts whose cables go to the leaves of another unit, rail by rail."""
    went: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    moved: dict[tuple[str, tuple[str, str]], dict[Port, Port]] = defaultdict(dict)
    tier = layout.tier
    leaves = [
        (own, there)
        for own, there in displaced.items()
        if own[0] != there[0] and tier.get(own[0]) == 1 and tier.get(there[0]) == 1
    ]
    for own, there in leaves:
        far = layout.planned(own)
        host = layout.host(far.node) if far is not None else None
        a, b = layout.unit.get(own[0]), layout.unit.get(there[0])
        if (
            host
            and a is not None
            and b is not None
            and a != b
            and layout.rail.get(own[0]) == layout.rail.get(there[0])
        ):
            went[host][a, b] += 1
            moved[host, (a, b)][own] = there
    by_way: dict[tuple[str, str], list[str]] = defaultdict(list)
    for host, ways in went.items():
        way, number = min(ways.items(), key=lambda item: (-item[1], item[0]))
        if number >= max(2, MIN_FIT * 0.75 * len(layout.hcas[host])):
            by_way[way].append(host)
    done: set[tuple[str, str]] = set()
    for way in sorted(by_way, key=lambda way: (natural_key(way[0]), natural_key(way[1]))):
        back = (way[1], way[0])
        done.add(way)
        if back in done:
            continue
        hosts = by_way[way] + by_way.get(back, [])
        if len(by_way[way]) < 2:
            continue
        moves: dict[Port, Port] = {}
        for here, there_hosts in ((way, by_way[way]), (back, by_way.get(back, []))):
            for host in there_hosts:
                moves.update(_all_rails(host, here, moved[host, here], layout))
        names = sorted(by_way[way], key=natural_key), sorted(by_way.get(back, []), key=natural_key)
        yield Candidate(
            CauseKind.WRONG_UNIT,
            moves,
            tuple(sorted(hosts, key=natural_key)),
            side=DOWN,
            wraps=back in by_way,
            pairs=tuple(tuple(group) for group in names if group),
            note="hosts",
        )


def _all_rails(
    host: str, way: tuple[str, str], moved: Mapping[Port, Port], layout: Layout
) -> Iterator[tuple[Port, Port]]:
    """Moves of a host's plugs seen so, and of its other ones to where they would be then."""
    ports = Counter((a.number, b.number) for a, b in moved.items())
    (own, there), _ = min(ports.items(), key=lambda item: (-item[1], item[0]))
    for key in layout.hcas[host]:
        for _, far in layout.ports.get(key, ()):
            known = moved.get(far)
            to = known.node if known is not None else _twin_leaf(far.node, way[1], layout)
            if to is not None and far.number == own:
                yield far, Port(to, there)


def _twin_leaf(leaf: str, unit: str, layout: Layout) -> str | None:
    rail = layout.rail.get(leaf)
    return next(
        (
            key
            for key in layout.ports
            if layout.unit.get(key) == unit and layout.rail.get(key) == rail and layout.tier.get(key) == 1
        ),
        None,
    )
