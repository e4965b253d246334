"""Cabling workbooks: every sheet with a recognisable header is a point-to-point table.

openpyxl reads them (an extra, imported here only). Formulas count by the value the spreadsheet program last
saved. Bounds keep a crafted file from eating the machine: unpacked size, cells, rows.
"""

from __future__ import annotations

import difflib
import io
import warnings
import zipfile
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from fabricctl.errors import PlanError
from fabricctl.plan.cells import shown
from fabricctl.plan.columns import header_error
from fabricctl.plan.labels import SiteNames
from fabricctl.plan.model import Plan, PlanFormat, PortNumbers
from fabricctl.plan.port_numbers import declared_numbers
from fabricctl.plan.rows import TableReader
from fabricctl.plan.table import best_header
from fabricctl.plan.table_links import table_plan

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
MAX_CELLS = 20_000_000
MAX_ROWS = 1_048_576
"""Rows of a sheet (ECMA-376 limit of the format)."""

HEADER_ROWS = 200
"""How far down a sheet the header may stand."""

_OLE_MAGIC = b"\xd0\xcf\x11\xe0"


def parse_xlsx(
    data: bytes,
    path: str,
    *,
    site: SiteNames | None = None,
    sheets: Collection[str] = (),
    port_numbers: PortNumbers | None = None,
) -> Plan:
    """Read a workbook.

    :param path: shown in messages, with the sheet in brackets: ``cables.xlsx[Links]:12`` is row 12 there.
    :param sheets: read only these sheets; all that have a header by default.
    :raises PlanError: with file, sheet, row, what was expected and found.
    """
    workbook = open_workbook(data, path)
    reader = TableReader(site, port_numbers)
    try:
        notes = _read_sheets(workbook, _wanted(workbook.sheetnames, sheets, path), reader, path, bool(sheets))
    finally:
        workbook.close()
    plan = table_plan(reader, PlanFormat.XLSX, path)
    plan.notes[:0] = notes
    return plan


def _read_sheets(
    workbook: Workbook, names: list[str], reader: TableReader, path: str, asked: bool
) -> list[str]:
    """Read the sheets that have a header; returns what to tell of each.

    :param asked: the sheets were named by the user, so each must be a table.
    """
    notes: list[str] = []
    nearest = PlanError("no sheet has a header row with known column names", path=path)
    best, tables, budget = -1, 0, [MAX_CELLS]
    for name in names:
        where = f"{path}[{name}]"
        rows = list(_rows(workbook, name, where, budget))
        guess, header, line = best_header((i, row) for i, row in enumerate(rows[:HEADER_ROWS], 1))
        if reader.port_numbers is None:
            said = "\n".join(" ".join(row) for row in rows[: max(line - 1, 0)])
            reader.port_numbers = declared_numbers(said, where)
        if guess.columns is not None:
            tables += 1
            count = reader.read(rows[line:], range(line + 1, len(rows) + 1), guess.columns, where)
            hidden = "" if workbook[name].sheet_state == "visible" else " (hidden)"
            notes.append(f"Sheet {shown(name)}{hidden}: {count:,} cables read.")
            continue
        error = header_error(header, guess, path=where, line=line)
        if (
            asked or guess.found == 3
        ):  # three of four: a table with a slip in its header, not some other sheet
            raise error
        if line and guess.found > best:
            nearest, best = error, guess.found
        notes.append(f"Sheet {shown(name)} was not read: it has no header row with known column names.")
    if not tables:
        raise nearest
    return notes


def _wanted(names: list[str], sheets: Collection[str], path: str) -> list[str]:
    for sheet in sheets:
        if sheet not in names:
            close = difflib.get_close_matches(sheet, names, n=1, cutoff=0.5)
            raise PlanError(
                f"no sheet {shown(sheet)}; the workbook has {', '.join(map(shown, names[:20]))}",
                path=path,
                hint=f"did you mean {close[0]}?" if close else "",
            )
    return [name for name in names if not sheets or name in sheets]


def open_workbook(data: bytes, path: str) -> Workbook:
    """A workbook to read from; the caller closes it.

    :raises PlanError: it is none, too big, or openpyxl is not installed.
    """
    if data[:4] == _OLE_MAGIC:
        raise PlanError(
            "this is an encrypted workbook or an old .xls; expected .xlsx", path=path, hint="save it as .xlsx"
        )
    try:
        from openpyxl import load_workbook
    except ImportError as exc:
        raise PlanError(
            "reading a workbook needs openpyxl, which is not installed",
            path=path,
            hint="pip install 'fabricctl[xlsx]', or save the sheet as CSV",
        ) from exc
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= MAX_UNPACKED_BYTES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # openpyxl warns of styles and validations it drops
                return load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except Exception as exc:
        raise _broken(exc, path) from exc
    raise PlanError(
        f"the workbook unpacks to {size:,} bytes, more than {MAX_UNPACKED_BYTES:,}",
        path=path,
        hint="save the cabling sheet as CSV",
    )


def _broken(exc: Exception, path: str) -> PlanError:
    text = " ".join(str(exc).split())[:120]
    return PlanError(f"the workbook cannot be read: {type(exc).__name__}: {text}", path=path)


def _rows(workbook: Workbook, name: str, where: str, budget: list[int]) -> Iterator[list[str]]:
    """Every row of a sheet as text, from its first row on, empty rows included.

    :param budget: how many cells may still be read, shared by the sheets.
    """
    sheet: Any = workbook[name]
    if not hasattr(sheet, "reset_dimensions"):  # a chart sheet has no cells
        return
    sheet.reset_dimensions()  # the stored size may be absurd; the cells themselves tell
    rows = sheet.iter_rows()
    number = 0
    while True:
        try:
            cells = next(rows, None)
            row = None if cells is None else [_text(cell.value) for cell in cells]
        except Exception as exc:
            raise _broken(exc, where) from exc
        if row is None:
            return
        number += 1
        budget[0] -= len(row) + 1
        if number > MAX_ROWS or budget[0] < 0:
            raise PlanError(
                f"the sheet goes on beyond {MAX_ROWS:,} rows or {MAX_CELLS:,} cells",
                path=where,
                line=number,
                hint="save the cabling table as CSV",
            )
        yield row


def _text(value: object) -> str:
    """A cell's value the way the sheet shows it: whole numbers without a decimal point, dates as ISO."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
