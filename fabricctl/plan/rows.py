"""Rows of cells to cables: the part of table reading that does not care where the rows came from.

Columns are read by their distinct values (``distinct.py``), so an error names the first row that holds the
value in question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from itertools import compress
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.plan.cells import (
    BLANK,
    EXCEL_ERRORS,
    keeps_link_type,
    link_type_hint,
    parse_length_m,
    parse_speed,
    shown,
    tidy,
)
from fabricctl.plan.columns import Columns, guess_header
from fabricctl.plan.distinct import read_distinct
from fabricctl.plan.ends import Ends
from fabricctl.plan.labels import SiteNames
from fabricctl.plan.model import PortNumbers
from fabricctl.plan.side import SideColumns, read_side
from fabricctl.rates import Rate

OUTSIDE = frozenset(("site",))
"""Device names that stand for "out of the system" (HPE SHCD writes ``SITE`` port 0 for customer uplinks)."""

_NO_DEVICE = OUTSIDE | BLANK


class Words(NamedTuple):
    """What the rows say of the cables themselves, column by column; empty where not told."""

    link_class: list[str]
    cable: list[str]
    length_m: list[float | None]
    assembly: list[str]
    part_number: list[str]
    serial: list[str]
    connectors: list[tuple[str, str]]
    modules: list[tuple[str, str]]


class Block(NamedTuple):
    """The cables under one header, column by column.

    :param path: the file, or file and sheet; :param rates: and :param words: None where not told.
    """

    path: str
    lines: Sequence[int]
    a: SideColumns
    z: SideColumns
    rates: list[Rate | None] | None
    words: Words | None
    header: tuple[str, ...] = ()


class TableReader:
    """Collects the rows of one or more tables.

    :param site: what the site file knows of devices, optional.
    :param port_numbers: what plain port numbers are, where the operator or the site file says.
    """

    def __init__(self, site: SiteNames | None = None, port_numbers: PortNumbers | None = None) -> None:
        self.ends = Ends(site)
        self.blocks: list[Block] = []
        self.port_numbers = port_numbers
        """What plain port numbers are, where somebody said."""
        self.skipped: Counter[str] = Counter()
        """Rows that are no cable of the fabric, by reason."""

    def read(self, rows: list[list[str]], lines: Sequence[int], columns: Columns, path: str) -> int:
        """Read the rows below a header.

        :param rows: cells, short rows are filled up with empty ones; :param lines: line number of each.
        :returns: how many cables were read.
        :raises PlanError: at a row that cannot be understood.
        """
        before = len(self.blocks)
        if rows and _is_clean(rows, columns):
            self._take(rows, lines, columns, path)
        else:
            self._read_each(rows, lines, columns, path)
        return sum(len(block.lines) for block in self.blocks[before:])

    def _read_each(self, rows: list[list[str]], lines: Sequence[int], columns: Columns, path: str) -> None:
        """Drop comments and blank rows, fill up short ones and follow repeated headers."""
        kept: list[list[str]] = []
        kept_lines: list[int] = []
        width, at, title = _width(columns), columns.a.device, columns.header[columns.a.device]
        for row, line in zip(rows, lines, strict=True):
            if not row or _is_comment(row[0]):
                continue
            if len(row) < width:
                row += [""] * (width - len(row))
            again = guess_header(row).columns if row[at] == title else None
            if again is None:
                kept.append(row)
                kept_lines.append(line)
                continue
            self._take(kept, kept_lines, columns, path)  # a header again, perhaps with other columns
            columns, kept, kept_lines = again, [], []
            width, at, title = _width(again), again.a.device, row[again.a.device]
        self._take(kept, kept_lines, columns, path)

    def _take(self, rows: list[list[str]], lines: Sequence[int], columns: Columns, path: str) -> None:
        """Read the rows of one header."""
        rows, lines = self._without_other_links(rows, lines, columns, path)
        rows, lines = self._without_no_cables(rows, lines, columns, path)
        if not rows:
            return
        a = read_side(rows, lines, columns.a, self.ends, path)
        z = read_side(rows, lines, columns.z, self.ends, path)
        rates = None
        if columns.speed >= 0:
            texts = [row[columns.speed] for row in rows]
            known = read_distinct(texts, lines, lambda text, line: _rate(text, path, line))
            rates = [known[text] for text in texts]
        words = _words(rows, lines, columns, path)
        self.blocks.append(Block(path, lines, a, z, rates, words, columns.header))

    def _without_other_links(
        self, rows: list[list[str]], lines: Sequence[int], columns: Columns, path: str
    ) -> tuple[list[list[str]], Sequence[int]]:
        """Drop and count the rows of Ethernet, management and other links."""
        if columns.protocol < 0:
            return rows, lines
        texts = [row[columns.protocol] for row in rows]
        keeps = read_distinct(texts, lines, lambda text, line: _keeps(text, path, line))
        if all(keeps.values()):
            return rows, lines
        wanted = [keeps[text] for text in texts]
        for text, keep in zip(texts, wanted, strict=True):
            if not keep:
                self.skipped[f"of link type {tidy(text)}"] += 1
        return list(compress(rows, wanted)), list(compress(lines, wanted))

    def _without_no_cables(
        self, rows: list[list[str]], lines: Sequence[int], columns: Columns, path: str
    ) -> tuple[list[list[str]], Sequence[int]]:
        """Drop rows without any device, and count those that lead out of the system."""
        one, two = columns.a.device, columns.z.device
        texts = {row[one] for row in rows} | {row[two] for row in rows}
        odd = {text for text in texts if tidy(text).lower() in _NO_DEVICE}
        if not odd:
            return rows, lines
        wanted = [
            not (row[one] in odd or row[two] in odd) or self._is_cable(row, columns, path, line)
            for row, line in zip(rows, lines, strict=True)
        ]
        return list(compress(rows, wanted)), list(compress(lines, wanted))

    def _is_cable(self, row: Sequence[str], columns: Columns, path: str, line: int) -> bool:
        """Whether a row with an odd device cell is a cable all the same.

        :raises PlanError: when it names one end only.
        """
        sides = (columns.a, columns.z)
        devices = [tidy(row[side.device]) for side in sides]
        ports = [tidy(row[side.port]) if side.port >= 0 else "" for side in sides]
        blank = [device.lower() in BLANK for device in devices]
        if all(blank):
            if any(port.lower() not in BLANK for port in ports):
                self.skipped["that name a port but no device"] += 1
            return False
        if any(blank):
            here = devices[blank.index(False)]
            raise PlanError(
                f"the row names {shown(here)} but not the device at the other end of the cable",
                path=path,
                line=line,
                hint="merged cells count only for their first row: unmerge them and fill down",
            )
        for device, port in zip(devices, ports, strict=True):
            if device.lower() in OUTSIDE and (port.lower() in BLANK or port == "0"):
                self.skipped[f"that lead out of the system, to {device} without a port,"] += 1
                return False
        return True


def _is_comment(first_cell: str) -> bool:
    return first_cell[:1] == "#" and first_cell not in EXCEL_ERRORS


def _is_clean(rows: list[list[str]], columns: Columns) -> bool:
    """Whether every row is a full row of data: then none needs to be looked at alone."""
    return (
        min(map(len, rows)) >= _width(columns)
        and not any(map(_is_comment, {row[0] for row in rows}))
        and columns.header[columns.a.device] not in {row[columns.a.device] for row in rows}
    )


def _width(columns: Columns) -> int:
    """How many cells a row needs."""
    ends = [index for side in (columns.a, columns.z) for index in astuple(side) if isinstance(index, int)]
    return 1 + max(*ends, columns.speed, columns.protocol, *_word_columns(columns))


def _word_columns(columns: Columns) -> tuple[int, ...]:
    """Column numbers of what is said of the cables, in the order of ``Words`` as far as that goes."""
    of_link = (columns.link_class, columns.cable, columns.length)
    return (*of_link, columns.assembly, columns.part_number, columns.serial)


def _side_words(columns: Columns) -> tuple[int, ...]:
    """Column numbers of connector, MPO connector and module of both ends."""
    a, z = columns.a, columns.z
    return (a.connector, a.mpo, z.connector, z.mpo, a.module, z.module)


def _keeps(text: str, path: str, line: int) -> bool:
    word = tidy(text)
    kept = keeps_link_type(word)
    if kept is None:
        raise PlanError(
            f"link type {shown(word)} is not known", path=path, line=line, hint=link_type_hint(word)
        )
    return kept


def _rate(text: str, path: str, line: int) -> Rate | None:
    word = tidy(text)
    if word.lower() in BLANK:
        return None
    rate = parse_speed(word)
    if rate is None:
        raise PlanError(
            f"speed {shown(word)} is not understood; expected HDR, 4xNDR, 200G, 400 or 200000 (Mb/s)",
            path=path,
            line=line,
        )
    return rate


def _words(rows: list[list[str]], lines: Sequence[int], columns: Columns, path: str) -> Words | None:
    at = (*_word_columns(columns), *_side_words(columns))
    if max(at) < 0:
        return None
    blank = [""] * len(rows)
    length_at = at[2]
    texts = [_tidied(rows, i) if i >= 0 and i != length_at else blank for i in at]
    length_texts = [row[length_at] for row in rows] if length_at >= 0 else blank
    lengths = read_distinct(length_texts, lines, lambda text, line: _length_m(text, path, line))
    link_class, cable, _, assembly, part, serial, a_plug, a_mpo, z_plug, z_mpo, a_module, z_module = texts
    a_end, z_end = _connectors(a_plug, a_mpo), _connectors(z_plug, z_mpo)
    return Words(
        link_class,
        cable,
        [lengths[text] for text in length_texts],
        assembly,
        part,
        serial,
        list(zip(a_end, z_end, strict=True)),
        list(zip(a_module, z_module, strict=True)),
    )


def _tidied(rows: list[list[str]], column: int) -> list[str]:
    known = {text: _word(text) for text in {row[column] for row in rows}}
    return [known[row[column]] for row in rows]


def _connectors(plugs: list[str], mpos: list[str]) -> list[str]:
    """Connector and MPO connector of one end as one text: ``OSFP-3, MPO 1``."""
    known = {(plug, mpo): _connector(plug, mpo) for plug, mpo in set(zip(plugs, mpos, strict=True))}
    return [known[pair] for pair in zip(plugs, mpos, strict=True)]


def _connector(plug: str, mpo: str) -> str:
    if mpo and "mpo" not in mpo.lower():
        mpo = f"MPO {mpo}"
    return ", ".join(part for part in (plug, mpo) if part)


def _word(text: str) -> str:
    word = tidy(text)
    return "" if word.lower() in BLANK else word


def _length_m(text: str, path: str, line: int) -> float | None:
    word = _word(text)
    if not word:
        return None
    length = parse_length_m(word)
    if length is None:
        raise PlanError(
            f"length {shown(word)} is not understood; expected metres such as 10, 10m or 1.5 m",
            path=path,
            line=line,
        )
    return length
