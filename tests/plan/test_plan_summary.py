from __future__ import annotations

from dataclasses import replace

from fabricctl.fabric import Place
from fabricctl.plan.fat_tree import Attachment, CorePattern, FatTree, SpinesPer, build
from fabricctl.plan.summary import Island, TierCount, TierLinks, summarise, tier_name
from fabricctl.plan.yaml_doc import parse_plan_document
from fabricctl.rates import Rate


def test_the_511_host_cluster_at_a_glance() -> None:
    ufm = (Attachment("ufm1", "mlx5_0", 16, 1), Attachment("ufm2", "mlx5_0", 16, 2))
    tree = FatTree(
        units=16, hosts=511, attach=ufm, reserve_for="ufm", rate=Rate(4, "NDR"), link_class="compute"
    )
    summary = summarise(build(tree))
    assert (summary.links, summary.hosts) == (12_282, 513)
    assert summary.tiers == (
        TierCount(0, 4090, 4090, 4090),
        TierCount(1, 128, 8192, 4090 + 4096),
        TierCount(2, 128, 8192, 8192),
        TierCount(3, 64, 4096, 4096),
    )
    assert summary.tier_links == (TierLinks(0, 1, 4090), TierLinks(1, 2, 4096), TierLinks(2, 3, 4096))
    assert [(group.down, group.up, group.ratio, len(group.leaves)) for group in summary.loads] == [
        (32, 32, 1.0, 128)
    ]
    assert summary.rails == dict.fromkeys(range(1, 9), 511)
    assert summary.units == dict.fromkeys(range(1, 16), 32) | {16: 31}
    assert summary.islands == (Island(320, 4090, (1, 2, 3, 4, 5, 6, 7, 8)),)
    assert summary.reserved == {"ufm": 6}
    assert (summary.rates, summary.classes) == ({"4xNDR": 12_282}, {"compute": 12_282})


def test_planes_are_shown_as_one_island_per_rail() -> None:
    summary = summarise(build(FatTree(units=16, spines_per=SpinesPer.RAIL, core_pattern=CorePattern.PLANE)))
    assert sorted(summary.islands, key=lambda island: island.rails) == [
        Island(40, 512, (n,)) for n in range(1, 9)
    ]
    assert len(summary.notes) == 1


def test_a_plan_of_switches_alone_has_no_tier_to_show() -> None:
    plan = parse_plan_document("rules: {links: [{from: a, from-port: 1, to: b, to-port: 1}]}", "p.yaml")
    summary = summarise(plan)
    assert summary.tiers == (TierCount(None, 2, 0, 2),)
    assert summary.tier_links == (TierLinks(None, None, 1),)
    assert (summary.hosts, summary.loads, summary.rails) == (0, (), {})
    assert [tier_name(tier) for tier in (None, 2, 5)] == ["tier unknown", "spine", "tier 5"]


def test_lengths_and_racks_are_counted_where_known() -> None:
    plan = parse_plan_document(
        "rules:\n  values: {n: 1..4}\n  links:\n"
        "    - {from: a, from-port: n, to: b, to-port: n, length-m: 5, where: n <= 3}\n"
        "    - {from: a, from-port: n, to: c, to-port: n, length-m: 0.5, where: n == 4}\n"
        "    - {from: b, from-port: n + 4, to: c, to-port: n + 4}\n",
        "p.yaml",
    )
    nodes = plan.fabric.nodes
    nodes["a"], nodes["b"] = (
        replace(nodes["a"], place=Place("R1", "1")),
        replace(nodes["b"], place=Place("R1", "2")),
    )
    nodes["c"] = replace(nodes["c"], place=Place("R2"))
    summary = summarise(plan)
    assert list(summary.lengths_m.items()) == [(0.5, 1), (5.0, 3)]
    assert (summary.unmeasured, summary.same_rack, summary.other_rack) == (4, 3, 5)
