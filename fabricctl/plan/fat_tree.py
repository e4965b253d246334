"""Generator of fat trees with two or three tiers, rail-optimised, in scalable units.

``FatTree`` holds the parameters, ``shape_of`` the arithmetic, ``build`` writes the cables. Cabling order:
of parallel cables the k-th of a leaf's ports to spine s is up port ``(s - 1) * n + k`` and meets down port
``(position of the leaf in its set - 1) * n + k``; spines and cores likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Link, LinkDetail, Node, NodeKind, Port
from fabricctl.plan.clash import connect
from fabricctl.plan.expr_template import Template, check_names, parse_template
from fabricctl.plan.fat_tree_params import Attachment, CorePattern, FatTree, PortLayout, SpinesPer
from fabricctl.plan.fat_tree_shape import LeafId, Shape, shape_of
from fabricctl.plan.model import Plan, PlanFormat

__all__ = ["Attachment", "CorePattern", "FatTree", "PortLayout", "Shape", "SpinesPer", "build", "shape_of"]

_SPINE_NAMES = {
    SpinesPer.POD: "ibs-p{pod:02}-s{index}",
    SpinesPer.RAIL: "ibs-r{rail}-s{index:02}",
    SpinesPer.FABRIC: "ibs-{index:02}",
}
_SPINE_WORDS = {
    SpinesPer.POD: ("index", "block", "spine", "pod"),
    SpinesPer.RAIL: ("index", "block", "spine", "rail"),
    SpinesPer.FABRIC: ("index", "block", "spine"),
}


def build(params: FatTree) -> Plan:
    """Write every cable of a fat tree.

    :returns: keyed by names; switches carry tier, ports, model and, where they belong to one, unit and
        rail; HCAs host, hca, rail and unit. ``Plan.reserved`` holds the free leaf ports when
        ``reserve_for`` names a holder. ``Plan.notes`` says so when the wiring falls into several networks.
    :raises PlanError: parameters that contradict each other, names given twice, a port used twice.
    """
    shape = shape_of(params)
    writer = _Writer(params, shape)
    writer.add_switches()
    writer.cable_nodes()
    writer.cable_attachments()
    writer.cable_leaves()
    writer.cable_cores()
    down, up = len(shape.leaf_ports.down), len(shape.leaf_ports.up)
    return Plan(
        writer.fabric,
        PlanFormat.FAT_TREE,
        declares_rails=params.rail_optimised and params.rails > 1,
        non_blocking=up >= down if params.non_blocking is None else params.non_blocking,
        notes=_notes(params, shape),
        reserved=writer.reserved(),
    )


def _notes(params: FatTree, shape: Shape) -> list[str]:
    apart = params.tiers == 2 or params.core_pattern is CorePattern.PLANE
    if not apart or len(shape.blocks) == 1:
        return []
    why = f"core-pattern: {params.core_pattern}" if params.tiers == 3 else f"spines-per: {params.scope}"
    return [
        f"This wiring makes {len(shape.blocks)} separate networks ({why}): no cable joins the sets of spines, "
        "although every port count is right."
    ]


class _Writer:
    def __init__(self, params: FatTree, shape: Shape) -> None:
        self.params, self.shape = params, shape
        self.fabric = Fabric()
        self.leaves: dict[LeafId, str] = {}
        self.spines: list[list[str]] = []
        self.cores: list[list[str]] = []
        self.detail = LinkDetail(link_class=params.link_class) if params.link_class else None

    def _switch(
        self, name: str, key: str, tier: int, rail: int | None = None, unit: int | None = None
    ) -> str:
        params = self.params
        self._add(
            Node(
                name,
                NodeKind.SWITCH,
                name,
                ports=params.switch_ports,
                tier=tier,
                rail=rail,
                unit=unit,
                model=params.switch_model,
            ),
            key,
        )
        return name

    def _add(self, node: Node, key: str) -> None:
        if not node.key.strip():
            raise PlanError(f"{key}: the name is empty")
        if node.key in self.fabric.nodes:
            raise PlanError(
                f"{key}: the name {node.key!r} is given twice; use more of its numbers in the template"
            )
        self.fabric.nodes[node.key] = node

    def add_switches(self) -> None:
        """Leaves by unit, spines by set, cores by group."""
        params, shape = self.params, self.shape
        leaf = _template("leaf", params.leaf, ("su", "pod", "rail", "leaf"))
        for unit in range(1, params.units + 1):
            for slot in range(1, shape.leaves_per_unit + 1):
                words = {
                    "su": unit,
                    "pod": (unit - 1) // params.pod_units + 1,
                    "rail": slot,
                    "leaf": len(self.leaves) + 1,
                }
                rail = slot if params.rail_optimised and params.rails > 1 else None
                self.leaves[LeafId(unit, slot)] = self._switch(leaf.render(words), "leaf", 1, rail, unit)
        self._add_spines()
        core = _template("core", params.core, ("core", "group", "index"))
        for group in range(1, shape.core_groups + 1):
            names = []
            for index in range(1, shape.cores + 1):
                numbers = {"core": (group - 1) * shape.cores + index, "group": group, "index": index}
                names.append(self._switch(core.render(numbers), "core", 3))
            self.cores.append(names)

    def _add_spines(self) -> None:
        params, shape, scope = self.params, self.shape, self.params.scope
        spine = _template("spine", params.spine or _SPINE_NAMES[scope], _SPINE_WORDS[scope])
        of_unit = scope is SpinesPer.POD and params.pod_units == 1
        of_rail = scope is SpinesPer.RAIL and params.rails > 1
        for block in range(1, len(shape.blocks) + 1):
            names = []
            for index in range(1, shape.spines + 1):
                number = (block - 1) * shape.spines + index
                words = {"index": index, "block": block, "spine": number, "pod": block, "rail": block}
                names.append(
                    self._switch(
                        spine.render(words),
                        "spine",
                        2,
                        block if of_rail else None,
                        block if of_unit else None,
                    )
                )
            self.spines.append(names)

    def cable_nodes(self) -> None:
        """Every node's HCAs to its unit's leaves."""
        params = self.params
        rails = range(1, params.rails + 1)
        hca = _template("hca", params.hca, ("rail", "host", "place", "su", "index"))
        for host, words in self._hosts():
            unit = words["su"]
            for rail in rails:
                words["rail"] = rail
                name = params.hca_names[rail - 1] if params.hca_names else hca.render(words)
                leaf, port = self._leaf_port(unit, words["index"], rail)
                key = f"{host} {name}"
                self._add(
                    Node(
                        key,
                        NodeKind.HCA,
                        key,
                        ports=1,
                        host=host,
                        hca=name,
                        tier=0,
                        rail=rail if params.rail_optimised and params.rails > 1 else None,
                        unit=unit,
                        model=params.hca_model,
                    ),
                    "hca",
                )
                connect(self.fabric, Link(Port(key, 1), Port(leaf, port), params.rate, detail=self.detail))

    def _hosts(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Name and numbers of every node, by place."""
        params = self.params
        places = params.units * params.nodes_per_unit
        for place in params.empty_places:
            if not 1 <= place <= places:
                raise PlanError(f"empty-places: place {place} is outside 1 to {places}")
        empty = set(params.empty_places)
        free = places - len(empty)
        count = params.hosts if params.hosts is not None else len(params.host_names) or free
        if not 0 <= count <= free:
            raise PlanError(f"hosts: {count} nodes, but the {params.units} units have {free} places for them")
        if params.host_names and len(params.host_names) != count:
            raise PlanError(f"hosts: {count} nodes, but {len(params.host_names)} names")
        host = _template("host", params.host, ("host", "place", "su", "index"))
        used = (place for place in range(1, places + 1) if place not in empty)
        for number, place in enumerate(islice(used, count), start=1):
            unit, index = divmod(place - 1, params.nodes_per_unit)
            words = {"host": number, "place": place, "su": unit + 1, "index": index + 1}
            yield params.host_names[number - 1] if params.host_names else host.render(words), words

    def _leaf_port(self, unit: int, index: int, rail: int) -> tuple[str, int]:
        """Leaf and port of HCA ``rail`` of the node at place ``index`` of its unit, all 1-based."""
        down = self.shape.leaf_ports.down
        if self.params.rail_optimised:
            return self.leaves[LeafId(unit, rail)], down[index - 1]
        slot, at = divmod((index - 1) * self.params.rails + rail - 1, len(down))
        return self.leaves[LeafId(unit, slot + 1)], down[at]

    def cable_attachments(self) -> None:
        """HCAs that stand in places without a node."""
        for item in self.params.attach:
            leaf = self.leaves.get(LeafId(item.unit, item.rail))
            if leaf is None:
                raise PlanError(
                    f"attach: {item.host} {item.hca}: there is no leaf {item.rail} in unit {item.unit}; expected "
                    f"unit 1 to {self.params.units}, rail 1 to {self.shape.leaves_per_unit}"
                )
            key = f"{item.host} {item.hca}"
            self._add(Node(key, NodeKind.HCA, key, ports=1, host=item.host, hca=item.hca, tier=0), "attach")
            port = Port(leaf, self._attachment_port(item, leaf))
            connect(self.fabric, Link(Port(key, 1), port, self.params.rate, detail=self.detail))

    def _attachment_port(self, item: Attachment, leaf: str) -> int:
        down = self.shape.leaf_ports.down
        if item.port is None:
            free = [number for number in down if Port(leaf, number) not in self.fabric.links]
            if not free:
                raise PlanError(f"attach: {item.host} {item.hca}: {leaf} has no free port")
            return free[0]
        if item.port not in down:
            raise PlanError(f"attach: {item.host} {item.hca}: port {item.port} of {leaf} does not face down")
        return item.port

    def cable_leaves(self) -> None:
        """Every leaf to every spine of its set."""
        up, down, n = self.shape.leaf_ports.up, self.shape.spine_ports.down, self.shape.leaf_spine
        for leaves, spines in zip(self.shape.blocks, self.spines, strict=True):
            for position, leaf_id in enumerate(leaves):
                self._bundles(self.leaves[leaf_id], up, spines, down, position, n)

    def cable_cores(self) -> None:
        """Every spine to every core of its group."""
        shape = self.shape
        if not shape.cores:
            return
        up, ports = shape.spine_ports.up, tuple(range(1, shape.core_ports + 1))
        seen = [0] * shape.core_groups
        for block, spines in enumerate(self.spines, start=1):
            for index, spine in enumerate(spines, start=1):
                group = shape.group(self.params.core_pattern, block, index) - 1
                self._bundles(spine, up, self.cores[group], ports, seen[group], shape.spine_core)
                seen[group] += 1

    def _bundles(
        self, low: str, up: tuple[int, ...], highs: list[str], down: tuple[int, ...], position: int, n: int
    ) -> None:
        """``n`` cables from ``low`` to each of ``highs``, where it is the ``position``-th from below."""
        rate, detail, fabric = self.params.rate, self.detail, self.fabric
        for index, high in enumerate(highs):
            for k in range(n):
                a, z = Port(low, up[index * n + k]), Port(high, down[position * n + k])
                fabric.connect(Link(a, z, rate, 0, 1, 2, detail))  # new ports: they cannot clash

    def reserved(self) -> dict[Port, str]:
        """Leaf ports facing down that carry no cable, with their holder."""
        if not self.params.reserve_for:
            return {}
        ports = (Port(leaf, number) for leaf in self.leaves.values() for number in self.shape.leaf_ports.down)
        return {port: self.params.reserve_for for port in ports if port not in self.fabric.links}


def _template(key: str, text: str, words: tuple[str, ...]) -> Template:
    try:
        template = parse_template(text)
        check_names(template, frozenset(words))
    except PlanError as exc:
        raise PlanError(f"{key}: {exc.message}", line=exc.line, hint=exc.hint) from exc
    return template
