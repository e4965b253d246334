"""Where a run looked, for findings that rest on more than cables: cards in slots, identities, kinds of cables."""

from __future__ import annotations

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.hca_slots import check_slots
from fabricctl.cabling.verdict import Options
from fabricctl.discovery.names import name_key
from fabricctl.identity.model import Identification


def slots_compared(options: Options, comparison: Comparison) -> frozenset[str]:
    """Hosts (name keys) of the inventory that were compared with their like in every slot."""
    if not options.hca_slots:
        return frozenset()
    check = check_slots(options.hca_slots, comparison.seen, options.names.node_model)
    return frozenset(map(name_key, check.compared))


def certain(found: Identification | None) -> frozenset[str]:
    """Planned switches (name keys) of which it is certain which discovered one they are, and its cables agree."""
    if found is None or found.refusal is not None:
        return frozenset()
    unclear = found.ambiguous | {item.seen for item in found.contradictions}
    backed = {one.seen for one in found.assignments if one.votes_for > 0} - unclear
    return frozenset(name_key(name) for seen, name in found.names.items() if seen in backed)


def cables_told(comparison: Comparison) -> frozenset[str]:
    """Devices (plan keys and discovered keys) of whose cables discovery or plan say what kind they are."""
    found: set[str] = set()
    for fabric in (comparison.seen, comparison.binding.plan.fabric):
        for link in fabric.each_link():
            detail = link.detail
            if detail is not None and (
                detail.part_number
                or detail.assembly
                or detail.cable
                or detail.link_class
                or any(detail.modules)
            ):
                found.update((link.a.node, link.b.node))
    return frozenset(found)
