"""A discovered fabric as plain sets, to compare two discoveries of it."""

from __future__ import annotations

from fabricctl.fabric import Fabric


def nodes_of(fabric: Fabric) -> set[tuple[str, str, str, int]]:
    return {(key, str(node.kind), node.description, node.ports) for key, node in fabric.nodes.items()}


def links_of(fabric: Fabric) -> set[tuple[frozenset[tuple[str, int]], str]]:
    """Both ends in any order, with the rate; parallel cables differ in their ports."""
    return {
        (frozenset(((link.a.node, link.a.number), (link.b.node, link.b.number))), str(link.rate))
        for link in fabric.each_link()
    }
