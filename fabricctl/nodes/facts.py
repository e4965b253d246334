"""Facts of a node's parts, field by field, with their sources. Nothing is ever forgotten: what changed gets an end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

Value = str | int | float | bool | dict[str, "Value"] | list["Value"]
"""What JSON holds, null excepted: a value that is not known is not told."""
Key = tuple[str, str]
"""Part and field."""


@dataclass(frozen=True, slots=True)
class NodeFact:
    """One field of one part, as somebody states it.

    :param part: ``NIC.Slot.5-1``, empty for the node itself; :param field: ``nic.link``.
    :param source: who says so and where: ``redfish /redfish/v1/Systems/1``.
    """

    part: str
    field: str
    value: Value
    source: str

    @property
    def key(self) -> Key:
        """What it tells of."""
        return (self.part, self.field)


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact with its time. :param number: of the store; :param until: None while it holds."""

    number: int
    fact: NodeFact
    since: datetime
    confirmed: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class FactChange:
    """A field that has another value than before. :param before: and ``after``: None when there was or is none."""

    node: str
    part: str
    field: str
    before: Value | None
    after: Value | None


class HeldFact(NamedTuple):
    """A fact that holds. :param number: of the store; :param text: its value as JSON."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FactTelling:
    """What is told of one node.

    :param whole: families (``nic``) of which everything is told: what is not told of them is not there any more.
    :param gone: part and field of what does not hold any more, and nothing takes its place.
    """

    node: str
    facts: Sequence[NodeFact]
    whole: frozenset[str] = frozenset()
    gone: frozenset[Key] = frozenset()

    @property
    def families(self) -> frozenset[str]:
        """Families it touches."""
        return self.whole | {
            family_of(field) for _, field in (*(fact.key for fact in self.facts), *self.gone)
        }


@dataclass(frozen=True, slots=True)
class FactMerge:
    """What to store of one node: facts that are new, keys that end, numbers of those that were told again.

    :param held: what held before, of the families that were told.
    """

    added: tuple[NodeFact, ...]
    ended: tuple[Key, ...]
    confirmed: tuple[int, ...]
    held: Mapping[Key, HeldFact]

    def changes(self, node: str) -> list[FactChange]:
        """The same as changes, a value that took another's place as one."""
        old = {key: json.loads(self.held[key].text) for key in self.ended}
        made = [
            FactChange(node, new.part, new.field, old.pop(new.key, None), new.value) for new in self.added
        ]
        return made + [FactChange(node, *key, value, None) for key, value in old.items()]


def family_of(field: str) -> str:
    """``nic`` of ``nic.link``."""
    return field.partition(".")[0]


def as_text(value: Value) -> str:
    """A value as the store keeps it: JSON in plain ASCII, so that equal texts are equal values of one kind."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(separators=(",", ":"))
"""Made once: ``json.dumps`` would make one for each value."""


def merge_node_facts(
    held: Mapping[Key, HeldFact],
    told: Iterable[NodeFact],
    whole: frozenset[str] = frozenset(),
    gone: frozenset[Key] = frozenset(),
) -> FactMerge:
    """Lay facts over those that hold: the same value confirms, another one takes the place, others stay as they are.

    Of two facts of one key the later counts. A value told by another source than before is confirmed all the same.

    :param whole: families of which what is not told is gone; :param gone: what else is gone.
    """
    new = {fact.key: fact for fact in told}
    added: list[NodeFact] = []
    ended: list[Key] = []
    confirmed: list[int] = []
    for key, fact in new.items():
        old = held.get(key)
        if old is not None and old.text == as_text(fact.value):
            confirmed.append(old.number)
            continue
        added.append(fact)
        ended += [] if old is None else [key]
    ended += [key for key in held if key not in new and (key in gone or family_of(key[1]) in whole)]
    return FactMerge(tuple(added), tuple(ended), tuple(confirmed), held)


def by_part(facts: Iterable[StoredFact]) -> Mapping[str, Value]:
    """Part -> value, of facts of one field that hold."""
    return {stored.fact.part: stored.fact.value for stored in facts if stored.until is None}
