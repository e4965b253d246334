"""Generated fabrics as a newcomer sees them: GUIDs in no order, most hosts without a name, faults of whole tiers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.identity.model import Identification
from fabricctl.plan.model import Plan
from fabricctl.plan.table import parse_csv
from fabricctl.rates import Rate
from tests.sim.cabling_csv import cabling_csv
from tests.sim.netgen import SHAPES, End, Net, build

RATE = Rate(4, "HDR")
FACTORY = "Quantum Mellanox Technologies"


class Seen(NamedTuple):
    """An observation, and what each GUID really is."""

    observation: Observation
    truth: dict[str, str]

    def guid(self, name: str) -> str:
        return next(key for key, own in self.truth.items() if own == name)

    def right(self, found: Identification) -> int:
        """How many of the certain names are true."""
        return sum(self.truth[key] == name for key, name in found.names.items())


@lru_cache
def plan_of(shape: str) -> Plan:
    """The plan of a shape, from its cabling list; nothing may change it."""
    return parse_csv(cabling_csv(build(SHAPES[shape])), f"{shape}.csv")


def net_of(shape: str, *faults: Callable[[Net], None]) -> Net:
    net = build(SHAPES[shape])
    for fault in faults:
        fault(net)
    return net


def observe(
    net: Net, seed: int = 1, *, known: float = 1.0, described: bool = False, wrong: float = 0.0
) -> Seen:
    """What a discovery shows.

    :param known: share of hosts whose HCAs have their name; the others are all "localhost".
    :param described: switches have their name in the description, else the factory's text.
    :param wrong: share of hosts that carry another host's name.
    """
    dice = random.Random(seed)
    boxes = net.boxes
    order = [
        node for node in boxes if any(End(node, p) in net.cables for p in range(1, boxes[node].ports + 1))
    ]
    dice.shuffle(order)
    guids = dict(zip(order, (f"0x{n:016x}" for n in dice.sample(range(1 << 60), len(order))), strict=True))
    hosts = sorted({boxes[node].name.split()[0] for node in order if not boxes[node].is_switch})
    named = set(dice.sample(hosts, max(1, round(known * len(hosts)))))
    renamed = dice.sample(hosts, round(wrong * len(hosts)))
    alias = dict(zip(renamed, dice.sample(hosts, len(renamed)), strict=True))
    fabric = Fabric(origin="test")
    for node in order:
        box, key = boxes[node], guids[node]
        if box.is_switch:
            name = box.name if described else key
            text = box.description if described else FACTORY
            fabric.nodes[key] = Node(key, NodeKind.SWITCH, name, key, text, box.ports)
        else:
            host, hca = box.name.split()
            said = f"{alias.get(host, host)} {hca}" if host in named else "localhost"
            fabric.nodes[key] = Node(
                key,
                NodeKind.HCA,
                said,
                key,
                said,
                1,
                host=said.split()[0],
                hca=said.partition(" ")[2] or None,
            )
    cables = [(a, b) for a, b in net.each()]
    dice.shuffle(cables)
    for a, b in cables:
        ends = [Port(guids[a.node], a.port), Port(guids[b.node], b.port)]
        dice.shuffle(ends)
        assert fabric.connect(Link(*ends, RATE)) is None
    source = Source("test", DiscoveryFormat.IBNETDISCOVER, len(fabric.nodes), len(cables))
    return Seen(Observation(fabric, [source]), {guids[node]: boxes[node].name for node in order})


# -- faults ---------------------------------------------------------------------------------------------------


def scrambled(share: float, seed: int = 1) -> Callable[[Net], None]:
    """Of each tier's cables this share has its upper ends dealt out anew."""

    def fault(net: Net) -> None:
        dice = random.Random(seed)
        for low in (0, 1, 2):
            cables = sorted(c for c in net.each() if net.boxes[c[0].node].tier == low)
            hit = dice.sample(cables, int(share * len(cables)))
            far = [b for _, b in hit]
            dice.shuffle(far)
            _replug(net, zip((a for a, _ in hit), far, strict=True))

    return fault


def hosts_exchanged(*leaves: str) -> Callable[[Net], None]:
    """The host cables of the first leaf are in the second, and so on; those of the last in the first."""

    def fault(net: Net) -> None:
        nodes = [_node(net, leaf) for leaf in leaves]
        half = net.boxes[nodes[0]].ports // 2
        moves = []
        for here, there in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
            moves += [
                (End(there, port), net.cables[End(here, port)])
                for port in range(1, half + 1)
                if End(here, port) in net.cables
            ]
        for leaf in nodes:
            for port in range(1, half + 1):
                if End(leaf, port) in net.cables:
                    net.cut(End(leaf, port))
        for here, far in moves:
            net.connect(here, far)

    return fault


def uplinks(tier: int, turn: Callable[[int, int], int], only: str = "") -> Callable[[Net], None]:
    """Uplink i of every switch of a tier (or of one) is plugged into place ``turn(i, size)`` of the block."""

    def fault(net: Net) -> None:
        for node, box in list(net.boxes.items()):
            if box.tier == tier and (not only or box.name == only):
                half = box.ports // 2
                far = [net.cables[End(node, half + 1 + i)] for i in range(half)]
                _replug(net, [(End(node, half + 1 + turn(i, half)), far[i]) for i in range(half)])

    return fault


def rotated(tier: int, by: int, only: str = "") -> Callable[[Net], None]:
    return uplinks(tier, lambda i, size: (i + by) % size, only)


def hosts_shifted(net: Net) -> None:
    """On every leaf each host cable sits one port further, the last on the first port."""
    for node, box in list(net.boxes.items()):
        if box.tier == 1:
            ports = [p for p in range(1, box.ports // 2 + 1) if End(node, p) in net.cables]
            far = [net.cables[End(node, p)] for p in ports]
            _replug(net, [(End(node, ports[(i + 1) % len(ports)]), far[i]) for i in range(len(ports))])


def dead(*names: str) -> Callable[[Net], None]:
    def fault(net: Net) -> None:
        for name in names:
            node = _node(net, name)
            for port in range(1, net.boxes[node].ports + 1):
                if End(node, port) in net.cables:
                    net.cut(End(node, port))

    return fault


def down(share: float, seed: int = 1) -> Callable[[Net], None]:
    def fault(net: Net) -> None:
        cables = sorted(net.each())
        for a, _ in random.Random(seed).sample(cables, int(share * len(cables))):
            net.cut(a)

    return fault


def _node(net: Net, name: str) -> str:
    return next(node for node, box in net.boxes.items() if box.name == name)


def _replug(net: Net, pairs: Iterable[tuple[End, End]]) -> None:
    wanted = list(pairs)
    for _, far in wanted:
        net.cut(far)
    for here, far in wanted:
        net.connect(here, far)
