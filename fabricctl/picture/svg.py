"""The static picture, for chats and tickets: verdict line, tier rows, bands with counts, faults, legend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from fabricctl.picture.data import PictureData
from fabricctl.picture.devices import NodeState
from fabricctl.picture.looks import DIM, FAINT, INK, ISLANDS, LINE, LOOKS, SOFT, STRAY, Look
from fabricctl.picture.markup import esc, joined
from fabricctl.picture.pairs import DEGRADED, NOT_JUDGED, TIERS, WORST, Cells, Pair, count_pairs

WIDTH = 1200
_GUTTER, _RIGHT, _BOX = 74, 16, 34
_SANS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
_TONE = {"ok": "#00694d", "findings": "#a34700", "could_not_tell": "#7d5600"}
_MARK = {"ok": "\u2713", "findings": "\u2717", "could_not_tell": "?"}
_CHIPS = 90
"""Counts of faults written beside bands; more would hide what they are about."""


class _Band(NamedTuple):
    x1: float
    y1: float
    x2: float
    y2: float
    pair: Pair

    def path(self, shift: float = 0.0) -> str:
        """A line; between groups of one row an arc."""
        if self.y1 == self.y2:
            return f"M{self.x1:.0f} {self.y1:.0f}Q{(self.x1 + self.x2) / 2:.0f} {self.y1 - 34:.0f} {self.x2:.0f} {self.y2:.0f}"
        return f"M{self.x1 + shift:.1f} {self.y1:.0f}L{self.x2 + shift:.1f} {self.y2:.0f}"


def render_svg(data: PictureData) -> str:
    """A picture 1,200 pixels wide.

    :param data: as :func:`fabricctl.picture.data.picture_data` makes it.
    """
    body, height = fabric_svg(data)
    title = f"{data['report']['title']}: {data['report']['headline']}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" font-family="{_SANS}" font-size="12">\n<title>{esc(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def fabric_svg(data: PictureData) -> tuple[str, int]:
    """What stands inside the picture, and its height."""
    top = 104
    if "map" not in data or not data["map"]["groups"]:
        return joined([*_head(data), _text(24, top, "There is no fabric to draw.", DIM)]), top + 30
    drawing = _Map(data, top)
    return joined([*_head(data), *drawing.parts(), *_legend(data, drawing.bottom + 34)]), drawing.bottom + 66


def _text(x: float, y: float, text: str, fill: str = INK, **attributes: str) -> str:
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{more}>{esc(text)}</text>'


def _head(data: PictureData) -> Iterator[str]:
    report = data["report"]
    tone = _TONE[report["verdict"]]
    yield f'<rect width="8" height="84" fill="{tone}"/>'
    yield _text(24, 30, f"{_MARK[report['verdict']]} {report['title']}", tone, font_size="22", font_weight="700")
    headline = report["headline"]
    yield _text(24, 52, _cut(headline[:1].upper() + headline[1:], 150), font_size="15")
    yield _text(24, 72, _cut(report["answer"], 170), DIM, font_size="13")
    where = " \u00b7 ".join(filter(None, (data["site"], report["plan"], data["made"])))
    yield _text(WIDTH - 16, 24, _cut(where, 90), DIM, text_anchor="end", font_size="11")
    if data["causes"]:
        cause = data["causes"][0]
        more = f", and {len(data['causes']) - 1} more" if len(data["causes"]) > 1 else ""
        yield _text(24, 90, _cut(f"cause: {cause['headline']} ({cause['links']:,} links){more}", 170), font_size="13")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"


def _legend(data: PictureData, y: int) -> Iterator[str]:
    x = 24.0
    shown: list[tuple[Look, str]] = [(LOOKS[0], "as planned" if data["planned"] else "seen")]
    if data["planned"]:
        shown += [(look, f"{look.sign} {look.word}") for look in LOOKS[1:6]]
        shown.append((STRAY, f"{STRAY.sign} {STRAY.word}"))
    for look, words in shown:
        colour = FAINT if look is LOOKS[0] else look.colour
        dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
        yield f'<path d="M{x:.0f} {y - 4}h28" stroke="{colour}" stroke-width="2.5"{dash}/>'
        yield _text(x + 34, y, words, DIM)
        x += 48 + 6.6 * len(words)
    yield _text(x, y, "\u00d7 crossed box: absent, hatched: unknown", DIM)


class _Map:
    """The fabric at the level of groups, every switch a small box."""

    def __init__(self, data: PictureData, top: int) -> None:
        self.data, self.cells = data, Cells(data)
        self.groups: list[dict[str, Any]] = data["map"]["groups"]
        self.rows = sorted({group["tier"] for group in self.groups}, reverse=True)
        self.top = top + 24
        self.step = 132 if len(self.rows) > 1 else 0
        self.bottom = self.top + self.step * (len(self.rows) - 1) + _BOX + 20
        self.scale = (WIDTH - _GUTTER - _RIGHT) / data["map"]["width"]
        self.pairs = [
            pair
            for pair in count_pairs(data, self.cells.group, lambda group: int(self.groups[group]["tier"]))
            if pair.low != pair.high
        ]
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
        return _GUTTER + world * self.scale

    def y(self, tier: int) -> float:
        return self.top + self.step * self.rows.index(tier)

    def _bands(self) -> list[_Band]:
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
            bands.append(_Band(at[pair.low, pair.high], low, at[pair.high, pair.low], far_y, pair))
        return bands

    def _healthy(self) -> Iterator[str]:
        good = [band for band in self.bands if band.pair.by[0] or band.pair.by[-1]]
        widths: dict[float, list[str]] = defaultdict(list)
        for band in good:
            widths[min(4.0, max(1.0, round((band.pair.planned**0.5) / 5)))].append(band.path())
        for width, paths in sorted(widths.items()):
            yield f'<path d="{"".join(paths)}" stroke="{FAINT}" stroke-width="{width:g}" fill="none" opacity=".8"/>'

    def _faulty(self) -> Iterator[str]:
        """The intended dashed beside what is there."""
        for cls in (NOT_JUDGED, DEGRADED, 3, 2, 1):
            paths = [band.path(0 if cls >= DEGRADED else 3) for band in self.bands if band.pair.by[cls]]
            yield self._lines(paths, LOOKS[cls])
        yield self._lines([band.path(-3) for band in self.bands if band.pair.strays], STRAY)

    def _lines(self, paths: list[str], look: Look) -> str:
        if not paths:
            return ""
        dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
        thin = "1" if len(paths) > 300 else "1.8"
        return f'<path d="{"".join(paths)}" stroke="{look.colour}" stroke-width="{thin}" fill="none"{dash}/>'

    def _group(self, group: dict[str, Any]) -> Iterator[str]:
        """A box, its cells as one path, and those that are not as they should be by themselves."""
        x, y, width = self.x(group["x"]), self.y(group["tier"]), group["w"] * self.scale
        yield (
            f'<rect x="{x - 2:.1f}" y="{y - 2:.0f}" width="{width + 4:.1f}" height="{_BOX + 4}" rx="3" fill="#fff"'
            f' stroke="{LINE}"/>'
        )
        pitch = width / group["n"]
        gap = min(2.0, pitch * 0.16)
        wide = max(0.4, pitch - gap)
        usual, special = [], []
        for i in range(group["n"]):
            left = x + i * pitch + gap / 2
            shape = f"M{left:.1f} {y:.0f}h{wide:.1f}v{_BOX}h-{wide:.1f}z"
            mark = self._mark(group["first"] + i, left, y, wide)
            if mark:
                special.append(mark)
            else:
                usual.append(shape)
        if usual:
            yield f'<path d="{"".join(usual)}" fill="{SOFT}" stroke="{FAINT}" stroke-width="{min(0.8, pitch / 12):.2f}"/>'
        yield from special
        yield from self._islands(group, x, y, pitch, gap)

    def _mark(self, cell: int, x: float, y: float, wide: float) -> str:
        """A switch that is absent, unseen or named by a finding; empty for the others and for healthy hosts."""
        state = self._state(cell)
        box = f'x="{x:.1f}" y="{y:.0f}" width="{wide:.1f}" height="{_BOX}"'
        if state == NodeState.ABSENT:
            cross = f"M{x:.1f} {y:.0f}l{wide:.1f} {_BOX}m-{wide:.1f} 0l{wide:.1f} -{_BOX}"
            return (
                f'<rect {box} fill="#fff" stroke="{LOOKS[1].colour}" stroke-dasharray="3 2"/>'
                f'<path d="{cross}" stroke="{LOOKS[1].colour}"/>'
            )
        if state in (NodeState.UNSEEN, NodeState.UNREAD):
            lines = "".join(f"M{x:.1f} {y + k:.0f}l{wide:.1f} -5" for k in range(5, _BOX + 1, 5))
            return f'<rect {box} fill="{SOFT}"/><path d="{lines}" stroke="{LOOKS[5].colour}" stroke-width=".7"/>'
        look = self._worst.get(cell)
        if look is not None:
            return f'<rect {box} fill="{SOFT}"/><rect x="{x:.1f}" y="{y + _BOX - 9:.0f}" width="{max(1.2, wide):.1f}" height="9" fill="{look.colour}"/>'
        return ""

    def _state(self, cell: int) -> int:
        nodes = self.data["nodes"]
        if cell < self.cells.switches:
            return int(nodes["switches"]["state"][cell])
        states = self._host_states.get(cell, set())
        return states.copy().pop() if len(states) == 1 else int(NodeState.SEEN)

    @property
    def _worst(self) -> dict[int, Look]:
        """Cell -> look of the worst class among its findings."""
        if not hasattr(self, "_worst_found"):
            found: dict[int, int] = {}
            for finding in self.data["findings"]:
                cls = self.data["kinds"][finding["kind"]][1]
                for device in finding.get("d", ()):
                    cell = self.cells.cell(device)
                    found[cell] = min(found.get(cell, 99), cls if cls > 0 else 98)
            self._worst_found = {cell: LOOKS[cls] if cls < len(LOOKS) else STRAY for cell, cls in found.items()}
        return self._worst_found

    @property
    def _host_states(self) -> dict[int, set[int]]:
        if not hasattr(self, "_states_found"):
            self._states_found: dict[int, set[int]] = defaultdict(set)
            hcas = self.data["nodes"]["hcas"]
            for host, state in zip(hcas["host"], hcas["state"], strict=True):
                self._states_found[host].add(state)
        return self._states_found

    def _islands(self, group: dict[str, Any], x: float, y: float, pitch: float, gap: float) -> Iterator[str]:
        """A bar in the colour of its island under every switch, when there are several."""
        islands = self.data["nodes"]["switches"]["island"]
        if not islands or not group["tier"]:
            return
        bars: dict[int, list[str]] = defaultdict(list)
        for i in range(group["n"]):
            island = islands[group["first"] + i]
            if island >= 0:
                bars[island % len(ISLANDS)].append(f"M{x + i * pitch + gap / 2:.1f} {y + _BOX - 14:.0f}h{pitch - gap:.1f}v14h-{pitch - gap:.1f}z")
        for island, shapes in sorted(bars.items()):
            yield f'<path d="{"".join(shapes)}" fill="{ISLANDS[island]}"/>'

    def _rows(self) -> Iterator[str]:
        for tier in self.rows:
            y, count = self.y(tier), sum(group["n"] for group in self.groups if group["tier"] == tier)
            yield _text(14, y + 15, TIERS.get(tier, f"tier {tier}"), font_weight="600")
            yield _text(14, y + 30, f"{count:,}", DIM, font_size="11")
        for group in self.groups:
            x, width = self.x(group["x"]), group["w"] * self.scale
            words = [group["title"], group["title"].removeprefix("SU "), ""]
            title = next(text for text in words if len(text) * 6.0 <= width + 4)
            if title:
                y = self.y(group["tier"]) + (_BOX + 15 if group["tier"] == 0 else -7)
                yield _text(x + width / 2, y, title, DIM, text_anchor="middle", font_size="10.5")

    # -- counts -----------------------------------------------------------------------------------------------

    def _counts(self) -> Iterator[str]:
        wrong = sorted((band for band in self.bands if band.pair.wrong), key=lambda band: -_weight(band.pair))
        for band in wrong[:_CHIPS]:
            yield self._chip(band)
        fans: dict[int, list[Pair]] = defaultdict(list)
        for pair in self.pairs:
            if pair.planned:
                fans[pair.low].append(pair)
        lone = {number for number, pairs in fans.items() if len(pairs) == 1}
        upright = [band for band in self.bands if not band.pair.wrong and band.pair.low in lone]
        for band in upright if len(upright) <= 120 else []:
            if band.pair.planned > 1 and band.y1 != band.y2:
                yield self._plain((band.x1 + band.x2) / 2, (band.y1 + band.y2) / 2, f"{band.pair.planned:,}")
        for number, pairs in fans.items():
            group, sizes = self.groups[number], {pair.planned for pair in pairs}
            width = group["w"] * self.scale
            words = f"{len(pairs)} \u00d7 {sizes.pop()}" if len(sizes) == 1 else f"{sum(p.planned for p in pairs):,} up"
            if len(pairs) > 1 and sum(pair.planned for pair in pairs) and len(words) * 6 <= width + 6:
                yield self._plain(self.x(group["x"]) + width / 2, self.y(group["tier"]) - 24, words)

    def _free(self, x: float, y: float, wide: float, high: float) -> bool:
        if x < _GUTTER - 8 or x + wide > WIDTH - 2:
            return False
        if any(x < a + w and x + wide > a and y < b + h and y + high > b for a, b, w, h in self.taken):
            return False
        self.taken.append((x, y, wide, high))
        return True

    def _chip(self, band: _Band) -> str:
        """Signs and counts of what is wrong in a band, at the first free place along it."""
        words = [(LOOKS[cls], band.pair.by[cls]) for cls in WORST if band.pair.by[cls]]
        words += [(STRAY, band.pair.strays)] if band.pair.strays else []
        texts = [f"{look.sign}{number:,}" for look, number in words]
        wide = sum(len(text) * 6.9 + 5 for text in texts) + 4
        for share in (0.5, 0.38, 0.62, 0.28, 0.72):
            x = band.x1 + (band.x2 - band.x1) * share - wide / 2
            y = band.y1 + (band.y2 - band.y1) * share - 8 - (18 if band.y1 == band.y2 else 0)
            if self._free(x, y, wide, 16):
                spans = "".join(
                    f'<tspan fill="{look.colour}"{" dx=&quot;5&quot;".replace("&quot;", chr(34)) if i else ""}>{text}</tspan>'
                    for i, ((look, _), text) in enumerate(zip(words, texts, strict=True))
                )
                return (
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="16" rx="8" fill="#fff" stroke="{words[0][0].colour}"/>'
                    f'<text x="{x + 5:.1f}" y="{y + 12:.1f}" font-size="11" font-weight="600">{spans}</text>'
                )
        return ""

    def _plain(self, x: float, y: float, text: str) -> str:
        wide = len(text) * 6.2 + 4
        if not self._free(x - wide / 2, y - 8, wide, 15):
            return ""
        return (
            f'<rect x="{x - wide / 2:.1f}" y="{y - 8:.1f}" width="{wide:.1f}" height="15" fill="#fff" opacity=".85"/>'
            + _text(x, y + 4, text, DIM, text_anchor="middle", font_size="11")
        )


def _weight(pair: Pair) -> int:
    return sum(pair.by[cls] for cls in WORST) + pair.strays
