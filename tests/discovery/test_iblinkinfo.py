"""``iblinkinfo``, blocks and lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from discovery_samples import BLOCKS, HCA, LEAF, LINES, NOISE, SPINE, UP

from fabricctl.discovery.iblinkinfo import parse
from fabricctl.discovery.model import DiscoveryFormat, ProblemKind
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import LinkDetail, NodeKind, Port, PortState
from fabricctl.rates import Rate
from tests.conftest import read_capture

BOTH = pytest.mark.parametrize("text", [BLOCKS, LINES], ids=["blocks", "lines"])
DOWN = "==(                Down/ Polling)==>"


@BOTH
def test_a_small_fabric(text: str) -> None:
    seen = parse(text, "l.txt")
    fabric = seen.fabric
    assert seen.problems == []
    assert (fabric.link_count, len(fabric.nodes)) == (2, 3)
    assert fabric.links[Port(LEAF, 2)].rate == Rate(4, "HDR")
    assert fabric.peer(Port(LEAF, 1)) == Port(HCA, 1)
    assert fabric.state(Port(LEAF, 3)) is PortState.DOWN
    assert (fabric.nodes[HCA].kind, fabric.nodes[HCA].name) == (NodeKind.HCA, "gpu001 mlx5_0")
    assert (fabric.nodes[LEAF].kind, fabric.nodes[LEAF].lid) == (NodeKind.SWITCH, 1)


def test_each_form_is_told_in_the_source() -> None:
    assert parse(BLOCKS).sources[0].format is DiscoveryFormat.IBLINKINFO
    assert parse(LINES).sources[0].format is DiscoveryFormat.IBLINKINFO_LINES


@BOTH
@pytest.mark.parametrize(
    ("printed", "rate"),
    [
        ("( 4X           2.5 Gbps Active/  LinkUp)", Rate(4, "SDR")),
        ("( 4X          10.0 Gbps Active/  LinkUp)", Rate(4, "QDR")),
        ("( 4X  10.0 Gbps (FDR10) Active/  LinkUp)", Rate(4, "FDR10")),
        ("( 1X      25.78125 Gbps  Armed/  LinkUp)", Rate(1, "EDR")),
        ("( 2X        106.25 Gbps Initialize/  LinkUp)", Rate(2, "NDR")),
        ("( 4X    Extended speed Active/  LinkUp)", None),
        ("(undefined (0)        106.25 Gbps Active/  LinkUp)", None),
        ("( 4X        53.125 Gbps Active/  LinkUp) (HOQ:18 VL_Stall:7)", Rate(4, "HDR")),
        ("( 4X 53.125 Gbps Active /   LinkUp)", Rate(4, "HDR")),
    ],
)
def test_rates_are_per_lane(text: str, printed: str, rate: Rate | None) -> None:
    seen = parse(text.replace(UP, f"=={printed}==>"))
    assert {link.rate for link in seen.fabric.each_link()} == {rate}


@BOTH
@pytest.mark.parametrize(
    ("printed", "could_be"),
    [
        ("(Could be 12X )", Rate(12, "HDR")),
        ("( Could be 106.25 Gbps)", Rate(4, "NDR")),
        ("(Could be 12X Could be 106.25 Gbps)", Rate(12, "NDR")),
        ("( Could be FDR10 (Found link at QDR but expected speed is FDR10))", Rate(4, "FDR10")),
    ],
)
def test_could_be_is_what_both_ends_support(text: str, printed: str, could_be: Rate) -> None:
    seen = parse(text.replace('" ( )', f'" {printed}').replace(f'"" {printed}', '"" ( )'))
    assert {link.detail for link in seen.fabric.each_link()} == {LinkDetail(could_be)}


@BOTH
@pytest.mark.parametrize(
    ("old", "new", "state"),
    [
        (DOWN, "==(                Down/Disabled)==>", PortState.DISABLED),
        (DOWN, "==(                Down/   Sleep)==>", PortState.DOWN),
        (
            f'{DOWN}             [  ] "" ( )',
            '==( 4X        53.125 Gbps Active/Disabled)==>      "Port not available"',
            PortState.DISABLED,
        ),
    ],
)
def test_disabled_is_told_from_down(text: str, old: str, new: str, state: PortState) -> None:
    assert old in text
    seen = parse(text.replace(old, new))
    assert seen.fabric.state(Port(LEAF, 3)) is state
    assert seen.problems == []


@BOTH
def test_a_port_that_is_up_without_an_answering_neighbour_is_unknown_and_doubted(text: str) -> None:
    seen = parse(text.replace(f'{DOWN}             [  ] "" ( )', f'{UP}      "Port not available"'))
    assert seen.fabric.state(Port(LEAF, 3)) is PortState.UNKNOWN
    assert [p.kind for p in seen.problems] == [ProblemKind.TIMEOUT]


@BOTH
def test_external_port_numbers_are_skipped(text: str) -> None:
    assert parse(text.replace("[  ]", "[12]")).fabric.link_count == 2


def test_blocks_find_a_neighbour_by_name_when_no_lids_are_assigned() -> None:
    text = BLOCKS
    for lid, port in ((1, 1), (1, 2), (1, 3), (2, 1), (3, 1)):
        text = text.replace(f"{lid}    {port}[", f"0    {port}[")
    seen = parse(text)
    assert (seen.fabric.link_count, seen.problems) == (2, [])


def test_switches_only_leaves_hcas_unread_under_their_lid() -> None:
    seen = parse(BLOCKS[BLOCKS.index("Switch:") :])
    hca = seen.fabric.nodes["lid:3"]
    assert (hca.kind, hca.guid, hca.listed, hca.name) == (NodeKind.HCA, None, False, "gpu001 mlx5_0")
    assert [(p.kind, p.nodes) for p in seen.problems] == [(ProblemKind.UNREAD_NODE, ("lid:3",))]
    assert seen.fabric.link_count == 2


def test_a_lid_under_another_name_is_a_contradiction() -> None:
    seen = parse(BLOCKS.replace('1    1[  ] "leaf 1" ( )', '1    1[  ] "leaf 2" ( )'))
    assert [p.kind for p in seen.problems] == [ProblemKind.CONTRADICTION]


def test_lines_tell_switches_by_their_one_guid_and_drop_aggregation_nodes() -> None:
    an = "0x00000000000000d1"
    name = "Mellanox Technologies Aggregation Node"
    text = LINES + (
        f'{LEAF} "                        leaf 1"      1    4[  ] {UP}  {an}      9    1[  ] "{name}" ( )\n'
        f'{an} "{name}"      9    1[  ] {UP}  {LEAF}      1    4[  ] "leaf 1" ( )\n'
    )
    seen = parse(text)
    assert (seen.aggregation_nodes, seen.fabric.link_count) == (1, 2)


def test_lines_take_the_exact_description_from_the_neighbour() -> None:
    exact = " 5FB0406-spine-IB03 "
    text = LINES.replace('"                         spine"', f'"{exact:>30}"').replace(
        '"spine"', f'"{exact}"'
    )
    seen = parse(text)
    assert (seen.fabric.nodes[SPINE].description, seen.problems) == (exact, [])


def test_a_description_with_quotes_and_brackets_is_kept_whole() -> None:
    odd = 'a "quoted" [1  ] (x) name'
    for text in (BLOCKS, LINES):
        seen = parse(text.replace("leaf 1", odd))
        assert seen.fabric.nodes[LEAF].description == odd


def test_a_two_port_hca_is_one_node_in_both_forms() -> None:
    one, two = "0x00000000000000c2", "0x00000000000000c3"
    blocks = (
        f'CA: h HCA-1:\n      {one}      3    1[  ] {UP}       1    1[  ] "leaf 1" ( )\n'
        f'      {two}      4    2[  ] {UP}       1    2[  ] "leaf 1" ( )\n'
        f'Switch: {LEAF} leaf 1:\n           1    1[  ] {UP}       3    1[  ] "h HCA-1" ( )\n'
        f'           1    2[  ] {UP}       4    2[  ] "h HCA-1" ( )\n'
    )
    lines = (
        f'{one} "                       h HCA-1"      3    1[  ] {UP}  {LEAF}      1    1[  ] "leaf 1" ( )\n'
        f'{two} "                       h HCA-1"      4    2[  ] {UP}  {LEAF}      1    2[  ] "leaf 1" ( )\n'
        f'{LEAF} "                        leaf 1"      1    1[  ] {UP}  {one}      3    1[  ] "h HCA-1" ( )\n'
        f'{LEAF} "                        leaf 1"      1    2[  ] {UP}  {two}      4    2[  ] "h HCA-1" ( )\n'
    )
    for text in (blocks, lines):
        seen = parse(text)
        (hca,) = seen.fabric.hcas()
        assert hca.port_guids == ((1, one), (2, two))
        assert (seen.fabric.link_count, seen.problems) == (2, [])


def test_only_down_ports_say_nothing_of_the_other_ports(captures: Path) -> None:
    seen = parse(read_capture(captures / "ibsim" / "small3-faulty" / "iblinkinfo-d.txt"))
    assert seen.fabric.link_count == 0
    leaf = "0x9c0591030a000000"
    assert seen.fabric.state(Port(leaf, 7)) is PortState.DOWN
    assert seen.fabric.state(Port(leaf, 1)) is PortState.UNKNOWN
    assert [p.kind for p in seen.problems] == [ProblemKind.UNREAD_NODE]


def test_slower_and_narrower_links_of_the_faulty_fabric(captures: Path) -> None:
    seen = parse(read_capture(captures / "ibsim" / "imbue-faulty" / "iblinkinfo.txt.gz"))
    rates = [link.rate for link in seen.fabric.each_link()]
    assert rates.count(Rate(1, "HDR")) == 3
    assert rates.count(Rate(4, "EDR")) == 3
    slow = [link for link in seen.fabric.each_link() if link.rate == Rate(4, "EDR")]
    assert {link.detail for link in slow} == {LinkDetail(Rate(12, "HDR"))}  # the simulator supports 12x


@BOTH
def test_a_timeout_among_the_lines_is_a_doubt(text: str) -> None:
    seen = parse(NOISE + text)
    assert [(p.kind, p.line) for p in seen.problems] == [(ProblemKind.TIMEOUT, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: no node found"),
        (BLOCKS[:-8], "f:8: the file is cut in this line"),
        (LINES[:-20], "f:5: the file is cut in this line"),
        (BLOCKS.split("\n", 1)[1], "f:1: a port line before any"),
        ("< " + LINES, "f:1: .*--diff"),
        (LINES.replace("53.125", "54.125"), "f:1: 54.125 Gbps is not the rate of a lane"),
        (LINES.replace("Active", "Dancing"), "f:1: the link .* is not understood"),
        (LINES.replace('1" ( )', '1" (Could be purple )'), "f:1: what the link could be is not understood"),
        (BLOCKS.replace("1    3[", "1    300["), "f:6: port number 300"),
        (BLOCKS + LINES, "f:9: a port with a name, in the middle of a block"),
    ],
)
def test_what_is_not_understood_is_an_error_naming_the_line(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        parse(text, "f")
