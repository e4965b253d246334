"""Plan and discovery as integers, for votes: a hundred million dictionary look-ups of strings would be the run time.

A *place* is a planned switch, by number; a *jack* is a place's (or a planned HCA's) number and a port number in one
integer. Seen switches are numbered in an order that does not depend on their GUIDs, so that renaming all GUIDs
changes nothing but the GUIDs in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from fabricctl.fabric import Fabric, NodeKind
from fabricctl.plan.model import Plan

NONE = -1
Cable = tuple[int, int, int]
"""Own port, the other seen switch (or planned HCA, NONE when it is unknown), its port."""


@dataclass
class Network:
    """Both sides of the question.

    :param shift: jack = number << shift | port. :param places: plan keys of planned switches, then of planned HCAs.
    :param switches: how many of ``places`` are switches.
    :param wanted: jack -> jack the plan joins it with, NONE where the plan has no cable.
    :param seen: discovered switches, by number. :param near: per seen switch its cables to seen switches.
    :param hosts: per seen switch its cables to HCAs, with the planned HCA's number in ``places``.
    :param base: per seen switch the votes of HCAs: place -> weight; declared switches vote by their cables.
    :param claimed: planned HCA number -> how many seen HCAs claim to be it, where more than one.
    """

    shift: int
    places: list[str]
    switches: int
    wanted: list[int]
    seen: list[str]
    near: list[list[Cable]]
    hosts: list[list[Cable]]
    base: list[dict[int, int]] = field(default_factory=list)
    claimed: dict[int, int] = field(default_factory=dict)
    loops: list[Cable] = field(default_factory=list)
    """Cables from a seen switch to itself: switch, port, port."""

    @property
    def mask(self) -> int:
        """Port number of a jack: ``jack & mask``."""
        return (1 << self.shift) - 1

    def planned_ports(self, place: int) -> list[int]:
        """Port numbers of a place that the plan uses, ascending."""
        first = place << self.shift
        return [port for port in range(1 << self.shift) if self.wanted[first | port] != NONE]

    def with_ports(self, near: list[list[Cable]]) -> Network:
        """The same with other port numbers on the cables between switches."""
        return Network(
            self.shift,
            self.places,
            self.switches,
            self.wanted,
            self.seen,
            near,
            self.hosts,
            self.base,
            self.claimed,
            self.loops,
        )


def build(plan: Plan, seen: Fabric, hcas: Mapping[str, str]) -> Network:
    """Number everything.

    :param hcas: discovered HCA -> planned HCA it claims to be (several may claim the same).
    """
    fabric = plan.fabric
    places = [k for k, n in fabric.nodes.items() if n.kind in (NodeKind.SWITCH, NodeKind.UNKNOWN)]
    switches = len(places)
    places += [key for key, node in fabric.nodes.items() if node.kind is NodeKind.HCA]
    number = {key: index for index, key in enumerate(places)}
    shift = _bits(fabric, seen)
    wanted = [NONE] * (len(places) << shift)
    for link in fabric.each_link():
        (a_key, a_port), (b_key, b_port) = link.a, link.b
        a, b = number.get(a_key, NONE), number.get(b_key, NONE)
        if a >= 0 and b >= 0:
            a, b = a << shift | a_port, b << shift | b_port
            wanted[a], wanted[b] = b, a
    keys, near, hosts = _seen_side(seen, {key: number[name] for key, name in hcas.items()})
    index = {key: n for n, key in enumerate(keys)}
    loops = [
        (index[link.a.node], link.a.number, link.b.number)
        for link in seen.each_link()
        if link.a.node == link.b.node and link.a.node in index
    ]
    network = Network(shift, places, switches, wanted, keys, near, hosts, loops=loops)
    _count_claims(network, hcas.values(), number)
    _vote_of_hosts(network)
    return network


def _bits(*fabrics: Fabric) -> int:
    highest = max(max(map(itemgetter(1), fabric.links), default=1) for fabric in fabrics)  # a port's number
    return max(1, highest.bit_length())


def _seen_side(
    seen: Fabric, planned: Mapping[str, int]
) -> tuple[list[str], list[list[Cable]], list[list[Cable]]]:
    nodes = seen.nodes
    own: dict[str, list[tuple[int, str, int]]] = {
        key: [] for key, node in nodes.items() if node.kind is NodeKind.SWITCH
    }
    to_hcas: dict[str, list[Cable]] = {key: [] for key in own}
    for here, link in seen.links.items():
        (a, a_port), (b, b_port) = link[0], link[1]
        if a_port != here[1] or a != here[0]:
            continue  # every link stands under both of its ports
        at_a, at_b = own.get(a), own.get(b)
        if at_a is not None and at_b is not None:
            if a != b:
                at_a.append((a_port, b, b_port))
                at_b.append((b_port, a, a_port))
        elif at_a is not None:
            to_hcas[a].append((a_port, planned.get(b, NONE), b_port))
        elif at_b is not None:
            to_hcas[b].append((b_port, planned.get(a, NONE), a_port))
    for cables in to_hcas.values():
        cables.sort()
    for others in own.values():
        others.sort()  # a port has one cable, so this never looks at the far GUID

    def without_guid(key: str) -> tuple[object, ...]:
        node = nodes[key]
        ports = [(port, far_port) for port, _, far_port in own[key]]
        return (to_hcas[key], node.description, node.ports, ports, key)

    keys = sorted(own, key=without_guid)
    index = {key: number for number, key in enumerate(keys)}
    near = [[(port, index[far], far_port) for port, far, far_port in own[key]] for key in keys]
    return keys, near, [to_hcas[key] for key in keys]


def _count_claims(network: Network, planned: Iterable[str], number: Mapping[str, int]) -> None:
    counts: dict[int, int] = {}
    for name in planned:
        counts[number[name]] = counts.get(number[name], 0) + 1
    network.claimed = {hca: count for hca, count in counts.items() if count > 1}


def _vote_of_hosts(network: Network) -> None:
    """An HCA known by name votes for the place its cable is planned to: 2 in the planned port, 1 in another."""
    shift, mask, wanted = network.shift, network.mask, network.wanted
    for cables in network.hosts:
        votes: dict[int, int] = {}
        for port, hca, hca_port in cables:
            far = wanted[hca << shift | hca_port] if hca != NONE else NONE
            if far != NONE and far >> shift < network.switches:
                place = far >> shift
                votes[place] = votes.get(place, 0) + (2 if far & mask == port else 1)
        network.base.append(votes)
