"""``ibnetdiscover -p``."""

from __future__ import annotations

from pathlib import Path

import pytest
from discovery_samples import HCA, LEAF, NOISE, PORTS, SPINE

from fabricctl.discovery.ibnetdiscover_ports import parse
from fabricctl.discovery.model import ProblemKind
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import NodeKind, Port, PortState
from fabricctl.rates import Rate
from tests.conftest import read_capture

A, B = "0x00000000000000a1", "0x00000000000000b1"


def test_the_first_real_fixture_as_counted_by_hand(captures: Path) -> None:
    seen = parse(read_capture(captures / "ibnetdiscover" / "treydock_p_test.out"))
    fabric = seen.fabric
    assert (
        len(list(fabric.switches())) == 4
    )  # ib-i1l1s01, ib-i4l1s01, ib-i7l2s01, and ib-i1l2s01 by name only
    assert len(list(fabric.hcas())) == 3
    assert fabric.link_count == 4
    assert fabric.states[Port("0x506b4b03005c2740", 37)] is PortState.DOWN
    assert fabric.states[Port("0x08c0eb0300add20e", 80)] is PortState.DOWN
    hca = fabric.nodes["0x7cfe9003003b4bde"]
    assert (hca.host, hca.hca, hca.guid, hca.port_guids) == ("o0001", "HCA-1", None, ((1, hca.key),))
    assert [(p.kind, p.nodes) for p in seen.problems] == [(ProblemKind.UNREAD_NODE, ("0x7cfe900300b07320",))]


def test_the_second_real_fixture_with_aggregation_nodes_and_blanks_in_names(captures: Path) -> None:
    seen = parse(read_capture(captures / "ibnetdiscover" / "treydock_p_test2.out"))
    fabric = seen.fabric
    assert seen.aggregation_nodes == 1
    assert fabric.link_count == 1  # worker20; the two lines with an aggregation node are no cables
    assert fabric.nodes["0x946dae0300618c83"].description == " 5FB0406-spine-IB02 "
    assert fabric.nodes["0x946dae0300618c83"].name == "5FB0406-spine-IB02"
    assert fabric.nodes["0x0002c9020040f160"].name == "0x0002c9020040f160"  # a factory text names nobody


def test_a_small_fabric() -> None:
    seen = parse(PORTS, "p.txt")
    fabric = seen.fabric
    assert seen.problems == []
    assert seen.lists_down_ports
    assert fabric.link_count == 2
    assert fabric.links[Port(LEAF, 2)].rate == Rate(4, "HDR")
    assert fabric.peer(Port(LEAF, 1)) == Port(HCA, 1)
    assert fabric.state(Port(LEAF, 3)) is PortState.DOWN
    assert (fabric.nodes[LEAF].guid, fabric.nodes[LEAF].ports, fabric.nodes[SPINE].ports) == (LEAF, 3, 1)


def test_an_unknown_speed_of_a_link_leaves_its_rate_open() -> None:
    seen = parse(PORTS.replace("4x HDR", "4x ???"))
    assert {link.rate for link in seen.fabric.each_link()} == {None}


def test_names_without_quotes_are_read() -> None:
    text = PORTS.replace("'", "")
    assert parse(text).fabric.nodes[HCA].name == "gpu001 mlx5_0"
    assert parse(text).fabric.state(Port(LEAF, 3)) is PortState.DOWN


def test_names_that_hold_the_separator_and_quotes_are_split_by_what_other_lines_say() -> None:
    odd = "it's - 'odd' - x"
    text = PORTS.replace("leaf 1", odd)
    fabric = parse(text).fabric
    assert fabric.nodes[LEAF].description == odd
    assert fabric.nodes[HCA].description == "gpu001 mlx5_0"
    assert fabric.nodes[SPINE].description == "spine"


def test_ports_of_one_two_port_hca_are_one_node() -> None:
    text = (
        f"CA     6  2 0x00000000000000c3 4x HDR - SW     1  2 {A} ( 'h HCA-1' - 's' )\n"
        f"CA     5  1 0x00000000000000c2 4x HDR - SW     1  1 {A} ( 'h HCA-1' - 's' )\n"
        f"SW     1  2 {A} 4x HDR - CA     6  2 0x00000000000000c3 ( 's' - 'h HCA-1' )\n"
        f"SW     1  1 {A} 4x HDR - CA     5  1 0x00000000000000c2 ( 's' - 'h HCA-1' )\n"
    )
    seen = parse(text)
    (hca,) = seen.fabric.hcas()
    assert hca.port_guids == ((1, "0x00000000000000c2"), (2, "0x00000000000000c3"))
    assert seen.fabric.link_count == 2
    assert seen.problems == []


def test_two_hcas_with_one_description_stay_two_nodes() -> None:
    text = (
        f"CA     6  1 0x00000000000000c9 4x HDR - SW     1  2 {A} ( 'localhost' - 's' )\n"
        f"CA     5  1 0x00000000000000c2 4x HDR - SW     1  1 {A} ( 'localhost' - 's' )\n"
    )
    assert len(list(parse(text).fabric.hcas())) == 2


def test_a_router_is_a_router() -> None:
    text = f"RT     6  1 0x00000000000000c9 4x HDR - SW     1  2 {A} ( 'r' - 's' )\n"
    assert parse(text).fabric.nodes["0x00000000000000c9"].kind is NodeKind.ROUTER


def test_a_timeout_among_the_lines_is_a_doubt() -> None:
    seen = parse(NOISE + PORTS)
    assert [(p.kind, p.line) for p in seen.problems] == [(ProblemKind.TIMEOUT, 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SW  1 2 3\n", r"f:1: not understood: 'SW 1 2 3'; expected"),
        (PORTS + "SW     1  4 0x00000000000000a1 4x H", r"f:6: the file is cut in this line"),
        (PORTS[:-20], r"f:5: the file is cut in this line"),
        (f"SW     1  3 {A} 4x SDR                 'lea", r"f:1: the name .* no closing quote"),
        (PORTS.replace("4x HDR", "4x HDX"), r"f:2: link rate '4x HDX' is not understood"),
        (PORTS.replace("SW     1  3", "SW     1  999"), r"f:1: port number 999"),
        ("", r"f: no node found"),
    ],
)
def test_what_is_not_understood_is_an_error_naming_the_line(text: str, message: str) -> None:
    with pytest.raises(DiscoveryError, match=message):
        parse(text, "f")


def test_windows_line_ends_are_harmless() -> None:
    assert parse(PORTS.replace("\n", "\r\n")).fabric.link_count == 2
