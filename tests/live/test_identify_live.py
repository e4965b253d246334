"""The real ibnetdiscover takes the node-name-map that identify writes."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from fabricctl.discovery import ibnetdiscover, namemap
from fabricctl.fabric import NodeKind
from fabricctl.identity.identify import identify
from fabricctl.plan.table import parse_csv
from fabricctl.report import identity_map
from tests.sim.cabling_csv import cabling_csv
from tests.sim.ibsim import Ibsim
from tests.sim.netgen import SHAPES, End, Net, build, discovery_lines

Sim = Callable[..., AbstractContextManager[Ibsim]]


def anonymous(net: Net) -> tuple[Net, dict[str, str]]:
    """The same cables, switches with GUIDs in no order and the name of another one; and GUID -> true name."""
    dice = random.Random(3)
    switches = [node for node, box in net.boxes.items() if box.is_switch]
    guids = dict(zip(switches, dice.sample(range(1 << 40, 1 << 41), len(switches)), strict=True))
    names = dict(
        zip(switches, dice.sample([net.boxes[s].name for s in switches], len(switches)), strict=True)
    )
    new = {node: f"S-{guids[node]:016x}" if node in guids else node for node in net.boxes}
    other = Net()
    for node, box in net.boxes.items():
        box = replace(box, node=new[node], guid=guids.get(node, box.guid), name=names.get(node, box.name))
        other.boxes[new[node]] = box
    for a, b in net.each():
        other.connect(End(new[a.node], a.port), End(new[b.node], b.port))
    return other, {f"0x{guids[s]:016x}": net.boxes[s].name for s in switches}


@pytest.mark.slow
def test_ibnetdiscover_shows_the_names_of_the_map(ibsim: Sim, tmp_path: Path) -> None:
    net = build(SHAPES["small3"])
    plan = parse_csv(cabling_csv(net), "cabling.csv")
    other, truth = anonymous(net)
    with ibsim(discovery_lines(other), opensm=True) as sim:
        seen = ibnetdiscover.parse(sim.discover())
        found = identify(plan, seen)
        assert found.names == truth
        names = tmp_path / "ib-node-name-map"
        names.write_text(identity_map.render(found))
        assert namemap.parse(names.read_text()) == truth
        named = ibnetdiscover.parse(sim.discover("--node-name-map", str(names))).fabric
    assert {n.key: n.description for n in named.nodes.values() if n.kind is NodeKind.SWITCH} == truth
