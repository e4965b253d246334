"""Options of every command that reads or writes the state store."""

from __future__ import annotations

from datetime import datetime, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

SiteOption = Annotated[
    str, typer.Option("--site", metavar="FILE", help="Site file whose state store is meant.")
]
StateOption = Annotated[
    str,
    typer.Option(
        "--state",
        metavar="PLACE",
        help="State store: a file, postgresql://user@host/database, or env:NAME. Default: FABRICCTL_STATE, the site "
        "file's state.url, else a file named after the site.",
    ),
]


class Format(StrEnum):
    """How a list is written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write it.")]


def read_site(path: str) -> Site | None:
    """The site file, None when none is given."""
    if not path:
        return None
    from fabricctl.adapters.files import decode, read_input
    from fabricctl.site.load import load_site
    from fabricctl.site.yaml_lines import MAX_CHARS

    return load_site(decode(read_input(path, limit_bytes=4 * MAX_CHARS), path), path)


def here() -> tzinfo | None:
    """The time zone that times are read and shown in."""
    return datetime.now().astimezone().tzinfo


def parse_since(text: str, *, runs: bool = True, also: str = "") -> int | datetime | None:
    """``last``, a run's number, a date or a moment.

    :param runs: whether runs are accepted; :param also: what the caller takes beside, in words for the error.
    :raises UsageError: none of these.
    """
    word = text.strip().lower()
    if runs and word in ("", "last"):
        return None
    number = word.removeprefix("run").strip()
    if runs and number.isdigit():
        return int(number)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        expected = f"{also}last, a run's number or a date" if runs else f"{also}a date"
        raise UsageError(
            f"--since {text}: expected {expected} such as 2026-03-01 or 2026-03-01T08:00"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=here())
