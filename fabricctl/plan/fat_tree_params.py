"""What a fat-tree generator can be told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fabricctl.rates import Rate


class SpinesPer(StrEnum):
    """Which leaves share a set of spines."""

    POD = "pod"
    """The leaves of one unit (or of ``pod_units`` units)."""
    RAIL = "rail"
    """The leaves of one rail, over all units."""
    FABRIC = "fabric"
    """All leaves."""


class CorePattern(StrEnum):
    """To which cores a spine goes. Every spine of a core group goes to every core of that group."""

    SPINE_INDEX = "spine-index"
    """Group by the spine's index in its set, modulo ``core_groups``: what joins the sets."""
    FULL = "full"
    """One group: every spine to every core."""
    PLANE = "plane"
    """A group per spine set: nothing joins the sets, the fabric falls into as many networks."""


class PortLayout(NamedTuple):
    """Which InfiniBand ports of a switch face down and which up, each in cabling order."""

    down: tuple[int, ...]
    up: tuple[int, ...]


class Attachment(NamedTuple):
    """An HCA that is not part of a node: a UFM server in a place without a node.

    :param rail: leaf within the unit (in a rail-optimised plan, the rail).
    :param port: leaf port, None for the first free one.
    """

    host: str
    hca: str
    unit: int
    rail: int
    port: int | None = None


@dataclass(frozen=True)
class FatTree:
    """Parameters of a fat tree; the defaults are 64-port switches, eight rails and 32 nodes a unit.

    Place p (1-based, counted over all units) of the nodes is place ``(p - 1) % nodes_per_unit + 1`` of its
    unit and, rail-optimised, that down port of each of the unit's ``rails`` leaves.

    :param hosts: how many nodes, None for all places but the empty ones; :param host_names: their names,
        instead of the ``host`` template; :param empty_places: places without a node, skipped.
    :param reserve_for: who holds the leaf ports that no node and no attachment uses; "" for nobody.
    :param leaf_ports: default lower half down, upper half up; :param spine_ports: the same with three
        tiers, all ports down with two.
    :param spines: spines per set, None for the smallest number that fits and divides the leaf's up ports.
    :param pod_units: units per pod; :param core_groups: only with ``SPINE_INDEX``, default ``spines``.
    :param cores: all cores, None for the smallest number that fits.
    :param host, hca, leaf, spine, core: name templates. Known in ``host``: ``host`` (running number),
        ``place``, ``su``, ``index`` (place in the unit); in ``hca`` these and ``rail``; in ``leaf``: ``su``,
        ``pod``, ``rail``, ``leaf`` (running number); in ``spine``: ``index`` (in its set), ``block`` (the
        set), ``spine`` (running number), ``pod`` or ``rail`` where a set belongs to one; in ``core``:
        ``core`` (running number), ``group``, ``index`` (in its group).
    :param hca_names: HCA names in rail order, instead of the ``hca`` template.
    :param rate: of every cable; :param link_class: of every cable.
    :param non_blocking: declared; None: declared when leaves have no more down than up ports.
    """

    units: int
    tiers: int = 3
    nodes_per_unit: int = 32
    rails: int = 8
    rail_optimised: bool = True
    hosts: int | None = None
    host_names: tuple[str, ...] = ()
    empty_places: tuple[int, ...] = ()
    attach: tuple[Attachment, ...] = ()
    reserve_for: str = ""
    switch_ports: int = 64
    leaf_ports: PortLayout | None = None
    spine_ports: PortLayout | None = None
    spines_per: SpinesPer | None = None
    spines: int | None = None
    pod_units: int = 1
    core_pattern: CorePattern = CorePattern.SPINE_INDEX
    core_groups: int | None = None
    cores: int | None = None
    host: str = "gpu{host:03}"
    hca: str = "mlx5_{rail - 1}"
    hca_names: tuple[str, ...] = ()
    leaf: str = "ibl-p{su:02}-r{rail}"
    spine: str = ""
    core: str = "ibc-{core:02}"
    switch_model: str = ""
    hca_model: str = ""
    rate: Rate | None = None
    link_class: str = ""
    non_blocking: bool | None = None

    @property
    def scope(self) -> SpinesPer:
        """Which leaves share spines: by default all of them with two tiers, a pod's with three."""
        return self.spines_per or (SpinesPer.FABRIC if self.tiers == 2 else SpinesPer.POD)
