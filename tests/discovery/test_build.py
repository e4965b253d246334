"""The builder that every discovery parser shares."""

from __future__ import annotations

import pytest

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.model import AGGREGATION_NODE, DiscoveryFormat, ProblemKind
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import NodeKind, Port, PortState
from fabricctl.rates import Rate

HDR, EDR = Rate(4, "HDR"), Rate(4, "EDR")


def builder(*, lists_down_ports: bool = False) -> ObservationBuilder:
    build = ObservationBuilder("x", DiscoveryFormat.IBNETDISCOVER, lists_down_ports=lists_down_ports)
    for line, key in enumerate("abcd", 1):
        build.mention(key, NodeKind.SWITCH, f"sw-{key}", line, own=True)
    return build


def test_two_ends_that_name_each_other_are_one_link() -> None:
    build = builder()
    build.half(Port("a", 1), Port("b", 3), HDR, 10)
    build.half(Port("b", 3), Port("a", 1), HDR, 20)
    seen = build.finish()
    link = seen.fabric.links[Port("b", 3)]
    assert (seen.fabric.link_count, link.ends_seen, link.rate, link.line) == (1, 2, HDR, 10)
    assert seen.problems == []


def test_a_link_listed_by_one_read_node_only_is_kept_and_doubted() -> None:
    build = builder()
    build.half(Port("a", 1), Port("b", 3), HDR, 10)
    seen = build.finish()
    assert seen.fabric.links[Port("a", 1)].ends_seen == 1
    assert [(p.kind, p.line, p.nodes) for p in seen.problems] == [(ProblemKind.ONE_SIDED, 10, ("a", "b"))]


def test_a_neighbour_without_own_lines_is_an_unlisted_node() -> None:
    build = builder()
    build.half(Port("a", 1), Port("e", 3), HDR, 10)
    seen = build.finish()
    assert not seen.fabric.nodes["e"].listed
    assert seen.fabric.state(Port("e", 4)) is PortState.UNKNOWN
    assert [(p.kind, p.nodes) for p in seen.problems] == [(ProblemKind.UNREAD_NODE, ("e",))]


def test_ends_that_name_different_ports_are_a_contradiction_naming_both_lines() -> None:
    build = builder()
    build.half(Port("a", 1), Port("b", 3), HDR, 10)
    build.half(Port("b", 3), Port("c", 1), HDR, 20)
    build.half(Port("c", 1), Port("b", 3), HDR, 30)
    seen = build.finish()
    (problem,) = seen.problems
    assert problem.kind is ProblemKind.CONTRADICTION
    assert problem.text == "sw-a/1 is cabled to sw-b/3 (line 10), but sw-b/3 is cabled to sw-c/1 (line 20)"
    assert seen.fabric.peer(Port("b", 3)) == Port("c", 1)
    assert seen.fabric.state(Port("a", 1)) is PortState.UNKNOWN


def test_a_port_with_two_lines_that_differ_is_a_contradiction() -> None:
    build = builder()
    build.half(Port("a", 1), Port("b", 3), HDR, 10)
    build.half(Port("b", 3), Port("a", 1), HDR, 20)
    build.half(Port("a", 1), Port("c", 1), HDR, 30)
    (problem,) = build.finish().problems
    assert problem.kind is ProblemKind.CONTRADICTION
    assert "line 10" in problem.text
    assert "line 30" in problem.text


def test_two_unread_claims_on_one_unlisted_port_are_a_contradiction() -> None:
    build = builder()
    build.half(Port("a", 1), Port("e", 3), HDR, 10)
    build.half(Port("b", 1), Port("e", 3), HDR, 20)
    seen = build.finish()
    assert seen.fabric.peer(Port("e", 3)) == Port("a", 1)
    assert ProblemKind.CONTRADICTION in {p.kind for p in seen.problems}


def test_ends_that_name_different_rates_keep_the_lower_and_say_so() -> None:
    build = builder()
    build.half(Port("a", 1), Port("b", 3), HDR, 10)
    build.half(Port("b", 3), Port("a", 1), EDR, 20)
    seen = build.finish()
    assert seen.fabric.links[Port("a", 1)].rate == EDR
    assert [p.text for p in seen.problems] == [
        "the cable of sw-a/1 runs at 4xHDR by line 10 and at 4xEDR by line 20"
    ]


def test_fourteen_parallel_cables_and_a_loopback_plug_are_fifteen_links() -> None:
    build = builder()
    for n in range(1, 15):
        build.half(Port("a", n), Port("b", n), HDR, n)
        build.half(Port("b", n), Port("a", n), HDR, 100 + n)
    build.half(Port("c", 1), Port("c", 1), HDR, 200)
    seen = build.finish()
    assert seen.fabric.link_count == 15
    assert seen.problems == []


def test_aggregation_nodes_are_dropped_and_their_switch_port_is_not_down() -> None:
    build = builder()
    build.mention("an", NodeKind.HCA, AGGREGATION_NODE, 9, own=True)
    build.half(Port("a", 65), Port("an", 1), HDR, 10)
    build.half(Port("an", 1), Port("a", 65), HDR, 11)
    seen = build.finish()
    assert (seen.aggregation_nodes, seen.fabric.link_count, "an" in seen.fabric.nodes) == (1, 0, False)
    assert seen.fabric.state(Port("a", 65)) is PortState.UNKNOWN


def test_a_port_called_down_by_its_own_line_but_cabled_by_its_neighbour_is_a_contradiction() -> None:
    build = builder()
    build.half(Port("a", 1), Port("b", 3), HDR, 10)
    build.down(Port("b", 3), PortState.DOWN, 20)
    (problem,) = build.finish().problems
    assert problem.kind is ProblemKind.CONTRADICTION
    assert "line 20" in problem.text
    assert "line 10" in problem.text


def test_a_gap_in_a_format_that_lists_every_port_is_unknown_not_down() -> None:
    build = builder(lists_down_ports=True)
    build.down(Port("a", 1), PortState.DISABLED, 1)
    build.down(Port("a", 3), PortState.DOWN, 2)
    fabric = build.finish().fabric
    states = [fabric.state(Port("a", n)) for n in (1, 2, 3)]
    assert states == [PortState.DISABLED, PortState.UNKNOWN, PortState.DOWN]
    assert fabric.nodes["a"].ports == 3


def test_two_descriptions_of_one_node_are_a_contradiction() -> None:
    build = builder()
    build.mention("a", NodeKind.SWITCH, "other", 9)
    (problem,) = build.finish().problems
    assert problem.text == "a is called 'sw-a' at line 1 and 'other' at line 9"


def test_no_node_is_an_error() -> None:
    with pytest.raises(DiscoveryError, match="no node found"):
        ObservationBuilder("x", DiscoveryFormat.IBLINKINFO).finish()


def test_a_port_number_beyond_254_is_an_error_with_its_line() -> None:
    with pytest.raises(DiscoveryError, match="x:7: port number 255"):
        builder().port("a", 255, 7)
