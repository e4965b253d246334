"""A vendor's list as a file: CSV with any usual separator, columns set apart by blanks, or a workbook."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fabricctl.errors import InputError, PlanError
from fabricctl.plan.xlsx import open_workbook
from provision.bmc.vendor_list import Cell, Delivered, Row, VendorListError, has_header, read_rows

LIMIT_BYTES = 32 << 20
MAX_ROWS = 200_000
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
_SEPARATORS = (",", ";", "\t", "|")
_GAP = re.compile(r"\s{2,}|\t")
_BLANKS = re.compile(r"\s+")


def is_workbook(data: bytes) -> bool:
    """Whether it is a spreadsheet program's file, by its first bytes."""
    return data.startswith((_ZIP, _OLE))


def read_workbook(data: bytes, path: str) -> list[Delivered]:
    """Machines of the first sheet that is such a list.

    :raises InputError: with file, sheet in brackets and row; no cell is repeated.
    """
    try:
        workbook = open_workbook(data, path)
    except PlanError as exc:
        hint = exc.hint.replace("the cabling sheet", "the list").replace("the sheet", "the list")
        raise InputError(
            exc.message.split(":")[0], path=path, hint=hint
        ) from None  # the rest may quote a cell
    try:
        sheets = [(name, _sheet(workbook[name], f"{path}[{name}]")) for name in workbook.sheetnames]
    finally:
        workbook.close()
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        raise InputError("has no filled sheet", path=path)
    name, rows = next(((name, rows) for name, rows in filled if has_header(rows)), filled[0])
    return read_rows(rows, f"{path}[{name}]")


def _sheet(sheet: Any, where: str) -> list[Row]:
    if not hasattr(sheet, "reset_dimensions"):  # a chart sheet has no cells
        return []
    sheet.reset_dimensions()  # the stored size may be absurd; the cells themselves tell
    rows: list[Row] = []
    values = sheet.iter_rows(values_only=True)
    for line in range(1, MAX_ROWS + 1):
        try:
            cells = next(values, None)
        except Exception as exc:  # noqa: BLE001 - whatever openpyxl stumbles over in a damaged sheet
            kind = type(exc).__name__  # its text may quote a cell
            raise InputError(f"the sheet cannot be read: {kind}", path=where, line=line) from None
        if cells is None:
            return rows
        if any(value is not None for value in cells):
            rows.append(Row(line, tuple(map(_cell, cells))))
    raise InputError(f"goes on beyond {MAX_ROWS:,} rows", path=where, line=MAX_ROWS)


def _cell(value: object) -> Cell:
    if value is None:
        return Cell("")
    if isinstance(value, float) and value.is_integer():
        return Cell(str(int(value)), number=True)
    return Cell(str(value), number=isinstance(value, (int, float)))


def read_text(text: str, path: str) -> list[Delivered]:
    """Machines of a text: the separator under which there is a header, else the one under which the columns are clear.

    :raises InputError: with file and line; no cell is repeated.
    """
    if text.count("\n") > MAX_ROWS:
        raise InputError(f"goes on beyond {MAX_ROWS:,} lines", path=path)
    readings = [(separator, _by_separator(separator)) for separator in _SEPARATORS]
    readings += [(" ", _by(_GAP)), (" ", _by(_BLANKS))]
    for _, read in readings:
        rows, wrong = _rows(read, text, path)
        if has_header(rows):
            if wrong is not None:
                raise wrong
            return read_rows(rows, path)
    return _headless(readings, text, path)


Reader = Callable[[str, str], Iterator[Row]]


def _headless(readings: Sequence[tuple[str, Reader]], text: str, path: str) -> list[Delivered]:
    """The first reading whose columns are clear, else the error of the first separator that the text has."""
    errors: list[tuple[bool, InputError]] = []
    for separator, read in readings:
        rows, wrong = _rows(read, text, path)
        try:
            if wrong is None:
                return read_rows(rows, path)
        except VendorListError:
            raise
        except InputError as exc:
            wrong = exc
        errors.append((separator in text, wrong))
    raise next((error for used, error in errors if used), errors[0][1])


def _rows(read: Reader, text: str, path: str) -> tuple[list[Row], InputError | None]:
    """Rows up to one that cannot be read, and what is wrong with that one."""
    rows: list[Row] = []
    try:
        rows.extend(read(text, path))
    except InputError as exc:
        return rows, exc
    return rows, None


def _by_separator(separator: str) -> Reader:
    def read(text: str, path: str) -> Iterator[Row]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        line = 1
        try:
            for cells in reader:
                if reader.line_num > line:
                    raise InputError(
                        "a quoted cell goes over several lines; do the quotes pair?", path=path, line=line
                    )
                yield Row(line, tuple(map(Cell, cells)))
                line = reader.line_num + 1
        except csv.Error:
            raise InputError("this row cannot be read; do the quotes pair?", path=path, line=line) from None

    return read


def _by(gap: re.Pattern[str]) -> Reader:
    def read(text: str, _path: str) -> Iterator[Row]:
        for line, words in enumerate(text.splitlines(), 1):
            if words.strip():
                yield Row(line, tuple(map(Cell, gap.split(words.strip()))))

    return read
