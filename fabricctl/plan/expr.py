"""Integer expressions of the rule language.

Grammar, loosest binding first; spaces mean nothing::

    or  and  not          truth: 0 is false, everything else true; the result is 1 or 0
    == != < <= > >=       may be chained: 1 <= x < 9
    + -                   left to right
    * // %                // and % round towards minus infinity; there is no /
    - +                   sign
    NUMBER  NAME  (...)  min(a, b, ...)  max(a, b, ...)

An expression is compiled once into nested functions of a mapping ``name -> int``; nothing is ever handed
to the interpreter. Its size, its depth and every product are bounded, so a hostile plan cannot spend more
than its file is long.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fabricctl.errors import PlanError

MAX_TOKENS = 200
MAX_DEPTH = 32
MAX_VALUE = 10**15
"""Above this no port, rack or host number is meant."""

Values = Mapping[str, int]
_Compiled = Callable[[Values], int]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>//|[<>=!]=|[-+*%()<>,]))"
)
_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "+": (5, operator.add),
    "-": (5, operator.sub),
    "*": (6, operator.mul),
    "//": (6, operator.floordiv),
    "%": (6, operator.mod),
}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OR, _AND, _NOT, _COMPARISON, _SIGN = 1, 2, 3, 4, 7
_CHOICES: dict[str, Callable[[list[int]], int]] = {"min": min, "max": max}
KEYWORDS = frozenset({"and", "or", "not", *_CHOICES})
"""Words that cannot be the name of a value."""


@dataclass(frozen=True)
class Expression:
    """A compiled expression.

    :param text: as written; :param line: where, 0 when unknown; :param names: the values it needs.
    """

    text: str
    line: int
    names: frozenset[str]
    _run: _Compiled

    def value(self, values: Values) -> int:
        """Evaluate.

        :raises PlanError: division by zero, an unknown name or a number beyond ``MAX_VALUE``; names line,
            expression and the values at hand.
        """
        try:
            return self._run(values)
        except ZeroDivisionError as exc:
            raise self._error("divides by zero", values) from exc
        except OverflowError as exc:
            raise self._error(f"gives a number beyond {MAX_VALUE:,}", values) from exc
        except KeyError as exc:
            raise self._error(f"uses {exc.args[0]!r}, which has no value", values) from exc

    def _error(self, what: str, values: Values) -> PlanError:
        with_values = ", ".join(f"{n}={values[n]}" for n in sorted(self.names) if n in values)
        return PlanError(
            f"{self.text!r} {what}" + (f" where {with_values}" if with_values else ""), line=self.line
        )


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "the end")


class _Parser:
    """A Pratt parser: ``_climb(n)`` reads everything that binds tighter than ``n``."""

    def __init__(self, text: str, line: int) -> None:
        self.text, self.line = text, line
        self.names: set[str] = set()
        self.tokens = self._tokens()
        self.at = 0
        self.depth = 0

    def error(self, what: str) -> PlanError:
        return PlanError(f"in {shorten(self.text)!r}: {what}", line=self.line)

    def _tokens(self) -> list[_Token]:
        tokens: list[_Token] = []
        text, at = self.text.rstrip(), 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.error(_bad_character(text[at:].lstrip()))
            kind = match.lastgroup or ""
            tokens.append(_Token(kind, match[kind]))
            at = match.end()
            if len(tokens) > MAX_TOKENS:
                raise self.error(f"more than {MAX_TOKENS} symbols; give parts of it a name under 'values'")
        return tokens

    def peek(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def take(self) -> _Token:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, text: str) -> None:
        found = self.take()
        if found.text != text:
            raise self.error(f"expected {text!r}, found {found.text!r}")

    def whole(self) -> _Compiled:
        if not self.tokens:
            raise PlanError("empty expression; expected whole numbers, names and + - * // %", line=self.line)
        run = self.climb(0)
        if self.peek() is not _END:
            raise self.error(f"expected an operator, found {self.peek().text!r}")
        return run

    def climb(self, floor: int) -> _Compiled:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"nested more than {MAX_DEPTH} deep")
        left = self.prefix()
        while True:
            word = self.peek().text
            if word in _BINARY and _BINARY[word][0] > floor:
                left = self.arithmetic(left)
            elif word in _COMPARE and floor < _COMPARISON:
                left = self.comparison(left)
            elif word == "and" and floor < _AND:
                self.take()
                left = _both(left, self.climb(_AND))
            elif word == "or" and floor < _OR:
                self.take()
                left = _either(left, self.climb(_OR))
            else:
                self.depth -= 1
                return left

    def arithmetic(self, left: _Compiled) -> _Compiled:
        power, function = _BINARY[self.take().text]
        right = self.climb(power)
        return _product(left, right) if function is operator.mul else _binary(function, left, right)

    def comparison(self, first: _Compiled) -> _Compiled:
        tests: list[tuple[Callable[[int, int], bool], _Compiled]] = []
        while self.peek().text in _COMPARE:
            function = _COMPARE[self.take().text]
            tests.append((function, self.climb(_COMPARISON)))
        return _chain(first, tests)

    def prefix(self) -> _Compiled:
        kind, text = self.take()
        if kind == "number":
            number = int(text) if len(text) <= len(str(MAX_VALUE)) else MAX_VALUE + 1
            if number > MAX_VALUE:
                raise self.error(f"the number {shorten(text)} is beyond {MAX_VALUE:,}")
            return lambda _: number
        if text == "not":
            inner = self.climb(_NOT)
            return lambda values: int(not inner(values))
        if text in _CHOICES:
            return self.choice(text)
        if kind == "name" and text not in KEYWORDS:
            self.names.add(text)
            return operator.itemgetter(text)
        if text == "(":
            inner = self.climb(0)
            self.expect(")")
            return inner
        if text == "-":
            inner = self.climb(_SIGN)
            return lambda values: -inner(values)
        if text == "+":
            return self.climb(_SIGN)
        raise self.error(f"expected a number or a name, found {text!r}")

    def choice(self, word: str) -> _Compiled:
        self.expect("(")
        parts = [self.climb(0)]
        while self.peek().text == ",":
            self.take()
            parts.append(self.climb(0))
        self.expect(")")
        function = _CHOICES[word]
        return lambda values: function([part(values) for part in parts])


def _bad_character(rest: str) -> str:
    if rest.startswith("/"):
        return "'/' is no operator here; whole numbers are divided with '//'"
    if rest.startswith("="):
        return "'=' is no operator; equality is tested with '=='"
    if rest.startswith("."):
        return "only whole numbers are known here; a range such as 1..8 belongs under 'values'"
    return f"{rest[0]!r} has no meaning; expected whole numbers, names, + - * // % ( ) and comparisons"


def _binary(function: Callable[[int, int], int], left: _Compiled, right: _Compiled) -> _Compiled:
    return lambda values: function(left(values), right(values))


def _product(left: _Compiled, right: _Compiled) -> _Compiled:
    def run(values: Values) -> int:
        result = left(values) * right(values)
        if -MAX_VALUE <= result <= MAX_VALUE:
            return result
        raise OverflowError

    return run


def _both(left: _Compiled, right: _Compiled) -> _Compiled:
    return lambda values: int(bool(left(values) and right(values)))


def _either(left: _Compiled, right: _Compiled) -> _Compiled:
    return lambda values: int(bool(left(values) or right(values)))


def _chain(first: _Compiled, tests: list[tuple[Callable[[int, int], bool], _Compiled]]) -> _Compiled:
    def run(values: Values) -> int:
        left = first(values)
        for test, operand in tests:
            right = operand(values)
            if not test(left, right):
                return 0
            left = right
        return 1

    return run


def shorten(text: str) -> str:
    """At most 60 characters of a text, for messages."""
    return text if len(text) <= 60 else text[:57] + "..."


def parse_expression(text: str, line: int = 0) -> Expression:
    """Compile an expression.

    :raises PlanError: with line, expression, what was expected and what was found.
    """
    parser = _Parser(text, line)
    run = parser.whole()
    return Expression(text.strip(), line, frozenset(parser.names), run)
