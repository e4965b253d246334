"""Tier rows of the static picture: groups with a small box per switch, bands with counts between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from math import ceil
from typing import Any, NamedTuple

from fabricctl.picture.data import PictureData
from fabricctl.picture.devices import NodeState
from fabricctl.picture.looks import DIM, FAINT, INK, ISLANDS, LINE, LOOKS, SOFT, STRAY, Look
from fabricctl.picture.pairs import (
    DEGRADED,
    NOT_ASKED,
    NOT_JUDGED,
    TIERS,
    WORST,
    Cells,
    Pair,
    count_pairs,
    island_letters,
    main_island,
)
from fabricctl.report.markup import box_shape, path, rect, text_at

WIDTH = 1200
_GUTTER, _RIGHT, _BOX, _STEP = 74, 16, 34, 132
_CHIPS = 90
"""Counts of faults written beside bands; more would hide what they are about."""
_SMALLEST = 0.9
"""Cells narrower than this many pixels are drawn only where there is something to say of them."""
_UPRIGHT = 120
"""Counts of healthy bands are left out where there are more."""


class Band(NamedTuple):
    """A line between two groups, from the lower row up."""

    x1: float
    y1: float
    x2: float
    y2: float
    pair: Pair

    def path(self, shift: float = 0.0) -> str:
        """A straight line; between groups of one row an arc."""
        start = f"M{self.x1 + shift:.1f} {self.y1:.0f}"
        if self.y1 == self.y2:
            return f"{start}Q{(self.x1 + self.x2) / 2:.0f} {self.y1 - 34:.0f} {self.x2:.0f} {self.y2:.0f}"
        return f"{start}L{self.x2 + shift:.1f} {self.y2:.0f}"


class FabricMap:
    """The fabric at the level of groups."""

    def __init__(self, data: PictureData, top: int) -> None:
        self.data, self.cells = data, Cells(data)
        self.groups: list[dict[str, Any]] = data["map"]["groups"]
        self.rows = sorted({group["tier"] for group in self.groups}, reverse=True)
        self.top = top + 24
        self.bottom = self.top + _STEP * (len(self.rows) - 1) + _BOX + 20
        self.scale: float = (WIDTH - _GUTTER - _RIGHT) / data["map"]["width"]
        counted = count_pairs(data, self.cells.group, lambda group: int(self.groups[group]["tier"]))
        self.pairs = [pair for pair in counted if pair.low != pair.high]
        self.bands = self._bands()
        self.taken: list[tuple[float, float, float, float]] = []

    def parts(self) -> Iterator[str]:
        """Everything, what lies below first."""
        yield from self._healthy()
        yield from self._faulty()
        for group in self.groups:
            yield from self._group(group)
        yield from self._rows()
        yield from self._counts()

    def x(self, world: float) -> float:
        """Pixels of a place in the layout."""
        return _GUTTER + world * self.scale

    def y(self, tier: int) -> float:
        """Upper edge of a row."""
        return self.top + float(_STEP * self.rows.index(tier))

    # -- bands ------------------------------------------------------------------------------------------------

    def _bands(self) -> list[Band]:
        """Bands fan out along the edges of their boxes, in the order of the boxes they go to."""
        middle = [group["x"] + group["w"] / 2 for group in self.groups]
        others: dict[tuple[int, bool], list[int]] = defaultdict(list)
        for pair in self.pairs:
            others[pair.low, True].append(pair.high)
            others[pair.high, False].append(pair.low)
        at: dict[tuple[int, int], float] = {}
        for (group, _), far in others.items():
            far.sort(key=lambda number: middle[number])
            for place, number in enumerate(far):
                share = 0.5 if len(far) == 1 else 0.12 + 0.76 * place / (len(far) - 1)
                at[group, number] = self.x(self.groups[group]["x"] + self.groups[group]["w"] * share)
        bands = []
        for pair in self.pairs:
            low, high = self.y(self.groups[pair.low]["tier"]), self.y(self.groups[pair.high]["tier"])
            far_y = high if low == high else high + _BOX
            bands.append(Band(at[pair.low, pair.high], low, at[pair.high, pair.low], far_y, pair))
        return bands

    def _healthy(self) -> Iterator[str]:
        widths: dict[int, list[str]] = defaultdict(list)
        for band in self.bands:
            if band.pair.by[0]:
                widths[min(4, max(1, round(band.pair.planned**0.5 / 5)))].append(band.path())
        for width, paths in sorted(widths.items()):
            yield path("".join(paths), stroke=FAINT, stroke_width=width, fill="none", opacity=".8")
        aside = "".join(band.path() for band in self.bands if band.pair.planned and not band.pair.asked)
        yield path(aside, stroke=LOOKS[NOT_ASKED].colour, stroke_dasharray=LOOKS[NOT_ASKED].dash, fill="none")
        beside = "".join(band.path() for band in self.bands if band.pair.outside)
        yield path(beside, stroke=FAINT, stroke_dasharray="5 3", fill="none")

    def _faulty(self) -> Iterator[str]:
        """The intended dashed beside what is there."""
        for cls in (NOT_JUDGED, DEGRADED, 3, 2, 1):
            shift = 0 if cls >= DEGRADED else 3
            yield self._lines([band.path(shift) for band in self.bands if band.pair.by[cls]], LOOKS[cls])
        yield self._lines([band.path(-3) for band in self.bands if band.pair.strays], STRAY)

    def _lines(self, paths: list[str], look: Look) -> str:
        many = len(paths) > 90
        return path(
            "".join(paths),
            stroke=look.colour,
            stroke_width=1 if many else 1.8,
            stroke_dasharray=look.dash,
            opacity=".35" if many else None,
            fill="none",
        )

    # -- boxes ------------------------------------------------------------------------------------------------

    def _group(self, group: dict[str, Any]) -> Iterator[str]:
        """A box, its cells as one path, and those that are not as they should be by themselves."""
        x, y, width = self.x(group["x"]), self.y(group["tier"]), group["w"] * self.scale
        yield rect(x - 2, y - 2, width + 4, _BOX + 4, rx=3, fill="#fff", stroke=LINE)
        pitch = width / group["n"]
        if pitch < _SMALLEST:
            yield rect(x, y, width, _BOX, fill=SOFT)
        gap = min(2.0, pitch * 0.16)
        wide = max(0.4, pitch - gap)
        usual, special = [], []
        for i in range(group["n"]):
            left = x + i * pitch + gap / 2
            mark = self._mark(group["first"] + i, left, y, wide)
            if mark:
                special.append(mark)
            elif pitch >= _SMALLEST:
                usual.append(box_shape(left, y, wide, _BOX))
        yield path("".join(usual), fill=SOFT, stroke=FAINT, stroke_width=f"{min(0.8, pitch / 12):.2f}")
        yield from special
        yield from self._islands(group, x, y, pitch, gap)

    def _mark(self, cell: int, x: float, y: float, wide: float) -> str:
        """A device that is absent, unseen or named by a finding; empty for the others."""
        state = self._state(cell)
        if cell in self._unsure:
            state = NodeState.UNSEEN
        if state == NodeState.ABSENT:
            cross = f"M{x:.1f} {y:.0f}l{wide:.1f} {_BOX}m-{wide:.1f} 0l{wide:.1f} -{_BOX}"
            colour = LOOKS[1].colour
            hollow = rect(x, y, wide, _BOX, fill="#fff", stroke=colour, stroke_dasharray="3 2")
            return hollow + path(cross, stroke=colour)
        if state in (NodeState.UNSEEN, NodeState.UNREAD):
            lines = "".join(f"M{x:.1f} {y + k:.0f}l{wide:.1f} -5" for k in range(5, _BOX + 1, 5))
            return rect(x, y, wide, _BOX, fill=SOFT) + path(lines, stroke=LOOKS[5].colour, stroke_width=0.7)
        look = self._worst.get(cell)
        if look is None:
            return ""
        foot = rect(x, y + _BOX - 9, max(1.2, wide), 9, fill=look.colour)
        return rect(x, y, wide, _BOX, fill=SOFT) + foot

    def _state(self, cell: int) -> int:
        """A host is what all its cards are; where they differ it is seen."""
        if cell < self.cells.switches:
            return int(self.data["nodes"]["switches"]["state"][cell])
        states = self._host_states.get(cell, set())
        return next(iter(states)) if len(states) == 1 else NodeState.SEEN

    @cached_property
    def _worst(self) -> dict[int, Look]:
        """Cell -> look of the worst class among its findings."""
        found: dict[int, int] = {}
        for finding in self.data["findings"]:
            cls = self.data["kinds"][finding["kind"]][1]
            for device in finding.get("d", ()):
                cell = self.cells.cell(device)
                found[cell] = min(found.get(cell, 99), cls if cls > 0 else 98)
        return {cell: LOOKS[cls] if cls < len(LOOKS) else STRAY for cell, cls in found.items()}

    @cached_property
    def _unsure(self) -> set[int]:
        """Cells that cannot be told apart."""
        identity = self.data["identity"]
        told = identity["ambiguities"] if identity else ()
        return {self.cells.cell(device) for one in told for device in one["devices"] + one["places"]}

    @cached_property
    def _main(self) -> int:
        return main_island(self.data)

    @cached_property
    def _host_states(self) -> dict[int, set[int]]:
        states: dict[int, set[int]] = defaultdict(set)
        hcas = self.data["nodes"]["hcas"]
        for host, state in zip(hcas["host"], hcas["state"], strict=True):
            states[host].add(state)
        return states

    def _islands(self, group: dict[str, Any], x: float, y: float, pitch: float, gap: float) -> Iterator[str]:
        """Under every device a bar in the colours of its islands, and their letters, when there are several."""
        marked = [self.islands_of(group["first"] + i) for i in range(group["n"])]
        bars: dict[int, list[str]] = defaultdict(list)
        for i, islands in enumerate(marked):
            wide = (pitch - gap) / max(1, len(islands))
            for k, island in enumerate(islands):
                bar = box_shape(x + i * pitch + gap / 2 + k * wide, y + _BOX - 12, wide, 12)
                bars[island % len(ISLANDS)].append(bar)
        for island, shapes in sorted(bars.items()):
            yield path("".join(shapes), fill=ISLANDS[island])
        runs = [(letters, len(list(members))) for letters, members in groupby(marked, key=island_letters)]
        told = [(letters, number) for letters, number in runs if letters]
        lines = max((ceil(len(text) * 6.2 / (n * pitch)) for text, n in told), default=1)
        if lines > 3:
            texts = sorted({text for text, _ in told})
            words = f"{texts[0]}\u2026{texts[-1]}" if len(texts) > 2 else "".join(texts)
            yield _letter(x + pitch * group["n"] / 2, y + 8, words)
            return
        at, line = 0, 0
        for letters, number in runs:
            if letters:
                yield _letter(x + (at + number / 2) * pitch, y + 7.5 + line % lines * 7, letters)
                line += 1
            at += number

    def islands_of(self, cell: int) -> tuple[int, ...]:
        """Islands a device lies on, the one that holds nearly all left out; a host lies where its HCAs do."""
        switches, hcas = self.data["nodes"]["switches"]["island"], self.data["nodes"]["hcas"]["island"]
        if not switches:
            return ()
        cards = self._cards.get(cell, ())
        found = {switches[cell]} if cell < self.cells.switches else {hcas[card] for card in cards}
        return tuple(sorted(found - {-1, self._main}))

    @cached_property
    def _cards(self) -> dict[int, list[int]]:
        """Host -> places of its HCAs in the list of all."""
        cards: dict[int, list[int]] = defaultdict(list)
        for place, host in enumerate(self.data["nodes"]["hcas"]["host"]):
            cards[host].append(place)
        return cards

    # -- words ------------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[str]:
        for tier in self.rows:
            y, count = self.y(tier), sum(group["n"] for group in self.groups if group["tier"] == tier)
            yield text_at(14, y + 15, TIERS.get(tier, f"tier {tier}"), INK, font_weight=600)
            yield text_at(14, y + 30, f"{count:,}", DIM, font_size=11)
        for group in self.groups:
            middle, width = self.x(group["x"] + group["w"] / 2), group["w"] * self.scale
            title = _fitting([group["title"], group["short"]], width + 4)
            if title:
                y = self.y(group["tier"]) + (_BOX + 15 if group["tier"] == 0 else -7)
                yield _ground(middle, y - 3.5, len(title) * 5.8 + 4, 13)
                yield text_at(middle, y, title, DIM, text_anchor="middle", font_size=10.5)

    def _counts(self) -> Iterator[str]:
        """Every faulty band's counts, those of upright healthy bands, and of fans at their foot."""
        wrong = sorted((band for band in self.bands if band.pair.wrong), key=lambda band: -_weight(band.pair))
        least = _weight(wrong[0].pair) / 10 if len(wrong) > 60 else 0
        for band in wrong[:_CHIPS]:
            if _weight(band.pair) >= least:
                yield self._chip(band)
        fans: dict[int, list[Pair]] = defaultdict(list)
        for pair in self.pairs:
            if pair.planned:
                fans[pair.low].append(pair)
        lone = {number for number, pairs in fans.items() if len(pairs) == 1}
        upright = [band for band in self.bands if not band.pair.wrong and band.pair.low in lone]
        for band in upright if len(upright) <= _UPRIGHT else []:
            if band.pair.planned > 1 and band.y1 != band.y2:
                yield self._plain((band.x1 + band.x2) / 2, (band.y1 + band.y2) / 2, f"{band.pair.planned:,}")
        for number, pairs in fans.items():
            group, sizes = self.groups[number], {pair.planned for pair in pairs}
            many = f"{len(pairs)} \u00d7 {max(sizes)}"
            words = many if len(sizes) == 1 else f"{sum(pair.planned for pair in pairs):,} up"
            if len(pairs) > 1 and len(words) * 6 <= group["w"] * self.scale + 6:
                middle = self.x(group["x"] + group["w"] / 2)
                yield self._plain(middle, self.y(group["tier"]) - 26, words)

    def _free(self, x: float, y: float, wide: float, high: float) -> bool:
        if x < _GUTTER - 8 or x + wide > WIDTH - 2:
            return False
        if any(x < a + w and x + wide > a and y < b + h and y + high > b for a, b, w, h in self.taken):
            return False
        self.taken.append((x, y, wide, high))
        return True

    def _chip(self, band: Band) -> str:
        """Signs and counts of what is wrong in a band, at the first free place along it."""
        words = [(LOOKS[cls], band.pair.by[cls]) for cls in WORST if band.pair.by[cls]]
        words += [(STRAY, band.pair.strays)] if band.pair.strays else []
        texts = [f"{look.sign}{number:,}" for look, number in words]
        wide = sum(len(text) * 6.9 + 9 for text in texts) + 2
        for share in (0.5, 0.38, 0.62, 0.28, 0.72):
            x = band.x1 + (band.x2 - band.x1) * share - wide / 2
            y = band.y1 + (band.y2 - band.y1) * share - 8 - (18 if band.y1 == band.y2 else 0)
            if self._free(x, y, wide, 16):
                pill = rect(x, y, wide, 16, rx=8, fill="#fff", stroke=words[0][0].colour)
                at, parts = x + 5, [pill]
                for (look, _), text in zip(words, texts, strict=True):
                    parts.append(text_at(at, y + 12, text, look.colour, font_size=11, font_weight=600))
                    at += len(text) * 6.9 + 9
                return "".join(parts)
        return ""

    def _plain(self, x: float, y: float, text: str) -> str:
        wide = len(text) * 6.2 + 4
        if not self._free(x - wide / 2, y - 8, wide, 15):
            return ""
        return _ground(x, y, wide, 15) + text_at(x, y + 4, text, DIM, text_anchor="middle", font_size=11)


def _fitting(texts: list[str], room: float) -> str:
    """The first that fits; else the last one shortened at its front, where names are alike; empty without room."""
    whole = next((text for text in texts if len(text) * 6.0 <= room), "")
    last = next((text for text in reversed(texts) if text), "")
    return whole or ("\u2026" + last[1 - int(room / 6) :] if room >= 30 and last else "")


def _letter(x: float, y: float, text: str) -> str:
    return text_at(x, y, text, INK, text_anchor="middle", font_size=8, font_weight=700)


def _ground(x: float, y: float, wide: float, high: float) -> str:
    """White below words that stand on lines."""
    return rect(x - wide / 2, y - high / 2, wide, high, fill="#fff", opacity=".85")


def _weight(pair: Pair) -> int:
    return sum(pair.by[cls] for cls in WORST) + pair.strays
