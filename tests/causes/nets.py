"""Generated fabrics as comparisons: the plan by name, the discovery by GUID, without text in between."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from fabricctl.cabling.bind import bind
from fabricctl.cabling.classify import classify
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.ends import Ends
from fabricctl.cabling.tiers import Tiers
from fabricctl.causes.explain import explain
from fabricctl.causes.model import Cause, CauseKnowledge, Explanation
from fabricctl.fabric import Fabric, Link, LinkDetail, Node, NodeKind, Port
from fabricctl.hostset import natural_key
from fabricctl.panels import Panel, PanelPort
from fabricctl.plan.checks import infer_tiers
from fabricctl.plan.model import Plan, PlanFormat
from tests.sim.faults import Fault, UnknownFaultError, inject
from tests.sim.netgen import SHAPES, Box, End, Net, Wiring, build
from tests.sim.systematic import DGX_CAGES

Wrong = set[frozenset[str]]
"""Planned cables as pairs of ``device/port``."""


def node_of(box: Box, *, by_guid: bool) -> Node:
    key = f"0x{box.guid:016x}" if by_guid else box.name
    host, _, hca = box.name.partition(" ")
    return Node(
        key,
        NodeKind.SWITCH if box.is_switch else NodeKind.HCA,
        box.name,
        guid=f"0x{box.guid:016x}" if by_guid else None,
        description=box.description,
        ports=box.ports,
        host=None if box.is_switch else host,
        hca=hca or None,
    )


def fabric_of(net: Net, *, by_guid: bool) -> Fabric:
    """As a parser would make it; no discovery reaches what has no cable."""
    fabric = Fabric()
    keys = {}
    cabled = {end.node for end in net.cables}
    for node, box in net.boxes.items():
        if by_guid and node not in cabled:
            continue
        made = node_of(box, by_guid=by_guid)
        fabric.nodes[made.key] = made
        keys[node] = made.key
    for a, b in net.cables.items():
        if a < b:
            fabric.connect(Link(Port(keys[a.node], a.port), Port(keys[b.node], b.port)))
    return fabric


def plan_of(net: Net, splitter: str = "") -> Plan:
    """By name. :param splitter: assembly type of the host cables."""
    fabric = fabric_of(net, by_guid=False)
    if splitter:
        hcas = {key for key, node in fabric.nodes.items() if node.kind is NodeKind.HCA}
        for link in list(fabric.each_link()):
            if link.a.node in hcas or link.b.node in hcas:
                new = link._replace(detail=LinkDetail(assembly=splitter))
                fabric.links[link.a] = fabric.links[link.b] = new
    return Plan(fabric, PlanFormat.CSV)


def declare_uplinks(plan: Plan, net: Net, detail: LinkDetail) -> None:
    """Give every planned link between tiers 1 and 2 that detail."""
    tier = {box.name: box.tier for box in net.boxes.values()}
    for link in list(plan.fabric.each_link()):
        if {tier[link.a.node], tier[link.b.node]} == {1, 2}:
            new = link._replace(detail=detail)
            plan.fabric.links[link.a] = plan.fabric.links[link.b] = new


def node_named(net: Net, name: str) -> str:
    """Node id of a box."""
    return next(node for node, box in net.boxes.items() if box.name == name)


def compare(plan: Plan, seen: Fabric) -> Comparison:
    """What ``verify`` carries, without its findings."""
    binding = bind(plan, seen)
    tiers = Tiers(binding, seen)
    return Comparison(binding, seen, classify(binding, seen, tiers.pair), tiers, Ends(binding, seen))


def dgx_panel() -> Panel:
    """A DGX H100's face, with HCAs named after their GPU as the generator does."""
    ports = [
        PanelPort(f"OSFP{cage}", port, 1, hca=f"mlx5_{gpu}")
        for cage, gpus in enumerate(DGX_CAGES, 1)
        for port, gpu in enumerate(gpus, 1)
    ]
    return Panel("DGX H100", tuple(ports))


def twin_panel(cages: int = 32) -> Panel:
    """A switch with two ports in each cage."""
    return Panel(
        f"twin-{cages}",
        tuple(PanelPort(str((n + 1) // 2), 2 - n % 2, n) for n in range(1, 2 * cages + 1)),
    )


@dataclass(frozen=True)
class Case:
    """A fabric with faults: what was done, and what is said about it."""

    comparison: Comparison
    explanation: Explanation
    faults: list[Fault]

    def of(self, kind: str) -> list[Cause]:
        return [cause for cause in self.explanation.causes if cause.kind.value == kind]

    def explained(self, cause: Cause) -> Wrong:
        """A cause's links as the truth writes them."""
        return {self._pair(port) for port in cause.explains}

    def left(self) -> Wrong:
        return {self._pair(port) for port in self.explanation.left}

    def _pair(self, port: Port) -> frozenset[str]:
        plan = self.comparison.binding.plan.fabric
        link = plan.links[port]
        return frozenset(f"{plan.nodes[end.node].name}/{end.number}" for end in (link.a, link.b))


def truth(faults: Iterable[Fault]) -> Wrong:
    return {frozenset(cable) for fault in faults for cable in fault.planned}


def case(
    shape: str,
    *kinds: str,
    wiring: Wiring | None = None,
    seed: int = 1,
    knowledge: CauseKnowledge | None = None,
    splitter: str = "",
) -> Case:
    """Build it, put the faults in, explain."""
    net, plan = planned(shape, wiring or SHAPES[shape].wiring, splitter)
    return case_of(Net(dict(net.boxes), dict(net.cables)), plan, *kinds, seed=seed, knowledge=knowledge)


@cache
def planned(shape: str, wiring: Wiring, splitter: str = "") -> tuple[Net, Plan]:
    """A healthy fabric and its plan, made once: nobody may change them."""
    net = build(SHAPES[shape], wiring)
    return net, plan_of(net, splitter)


class NoRoomError(Exception):
    """The faults do not fit into the net; nothing that is tested has run yet."""


def case_of(
    net: Net, plan: Plan, *kinds: str, seed: int = 1, knowledge: CauseKnowledge | None = None
) -> Case:
    """Put the faults into a net, explain.

    :raises NoRoomError: a fault finds no untouched device.
    """
    layers = [kind for kind in kinds if "-per-" in kind]  # first: they rewire what is there
    try:
        faults = inject(net, layers, random.Random(seed))
        faults += inject(net, [kind for kind in kinds if kind not in layers], random.Random(seed))
    except UnknownFaultError:
        raise
    except (ValueError, IndexError) as exc:
        raise NoRoomError(*kinds) from exc
    comparison = compare(plan, fabric_of(net, by_guid=True))
    return Case(comparison, explain(comparison, knowledge), faults)


def known(*, panel: bool = True, host_panel: bool = True) -> CauseKnowledge:
    """Switches with twin-port cages, hosts that are DGX H100."""
    twin, dgx = twin_panel(), dgx_panel()
    return CauseKnowledge(
        panel_of=lambda _key: twin if panel else None, host_panel=lambda _host: dgx if host_panel else None
    )


def net_of(fabric: Fabric) -> Net:
    """A capture as a net that faults can be put into: tiers as inferred, unit 1 for the hosts of the first leaf ..."""
    tiers = infer_tiers(fabric)
    net, units = Net(), dict[str, int]()
    order = sorted(fabric.nodes, key=lambda key: natural_key(fabric.nodes[key].name))
    for at, key in enumerate(order, 1):
        node = fabric.nodes[key]
        found = re.search(r"-(?:p|su)(\d+)-", node.name)
        units[key] = int(found[1]) if found else 0
        guid = int(node.guid, 16) if node.guid else at << 8
        net.add(Box(key, guid, node.ports, node.name, tiers[key], units[key]))
    for link in fabric.each_link():
        net.connect(End(*link.a), End(*link.b))
        for own, far in ((link.a.node, link.b.node), (link.b.node, link.a.node)):
            if not tiers[own]:
                net.boxes[own] = replace(net.boxes[own], unit=units[far])
    return net
