"""The real tools take the node-name-map that identify writes: ibnetdiscover, iblinkinfo, ibqueryerrors, OpenSM."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from fabricctl.discovery import ibnetdiscover, namemap
from fabricctl.discovery.recognise import parse_any
from fabricctl.fabric import Fabric, NodeKind
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


class Mapped(NamedTuple):
    """A fabric whose switches call themselves by each other's names, and the map that puts it right."""

    sim: Ibsim
    file: Path
    truth: dict[str, str]

    @property
    def leaf(self) -> str:
        """GUID of the first leaf; it has a cable on port 1."""
        return next(key for key, name in self.truth.items() if name == "ibl-p01-r1")


@pytest.fixture
def mapped(ibsim: Sim, tmp_path: Path) -> Iterator[Mapped]:
    net = build(SHAPES["small3"])
    plan = parse_csv(cabling_csv(net), "cabling.csv")
    other, truth = anonymous(net)
    with ibsim(discovery_lines(other), opensm=True) as sim:
        found = identify(plan, ibnetdiscover.parse(sim.discover()))
        assert found.names == truth
        names = tmp_path / "ib-node-name-map"
        names.write_text(identity_map.render(found))
        assert namemap.parse(names.read_text()) == truth
        yield Mapped(sim, names, truth)


def switches(fabric: Fabric) -> dict[str, str]:
    return {n.key: n.description for n in fabric.nodes.values() if n.kind is NodeKind.SWITCH}


@pytest.mark.slow
def test_ibnetdiscover_shows_the_names_of_the_map(mapped: Mapped) -> None:
    named = ibnetdiscover.parse(mapped.sim.discover("--node-name-map", str(mapped.file))).fabric
    assert switches(named) == mapped.truth


@pytest.mark.slow
def test_iblinkinfo_shows_the_names_of_the_map(mapped: Mapped, need_tools: Callable[..., None]) -> None:
    need_tools("iblinkinfo")
    text = mapped.sim.run("iblinkinfo", "--node-name-map", str(mapped.file), timeout_s=120).stdout
    assert switches(parse_any(text, "iblinkinfo").fabric) == mapped.truth


@pytest.mark.slow
def test_ibqueryerrors_shows_the_names_of_the_map(mapped: Mapped, need_tools: Callable[..., None]) -> None:
    need_tools("ibqueryerrors")
    sim = mapped.sim
    sim.console(f'PerformanceSet "S-{mapped.leaf[2:]}"[1] PortCounters.SymbolErrorCounter=500')
    deadline, text = time.monotonic() + 10, ""
    while "SymbolErrorCounter" not in text and time.monotonic() < deadline:  # the console acts a moment later
        ran = sim.run("ibqueryerrors", "--node-name-map", str(mapped.file), check=False, timeout_s=120)
        text = ran.stdout
    assert f'Errors for {int(mapped.leaf, 16):#x} "ibl-p01-r1"' in text
    assert "[SymbolErrorCounter == 500]" in text


@pytest.mark.slow
def test_opensm_shows_the_names_of_the_map(mapped: Mapped, tmp_path: Path) -> None:
    conf = tmp_path / "opensm.conf"
    conf.write_text(f"node_name_map_name {mapped.file}\n")
    dumps = mapped.sim.start_opensm(conf=conf)
    text = (dumps / "opensm-subnet.lst").read_text("utf-8")
    assert switches(parse_any(text, "opensm-subnet.lst").fabric) == mapped.truth
