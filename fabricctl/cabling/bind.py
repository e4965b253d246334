"""Who is who: which discovered node is which planned one.

The GUID is the key. A plan keyed by GUID (a golden snapshot) needs nothing else; a plan that speaks of names
is matched by, first to last: a declared identity of the site file, the node-name-map, the node description.
A name that two discovered nodes claim decides nothing: it is a finding, and what hangs on it is not judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fabricctl.discovery.names import name_key, short_key
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.models import NodeModel
from fabricctl.plan.model import Plan


@dataclass(frozen=True)
class Names:
    """What is known of names beside the node descriptions.

    :param declared: GUID -> name, from the site file; outranks everything.
    :param mapped: GUID -> name, from an ib-node-name-map.
    :param node_model: host -> its model, for plans that number a host's ports.
    """

    declared: Mapping[str, str] = field(default_factory=dict)
    mapped: Mapping[str, str] = field(default_factory=dict)
    node_model: Mapping[str, NodeModel] = field(default_factory=dict)


@dataclass(frozen=True)
class Clash:
    """One planned name that several discovered nodes claim."""

    name: str
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
    :param ambiguous: plan nodes whose name is claimed twice.
    :param notes: assumptions made; :param doubts: what could not be told, one sentence each.
    """

    plan: Plan
    seen_of: dict[str, str] = field(default_factory=dict)
    plan_of: dict[str, str] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)
    clashes: list[Clash] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def pair(self, planned: str, seen: str) -> None:
        """Record that a planned node is this discovered one."""
        self.seen_of[planned] = seen
        self.plan_of[seen] = planned


def bind(plan: Plan, seen: Fabric, names: Names | None = None) -> Binding:
    """Match a plan's nodes to discovered ones."""
    names = names or Names()
    if plan.keyed_by_guid:
        return _by_guid(plan, seen)
    hosts = {name_key(node.host) for node in seen.hcas() if node.host}
    plan = _numbered_ports_as_hcas(plan, seen, hosts)
    return _by_name(plan, seen, names)


def _by_guid(plan: Plan, seen: Fabric) -> Binding:
    binding = Binding(plan)
    by_port = {guid: key for key, node in seen.nodes.items() for _, guid in node.port_guids}
    for key, node in plan.fabric.nodes.items():
        found = key if key in seen.nodes else by_port.get(key)
        if found is None:  # some tools print an HCA's port GUID only
            found = next((guid for _, guid in node.port_guids if guid in seen.nodes), None)
        if found is not None and found not in binding.plan_of:
            binding.pair(key, found)
    gone = [n for key, n in plan.fabric.nodes.items() if key not in binding.seen_of and n.guid is not None]
    new = [n for key, n in seen.nodes.items() if key not in binding.plan_of and n.guid is not None]
    if gone and new:
        _replaced_parts(binding, seen, gone, new)
    _renamed(binding, seen)
    return binding


def _renamed(binding: Binding, seen: Fabric) -> None:
    """Same GUID, other name: the GUID decides, but somebody should know."""
    other = []
    for planned, key in binding.seen_of.items():
        was, now = binding.plan.fabric.nodes[planned], seen.nodes[key]
        if was.name != was.key and now.name != now.key and name_key(was.name) != name_key(now.name):
            other.append(f"{was.name} is now {now.name}")
    if other:
        shown = "; ".join(other[:3]) + ("; ..." if len(other) > 3 else "")
        what = "device has" if len(other) == 1 else "devices have"
        binding.notes.append(f"{len(other):,} {what} another name than in the snapshot: {shown}")


def _replaced_parts(binding: Binding, seen: Fabric, gone: list[Node], new: list[Node]) -> None:
    """Same unique description, new GUID, old GUID nowhere: a replaced part, bound and reported."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for node in seen.nodes.values():
        by_name[name_key(node.description)].append(node.key)
    planned: dict[str, int] = defaultdict(int)
    for node in binding.plan.fabric.nodes.values():
        planned[name_key(node.description)] += 1
    fresh = {node.key for node in new}
    for node in gone:
        name = name_key(node.description)
        same = by_name.get(name, [])
        if node.name != node.key and len(same) == 1 and same[0] in fresh and planned[name] == 1:
            binding.pair(node.key, same[0])
            binding.replaced.append(Replaced(node.key, same[0], node.name))


def _by_name(plan: Plan, seen: Fabric, names: Names) -> Binding:
    binding = Binding(plan)
    claims = Claims(seen, names)
    left: list[Node] = []
    for node in plan.fabric.nodes.values():
        found = claims.of(node)
        if not found:
            left.append(node)
        elif len(found) > 1:
            binding.ambiguous.add(node.key)
            binding.clashes.append(Clash(node.name, tuple(sorted(found))))
        elif found[0] in binding.plan_of:
            binding.ambiguous.add(node.key)
            binding.clashes.append(Clash(f"{node.name} and {binding.plan_of[found[0]]}", (found[0],)))
        else:
            binding.pair(node.key, found[0])
    from fabricctl.cabling.hca_words import match_cards  # it speaks of bindings, so it imports this module

    match_cards(binding, seen, names.node_model, [n for n in left if n.kind is NodeKind.HCA and n.host])
    return binding


class Claims:
    """Names that discovered nodes answer to: declared before mapped before described, whole before short."""

    def __init__(self, seen: Fabric, names: Names) -> None:
        declared: dict[str, list[str]] = {}
        mapped: dict[str, list[str]] = {}
        described: dict[str, list[str]] = {}
        self.short: dict[str, list[str]] = {}
        for key, node in seen.nodes.items():
            if key in names.declared:
                declared.setdefault(name_key(names.declared[key]), []).append(key)
            elif key in names.mapped:
                mapped.setdefault(name_key(names.mapped[key]), []).append(key)
            elif node.name != key:
                whole, full = name_key(node.name), name_key(node.description)
                described.setdefault(whole, []).append(key)
                if full != whole:
                    described.setdefault(full, []).append(key)
                if "." in whole:
                    self.short.setdefault(short_key(whole), []).append(key)
        self.whole = described | mapped | declared

    def of(self, node: Node) -> list[str]:
        """Discovered nodes that answer to a planned node's name; a short name only where it is unique."""
        whole = self.whole
        name = name_key(node.name)
        found = whole.get(name)
        if found is None and node.key != node.name:
            found = whole.get(name_key(node.key))
        if found is None and "." in name:
            found = whole.get(short_key(name))
        elif found is None and self.short:
            found = self.short.get(name)
        return found or []


def _numbered_ports_as_hcas(plan: Plan, seen: Fabric, hosts: set[str]) -> Plan:
    """Devices the plan could not tell and the discovery knows as hosts: port n becomes HCA n."""
    switches = {name_key(node.name) for node in seen.switches()}
    turned = {
        key
        for key, node in plan.fabric.nodes.items()
        if node.kind is NodeKind.UNKNOWN
        and name_key(node.name) in hosts
        and name_key(node.name) not in switches
    }
    if not turned:
        return plan
    cards: dict[str, list[Node]] = defaultdict(list)
    for hca in seen.hcas():
        cards[name_key(hca.host or "")].append(hca)
    fabric = Fabric(origin=plan.fabric.origin)
    fabric.nodes = {key: node for key, node in plan.fabric.nodes.items() if key not in turned}

    def end(port: Port) -> Port:
        if port.node not in turned:
            return port
        old = plan.fabric.nodes[port.node]
        own = cards[name_key(old.name)]
        if len(own) == 1 and own[0].ports > 1:  # one card with several ports: n is its port
            card = own[0].hca or "HCA"
            one = f"{old.name} {card}"
            fabric.nodes.setdefault(
                one, replace(old, key=one, name=one, kind=NodeKind.HCA, host=old.name, hca=card, tier=0)
            )
            return Port(one, port.number)
        key = f"{old.name} {port.number}"
        hca = replace(old, key=key, name=key, kind=NodeKind.HCA, host=old.name, hca=str(port.number), tier=0)
        fabric.nodes.setdefault(key, hca)
        return Port(key, 1)

    for link in plan.fabric.each_link():
        fabric.connect(_moved(link, end(link.a), end(link.b)))
    reserved = {end(port): who for port, who in plan.reserved.items()}
    return replace(plan, fabric=fabric, reserved=reserved)


def _moved(link: Link, a: Port, b: Port) -> Link:
    return link._replace(a=a, b=b)
