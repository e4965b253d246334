"""The plan as a cabler sees it: devices, their blocks of ports, rails and units.

Only what the wrong links touch is looked at; the rest of a big plan stays unread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import NodeKind, Port
from fabricctl.hostset import natural_key

DOWN, UP, SIDE, ALL = "down", "up", "side", "all"
"""Which way a block of ports looks: to a lower tier, a higher one, the same or an unknown one; every port."""


class Block(NamedTuple):
    """Planned ports of one switch that belong together, in order.

    :param side: which way they look; :param far: key of the one device they lead to, empty when several.
    :param run: a part of such a block that was found by where its wrong ports begin and end.
    """

    node: str
    side: str
    ports: tuple[int, ...]
    far: str = ""
    run: bool = False


class Layout:
    """The plan's structure around some nodes.

    :param near: plan keys of the nodes whose blocks will be asked for.
    """

    def __init__(self, comparison: Comparison, near: Iterable[str]) -> None:
        self.plan, self.ends = comparison.binding.plan.fabric, comparison.ends
        self.nodes = self.plan.nodes
        self.tier = comparison.tiers.plan
        wanted = set(near)
        self.ports: dict[str, list[tuple[int, Port]]] = {key: [] for key in wanted}
        for port, link in self.plan.links.items():
            if port[0] in wanted:
                self.ports[port[0]].append((port[1], link.other(port)))
        for rows in self.ports.values():
            rows.sort()
        self._blocks: dict[str, list[Block]] = {}

    def name(self, key: str) -> str:
        """What people call a device; a device outside the plan is its key."""
        node = self.nodes.get(key)
        return key if node is None else node.name

    def is_switch(self, key: str) -> bool:
        """A planned device that is no HCA."""
        node = self.nodes.get(key)
        return node is not None and node.kind is not NodeKind.HCA

    def host(self, key: str) -> str | None:
        """The host of an HCA, None of other devices."""
        node = self.nodes.get(key)
        return node.host if node is not None and node.kind is NodeKind.HCA else None

    def side(self, key: str, far: str) -> str:
        """Which way a cable from ``key`` to ``far`` looks."""
        own, other = self.tier.get(key), self.tier.get(far)
        if own is None or other is None or own == other:
            return SIDE
        return DOWN if other < own else UP

    def sides(self, key: str) -> list[Block]:
        """The blocks of a switch by the way they look, lower tier first."""
        found = self._blocks.get(key)
        if found is None:
            parts: dict[str, list[int]] = defaultdict(list)
            for number, far in self.ports.get(key, ()):
                parts[self.side(key, far.node)].append(number)
            order = (DOWN, UP, SIDE)
            found = [Block(key, side, tuple(parts[side])) for side in order if side in parts]
            self._blocks[key] = found
        return found

    def whole(self, key: str) -> Block:
        """Every planned port of a switch."""
        return Block(key, ALL, tuple(number for number, _ in self.ports.get(key, ())))

    def bundles(self, key: str) -> list[Block]:
        """Its ports by the device at the other end."""
        parts: dict[str, list[int]] = defaultdict(list)
        for number, far in self.ports.get(key, ()):
            parts[far.node].append(number)
        return [Block(key, self.side(key, far), tuple(numbers), far) for far, numbers in parts.items()]

    def planned(self, port: Port) -> Port | None:
        """The planned far end of a port."""
        return self.plan.peer(port)

    # -- hosts, rails, units --------------------------------------------------------------------------------

    @cached_property
    def hcas(self) -> dict[str, list[str]]:
        """Host -> keys of its planned HCAs in rail order (declared rail, else by name)."""
        found: dict[str, list[str]] = defaultdict(list)
        for key, node in self.nodes.items():
            if node.kind is NodeKind.HCA and node.host:
                found[node.host].append(key)
        for keys in found.values():
            if len(keys) > 1:
                keys.sort(key=self._rail_order)
        return found

    def _rail_order(self, key: str) -> tuple[int, tuple[tuple[int, int, str], ...]]:
        node = self.nodes[key]
        return (node.rail or 0, natural_key(node.hca or node.name))

    @cached_property
    def rail(self) -> dict[str, int]:
        """HCA or leaf -> 1-based rail: declared, else the place of the HCA in its host, else of most HCAs of the leaf.

        A leaf whose HCAs are of mixed rails has none.
        """
        rails = {key: node.rail for key, node in self.nodes.items() if node.rail is not None}
        for keys in self.hcas.values():
            if len(keys) > 1:
                for place, key in enumerate(keys, 1):
                    rails.setdefault(key, place)
        votes: dict[str, Counter[int]] = defaultdict(Counter)
        for leaf, hca in self._leaf_of_hca:
            if leaf not in rails and hca in rails:
                votes[leaf][rails[hca]] += 1
        for leaf, counts in votes.items():
            best, number = counts.most_common(1)[0]
            if 2 * number > counts.total():
                rails[leaf] = best
        return rails

    @cached_property
    def _leaf_of_hca(self) -> list[tuple[str, str]]:
        """(leaf, HCA) of every planned host cable."""
        nodes, found = self.nodes, []
        for port, link in self.plan.links.items():
            if nodes[port[0]].kind is NodeKind.HCA:
                far = link.other(port)
                if nodes[far.node].kind is not NodeKind.HCA:
                    found.append((far.node, port[0]))
        return found

    @cached_property
    def unit(self) -> dict[str, str]:
        """Switch -> its scalable unit as text: declared, else leaves that share hosts, else a spine's leaves' one.

        An undeclared unit is named after its first leaf.
        """
        units = {key: str(node.unit) for key, node in self.nodes.items() if node.unit is not None}
        leaves: dict[str, list[str]] = defaultdict(list)
        for leaf, hca in self._leaf_of_hca:
            host = self.host(hca)
            if host is not None and leaf not in units and len(self.hcas[host]) > 1:
                leaves[host].append(leaf)
        root: dict[str, str] = {}

        def find(key: str) -> str:
            while root.setdefault(key, key) != key:
                root[key] = root[root[key]]
                key = root[key]
            return key

        for together in leaves.values():
            for leaf in together[1:]:
                a, b = sorted((find(together[0]), find(leaf)), key=natural_key)
                root[b] = a
        units.update((leaf, find(leaf)) for together in leaves.values() for leaf in together)
        for key, rows in self.ports.items():
            if self.tier.get(key, 0) == 2 and key not in units:
                below = {units.get(far.node, "") for _, far in rows if self.tier.get(far.node) == 1}
                if len(below) == 1 and "" not in below:
                    units[key] = below.pop()
        return units
