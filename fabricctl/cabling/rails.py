"""Rail checks that need no plan.

In a rail-optimised fabric HCA n of every host is on a leaf that carries only HCAs n, and a host sits on the
same port number of each of its leaves. NVIDIA's ibdiagnet ``--rail_validation`` and operators' own LLDP checks
rest on the same two regularities. On a leaf, and in a host, the majority tells what is usual, so that small
groups can tell too; whether the fabric follows the pattern at all is told by all HCAs together. Where it does
not, it is not rail-optimised, and no HCA is out of line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from fabricctl.fabric import Fabric, Node, Port

ALIGNED_SHARE = 0.8
"""The pattern holds in a fabric when this share of its HCAs follows the majority of their leaf (or host)."""
MIN_HCAS = 4
"""A leaf with fewer named HCAs is left out: it says little about a rail."""

_Member = tuple[Node, Port, Port]
"""An HCA, its own port and the leaf port it is plugged in."""


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

    :param leaves: leaves with enough HCAs to say; :param aligned_leaves: those with one HCA name on most of them.
    :param hosts: hosts with several leaves; :param same_port_hosts: those on one port number everywhere.
    :param misaligned: and ``other_port``: HCAs out of line; empty where the pattern does not hold at all.
    :param leaf_hcas: HCAs on those leaves, :param usual_hcas: those of them that are as most of their leaf.
    :param host_hcas: HCAs of those hosts, :param usual_ports: those of them on the port of most of their host.
    """

    leaves: int = 0
    aligned_leaves: int = 0
    hosts: int = 0
    same_port_hosts: int = 0
    misaligned: list[Deviation] = field(default_factory=list)
    other_port: list[Deviation] = field(default_factory=list)
    leaf_hcas: int = 0
    usual_hcas: int = 0
    host_hcas: int = 0
    usual_ports: int = 0

    @property
    def aligned(self) -> bool:
        """The fabric is rail-aligned: its leaves carry one HCA name each, bar some out of line."""
        return self.leaf_hcas > 0 and self.usual_hcas >= ALIGNED_SHARE * self.leaf_hcas

    @property
    def same_port(self) -> bool:
        """Hosts sit on one port number of all their leaves, bar some HCAs out of line."""
        return self.host_hcas > 0 and self.usual_ports >= ALIGNED_SHARE * self.host_hcas


def check_rails(fabric: Fabric, shown: Callable[[Port], int] = attrgetter("number")) -> RailCheck:
    """Both checks on a discovered fabric.

    :param shown: a switch port -> the number to print, where the switch counts otherwise than the fabric here.
    """
    check = RailCheck()
    at_leaf: dict[str, list[_Member]] = defaultdict(list)
    of_host: dict[str, list[_Member]] = defaultdict(list)
    named = {node.key: node for node in fabric.hcas() if node.host and node.hca}
    switches = {node.key for node in fabric.switches()}
    for link in fabric.each_link():
        for own, far in ((link.a, link.b), (link.b, link.a)):
            node = named.get(own.node)
            if node is not None and node.host and far.node in switches:
                at_leaf[far.node].append((node, own, far))
                of_host[node.host].append((node, own, far))
    _alignment(check, at_leaf)
    _same_port(check, of_host, shown)
    return check


def _alignment(check: RailCheck, at_leaf: Mapping[str, list[_Member]]) -> None:
    found: list[Deviation] = []
    for members in at_leaf.values():
        if len(members) < MIN_HCAS:
            continue
        check.leaves += 1
        check.leaf_hcas += len(members)
        usual, count = Counter(node.hca for node, _, _ in members).most_common(1)[0]
        if 2 * count <= len(members):
            continue
        check.aligned_leaves += 1
        check.usual_hcas += count
        found += [
            Deviation(own, far, f"{usual}, as {count} of {len(members)} HCAs of this leaf", str(node.hca))
            for node, own, far in members
            if node.hca != usual
        ]
    if check.aligned:
        check.misaligned = found


def _same_port(check: RailCheck, of_host: Mapping[str, list[_Member]], shown: Callable[[Port], int]) -> None:
    found: list[Deviation] = []
    for members in of_host.values():
        if len({far.node for _, _, far in members}) < max(2, len(members) // 2):
            continue
        check.hosts += 1
        check.host_hcas += len(members)
        usual, count = Counter(far.number for _, _, far in members).most_common(1)[0]
        if 2 * count <= len(members):
            continue
        check.same_port_hosts += count == len(members)
        check.usual_ports += count
        found += [
            Deviation(
                own,
                far,
                f"port {shown(Port(far.node, usual))}, as {count} of {len(members)} HCAs of this host",
                f"port {shown(far)}",
            )
            for _, own, far in members
            if far.number != usual
        ]
    if check.same_port:
        check.other_port = found
