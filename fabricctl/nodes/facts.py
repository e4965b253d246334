"""Facts of a node's parts, field by field, with their sources. Nothing is ever forgotten: what changed gets an end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

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


@dataclass(frozen=True, slots=True)
class FactMerge:
    """What to store of one node: facts that are new, those that end, those that were told again."""

    added: tuple[NodeFact, ...] = ()
    ended: tuple[StoredFact, ...] = ()
    confirmed: tuple[StoredFact, ...] = ()

    def changes(self, node: str) -> list[FactChange]:
        """The same as changes, a value that took another's place as one."""
        old = {stored.fact.key: stored.fact.value for stored in self.ended}
        made = [
            FactChange(node, new.part, new.field, old.pop(new.key, None), new.value) for new in self.added
        ]
        return made + [FactChange(node, *key, value, None) for key, value in old.items()]


def merge_node_facts(
    held: Iterable[StoredFact], told: Iterable[NodeFact], gone: Iterable[Key] = ()
) -> FactMerge:
    """Lay facts over those that hold: the same value confirms, another one takes the place, others stay as they are.

    Of two facts of one key the later counts. A value told by another source than before is confirmed all the same.

    :param gone: keys of which it is known that there is nothing any more, unless they are told.
    """
    current = {stored.fact.key: stored for stored in held if stored.until is None}
    new = {fact.key: fact for fact in told}
    added, ended, confirmed = [], [], []
    for key, fact in new.items():
        old = current.get(key)
        if old is not None and _same(old.fact.value, fact.value):
            confirmed.append(old)
            continue
        added.append(fact)
        ended += [] if old is None else [old]
    ended += [current[key] for key in dict.fromkeys(gone) if key in current and key not in new]
    return FactMerge(tuple(added), tuple(ended), tuple(confirmed))


def _same(one: Value, other: Value) -> bool:
    """Equal, and of one kind: true is not 1."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def by_part(facts: Iterable[StoredFact]) -> Mapping[str, Mapping[str, Value]]:
    """Part -> field -> value, of facts that hold."""
    found: dict[str, dict[str, Value]] = {}
    for stored in facts:
        if stored.until is None:
            found.setdefault(stored.fact.part, {})[stored.fact.field] = stored.fact.value
    return found


@dataclass(frozen=True, slots=True)
class FactTelling:
    """What is told of one node. :param gone: keys of which there is nothing any more."""

    node: str
    facts: Sequence[NodeFact]
    gone: Sequence[Key] = ()
