"""Plan and observation with their switch ports counted in another profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabricctl.cabling.numbering import Halves, Numbering, Profile
from fabricctl.discovery.model import Observation
from fabricctl.fabric import Fabric, Link, Node, Port, PortState
from fabricctl.plan.model import Plan


def renumber_plan(plan: Plan, numbering: Numbering) -> Plan:
    """The plan counted as ``numbering`` says; its reserved ports, a site file's, are in the normal profile."""
    renumber = _Renumber(numbering, numbering.planned)
    reserved = {
        Port(port.node, numbering.of_normal(port.node, port.number)): who
        for port, who in plan.reserved.items()
    }
    return replace(plan, fabric=renumber.fabric(plan.fabric), reserved=reserved)


def renumber_observation(observation: Observation, numbering: Numbering) -> Observation:
    """The observation counted as ``numbering`` says."""
    renumber = _Renumber(numbering, numbering.seen)
    disputed = {renumber.cabled(a): renumber.cabled(b) for a, b in observation.disputed.items()}
    return replace(observation, fabric=renumber.fabric(observation.fabric), disputed=disputed)


class _Renumber:
    """Translates the ports of those switches whose profile is not the one that counts."""

    def __init__(self, numbering: Numbering, profiles: Mapping[str, Profile]) -> None:
        self.counted = numbering.counted
        self.halves: dict[str, Halves] = {
            key: numbering.halves[key]
            for key, profile in profiles.items()
            if profile is not numbering.counted
        }
        self.made: dict[Port, Port] = {}

    def port(self, port: Port) -> Port | None:
        """The port's new number; None for a second half that the normal profile does not have."""
        halves = self.halves.get(port.node)
        if halves is None:
            return port
        found = self.made.get(port)
        if found is None:
            split = self.counted is Profile.SPLIT_READY
            number = halves.to_split(port.number) if split else halves.to_normal(port.number)
            if number is None:
                return None
            found = self.made[port] = Port(port.node, number)
        return found

    def cabled(self, port: Port) -> Port:
        """The same for a port that carries a cable: no second half is used where the normal profile counts."""
        found = self.port(port)
        assert found is not None, f"{port} is a second half"
        return found

    def fabric(self, fabric: Fabric) -> Fabric:
        """A fabric of the same nodes and cables."""
        made = Fabric(origin=fabric.origin)
        made.nodes = {key: self.node(key, node) for key, node in fabric.nodes.items()}
        halves, links = self.halves, made.links
        for link in fabric.each_link():
            if link.a.node in halves or link.b.node in halves:
                a, b = self.cabled(link.a), self.cabled(link.b)
                link = tuple.__new__(Link, (a, b, *link[2:]))
            links[link.a] = links[link.b] = link
        states: dict[Port, PortState] = {}
        for port, state in fabric.states.items():
            moved = self.port(port)
            if moved is not None:
                states[moved] = state
        made.states = states
        return made

    def node(self, key: str, node: Node) -> Node:
        """The node with the port count of the profile that counts; an aggregation node's port stays one more."""
        halves = self.halves.get(key)
        if halves is None or not node.ports:
            return node
        extra = self.ports_beyond(node.ports, halves)
        return replace(node, ports=(2 if self.counted is Profile.SPLIT_READY else 1) * halves.ports + extra)

    def ports_beyond(self, ports: int, halves: Halves) -> int:
        """1 when the count holds an aggregation node's port, else 0."""
        was = halves.ports if self.counted is Profile.SPLIT_READY else 2 * halves.ports
        return 1 if ports == was + 1 else 0
