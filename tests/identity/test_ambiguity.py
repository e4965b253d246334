"""Where two assignments explain what is seen, both are shown with their cost, and neither is a fact."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabricctl.discovery.model import Observation
from fabricctl.errors import UsageError
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.identity.evidence import Evidence
from fabricctl.identity.identify import identify
from fabricctl.identity.model import Identification
from fabricctl.identity.outcome import exit_code
from fabricctl.plan.model import Plan, PlanFormat
from tests.identity.nets import Seen, hosts_exchanged, net_of, observe, plan_of, rotated, scrambled, uplinks
from tests.sim.netgen import Net


def costs(found: Identification) -> list[list[tuple[int, int]]]:
    return [[(h.moves, h.renames) for h in a.hypotheses] for a in found.ambiguities]


def look(
    *faults: Callable[[Net], None], known: float = 1.0, described: bool = False
) -> tuple[Seen, Identification]:
    seen = observe(net_of("hall", *faults), known=known, described=described)
    return seen, identify(plan_of("hall"), seen.observation)


def truth_is_among(seen: Seen, found: Identification) -> bool:
    """One hypothesis of each ambiguity is what really is."""
    return all(
        any(all(seen.truth[key] == planned for key, planned in h.names) for h in a.hypotheses)
        for a in found.ambiguities
    )


def test_exchanged_host_bundles_of_two_leaves() -> None:
    seen, found = look(hosts_exchanged("ibl-p01-r1", "ibl-p01-r2"))
    # by hand: 32 host ends on each leaf, or 32 uplinks on each
    assert costs(found) == [[(64, 0), (64, 2)]]
    (ambiguity,) = found.ambiguities
    assert [h.words for h in ambiguity.hypotheses] == [
        "the host bundles of ibl-p01-r1 and ibl-p01-r2 are exchanged: move 64 host ends",
        "ibl-p01-r1 and ibl-p01-r2 stand in each other's place: rename both and move 64 uplink ends",
    ]
    assert {seen.truth[key] for key in ambiguity.devices} == {"ibl-p01-r1", "ibl-p01-r2"}
    label, blink = ambiguity.decide_by
    one, two = seen.guid("ibl-p01-r1"), seen.guid("ibl-p01-r2")
    assert label == (
        "read the serial or GUID label of the switch at rack A10, U8 (planned: ibl-p01-r1): "
        f"{one} means hypothesis 1, {two} means hypothesis 2"
    )
    assert "MLCR" in blink
    assert "not tried on hardware" in blink
    assert (len(found.names), seen.right(found)) == (318, 318)
    assert exit_code(found) == 3


def test_the_same_among_other_faults_is_told_within_a_margin() -> None:
    seen, found = look(hosts_exchanged("ibl-p01-r1", "ibl-p07-r2"), scrambled(0.05))
    ((first, second),) = costs(found)
    assert first[1] == 0
    assert second[1] == 2
    assert 64 <= first[0] <= 64 + 8  # the two leaves' own share of the 5 %
    assert 64 <= second[0] <= 64 + 8
    assert truth_is_among(seen, found)
    assert (len(found.names), seen.right(found)) == (318, 318)


def test_most_of_a_bundle_exchanged_is_open_and_half_of_it_is_not() -> None:
    def partly(number: int) -> Callable[[Net], None]:
        def fault(net: Net) -> None:
            from tests.sim.netgen import End

            leaves = [node for node, box in net.boxes.items() if box.name in ("ibl-p01-r1", "ibl-p01-r2")]
            for port in range(1, number + 1):
                a, b = (End(leaf, port) for leaf in leaves)
                far_a, far_b = net.cut(a), net.cut(b)
                net.connect(a, far_b)
                net.connect(b, far_a)

        return fault

    assert len(look(partly(30))[1].ambiguities) == 1
    seen, found = look(partly(16))
    assert (found.ambiguities, seen.right(found)) == ([], 320)


def test_three_leaves_in_a_ring() -> None:
    seen, found = look(hosts_exchanged("ibl-p01-r1", "ibl-p02-r2", "ibl-p05-r1"))
    assert costs(found) == [[(96, 0), (96, 3)]]
    assert truth_is_among(seen, found)


def test_hosts_of_a_whole_unit_in_another_unit_have_three_readings() -> None:
    pairs = [hosts_exchanged(f"ibl-p01-r{r}", f"ibl-p02-r{r}") for r in range(1, 9)]
    seen, found = look(*pairs)
    # by hand: 2 x 256 host ends; or 16 leaves renamed and 2 x 256 uplinks; or spines too and 2 x 256 of theirs
    assert costs(found) == [[(512, 0), (512, 32), (512, 16)]] or costs(found) == [
        [(512, 0), (512, 16), (512, 32)]
    ]
    assert truth_is_among(seen, found)
    assert (len(found.names), seen.right(found)) == (288, 288)


@pytest.mark.parametrize(("tier", "above"), [(1, 192), (2, 64)])
def test_every_uplink_of_a_tier_rotated_by_one_port(tier: int, above: int) -> None:
    seen, found = look(rotated(tier, 1))
    assert costs(found) == [[(4096, 0), (4096, above)]]
    first, second = found.ambiguities[0].hypotheses
    lower, upper = {1: ("leaf", "spines and cores"), 2: ("spine", "cores")}[tier]
    assert (
        first.words
        == f"the uplinks of every {lower} are rotated by 1 port: move 4,096 ends, nobody is renamed"
    )
    assert second.words == f"the {upper} stand elsewhere: rename {above} switches and move 4,096 ends"
    assert all(seen.truth[key] == planned for key, planned in first.names)
    assert (len(found.names), seen.right(found)) == (320 - above, 320 - above)


def test_rotated_among_random_exchanges_with_few_hosts_known() -> None:
    seen, found = look(rotated(1, 1), scrambled(0.3), known=0.02)
    assert len(found.ambiguities) == 1
    assert all(seen.truth[key] == planned for key, planned in found.ambiguities[0].hypotheses[0].names)
    assert (len(found.names), seen.right(found)) == (128, 128)


def test_uplinks_in_reverse_order() -> None:
    seen, found = look(uplinks(1, lambda i, size: size - 1 - i))
    assert "in reverse order: move 4,096 ends" in found.ambiguities[0].hypotheses[0].words
    assert truth_is_among(seen, found)


def test_a_rotation_by_whole_bundles_shows_only_by_what_switches_say_of_themselves() -> None:
    seen, found = look(rotated(1, 4), described=True)
    assert costs(found) == [[(4096, 0), (0, 192)]]
    assert "192 of 192 node descriptions agree with hypothesis 1" in found.ambiguities[0].decide_by[-1]
    assert (len(found.names), seen.right(found)) == (128, 128)
    # without descriptions nothing differs from the plan: said as what cannot be seen, no ambiguity
    seen, found = look(rotated(1, 4))
    assert found.ambiguities == []
    assert any("not to be seen from inside" in note and "rotated by 4 ports" in note for note in found.notes)


def test_a_declared_switch_above_speaks_against_a_rotation_by_whole_bundles() -> None:
    seen = observe(net_of("hall", rotated(1, 4)))
    evidence = Evidence(declared={seen.guid("ibs-p01-s1"): "ibs-p01-s1"})
    found = identify(plan_of("hall"), seen.observation, evidence)
    assert [(c.declared, c.by_votes) for c in found.contradictions] == [("ibs-p01-s1", "ibs-p01-s2")]
    assert [h.moves for h in found.ambiguities[0].hypotheses] == [4096, 64]
    assert seen.right(found) == len(found.names) == 129


def striped(leaves: int, spines: int, width: int, by: int = 0) -> Fabric:
    """32 hosts a leaf; uplink i goes to spine i modulo spines: a rotation is nearly a renaming."""
    fabric = Fabric()
    for kind, number in (("leaf", leaves), ("spine", spines)):
        for n in range(number):
            fabric.nodes[f"{kind}{n + 1}"] = Node(
                f"{kind}{n + 1}", NodeKind.SWITCH, f"{kind}{n + 1}", ports=64
            )
    size = spines * width
    for leaf in range(leaves):
        for h in range(32):
            name = f"gpu{leaf * 32 + h + 1} mlx5_0"
            host = name.split()[0]
            fabric.nodes[name] = Node(
                name, NodeKind.HCA, name, description=name, host=host, hca="mlx5_0", ports=1
            )
            fabric.connect(Link(Port(name, 1), Port(f"leaf{leaf + 1}", h + 1)))
        for i in range(size):
            here = Port(f"leaf{leaf + 1}", 33 + (i + by) % size)
            fabric.connect(Link(here, Port(f"spine{i % spines + 1}", width * leaf + i // spines + 1)))
    return fabric


def test_uplinks_dealt_out_in_turn_rotated_by_one() -> None:
    plan = Plan(striped(16, 8, 4), PlanFormat.CSV)
    real = striped(16, 8, 4, by=1)
    for key, node in list(real.nodes.items()):
        if node.kind is NodeKind.SWITCH:
            real.nodes[key] = Node(key, node.kind, key, ports=64)
    found = identify(plan, Observation(real, []))
    # by hand: 16 leaves of 32 uplinks; renamed, only the four seams of each leaf differ (a ring of four)
    assert costs(found) == [[(512, 0), (64, 8)]]
    first, second = found.ambiguities[0].hypotheses
    assert "rotated by 1 port" in first.words
    assert all(key == planned for key, planned in first.names)
    assert dict(second.names)["spine1"] == "spine2"


def test_a_declared_leaf_decides_which_bundles_are_exchanged() -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    evidence = Evidence(declared={seen.guid("ibl-p01-r1"): "ibl-p01-r1"})
    found = identify(plan_of("hall"), seen.observation, evidence)
    assert (found.ambiguities, found.contradictions, seen.right(found)) == ([], [], 320)


@pytest.mark.parametrize("choice", [1, 2])
def test_a_hypothesis_can_be_taken_as_fact(choice: int) -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    found = identify(plan_of("hall"), seen.observation, assume=[(1, choice)])
    assert len(found.names) == 320
    assert found.names[seen.guid("ibl-p01-r1")] == f"ibl-p01-r{choice}"
    assert found.ambiguities == []
    assert found.assumed[0].startswith(f"ambiguity 1, hypothesis {choice}: ")


@pytest.mark.parametrize("wrong", [[(2, 1)], [(1, 3)], [(0, 1)], [(1, 1), (1, 2)]])
def test_what_there_is_not_cannot_be_assumed(wrong: list[tuple[int, int]]) -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    with pytest.raises(UsageError, match="--assume"):
        identify(plan_of("hall"), seen.observation, assume=wrong)


def test_a_declared_identity_outranks_votes_and_the_contradiction_is_said() -> None:
    seen = observe(net_of("hall"))
    evidence = Evidence(declared={seen.guid("ibl-p01-r3"): "ibl-p01-r4"})
    found = identify(plan_of("hall"), seen.observation, evidence)
    (contradiction,) = found.contradictions
    assert (contradiction.declared, contradiction.by_votes) == ("ibl-p01-r4", "ibl-p01-r3")
    # by hand: 32 hosts and 32 uplinks say r3 with both ports, nobody says r4
    assert (contradiction.votes_for, contradiction.votes_against) == (128, 0)
    assert found.names[seen.guid("ibl-p01-r3")] == "ibl-p01-r4"
    assert exit_code(found) == 1
