"""Small tables as text, CSV and markdown: columns and rows in, a document out."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from fabricctl.words import printable

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that starts so is a formula to a spreadsheet (OWASP, "CSV Injection")."""


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with aligned columns, the last one free; the header comes first."""
    cells = [list(columns), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def csv_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """With a header row; no cell is a formula to a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        shown = [printable(cell) for cell in row]
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in shown])
    return out.getvalue()


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A pipe table; no cell can break out of it."""
    lines = [list(columns), ["---"] * len(columns), *([markdown_text(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)


def markdown_text(cell: str) -> str:
    """Text that is no markdown, whatever it holds."""
    text = printable(cell)
    for char in "\\|`*_<>[]":
        text = text.replace(char, "\\" + char)
    return text
