"""OpenSM's subnet.lst, ibdiagnet2's net_dump and db_csv, UFM's links, sminfo."""

from __future__ import annotations

from pathlib import Path

import pytest
from discovery_samples import (
    DB_CSV,
    HCA,
    LEAF,
    LST,
    NET_DUMP,
    NOISE,
    SMINFO,
    SPINE,
    UFM,
    lst_end,
    lst_line,
)

from fabricctl.discovery import db_csv, net_dump, sminfo, subnet_lst, ufm_links
from fabricctl.discovery.model import ProblemKind, SubnetManager
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import NodeKind, Port, PortState
from fabricctl.rates import Rate
from tests.conftest import read_capture

HDR = Rate(4, "HDR")


# -- subnet.lst


def test_subnet_lst_small_fabric() -> None:
    seen = subnet_lst.parse(LST)
    node = seen.fabric.nodes[LEAF]
    assert (node.name, node.ports, node.lid, node.device_id, node.system_guid) == (
        "leaf 1",
        3,
        1,
        0xD2F2,
        LEAF,
    )
    assert seen.fabric.links[Port(LEAF, 1)].rate == HDR
    assert seen.fabric.nodes[HCA].port_guids == ((1, HCA),)
    assert seen.subnet_managers == [SubnetManager(SPINE, "master", lid=2)]
    assert (seen.fabric.link_count, seen.problems) == (2, [])


def test_subnet_lst_of_an_old_opensm_has_no_speeds(captures: Path) -> None:
    seen = subnet_lst.parse(read_capture(captures / "lst" / "ibutils_subnet.lst"))
    assert (len(seen.fabric.nodes), seen.fabric.link_count, seen.problems) == (65, 172, [])
    assert {link.rate for link in seen.fabric.each_link()} == {None}
    assert len(list(seen.fabric.hcas())) == 3


@pytest.mark.parametrize(
    ("spd", "rate"),
    [
        ("2.5", "SDR"),
        ("5", "DDR"),
        ("10", "QDR"),
        ("FDR10", "FDR10"),
        ("14", "FDR"),
        ("25", "EDR"),
        ("100", "NDR"),
    ],
)
def test_subnet_lst_speeds_are_per_lane(spd: str, rate: str) -> None:
    seen = subnet_lst.parse(LST.replace("SPD=50", f"SPD={spd}"))
    assert {link.rate for link in seen.fabric.each_link()} == {Rate(4, rate)}


def test_subnet_lst_unknown_speed_leaves_the_rate_open() -> None:
    seen = subnet_lst.parse(LST.replace("SPD=50", "SPD=??"))
    assert {link.rate for link in seen.fabric.each_link()} == {None}


def test_subnet_lst_descriptions_may_hold_braces() -> None:
    assert subnet_lst.parse(LST.replace("leaf 1", "a {b} } c")).fabric.nodes[LEAF].name == "a {b} } c"


def test_subnet_lst_without_the_other_end_is_one_sided() -> None:
    seen = subnet_lst.parse(LST.split("\n", 1)[0] + "\n")
    assert seen.fabric.links[Port(LEAF, 1)].ends_seen == 1
    assert [p.kind for p in seen.problems] == [ProblemKind.UNREAD_NODE]


def test_subnet_lst_without_a_last_line_end_may_be_cut() -> None:
    seen = subnet_lst.parse(LST.rstrip("\n"))
    assert [p.kind for p in seen.problems] == [ProblemKind.CUT]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LST[:-60], "f:4: the file is cut in this line"),
        ("{ SW what\n" + LST, "f:1: not understood"),
        (LST.replace("SPD=50", "SPD=51"), "f:1: width '4x' at '51' Gb/s"),
        (LST.replace("LOG=ACT", "LOG=XXX"), "f:1: LOG=XXX"),
        ("", "f: no node"),
    ],
)
def test_subnet_lst_errors(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        subnet_lst.parse(text, "f")


def test_subnet_lst_rates_that_differ_between_ends_are_noted_and_the_lower_taken() -> None:
    near, far = lst_end("SW", 3, LEAF, "l", 1, 1), lst_end("SW", 3, SPINE, "s", 2, 1)
    text = lst_line(near, far) + lst_line(far, near, "PHY=1x LOG=ACT SPD=50")
    seen = subnet_lst.parse(text)
    assert seen.fabric.links[Port(LEAF, 1)].rate == Rate(1, "HDR")
    assert [p.kind for p in seen.problems] == [ProblemKind.RATES_DIFFER]


# -- net_dump


def test_net_dump_small_fabric_with_panel_labels() -> None:
    seen = net_dump.parse(NET_DUMP)
    fabric = seen.fabric
    assert seen.problems == []
    assert fabric.peer(Port(LEAF, 2)) == Port(SPINE, 1)
    assert fabric.links[Port(LEAF, 2)].ends_seen == 2
    assert fabric.links[Port(LEAF, 1)].rate == HDR
    assert fabric.state(Port(LEAF, 3)) is PortState.DOWN
    assert (fabric.nodes[HCA].kind, fabric.nodes[HCA].listed) == (NodeKind.HCA, False)


def test_net_dump_port_that_is_up_without_a_neighbour_is_doubted() -> None:
    text = NET_DUMP.replace(
        "2/1  : 3   : DOWN : POLLING : N/A : N/A : N/A", "2/1  : 3   : INI : LINK UP : 5 : 4x : 50"
    )
    seen = net_dump.parse(text)
    assert seen.fabric.state(Port(LEAF, 3)) is PortState.UNKNOWN
    assert [p.kind for p in seen.problems] == [ProblemKind.TIMEOUT]


def test_net_dump_names_a_switch_without_a_block() -> None:
    seen = net_dump.parse(NET_DUMP[: NET_DUMP.index('"spine", Mell')])
    assert ProblemKind.UNREAD_NODE in {p.kind for p in seen.problems}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NET_DUMP[:-5], "f:11: the neighbour's name .* the line is cut"),
        (NET_DUMP.replace("NLID", "XLID"), "f:4: the columns are not those known"),
        (NET_DUMP.replace("ACT", "FOO"), "f:5: not understood"),
        (NET_DUMP.split("\n", 4)[4], "f:1: a port line before any switch"),
        ("", "f: no node"),
    ],
)
def test_net_dump_errors(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        net_dump.parse(text, "f")


# -- db_csv


def test_db_csv_small_fabric() -> None:
    seen = db_csv.parse(DB_CSV)
    fabric = seen.fabric
    assert (fabric.link_count, seen.problems, seen.lists_down_ports) == (2, [], True)
    assert fabric.links[Port(LEAF, 1)].rate == HDR
    assert fabric.state(Port(LEAF, 3)) is PortState.DOWN
    assert (fabric.nodes[LEAF].ports, fabric.nodes[LEAF].lid, fabric.nodes[LEAF].device_id) == (3, 1, 54002)
    assert fabric.nodes[HCA].port_guids == ((1, HCA),)


def test_db_csv_tells_disabled_from_down() -> None:
    text = DB_CSV.replace(f"{LEAF},{LEAF},3,1,0,0,2,1", f"{LEAF},{LEAF},3,1,0,0,3,1")
    assert db_csv.parse(text).fabric.state(Port(LEAF, 3)) is PortState.DISABLED


def test_db_csv_speed_codes_of_the_newer_generations() -> None:
    for code, speed in (("2048", "NDR"), ("16777216", "XDR"), ("65536", "FDR10")):
        seen = db_csv.parse(DB_CSV.replace("2,1024,5,4", f"2,{code},5,4"))
        assert {link.rate for link in seen.fabric.each_link()} == {Rate(4, speed)}


def test_db_csv_descriptions_may_hold_commas_and_quotes() -> None:
    assert db_csv.parse(DB_CSV.replace("leaf 1", 'a,"b",c')).fabric.nodes[LEAF].name == 'a,"b",c'


def test_db_csv_without_a_table_of_ports_has_links_without_rates() -> None:
    text = DB_CSV[: DB_CSV.index("START_PORTS")] + DB_CSV[DB_CSV.index("START_LINKS") :]
    seen = db_csv.parse(text)
    assert {link.rate for link in seen.fabric.each_link()} == {None}
    assert not seen.lists_down_ports


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DB_CSV[: DB_CSV.index("END_LINKS")], "f:19: the table LINKS has no END_LINKS line: the file is cut"),
        (DB_CSV.replace("START_LINKS", "START_OTHER").replace("END_LINKS", "END_OTHER"), "f: no START_LINKS"),
        (DB_CSV.replace("NodeGuid2", "Guid2"), "f:20: the table LINKS has no column NodeGuid2"),
        (DB_CSV.replace(f"{LEAF},1,{HCA},1", f"{LEAF},1,{HCA}"), "f:21: 3 values for 4 columns"),
        (DB_CSV.replace(f"{LEAF},1,{HCA},1", f"{LEAF},x,{HCA},1"), "f:21: PortNum1 'x' is not a number"),
        (DB_CSV.replace("2,1024,5,4", "2,7777,5,4"), "f:12: .*LinkSpeedActv '7777' is not understood"),
    ],
)
def test_db_csv_errors(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        db_csv.parse(text, "f")


# -- UFM


def test_ufm_links_small_fabric() -> None:
    seen = ufm_links.parse(UFM)
    fabric = seen.fabric
    assert (fabric.link_count, seen.problems) == (3, [])
    assert (fabric.nodes[LEAF].name, fabric.nodes[LEAF].kind) == ("leaf 1", NodeKind.SWITCH)
    assert (fabric.nodes[HCA].name, fabric.nodes[HCA].kind) == ("gpu001 mlx5_0", NodeKind.HCA)
    assert fabric.peer(Port(SPINE, 2)) == Port(SPINE, 3)
    assert fabric.links[Port(LEAF, 1)].line == 2


def test_ufm_links_the_guides_own_entry_is_read() -> None:
    entry = (
        '[ { "source_guid": "0002c903007b78b0", "source_port": "29", "destination_guid": "0002c903007b78b0", '
        '"destination_port": "28", "source_port_dname": "29", "destination_port_dname": "28", "width": "IB_4x", '
        '"severity": "Info", "name": "0002c903007b78b0_28:0002c903007b78b0_29", "capabilities": [ ] } ]'
    )
    fabric = ufm_links.parse(entry).fabric
    assert fabric.peer(Port("0x0002c903007b78b0", 29)) == Port("0x0002c903007b78b0", 28)


def test_ufm_links_of_one_system_say_nothing_of_its_neighbours_other_ports() -> None:
    seen = ufm_links.parse(
        UFM[: UFM.index('  {"source_guid": "00000000000000b1", "source_port": "2"')].rstrip(",\n ") + "]"
    )
    assert seen.fabric.state(Port(LEAF, 9)) is PortState.DOWN
    assert seen.fabric.state(Port(SPINE, 9)) is PortState.UNKNOWN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (UFM[:-4], "f:.*cut"),
        (UFM[:300], "f:2: not JSON, or cut"),
        ('{"error": "no"}', "f:1: expected a JSON list of links"),
        ("[]", "f: the list of links is empty"),
        ("[1]", "f:1: an entry is not an object"),
        ('[{"source_guid": "a1"}]', "f:1: a link without source_port, destination_guid, destination_port"),
        (UFM.replace(f'"{LEAF[2:]}"', '"zz"'), "f:2: source_guid 'zz' is not a GUID"),
        (
            UFM.replace('"source_port": "1"', '"source_port": "N/A"'),
            "f:2: source_port 'N/A' is not a port number",
        ),
        (UFM + "x", "more after the JSON list"),
    ],
)
def test_ufm_links_errors(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        ufm_links.parse(text, "f")


# -- sminfo


def test_sminfo_names_the_master() -> None:
    seen = sminfo.parse(SMINFO)
    assert seen.subnet_managers == [SubnetManager("0x9c059103ff100001", "master", 0, 1)]
    assert seen.fabric.nodes == {}


def test_sminfo_that_failed_is_a_doubt(captures: Path) -> None:
    seen = sminfo.parse(read_capture(captures / "ibsim" / "small2" / "sminfo.txt"))
    assert (seen.subnet_managers, [p.kind for p in seen.problems]) == ([], [ProblemKind.TIMEOUT])


@pytest.mark.parametrize("text", ["", "sminfo: nonsense\n", SMINFO.replace("SMINFO_MASTER", "KING")])
def test_sminfo_errors(text: str) -> None:
    with pytest.raises(DiscoveryError):
        sminfo.parse(text, "f")


def test_noise_is_a_doubt_in_every_text_format() -> None:
    for parse, text in ((subnet_lst.parse, LST), (net_dump.parse, NET_DUMP), (sminfo.parse, SMINFO)):
        assert [p.kind for p in parse(NOISE + text, "").problems] == [ProblemKind.TIMEOUT]
