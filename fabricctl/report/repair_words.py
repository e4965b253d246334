"""The fewest moves in a sentence. Pure."""

from __future__ import annotations

from collections import Counter

from fabricctl.repair.model import RepairPlan
from fabricctl.words import many


def repair_summary(repair: RepairPlan) -> str:
    """``40 plugs to move in 20 groups, 2 cables to lay; parts to look at: 3 cables``; empty when nothing is to do."""
    work = [
        f"{many(number, word)} to {verb}"
        for number, word, verb in (
            (repair.plugs_moved, "plug", "move"),
            (repair.pulled, "cable", "take out"),
            (repair.added, "cable", "lay"),
        )
        if number
    ]
    said = ", ".join(work)
    if repair.plugs_moved > 1:
        said += f", in {many(repair.components, 'independent group')}"
    kinds = Counter(part.kind.value for part in repair.parts)
    parts = ", ".join(many(number, word) for word, number in kinds.items())
    if parts:
        parts = f"parts to look at: {parts.replace('switchs', 'switches').replace('hca', 'HCA')}"
    if repair.mismatches:
        parts += f"{'; ' if parts else ''}{many(len(repair.mismatches), 'place')} to look at first"
    text = "; ".join(part for part in (said, parts, *repair.unplanned) if part)
    return f"{text}; cables taken as straight fibre" if repair.assumed and repair.plugs_moved else text
