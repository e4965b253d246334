"""The devices of a picture under running numbers: switches, then hosts, then HCAs.

Numbers make links short. Planned devices go under their plan's node, discovered ones that nobody planned under
their own. Texts that repeat (racks, models, HCA names) stand in tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import Node, NodeKind, Place, Port
from fabricctl.picture.extras import Extras
from fabricctl.picture.layout import Cell, Layout, lay_out
from fabricctl.words import printable


class NodeState(IntEnum):
    """What is known of a device; the script draws each in its own way."""

    SEEN = 0
    ABSENT = 1
    """Planned and gone, while every seen port that should face it is down: a finding."""
    UNSEEN = 2
    """Planned and not discovered: nothing can be said."""
    UNPLANNED = 3
    UNREAD = 4
    """Named by a neighbour, but never read itself."""


@dataclass
class _Table:
    """Texts under numbers, in the order of their first use."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        """Its number; -1 for the empty text."""
        return self.numbers.setdefault(printable(text), len(self.numbers)) if text else -1

    @property
    def texts(self) -> list[str]:
        return list(self.numbers)


class Devices:
    """Numbers and texts of every device of a comparison."""

    def __init__(self, comparison: Comparison, extras: Extras) -> None:
        self.comparison, self.extras = comparison, extras
        self.binding, self.seen = comparison.binding, comparison.seen
        self.plan = self.binding.plan.fabric
        self.nodes: dict[str, Node] = dict(self.plan.nodes)
        planned_of = self.binding.plan_of
        self.nodes.update((key, node) for key, node in self.seen.nodes.items() if key not in planned_of)
        self.racks, self.models, self.cards = _Table(), _Table(), _Table()

    def host_of(self, node: Node) -> str:
        """The host an HCA sits in; a card of unknown host is its own."""
        return node.host or node.name

    def cell_of(self, key: str) -> str:
        """A switch's own key; of an HCA the key of its host's cell."""
        node = self.nodes[key]
        return key if node.kind is not NodeKind.HCA else "host\0" + self.host_of(node)

    @cached_property
    def peers(self) -> dict[str, Counter[str]]:
        """Cell -> cells it is planned to be cabled to, with the number of cables."""
        cells = {key: self.cell_of(key) for key in self.plan.nodes}
        pairs = Counter((cells[link.a.node], cells[link.b.node]) for link in self.plan.each_link())
        peers: dict[str, Counter[str]] = defaultdict(Counter)
        for (a, b), number in pairs.items():
            peers[a][b] += number
            peers[b][a] += number
        near = {self.cell_of(key) for key in self.nodes if key not in self.plan.nodes}
        if near:
            self._stand_near(near, peers)
        return peers

    def _stand_near(self, strangers: set[str], peers: dict[str, Counter[str]]) -> None:
        """A stranger stands near what it is seen cabled to."""
        in_plan = self.comparison.in_plan
        for link in self.seen.each_link():
            a, b = self.cell_of(in_plan(link.a).node), self.cell_of(in_plan(link.b).node)
            if a in strangers or b in strangers:
                peers[a][b] += 1
                peers[b][a] += 1

    @cached_property
    def layout(self) -> Layout:
        """Rows, groups and columns."""
        cells: dict[str, Cell] = {}
        tiers = self.comparison.tiers
        for key, node in self.nodes.items():
            planned = key in self.plan.nodes
            cell = self.cell_of(key)
            if node.kind is NodeKind.HCA:
                name = self.host_of(node)
                known = cells.get(cell)
                if known is None or (planned and not known.planned):
                    cells[cell] = Cell(cell, name, 0, node.unit, None, planned)
                continue
            tier = tiers.plan.get(key) if planned else tiers.seen.get(key)
            cells[cell] = Cell(cell, node.name, tier or None, node.unit, node.rail, planned)
        if any(cell.tier is None for cell in cells.values()) and not tiers.plan:
            cells = {k: replace(c, tier=1 if c.tier is None else c.tier) for k, c in cells.items()}
        return lay_out(list(cells.values()), self.peers)

    @cached_property
    def cell_numbers(self) -> dict[str, int]:
        """Cell -> number: switches in the order of the layout, then hosts."""
        groups = self.layout.groups
        order = [cell.key for group in groups if group.tier for cell in group.cells]
        self.switch_count = len(order)
        order += [cell.key for group in groups if not group.tier for cell in group.cells]
        return {key: number for number, key in enumerate(order)}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Node key (the plan's, or a stranger's own) -> number."""
        cells = self.cell_numbers
        numbers = {key: cells[key] for key, node in self.nodes.items() if node.kind is not NodeKind.HCA}
        hcas = [key for key, node in self.nodes.items() if node.kind is NodeKind.HCA]
        hcas.sort(key=lambda key: cells[self.cell_of(key)])  # stable: a host's cards keep the plan's order
        numbers.update((key, len(cells) + i) for i, key in enumerate(hcas))
        return numbers

    def end(self, port: Port) -> tuple[int, int]:
        """A port in the plan's keys as two numbers: its device's, and the one the device itself shows."""
        return self.numbers[port.node], self.own_number(port)

    @cached_property
    def own_number(self) -> Callable[[Port], int]:
        """The number a device itself shows for a port; all ports of a picture are so numbered."""
        return self.comparison.ends.own_number

    @cached_property
    def by_name(self) -> dict[str, int]:
        """Name of a device, or of a host -> number; planned devices come first."""
        found: dict[str, int] = {}
        for key, node in self.nodes.items():
            found.setdefault(node.name, self.numbers[key])
        for group in self.layout.groups:
            if not group.tier:
                for cell in group.cells:
                    found.setdefault(cell.name, self.cell_numbers[cell.key])
        return found

    def place(self, node: Node) -> Place | None:
        """Where a device stands: as the plan says, else the site file."""
        return node.stands(self.comparison.ends.knowledge.place_of.get)

    def seen_node(self, key: str) -> Node | None:
        """The discovered node of a number's key."""
        return self.seen.nodes.get(self.binding.seen_of.get(key, key))

    def state(self, key: str) -> NodeState:
        """What is known of it."""
        if key not in self.plan.nodes:
            return NodeState.UNPLANNED
        if key not in self.binding.seen_of:
            gone = key in self.comparison.classified.absent
            return NodeState.ABSENT if gone else NodeState.UNSEEN
        node = self.seen_node(key)
        return NodeState.SEEN if node is None or node.listed else NodeState.UNREAD

    # -- as JSON --------------------------------------------------------------------------------------------

    def groups_json(self) -> dict[str, Any]:
        """Rows and groups; a group's cells are ``first`` to ``first + n - 1``."""
        rows = []
        for group in self.layout.groups:
            first = self.cell_numbers[group.cells[0].key]
            rows.append(
                {
                    "tier": group.tier,
                    "title": printable(group.title),
                    "short": printable(group.short),
                    "col": group.column,
                    "x": round(group.x, 3),
                    "w": round(group.width, 3),
                    "first": first,
                    "n": len(group.cells),
                }
            )
        return {"width": round(self.layout.width, 3), "shared": sorted(self.layout.shared), "groups": rows}

    def nodes_json(self, islands: dict[str, int]) -> dict[str, Any]:
        """Columns of switches, hosts and HCAs.

        :param islands: discovered key -> number of its island; empty when there is only one.
        """
        ordered = sorted(self.numbers.items(), key=lambda item: item[1])
        switches = [key for key, _ in ordered if self.nodes[key].kind is not NodeKind.HCA]
        hcas = [key for key, _ in ordered if self.nodes[key].kind is NodeKind.HCA]
        return {
            "switches": self._switches(switches, islands),
            "hosts": self._hosts(),
            "hcas": self._hcas(hcas, islands),
            "serials": {
                str(self.numbers[key]): printable(text)
                for key, text in self.extras.serials.items()
                if key in self.numbers
            },
        }

    def _switches(self, keys: list[str], islands: dict[str, int]) -> dict[str, list[Any]]:
        nodes = [self.nodes[key] for key in keys]
        places = [self.place(node) for node in nodes]
        tiers = {cell.key: group.tier for group in self.layout.groups for cell in group.cells}
        models = [node.model or (seen.model if (seen := self.seen_node(node.key)) else "") for node in nodes]
        return {
            "name": [printable(node.name) for node in nodes],
            "tier": [tiers[key] for key in keys],
            "rail": [node.rail or 0 for node in nodes],
            "unit": [node.unit or 0 for node in nodes],
            "rack": [self.racks.of(place.rack) if place else -1 for place in places],
            "u": [printable(place.unit) if place else "" for place in places],
            "guid": [self._guid(key) for key in keys],
            "model": [self.models.of(model) for model in models],
            "ports": [self._ports(key) for key in keys],
            "state": [int(self.state(key)) for key in keys],
            "island": self._island(keys, islands),
            "height": [self.extras.heights.get(node.name, 0) for node in nodes],
        }

    def _hosts(self) -> dict[str, list[Any]]:
        cells = [cell for group in self.layout.groups if not group.tier for cell in group.cells]
        cards: dict[str, Node] = {}
        units: dict[str, int] = {}
        for node in self.nodes.values():
            if node.kind is NodeKind.HCA:
                host = self.host_of(node)
                cards.setdefault(host, node)
                if node.unit:
                    units.setdefault(host, node.unit)
        places = [self.place(cards[cell.name]) for cell in cells]
        return {
            "name": [printable(cell.name) for cell in cells],
            "unit": [units.get(cell.name, 0) for cell in cells],
            "rack": [self.racks.of(place.rack) if place else -1 for place in places],
            "u": [printable(place.unit) if place else "" for place in places],
            "height": [self.extras.heights.get(cell.name, 0) for cell in cells],
        }

    def _hcas(self, keys: list[str], islands: dict[str, int]) -> dict[str, Any]:
        nodes = [self.nodes[key] for key in keys]
        hosts = [self.host_of(node) for node in nodes]
        usual = [f"{host} {node.hca}" == node.name for node, host in zip(nodes, hosts, strict=True)]
        return {
            "host": [self.cell_numbers[self.cell_of(key)] for key in keys],
            "card": [self.cards.of(node.hca or node.name) for node in nodes],
            "rail": [node.rail or 0 for node in nodes],
            "guid": [self._guid(key) for key in keys],
            "state": [int(self.state(key)) for key in keys],
            "island": self._island(keys, islands),
            "name": {
                i: printable(node.name)
                for i, (node, as_usual) in enumerate(zip(nodes, usual, strict=True))
                if not as_usual
            },
        }

    def _island(self, keys: list[str], islands: dict[str, int]) -> list[int]:
        if not islands:
            return []
        return [islands.get(self.binding.seen_of.get(key, key), -1) for key in keys]

    def _guid(self, key: str) -> str:
        """16 digits, or empty."""
        node, seen = self.nodes[key], self.seen_node(key)
        return ((seen.guid if seen else None) or node.guid or "").removeprefix("0x")

    def _ports(self, key: str) -> int:
        seen = self.seen_node(key)
        ports = self.nodes[key].ports or (seen.ports if seen else 0)
        return self.comparison.ends.own_count(key, ports) if ports else 0

    def places_json(self) -> list[list[Any]]:
        """Racks: name, units (0 unknown), row, position."""
        rows: list[list[Any]] = []
        for name in self.racks.texts:
            info = self.extras.racks.get(name)
            rows.append([name, info.units, printable(info.row), info.position] if info else [name, 0, "", 0])
        return rows
