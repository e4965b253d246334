"""Terminal output: consoles, styles, and what may go to a terminal at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from fabricctl.words import clean

if TYPE_CHECKING:
    from rich.console import Console

    from fabricctl.report.lines import Line

_STYLES = {"good": "green", "bad": "bold red", "doubt": "bold yellow", "dim": "dim", "bold": "bold"}
_TURNING = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Change the direction of what follows: a name that has one can make a line read as another one."""
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), *_TURNING), "�")
"""A node description is foreign text: no control character of it reaches a terminal."""
_IN_JSON = {code: f"\\u{code:04x}" for code in (*range(127, 160), *_TURNING)}
_IN_TEXT = dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), *range(127, 160), *_TURNING), "�")


@lru_cache(maxsize=1)
def out_console() -> Console:
    """Console for standard output; colours only on a terminal, never with NO_COLOR."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, markup=False)


@lru_cache(maxsize=1)
def err_console() -> Console:
    """Console for standard error: progress and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def safe(text: str) -> str:
    """Text without control characters and without the surrogates that stand for undecodable bytes."""
    return clean(text).translate(_CONTROL)


def plain(lines: Iterable[Line]) -> str:
    """Lines of styled spans as text, one a line."""
    return "".join(safe("".join(text for text, _ in line)).rstrip() + "\n" for line in lines)


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines of styled spans; rich is loaded only where somebody sees its colours."""
    console = out_console() if sys.stdout.isatty() else None
    if console is None or not console.is_terminal or console.no_color:
        sys.stdout.write(plain(lines))
        sys.stdout.flush()
        return
    from rich.text import Text

    for line in lines:
        console.print(Text.assemble(*((safe(text), _STYLES.get(style, "")) for text, style in line)))


def print_text(text: str) -> None:
    """Print a document (JSON, CSV, ...) as it is, but for what a terminal would obey.

    JSON can write that as an escape, and so loses nothing.
    """
    sys.stdout.write(clean(text).translate(_IN_JSON if text.startswith(("{", "[")) else _IN_TEXT))
    if not text.endswith("\n"):
        sys.stdout.write("\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """One line on standard error: ``fabricctl: ...``."""
    sys.stderr.write(f"fabricctl: {safe(text)}\n")
    sys.stderr.flush()
