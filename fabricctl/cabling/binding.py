"""What binding a plan to a discovery ends in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabricctl.fabric import Fabric, Node
from fabricctl.models import NodeModel
from fabricctl.plan.model import Plan


@dataclass(frozen=True)
class Undecided:
    """A discovered device that could be one of several planned ones.

    :param why: a reason for "not judged", without a full stop.
    :param planned: plan keys it could be, the likelier first; none when it could be any.
    """

    why: str
    planned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Names:
    """What is known of names beside the node descriptions.

    :param declared: GUID -> name, from the site file; outranks everything.
    :param mapped: GUID -> name, from an ib-node-name-map.
    :param node_model: host -> its model, for plans that number a host's ports.
    :param undecided: discovered node key -> what it could be; it is bound to nothing.
    """

    declared: Mapping[str, str] = field(default_factory=dict)
    mapped: Mapping[str, str] = field(default_factory=dict)
    node_model: Mapping[str, NodeModel] = field(default_factory=dict)
    undecided: Mapping[str, Undecided] = field(default_factory=dict)

    def of_nodes(self, seen: Fabric) -> Names:
        """The same names by the discovery's node keys: a port's GUID is turned into its node's.

        People read GUIDs off labels and hosts, and those are often a port's; everything else asks by node.
        """
        if not (self.declared or self.mapped):
            return self
        declared, mapped = by_node(seen, self.declared, self.mapped)
        return replace(self, declared=declared, mapped=mapped)


def by_node(seen: Fabric, *sources: Mapping[str, str]) -> list[dict[str, str]]:
    """Names by GUID -> names by node key, source by source; what the discovery does not have stays as it is.

    The node's own GUID outranks those of its ports, and a port GUID that two nodes claim names neither of them.
    """
    owners: dict[str, str | None] = {}
    for key, node in seen.nodes.items():
        for _, guid in node.port_guids:
            owners[guid] = key if owners.get(guid, key) == key else None

    def key_of(guid: str) -> str:
        return guid if guid in seen.nodes else owners.get(guid) or guid

    found: list[dict[str, str]] = []
    for names in sources:
        by_port = {key_of(guid): name for guid, name in names.items() if guid not in seen.nodes}
        found.append({**by_port, **{guid: name for guid, name in names.items() if guid in seen.nodes}})
    return found


@dataclass(frozen=True)
class Clash:
    """A planned name that several discovered nodes claim, or several planned names of one discovered node.

    :param names: planned names; :param seen: keys of discovered nodes. One of the two has several entries.
    """

    names: tuple[str, ...]
    seen: tuple[str, ...]


@dataclass(frozen=True)
class Replaced:
    """A planned GUID is gone and an unknown one carries its name: the part was probably replaced."""

    planned: str
    seen: str
    name: str


@dataclass
class Binding:
    """The plan's nodes found in the discovery.

    :param plan: the plan, with running host ports turned into HCAs where the discovery shows a host.
    :param seen_of: plan node key -> discovered node key; :param plan_of: the inverse.
    :param ambiguous: plan nodes whose name decides nothing.
    :param undecided: discovered nodes that could be one of several planned ones; nothing of them is judged.
    :param notes: assumptions made; :param doubts: what could not be told, one sentence each.
    """

    plan: Plan
    seen_of: dict[str, str] = field(default_factory=dict)
    plan_of: dict[str, str] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)
    clashes: list[Clash] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    undecided: dict[str, Undecided] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @cached_property
    def claimants(self) -> set[str]:
        """Discovered nodes that may be a planned one, and nobody knows which: nothing is said of their cables."""
        return {key for clash in self.clashes for key in clash.seen} | set(self.undecided)

    def pair(self, planned: str, seen: str) -> None:
        """Record that a planned node is this discovered one."""
        self.seen_of[planned] = seen
        self.plan_of[seen] = planned

    def take(self, node: Node, found: list[str]) -> bool:
        """Pair a planned node with the one that answers to its name; False when none does."""
        if not found:
            return False
        if len(found) > 1:
            self.ambiguous.add(node.key)
            self.clashes.append(Clash((node.name,), tuple(sorted(found))))
        elif found[0] in self.plan_of:
            other = self.plan.fabric.nodes[self.plan_of[found[0]]].name
            self.ambiguous.add(node.key)
            self.clashes.append(Clash((node.name, other), (found[0],)))
        else:
            self.pair(node.key, found[0])
        return True
