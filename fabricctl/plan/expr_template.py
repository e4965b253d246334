"""Name templates of the rule language: text with expressions in braces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from fabricctl.errors import PlanError
from fabricctl.plan.expr import Expression, Values, parse_expression, shorten

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_PADDING = re.compile(r"0[1-9]\Z")


@dataclass(frozen=True)
class Template:
    """A name with holes: ``ibl-p{su:02}-r{rail}``; ``{{`` and ``}}`` are plain braces.

    A hole holds an expression and optionally ``:0N``, zero padding to N digits (N from 1 to 9).
    """

    text: str
    line: int
    names: frozenset[str]
    _holes: tuple[Expression, ...]
    _format: str

    def render(self, values: Values) -> str:
        """Fill the holes.

        :raises PlanError: as ``Expression.value``; also for a negative number, which no name means.
        """
        numbers = tuple([hole.value(values) for hole in self._holes])
        if numbers and min(numbers) < 0:
            hole, number = next(pair for pair in zip(self._holes, numbers, strict=True) if pair[1] < 0)
            raise PlanError(
                f"{hole.text!r} in {self.text!r} gives {number}; a name holds no negative number",
                line=self.line,
            )
        return self._format % numbers


def parse_template(text: str, line: int = 0) -> Template:
    """Compile a template.

    :raises PlanError: braces that do not pair, an unknown format, a bad expression.
    """
    holes: list[Expression] = []
    pattern: list[str] = []
    for piece in _PIECE.finditer(text):
        word = piece[0]
        if word in ("{{", "}}"):
            pattern.append(word[0])
        elif piece[1] is not None:
            hole, digits = _hole(piece[1], text, line)
            holes.append(hole)
            pattern.append(f"%0{digits}d" if digits else "%d")
        elif word in "{}":
            raise PlanError(
                f"braces of {shorten(text)!r} do not pair; expected {{name}} or {{name:02}}", line=line
            )
        else:
            pattern.append(word.replace("%", "%%"))
    names = frozenset().union(*(hole.names for hole in holes))
    return Template(text, line, names, tuple(holes), "".join(pattern))


def _hole(inside: str, text: str, line: int) -> tuple[Expression, int]:
    source, colon, padding = inside.partition(":")
    if colon and not _PADDING.match(padding.strip()):
        raise PlanError(
            f"format {padding!r} in {shorten(text)!r} is unknown; expected zero padding such as :02",
            line=line,
        )
    return parse_expression(source, line), int(padding) if colon else 0


def check_names(item: Expression | Template, known: frozenset[str]) -> None:
    """:raises PlanError: when ``item`` uses a name that is not ``known``, with the nearest one."""
    for name in sorted(item.names - known):
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"
        raise PlanError(f"{shorten(item.text)!r} uses the unknown name {name!r}", line=item.line, hint=hint)
