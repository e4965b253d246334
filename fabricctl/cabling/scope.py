"""``--only``: what is judged when racks arrive one by one or one node was replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabricctl.cabling.directory import plan_index
from fabricctl.cabling.model import Finding
from fabricctl.discovery.names import name_key
from fabricctl.errors import UsageError
from fabricctl.fabric import Link, Node, Place
from fabricctl.hostset import expand, fold, split_names
from fabricctl.near import near_name
from fabricctl.plan.model import Plan

_WORD = re.compile(r"(rack|rail|su|unit)[:=](.+)\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Scope:
    """What is judged. :param nodes: keys of the chosen plan nodes; :param names: their names and hosts."""

    nodes: frozenset[str]
    names: frozenset[str]

    def holds(self, link: Link) -> bool:
        """Whether a planned link is judged: one of its devices is chosen."""
        return link.a.node in self.nodes or link.b.node in self.nodes

    def names_any(self, devices: Iterable[str]) -> bool:
        """Whether one of these device names is chosen."""
        return not self.names.isdisjoint(map(name_key, devices))


def about(scope: Scope | None, findings: Iterable[Finding]) -> list[Finding]:
    """Findings that concern a chosen device, or no device at all; all of them without ``--only``."""
    return [f for f in findings if scope is None or not f.devices or scope.names_any(f.devices)]


def make_scope(text: str, plan: Plan, place_of: Mapping[str, Place]) -> Scope:
    """Turn ``gpu[001-032]``, ``ibl-p01-r1``, ``rack:B07``, ``rail:3`` or ``su:2`` into a scope.

    Several words joined by blanks or commas add up. A link is in scope when one of its devices is.

    :raises UsageError: the plan has no such host, switch, rack, rail or scalable unit.
    """
    chosen: set[str] = set()
    for word in _words(text):
        match = _WORD.match(word)
        found = _by_property(match[1].lower(), match[2], plan, place_of) if match else _by_name(word, plan)
        chosen |= found
    nodes = [plan.fabric.nodes[key] for key in chosen]
    names = {name_key(name) for node in nodes for name in (node.name, node.host or node.name, node.key)}
    return Scope(frozenset(chosen), frozenset(names))


def _words(text: str) -> list[str]:
    words = [word for part in split_names(text) for word in part.split()]
    if not words:
        raise UsageError("--only is empty; expected hosts, switches, rack:NAME, rail:N or su:N")
    return words


def _by_name(word: str, plan: Plan) -> set[str]:
    index = plan_index(plan.fabric.nodes.values())
    found: set[str] = set()
    for name in expand(word):
        keys = index.get(name)
        if not keys:
            near = near_name(name_key(name), index.names())
            hint = f"nearest name: {near}" if near else ""
            raise UsageError(f"--only {word}: the plan has no host or switch {name!r}", hint=hint)
        found.update(keys)
    return found


def _by_property(word: str, value: str, plan: Plan, place_of: Mapping[str, Place]) -> set[str]:
    def rack(node: Node) -> str:
        place = node.stands(place_of.get)
        return place.rack if place else ""

    def rail(node: Node) -> str:
        return str(node.rail) if node.rail is not None else node.hca or ""

    def unit(node: Node) -> str:
        return "" if node.unit is None else str(node.unit)

    of = {"rack": rack, "rail": rail}.get(word, unit)
    wanted = {part.lower(): part for part in expand(value)}
    values: dict[str, set[str]] = {}
    shown: dict[str, None] = {}
    for key, node in plan.fabric.nodes.items():
        if text := of(node):
            values.setdefault(text.lower(), set()).add(key)
            shown[text] = None
    missing = [part for low, part in wanted.items() if low not in values]
    if missing:
        known = fold(shown) or "none: neither plan nor site tells"
        known = known if len(known) <= 100 else known[:96] + " ..."
        raise UsageError(f"--only {word}:{value}: the plan has no {word} {missing[0]!r}; it has {known}")
    return set().union(*(values[part] for part in wanted))
