"""Several observations of one site made into one, by GUID.

A split fabric shows each viewer only its own island, and one tool tells what another omits (iblinkinfo knows
"disabled", ibnetdiscover does not). Nodes and links remember which sources saw them. Where two sources
contradict each other nothing is averaged: the port counts as unknown and the contradiction is a problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabricctl.discovery.model import Observation, Problem, ProblemKind
from fabricctl.fabric import Link, LinkDetail, Node, NodeKind, Port, PortState


def merge(observations: Sequence[Observation]) -> Observation:
    """Merge observations; source indexes run through all their sources in order.

    :param observations: at least one.
    """
    if len(observations) == 1:
        return observations[0]
    first = observations[0]
    merged = Observation(type(first.fabric)(origin=first.fabric.origin), [])
    aliases = _node_of_port_guid(observations)
    merger = _Merger(merged)
    for observation in observations:
        merger.add(_renamed(observation, aliases))
    merger.settle()
    return merged


def _node_of_port_guid(observations: Sequence[Observation]) -> dict[str, str]:
    """Port GUID -> node key, as far as a source that knows node GUIDs tells.

    ``ibnetdiscover -p`` and iblinkinfo name an HCA by its port GUID only.
    """
    aliases: dict[str, str] = {}
    for observation in observations:
        for node in observation.fabric.nodes.values():
            if node.guid is not None:
                for _, port_guid in node.port_guids:
                    aliases[port_guid] = node.key
    return aliases


def _renamed(observation: Observation, aliases: dict[str, str]) -> Observation:
    """The observation with HCAs keyed by port GUID moved to their node GUID where another source knows it."""
    fabric = observation.fabric
    moved = {
        key: aliases[key]
        for key, node in fabric.nodes.items()
        if node.guid is None and key in aliases and aliases[key] != key
    }
    if not moved:
        return observation

    def at(port: Port) -> Port:
        return Port(moved[port.node], port.number) if port.node in moved else port

    nodes = {
        moved.get(key, key): replace(node, key=moved.get(key, key)) for key, node in fabric.nodes.items()
    }
    links = {at(port): link._replace(a=at(link.a), b=at(link.b)) for port, link in fabric.links.items()}
    states = {at(port): state for port, state in fabric.states.items()}
    return replace(observation, fabric=replace(fabric, nodes=nodes, links=links, states=states))


class _Merger:
    def __init__(self, merged: Observation) -> None:
        self.merged = merged
        self.order: list[Observation] = []

    def add(self, observation: Observation) -> None:
        merged, shift = self.merged, len(self.merged.sources)
        merged.sources += observation.sources
        merged.problems += [replace(p, source=p.source + shift) for p in observation.problems]
        merged.subnet_managers += [replace(s, source=s.source + shift) for s in observation.subnet_managers]
        merged.aggregation_nodes = max(merged.aggregation_nodes, observation.aggregation_nodes)
        merged.lists_down_ports = merged.lists_down_ports or observation.lists_down_ports
        for node in observation.fabric.nodes.values():
            self.add_node(node, shift)
        for link in observation.fabric.each_link():
            self.add_link(link._replace(seen_by=link.seen_by << shift))
        self.order.append(observation)

    def add_node(self, node: Node, shift: int) -> None:
        nodes = self.merged.fabric.nodes
        known = nodes.get(node.key)
        bits = node.seen_by << shift
        if known is None:
            nodes[node.key] = replace(node, seen_by=bits)
            return
        if node.kind is not known.kind and NodeKind.UNKNOWN not in (node.kind, known.kind):
            self.dispute(
                f"{node.key} is a {known.kind} in one source and a {node.kind} in another", (node.key,), shift
            )
        said, says = " ".join(known.description.split()), " ".join(node.description.split())
        if said and says and said != says:
            text = f"{node.key} is called {said!r} in one source and {says!r} in {self.merged.sources[shift].label}"
            self.merged.problems.append(Problem(ProblemKind.RENAMED, text, 0, (node.key,), shift))
        better = known if known.description.strip() else node
        nodes[node.key] = replace(
            better,
            key=node.key,
            guid=known.guid or node.guid,
            kind=node.kind if known.kind is NodeKind.UNKNOWN else known.kind,
            ports=max(known.ports, node.ports),
            device_id=known.device_id if known.device_id is not None else node.device_id,
            system_guid=known.system_guid or node.system_guid,
            lid=known.lid if known.lid is not None else node.lid,
            listed=known.listed or node.listed,
            seen_by=known.seen_by | bits,
            port_guids=known.port_guids or node.port_guids,
        )

    def add_link(self, link: Link) -> None:
        links = self.merged.fabric.links
        at_a, at_b = links.get(link.a), links.get(link.b)
        if at_a is None and at_b is None:
            links[link.a] = links[link.b] = link
            return
        if at_a is not None and at_a is at_b:
            links[link.a] = links[link.b] = self.both(at_a, link)
            return
        for known in {at_a, at_b} - {None}:
            assert known is not None
            text = f"{self.label(known)} says {self.show(known)}, {self.label(link)} says {self.show(link)}"
            self.dispute(
                text, (known.a.node, known.b.node, link.a.node, link.b.node), link.seen_by.bit_length() - 1
            )
            self.doubted(known)
            self.doubted(link)

    def both(self, known: Link, link: Link) -> Link:
        """The same cable from two sources."""
        rate = known.rate or link.rate
        if known.rate and link.rate and known.rate != link.rate:
            text = f"{self.show(known)} runs at {known.rate} in one source and at {link.rate} in {self.label(link)}"
            kind = ProblemKind.RATES_DIFFER
            self.merged.problems.append(
                Problem(kind, text, 0, (known.a.node, known.b.node), link.seen_by.bit_length() - 1)
            )
            rate = min(known.rate, link.rate, key=lambda r: r.gbps)
        return known._replace(
            rate=rate,
            seen_by=known.seen_by | link.seen_by,
            ends_seen=max(known.ends_seen, link.ends_seen),
            detail=_both_details(known, link),
        )

    def settle(self) -> None:
        """Ports: what one source calls down must carry no cable in another."""
        fabric = self.merged.fabric
        for port in list(self.merged.disputed):
            link = fabric.links.pop(port, None)
            if link is not None:
                fabric.links.pop(link.other(port), None)
                self.doubted(link)
        fabric.states.update(dict.fromkeys(self.merged.disputed, PortState.UNKNOWN))
        ranked = (PortState.UNKNOWN, PortState.DOWN, PortState.DISABLED)
        for observation in self.order:
            for port, state in observation.fabric.states.items():
                known = fabric.states.get(port, PortState.UNKNOWN)
                if (
                    port not in self.merged.disputed
                    and port not in fabric.links
                    and ranked.index(state) >= ranked.index(known)
                ):
                    fabric.states[port] = state
        for link in list(fabric.each_link()):
            self.check_up_everywhere(link)
        self.merged.problems.sort(key=lambda p: (p.source, p.line))

    def check_up_everywhere(self, link: Link) -> None:
        shift = 0
        for observation in self.order:
            for port in (link.a, link.b):
                state = observation.fabric.state(port) if port.node in observation.fabric.nodes else None
                if state is None or state is PortState.UNKNOWN:
                    continue
                where = observation.sources[0].label
                text = f"{self.show(link)} is up in {self.label(link)}, but {self.port(port)} is {state} in {where}"
                self.dispute(text, (link.a.node, link.b.node), shift)
                self.doubted(link)
                for end in (link.a, link.b):
                    self.merged.fabric.links.pop(end, None)
                    self.merged.fabric.states[end] = PortState.UNKNOWN
                return
            shift += len(observation.sources)

    def doubted(self, link: Link) -> None:
        """Remember a cable that may or may not be there."""
        self.merged.disputed[link.a], self.merged.disputed[link.b] = link.b, link.a

    def dispute(self, text: str, nodes: tuple[str, ...], source: int) -> None:
        kind = ProblemKind.CONTRADICTION
        self.merged.problems.append(Problem(kind, text, 0, tuple(dict.fromkeys(nodes)), source))

    def label(self, link: Link) -> str:
        return self.merged.sources[link.seen_by.bit_length() - 1].label

    def port(self, port: Port) -> str:
        return f"{self.merged.fabric.nodes[port.node].name}/{port.number}"

    def show(self, link: Link) -> str:
        return f"{self.port(link.a)} - {self.port(link.b)}"


def _both_details(known: Link, link: Link) -> LinkDetail | None:
    """What either source tells of a cable, the first one's word first."""
    one, other = known.detail, link.detail
    if other is not None and link.a != known.a:  # the second source names the ends the other way round
        turned = {name: getattr(other, name)[::-1] for name in ("labels", "connectors", "modules")}
        other = other._replace(**turned)
    if one is None or other is None:
        return one or other
    fields = zip(one, other, LinkDetail(), strict=True)
    return LinkDetail._make(mine if mine != none else theirs for mine, theirs, none in fields)
