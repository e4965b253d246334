"""Who is who: which discovered node is which planned one.

The GUID is the key. A plan keyed by GUID (a golden snapshot) needs nothing else; a plan that speaks of names
is matched by, first to last: a declared identity of the site file, the node-name-map, the node description.
A name that two discovered nodes claim decides nothing: it is a finding, and what hangs on it is not judged.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from fabricctl.cabling.binding import Binding, Clash, Names, Replaced
from fabricctl.cabling.card_tables import differing
from fabricctl.cabling.directory import Directory
from fabricctl.cabling.hca_words import match_cards
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Fabric, Node, NodeKind, Port
from fabricctl.plan.model import Plan


def bind(plan: Plan, seen: Fabric, names: Names | None = None, directory: Directory | None = None) -> Binding:
    """Match a plan's nodes to discovered ones."""
    if plan.keyed_by_guid:
        return _by_guid(plan, seen)
    names = names or Names()
    directory = directory or Directory(seen, names)
    return _by_name(numbered_ports_as_hcas(plan, directory), directory, names)


# -- by GUID --------------------------------------------------------------------------------------------------


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


# -- by name --------------------------------------------------------------------------------------------------


def _by_name(plan: Plan, directory: Directory, names: Names) -> Binding:
    """Exact names first, so that a short name never takes what another planned device is called exactly.

    HCAs of a host with other words than the plan come last, when the switches they are cabled to are known.
    """
    binding = Binding(plan)
    _undecided(binding, names)
    nodes = plan.fabric.nodes.values()
    hosts, agree = differing(
        (node for node in nodes if node.kind is NodeKind.HCA and node.key not in binding.ambiguous),
        directory,
        names.node_model,
        names.undecided,
    )
    later = {node.key for host in hosts for node in host.nodes}
    left = [n for n in nodes if n.key not in later and not binding.take(n, directory.exact(n.name))]
    left = [n for n in left if n.key == n.name or not binding.take(n, directory.exact(n.key))]
    still: list[Node] = []
    for node in left:
        found = [key for key in directory.find(node.name) if key not in binding.plan_of]
        if not binding.take(node, found):
            still.append(node)
    _shared_short_names(binding, directory, still)
    match_cards(binding, directory, hosts, agree)
    return binding


def _undecided(binding: Binding, names: Names) -> None:
    """What identity could not tell apart is bound to nothing, and the planned devices it could be are not unseen."""
    binding.undecided = dict(names.undecided)
    for undecided in names.undecided.values():
        binding.ambiguous.update(key for key in undecided.planned if key in binding.plan.fabric.nodes)


def _shared_short_names(binding: Binding, directory: Directory, left: list[Node]) -> None:
    """A planned short name that stands for hosts of several domains decides nothing."""
    told: set[str] = set()
    for node in left:
        host = node.host or node.name
        claimants = directory.hosts.shared(host)
        if claimants:
            binding.ambiguous.add(node.key)
            if host not in told:
                told.add(host)
                binding.clashes.append(Clash((host,), tuple(claimants)))


def numbered_ports_as_hcas(plan: Plan, directory: Directory) -> Plan:
    """Devices the plan could not tell and the discovery knows as hosts: port n becomes HCA n.

    Of a host whose one card has several ports, n is the port of that card.
    """
    cards = {
        key: directory.cards(node.name)
        for key, node in plan.fabric.nodes.items()
        if node.kind is NodeKind.UNKNOWN and not directory.is_switch(node.name)
    }
    cards = {key: own for key, own in cards.items() if own}
    if not cards:
        return plan
    fabric = Fabric(origin=plan.fabric.origin)
    fabric.nodes = {key: node for key, node in plan.fabric.nodes.items() if key not in cards}

    def end(port: Port) -> Port:
        if port.node not in cards:
            return port
        old, own = plan.fabric.nodes[port.node], cards[port.node]
        one_card = len(own) == 1 and own[0].ports > 1
        word = (directory.described[own[0].key].hca or "HCA") if one_card else str(port.number)
        key = f"{old.name} {word}"
        fabric.nodes.setdefault(
            key, replace(old, key=key, name=key, kind=NodeKind.HCA, host=old.name, hca=word, tier=0)
        )
        return Port(key, port.number if one_card else 1)

    for link in plan.fabric.each_link():
        fabric.connect(link._replace(a=end(link.a), b=end(link.b)))
    reserved = {end(port): who for port, who in plan.reserved.items()}
    return replace(plan, fabric=fabric, reserved=reserved)
