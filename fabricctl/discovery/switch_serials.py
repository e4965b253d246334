"""Parser of switch serial numbers: which GUID carries which serial, as read off the switches or from an inventory.

Two forms, recognised line by line, so that both may be in one file:

- what ``ibswinfo`` prints, one report after the other: of each report the lines ``serial number`` and ``GUID`` are
  read (those of power supplies are called ``S/N``). Form: https://github.com/stanford-rc/ibswinfo, its output and the
  captures in https://github.com/treydock/infiniband_exporter.
- a list, one switch a line: GUID and serial in any order, separated by blanks, commas, semicolons or tabs. A first line
  without a GUID is a heading; a heading with a GUID and a serial column may have others beside them, which are skipped.

Blank lines and lines that start with ``#`` are skipped. One serial may be that of several GUIDs: a chassis with several
switch ASICs has one label.
"""

from __future__ import annotations

import csv
import re

from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.errors import DiscoveryError
from fabricctl.guid import parse_guid

_EXAMPLE = "0xb83fd203001c7a00 MT2148T25782"
_WORDS = re.compile(r"[\s,;\"']+")
_REPORT = re.compile(r"\s*(serial number|GUID)\s*\|\s*(.*)\Z")
_FIRST = re.compile(r"\s*(?:part number|product name|revision|ports|PSID)\s*\|")
_INSIDE = re.compile(r"\s*\S[^|]{0,40}\||\s*-{8,}\s*\Z")
_BANNER = re.compile(r"\s*={8,}\s*\Z")
_GUID = re.compile(
    r"0[xX][0-9a-fA-F]{1,16}\Z|[0-9a-fA-F]{16}\Z|[0-9a-fA-F]{4}(?:[:.][0-9a-fA-F]{4}){3}\Z"
    r"|[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){7}\Z"
)


def parse(text: str, path: str = "") -> dict[str, str]:
    """Return canonical GUID -> serial number as written.

    :raises DiscoveryError: a line that is not understood, a report without GUID, a GUID of two serials, or no serial.
    """
    return _Reader(path).read(lines_of(text, path))


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.serials: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.report: dict[str, tuple[str, int]] = {}
        self.inside = False
        self.banners = 0
        self.columns: tuple[int, int, str] | None = None
        self.heading = True

    def read(self, lines: list[str]) -> dict[str, str]:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip()[0] == "#":
                continue
            if not self._report_line(line, number):
                self._list_line(line, number)
        self._end_report()
        if not self.serials:
            raise DiscoveryError(f"no serial number found; expected lines like {_EXAMPLE}", path=self.path)
        return self.serials

    def _report_line(self, line: str, number: int) -> bool:
        """Take a line of ibswinfo; False when it is none."""
        field = _REPORT.match(line)
        self.inside |= field is not None or bool(_BANNER.match(line) or _FIRST.match(line))
        if field is not None:
            if field[1] in self.report:  # the banner between two reports was cut off
                self._end_report()
            self.report[field[1]] = (field[2].strip(), number)
            return True
        if _BANNER.match(line):
            self.banners += 1
            if self.report:
                self.banners = 1
                self._end_report()
            return True
        if self.banners % 2:  # the line between the two of a banner: the switch's node description
            return True
        return self.inside and _INSIDE.match(line) is not None

    def _end_report(self) -> None:
        """A report is whole: its serial belongs to its GUID."""
        report, self.report = self.report, {}
        if not report:
            return
        serial, at = report.get("serial number", ("", 0))
        word, line = report.get("GUID", ("", at))
        guid = parse_guid(word) if word else None
        if guid is None:
            said = f"GUID {shown(word)} is none" if word else f"serial {shown(serial)} has no GUID beside it"
            raise DiscoveryError(f"{said}; expected the whole output of ibswinfo", path=self.path, line=line)
        if serial:  # some firmware leaves fields empty
            self._take(guid, serial, at)

    def _list_line(self, line: str, number: int) -> None:
        if self.heading:
            self.heading = False
            if not any(_GUID.match(word) for word in _WORDS.split(line.strip())):
                self.columns = _columns(line)
                return
        if self.columns is not None:
            at_guid, at_serial, comma = self.columns
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=comma))]
            words = [cells[at] for at in (at_guid, at_serial) if at < len(cells)]
            if len(words) == 2 and _GUID.match(words[0]) and not words[1]:
                return  # a switch whose label nobody has read yet
        else:
            words = [word for word in _WORDS.split(line.strip()) if word]
        found = [word for word in words if _GUID.match(word)]
        guid = parse_guid(found[0]) if len(found) == 1 and len(words) == 2 else None
        if guid is None:
            raise DiscoveryError(
                f"{shown(line)} is not understood; expected GUID and serial number: {_EXAMPLE}",
                path=self.path,
                line=number,
            )
        self._take(guid, next(word for word in words if word != found[0]), number)

    def _take(self, guid: str, serial: str, number: int) -> None:
        known = self.serials.setdefault(guid, serial)
        if known != serial:
            text = f"{guid} has serial {serial!r} here and {known!r} at line {self.lines[guid]}"
            raise DiscoveryError(text, path=self.path, line=number)
        self.lines.setdefault(guid, number)


def _columns(heading: str) -> tuple[int, int, str] | None:
    """Which columns hold GUID and serial, and what separates them; None for a heading that does not say."""
    comma = max(",;\t", key=heading.count)
    cells = [cell.strip().strip("\"'").lower() for cell in heading.split(comma)]
    guids = [index for index, cell in enumerate(cells) if "guid" in cell]
    serials = [index for index, cell in enumerate(cells) if "serial" in cell or cell in ("s/n", "sn")]
    return (guids[0], serials[0], comma) if len(guids) == len(serials) == 1 else None
