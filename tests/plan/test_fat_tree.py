from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, NodeKind, Port
from fabricctl.plan.checks import leaf_loads
from fabricctl.plan.fat_tree import Attachment, CorePattern, FatTree, PortLayout, SpinesPer, build
from fabricctl.plan.model import Plan
from tests.conftest import read_capture

UFM = (Attachment("ufm1", "mlx5_0", 16, 1, 32), Attachment("ufm2", "mlx5_0", 16, 2, 32))
POD_SHAPE = FatTree(units=16, hosts=511, attach=UFM, reserve_for="ufm")
RAIL_SHAPE = FatTree(units=16, hosts=511, attach=UFM, reserve_for="ufm", spines_per=SpinesPer.RAIL)


def _switches(plan: Plan) -> list[int]:
    tiers = Counter(node.tier for node in plan.fabric.switches())
    return [tiers[1], tiers[2], tiers[3]]


def _cables(plan: Plan) -> list[int]:
    nodes = plan.fabric.nodes
    pairs = Counter(
        tuple(sorted((nodes[link.a.node].tier or 0, nodes[link.b.node].tier or 0)))
        for link in plan.fabric.each_link()
    )
    return [pairs[0, 1], pairs[1, 2], pairs[2, 3]]


def _components(fabric: Fabric) -> int:
    return nx.number_connected_components(fabric.graph)


# DGX SuperPOD reference architecture H100, "Network Fabrics", table 4: SU, nodes, leaf, spine, cables of nodes and UFM,
# spine-leaf cables. One node is left out for UFM, which has four cables.
@pytest.mark.parametrize(
    ("units", "nodes", "leaves", "spines", "node_cables", "spine_cables"),
    [
        (1, 31, 8, 4, 252, 256),
        (2, 63, 16, 8, 508, 512),
        (3, 95, 24, 16, 764, 768),
        (4, 127, 32, 16, 1020, 1024),
    ],
)
def test_h100_table_4(
    units: int, nodes: int, leaves: int, spines: int, node_cables: int, spine_cables: int
) -> None:
    ufm = tuple(Attachment(f"ufm{1 + n // 2}", f"mlx5_{n % 2}", units, n + 1) for n in range(4))
    plan = build(FatTree(units=units, tiers=2, hosts=nodes, attach=ufm))
    assert _switches(plan) == [leaves, spines, 0]
    assert _cables(plan) == [node_cables, spine_cables, 0]
    assert len({node.host for node in plan.fabric.hcas() if node.rail}) == nodes


# DGX SuperPOD reference architecture B200, scalable-unit tables.
@pytest.mark.parametrize(
    ("units", "nodes", "switches", "cables"),
    [
        (2, 64, [16, 8, 0], [512, 512, 0]),
        (4, 128, [32, 16, 0], [1024, 1024, 0]),
        (8, 256, [64, 32, 0], [2048, 2048, 0]),
        (16, 512, [128, 128, 64], [4096, 4096, 4096]),
        (32, 1024, [256, 256, 128], [8192, 8192, 8192]),
        (64, 2048, [512, 512, 256], [16384, 16384, 16384]),
    ],
)
def test_b200_rows(units: int, nodes: int, switches: list[int], cables: list[int]) -> None:
    plan = build(FatTree(units=units, tiers=2 if units <= 8 else 3))
    assert _switches(plan) == switches
    assert _cables(plan) == cables
    assert len({node.host for node in plan.fabric.hcas()}) == nodes
    assert _components(plan.fabric) == 1


@pytest.mark.parametrize("tree", [POD_SHAPE, RAIL_SHAPE], ids=["pod", "rail"])
def test_511_hosts_take_320_switches_in_both_shapes(tree: FatTree) -> None:
    plan = build(tree)
    assert _switches(plan) == [128, 128, 64]
    assert _cables(plan) == [511 * 8 + 2, 4096, 4096]
    assert _components(plan.fabric) == 1
    assert plan.declares_rails
    assert plan.non_blocking
    assert plan.notes == []


def test_rail_shape_joins_two_cables_per_spine_and_eight_per_core() -> None:
    graph = build(RAIL_SHAPE).fabric.graph
    assert graph.number_of_edges("ibl-p07-r3", "ibs-r3-s16") == 2
    assert graph.number_of_edges("ibl-p07-r3", "ibs-r4-s16") == 0
    assert sorted(peer for peer in graph["ibs-r3-s02"] if peer.startswith("ibc")) == [
        "ibc-05",
        "ibc-06",
        "ibc-07",
        "ibc-08",
    ]
    assert graph.number_of_edges("ibs-r3-s02", "ibc-05") == 8


def test_the_512th_place_is_held_for_ufm() -> None:
    plan = build(POD_SHAPE)
    assert plan.reserved == {Port(f"ibl-p16-r{rail}", 32): "ufm" for rail in range(3, 9)}
    assert plan.fabric.peer(Port("ibl-p16-r1", 32)) == Port("ufm1 mlx5_0", 1)


def test_an_empty_place_in_the_middle_is_skipped() -> None:
    plan = build(FatTree(units=2, tiers=2, empty_places=(32,), host="gpu{place:03}", reserve_for="ufm"))
    assert plan.fabric.peer(Port("ibl-p02-r5", 1)) == Port("gpu033 mlx5_4", 1)
    assert sorted(plan.reserved) == [Port(f"ibl-p01-r{rail}", 32) for rail in range(1, 9)]


_BLOCK = re.compile(r'^(?:Switch|Ca)\t\d+ "(\S+)"\t\t# "(.*)"$')
_LINE = re.compile(r'^\[(\d+)\]\t"(\S+)"\[(\d+)\]')


def _net_cables(text: str) -> set[frozenset[tuple[str, int]]]:
    """Cables of an ibsim net by node name; ``MF0;name:MODEL/U1`` is ``name``."""
    names: dict[str, str] = {}
    ends: list[tuple[str, int, str, int]] = []
    current = ""
    for line in text.splitlines():
        if block := _BLOCK.match(line):
            current = block[1]
            names[current] = re.sub(r"^MF0;(.*):.*$", r"\1", block[2])
        elif link := _LINE.match(line):
            ends.append((current, int(link[1]), link[2], int(link[3])))
    return {frozenset({(names[a], p), (names[b], q)}) for a, p, b, q in ends}


def _plan_cables(plan: Plan) -> set[frozenset[tuple[str, int]]]:
    nodes = plan.fabric.nodes
    return {
        frozenset({(nodes[link.a.node].name, link.a.number), (nodes[link.b.node].name, link.b.number)})
        for link in plan.fabric.each_link()
    }


def test_pod_shape_is_the_captured_fabric_cable_by_cable(captures: Path) -> None:
    expected = _net_cables(read_capture(captures / "ibsim/imbue/fabric.net.gz"))
    assert len(expected) == 12_282
    assert _plan_cables(build(POD_SHAPE)) == expected


def test_plane_wiring_is_the_captured_fabric_of_eight_islands(captures: Path) -> None:
    planes = FatTree(
        units=16,
        hosts=511,
        attach=UFM,
        spines_per=SpinesPer.RAIL,
        core_pattern=CorePattern.PLANE,
        spine="ibs-p{index:02}-s{rail}",
    )
    plan = build(planes)
    assert _plan_cables(plan) == _net_cables(read_capture(captures / "ibsim/imbue-islands/fabric.net.gz"))


def test_eight_planes_have_every_port_count_right_and_are_eight_networks() -> None:
    tree = FatTree(units=16, spines_per=SpinesPer.RAIL, core_pattern=CorePattern.PLANE)
    plan = build(tree)
    assert _switches(plan) == [128, 128, 64]
    assert _cables(plan) == [4096, 4096, 4096]
    assert {plan.fabric.graph.degree(node.key) for node in plan.fabric.switches()} == {64}
    assert _components(plan.fabric) == 8
    assert plan.notes[0].startswith("This wiring makes 8 separate networks (core-pattern: plane)")


def test_each_spine_to_half_of_the_cores_is_a_core_pattern() -> None:
    plan = build(FatTree(units=16, core_groups=2))
    graph = plan.fabric.graph
    cores = [peer for peer in graph["ibs-p03-s4"] if peer.startswith("ibc")]
    assert len(cores) == 32
    assert _switches(plan) == [128, 128, 64]
    assert graph.number_of_edges("ibs-p03-s4", cores[0]) == 1


def test_large_pods_reach_what_one_unit_per_pod_cannot() -> None:
    # three tiers of 8-port switches carry 8^3 / 4 = 128 HCAs: 32 leaves, 32 spines, 16 cores
    with pytest.raises(PlanError, match=r"a core has only 8 ports \(use more core-groups, larger pods"):
        build(FatTree(units=16, nodes_per_unit=4, rails=2, switch_ports=8))
    plan = build(FatTree(units=16, nodes_per_unit=4, rails=2, switch_ports=8, pod_units=2))
    assert _switches(plan) == [32, 32, 16]
    assert _cables(plan) == [128, 128, 128]
    assert _components(plan.fabric) == 1


def test_without_rails_a_node_fills_one_leaf() -> None:
    plan = build(FatTree(units=1, tiers=2, rail_optimised=False))
    leaf_of = {link.b.node for link in plan.fabric.each_link() if link.a.node.startswith("gpu005 ")}
    assert leaf_of == {"ibl-p01-r2"}
    assert not plan.declares_rails
    assert {node.rail for node in plan.fabric.nodes.values()} == {None}


def test_nodes_carry_what_the_plan_knows_of_them() -> None:
    fabric = build(FatTree(units=2, tiers=2, switch_model="QM9700", hca_names=tuple("abcdefgh"))).fabric
    hca = fabric.nodes["gpu033 c"]
    assert (hca.kind, hca.host, hca.hca, hca.tier, hca.rail, hca.unit, hca.ports) == (
        NodeKind.HCA, "gpu033", "c", 0, 3, 2, 1,
    )  # fmt: skip
    leaf = fabric.nodes["ibl-p02-r3"]
    assert (leaf.kind, leaf.tier, leaf.rail, leaf.unit, leaf.ports, leaf.model) == (
        NodeKind.SWITCH, 1, 3, 2, 64, "QM9700",
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    units=st.integers(1, 6),
    nodes=st.integers(1, 8),
    rails=st.integers(1, 4),
    radix=st.sampled_from([8, 12, 16]),
    tiers=st.sampled_from([2, 3]),
    per=st.sampled_from([None, *SpinesPer]),
    pattern=st.sampled_from(list(CorePattern)),
)
def test_whatever_is_built_keeps_the_rules_of_a_fat_tree(
    units: int, nodes: int, rails: int, radix: int, tiers: int, per: SpinesPer | None, pattern: CorePattern
) -> None:
    tree = FatTree(
        units=units,
        nodes_per_unit=nodes,
        rails=rails,
        switch_ports=radix,
        tiers=tiers,
        spines_per=per,
        core_pattern=pattern,
    )
    try:
        plan = build(tree)
    except PlanError:
        return
    fabric = plan.fabric
    used = [port for link in fabric.each_link() for port in (link.a, link.b)]
    assert len(used) == len(set(used)) == 2 * fabric.link_count
    for node in fabric.switches():
        numbers = [port.number for port in used if port.node == node.key]
        assert all(1 <= number <= radix for number in numbers)
    down_and_up = {(load.down <= load.up, load.up) for load in leaf_loads(plan).values()}
    assert down_and_up == {(True, radix // 2)}
    uplinks: dict[str, Counter[str]] = {}
    for link in fabric.each_link():
        uplinks.setdefault(link.a.node, Counter())[link.b.node] += 1
    assert all(len(set(peers.values())) == 1 for peers in uplinks.values())  # equal bundles everywhere
    apart = re.search(r"makes (\d+) separate", plan.notes[0]) if plan.notes else None
    assert _components(fabric) == (int(apart[1]) if apart else 1)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        (
            FatTree(units=16, tiers=2),
            "128 leaves share one set of spines, but a spine has only 64 ports down",
        ),
        (FatTree(units=64, spines_per=SpinesPer.RAIL), "64 leaves share one set of spines"),
        (FatTree(units=2, nodes_per_unit=40), "40 nodes need as many leaf ports down, found 32"),
        (FatTree(units=2, hosts=65), "65 nodes, but the 2 units have 64 places"),
        (FatTree(units=2, spines=12), "spines: 12 does not work for 8 leaves with 32 ports up"),
        (FatTree(units=16, cores=60), "cores: 60 does not work in 8 groups of 16 spines"),
        (FatTree(units=2, host="gpu{index}"), "the name 'gpu1 mlx5_0' is given twice"),
        (FatTree(units=2, leaf="leaf{pdo}"), "unknown name 'pdo' (did you mean pod?)"),
        (
            FatTree(units=1, attach=(Attachment("ufm1", "mlx5_0", 1, 1, 32),)),
            "port ibl-p01-r1/32 is used twice",
        ),
        (FatTree(units=1, attach=(Attachment("ufm1", "mlx5_0", 1, 1),)), "ibl-p01-r1 has no free port"),
        (
            FatTree(units=1, hosts=31, attach=(Attachment("ufm1", "mlx5_0", 1, 9),)),
            "there is no leaf 9 in unit 1",
        ),
        (FatTree(units=1, hosts=31, attach=(Attachment("ufm1", "mlx5_0", 1, 1, 40),)), "does not face down"),
        (FatTree(units=1, leaf_ports=PortLayout((1, 2), (2, 3))), "leaf-ports: port 2 is named twice"),
        (FatTree(units=1, hca_names=("mlx5_0",)), "expected 8 names, one per rail, found 1"),
        (FatTree(units=1, tiers=4), "tiers: expected 2 or 3, found 4"),
    ],
)
def test_parameters_that_contradict_each_other_are_named(tree: FatTree, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        build(tree)
    assert said in str(caught.value)
