"""Hosts that say the same share a line, also where only numbers, times or part names of what they say differ a little.

511 hosts of one hall say the same but for a degree or a second. Numbers with a unit, and times, that lie near each
other become a range; names of parts become a folded set. Everything else must be equal, so that nothing is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fabricctl.hostset import fold, natural_key
from fabricctl.words import printable

_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_UNITS: Mapping[str, float] = {
    "°C": 5,
    "%": 10,
    "W": 100,
    "rpm": 1000,
    "s": 1,
    "min": 2,
    "h": 1,
    "days": 1,
    "day": 0,
    "times": 5,
}
"""Unit -> how far apart two numbers may be and still be about the same, or a fifth of the smaller one."""
_SHARE = 0.2
_NEAR = timedelta(hours=1)
"""How far apart two moments may be and still be about the same: a rack that was switched on together."""
_AMOUNT = re.compile(
    rf"(?P<moment>{_MOMENT})|(?<![\w./-])(?P<number>[+-]?\d[\d,]*(?:\.\d+)?)(?= (?P<unit>{'|'.join(_UNITS)})(?![\w]))"
)
PART = re.compile(r"\b[A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)+\.[A-Z]?\d[\w.:-]*(?<![.:-])")
"""Name of a part as Dell writes it (FQDD): ``NIC.Slot.5-1``, ``Disk.Bay.0:Enclosure.Internal.0-1``."""
_HOLE = "\0"
_CELL = " \N{SYMBOL FOR UNIT SEPARATOR} "


@dataclass(frozen=True, slots=True)
class Alike:
    """Hosts and the text they share."""

    hosts: tuple[str, ...]
    text: str

    @property
    def who(self) -> str:
        """Folded."""
        return fold(self.hosts)


def alike(said: Iterable[tuple[str, str]], *, parts: bool = False) -> list[Alike]:
    """(host, text) -> what is said and by whom, in the order of the first of each.

    :param parts: also texts that differ only in the names of parts share a line, with the names as a folded set.
    """
    texts: dict[str, list[str]] = {}
    for host, text in said:
        texts.setdefault(printable(text), []).append(host)
    if parts:
        texts = _parts_together(texts)
    shapes: dict[str, list[str]] = {}
    for text in texts:
        shapes.setdefault(_AMOUNT.sub(_hole, text), []).append(text)
    found = []
    for shape, members in shapes.items():
        for near in _near(members):
            hosts = dict.fromkeys(host for text in near for host in texts[text])
            found.append(Alike(tuple(hosts), _ranged(shape, near) if len(near) > 1 else near[0]))
    return found


def alike_rows(rows: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[tuple[str, ...], list[str]]]:
    """(host, cells) -> hosts and cells, rows that are about the same in one; in the order of hosts."""
    found = [
        (one.hosts, one.text.split(_CELL)) for one in alike((host, _CELL.join(row)) for host, row in rows)
    ]
    return sorted(found, key=lambda row: natural_key(min(row[0], key=natural_key)))


def _hole(match: re.Match[str]) -> str:
    return f"{_HOLE}{'t' if match['moment'] else 'n'}"


def _near(texts: Sequence[str]) -> list[list[str]]:
    """Texts of one shape, parted where an amount jumps."""
    groups = [list(texts)]
    for at in range(len(_amounts(texts[0]))):
        groups = [part for group in groups for part in _parted(group, at)]
    return groups


def _parted(texts: Sequence[str], at: int) -> list[list[str]]:
    ordered = sorted(texts, key=lambda text: _value(_amounts(text)[at]))
    parts = [[ordered[0]]]
    for text in ordered[1:]:
        below, here = _amounts(parts[-1][-1])[at], _amounts(text)[at]
        if _value(here) - _value(below) <= _gap(below):
            parts[-1].append(text)
        else:
            parts.append([text])
    return parts


def _amounts(text: str) -> list[re.Match[str]]:
    return list(_AMOUNT.finditer(text))


def _value(amount: re.Match[str]) -> float:
    return _moment(amount["moment"]) if amount["moment"] else _number(amount["number"])


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _moment(text: str) -> float:
    """Seconds; of what is no moment, such as a 30th of February, none that is near another."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def _gap(amount: re.Match[str]) -> float:
    if amount["moment"]:
        return _NEAR.total_seconds()
    return max(_UNITS[amount["unit"]], _SHARE * abs(_value(amount)))


def _ranged(shape: str, texts: Sequence[str]) -> str:
    """The text with what lies between its amounts, and ``36-41`` where they differ."""
    columns = zip(*(_amounts(text) for text in texts), strict=True)
    words = iter([_range([match[0] for match in column], column[0]) for column in columns])
    return re.sub(rf"{_HOLE}[tn]", lambda _: next(words), shape)


def _range(words: Sequence[str], kind: re.Match[str]) -> str:
    key = _moment if kind["moment"] else _number
    low, high = min(words, key=key), max(words, key=key)
    if low == high:
        return low
    return f"{low} to {high}" if kind["moment"] or low[0] in "+-" or high[0] in "+-" else f"{low}-{high}"


def _parts_together(texts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Texts that differ only in names of parts, said of the same hosts, as one with the names folded."""
    shapes: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for text, hosts in texts.items():
        shapes.setdefault((PART.sub(_HOLE, text), tuple(dict.fromkeys(hosts))), []).append(text)
    found: dict[str, list[str]] = {}
    for (shape, hosts), members in shapes.items():
        columns = zip(*(PART.findall(text) for text in members), strict=True)
        words = iter([fold(dict.fromkeys(column)) for column in columns])
        text = re.sub(_HOLE, lambda _, left=words: next(left), shape)  # type: ignore[misc]
        found.setdefault(text, []).extend(hosts)
    return found
