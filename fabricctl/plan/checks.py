"""What can be said of an intended fabric before anybody looks at the real one. Pure: no I/O, no printing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fabricctl.fabric import Fabric, Node, NodeKind
from fabricctl.hostset import expand, fold
from fabricctl.plan.clash import port_text
from fabricctl.plan.model import Plan
from fabricctl.rates import Rate
from fabricctl.words import many

LEAF_SHARE = 0.25
"""A switch is a leaf when at least this share of its cables goes to HCAs: a spine that carries one UFM server
has 1 of 64, a leaf with four down to one up still has 4 of 5."""


class PlanSeverity(StrEnum):
    """How bad a plan finding is."""

    ERROR = "error"
    """The plan contradicts itself."""
    WARNING = "warning"
    """It can be built, but is rarely meant."""
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """One finding, as a sentence."""

    severity: PlanSeverity
    text: str


@dataclass(frozen=True, slots=True)
class LeafLoad:
    """What a leaf carries.

    :param down, up: cables to HCAs (ports kept free for somebody count) and to higher tiers.
    :param down_gbps, up_gbps: the same in Gb/s, None unless the plan states the rate of every cable.
    """

    down: int
    up: int
    down_gbps: float | None = None
    up_gbps: float | None = None

    @property
    def ratio(self) -> float | None:
        """Oversubscription: down over up, by Gb/s where known; None without uplinks."""
        if self.down_gbps is not None and self.up_gbps:
            return self.down_gbps / self.up_gbps
        return self.down / self.up if self.up else None

    def __str__(self) -> str:
        ratio = "no uplink" if self.ratio is None else f"{self.ratio:.2f}".rstrip("0").rstrip(".") + ":1"
        return f"{self.down} down, {self.up} up, {ratio}"


def infer_tiers(fabric: Fabric) -> dict[str, int]:
    """Tier of every node whose tier is declared or can be told: 0 HCA, 1 leaf, 2 spine, 3 core.

    Declared tiers stand. Otherwise a switch is a leaf when HCAs hold ``LEAF_SHARE`` of its cables; other
    switches lie one tier above the nearest switch below them. A fabric without a leaf (a plan of
    switch-to-switch cables that declares nothing) gets no switch tier; those nodes are absent.
    """
    tiers: dict[str, int] = {}
    open_switches: set[str] = set()
    for key, node in fabric.nodes.items():
        if node.kind is NodeKind.HCA:
            tiers[key] = 0
        elif node.tier is not None:
            tiers[key] = node.tier
        elif node.kind is not NodeKind.ROUTER:
            open_switches.add(key)
    if not open_switches:
        return tiers
    peers: dict[str, set[str]] = defaultdict(set)
    used: dict[str, int] = defaultdict(int)
    to_hcas: dict[str, int] = defaultdict(int)
    for link in fabric.each_link():
        a, b = link.a.node, link.b.node
        used[a] += 1
        used[b] += 1
        if tiers.get(a) == 0:
            to_hcas[b] += 1
        elif tiers.get(b) == 0:
            to_hcas[a] += 1
        else:
            peers[a].add(b)
            peers[b].add(a)
    for key in open_switches:
        if to_hcas[key] >= max(1.0, LEAF_SHARE * used[key]):
            tiers[key] = 1
    _climb(tiers, open_switches, peers)
    return tiers


def _climb(tiers: dict[str, int], open_switches: set[str], peers: Mapping[str, set[str]]) -> None:
    """Breadth first from the leaves: an open switch stands one above the lowest switch that reaches it."""
    level = 1
    while True:
        below = [key for key, tier in tiers.items() if tier == level]
        reached = {
            peer
            for key in below
            for peer in peers.get(key, ())
            if peer in open_switches and peer not in tiers
        }
        tiers.update(dict.fromkeys(reached, level + 1))
        level += 1
        if not reached and not any(tier >= level for tier in tiers.values()):
            return


def islands(fabric: Fabric) -> list[frozenset[str]]:
    """Connected components as sets of node keys, largest first; nodes without any cable are left out."""
    wired = {port.node for port in fabric.links}
    return [frozenset(part) for part in fabric.islands() if not part.isdisjoint(wired)]


def leaf_loads(plan: Plan, tiers: Mapping[str, int] | None = None) -> dict[str, LeafLoad]:
    """Load of every leaf. :param tiers: as ``infer_tiers`` gives them, inferred when None."""
    fabric = plan.fabric
    tiers = infer_tiers(fabric) if tiers is None else tiers
    down: dict[str, list[Rate | None]] = {key: [] for key, tier in tiers.items() if tier == 1}
    up: dict[str, list[Rate | None]] = {key: [] for key in down}
    for link in fabric.each_link():
        for end, other in ((link.a.node, link.b.node), (link.b.node, link.a.node)):
            if end in down and (tier := tiers.get(other)) != 1:
                (down if tier == 0 else up)[end].append(link.rate)
    kept = Counter(port.node for port in plan.reserved if port not in fabric.links)
    return {key: _load(down[key], up[key], kept[key]) for key in down}


def _load(down: list[Rate | None], up: list[Rate | None], kept: int) -> LeafLoad:
    """A port kept free counts as fast as the fastest HCA of its leaf."""
    down_rates, up_rates = [r.gbps for r in down if r], [r.gbps for r in up if r]
    stated = len(down_rates) == len(down) and len(up_rates) == len(up) and down_rates
    if not stated:
        return LeafLoad(len(down) + kept, len(up))
    return LeafLoad(len(down) + kept, len(up), sum(down_rates) + kept * max(down_rates), sum(up_rates))


def check_plan(plan: Plan, tiers: Mapping[str, int] | None = None) -> list[PlanFinding]:
    """Every finding about a plan, errors first. That no port is used twice is the builders' own check."""
    tiers = infer_tiers(plan.fabric) if tiers is None else tiers
    found = [
        *_port_numbers(plan.fabric),
        *_unknown_kinds(plan.fabric),
        *_reserved(plan),
        *_blocking(plan, tiers),
        *_rails(plan),
        *_loopbacks(plan.fabric),
        *_islands(plan.fabric),
        *_idle(plan.fabric),
    ]
    order = list(PlanSeverity)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _port_numbers(fabric: Fabric) -> Iterator[PlanFinding]:
    """A node cannot have more cables than ports: each stands on its own port, and ports are 1 to n."""
    outside: dict[str, list[int]] = defaultdict(list)
    for key, number in fabric.links:
        ports = fabric.nodes[key].ports
        if number < 1 or (ports and number > ports):
            outside[key].append(number)
    for key, numbers in outside.items():
        node = fabric.nodes[key]
        model = f" ({node.model})" if node.model else ""
        listed = ", ".join(map(str, sorted(numbers)[:8])) + (", ..." if len(numbers) > 8 else "")
        yield PlanFinding(
            PlanSeverity.ERROR,
            f"{node.name}{model} has ports 1 to {node.ports or 254}; the plan also uses {listed}.",
        )


def _unknown_kinds(fabric: Fabric) -> Iterator[PlanFinding]:
    """Devices a table names without saying what they are; a discovery settles it."""
    names = [node.name for node in fabric.nodes.values() if node.kind is NodeKind.UNKNOWN]
    if names:
        named = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        what = "device" if len(names) == 1 else "devices"
        text = f"{len(names):,} {what} ({named}) may be switches or hosts: the plan does not say."
        yield PlanFinding(PlanSeverity.NOTE, text)


def _reserved(plan: Plan) -> Iterator[PlanFinding]:
    """A reserved port may carry a cable of its holder: ``ufm[1-2]`` and ``ufm`` hold it for ``ufm1``."""
    for port, holder in plan.reserved.items():
        link = plan.fabric.links.get(port)
        peer = None if link is None else plan.fabric.nodes[link.other(port).node]
        host = "" if peer is None else (peer.host or peer.name).lower()
        if peer is not None and host not in expand(holder.lower()) and not host.startswith(holder.lower()):
            text = f"port {port_text(plan.fabric, port)} is reserved for {holder}"
            yield PlanFinding(PlanSeverity.ERROR, f"{text}, but the plan gives it to {peer.name}.")


def _blocking(plan: Plan, tiers: Mapping[str, int]) -> Iterator[PlanFinding]:
    if not plan.non_blocking:
        return
    worse: dict[LeafLoad, list[str]] = defaultdict(list)
    for key, load in leaf_loads(plan, tiers).items():
        if load.down and (load.ratio is None or load.ratio > 1):
            worse[load].append(plan.fabric.nodes[key].name)
    for load, leaves in worse.items():
        who = f"{many(len(leaves), 'leaf')} {'has' if len(leaves) == 1 else 'have'}"
        text = f"the plan is declared non-blocking, but {who} {load}: {fold(leaves)}."
        yield PlanFinding(PlanSeverity.ERROR, text)


def _rails(plan: Plan) -> Iterator[PlanFinding]:
    """Declared rails of an HCA and of its leaf agree."""
    if not plan.declares_rails:
        return
    nodes = plan.fabric.nodes
    for link in plan.fabric.each_link():
        for port, other in ((link.a, link.b), (link.b, link.a)):
            hca, leaf = nodes[port.node], nodes[other.node]
            rails_known = hca.rail is not None and leaf.rail is not None
            if (
                hca.kind is NodeKind.HCA
                and leaf.kind is NodeKind.SWITCH
                and rails_known
                and hca.rail != leaf.rail
            ):
                yield PlanFinding(
                    PlanSeverity.ERROR,
                    f"{hca.name} is of rail {hca.rail}, but the plan puts it on {port_text(plan.fabric, other)} "
                    f"of rail {leaf.rail}.",
                )


def _loopbacks(fabric: Fabric) -> Iterator[PlanFinding]:
    for link in fabric.each_link():
        if link.a.node == link.b.node:
            yield PlanFinding(
                PlanSeverity.WARNING,
                f"the cable {port_text(fabric, link.a)} to {port_text(fabric, link.b)} joins a device to itself.",
            )


def _islands(fabric: Fabric) -> Iterator[PlanFinding]:
    parts = islands(fabric)
    if len(parts) < 2:
        return
    sizes = Counter(_size(fabric, part) for part in parts)
    listed = ", ".join(
        f"{count} of {size}" if count > 1 else f"one of {size}" for size, count in sizes.items()
    )
    yield PlanFinding(
        PlanSeverity.WARNING,
        f"the intended fabric is {len(parts)} separate networks, no cable joins them: {listed}.",
    )


def _size(fabric: Fabric, part: frozenset[str]) -> str:
    kinds = Counter(fabric.nodes[key].kind is NodeKind.HCA for key in part)
    return f"{many(kinds[False], 'switch')} and {many(kinds[True], 'HCA')}"


def _idle(fabric: Fabric) -> Iterator[PlanFinding]:
    wired = {port.node for port in fabric.links}
    idle: list[Node] = [node for key, node in fabric.nodes.items() if key not in wired]
    if idle:
        names = fold(node.name for node in idle)
        yield PlanFinding(
            PlanSeverity.NOTE,
            f"{many(len(idle), 'device')} {'has' if len(idle) == 1 else 'have'} no cable in the plan: {names}.",
        )
