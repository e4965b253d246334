"""Progress on standard error, only where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that shows what is being done now; silent when standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None  # noqa: ARG005 - nobody is looking
        return
    from fabricctl.cli.console import err_console, safe

    with err_console().status("starting") as status:
        yield lambda text: status.update(safe(text))


@contextmanager
def live(line: Callable[[], str]) -> Iterator[None]:
    """Show a line that is asked for again each time it is drawn, so that seconds in it go on while nothing happens."""
    if not sys.stderr.isatty():
        yield
        return
    from fabricctl.cli.console import err_console

    with err_console().status(_Live(line)):
        yield


@dataclass(frozen=True)
class _Live:
    line: Callable[[], str]

    def __rich__(self) -> Text:
        from rich.text import Text

        from fabricctl.cli.console import safe

        return Text(safe(self.line()))
