"""What ``fabricctl plan show`` shows of a plan: counts, ratios, islands and cable lengths. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fabricctl.fabric import Fabric, NodeKind
from fabricctl.plan.checks import infer_tiers, islands, leaf_loads
from fabricctl.plan.model import Plan, PlanFormat

TIER_NAMES = {0: "HCA", 1: "leaf", 2: "spine", 3: "core"}


def tier_name(tier: int | None) -> str:
    """``leaf``, ``tier 4``, ``tier unknown``."""
    return "tier unknown" if tier is None else TIER_NAMES.get(tier, f"tier {tier}")


@dataclass(frozen=True, slots=True)
class TierCount:
    """Nodes of one tier. :param ports: all their ports, 0 when some node's count is unknown; :param used: cabled."""

    tier: int | None
    nodes: int
    ports: int
    used: int


@dataclass(frozen=True, slots=True)
class TierLinks:
    """Cables between two tiers, lower first; None is unknown."""

    low: int | None
    high: int | None
    links: int


@dataclass(frozen=True, slots=True)
class LoadGroup:
    """Leaves with the same load. :param ratio: down over up, None without uplinks; :param leaves: names."""

    down: int
    up: int
    ratio: float | None
    leaves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Island:
    """One connected part of the plan. :param rails: of its leaves and HCAs, where declared."""

    switches: int
    hcas: int
    rails: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """Everything at a glance.

    :param tiers: HCAs first, unknown last; :param loads: worst ratio first.
    :param rails: rail -> HCAs; :param units: scalable unit -> hosts; both empty when nothing is declared.
    :param lengths_m: length -> cables, in metres, shortest first; :param unmeasured: cables without a length.
    :param same_rack, other_rack: cables within and between racks, of those whose two racks are known.
    :param rates: rate as text ("" not stated) -> cables; :param classes: link class -> cables.
    :param reserved: holder -> ports kept free.
    """

    format: PlanFormat
    path: str
    links: int
    hosts: int
    tiers: tuple[TierCount, ...]
    tier_links: tuple[TierLinks, ...]
    loads: tuple[LoadGroup, ...]
    rails: Mapping[int, int]
    units: Mapping[int, int]
    islands: tuple[Island, ...]
    lengths_m: Mapping[float, int]
    unmeasured: int
    same_rack: int
    other_rack: int
    rates: Mapping[str, int]
    classes: Mapping[str, int]
    reserved: Mapping[str, int]
    notes: tuple[str, ...]


def summarise(plan: Plan) -> PlanSummary:
    """Count a plan."""
    fabric = plan.fabric
    tiers = infer_tiers(fabric)
    lengths: Counter[float] = Counter()
    rates: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    racks: Counter[bool] = Counter()
    links = 0
    for link in fabric.each_link():
        links += 1
        rates[str(link.rate) if link.rate else ""] += 1
        if link.detail is not None:
            if link.detail.length_m is not None:
                lengths[link.detail.length_m] += 1
            if link.detail.link_class:
                classes[link.detail.link_class] += 1
        a, b = fabric.nodes[link.a.node].place, fabric.nodes[link.b.node].place
        if a and b and a.rack and b.rack:
            racks[a.rack == b.rack] += 1
    hosts, rails, units = _hosts(fabric)
    return PlanSummary(
        format=plan.format,
        path=plan.path,
        links=links,
        hosts=hosts,
        tiers=_tiers(fabric, tiers),
        tier_links=_tier_links(fabric, tiers),
        loads=_loads(plan, tiers),
        rails=rails,
        units=units,
        islands=tuple(_island(fabric, part) for part in islands(fabric)),
        lengths_m=dict(sorted(lengths.items())),
        unmeasured=links - lengths.total(),
        same_rack=racks[True],
        other_rack=racks[False],
        rates=dict(rates.most_common()),
        classes=dict(classes.most_common()),
        reserved=dict(Counter(plan.reserved.values())),
        notes=tuple(plan.notes),
    )


def _hosts(fabric: Fabric) -> tuple[int, dict[int, int], dict[int, int]]:
    """Hosts, HCAs per rail and hosts per scalable unit."""
    names: set[str] = set()
    rails: Counter[int] = Counter()
    units: dict[int, set[str]] = defaultdict(set)
    for node in fabric.hcas():
        host = node.host or node.key
        names.add(host)
        if node.rail is not None:
            rails[node.rail] += 1
        if node.unit is not None:
            units[node.unit].add(host)
    return len(names), dict(sorted(rails.items())), {unit: len(units[unit]) for unit in sorted(units)}


def _order(tier: int | None) -> int:
    return 1_000 if tier is None else tier


def _tiers(fabric: Fabric, tiers: Mapping[str, int]) -> tuple[TierCount, ...]:
    used = Counter(tiers.get(port.node) for port in fabric.links)
    ports: dict[int | None, list[int]] = defaultdict(list)
    for key, node in fabric.nodes.items():
        ports[tiers.get(key)].append(node.ports)
    return tuple(
        TierCount(tier, len(ports[tier]), sum(ports[tier]) if all(ports[tier]) else 0, used[tier])
        for tier in sorted(ports, key=_order)
    )


def _tier_links(fabric: Fabric, tiers: Mapping[str, int]) -> tuple[TierLinks, ...]:
    counts: Counter[tuple[int | None, int | None]] = Counter()
    for link in fabric.each_link():
        low, high = sorted((tiers.get(link.a.node), tiers.get(link.b.node)), key=_order)
        counts[low, high] += 1
    pairs = sorted(counts, key=lambda pair: (_order(pair[0]), _order(pair[1])))
    return tuple(TierLinks(low, high, counts[low, high]) for low, high in pairs)


def _loads(plan: Plan, tiers: Mapping[str, int]) -> tuple[LoadGroup, ...]:
    groups: dict[tuple[int, int, float | None], list[str]] = defaultdict(list)
    for key, load in leaf_loads(plan, tiers).items():
        groups[load.down, load.up, load.ratio].append(plan.fabric.nodes[key].name)
    found = [LoadGroup(down, up, ratio, tuple(names)) for (down, up, ratio), names in groups.items()]
    return tuple(sorted(found, key=lambda group: -(float("inf") if group.ratio is None else group.ratio)))


def _island(fabric: Fabric, part: frozenset[str]) -> Island:
    nodes = [fabric.nodes[key] for key in part]
    hcas = sum(node.kind is NodeKind.HCA for node in nodes)
    rails = sorted({node.rail for node in nodes if node.rail is not None})
    return Island(len(nodes) - hcas, hcas, tuple(rails))
