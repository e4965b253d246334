"""The leaf-by-spine matrix as a static drawing for paper: planned against found for every pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from fabricctl.picture.data import PictureData
from fabricctl.picture.looks import DIM, FAINT, INK, LINE, LOOKS, SOFT, STRAY
from fabricctl.picture.markup import esc, joined
from fabricctl.picture.pairs import DEGRADED, MISSING, SWAPPED, TIERS, WORST, Cells, Pair, count_pairs

MOST_CELLS = 20_000
"""Above so many pairs the matrix is drawn of groups."""
_SIZE, _LEFT, _TOP = 700, 110, 26


def matrices(data: PictureData) -> Iterator[tuple[str, str]]:
    """(title, drawing) of leaf by spine and of spine by core, where there are such switches."""
    if "map" not in data:
        return
    cells = Cells(data)
    tiers = sorted({group["tier"] for group in data["map"]["groups"]} - {0})
    by_cell = [pair for pair in count_pairs(data, cells.cell, cells.tier) if cells.tier(pair.low)]
    for low, high in zip(tiers, tiers[1:], strict=False):
        pairs = [p for p in by_cell if (cells.tier(p.low), cells.tier(p.high)) == (low, high)]
        if not pairs:
            continue
        if len(pairs) <= MOST_CELLS:
            rows = [c for c in range(cells.switches) if cells.tier(c) == low]
            columns = [c for c in range(cells.switches) if cells.tier(c) == high]
            drawing = _draw(pairs, rows, columns, lambda cell: cells.group_of[cell], data)
            what = "every pair of switches"
        else:
            groups = data["map"]["groups"]
            kinds = count_pairs(data, cells.group, lambda group: int(groups[group]["tier"]))
            pairs = [p for p in kinds if (groups[p.low]["tier"], groups[p.high]["tier"]) == (low, high)]
            rows = [n for n, group in enumerate(groups) if group["tier"] == low]
            columns = [n for n, group in enumerate(groups) if group["tier"] == high]
            drawing = _draw(pairs, rows, columns, lambda group: group, data)
            what = "every pair of groups"
        words = f"{TIERS.get(low, low)} by {TIERS.get(high, high)}"
        yield f"{words[:1].upper()}{words[1:]}: planned and found, {what}", drawing


def _draw(
    pairs: list[Pair], rows: list[int], columns: list[int], group_of: Callable[[int], int], data: PictureData
) -> str:
    row_at = {cell: number for number, cell in enumerate(rows)}
    column_at = {cell: number for number, cell in enumerate(columns)}
    size = min(_SIZE / max(len(rows), len(columns)), 26.0)
    shapes: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for pair in pairs:
        x, y = _LEFT + column_at[pair.high] * size, _TOP + row_at[pair.low] * size
        _cell(pair, x, y, size, shapes)
    width, height = size * len(columns), size * len(rows)
    parts = [f'<rect x="{_LEFT}" y="{_TOP}" width="{width:.1f}" height="{height:.1f}" fill="#fff" stroke="{LINE}"/>']
    for (colour, hollow), found in shapes.items():
        paint = f'fill="none" stroke="{colour}" stroke-width="{min(1.2, size / 5):.1f}"' if hollow else f'fill="{colour}"'
        parts.append(f'<path d="{"".join(found)}" {paint}/>')
    parts += _titles(rows, columns, group_of, size, data)
    box = f"0 0 {_LEFT + width + 60:.0f} {_TOP + height + 8:.0f}"
    return f'<svg viewBox="{box}" width="{_LEFT + width + 60:.0f}" role="img" font-size="9">{joined(parts)}</svg>'


def _cell(pair: Pair, x: float, y: float, size: float, shapes: dict[tuple[str, bool], list[str]]) -> None:
    """Faint when as planned; else an outline for the planned, filled from below by what was found."""
    pad = min(0.6, size * 0.08)
    side = size - 2 * pad
    x, y = x + pad, y + pad
    if not pair.planned:
        half = side / 2
        shapes[STRAY.colour, False].append(f"M{x + half:.1f} {y:.1f}l{half:.1f} {half:.1f}-{half:.1f} {half:.1f}-{half:.1f}-{half:.1f}z")
        return
    worst = next((cls for cls in WORST if pair.by[cls]), None)
    if worst is None and not pair.strays:
        shapes[FAINT, False].append(f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z")
        return
    colour = (LOOKS[worst] if worst is not None else STRAY).colour
    full = side * min(1.0, pair.found / pair.planned)
    shapes[colour, True].append(f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z")
    if full and worst in (None, MISSING, 2, SWAPPED, DEGRADED):
        shapes[colour, False].append(f"M{x:.1f} {y + side - full:.1f}h{side:.1f}v{full:.1f}h-{side:.1f}z")


def _titles(
    rows: list[int], columns: list[int], group_of: Callable[[int], int], size: float, data: PictureData
) -> Iterator[str]:
    groups = data["map"]["groups"]
    last = -99.0
    for start, end, group in _runs(rows, group_of):
        y = _TOP + start * size
        yield f'<path d="M{_LEFT} {y:.1f}h{size * len(columns):.1f}" stroke="{LINE}" stroke-width=".6"/>'
        middle = y + (end - start) * size / 2 + 3
        if middle - last >= 9:
            last = middle
            yield f'<text x="{_LEFT - 5}" y="{middle:.1f}" text-anchor="end" fill="{DIM}">{esc(groups[group]["title"][-20:])}</text>'
    last = -99.0
    for start, end, group in _runs(columns, group_of):
        x = _LEFT + start * size
        yield f'<path d="M{x:.1f} {_TOP}v{size * len(rows):.1f}" stroke="{LINE}" stroke-width=".6"/>'
        title, middle = groups[group]["title"], x + (end - start) * size / 2
        if len(title) * 5 <= (end - start) * size and middle - last > 20:
            last = middle
            yield f'<text x="{middle:.1f}" y="{_TOP - 6}" text-anchor="middle" fill="{INK}">{esc(title)}</text>'
    yield f'<rect x="0" y="0" width="1" height="1" fill="{SOFT}" opacity="0"/>'


def _runs(cells: list[int], group_of: Callable[[int], int]) -> Iterator[tuple[int, int, int]]:
    start = 0
    for number in range(1, len(cells) + 1):
        if number == len(cells) or group_of(cells[number]) != group_of(cells[start]):
            yield start, number, group_of(cells[start])
            start = number
