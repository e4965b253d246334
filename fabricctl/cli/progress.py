"""Progress on standard error, only where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that shows what is being done now; silent when standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None  # noqa: ARG005 - nobody is looking
        return
    from fabricctl.cli.console import err_console, safe

    with err_console().status("starting") as status:
        yield lambda text: status.update(safe(text))
