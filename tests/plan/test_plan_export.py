from __future__ import annotations

from fabricctl.fabric import Fabric, Link, LinkDetail, Node, NodeKind, Place, Port
from fabricctl.plan.export import to_csv
from fabricctl.plan.fat_tree import Attachment, FatTree, build
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.table import parse_csv
from fabricctl.rates import Rate


def _cables(fabric: Fabric) -> set[tuple[frozenset[Port], Rate | None]]:
    return {(frozenset({link.a, link.b}), link.rate) for link in fabric.each_link()}


def test_columns_and_cells_are_as_documented() -> None:
    leaf = Node("leaf1", NodeKind.SWITCH, "leaf1", place=Place("R01", "U40"))
    hca = Node("gpu1 mlx5_0", NodeKind.HCA, "gpu1 mlx5_0", host="gpu1", hca="mlx5_0")
    fabric = Fabric({node.key: node for node in (leaf, hca)})
    detail = LinkDetail(link_class="compute", cable='MCP, "3m"', length_m=3.0)
    fabric.connect(Link(Port("gpu1 mlx5_0", 1), Port("leaf1", 5), Rate(4, "NDR"), detail=detail))
    fabric.connect(Link(Port("gpu1 mlx5_0", 2), Port("leaf1", 6)))
    assert to_csv(Plan(fabric, PlanFormat.CSV)) == (
        "a_device,a_port,z_device,z_port,a_rack,a_u,z_rack,z_u,speed,class,length_m,cable,a_type,z_type\n"
        'gpu1,mlx5_0,leaf1,5,,,R01,U40,4xNDR,compute,3,"MCP, ""3m""",host,switch\n'
        "gpu1,mlx5_0/2,leaf1,6,,,R01,U40,,,,,host,switch\n"
    )


def test_a_generated_plan_survives_export_and_reading() -> None:
    ufm = (Attachment("ufm1", "mlx5_0", 16, 1), Attachment("ufm2", "mlx5_0", 16, 2))
    plan = build(FatTree(units=16, hosts=511, attach=ufm, rate=Rate(4, "NDR"), link_class="compute"))
    back = parse_csv(to_csv(plan), "plan.csv")
    assert _cables(back.fabric) == _cables(plan.fabric)
    assert {key: node.kind for key, node in back.fabric.nodes.items()} == {
        key: node.kind for key, node in plan.fabric.nodes.items()
    }
    link = back.fabric.links[Port("ufm1 mlx5_0", 1)]
    assert link.detail is not None
    assert link.detail.link_class == "compute"


def test_a_small_plan_of_switches_alone_keeps_its_kinds_places_and_cable_data() -> None:
    nodes = [Node(name, NodeKind.SWITCH, name, place=Place("R07", "12")) for name in ("spine1", "core1")]
    fabric = Fabric({node.key: node for node in nodes})
    detail = LinkDetail(cable="C-17", length_m=12.5)
    fabric.connect(Link(Port("spine1", 3), Port("core1", 4), detail=detail))
    back = parse_csv(to_csv(Plan(fabric, PlanFormat.CSV)), "plan.csv").fabric
    (link,) = back.each_link()
    assert {node.kind for node in back.nodes.values()} == {NodeKind.SWITCH}
    assert {node.place for node in back.nodes.values()} == {Place("R07", "12")}
    assert link.detail is not None
    assert (link.detail.cable, link.detail.length_m) == ("C-17", 12.5)


def test_a_plan_keyed_by_guid_exports_its_guids() -> None:
    keys = ("0x9c0591030a000000", "0x9c0591030a000100")
    fabric = Fabric({key: Node(key, NodeKind.SWITCH, f"sw{n}", guid=key) for n, key in enumerate(keys)})
    fabric.connect(Link(Port(keys[0], 1), Port(keys[1], 2)))
    header, row = to_csv(Plan(fabric, PlanFormat.SNAPSHOT, keyed_by_guid=True)).splitlines()
    assert header.endswith(",a_type,z_type,a_guid,z_guid")
    assert row == f"sw0,1,sw1,2,,,,,,,,,switch,switch,{keys[0]},{keys[1]}"
