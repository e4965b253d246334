"""Islands: is the fabric one network, and which part of it was seen?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fabricctl.cabling.bind import Binding
from fabricctl.cabling.model import Finding, FindingKind, Island
from fabricctl.discovery.model import Observation, Source
from fabricctl.fabric import Node, NodeKind
from fabricctl.hostset import fold, natural_key

RAIL_SHARE = 0.9
"""An island is called a rail's when at least this share of its HCAs belong to one."""


@dataclass(frozen=True)
class Islands:
    """Components of the plan against components seen.

    :param planned: of the intended fabric; :param seen: of the discovered one, both largest first.
    :param unseen_switches: and ``unseen_hcas``: planned but not discovered.
    """

    planned: tuple[Island, ...]
    seen: tuple[Island, ...]
    planned_switches: int = 0
    planned_hcas: int = 0
    unseen_switches: int = 0
    unseen_hcas: int = 0
    unseen_rails: tuple[tuple[str, int], ...] = ()
    unseen_switch_set: str = ""


def find_islands(binding: Binding, observation: Observation) -> Islands:
    """Both sides' components. A component that holds no planned device is another fabric, not an island."""
    plan, seen, sources = binding.plan.fabric, observation.fabric, observation.sources
    nodes = plan.nodes
    unseen = [
        node for key, node in nodes.items() if key not in binding.seen_of and key not in binding.ambiguous
    ]
    unseen_switches = [node for node in unseen if _is_switch(node)]
    unseen_hcas = [node for node in unseen if node.kind is NodeKind.HCA]
    hcas = sum(node.kind is NodeKind.HCA for node in nodes.values())
    return Islands(
        tuple(_island([nodes[key] for key in part]) for part in plan.islands()),
        tuple(
            _seen_island(binding, [seen.nodes[key] for key in part], sources)
            for part in seen.islands(observation.disputed.items())
            if not part.isdisjoint(binding.plan_of)
        ),
        sum(_is_switch(node) for node in nodes.values()),
        hcas,
        len(unseen_switches),
        len(unseen_hcas),
        rail_counts(unseen_hcas),
        fold(node.name for node in unseen_switches) if len(unseen_switches) <= 512 else "",
    )


def _is_switch(node: Node) -> bool:
    """What a plan does not say to be an HCA is a switch for the count."""
    return node.kind not in (NodeKind.HCA, NodeKind.ROUTER)


def _seen_island(binding: Binding, nodes: list[Node], sources: list[Source]) -> Island:
    planned = binding.plan.fabric.nodes
    known = [planned[binding.plan_of[node.key]] for node in nodes if node.key in binding.plan_of]
    bits = 0
    for node in nodes:
        bits |= node.seen_by
    labels = tuple(source.label for index, source in enumerate(sources) if bits >> index & 1)
    return replace(_island(known), sources=labels, strangers=len(nodes) - len(known))


def _island(nodes: list[Node]) -> Island:
    switches = [node for node in nodes if _is_switch(node)]
    hcas = [node for node in nodes if node.kind is NodeKind.HCA]
    names = fold(node.name for node in switches) if len(switches) <= 512 else ""
    return Island(len(switches), len(hcas), rail_counts(hcas), names)


def rail_counts(hcas: Iterable[Node]) -> tuple[tuple[str, int], ...]:
    """How many HCAs are on which rail: declared rails as ``rail 1``, else the HCA's own name."""
    counts = Counter(
        f"rail {node.rail}" if node.rail is not None else node.hca or "unnamed HCAs" for node in hcas
    )
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], natural_key(item[0]))))


def rail_words(rails: tuple[tuple[str, int], ...]) -> str:
    """``rail 1``, ``mlx5_0 only`` or ``8 rails``: what an island's HCAs have in common."""
    total = sum(count for _, count in rails)
    if not total:
        return "no HCA"
    name, count = rails[0]
    if count >= RAIL_SHARE * total:
        return f"{name} only"
    text = fold(name for name, _ in rails)
    return text if len(text) <= 60 else f"{len(rails)} kinds of HCA"


def island_words(island: Island) -> str:
    """``40 switches, 512 HCAs (mlx5_0 only)``, strangers beside them."""
    text = device_words(island.switches, island.hcas, island.rails)
    if island.strangers:
        text += f" and {island.strangers:,} device{'' if island.strangers == 1 else 's'} outside the plan"
    return text


def device_words(switches: int, hcas: int, rails: tuple[tuple[str, int], ...]) -> str:
    """Numbers of switches and HCAs in words."""
    parts = []
    if switches or not hcas:
        parts.append(f"{switches:,} switch{'' if switches == 1 else 'es'}")
    if hcas:
        parts.append(f"{hcas:,} HCA{'' if hcas == 1 else 's'} ({rail_words(rails)})")
    else:
        parts.append("no HCA")
    return ", ".join(parts)


def split_finding(islands: Islands) -> Finding | None:
    """More components seen than planned: the worst thing a fabric with every cable up can have."""
    seen = [island for island in islands.seen if island.switches]
    lone = [island for island in islands.seen if not island.switches]
    planned = [island for island in islands.planned if island.switches]
    if len(seen) <= max(1, len(planned)):
        return None
    shown = "; ".join(map(island_words, seen[:8]))
    more = f" and {len(seen) - 8} more" if len(seen) > 8 else ""
    plural = "one network" if len(planned) <= 1 else f"{len(planned)} networks"
    cut_off = f", and {len(lone)} HCAs see no switch at all" if lone else ""
    return Finding(
        FindingKind.SPLIT_FABRIC,
        f"{len(seen)} islands",
        f"the fabric is in {len(seen)} islands that cannot reach each other{cut_off}",
        expected=plural,
        found=shown + more,
        fix="see the switch-to-switch cables and absent switches below: they are what divides it",
        devices=(),
    )
