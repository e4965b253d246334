"""Tiers of a plan's nodes, for the words "leaf-spine" and "wrong tier"."""

from __future__ import annotations

from fabricctl.cabling.bind import Binding
from fabricctl.fabric import Fabric, Link, NodeKind
from fabricctl.plan.checks import infer_tiers

TIER_WORDS = {0: "host", 1: "leaf", 2: "spine", 3: "core"}


class Tiers:
    """Tier of every planned and discovered node: declared, else inferred from the plan, else from what is seen."""

    def __init__(self, binding: Binding, seen: Fabric) -> None:
        plan = binding.plan.fabric
        self.plan: dict[str, int] = {}
        need = False
        for key, node in plan.nodes.items():
            if node.tier is not None:
                self.plan[key] = node.tier
            elif node.kind is NodeKind.HCA:
                self.plan[key] = 0
            else:
                need = True
        if need:
            for key, tier in infer_tiers(plan).items():
                self.plan.setdefault(key, tier)
        self.seen = infer_tiers(seen)
        for key, tier in self.seen.items():
            planned = binding.plan_of.get(key)
            if planned is not None:
                self.plan.setdefault(planned, tier)
        for planned, key in binding.seen_of.items():
            if planned in self.plan:
                self.seen[key] = self.plan[planned]
        self._pairs: dict[tuple[int | None, int | None], str] = {}

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
