"""Terminal output: consoles, styles, and what may go to a terminal at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from fabricctl.words import clean

if TYPE_CHECKING:
    from rich.console import Console

    from fabricctl.report.screen import Line

_STYLES = {"good": "green", "bad": "bold red", "doubt": "bold yellow", "dim": "dim", "bold": "bold"}
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "�")
"""A node description is foreign text: no control character of it reaches a terminal."""


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
    """Print a document (JSON, CSV, ...) as it is."""
    sys.stdout.write(clean(text))
    if not text.endswith("\n"):
        sys.stdout.write("\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """One line on standard error: ``fabricctl: ...``."""
    sys.stderr.write(f"fabricctl: {safe(text)}\n")
    sys.stderr.flush()
