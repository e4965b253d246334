"""Firmware versions: text with numbers in it, of as many schemes as there are vendors.

Seen on real machines: ``6.00.30.00`` (iDRAC), ``1.8.2`` (BIOS), ``00.2A.2B`` (PSU), ``4301A56`` (diagnostics),
``HGX-22.10-1-rc57``, ``G520.0200.00.05``, ``00.02.0150.0000_n00``; one BIOS is ``01.01.03`` in its firmware entry and
``1.1.3`` in its system. So numbers compare as numbers, letters without case, and zeros at the end count for nothing.
"""

from __future__ import annotations

import re
from enum import Enum

from provision.bmc.json_bodies import is_number

_COMPONENT = re.compile(r"[0-9a-z]+")
_RUN = re.compile(r"[0-9]+|[a-z]+")
_HEX = re.compile(r"[0-9a-f]+\Z")

Piece = tuple[int, int, str]
Key = tuple[tuple[Piece, ...], ...]


class Relation(Enum):
    """How one version stands to another."""

    SAME = "same"
    OLDER = "older"
    NEWER = "newer"
    OTHER = "other"
    """They differ where letters decide, and letters have no order that every vendor shares."""


def version_key(text: str) -> Key:
    """A key to sort versions by: equal for versions that are the same, a total order over all texts."""
    key = [_pieces(component) for component in _COMPONENT.findall(text.lower())]
    while key and key[-1] == _ZERO:
        key.pop()
    return tuple(key)


def relation(have: str, want: str) -> Relation:
    """How ``have`` stands to ``want``: older or newer only where numbers tell, or hexadecimal digits of one width."""
    mine, other = version_key(have), version_key(want)
    if mine == other:
        return Relation.SAME
    for at in range(max(len(mine), len(other))):
        one = mine[at] if at < len(mine) else _ZERO
        two = other[at] if at < len(other) else _ZERO
        if one != two:
            return _relation_of(one, two)
    return Relation.OTHER


def _relation_of(one: tuple[Piece, ...], two: tuple[Piece, ...]) -> Relation:
    if len(one) == len(two) == 1 and not one[0][2] and not two[0][2]:
        return Relation.OLDER if one < two else Relation.NEWER
    first, second = _text(one), _text(two)
    same_width = len(first) == len(second) <= 4
    if same_width and _HEX.match(first) and _HEX.match(second) and int(first, 16) != int(second, 16):
        return Relation.OLDER if int(first, 16) < int(second, 16) else Relation.NEWER
    return Relation.OTHER


def _pieces(component: str) -> tuple[Piece, ...]:
    """Runs of digits and of letters: ``2a`` -> 2, a. A number comes before letters."""
    return tuple((0, int(run), "") if is_number(run) else (1, 0, run) for run in _RUN.findall(component))


_ZERO: tuple[Piece, ...] = ((0, 0, ""),)


def _text(pieces: tuple[Piece, ...]) -> str:
    """The component again; a lone digit pair such as ``05`` gets its zero back, as hexadecimal parts are written."""
    text = "".join(letters or str(number) for _, number, letters in pieces)
    return text.zfill(2)
