"""Identities of many nodes at once: who may have what, when a whole fleet says who it is.

One identity has one holder. When a harvested node shows what another is recorded with, the card moved if that other one
was harvested too and no longer shows it; otherwise nobody can tell, and it stays where it is recorded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.hostset import natural_key
from fabricctl.nodes.model import DERIVED, Fact, IdentityKind, NodeRecord

Value = tuple[IdentityKind, str]


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has an identity by the record."""

    node: str
    part: str
    source: str


class ClashKind(StrEnum):
    """What two nodes with one identity mean."""

    DUPLICATE = "duplicate"
    """Two nodes, or two parts of one, show it now."""
    MOVED = "moved"
    """Its former holder was looked at and no longer shows it."""
    ELSEWHERE = "elsewhere"
    """Its holder was not looked at in this run."""


@dataclass(frozen=True, slots=True)
class Clash:
    """One identity that more than one node has.

    :param shown: node and part of everyone that shows it now; :param holder: by the record, None when there is none.
    """

    kind: ClashKind
    fact: Fact
    shown: tuple[tuple[str, str], ...]
    holder: Holder | None


@dataclass(frozen=True, slots=True)
class IdentityTelling:
    """What is told of one node.

    :param retired: identities that no longer hold; :param takes: value -> the node it is taken from.
    :param only_new: nothing may take the place of what the node has.
    """

    node: str
    facts: tuple[Fact, ...]
    retired: tuple[Fact, ...] = ()
    takes: Mapping[Value, str] = field(default_factory=dict)
    only_new: bool = False


def holders(records: Iterable[NodeRecord]) -> dict[Value, Holder]:
    """Every identity that holds, with who has it."""
    return {
        (i.fact.kind, i.fact.value): Holder(record.name, i.fact.part, i.fact.source)
        for record in records
        for i in record.current()
    }


def plan_identities(
    told: Mapping[str, Sequence[Fact]],
    held: Mapping[Value, Holder],
    complete: Collection[str],
    retired: Mapping[str, Sequence[Fact]] | None = None,
) -> tuple[list[IdentityTelling], list[Clash]]:
    """Who gets what, and what is odd about it.

    :param told: node -> identities it shows; :param complete: nodes whose every identity was read in this run.
    :param retired: node -> identities known not to hold any more.
    """
    shown: dict[Value, list[tuple[str, Fact]]] = defaultdict(list)
    for node, facts in told.items():
        for fact in dict.fromkeys(facts):
            shown[fact.kind, fact.value].append((node, fact))
    clashes: list[Clash] = []
    refused: set[tuple[str, Fact]] = set()
    takes: dict[str, dict[Value, str]] = defaultdict(dict)
    for value, claims in shown.items():
        holder = held.get(value)
        if len(claims) > 1:
            places = sorted(((node, fact.part) for node, fact in claims), key=_place)
            clashes.append(Clash(ClashKind.DUPLICATE, claims[0][1], tuple(places), holder))
            refused |= {claim for claim in claims if not _holds(holder, *claim)}
            continue
        node, fact = claims[0]
        if holder is None or holder.node == node:
            continue
        moved = holder.node in complete and (fact.source != DERIVED or holder.source == DERIVED)
        kind = ClashKind.MOVED if moved else ClashKind.ELSEWHERE
        clashes.append(Clash(kind, fact, ((node, fact.part),), holder))
        if moved:
            takes[node][value] = holder.node
        else:
            refused.add((node, fact))
    tellings = [
        IdentityTelling(
            node,
            tuple(fact for fact in dict.fromkeys(facts) if (node, fact) not in refused),
            tuple((retired or {}).get(node, ())),
            takes.get(node, {}),
        )
        for node, facts in told.items()
    ]
    return tellings, sorted(clashes, key=lambda clash: (clash.fact.kind, clash.fact.value))


def _holds(holder: Holder | None, node: str, fact: Fact) -> bool:
    return holder is not None and (holder.node, holder.part) == (node, fact.part)


def _place(place: tuple[str, str]) -> tuple[object, object]:
    return natural_key(place[0]), natural_key(place[1])
