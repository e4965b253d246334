"""Strict reading of one mapping of a YAML plan, with line numbers.

Works on what ruamel.yaml's round-trip loader returns (``.lc`` tells lines) and on plain dictionaries,
whose lines are then unknown (0). Every error says key, what was expected, what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from fabricctl.errors import PlanError
from fabricctl.plan.expr_template import Template, parse_template
from fabricctl.rates import LANE_GBPS, Rate, parse_rate

_Word = TypeVar("_Word", bound=StrEnum)

MAX_COUNT = 1_000_000
"""No count in a plan is larger: above it a digit slipped."""


class Section:
    """One mapping.

    :param data: the mapping as loaded; :param where: how messages call it (``rules: links[3]``).
    :param fallback: line to report where ``data`` knows none (the line of the key above it).
    :raises PlanError: when ``data`` is no mapping.
    """

    def __init__(self, data: object, where: str, fallback: int = 0) -> None:
        self.where = where
        self._fallback = fallback
        if not isinstance(data, Mapping):
            raise PlanError(f"{where}: expected a mapping of keys, found {shown(data)}", line=fallback)
        self._data: Mapping[Any, Any] = data

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data)

    def line(self, key: object = None) -> int:
        """1-based line of a key, or of the mapping itself; 0 when unknown."""
        marks = getattr(self._data, "lc", None)
        if marks is None:
            return self._fallback
        known = getattr(marks, "data", None) or {}
        if key in known:
            return int(known[key][0]) + 1
        return self._fallback or int(marks.line) + 1

    def error(self, message: str, key: str | None = None, hint: str = "") -> PlanError:
        """An error about ``key`` of this section."""
        return PlanError(f"{self.where}: {message}", line=self.line(key), hint=hint)

    def wrong(self, key: str, expected: str) -> PlanError:
        """The error for a value of the wrong kind."""
        return self.error(f"{key}: expected {expected}, found {shown(self._data.get(key))}", key)

    def allow(self, *keys: str) -> None:
        """:raises PlanError: for the first key that is not one of ``keys``, with the nearest of them."""
        for key in self._data:
            if key not in keys:
                near = get_close_matches(spelled(key), keys, 1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(keys)}"
                raise PlanError(f"{self.where}: unknown key {spelled(key)!r}", line=self.line(key), hint=hint)

    def get(self, key: str) -> Any:
        """The raw value, None when absent."""
        return self._data.get(key)

    def require(self, *keys: str) -> None:
        """:raises PlanError: when one of ``keys`` is absent."""
        for key in keys:
            if key not in self:
                raise self.error(f"key {key!r} is missing")

    def text(self, key: str, default: str = "") -> str:
        """A text; a bare number is taken as it is written."""
        value = self.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.wrong(key, "a text")
        return spelled(value)

    def whole(self, key: str, default: int, low: int = 1, high: int = MAX_COUNT) -> int:
        """A whole number from ``low`` to ``high``."""
        value = self.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(key, f"a whole number from {low} to {high:,}")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """``true`` or ``false``."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def word(self, key: str, words: type[_Word], default: _Word) -> _Word:
        """One of an enumeration's words."""
        if key not in self:
            return default
        text = self.text(key)
        try:
            return words(text)
        except ValueError as exc:
            known = [str(word) for word in words]
            near = get_close_matches(text, known, 1)
            hint = f"did you mean {near[0]}?" if near else ""
            raise self.error(f"{key}: expected {' or '.join(known)}, found {text!r}", key, hint) from exc

    def template(self, key: str, default: str = "") -> Template:
        """A name template."""
        return parse_template(self.text(key, default), self.line(key))

    def rate(self, key: str) -> Rate | None:
        """A width and speed such as ``4xNDR``, None when absent."""
        if key not in self:
            return None
        rate = parse_rate(self.text(key))
        if rate is None:
            raise self.wrong(key, f"a width and speed such as 4xNDR ({', '.join(LANE_GBPS)})")
        return rate

    def items(self, key: str) -> list[Any]:
        """A list, empty when absent."""
        value = self.get(key)
        if value is None:
            return []
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.wrong(key, "a list")
        return list(value)

    def sections(self, key: str) -> list[Section]:
        """A list of mappings."""
        marks = getattr(getattr(self.get(key), "lc", None), "data", None) or {}
        return [
            Section(
                item, f"{self.where}: {key}[{n + 1}]", int(marks[n][0]) + 1 if n in marks else self.line(key)
            )
            for n, item in enumerate(self.items(key))
        ]

    def section(self, key: str) -> Section | None:
        """A mapping, None when absent."""
        return Section(self.get(key), f"{self.where}: {key}", self.line(key)) if key in self else None


def shown(value: object) -> str:
    """A value as an error message shows it: short, with its kind where that helps."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "a list"
    text = spelled(value) if isinstance(value, (int, float)) else repr(spelled(value))
    return text if len(text) <= 60 else text[:57] + "..."


def spelled(value: object) -> str:
    """A scalar as text; Python itself refuses to spell numbers of thousands of digits (``0xfff...``)."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number beyond all bounds"
    return str(value)
