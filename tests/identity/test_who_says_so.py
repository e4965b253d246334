"""What rests on whose word: harvested GUIDs, snapshots, assumptions, and HCA names that differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabricctl.fabric import Link, Port
from fabricctl.identity.evidence import Evidence
from fabricctl.identity.identify import identify
from fabricctl.identity.model import Said
from fabricctl.identity.outcome import exit_code
from fabricctl.plan.model import Plan
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.plan.table import parse_csv
from fabricctl.report.identity_screen import verdict_words
from tests.identity.nets import net_of, observe, plan_of
from tests.sim.cabling_csv import cabling_csv
from tests.sim.netgen import SHAPES, build

DGX = dict(zip((f"mlx5_{n}" for n in range(8)), (0, 3, 4, 5, 6, 9, 10, 11), strict=True))


def own_plan() -> Plan:
    """A plan that a test may change."""
    return parse_csv(cabling_csv(build(SHAPES["hall"])), "hall.csv")


@pytest.mark.parametrize("mirrored", [False, True])
def test_hosts_with_other_hca_names_than_the_plan_place_every_switch(mirrored: bool) -> None:
    seen, plan = observe(net_of("hall")), own_plan()
    fabric = plan.fabric if mirrored else seen.observation.fabric
    names = {}
    for key, node in list(fabric.nodes.items()):
        if node.hca:
            name = f"{node.host} mlx5_{DGX[node.hca]}"
            new = name if mirrored else key
            names[key] = new
            del fabric.nodes[key]
            fabric.nodes[new] = replace(node, key=new, name=name, description=name, hca=name.split()[1])
    if mirrored:
        links = [*fabric.each_link()]
        fabric.links.clear()
        for link in links:
            a, b = (Port(names.get(p.node, p.node), p.number) for p in (link.a, link.b))
            fabric.connect(Link(a, b, link.rate))
    found = identify(plan, seen.observation)
    assert (len(found.names), seen.right(found), found.ambiguities) == (320, 320, [])


def test_a_harvested_guid_against_description_and_cabling_is_a_contradiction() -> None:
    seen = observe(net_of("hall"))
    guid = seen.guid("gpu001 mlx5_0")
    found = identify(plan_of("hall"), seen.observation, Evidence(harvested={guid: "gpu100 mlx5_0"}))
    (item,) = found.contradictions
    assert (item.seen, item.declared, item.by_votes) == (guid, "gpu100 mlx5_0", "gpu001 mlx5_0")
    assert (item.said, exit_code(found), len(found.names)) == (Said.HARVESTED, 1, 320)
    right = identify(plan_of("hall"), seen.observation, Evidence(harvested={guid: "gpu001 mlx5_0"}))
    assert (right.contradictions, exit_code(right)) == ([], 0)


def test_a_harvested_guid_wins_where_only_the_description_is_wrong() -> None:
    seen = observe(net_of("hall"))
    guid = seen.guid("gpu001 mlx5_0")
    nodes = seen.observation.fabric.nodes
    wrong = "gpu100 mlx5_0"
    nodes[guid] = replace(nodes[guid], name=wrong, description=wrong, host="gpu100")
    found = identify(plan_of("hall"), seen.observation, Evidence(harvested={guid: "gpu001 mlx5_0"}))
    assert found.contradictions == []


def test_what_a_snapshot_knows_nobody_declared() -> None:
    plan = plan_from_observation(observe(net_of("hall")).observation)
    before = observe(net_of("hall"))
    fabric = before.observation.fabric
    one, two = (
        before.guid("ibl-p01-r1"),
        before.guid("ibl-p02-r1"),
    )  # two switches exchanged since, cables and all
    turn = {one: two, two: one}
    links = [*fabric.each_link()]
    fabric.links = {}
    for link in links:
        a, b = (Port(turn.get(p.node, p.node), p.number) for p in (link.a, link.b))
        fabric.connect(Link(a, b, link.rate))
    found = identify(plan, before.observation)
    assert {item.said for item in found.contradictions} == {Said.SNAPSHOT}
    assert "2 identities known by the snapshot are contradicted" in verdict_words(found)[2]


def test_most_switches_without_a_place_are_perhaps_another_fabric() -> None:
    seen, plan = observe(net_of("hall")), own_plan()
    kept = {
        n.key for n in plan.fabric.nodes.values() if n.name[:7] in ("ibl-p01", "ibs-p01") or n.name < "gpu033"
    }
    kept = {key for key in kept if not key.startswith("ibc")}
    links = [link for link in plan.fabric.each_link() if {link.a.node, link.b.node} <= kept]
    plan.fabric.nodes = {key: node for key, node in plan.fabric.nodes.items() if key in kept}
    plan.fabric.links = {}
    for link in links:
        plan.fabric.connect(link)
    found = identify(plan, seen.observation)
    assert found.refusal is None
    assert len(found.unplaced) > 160
    assert "this may be another fabric" in found.notes[0]
