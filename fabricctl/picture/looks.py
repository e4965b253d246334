"""How a class is drawn on paper and in the static picture: sign, colour (Okabe and Ito, 2008, darkened) and dashes."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """:param sign: stands beside every count; :param dash: of its line, empty when solid."""

    word: str
    sign: str
    colour: str
    dash: str = ""


LOOKS = (
    Look("ok", "\u2713", "#00795a"),
    Look("missing", "\u00d7", "#c75000", "6 4"),
    Look("miswired", "\u2260", "#a8457c", "2 3"),
    Look("swapped", "\u21c4", "#0072b2", "10 3 2 3"),
    Look("degraded", "\u25bd", "#8a7400", "1 2"),
    Look("not judged", "?", "#6d7379", "1 5"),
    Look("not asked", "\u00b7", "#6d7379", "1 5"),
)
"""By class number."""
STRAY = Look("found where not planned", "+", "#8a1f5c")
ISLANDS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#5b5fc7", "#7a7f85")
FAINT, INK, DIM, LINE, SOFT = "#b9bfc4", "#1b1d1f", "#596067", "#d9dadc", "#f0f0ee"
