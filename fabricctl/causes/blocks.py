"""Plugs that stayed on their switch: blocks of ports shifted or reversed, the two ports of cages exchanged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from fabricctl.causes.candidate import MIN_FIT, MIN_LINKS, Candidate
from fabricctl.causes.layout import ALL, Block, Layout
from fabricctl.causes.model import CauseKind
from fabricctl.fabric import Port
from fabricctl.panels import Panel

Within = dict[str, dict[int, int]]
"""Switch -> port number where a plug belongs -> port number where it sits."""


def within_switches(displaced: Mapping[Port, Port], layout: Layout) -> Within:
    """The plugs that sit in another port of the switch they belong to."""
    found: Within = defaultdict(dict)
    for own, there in displaced.items():
        if own[0] == there[0] and layout.is_switch(own[0]):
            found[own[0]][own[1]] = there[1]
    return found


def block_candidates(
    within: Within, layout: Layout, panels: Mapping[str, Panel | None]
) -> Iterator[Candidate]:
    """Shifts, reversals and exchanged cage ports on every switch with enough plugs in wrong ports of its own."""
    for node, there in within.items():
        if len(there) < MIN_LINKS - 1:
            continue
        for block in _blocks(node, there, layout):
            yield from _shifts(block, there, layout)
            yield from _reversals(block, there, layout)
        yield from _cages(node, there, layout, panels.get(node))


def _blocks(node: str, there: Mapping[int, int], layout: Layout) -> Iterator[Block]:
    sides = layout.sides(node)
    seen: set[tuple[int, ...]] = set()
    for block in [*sides, *([layout.whole(node)] if len(sides) > 1 else []), *layout.bundles(node)]:
        moved = sum(number in there for number in block.ports)
        if moved >= MIN_LINKS - 1 and block.ports not in seen:
            seen.add(block.ports)
            yield block
    for block in sides:
        for run in _runs(block, there):
            if run.ports not in seen:
                seen.add(run.ports)
                yield run


def _runs(block: Block, there: Mapping[int, int]) -> Iterator[Block]:
    """Stretches of a block in which every plug sits elsewhere in the same stretch."""
    run: list[int] = []
    start, reach = 0, -1
    place = {number: index for index, number in enumerate(block.ports)}
    for index, number in enumerate(block.ports):
        far = place.get(there.get(number, -1))
        if far is None or far == index:
            if index > reach:
                start, run = index + 1, []
            continue
        if index > reach and run:
            yield Block(block.node, block.side, block.ports[start : reach + 1], run=True)
            run = []
        if not run:
            start, reach = index, index
        run.append(number)
        reach = max(reach, far)
    if run:
        yield Block(block.node, block.side, block.ports[start : reach + 1], run=True)


def _family(block: Block, layout: Layout, *more: object) -> tuple[object, ...]:
    """Blocks of one kind on switches of one tier: a habit, wherever it shows."""
    far = layout.tier.get(block.far) if block.far else None
    return (layout.tier.get(block.node), block.side, far, len(block.ports) if block.run else 0, *more)


def _shifts(block: Block, there: Mapping[int, int], layout: Layout) -> Iterator[Candidate]:
    ports, size = block.ports, len(block.ports)
    place = {number: index for index, number in enumerate(ports)}
    turns: Counter[int] = Counter()
    steps: Counter[int] = Counter()
    for index, number in enumerate(ports):
        to = there.get(number)
        if to is None:
            continue
        if to in place:
            turns[(place[to] - index) % size] += 1
        steps[to - number] += 1
    least = max(MIN_LINKS - 1, MIN_FIT * 0.75 * size)
    for turn, count in turns.items():
        if turn and count >= least and size > 2:
            moves = {
                Port(block.node, n): Port(block.node, ports[(i + turn) % size]) for i, n in enumerate(ports)
            }
            yield _shift(block, layout, moves, turn if 2 * turn <= size else turn - size)
    planned = {number for number, _ in layout.ports[block.node]}
    for step, count in steps.items():
        outside = {n + step for n in ports} - set(ports)
        if step and count >= least and not block.run and not outside & planned:
            moves = {Port(block.node, n): Port(block.node, n + step) for n in ports}
            yield _shift(block, layout, moves, step, wraps=False)


def _shift(
    block: Block, layout: Layout, moves: dict[Port, Port], step: int, *, wraps: bool = True
) -> Candidate:
    return Candidate(
        CauseKind.SHIFTED,
        moves,
        (block.node,),
        _family(block, layout, "shift", step, wraps),
        side=block.side,
        step=step,
        size=len(block.ports),
        far=block.far,
        wraps=wraps,
        note="run" if block.run else "bundle" if block.far else "",
    )


def _reversals(block: Block, there: Mapping[int, int], layout: Layout) -> Iterator[Candidate]:
    """The whole block, and stretches of it whose ports add up to one number (a trunk of several fibres, flipped)."""
    place = {number: index for index, number in enumerate(block.ports)}
    sums: dict[int, list[int]] = defaultdict(list)
    for index, number in enumerate(block.ports):
        to = place.get(there.get(number, -1))
        if to is not None and to != index:
            sums[index + to].append(index)
    for total, members in sums.items():
        if len(members) < MIN_LINKS - 1:
            continue
        low, high = min(members), max(members)
        low, high = min(low, total - high), max(high, total - low)
        whole = low <= 1 and high >= len(block.ports) - 2 and total == len(block.ports) - 1
        if whole:
            low, high = 0, len(block.ports) - 1
        span = high - low + 1
        if low < 0 or high >= len(block.ports) or span < MIN_LINKS or (block.side == ALL and not whole):
            continue
        ports = block.ports[low : high + 1]
        part = Block(block.node, block.side, ports, block.far, run=not whole)
        yield Candidate(
            CauseKind.REVERSED,
            {Port(block.node, n): Port(block.node, m) for n, m in zip(ports, reversed(ports), strict=True)},
            (block.node,),
            _family(part, layout, "reverse"),
            side=block.side,
            size=span,
            far=block.far,
            note="" if whole else "run",
            among=len(block.ports),
        )


# -- cages ----------------------------------------------------------------------------------------------------


def twins(node: str, layout: Layout, panel: Panel | None) -> list[tuple[int, int]]:
    """The two ports (of split ones the first halves) of every cage that has two.

    Without a panel, ports 1 and 2, 3 and 4, ... of a big switch.
    """
    if panel is not None:
        cages: dict[str, list[int]] = defaultdict(list)
        for port in panel.ports:
            at = layout.ends.at_normal(node, (port.number,))
            if at is not None:
                cages[port.cage].append(at.number)
        return [(min(pair), max(pair)) for pair in cages.values() if len(pair) == 2]
    last = max((number for number, _ in layout.ports.get(node, ())), default=0)
    one = 2 if layout.ends.splits(node) else 1
    return [(low, low + one) for low in range(1, last, 2 * one)]


def _cages(node: str, there: Mapping[int, int], layout: Layout, panel: Panel | None) -> Iterator[Candidate]:
    pairs = twins(node, layout, panel)
    side = {number: block.side for block in layout.sides(node) for number in block.ports}
    crossed: dict[str, list[tuple[int, int]]] = defaultdict(list)
    held: Counter[str] = Counter()
    for low, high in pairs:
        if low in side and high in side:
            held[side[low]] += 1
            if (
                there.get(low, high) == high
                and there.get(high, low) == low
                and (low in there or high in there)
            ):
                crossed[side[low]].append((low, high))
    sides = [(name, found, held[name]) for name, found in crossed.items()]
    if len(sides) > 1:
        sides.append((ALL, [pair for _, found, _ in sides for pair in found], held.total()))
    for name, found, of in sides:
        if len(found) < 2:
            continue
        whole = len(found) >= MIN_FIT * of
        if name == ALL and not whole:
            continue
        chosen = (
            [pair for pair in pairs if name in (ALL, side.get(pair[0])) and pair[1] in side]
            if whole
            else found
        )
        moves: dict[Port, Port] = {}
        for low, high in chosen:
            moves[Port(node, low)], moves[Port(node, high)] = Port(node, high), Port(node, low)
        yield Candidate(
            CauseKind.CAGE_PORTS_EXCHANGED,
            moves,
            (node,),
            (layout.tier.get(node), name, "cages", whole),
            side=name,
            size=len(chosen),
            note="panel" if panel is not None else "",
            among=2 * of,
        )
