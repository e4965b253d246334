"""Point-to-point tables: one row, one cable. CSV files here; workbooks and NDT lists use the same reader.

Two passes, since what a device is (``ends.py``) depends on all its rows: the first reads cells, the second
makes ports and links. Every distinct cell text is read once; a table of 307,200 rows has few.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.plan.cells import EXCEL_ERRORS
from fabricctl.plan.columns import HeaderGuess, guess_header, header_error
from fabricctl.plan.labels import SiteNames
from fabricctl.plan.model import Plan, PlanFormat, PortNumbers
from fabricctl.plan.port_numbers import declared_numbers
from fabricctl.plan.rows import TableReader
from fabricctl.plan.table_links import table_plan

HEADER_ROWS = 60
"""How far down the header may stand: titles, legends and comments come before it."""

HEAD_CHARS = 65_536
"""How much of a text is searched for the header."""

_COMMENT = re.compile(" *#(?!" + "|".join(re.escape(error[1:]) for error in sorted(EXCEL_ERRORS)) + ")")
_ANY_COMMENT = re.compile("^" + _COMMENT.pattern, re.MULTILINE)
_DELIMITERS = (",", ";", "\t", "|")


class Head(NamedTuple):
    """Where the header of a text is, or what came nearest to one.

    :param row: its cells; :param line: the physical line it ends on, 0 for a text without any.
    """

    guess: HeaderGuess
    row: tuple[str, ...]
    line: int
    delimiter: str


def parse_csv(
    text: str, path: str, *, site: SiteNames | None = None, port_numbers: PortNumbers | None = None
) -> Plan:
    """Read a point-to-point table.

    Accepts comma, semicolon, tab and bar between cells, quoted cells, ragged rows, blank and ``#`` lines,
    titles above the header, a byte order mark and any line ending.

    :param path: shown in messages; :param site: optional knowledge of the devices.
    :param port_numbers: what plain port numbers are; a comment line of the file says it else.
    :raises PlanError: with file, line, what was expected and found.
    """
    return parse_delimited(text, path, PlanFormat.CSV, site, port_numbers)


def parse_delimited(
    text: str,
    path: str,
    plan_format: PlanFormat,
    site: SiteNames | None,
    port_numbers: PortNumbers | None = None,
) -> Plan:
    """``parse_csv`` for a text that is to be called by another format's name."""
    text = text.removeprefix("\ufeff")
    head = find_head(text)
    columns = head.guess.columns
    if columns is None:
        if not head.line:
            raise PlanError("the file is empty; expected a table of cables with a header row", path=path)
        raise header_error(head.row, head.guess, path=path, line=head.line)
    reader = TableReader(site, port_numbers or declared_numbers(text, path))
    reader.read(*_rows_below(text, head, path), columns, path)
    return table_plan(reader, plan_format, path)


def best_header(rows: Iterable[tuple[int, Sequence[str]]]) -> tuple[HeaderGuess, tuple[str, ...], int]:
    """The first complete header among the rows, else the row nearest to one; line 0 when all are blank."""
    best, best_line = HeaderGuess(None, (), 0), 0
    best_row: tuple[str, ...] = ("",)
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        guess = guess_header(row)
        if guess.columns is not None:
            return guess, tuple(row), line
        commented = best_row[0].lstrip()[:1] == "#"
        if not best_line or guess.found > best.found or (not best.found and commented):
            best, best_row, best_line = guess, tuple(row), line
    return best, best_row, best_line


def find_head(text: str) -> Head:
    """Search the beginning of a text for a header row, trying each delimiter."""
    found: list[Head] = []
    for delimiter in _DELIMITERS:
        guess, row, line = best_header(_head_rows(text[:HEAD_CHARS], delimiter))
        found.append(Head(guess, row, line, delimiter))
        if guess.columns is not None:
            return found[-1]
    return max(found, key=lambda head: head.guess.found)


def _head_rows(sample: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        for _, row in zip(range(HEADER_ROWS), reader, strict=False):
            yield reader.line_num, row
    except csv.Error:  # not with this delimiter; the rows so far are judged, and none of them is a header
        return


def _rows_below(text: str, head: Head, path: str) -> tuple[list[list[str]], Sequence[int]]:
    """The rows under the header and the physical line each begins on."""
    stream = io.StringIO(text, newline="")
    for _ in range(head.line):
        stream.readline()
    lines: Iterable[str] = stream
    if _ANY_COMMENT.search(text):
        # a comment may hold an odd quote; blank, it cannot swallow the rows after it
        lines = ("\n" if _COMMENT.match(line) else line for line in stream)
    reader = csv.reader(lines, delimiter=head.delimiter, skipinitialspace=True, strict=True)
    rows: list[list[str]] = []
    ends: list[int] = []
    try:
        if '"' not in text:
            rows.extend(reader)
            return rows, range(head.line + 1, head.line + 1 + len(rows))
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error as exc:
        line = head.line + 1 + (ends[-1] if ends else len(rows))
        raise PlanError(
            f"this row cannot be read: {exc}", path=path, line=line, hint="do the quotes pair?"
        ) from exc
    starts = [head.line + 1 + end for end in [0, *ends][:-1]]
    for row, start, end in zip(rows, starts, ends, strict=True):
        if head.line + end != start:
            _check_quotes(row, head.delimiter, path, start)
    return rows, starts


def _check_quotes(row: Sequence[str], delimiter: str, path: str, line: int) -> None:
    """A stray quote makes one cell of many rows; such a cell holds whole rows in its later lines."""
    for cell in row:
        if any(part.count(delimiter) >= 3 for part in cell.splitlines()[1:]):
            raise PlanError(
                "a quoted cell goes over several lines and holds what looks like rows; is a quote missing?",
                path=path,
                line=line,
            )
