"""Another site's fabric is refused with the evidence; a real fabric is identified from 2 % of its HCAs."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from fabricctl.discovery.model import Observation
from fabricctl.discovery.recognise import parse_any
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.identity.evidence import Evidence
from fabricctl.identity.identify import identify
from fabricctl.identity.model import RefusalKind
from fabricctl.identity.outcome import exit_code
from fabricctl.plan.model import Plan, PlanFormat
from tests.conftest import read_capture
from tests.identity.nets import net_of, observe, plan_of


def capture(captures: Path, name: str) -> Observation:
    path = captures / name
    return parse_any(read_capture(path), path.name)


def test_the_capture_of_another_site_is_refused(captures: Path) -> None:
    found = identify(plan_of("hall"), capture(captures, "ibnetdiscover/ufm_selene.compute.txt.gz"))
    assert found.refusal is not None
    assert found.refusal.kind is RefusalKind.WRONG_FABRIC
    text = "; ".join(found.refusal.evidence)
    for fact in ("128 leaves, 128 spines, 64 cores", "64 ports", "41 ports", "0 of 469 host names"):
        assert fact in text
    assert (found.names, exit_code(found)) == ({}, 3)


@pytest.mark.parametrize(("planned", "seen"), [("hall", "medium"), ("medium", "hall")])
def test_a_fabric_of_another_shape_with_the_same_host_names_is_refused(planned: str, seen: str) -> None:
    found = identify(plan_of(planned), observe(net_of(seen)).observation)
    assert found.refusal is not None
    assert found.refusal.kind is RefusalKind.WRONG_FABRIC
    assert "switches that could be seen get a place by votes" in found.refusal.evidence[0]
    assert found.names == {}


@pytest.mark.parametrize("known", [True, False])
def test_without_a_known_host_the_same_shape_is_not_told_and_not_refused_as_wrong(known: bool) -> None:
    seen = observe(net_of("hall"))
    nodes = seen.observation.fabric.nodes
    for key, node in list(nodes.items()):
        if node.kind is NodeKind.HCA:
            name = f"other-{node.name}" if known else ""
            host, _, hca = name.partition(" ")
            nodes[key] = Node(key, node.kind, name or key, key, name, 1, host=host or None, hca=hca or None)
    found = identify(plan_of("hall"), seen.observation)
    assert found.refusal is not None
    assert found.refusal.kind is RefusalKind.NO_ANCHOR
    assert found.refusal.evidence[0].startswith("could not tell: no host of the plan is known by name")
    assert exit_code(found) == 3


def test_one_declared_switch_or_one_harvested_hca_is_enough() -> None:
    seen = observe(net_of("hall"))
    nodes = seen.observation.fabric.nodes
    for key, node in list(nodes.items()):
        if node.kind is NodeKind.HCA:
            nodes[key] = Node(key, node.kind, key, key, "", 1)
    spine, hca = seen.guid("ibs-p07-s3"), seen.guid("gpu100 mlx5_2")
    for evidence in (Evidence(declared={spine: "ibs-p07-s3"}), Evidence(harvested={hca: "gpu100 mlx5_2"})):
        found = identify(plan_of("hall"), seen.observation, evidence)
        assert (len(found.names), seen.right(found)) == (320, 320)


def test_hca_words_are_read_in_the_way_that_the_cabling_agrees_with() -> None:
    # the plan says HCA-1 ... HCA-8; the hosts call their eight cards mlx5_0, 3, 4, 5, 6, 9, 10, 11 as a DGX does
    words = dict(zip((f"mlx5_{n}" for n in range(8)), (0, 3, 4, 5, 6, 9, 10, 11), strict=True))
    plan = Plan(Fabric(), PlanFormat.CSV)
    old = plan_of("hall").fabric

    def key(name: str) -> str:
        host, _, hca = name.partition(" ")
        return f"{host} HCA-{int(hca[5:]) + 1}" if hca else name

    for node in old.nodes.values():
        hca = key(node.name).partition(" ")[2] or None
        plan.fabric.nodes[key(node.key)] = replace(node, key=key(node.key), name=key(node.name), hca=hca)
    for link in old.each_link():
        plan.fabric.connect(
            Link(Port(key(link.a.node), link.a.number), Port(key(link.b.node), link.b.number))
        )
    seen = observe(net_of("hall"), known=0.05)
    nodes = seen.observation.fabric.nodes
    for guid, node in list(nodes.items()):
        if node.hca:
            name = f"{node.host} mlx5_{words[node.hca]}"
            nodes[guid] = replace(node, name=name, description=name, hca=name.split()[1])
    found = identify(plan, seen.observation)
    assert (len(found.names), seen.right(found)) == (320, 320)


def test_one_island_of_the_simulated_hall(captures: Path) -> None:
    found = identify(plan_of("hall"), capture(captures, "ibsim/imbue-islands/ibnetdiscover.txt.gz"))
    assert len(found.names) == 40
    assert all(a.described == found.names[a.seen] for a in found.assignments)
    assert len(found.unfilled) == 280


@pytest.mark.parametrize(("share", "seed"), [(0.0, 1), (0.05, 1), (0.3, 0), (0.3, 1)])
def test_selene_from_two_per_cent_of_its_hcas_with_switch_names_removed(
    captures: Path, share: float, seed: int
) -> None:
    real = capture(captures, "ibnetdiscover/ufm_selene.compute.txt.gz").fabric
    plan, observation, truth = _anonymous(real, share, seed)
    found = identify(plan, observation)
    assert len(truth) == 666
    assert {key: found.names.get(key) for key in truth} == truth
    assert found.ambiguities == []


def test_a_switch_both_of_whose_uplinks_are_elsewhere_is_left_over_not_guessed(captures: Path) -> None:
    # MLG01-01 has two cables to switches; with this seed both are exchanged and none of its HCAs is known
    real = capture(captures, "ibnetdiscover/ufm_selene.compute.txt.gz").fabric
    plan, observation, truth = _anonymous(real, 0.3, 7)
    found = identify(plan, observation)
    assert [truth[key] for key in found.unplaced] == found.unfilled == ["MLG01-01"]
    assert found.names == {key: name for key, name in truth.items() if name != "MLG01-01"}
    assert any("left over" in note for note in found.notes)


def _anonymous(real: Fabric, share: float, seed: int) -> tuple[Plan, Observation, dict[str, str]]:
    """The capture as a plan by names; and as seen with new GUIDs, 2 % of HCAs named, a share of links exchanged."""
    dice = random.Random(seed)
    name = {key: node.name for key, node in real.nodes.items()}
    assert len(set(name.values())) == len(name)
    plan = Plan(Fabric(), PlanFormat.CSV)
    for key, node in real.nodes.items():
        plan.fabric.nodes[name[key]] = replace(node, key=name[key], guid=None, port_guids=())
    for link in real.each_link():
        ends = (Port(name[link.a.node], link.a.number), Port(name[link.b.node], link.b.number))
        plan.fabric.connect(Link(*ends))
    keys = sorted(real.nodes)
    new = dict(zip(keys, (f"0x{n:016x}" for n in dice.sample(range(1 << 60), len(keys))), strict=True))
    hcas = [key for key in keys if real.nodes[key].kind is NodeKind.HCA]
    shown = set(dice.sample(hcas, len(hcas) // 50))
    seen = Fabric()
    for key in sorted(keys, key=new.__getitem__):
        node = real.nodes[key]
        seen.nodes[new[key]] = (
            replace(node, key=new[key], guid=new[key], port_guids=())
            if key in shown
            else Node(new[key], node.kind, new[key], new[key], "", node.ports)
        )
    cables = [(link.a, link.b) for link in real.each_link()]
    hit = dice.sample(range(len(cables)), int(share * len(cables)))
    far = [cables[index][1] for index in hit]
    dice.shuffle(far)
    for index, end in zip(hit, far, strict=True):
        cables[index] = (cables[index][0], end)
    for a, b in cables:
        seen.connect(Link(Port(new[a.node], a.number), Port(new[b.node], b.number)))
    switches = {new[key]: name[key] for key in keys if real.nodes[key].kind is NodeKind.SWITCH}
    return plan, Observation(seen, []), switches
