"""The cables of a picture: planned ones with their class, and those that lie where nobody planned them.

A fabric above ``WHOLE`` cables sends only what is wrong; healthy cables are then counted per pair of devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from enum import IntEnum
from functools import cached_property
from typing import Any

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.model import Cable, Judged, LinkClass
from fabricctl.cabling.scope import make_scope
from fabricctl.fabric import Link, NodeKind, Port
from fabricctl.picture.devices import Devices
from fabricctl.report.words import CLASSES
from fabricctl.words import printable

WHOLE = 60_000
"""Up to this many planned cables every cable is sent by itself."""
OK = 0
NOT_ASKED = len(CLASSES)
"""Class of planned cables outside ``--only``; the others are numbered as ``CLASSES`` stand."""
_NUMBER = {cls: number for number, cls in enumerate(CLASSES)}


class Stray(IntEnum):
    """Why a cable that is there is none of the planned ones."""

    CONTRADICTS = 0
    """A planned cable wants one of its ports."""
    UNEXPECTED = 1
    OUTSIDE = 2
    """One of its devices is not planned."""
    LOOP = 3
    NOT_ASKED = 4
    """Outside ``--only``, whatever else it is."""
    UNSURE = 5
    """Of a switch of which nobody knows which one it is."""


ASIDE = frozenset({Stray.OUTSIDE, Stray.NOT_ASKED, Stray.UNSURE})
"""Strays that are no fault by themselves."""


class Links:
    """Every cable under a number: planned ones, and strays."""

    def __init__(
        self,
        comparison: Comparison,
        devices: Devices,
        *,
        only: str = "",
        planned: bool = True,
        unsure: Collection[str] = (),
    ) -> None:
        """:param unsure: discovered keys of switches that cannot be told apart."""
        self.comparison, self.devices, self.planned = comparison, devices, planned
        self.unsure = unsure
        self.fabric = comparison.binding.plan.fabric
        self.judged = {judged.link.a: judged for judged in comparison.classified.judged}
        place_of = comparison.ends.knowledge.place_of
        self.scope = make_scope(only, comparison.binding.plan, place_of) if only and planned else None

    @cached_property
    def all(self) -> list[Link]:
        """Planned cables in the order of the plan."""
        return list(self.fabric.each_link())

    @property
    def whole(self) -> bool:
        """Whether healthy cables are sent one by one."""
        return len(self.all) <= WHOLE

    def class_of(self, link: Link) -> int:
        """Number of its class."""
        judged = self.judged.get(link.a)
        if judged is not None:
            return _NUMBER[judged.cls]
        return OK if self.scope is None or self.scope.holds(link) else NOT_ASKED

    @cached_property
    def sent(self) -> list[Link]:
        """Planned cables that get a number."""
        return self.all if self.whole else [link for link in self.all if link.a in self.judged]

    @cached_property
    def at(self) -> dict[Port, int]:
        """Planned port -> number of its cable."""
        found: dict[Port, int] = {}
        for number, link in enumerate(self.sent):
            found[link.a] = found[link.b] = number
        return found

    @cached_property
    def strays(self) -> list[tuple[Port, Port, Stray]]:
        """Cables that are there and are no planned ones, both ends in the plan's keys."""
        if not self.planned:
            return []
        comparison = self.comparison
        planned_at, plan_of = comparison.classified.planned_at, comparison.binding.plan_of
        found: list[tuple[Port, Port, Stray]] = []
        for link in comparison.seen.each_link():
            want = planned_at.get(link.a)
            far = planned_at.get(link.b)
            if want is not None and want is far and (link.a != link.b or want.a == want.b):
                continue
            if want is not None or far is not None:
                kind = Stray.CONTRADICTS
            elif link.a.node == link.b.node:
                kind = Stray.LOOP
            elif link.a.node in plan_of and link.b.node in plan_of:
                kind = Stray.UNEXPECTED
            else:
                kind = Stray.OUTSIDE
            a, b = comparison.in_plan(link.a), comparison.in_plan(link.b)
            if not self._asked(a, b, want, far):
                kind = Stray.NOT_ASKED
            elif link.a.node in self.unsure or link.b.node in self.unsure:
                kind = Stray.UNSURE
            found.append((a, b, kind))
        return found

    def _asked(self, a: Port, b: Port, *planned: Link | None) -> bool:
        """Whether a cable that is there concerns a chosen device, or a port that a judged cable wants."""
        scope = self.scope
        if scope is None or a.node in scope.nodes or b.node in scope.nodes:
            return True
        return any(link is not None and scope.holds(link) for link in planned)

    @cached_property
    def stray_at(self) -> dict[Port, int]:
        """Port -> number of the stray cable in it."""
        found: dict[Port, int] = {}
        for number, (a, b, _) in enumerate(self.strays):
            found[a] = found[b] = number
        return found

    # -- findings' cables -----------------------------------------------------------------------------------

    def of_cables(self, cables: tuple[Cable, ...]) -> tuple[list[int], list[int]]:
        """Numbers of the planned cables and of the strays that a finding's cables are."""
        planned: dict[int, None] = {}
        strays: dict[int, None] = {}
        for cable in cables:
            for far, numbers, found in (
                (cable.expected, self.at, planned),
                (cable.found, self.stray_at, strays),
            ):
                for end in (cable.a, far) if far is not None else ():
                    number = numbers.get(end.at) if end.at is not None else None
                    if number is not None:
                        found[number] = None
        return list(planned), list(strays)

    # -- as JSON --------------------------------------------------------------------------------------------

    def json(self) -> dict[str, Any]:
        """Columns of planned cables; what is known of the wrong ones; strays; pairs when healthy ones are left out."""
        number, own = self.devices.numbers, self.devices.own_number
        sent = self.sent
        wrong = [
            (i, judged) for i, link in enumerate(sent) if (judged := self.judged.get(link.a)) is not None
        ]
        data: dict[str, Any] = {
            "total": len(self.all),
            "whole": self.whole,
            "a": [number[link.a.node] for link in sent],
            "ap": [own(link.a) for link in sent],
            "b": [number[link.b.node] for link in sent],
            "bp": [own(link.b) for link in sent],
            "c": "".join(str(self.class_of(link)) for link in sent),
            "line": [link.line for link in sent] if any(link.line for link in sent) else [],
            "wrong": [self._wrong(i, judged) for i, judged in wrong],
            "stray": [[*self.devices.end(a), *self.devices.end(b), int(kind)] for a, b, kind in self.strays],
        }
        for name in ("cable", "serial"):
            texts = {
                i: printable(text)
                for i, link in enumerate(sent)
                if link.detail and (text := getattr(link.detail, name))
            }
            if texts:
                data[name] = texts
        if not self.whole:
            data["pairs"] = self._pairs()
        return data

    def _wrong(self, number: int, judged: Judged) -> dict[str, Any]:
        """What is known of a cable that is not ok; keys without a value are left out."""
        in_plan, end = self.comparison.in_plan, self.devices.end
        nodes = self.devices.numbers
        entry: dict[str, Any] = {"i": number}
        for key, port in (("fa", judged.found_a), ("fb", judged.found_b)):
            if port is not None:
                entry[key] = end(in_plan(port))
        for key, state in (("sa", judged.state_a), ("sb", judged.state_b)):
            if state is not None:
                entry[key] = state.value
        if judged.partner is not None and judged.partner.a in self.at:
            entry["partner"] = self.at[judged.partner.a]
        if judged.absent is not None and judged.absent in nodes:
            entry["absent"] = nodes[judged.absent]
        texts = {
            "rate": judged.rate,
            "want": judged.expected_rate,
            "reason": judged.reason,
            "excused": judged.excused,
        }
        entry.update((key, printable(str(value))) for key, value in texts.items() if value)
        return entry

    def _pairs(self) -> dict[str, list[int]]:
        """Healthy cables between two cells (switches or hosts), counted; ``o``: those of ``n`` that are not asked."""
        devices = self.devices
        cells, nodes = devices.cell_numbers, devices.nodes
        cell = {
            key: cells[devices.cell_of(key)] if node.kind is NodeKind.HCA else cells[key]
            for key, node in nodes.items()
        }
        counted: Counter[tuple[int, int]] = Counter()
        outside: Counter[tuple[int, int]] = Counter()
        for link in self.all:
            if link.a not in self.judged:
                pair = cell[link.a.node], cell[link.b.node]
                counted[pair] += 1
                if self.scope is not None and not self.scope.holds(link):
                    outside[pair] += 1
        return {
            "a": [a for a, _ in counted],
            "b": [b for _, b in counted],
            "n": list(counted.values()),
            "o": [outside[pair] for pair in counted] if outside else [],
        }


def class_words() -> list[str]:
    """Words of the classes in the order of their numbers."""
    return [*(cls.value.replace("_", " ") for cls in CLASSES), "not asked"]


def bad_numbers() -> list[int]:
    """Numbers of the classes that count against the gate."""
    good = (LinkClass.OK, LinkClass.NOT_JUDGED)
    return [number for cls, number in _NUMBER.items() if cls not in good]
