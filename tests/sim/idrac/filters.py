"""``$filter``: comparisons joined by and/or, as iDRACs understand them (DSP0266, 7.3.4)."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(r"\s*(?:(?P<op>\(|\))|(?P<text>'(?:[^']|'')*')|(?P<word>[^\s()']+))")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}


def matches(body: Mapping[str, Any], condition: str) -> bool:
    """Whether a resource meets a condition.

    :raises ValueError: the condition is none.
    """
    reader = _Reader(condition, body)
    result = reader.either()
    if reader.tokens:
        raise ValueError(condition)
    return result


class _Reader:
    def __init__(self, condition: str, body: Mapping[str, Any]) -> None:
        self.tokens: list[str] = []
        self.body = body
        at = 0
        while condition[at:].strip():
            match = _TOKEN.match(condition, at)
            if match is None:
                raise ValueError(condition)
            self.tokens.append(match[0].strip())
            at = match.end()

    def either(self) -> bool:
        result = self.both()
        while self.tokens and self.tokens[0] == "or":
            self.take()
            result = self.both() or result
        return result

    def both(self) -> bool:
        result = self.one()
        while self.tokens and self.tokens[0] == "and":
            self.take()
            result = self.one() and result
        return result

    def one(self) -> bool:
        word = self.take()
        if word == "not":
            return not self.one()
        if word == "(":
            result = self.either()
            if self.take() != ")":
                raise ValueError(word)
            return result
        compare = _COMPARE.get(self.take())
        if compare is None:
            raise ValueError(word)
        found, wanted = self.field(word), self.literal(self.take())
        try:
            return compare(found, wanted)
        except TypeError:
            return False

    def take(self) -> str:
        if not self.tokens:
            raise ValueError("condition ends early")
        return self.tokens.pop(0)

    def field(self, name: str) -> Any:
        value: Any = self.body
        for step in name.split("/"):
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    def literal(self, token: str) -> Any:
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        return json.loads(token)
