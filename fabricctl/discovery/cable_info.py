"""What ibdiagnet reads from cables and transceivers: table ``CABLE_INFO`` of ``ibdiagnet2.db_csv``.

Columns by name, all but the port optional: NodeGuid or PortGuid, PortNum, PN, SN, LengthDesc, LengthCopperOrActive,
LengthSMFiber (names: ``CombinedCableInfo`` of ibdiagnet's ``csv_parser`` headers; public readers of these files use
the same). It is written only with ``--get_cable_info`` or ``--get_phy_info``. A row that is not understood costs no
discovery: it is counted.

One serial at both ends is a cable with its plugs on (DAC, ACC, AOC); different serials are two transceivers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fabricctl.cable_kinds import assembly_of_part
from fabricctl.fabric import Fabric, Link, LinkDetail, Port
from fabricctl.guid import parse_guid

_NOTHING = frozenset(("", "N/A", "NA", "0", "-"))
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?m?\Z", re.I)
_LENGTH_COLUMNS = ("LengthDesc", "LengthCopperOrActive", "LengthSMFiber", "Length")


class Eeprom(NamedTuple):
    """What one end tells of the part plugged into it."""

    part_number: str = ""
    serial: str = ""
    length_m: float | None = None


class CableTable:
    """Collects the rows of the table. :param unread: rows that were not understood, with the first one's line."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.rows: list[dict[str, str]] = []
        self.unread: list[int] = []

    def take(self, line: str, number: int) -> None:
        """Take the header or a row."""
        try:
            values = [value.strip().strip('"').strip() for value in next(csv.reader([line], strict=True))]
        except (csv.Error, StopIteration):
            values = []
        if not self.columns:
            self.columns = values or [""]
        elif len(values) != len(self.columns):
            self.unread.append(number)
        else:
            self.rows.append(dict(zip(self.columns, values, strict=True)))

    def ends(self, key_of: Mapping[str, str]) -> dict[Port, Eeprom]:
        """Port -> what its end tells. :param key_of: node or port GUID -> node key."""
        found: dict[Port, Eeprom] = {}
        for row in self.rows:
            number = row.get("PortNum", "")
            guids = (
                parse_guid(row.get(name, "")) for name in ("NodeGuid", "NodeGUID", "PortGuid", "PortGUID")
            )
            key = next((key_of[guid] for guid in guids if guid is not None and guid in key_of), None)
            if key is None or not (number.isascii() and number.isdecimal() and len(number) <= 3):
                continue
            told = Eeprom(_word(row, "PN"), _word(row, "SN"), _length(row))
            if told != Eeprom():
                found[Port(key, int(number))] = told
        return found


def _word(row: Mapping[str, str], column: str) -> str:
    text = row.get(column, "")
    return "" if text in _NOTHING else text


def _length(row: Mapping[str, str]) -> float | None:
    for column in _LENGTH_COLUMNS:
        match = _LENGTH.match(row.get(column, ""))
        if match is not None and float(match[1]) > 0:
            return float(match[1])
    return None


def add_cables(fabric: Fabric, ends: Mapping[Port, Eeprom]) -> None:
    """Give the links of a fabric what their ends tell of the cable."""
    touched: Iterable[Link] = {
        id(link): link for port in ends if (link := fabric.links.get(port)) is not None
    }.values()
    for link in touched:
        a, b = ends.get(link.a, Eeprom()), ends.get(link.b, Eeprom())
        told = link._replace(detail=_described(link.detail or LinkDetail(), a, b))
        fabric.links[link.a] = fabric.links[link.b] = told


def _described(detail: LinkDetail, a: Eeprom, b: Eeprom) -> LinkDetail:
    length = a.length_m or b.length_m
    kind = assembly_of_part(a.part_number) or assembly_of_part(b.part_number)
    one_part = bool(a.serial) and a.serial == b.serial
    single = not (a.serial and b.serial) and kind is not None
    detail = detail._replace(length_m=length, assembly=str(kind or ""))
    if one_part or single:
        part, serial = a.part_number or b.part_number, a.serial or b.serial
        return detail._replace(part_number=part, serial=serial)
    return detail._replace(modules=(a.part_number, b.part_number))
