"""What point-to-point tables become."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fabricctl.errors import PlanError
from fabricctl.fabric import NodeKind, Place, Port
from fabricctl.model_tables import find_model
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.checks import PlanSeverity, check_plan
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.table import parse_csv
from fabricctl.rates import Rate

HEADER = "a_device,a_port,z_device,z_port"


def table(*rows: str, header: str = HEADER, site: object = None) -> Plan:
    return parse_csv("\n".join((header, *rows)) + "\n", "cables.csv", site=site)  # type: ignore[arg-type]


def pairs(plan: Plan) -> set[tuple[Port, Port]]:
    return {(link.a, link.b) for link in plan.fabric.each_link()}


class Site:
    """A site that knows one NDR switch, one HDR switch and one host."""

    def switch_model(self, device: str) -> SwitchModel | None:
        return find_model({"leaf1": "QM9700", "edge1": "QM8700"}.get(device, ""))

    def node_model(self, host: str) -> NodeModel | None:
        return NodeModel("dgx", ("mlx5_0", "mlx5_3", "mlx5_4")) if host == "gpu1" else None

    def place(self, device: str) -> Place | None:
        return Place("R1", "U40") if device == "leaf1" else None


def test_selene_switch_cabling_is_8480_cables_of_660_switches(captures: Path) -> None:
    plan = parse_csv((captures / "selene" / "selene_switch_cabling.csv").read_text(), "selene.csv")
    assert plan.fabric.link_count == 8480
    kinds = Counter(node.kind for node in plan.fabric.nodes.values())
    # 512 leaves named LG, 120 + 28 spines and cores: counted with cut, sort and uniq on the file
    assert kinds == {NodeKind.SWITCH: 660}
    assert plan.fabric.peer(Port("LG01-01", 21)) == Port("CSPINE1-01", 1)
    assert plan.notes == []


def test_a_plain_row_is_a_link_with_its_line() -> None:
    plan = table("leaf1,1,spine1,2")
    (link,) = plan.fabric.each_link()
    assert (link.a, link.b, link.line, link.detail) == (Port("leaf1", 1), Port("spine1", 2), 2, None)
    assert (plan.format, plan.path) == (PlanFormat.CSV, "cables.csv")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_any_line_end_and_delimiter(end: str, delimiter: str) -> None:
    text = end.join((HEADER, "leaf1,1,spine1,2", "", "leaf1,2,spine2,2")).replace(",", delimiter)
    plan = parse_csv("\ufeff" + text, "x")
    assert pairs(plan) == {
        (Port("leaf1", 1), Port("spine1", 2)),
        (Port("leaf1", 2), Port("spine2", 2)),
    }
    assert {link.line for link in plan.fabric.each_link()} == {2, 4}


def test_titles_comments_blank_lines_spaces_quotes_and_ragged_rows_are_taken_as_they_come() -> None:
    plan = parse_csv(
        'Hall 3 cabling\n\n# revision 7, "final" this time\nA-Node,A-Port,Z-Node,Z-Port,Cable\n'
        '"leaf1 ", 1 ,spine1,2\n# one "odd quote\n , , ,\n"leaf1",2,"spine2",2,"C, 17",surplus\n',
        "x",
    )
    assert {(str(link.a.node), link.line) for link in plan.fabric.each_link()} == {("leaf1", 5), ("leaf1", 8)}
    link = plan.fabric.links[Port("leaf1", 2)]
    assert link.detail is not None
    assert link.detail.cable == "C, 17"


def test_a_line_number_counts_the_lines_of_quoted_cells() -> None:
    plan = table('leaf1,1,spine1,2,"to be\nlaid"', "leaf1,2,spine2,2,x", header=HEADER + ",note")
    assert [link.line for link in plan.fabric.each_link()] == [2, 4]


def test_a_repeated_header_may_change_the_columns() -> None:
    plan = table("leaf1,1,spine1,2", "a_device,z_device,a_port,z_port", "leaf1,spine2,2,3")
    assert (Port("leaf1", 2), Port("spine2", 3)) in pairs(plan)


def test_host_ends_are_hca_nodes() -> None:
    plan = table("gpu001,mlx5_3,leaf1,1", "gpu002 mlx5_3,1,leaf1,2", "gpu003.example.net,hca4,leaf1,3")
    node = plan.fabric.nodes["gpu002 mlx5_3"]
    assert (node.kind, node.host, node.hca, node.tier) == (NodeKind.HCA, "gpu002", "mlx5_3", 0)
    assert (Port("gpu001 mlx5_3", 1), Port("leaf1", 1)) in pairs(plan)
    assert (Port("gpu003.example.net HCA-4", 1), Port("leaf1", 3)) in pairs(plan)
    assert plan.fabric.nodes["leaf1"].kind is NodeKind.SWITCH


def test_an_hca_column_is_the_hosts_hca() -> None:
    plan = table("leaf1,1,gpu1,mlx5_0", "leaf1,2,gpu1,mlx5_0/2", header="switch,port,host,hca")
    assert pairs(plan) == {
        (Port("leaf1", 1), Port("gpu1 mlx5_0", 1)),
        (Port("leaf1", 2), Port("gpu1 mlx5_0", 2)),
    }


def test_a_running_number_stands_for_the_hca_until_a_node_model_names_it() -> None:
    header = "switch,switch_port,host,host_port"
    assert (Port("leaf1", 1), Port("gpu1 2", 1)) in pairs(table("leaf1,1,gpu1,2", header=header))
    assert (Port("leaf1", 1), Port("gpu1 mlx5_3", 1)) in pairs(table("leaf1,1,gpu1,2", site=Site()))


def test_a_declared_host_may_call_its_hca_anything() -> None:
    plan = table("uan01,pcie-slot1/2,leaf1,1,host", header=HEADER + ",a_type")
    assert pairs(plan) == {(Port("uan01 pcie-slot1", 2), Port("leaf1", 1))}


def test_a_device_with_more_than_sixteen_ports_is_a_switch_and_others_stay_open() -> None:
    plan = table(*(f"leaf1,{n},x{n},1" for n in range(1, 18)))
    assert plan.fabric.nodes["leaf1"].kind is NodeKind.SWITCH
    assert plan.fabric.nodes["x1"].kind is NodeKind.UNKNOWN
    assert plan.notes == []
    assert [finding.text for finding in check_plan(plan) if finding.severity is PlanSeverity.NOTE] == [
        "17 devices (x1, x2, x3, ...) may be switches or hosts: the plan does not say."
    ]


def test_type_columns_tell_roles_and_models() -> None:
    plan = table("a,sw14p1,b,1,MQM9700-NS2F,router", header=HEADER + ",a_type,z_type")
    assert pairs(plan) == {(Port("a", 27), Port("b", 1))}
    assert (plan.fabric.nodes["a"].model, plan.fabric.nodes["a"].ports) == ("QM9700", 64)
    assert plan.fabric.nodes["b"].kind is NodeKind.ROUTER


@pytest.mark.parametrize("label", ["1/14/1", "14/1", "sw14p1", "P13.0", "27", "Port 27"])
def test_a_site_model_resolves_every_label_scheme(label: str) -> None:
    # mstflint calculatePanelPort: 2 * 14 + 1 - 2 = 27
    assert (Port("leaf1", 27), Port("s", 1)) in pairs(table(f"leaf1,{label},s,1", site=Site()))


def test_the_same_label_is_another_port_of_another_model() -> None:
    assert pairs(table("edge1,1/5,s,1", site=Site())) == {(Port("edge1", 5), Port("s", 1))}


def test_labels_that_only_one_numbering_knows_need_no_model() -> None:
    plan = table("leaf9,14/1,s,1", "leaf9,14/2,s,2")
    assert (Port("leaf9", 28), Port("s", 2)) in pairs(plan)
    assert any("leaf9 as QM9700" in note for note in plan.notes)


def test_places_come_from_the_table_and_else_from_the_site() -> None:
    plan = table("leaf1,1,leaf2,1,R9,12", header=HEADER + ",z_rack,z_u", site=Site())
    assert plan.fabric.nodes["leaf1"].place == Place("R1", "U40")
    assert plan.fabric.nodes["leaf2"].place == Place("R9", "12")


def test_speed_class_length_cable_and_guid_are_kept() -> None:
    header = HEADER + ",speed,class,length_m,cable,a_guid"
    plan = table("leaf1,1,leaf2,1,4xNDR,compute,3,MCP4Y10,0x9C0591030A000500", header=header)
    (link,) = plan.fabric.each_link()
    assert link.rate == Rate(4, "NDR")
    assert link.detail is not None
    assert (link.detail.link_class, link.detail.length_m, link.detail.cable) == ("compute", 3.0, "MCP4Y10")
    assert plan.fabric.nodes["leaf1"].guid == "0x9c0591030a000500"
    assert not plan.keyed_by_guid


def test_labels_are_kept_as_written_where_they_say_more_than_the_number() -> None:
    (link,) = table("leaf1,sw14p1,s,1", site=Site()).fabric.each_link()
    assert link.detail is not None
    assert link.detail.labels == ("sw14p1", "")


def test_a_cable_written_from_both_ends_counts_once() -> None:
    plan = table("leaf1,1,spine1,2", "spine1,2,leaf1,1")
    assert plan.fabric.link_count == 1
    assert plan.notes == ["1 cable is written twice, as from both ends; each counts once."]


def test_a_row_repeated_as_it_is_counts_once_and_is_not_said_to_come_from_the_other_end() -> None:
    plan = table("leaf1,1,spine1,2", "leaf1,1,spine1,2", "leaf1,1,spine1,2", "leaf1,2,s,1", "s,1,leaf1,2")
    assert plan.fabric.link_count == 2
    assert plan.notes == [
        "1 cable is written twice, as from both ends; each counts once.",
        "2 rows repeat the cable of an earlier row, in the same order; each cable counts once.",
    ]


def test_whole_numbers_with_a_decimal_point_are_whole_numbers() -> None:
    header = HEADER + ",speed,z_rack,z_u"
    plan = table("leaf1,1.0,leaf2,12.0,400.0,7.0,41.0", header=header)
    (link,) = plan.fabric.each_link()
    assert (link.a, link.b, link.rate) == (Port("leaf1", 1), Port("leaf2", 12), Rate(4, "NDR"))
    assert link.detail is None
    assert plan.fabric.nodes["leaf2"].place == Place("7", "41")
    plan = table("leaf1,27.0,gpu1,2.0", site=Site())
    assert pairs(plan) == {(Port("leaf1", 27), Port("gpu1 mlx5_3", 1))}
    plan = table("leaf1,1,gpu7,2.0,1.0", header="switch,switch_port,host,hca,host_port")
    assert pairs(plan) == {(Port("leaf1", 1), Port("gpu7 2", 1))}


@pytest.mark.parametrize("cell", ["1.5", "1.00.0", "0.0", "255.0", "1e0", "-1.0"])
def test_other_numbers_with_a_decimal_point_are_no_ports(cell: str) -> None:
    with pytest.raises(PlanError, match=r"^cables\.csv:2: port"):
        table(f"leaf1,{cell},spine1,2")


def test_rows_of_other_link_types_are_skipped_and_counted() -> None:
    plan = table(
        "leaf1,1,s,1,InfiniBand", "bmc,eth0,sw,7,Ethernet", "a,b,c,d,Management", header=HEADER + ",Protocol"
    )
    assert plan.fabric.link_count == 1
    assert plan.notes[:2] == [
        "1 rows of link type Ethernet were skipped.",
        "1 rows of link type Management were skipped.",
    ]


def test_device_names_that_differ_in_case_are_one_device() -> None:
    assert pairs(table("Leaf1,1,s,1", "leaf1,2,s,2")) == {
        (Port("Leaf1", 1), Port("s", 1)),
        (Port("Leaf1", 2), Port("s", 2)),
    }
