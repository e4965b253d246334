"""Rail checks that need no plan.

In a rail-optimised fabric HCA n of every host is on a leaf that carries only HCAs n, and a host sits on the
same port number of each of its leaves. NVIDIA's ibdiagnet ``--rail_validation`` and operators' own LLDP checks
rest on the same two regularities. Where a capture shows neither, it is not rail-optimised and nothing is said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from fabricctl.fabric import Fabric, Node, Port

ALIGNED_SHARE = 0.8
"""A leaf (or a host) follows the pattern when this share of it does; the pattern holds when so many follow."""
MIN_HCAS = 4


@dataclass(frozen=True)
class Deviation:
    """One HCA out of line. :param port: its leaf port; :param hca: its own port; texts are plain words."""

    hca: Port
    port: Port
    expected: str
    found: str


@dataclass
class RailCheck:
    """What the two checks saw.

    :param aligned_leaves: leaves whose HCAs share one name; :param leaves: leaves with enough HCAs to say.
    :param same_port_hosts: hosts on one port number everywhere; :param hosts: hosts with several leaves.
    """

    leaves: int = 0
    aligned_leaves: int = 0
    hosts: int = 0
    same_port_hosts: int = 0
    misaligned: list[Deviation] = field(default_factory=list)
    other_port: list[Deviation] = field(default_factory=list)


def check_rails(fabric: Fabric) -> RailCheck:
    """Both checks on a discovered fabric."""
    check = RailCheck()
    at_leaf: dict[str, list[tuple[Node, Port, Port]]] = defaultdict(list)
    of_host: dict[str, list[tuple[Node, Port, Port]]] = defaultdict(list)
    named = {node.key: node for node in fabric.hcas() if node.host and node.hca}
    switches = {node.key for node in fabric.switches()}
    for link in fabric.each_link():
        for own, far in ((link.a, link.b), (link.b, link.a)):
            node = named.get(own.node)
            if node is not None and node.host and far.node in switches:
                at_leaf[far.node].append((node, own, far))
                of_host[node.host].append((node, own, far))
    _alignment(check, at_leaf)
    _same_port(check, of_host)
    return check


def _alignment(check: RailCheck, at_leaf: dict[str, list[tuple[Node, Port, Port]]]) -> None:
    found: list[Deviation] = []
    for members in at_leaf.values():
        if len(members) < MIN_HCAS:
            continue
        names = Counter(node.hca for node, _, _ in members)
        usual, count = names.most_common(1)[0]
        check.leaves += 1
        if count < ALIGNED_SHARE * len(members):
            continue
        check.aligned_leaves += 1
        found += [
            Deviation(own, far, f"{usual}, as {count} of {len(members)} HCAs of this leaf", str(node.hca))
            for node, own, far in members
            if node.hca != usual
        ]
    if check.leaves and check.aligned_leaves >= ALIGNED_SHARE * check.leaves:
        check.misaligned = found


def _same_port(check: RailCheck, of_host: dict[str, list[tuple[Node, Port, Port]]]) -> None:
    found: list[Deviation] = []
    for members in of_host.values():
        if len({far.node for _, _, far in members}) < max(2, len(members) // 2):
            continue
        ports = Counter(far.number for _, _, far in members)
        usual, count = ports.most_common(1)[0]
        check.hosts += 1
        check.same_port_hosts += count == len(members)
        if len(members) > 2 and count >= ALIGNED_SHARE * len(members):
            found += [
                Deviation(
                    own,
                    far,
                    f"port {usual}, as {count} of {len(members)} HCAs of this host",
                    f"port {far.number}",
                )
                for _, own, far in members
                if far.number != usual
            ]
    if check.hosts and check.same_port_hosts >= ALIGNED_SHARE * check.hosts:
        check.other_port = found
