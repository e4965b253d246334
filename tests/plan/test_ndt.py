"""UFM NDT lists, as the plugin's own tests write them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fabricctl.errors import PlanError
from fabricctl.fabric import NodeKind, Place, Port
from fabricctl.plan.model import PlanFormat
from fabricctl.plan.ndt import looks_like_ndt, looks_like_table, parse_ndt
from fabricctl.rates import Rate

HEADER = "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"


def read(captures: Path, name: str) -> str:
    return (captures / "ndt" / name).read_bytes().decode("utf-8")


@pytest.mark.parametrize(
    "name", ["ndt.csv", "ndth2s.csv", "switch_to_host_topo1.ndt", "incorrect_columns.ndt"]
)
def test_ndt_lists_are_recognised(captures: Path, name: str) -> None:
    assert looks_like_ndt(read(captures, name))
    assert looks_like_table(read(captures, name)[:4096])


def test_other_texts_are_no_ndt_list(captures: Path) -> None:
    assert not looks_like_ndt("a_device,a_port,z_device,z_port\n")
    assert looks_like_table("a_device,a_port,z_device,z_port\n")
    assert not looks_like_table(read(captures, "garbage.ndt"))


def test_hosts_of_a_real_list(captures: Path) -> None:
    plan = parse_ndt(read(captures, "switch_to_host_topo1.ndt"), "hosts.ndt")
    kinds = Counter(node.kind for node in plan.fabric.nodes.values())
    assert plan.format is PlanFormat.NDT
    assert (plan.fabric.link_count, kinds[NodeKind.HCA]) == (
        2223,
        2223,
    )  # wc -l less the header; no row twice
    assert kinds[NodeKind.UNKNOWN] == 0
    assert plan.fabric.peer(Port("SAT111092710053 ibp11s0f0", 1)) == Port("SAT11-0101-0927-20IB0", 1)


def test_a_real_list_written_from_both_ends_with_director_labels(captures: Path) -> None:
    plan = parse_ndt(read(captures, "switch_to_switch_topo2.ndt"), "switches.ndt")
    assert plan.fabric.link_count == 3195  # 6,390 rows, each cable twice
    assert plan.fabric.peer(Port("SAT11-0101-0927-20IB0", 21)) == Port("SAT11-0101-0903-01IB1-A/L16/U2", 20)
    assert {node.kind for node in plan.fabric.nodes.values()} == {NodeKind.SWITCH}
    assert plan.notes[0].startswith("3,195 cables are written twice")
    assert "usual but not confirmed by a document; 160 ASICs" in plan.notes[1]


def test_rows_with_site_columns_keep_place_speed_and_length(captures: Path) -> None:
    text = "".join(read(captures, "ndt.csv").splitlines(keepends=True)[:3])
    plan = parse_ndt(text, "ndt.csv")
    link = plan.fabric.links[Port("DSM07-0101-0806-01IB0", 21)]
    assert link.b == Port("DSM07-0101-0806-01IB1/L01/U1", 1)
    assert link.rate == Rate(4, "HDR")
    assert link.detail is not None
    assert link.detail.length_m == 10.0
    assert plan.fabric.nodes[link.a.node].place == Place("Rack IB0 #1", "U41")
    assert plan.fabric.nodes[link.b.node].place == Place("F01C04-DR429", "U25")


def test_a_list_that_uses_a_port_twice_is_refused_with_both_lines(captures: Path) -> None:
    with pytest.raises(PlanError) as caught:
        parse_ndt(read(captures, "ndt.csv"), "ndt.csv")
    assert str(caught.value).startswith("ndt.csv:12: port 1 of DSM07-0101-0801-02IB1/L01/U1 is used twice")
    assert "(line 4)" in str(caught.value)


def test_servers_named_alike_in_each_rack_are_refused_with_their_racks(captures: Path) -> None:
    with pytest.raises(PlanError, match="F01C04-DX413 U3 and in F01C04-DX415 U3; two devices need two names"):
        parse_ndt(read(captures, "ndth2s.csv"), "ndth2s.csv")


def test_one_rack_of_that_list_is_32_hcas_of_4_servers(captures: Path) -> None:
    text = "".join(read(captures, "ndth2s.csv").splitlines(keepends=True)[:33])
    fabric = parse_ndt(text, "rack1.csv").fabric
    hcas = list(fabric.hcas())
    assert (len(hcas), len({node.host for node in hcas})) == (32, 4)
    assert fabric.nodes["Server 1 3"].hca == "3"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("garbage.ndt", "garbage.ndt:1: no header row with known column names"),
        (
            "incorrect_columns.ndt",
            "incorrect_columns.ndt:1: the header has no column for the port of the first end",
        ),
        (
            "incorrect_ports.ndt",
            "incorrect_ports.ndt:2: port 'abra' of 'SAT11-0101-0927-20IB0' is not understood",
        ),
    ],
)
def test_broken_lists_give_one_clear_line(captures: Path, name: str, expected: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_ndt(read(captures, name), name)
    assert str(caught.value).startswith(expected)


def test_the_host_before_its_interface_is_dropped() -> None:
    fabric = parse_ndt(HEADER + "N1,N1 ibp16s0f0,SW1,Port 7, Data\n", "x").fabric
    assert fabric.peer(Port("N1 ibp16s0f0", 1)) == Port("SW1", 7)
