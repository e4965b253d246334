"""Lines for a terminal: spans of text with a style, which the command line turns into colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

Span = tuple[str, str]
Line = tuple[Span, ...]

GOOD, BAD, DOUBT, DIM, BOLD, PLAIN = "good", "bad", "doubt", "dim", "bold", ""


def paragraph(
    label: str, text: str, width: int, style: str = PLAIN, head: str = "", *, column: int, cut: bool = True
) -> Iterator[Line]:
    """A labelled paragraph, as every screen writes them; continuation lines keep the indent.

    :param column: where the text begins, 0-based; :param head: style of a text whose label has ``style``.
    :param cut: words longer than a line are cut; otherwise they stay whole, to be copied.
    """
    room = max(20, width - column)
    parts = textwrap.wrap(text, room, break_on_hyphens=False, break_long_words=cut) or [""]
    for index, part in enumerate(parts):
        yield ((f"{label if index == 0 else '':<{column}}", style if head else DIM), (part, head or style))
