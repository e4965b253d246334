"""A discovered fabric, written back and simulated again, is discovered the same: real ibsim, real ibnetdiscover."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from fabricctl.discovery import ibnetdiscover, ibnetdiscover_writer
from fabricctl.fabric import Fabric
from tests.sim.ibsim import Ibsim
from tests.sim.netgen import SHAPES, Net, build, discovery_lines
from tests.sim.same import links_of, nodes_of

Sim = Callable[..., AbstractContextManager[Ibsim]]


def discover(ibsim: Sim, net_text: str) -> Fabric:
    with ibsim(net_text, opensm=True) as sim:
        return ibnetdiscover.parse(sim.discover()).fabric


def expected_links(net: Net) -> set[frozenset[tuple[str, int]]]:
    return {frozenset((_port(a), _port(b))) for a, b in net.each()}


def _port(end: tuple[str, int]) -> tuple[str, int]:
    return "0x" + end[0].removeprefix("S-").removeprefix("H-"), end[1]


@pytest.mark.parametrize("shape", ["small2", "small3"])
def test_a_written_back_discovery_is_discovered_identically(shape: str, ibsim: Sim) -> None:
    net = build(SHAPES[shape])
    first = discover(ibsim, "".join(discovery_lines(net)))
    assert {ends for ends, _ in links_of(first)} == expected_links(net)
    second = discover(ibsim, ibnetdiscover_writer.write(first))
    assert nodes_of(second) == nodes_of(first)
    assert links_of(second) == links_of(first)


def test_a_loopback_and_a_narrow_link_survive_the_round_trip(ibsim: Sim) -> None:
    net = build(SHAPES["small2"])
    a, b = next((a, b) for a, b in net.each() if net.boxes[a.node].tier == 1)
    net.rates |= {a: "1xHDR", b: "1xHDR"}
    c, d = next((c, d) for c, d in net.each() if net.boxes[c.node].tier == 1 and c != a and d.node == b.node)
    net.cut(c)
    e, f = next((e, f) for e, f in net.each() if net.boxes[e.node].tier == 1 and e != a and f.node == d.node)
    net.cut(e)
    net.connect(d, f)
    first = discover(ibsim, "".join(discovery_lines(net)))
    assert sum(rate == "1xHDR" for _, rate in links_of(first)) == 1
    assert frozenset((_port(d), _port(f))) in {ends for ends, _ in links_of(first)}
    assert links_of(discover(ibsim, ibnetdiscover_writer.write(first))) == links_of(first)
