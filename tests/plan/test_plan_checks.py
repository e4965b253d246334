from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.plan.checks import PlanSeverity, check_plan, infer_tiers, islands, leaf_loads
from fabricctl.plan.fat_tree import Attachment, CorePattern, FatTree, PortLayout, SpinesPer, build
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.yaml_doc import parse_plan_document
from fabricctl.rates import Rate
from tests.conftest import read_capture


def _fabric(*cables: str, tiers: dict[str, int] | None = None) -> Fabric:
    """Cables such as ``leaf1/3 spine1/1``; ``h1:mlx5_0/1`` is an HCA."""
    fabric = Fabric()
    for cable in cables:
        ends = []
        for text in cable.split():
            name, number = text.split("/")
            host, _, hca = name.partition(":")
            key = f"{host} {hca}" if hca else host
            kind = NodeKind.HCA if hca else NodeKind.SWITCH
            tier = (tiers or {}).get(key)
            fabric.nodes.setdefault(
                key, Node(key, kind, key, host=host if hca else None, hca=hca or None, tier=tier)
            )
            ends.append(Port(key, int(number)))
        assert fabric.connect(Link(*ends)) is None
    return fabric


def _texts(plan: Plan) -> list[str]:
    return [f"{finding.severity}: {finding.text}" for finding in check_plan(plan)]


def test_the_generated_cluster_has_no_finding() -> None:
    ufm = (Attachment("ufm1", "mlx5_0", 16, 1), Attachment("ufm2", "mlx5_0", 16, 2))
    assert _texts(build(FatTree(units=16, hosts=511, attach=ufm, reserve_for="ufm"))) == []


def test_eight_planes_are_a_warning_that_gives_their_size() -> None:
    plan = build(FatTree(units=16, spines_per=SpinesPer.RAIL, core_pattern=CorePattern.PLANE))
    assert _texts(plan) == [
        "warning: the intended fabric is 8 separate networks, no cable joins them: 8 of 40 switches and 512 HCAs."
    ]


def test_a_blocking_leaf_in_a_plan_declared_non_blocking_is_an_error() -> None:
    layout = PortLayout(tuple(range(1, 33)), tuple(range(33, 49)))
    plan = build(FatTree(units=1, tiers=2, leaf_ports=layout, non_blocking=True))
    assert _texts(plan) == [
        "error: the plan is declared non-blocking, but 8 leaves have 32 down, 16 up, 2:1: ibl-p01-r[1-8]."
    ]
    assert not build(FatTree(units=1, tiers=2, leaf_ports=layout)).non_blocking


def test_faster_uplinks_make_up_for_fewer() -> None:
    fabric = _fabric("h1:mlx5_0/1 leaf/1", "h2:mlx5_0/1 leaf/2", "leaf/3 spine/1")
    for link in list(fabric.each_link()):
        speed = "NDR" if link.b.node == "spine" else "HDR"
        fabric.links[link.a] = fabric.links[link.b] = link._replace(rate=Rate(4, speed))
    (load,) = leaf_loads(Plan(fabric, PlanFormat.CSV)).values()
    assert (load.down, load.up, load.ratio) == (2, 1, 1.0)


def test_a_port_kept_free_counts_as_a_port_down() -> None:
    plan = build(FatTree(units=1, tiers=2, hosts=30, reserve_for="ufm"))
    assert {(load.down, load.up, load.ratio) for load in leaf_loads(plan).values()} == {(32, 32, 1.0)}


def test_a_port_beyond_the_device_is_an_error() -> None:
    fabric = _fabric("sw1/1 sw2/1", "sw1/37 sw2/2")
    fabric.nodes["sw1"] = Node("sw1", NodeKind.SWITCH, "sw1", ports=36, model="MSB7700")
    assert _texts(Plan(fabric, PlanFormat.CSV)) == [
        "error: sw1 (MSB7700) has ports 1 to 36; the plan also uses 37."
    ]


@pytest.mark.parametrize(("host", "found"), [("gpu512", 1), ("ufm1", 0)])
def test_only_its_holder_may_be_on_a_reserved_port(host: str, found: int) -> None:
    plan = Plan(_fabric(f"{host}:mlx5_0/1 leaf/32", "leaf/33 spine/1"), PlanFormat.CSV)
    plan.reserved[Port("leaf", 32)] = "ufm"
    expected = ["error: port leaf/32 is reserved for ufm, but the plan gives it to gpu512 mlx5_0."]
    assert _texts(plan) == expected[:found]


def test_an_hca_on_a_leaf_of_another_rail_is_an_error_where_rails_are_declared() -> None:
    fabric = _fabric("gpu1:mlx5_0/1 leaf/1")
    fabric.nodes["leaf"] = Node("leaf", NodeKind.SWITCH, "leaf", rail=2)
    fabric.nodes["gpu1 mlx5_0"] = Node("gpu1 mlx5_0", NodeKind.HCA, "gpu1 mlx5_0", rail=1)
    plan = Plan(fabric, PlanFormat.CSV, declares_rails=True)
    assert _texts(plan) == ["error: gpu1 mlx5_0 is of rail 1, but the plan puts it on leaf/1 of rail 2."]
    assert _texts(Plan(fabric, PlanFormat.CSV)) == []


def test_a_device_without_cables_is_a_note_and_a_loopback_a_warning() -> None:
    fabric = _fabric("sw1/1 sw1/2")
    fabric.nodes["sw2"] = Node("sw2", NodeKind.SWITCH, "sw2")
    assert [finding.severity for finding in check_plan(Plan(fabric, PlanFormat.CSV))] == [
        PlanSeverity.WARNING,
        PlanSeverity.NOTE,
    ]


def test_tiers_follow_from_where_the_hcas_are() -> None:
    built = build(FatTree(units=4, nodes_per_unit=4, rails=2, switch_ports=8)).fabric
    bare = Fabric(
        {key: Node(key, node.kind, key, host=node.host, hca=node.hca) for key, node in built.nodes.items()},
        built.links,
    )
    assert infer_tiers(bare) == {key: node.tier for key, node in built.nodes.items()}


def test_a_spine_with_a_ufm_server_on_it_is_still_a_spine() -> None:
    leaves = [f"h{n}:mlx5_0/1 leaf{n}/1" for n in range(8)]
    uplinks = [f"leaf{n}/2 spine/{n + 1}" for n in range(8)]
    tiers = infer_tiers(_fabric(*leaves, *uplinks, "ufm1:mlx5_0/1 spine/9"))
    assert tiers["spine"] == 2
    assert tiers["leaf3"] == 1


def test_without_hcas_tiers_stay_unknown_unless_declared() -> None:
    cables = ("leaf/1 spine/1", "spine/2 core/1")
    assert infer_tiers(_fabric(*cables)) == {}
    assert infer_tiers(_fabric(*cables, tiers={"leaf": 1})) == {"leaf": 1, "spine": 2, "core": 3}


def test_islands_come_largest_first_without_idle_devices() -> None:
    fabric = _fabric("a/1 b/1", "c/1 d/1", "d/2 e/1")
    fabric.nodes["idle"] = Node("idle", NodeKind.SWITCH, "idle")
    assert islands(fabric) == [frozenset("cde"), frozenset("ab")]


def test_selene_tiers_follow_from_declared_leaves(captures: Path) -> None:
    table = read_capture(captures / "selene/selene_switch_cabling.csv").split()[1:]
    cables = [f"{a}/{p} {z}/{q}" for a, p, z, q in (row.split(",") for row in table)]
    leaves = {f"LG{g:02}-{y:02}": 1 for g in range(1, 29) for y in range(1, 9)}
    tiers = infer_tiers(_fabric(*cables, tiers=leaves))
    prefix = {"LG": 1, "CS": 2, "CC": 3}
    assert len(tiers) > 600
    assert all(tier == prefix[name[:2]] for name, tier in tiers.items())


def test_a_rules_plan_is_checked_like_any_other() -> None:
    plan = parse_plan_document(
        "rules:\n  non-blocking: true\n  values: {n: 1..3}\n  links:\n"
        "    - {from: 'h{n}', from-hca: mlx5_0, to: leaf, to-port: n}\n"
        "    - {from: leaf, from-port: n + 3, to: 'spine{n}', to-port: 1, where: n < 3}\n",
        "p.yaml",
    )
    assert _texts(plan) == [
        "error: the plan is declared non-blocking, but 1 leaf has 3 down, 2 up, 1.5:1: leaf."
    ]
