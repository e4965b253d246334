"""What a newly told identity does to those a node has. Nothing is ever forgotten: what no longer holds gets an end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fabricctl.nodes.model import DERIVED, SINGLE, Fact, Identity


@dataclass(frozen=True, slots=True)
class Merge:
    """What to store.

    :param added: facts that were not there; :param ended: identities that no longer hold, with their end.
    :param confirmed: identities that were told again, with the new time.
    """

    added: tuple[Identity, ...] = ()
    ended: tuple[Identity, ...] = ()
    confirmed: tuple[Identity, ...] = ()


def merge_facts(held: Sequence[Identity], facts: Iterable[Fact], now: datetime) -> Merge:
    """Lay facts over the identities that hold.

    A service tag or serial, and any fact of a named part, takes the place of the other value of that kind and part; of
    two that are told at once the later counts. A MAC or GUID without a part is one more. A fact that is known is
    confirmed; when its part was unknown before and is told now, it is replaced by the better one.

    What was only derived is replaced by the same fact from any other source, and never takes the place of one that was
    read: it proves nothing.
    """
    current = [identity for identity in held if identity.until is None]
    added: list[Identity] = []
    ended: list[Identity] = []
    confirmed: list[Identity] = []
    for told in dict.fromkeys(facts):
        fact = told
        here = _same_value(current, fact)
        if fact.source == DERIVED and _is_known_better(current, fact, here):
            continue
        if here is not None and (here.fact.part == fact.part or not fact.part):
            if here.fact.source != DERIVED or fact.source == DERIVED:
                confirmed += [here] if here not in added else []
                continue
            fact = replace(fact, part=here.fact.part)
        single = fact.kind in SINGLE or bool(fact.part)
        for old in list(current):
            slot = old.fact.kind is fact.kind and old.fact.part == fact.part
            if old is here or (single and slot):
                current.remove(old)
                if old in added:
                    added.remove(old)
                else:
                    ended.append(replace(old, until=now))
        made = Identity(fact, now, now)
        current.append(made)
        added.append(made)
    told_again = tuple(replace(old, confirmed=now) for old in dict.fromkeys(confirmed) if old in current)
    return Merge(tuple(added), tuple(ended), told_again)


def _is_known_better(current: Iterable[Identity], fact: Fact, here: Identity | None) -> bool:
    """Whether a value was read, not derived, of what a derived fact tells of: this value, or this part."""
    if here is not None:
        return here.fact.source != DERIVED
    return bool(fact.part) and any(
        i.fact.kind is fact.kind and i.fact.part == fact.part and i.fact.source != DERIVED for i in current
    )


def _same_value(current: Iterable[Identity], fact: Fact) -> Identity | None:
    same = [i for i in current if (i.fact.kind, i.fact.value) == (fact.kind, fact.value)]
    return next((i for i in same if i.fact.part == fact.part), same[0] if same else None)
