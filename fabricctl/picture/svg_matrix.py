"""The leaf-by-spine matrix as a static drawing for paper: planned against found for every pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from fabricctl.picture.data import PictureData
from fabricctl.picture.looks import DIM, FAINT, INK, LINE, LOOKS, STRAY
from fabricctl.picture.pairs import NOT_ASKED, TIERS, WORST, Cells, Pair, count_pairs
from fabricctl.report.markup import box_shape, joined, path, rect, text_at

_Shapes = defaultdict[tuple[str, bool], list[str]]
"""Colour, and whether only the outline is drawn -> pieces of one path."""

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
    groups = data["map"]["groups"]
    for low, high in pairwise(tiers):
        pairs = [p for p in by_cell if (cells.tier(p.low), cells.tier(p.high)) == (low, high)]
        if not pairs:
            continue
        if len(pairs) <= MOST_CELLS:
            rows = [c for c in range(cells.switches) if cells.tier(c) == low]
            columns = [c for c in range(cells.switches) if cells.tier(c) == high]
            drawing = _draw(pairs, rows, columns, lambda cell: cells.group_of[cell], data)
            what = "every pair of switches"
        else:
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
    shapes: _Shapes = defaultdict(list)
    for pair in pairs:
        _cell(pair, _LEFT + column_at[pair.high] * size, _TOP + row_at[pair.low] * size, size, shapes)
    width, height = size * len(columns), size * len(rows)
    parts = [rect(_LEFT, _TOP, width, height, fill="#fff", stroke=LINE)]
    for (colour, hollow), found in shapes.items():
        if hollow:
            parts.append(path("".join(found), fill="none", stroke=colour, stroke_width=min(1.2, size / 5)))
        else:
            parts.append(path("".join(found), fill=colour))
    parts += _titles(rows, columns, group_of, size, data)
    wide = f"{_LEFT + width + 60:.0f}"
    box = f"0 0 {wide} {_TOP + height + 8:.0f}"
    return f'<svg viewBox="{box}" width="{wide}" role="img" font-size="9">{joined(parts)}</svg>'


def _cell(pair: Pair, x: float, y: float, size: float, shapes: _Shapes) -> None:
    """Faint when as planned; else an outline for the planned, filled from below by what was found."""
    pad = min(0.6, size * 0.08)
    side = size - 2 * pad
    x, y = x + pad, y + pad
    box = box_shape(x, y, side, side)
    if not pair.planned and not pair.strays:
        shapes[DIM, True].append(box)
        return
    if not pair.planned:
        half = f"{side / 2:.1f}"
        diamond = f"M{x + side / 2:.1f} {y:.1f}l{half} {half}-{half} {half}-{half}-{half}z"
        shapes[STRAY.colour, False].append(diamond)
        return
    if not pair.asked:
        dot = max(0.6, side * 0.2)
        shapes[LOOKS[NOT_ASKED].colour, False].append(
            box_shape(x + (side - dot) / 2, y + (side - dot) / 2, dot, dot)
        )
        return
    worst = next((cls for cls in WORST if pair.by[cls]), None)
    if worst is None and not pair.strays:
        shapes[FAINT, False].append(box)
        return
    colour = (LOOKS[worst] if worst is not None else STRAY).colour
    full = side * min(1.0, pair.found / pair.planned)
    shapes[colour, True].append(box)
    if full:
        shapes[colour, False].append(box_shape(x, y + side - full, side, full))


def _titles(
    rows: list[int], columns: list[int], group_of: Callable[[int], int], size: float, data: PictureData
) -> Iterator[str]:
    groups = data["map"]["groups"]
    last = -99.0
    for start, end, group in _runs(rows, group_of):
        y = _TOP + start * size
        yield path(f"M{_LEFT} {y:.1f}h{size * len(columns):.1f}", stroke=LINE, stroke_width=0.6)
        middle = y + (end - start) * size / 2 + 3
        if middle - last >= 9:
            last = middle
            yield text_at(_LEFT - 5, middle, groups[group]["title"][-20:], DIM, text_anchor="end")
    last = -99.0
    for start, end, group in _runs(columns, group_of):
        x = _LEFT + start * size
        yield path(f"M{x:.1f} {_TOP}v{size * len(rows):.1f}", stroke=LINE, stroke_width=0.6)
        title, middle = groups[group]["title"], x + (end - start) * size / 2
        if len(title) * 5 <= (end - start) * size and middle - last > 20:
            last = middle
            yield text_at(middle, _TOP - 6, title, INK, text_anchor="middle")


def _runs(cells: list[int], group_of: Callable[[int], int]) -> Iterator[tuple[int, int, int]]:
    start = 0
    for number in range(1, len(cells) + 1):
        if number == len(cells) or group_of(cells[number]) != group_of(cells[start]):
            yield start, number, group_of(cells[start])
            start = number
