"""The ``values`` of the rule language: what loops, what is derived, in which order.

::

    values:
      g: 1..20              # a range, both ends included: loops
      k: 0..30..2           # with a step
      y: [1..4, 7, 8]       # several numbers and ranges: loops
      G: (g - 1) // 7 + 1   # one expression: derived, does not loop
      i: 0..G - 1           # ends may use values defined above

A rule loops over exactly those values that its own texts use, directly or through derived ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.plan.expr import KEYWORDS, Expression, parse_expression
from fabricctl.plan.expr_template import Template, check_names
from fabricctl.plan.yaml_section import Section, spelled

MAX_RANGE = 1_000_000
"""Length of one range."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Span(NamedTuple):
    """One range, or one number when ``high`` is None."""

    low: Expression
    high: Expression | None = None
    step: Expression | None = None

    def numbers(self, values: Mapping[str, int]) -> Iterable[int]:
        """Its numbers. :raises PlanError: a step below 1, a range too long."""
        low = self.low.value(values)
        if self.high is None:
            return (low,)
        high = self.high.value(values)
        step = 1 if self.step is None else self.step.value(values)
        if step < 1:
            raise PlanError(f"a range's step must be 1 or more, found {step}", line=self.low.line)
        if high - low >= MAX_RANGE * step:
            raise PlanError(f"range {low}..{high} has more than {MAX_RANGE:,} numbers", line=self.low.line)
        return range(low, high + 1, step)


@dataclass(frozen=True)
class Value:
    """One entry of ``values``. :param derived: its expression when it does not loop; :param spans: else."""

    name: str
    derived: Expression | None
    spans: tuple[Span, ...]
    needs: frozenset[str]


class Scope:
    """Values in the order of their definition; a rule's own scope stands on the plan's."""

    def __init__(self, section: Section | None, outer: Scope | None = None) -> None:
        """:raises PlanError: a bad name, a name defined twice or used before its definition."""
        self.values: dict[str, Value] = dict(outer.values) if outer else {}
        for name in section or ():
            assert section is not None
            _check_name(name, section, self.values)
            self.values[name] = _read_value(name, section, frozenset(self.values))

    @property
    def names(self) -> frozenset[str]:
        """Every name a rule in this scope may use."""
        return frozenset(self.values)

    def steps(self, items: Iterable[Expression | Template]) -> tuple[Value, ...]:
        """The values these texts need, in order. :raises PlanError: for an unknown name."""
        needed: set[str] = set()
        for item in items:
            check_names(item, self.names)
            needed |= item.names
        for value in reversed(self.values.values()):  # what a value needs stands above it
            if value.name in needed:
                needed |= value.needs
        return tuple(value for value in self.values.values() if value.name in needed)


def assignments(steps: tuple[Value, ...], values: dict[str, int], at: int = 0) -> Iterator[dict[str, int]]:
    """Every assignment of the steps, first slowest. The one dictionary ``values`` is changed and yielded."""
    while at < len(steps) and (derived := steps[at].derived) is not None:
        values[steps[at].name] = derived.value(values)
        at += 1
    if at == len(steps):
        yield values
        return
    step = steps[at]
    for span in step.spans:
        for number in span.numbers(values):
            values[step.name] = number
            if at + 1 == len(steps):
                yield values
            else:
                yield from assignments(steps, values, at + 1)


def _check_name(name: object, section: Section, known: Mapping[str, Value]) -> None:
    if not isinstance(name, str) or not _NAME.match(name) or name in KEYWORDS:
        raise PlanError(
            f"{section.where}: {spelled(name)!r} cannot name a value; expected letters, digits and _",
            line=section.line(name),
        )
    if name in known:
        raise section.error(f"{name!r} is defined above already; choose another name", name)


def _read_value(name: str, section: Section, known: frozenset[str]) -> Value:
    raw, line = section.get(name), section.line(name)
    loops = isinstance(raw, list) or (isinstance(raw, str) and ".." in raw)
    if not loops:
        derived = parse_expression(_as_text(raw, name, section), line)
        check_names(derived, known)
        return Value(name, derived, (), derived.names)
    items = raw if isinstance(raw, list) else [raw]
    if not items:
        raise section.wrong(name, "at least one number or range")
    spans = tuple(_read_span(_as_text(item, name, section), line) for item in items)
    ends = [end for span in spans for end in span if end is not None]
    for end in ends:
        check_names(end, known)
    return Value(name, None, spans, frozenset().union(*(end.names for end in ends)))


def _as_text(raw: object, name: str, section: Section) -> str:
    if isinstance(raw, bool) or not isinstance(raw, (int, str)):
        raise section.wrong(name, "a range such as 1..8, a list of them, or an expression")
    return spelled(raw)


def _read_span(text: str, line: int) -> Span:
    parts = text.split("..")
    if len(parts) > 3:
        raise PlanError(f"{text!r} is no range; expected LOW..HIGH or LOW..HIGH..STEP", line=line)
    return Span(*(parse_expression(part, line) for part in parts))
