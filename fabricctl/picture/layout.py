"""Where everything stands: rows by tier, columns by scalable unit, fixed by the plan. No physics, no chance.

A row is a tier: hosts at the bottom, then leaf, spine, core. A row is cut into groups: by declared unit, else by
the switches they are cabled to, else by name. Groups that belong to one column of leaves stand above it; rows
that serve all columns are spread over the whole width and called shared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from fabricctl.hostset import fold, natural_key

LARGEST = 40
"""A group with more switches than this is cut, by name: one box of 128 leaves shows nothing."""
CHUNK = 32
DECLARED_SHARE = 0.9
"""Units are used where at least this share of a tier declares one."""
OWN_SHARE = 0.8
"""A group stands in a column when at least this share of its cables down goes there."""
GAP = 0.12
"""Gap between columns, as a share of the mean column."""
OTHER = 9
"""Row of switches of which no tier is known."""
OUTSIDE = "outside the plan"


@dataclass(frozen=True, slots=True)
class Cell:
    """A switch or a host. :param key: of the device, or the host's name; :param tier: 0 host, None unknown."""

    key: str
    name: str
    tier: int | None
    unit: int | None = None
    rail: int | None = None
    planned: bool = True


@dataclass(slots=True)
class Group:
    """Cells side by side, from x to x + width; a switch is about 1 wide.

    :param column: of leaves it stands above or below, None when it serves several.
    :param short: what tells its title from those of its row: ``01`` of ``ibl-p01-r[1-8]``.
    """

    tier: int
    title: str
    cells: list[Cell]
    column: int | None = None
    x: float = 0.0
    width: float = 0.0
    short: str = ""


@dataclass(slots=True)
class Layout:
    """Groups row by row, lowest tier first, left to right. :param shared: tiers that serve all columns."""

    groups: list[Group]
    shared: set[int]
    width: float = 1.0


def lay_out(cells: list[Cell], peers: Mapping[str, Counter[str]]) -> Layout:
    """Place every cell.

    :param peers: cell key -> planned neighbours (cell keys) with their number of cables.
    """
    rows: dict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        rows[OTHER if cell.tier is None else cell.tier].append(cell)
    if OTHER in rows and not rows.keys() - {0, OTHER}:
        rows[1] = rows.pop(OTHER)  # switches of unknown tier alone: one row of switches
    tier_of = {cell.key: tier for tier, row in rows.items() for cell in row}
    groups: dict[int, list[Group]] = {}
    switch_tiers = sorted(tier for tier in rows if tier)
    for tier in switch_tiers:
        up = tier == switch_tiers[0]
        groups[tier] = _grouped(tier, rows[tier], peers, tier_of, upward=up)
    columns = groups[switch_tiers[0]] if switch_tiers else []
    for number, group in enumerate(columns):
        group.column = number
    if 0 in rows:
        groups[0] = _host_groups(rows[0], columns, peers)
    placed = {cell.key: group.column for group in columns for cell in group.cells}
    for tier in switch_tiers[1:]:
        _columns_of(groups[tier], placed, peers, tier_of)
    for row in groups.values():
        _shorten(row)
    return _spread(groups, len(columns))


def _shorten(row: list[Group]) -> None:
    """Leave out what all titles of a row begin and end with; numbers stay whole.

    What stands before the brackets counts where it tells the groups apart, else what stands in them.
    """
    bases = [group.title.partition("[")[0] for group in row]
    if len(set(bases)) < len(bases):
        for group, base in zip(row, bases, strict=True):
            group.short = group.title.partition("[")[2].partition("]")[0] or base
        return
    own = [base for base in bases if base != OUTSIDE]
    head = tail = 0
    if len(own) > 1:
        head = len(re.sub(r"[0-9]+\Z", "", _common(own)))
        tail = len(re.sub(r"[0-9]+\Z", "", _common([base[head:][::-1] for base in own])))
    for group, base in zip(row, bases, strict=True):
        group.short = "outside" if base == OUTSIDE else base[head : len(base) - tail]


def _common(texts: list[str]) -> str:
    """What all texts begin with."""
    low, high = min(texts), max(texts)
    return next((low[:i] for i, char in enumerate(low) if char != high[i]), low)


# -- groups -------------------------------------------------------------------------------------------------


def _grouped(
    tier: int,
    cells: list[Cell],
    peers: Mapping[str, Counter[str]],
    tier_of: Mapping[str, int],
    *,
    upward: bool,
) -> list[Group]:
    planned = [cell for cell in cells if cell.planned]
    declared = sum(cell.unit is not None for cell in planned)
    parts: dict[Hashable, list[Cell]] | None = None
    titled: Callable[[Hashable, list[Cell]], str] = _folded
    if planned and declared >= DECLARED_SHARE * len(planned):
        parts = _by(planned, lambda cell: cell.unit)
        titled = _unit_title
    else:

        def facing(cell: Cell) -> Hashable:
            near = peers.get(cell.key, ())
            return frozenset(
                k for k in near if (tier_of.get(k, 0) > tier if upward else 0 < tier_of.get(k, 0) < tier)
            )

        tried = [_by(planned, rule) for rule in (facing, _stem)]
        fitting = [one for one in tried if 1 < len(one) <= max(2, len(planned) // 2)]
        small = [one for one in fitting if max(map(len, one.values())) <= LARGEST]
        parts = min(small or fitting, key=_odd_ones, default=None)  # of equals the first: cabling
    if parts is None:
        parts = {None: planned}
    made: list[Group] = []
    for key, members in parts.items():
        members.sort(key=_order)
        if len(members) > LARGEST and key is None:
            pieces = [members[i : i + CHUNK] for i in range(0, len(members), CHUNK)]
            made += [Group(tier, _folded(None, piece), piece) for piece in pieces]
        elif members:
            made.append(Group(tier, titled(key, members), members))
    made.sort(key=lambda group: _group_order(group.cells))
    strangers = sorted((cell for cell in cells if not cell.planned), key=_order)
    return [*made, Group(tier, OUTSIDE, strangers)] if strangers else made


def _odd_ones(parts: Mapping[Hashable, list[Cell]]) -> int:
    """Cells in groups of less than half the usual size: a missing cable puts a switch into one of its own."""
    sizes = sorted(map(len, parts.values()))
    return sum(size for size in sizes if 2 * size < sizes[len(sizes) // 2])


def _by(cells: list[Cell], rule: Callable[[Cell], Hashable]) -> dict[Hashable, list[Cell]]:
    parts: dict[Hashable, list[Cell]] = defaultdict(list)
    for cell in cells:
        parts[rule(cell)].append(cell)
    return parts


def _stem(cell: Cell) -> Hashable:
    """A name without its last number: ``ibl-p01-r1`` -> ``ibl-p01-r``."""
    return re.sub(r"[0-9]+(?=[^0-9]*\Z)", "", cell.name)


def _unit_title(key: Hashable, cells: list[Cell]) -> str:
    return f"SU {key}" if key is not None else _folded(key, cells)


def _folded(_key: Hashable, cells: list[Cell]) -> str:
    text = fold(cell.name for cell in cells)
    return text if len(text) <= 28 else f"{cells[0].name} to {cells[-1].name}"


def _order(cell: Cell) -> tuple[bool, int, tuple[tuple[int, int, str], ...]]:
    return (cell.rail is None, cell.rail or 0, natural_key(cell.name))


def _group_order(cells: list[Cell]) -> tuple[bool, int, tuple[tuple[int, int, str], ...]]:
    unit = cells[0].unit
    return (unit is None, unit or 0, min(natural_key(cell.name) for cell in cells))


def _host_groups(hosts: list[Cell], columns: list[Group], peers: Mapping[str, Counter[str]]) -> list[Group]:
    """Hosts stand under the leaves that hold most of their cables."""
    column_of = {cell.key: number for number, group in enumerate(columns) for cell in group.cells}
    parts: dict[tuple[int, bool], list[Cell]] = defaultdict(list)
    for host in hosts:
        votes: Counter[int] = Counter()
        for key, number in peers.get(host.key, Counter()).items():
            if key in column_of:
                votes[column_of[key]] += number
        home = max(votes, key=lambda column: (votes[column], -column)) if votes else len(columns)
        parts[home, not host.planned].append(host)
    made = []
    for (column, stranger), members in sorted(parts.items()):
        members.sort(key=lambda cell: natural_key(cell.name))
        title = OUTSIDE if stranger else _folded(None, members)
        made.append(Group(0, title, members, column if column < len(columns) else None))
    return made


def _columns_of(
    groups: list[Group],
    placed: dict[str, int | None],
    peers: Mapping[str, Counter[str]],
    tier_of: Mapping[str, int],
) -> None:
    """Give each group of a higher row the column most of its cables go down to; none when it serves several."""
    for group in groups:
        votes: Counter[int] = Counter()
        total = 0
        for cell in group.cells:
            for key, number in peers.get(cell.key, Counter()).items():
                if 0 < tier_of.get(key, 0) < group.tier:
                    total += number
                    column = placed.get(key)
                    if column is not None:
                        votes[column] += number
        if votes:
            column, number = votes.most_common(1)[0]
            group.column = column if number >= OWN_SHARE * total else None
    for group in groups:
        placed.update(dict.fromkeys((cell.key for cell in group.cells), group.column))


# -- places -------------------------------------------------------------------------------------------------


def _spread(groups: dict[int, list[Group]], columns: int) -> Layout:
    shared = {tier for tier, row in groups.items() if tier and _is_shared(row)}
    widths = [1.0] * columns
    for tier, row in groups.items():
        if tier in shared:
            continue
        load: Counter[int] = Counter()
        for group in row:
            if group.column is not None:
                load[group.column] += len(group.cells)
        for column, count in load.items():
            widths[column] = max(widths[column], count / 4 if tier == 0 else count)
    gap = GAP * (sum(widths) / columns if columns else 1.0) + 0.2
    starts, at = [], 0.0
    for width in widths:
        starts.append(at)
        at += width + gap
    end = max(at - gap, 1.0)
    for tier, row in groups.items():
        if tier not in shared:
            end = max(end, _in_columns(tier, row, starts, widths, at, gap))
    for tier in shared:
        _evenly(groups[tier], end)
    return Layout([group for tier in sorted(groups) for group in groups[tier]], shared, end)


def _is_shared(row: list[Group]) -> bool:
    return sum(group.column is None for group in row) > len(row) / 2


def _in_columns(
    tier: int, row: list[Group], starts: list[float], widths: list[float], at: float, gap: float
) -> float:
    """Place a row's groups in their columns; those without one behind the last. Returns the right end."""
    load: Counter[int] = Counter()
    for group in row:
        if group.column is not None:
            load[group.column] += len(group.cells)
    used: Counter[int] = Counter()
    for group in row:
        if group.column is None:
            group.x, group.width = at, max(1.0, len(group.cells) / (4 if tier == 0 else 1))
            at += group.width + gap
            continue
        column, total = group.column, load[group.column]
        width = widths[column] if tier == 0 else min(widths[column], 1.6 * total)
        left = starts[column] + (widths[column] - width) / 2
        group.x = left + width * used[column] / total
        group.width = width * len(group.cells) / total
        used[column] += len(group.cells)
    return at - gap


def _evenly(row: list[Group], width: float) -> None:
    """Spread groups over the width; a shared row of few switches keeps them together around the middle."""
    total = sum(len(group.cells) for group in row)
    pitch = min(width / (total + 0.6 * len(row)), 3.0)
    free = width - pitch * total
    between = free / len(row)
    at = between / 2
    for group in row:
        group.x, group.width = at, pitch * len(group.cells)
        at += group.width + between
