"""The static picture, for chats and tickets: verdict line, tier rows, bands with counts, faults, legend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from fabricctl.picture.data import PictureData
from fabricctl.picture.looks import DIM, FAINT, INK, ISLANDS, LOOKS, STRAY, Look
from fabricctl.picture.pairs import letter, main_island
from fabricctl.picture.svg_map import WIDTH, FabricMap
from fabricctl.report.markup import esc, joined, path, rect, text_at

_SANS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
_TONE = {"ok": "#00694d", "findings": "#a34700", "could_not_tell": "#7d5600"}
_MARK = {"ok": "\u2713", "findings": "\u2717", "could_not_tell": "?"}


def render_svg(data: PictureData) -> str:
    """A picture 1,200 pixels wide.

    :param data: as :func:`fabricctl.picture.data.picture_data` makes it.
    """
    body, height = fabric_svg(data)
    title = f"{data['report']['title']}: {data['report']['headline']}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" font-family="{_SANS}" font-size="12">\n<title>{esc(title)}</title>\n'
        f"{rect(0, 0, WIDTH, height, fill='#fff')}\n{body}\n</svg>\n"
    )


def fabric_svg(data: PictureData, *, head: bool = True) -> tuple[str, int]:
    """What stands inside the picture, and its height. :param head: with the verdict above it."""
    top = 104 if head else 0
    lines = _head(data) if head else ()
    if "map" not in data or not data["map"]["groups"]:
        return joined([*lines, text_at(24, top + 20, "There is no fabric to draw.", DIM)]), top + 40
    drawing = FabricMap(data, top)
    items = [*_legend(data), *_island_legend(data)]
    legend, height = _flow(items, drawing.bottom + 34)
    return joined([*lines, *drawing.parts(), *legend]), height


def _head(data: PictureData) -> Iterator[str]:
    report = data["report"]
    tone = _TONE[report["verdict"]]
    title, headline = f"{_MARK[report['verdict']]} {report['title']}", report["headline"]
    yield rect(0, 0, 8, 84, fill=tone)
    yield text_at(24, 30, title, tone, font_size=22, font_weight=700)
    yield text_at(24, 52, _cut(headline[:1].upper() + headline[1:], 150), INK, font_size=15)
    yield text_at(24, 72, _cut(report["answer"], 170), DIM, font_size=13)
    only = f"only {report['only']}" if report["only"] else ""
    names = [label.rpartition("/")[2] for label, *_ in report["sources"]]
    found = f"found {_cut(names[0], 40)}" if names else ""
    found += f" and {len(names) - 1} more" if len(names) > 1 else ""
    plan = _cut(report["plan"].rpartition("/")[2], 40)
    where = " \u00b7 ".join(filter(None, (data["site"], only, plan, found, data["made"])))
    yield text_at(WIDTH - 16, 24, _cut(where, 140), DIM, text_anchor="end", font_size=11)
    causes = [cause for cause in data["causes"] if not cause["swap"]]
    if data["why"]:
        said = data["why"]
        if causes:
            more = f", and {len(causes) - 1} more" if len(causes) > 1 else ""
            exchanged = sum(cause["swap"] for cause in data["causes"])
            plain = f"; {2 * exchanged:,} links are plain exchanges of two" if exchanged else ""
            said = f"cause: {causes[0]['headline']} ({causes[0]['links']:,} links){more}{plain}"
        yield text_at(24, 90, _cut(said, 170), INK, font_size=13)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"


class _Entry(NamedTuple):
    """An entry of the legend. :param mark: its sign, at (x, y); :param wide: pixels of the sign."""

    mark: Callable[[float, int], str]
    wide: int
    words: str


def _no_mark(_x: float, _y: int) -> str:
    return ""


def _flow(entries: list[_Entry], y: int) -> tuple[list[str], int]:
    """Entries side by side, on as many lines as they need; their markup, and where the picture ends."""
    parts, x = [], 24.0
    for mark, wide, words in entries:
        long = wide + 18 + 6.5 * len(words)
        if x > 24 and x + long > WIDTH:
            x, y = 24.0, y + 20
        parts += [mark(x, y), text_at(x + wide, y, words, DIM)]
        x += long
    return parts, y + 18


def _legend(data: PictureData) -> Iterator[_Entry]:
    """Lines and boxes."""
    yield _line(LOOKS[0], "as planned" if data["planned"] else "seen", FAINT)
    if data["planned"]:
        for look in LOOKS[1:6]:
            yield _line(look, f"{look.sign} {look.word}")
        if data["report"]["only"]:
            yield _line(LOOKS[6], f"{LOOKS[6].sign} outside {_cut(data['report']['only'], 40)}: not judged")
        yield _line(STRAY, f"{STRAY.sign} {STRAY.word}")
    yield _Entry(_no_mark, 0, "\u00d7 crossed: absent, hatched: unknown")


def _line(look: Look, words: str, colour: str = "") -> _Entry:
    def mark(x: float, y: int) -> str:
        stroke = colour or look.colour
        return path(f"M{x:.0f} {y - 4}h28", stroke=stroke, stroke_width=2.5, stroke_dasharray=look.dash)

    return _Entry(mark, 34, words)


_ISLANDS_SHOWN = 9


def _island_legend(data: PictureData) -> Iterator[_Entry]:
    """What the letters and colours of islands stand for."""
    if not data["nodes"]["switches"]["island"]:
        return
    main, islands = main_island(data), data["report"]["islands"]
    for number, island in enumerate(islands[:_ISLANDS_SHOWN]):
        if number != main:
            words = f"island of {island['switches']:,} switch{'' if island['switches'] == 1 else 'es'}"
            yield _Entry(partial(_chip, number), 20, words)
    rest = len(islands) - _ISLANDS_SHOWN
    last = [f"and {rest:,} more islands"] if rest > 0 else []
    last += [f"unmarked: {letter(main)}, the largest island"] if main >= 0 else []
    if last:
        yield _Entry(_no_mark, 0, ", ".join(last))


def _chip(island: int, x: float, y: int) -> str:
    box = rect(x, y - 11, 14, 14, fill=ISLANDS[island % len(ISLANDS)])
    sign = letter(island)
    return box + text_at(x + 7, y, sign, "#fff", text_anchor="middle", font_size=10, font_weight=700)
