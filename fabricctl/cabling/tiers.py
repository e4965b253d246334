"""Tiers of a plan's nodes, for the words "leaf-spine" and "wrong tier"."""

from __future__ import annotations

from functools import cached_property

from fabricctl.cabling.binding import Binding
from fabricctl.fabric import Fabric, Link
from fabricctl.plan.checks import infer_tiers

TIER_WORDS = {0: "host", 1: "leaf", 2: "spine", 3: "core"}


class Tiers:
    """Tier of every planned and discovered node: declared, else inferred from the plan, else from what is seen."""

    def __init__(self, binding: Binding, seen: Fabric) -> None:
        self._binding, self._seen = binding, seen
        plan = binding.plan.fabric
        self.plan = infer_tiers(plan)
        if len(self.plan) < len(plan.nodes):  # a plan of switch-to-switch cables alone tells no tier
            for key, tier in infer_tiers(seen).items():
                planned = binding.plan_of.get(key)
                if planned is not None:
                    self.plan.setdefault(planned, tier)
        self._pairs: dict[tuple[int | None, int | None], str] = {}

    @cached_property
    def seen(self) -> dict[str, int]:
        """Discovered node -> tier; where the plan tells, its word stands."""
        tiers = infer_tiers(self._seen)
        tiers.update((key, self.plan[p]) for p, key in self._binding.seen_of.items() if p in self.plan)
        return tiers

    def pair(self, link: Link) -> str:
        """``host-leaf``, ``leaf-spine``, ``spine-core`` or ``switch-switch`` of a planned link."""
        key = (self.plan.get(link.a.node), self.plan.get(link.b.node))
        word = self._pairs.get(key)
        if word is None:
            word = self._pairs[key] = pair_word(*key)
        return word

    def seen_pair(self, link: Link) -> str:
        """The same for a discovered link."""
        return pair_word(self.seen.get(link.a.node), self.seen.get(link.b.node))


def pair_word(a: int | None, b: int | None) -> str:
    """Name of a pair of tiers, lower tier first; unknown switch tiers are just switches."""
    if a is None or b is None:
        return "host-switch" if 0 in (a, b) else "switch-switch"
    low, high = sorted((a, b))
    return f"{TIER_WORDS.get(low, f'tier{low}')}-{TIER_WORDS.get(high, f'tier{high}')}"
