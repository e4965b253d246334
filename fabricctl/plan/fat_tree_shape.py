"""How many switches a fat tree has and how they are joined: arithmetic only.

The sizing rule: a leaf sends the same number of cables to each spine of its set, so the spine count must
divide the leaf's up ports, and the smallest such count whose ports suffice is taken; likewise cores. It
gives every row NVIDIA publishes for DGX SuperPOD (H100 reference architecture, "Network Fabrics", table 4:
3 scalable units have 16 spines, not 12; B200 reference architecture: 16 units have 128 leaves, 128 spines
and 64 cores).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.plan.fat_tree_params import CorePattern, FatTree, PortLayout, SpinesPer

MAX_SWITCH_PORTS = 254
MAX_HCAS = 1_000_000


class LeafId(NamedTuple):
    """A leaf: scalable unit and number within it (the rail when rail-optimised), both 1-based."""

    unit: int
    slot: int


@dataclass(frozen=True)
class Shape:
    """Counts of one fat tree.

    :param blocks: the leaves of each spine set, in cabling order.
    :param spines: per set; :param leaf_spine: cables between a leaf and a spine of its set.
    :param core_groups, cores: groups, cores per group (0 with two tiers).
    :param spine_core: cables between a spine and a core of its group.
    """

    leaf_ports: PortLayout
    spine_ports: PortLayout
    core_ports: int
    leaves_per_unit: int
    blocks: tuple[tuple[LeafId, ...], ...]
    spines: int
    leaf_spine: int
    core_groups: int = 0
    cores: int = 0
    spine_core: int = 0

    def group(self, pattern: CorePattern, block: int, index: int) -> int:
        """Core group (1-based) of spine ``index`` of set ``block``, both 1-based."""
        return block if pattern is CorePattern.PLANE else (index - 1) % self.core_groups + 1


def shape_of(tree: FatTree) -> Shape:
    """Size a fat tree. :raises PlanError: when it cannot be built, with what would have to change."""
    _check_counts(tree)
    leaf = tree.leaf_ports or _halves(tree.switch_ports)
    spine = tree.spine_ports or (
        _halves(tree.switch_ports)
        if tree.tiers == 3
        else PortLayout(tuple(range(1, tree.switch_ports + 1)), ())
    )
    for name, layout in (("leaf-ports", leaf), ("spine-ports", spine)):
        _check_layout(name, layout, tree.switch_ports)
    per_unit = _leaves_per_unit(tree, len(leaf.down))
    blocks = _blocks(tree, per_unit)
    spines = _spine_count(tree, len(leaf.up), len(spine.down), max(len(block) for block in blocks))
    shape = Shape(leaf, spine, tree.switch_ports, per_unit, blocks, spines, len(leaf.up) // spines)
    return shape if tree.tiers == 2 else _with_cores(tree, shape)


def _check_counts(tree: FatTree) -> None:
    if tree.tiers not in (2, 3):
        raise PlanError(f"tiers: expected 2 or 3, found {tree.tiers}")
    for name, value in (
        ("units", tree.units),
        ("nodes-per-unit", tree.nodes_per_unit),
        ("rails", tree.rails),
        ("pod-units", tree.pod_units),
    ):
        if value < 1:
            raise PlanError(f"{name}: expected 1 or more, found {value}")
    if not 2 <= tree.switch_ports <= MAX_SWITCH_PORTS:
        raise PlanError(f"switch-ports: expected 2 to {MAX_SWITCH_PORTS}, found {tree.switch_ports}")
    if tree.units * tree.nodes_per_unit * tree.rails > MAX_HCAS:
        raise PlanError(f"units x nodes-per-unit x rails is more than {MAX_HCAS:,} HCAs")
    if tree.hca_names and len(tree.hca_names) != tree.rails:
        raise PlanError(f"hcas: expected {tree.rails} names, one per rail, found {len(tree.hca_names)}")
    if tree.scope is SpinesPer.RAIL and not tree.rail_optimised:
        raise PlanError("spines-per: rail goes only with rail-optimised: true")


def _halves(ports: int) -> PortLayout:
    half = ports // 2
    return PortLayout(tuple(range(1, half + 1)), tuple(range(half + 1, 2 * half + 1)))


def _check_layout(name: str, layout: PortLayout, ports: int) -> None:
    both = [*layout.down, *layout.up]
    if len(set(both)) != len(both):
        twice = next(port for port in both if both.count(port) > 1)
        raise PlanError(f"{name}: port {twice} is named twice")
    for port in both:
        if not 1 <= port <= ports:
            raise PlanError(f"{name}: port {port} is outside 1 to {ports}")
    if not layout.down or (name == "leaf-ports" and not layout.up):
        raise PlanError(f"{name}: expected at least one port down and, of a leaf, one up")


def _leaves_per_unit(tree: FatTree, down: int) -> int:
    if not tree.rail_optimised:
        return -(-tree.nodes_per_unit * tree.rails // down)
    if tree.nodes_per_unit > down:
        raise PlanError(
            f"nodes-per-unit: {tree.nodes_per_unit} nodes need as many leaf ports down, found {down}"
        )
    return tree.rails


def _blocks(tree: FatTree, per_unit: int) -> tuple[tuple[LeafId, ...], ...]:
    units, slots = range(1, tree.units + 1), range(1, per_unit + 1)
    if tree.scope is SpinesPer.RAIL:
        return tuple(tuple(LeafId(unit, slot) for unit in units) for slot in slots)
    size = tree.units if tree.scope is SpinesPer.FABRIC else tree.pod_units
    return tuple(
        tuple(LeafId(unit, slot) for unit in units[start : start + size] for slot in slots)
        for start in range(0, tree.units, size)
    )


def _spine_count(tree: FatTree, up: int, down: int, leaves: int) -> int:
    """Spines per set: ``up`` ports of a leaf, ``down`` ports of a spine, ``leaves`` per set."""
    fits = [n for n in range(1, up + 1) if up % n == 0 and leaves * (up // n) <= down]
    if tree.spines is None:
        if not fits:
            raise PlanError(
                f"{leaves} leaves share one set of spines, but a spine has only {down} ports down",
                hint="use three tiers, spines-per: pod, or switches with more ports",
            )
        return fits[0]
    if tree.spines not in fits:
        raise PlanError(
            f"spines: {tree.spines} does not work for {leaves} leaves with {up} ports up and {down} spine ports "
            f"down; expected {_any_of(fits)}"
        )
    return tree.spines


def _with_cores(tree: FatTree, shape: Shape) -> Shape:
    up, blocks = len(shape.spine_ports.up), len(shape.blocks)
    if not up:
        raise PlanError("spine-ports: with three tiers a spine needs ports up")
    groups = _core_groups(tree, shape, blocks)
    members = max(_members(tree.core_pattern, groups, blocks, shape.spines))
    fits = [n for n in range(1, up + 1) if up % n == 0 and members * (up // n) <= shape.core_ports]
    if tree.cores is None:
        if not fits:
            raise PlanError(
                f"{members} spines share each core, but a core has only {shape.core_ports} ports",
                hint="use more core-groups, larger pods (pod-units), or switches with more ports",
            )
        cores = fits[0]
    else:
        cores = tree.cores // groups
        if cores * groups != tree.cores or cores not in fits:
            raise PlanError(
                f"cores: {tree.cores} does not work in {groups} groups of {members} spines with {up} ports up; "
                f"expected {_any_of([n * groups for n in fits])}"
            )
    return Shape(
        shape.leaf_ports,
        shape.spine_ports,
        shape.core_ports,
        shape.leaves_per_unit,
        shape.blocks,
        shape.spines,
        shape.leaf_spine,
        groups,
        cores,
        up // cores,
    )


def _core_groups(tree: FatTree, shape: Shape, blocks: int) -> int:
    fixed = {CorePattern.FULL: 1, CorePattern.PLANE: blocks}.get(tree.core_pattern)
    if fixed is not None:
        if tree.core_groups not in (None, fixed):
            raise PlanError(
                f"core-groups: core-pattern {tree.core_pattern} has {fixed}, found {tree.core_groups}"
            )
        return fixed
    groups = shape.spines if tree.core_groups is None else tree.core_groups
    if not 1 <= groups <= shape.spines:
        raise PlanError(f"core-groups: expected 1 to {shape.spines} (the spines of a set), found {groups}")
    return groups


def _members(pattern: CorePattern, groups: int, blocks: int, spines: int) -> list[int]:
    """How many spines each core group has."""
    if pattern is CorePattern.PLANE:
        return [spines] * groups
    return [blocks * len(range(group, spines, groups)) for group in range(groups)]


def _any_of(numbers: list[int]) -> str:
    return " or ".join(str(n) for n in numbers) if numbers else "another layout, no number works"
