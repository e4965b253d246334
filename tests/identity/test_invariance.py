"""The answer depends on what is cabled to what, never on GUIDs or the order of lines; costs are the least."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.discovery.model import Observation
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.identity.identify import identify
from fabricctl.identity.model import Identification
from fabricctl.identity.moves import Jacks
from fabricctl.identity.network import build
from fabricctl.identity.votes import Votes
from fabricctl.plan.model import Plan, PlanFormat
from tests.identity.nets import down, hosts_exchanged, net_of, observe, plan_of, scrambled


def renamed(observation: Observation, seed: int) -> tuple[Observation, dict[str, str]]:
    """The same fabric with other GUIDs, everything in another order; and new GUID -> old."""
    dice = random.Random(seed)
    old = observation.fabric
    keys = list(old.nodes)
    dice.shuffle(keys)
    new = dict(zip(keys, (f"0x{n:016x}" for n in dice.sample(range(1 << 60), len(keys))), strict=True))
    fabric = Fabric(origin=old.origin)
    for key in keys:
        node = old.nodes[key]
        name = new[key] if node.name == key else node.name
        fabric.nodes[new[key]] = replace(node, key=new[key], guid=new[key], name=name)
    links = list(old.each_link())
    dice.shuffle(links)
    for link in links:
        ends = [Port(new[link.a.node], link.a.number), Port(new[link.b.node], link.b.number)]
        dice.shuffle(ends)
        fabric.connect(Link(*ends))
    return replace(observation, fabric=fabric), {guid: key for key, guid in new.items()}


def told(found: Identification, real: dict[str, str]) -> tuple[object, ...]:
    """Everything that was said, with GUIDs turned back."""
    return (
        {real[key]: name for key, name in found.names.items()},
        {real[key] for key in found.unplaced},
        set(found.unfilled),
        {
            (
                frozenset(real[key] for key in a.devices),
                frozenset((frozenset((real[k], p) for k, p in h.names), h.moves) for h in a.hypotheses),
            )
            for a in found.ambiguities
        },
    )


@given(
    share=st.sampled_from([0.0, 0.05, 0.2]),
    gone=st.sampled_from([0.0, 0.05]),
    known=st.sampled_from([1.0, 0.5, 0.2]),
    exchanged=st.booleans(),
    seed=st.integers(1, 1000),
)
@settings(max_examples=40, deadline=None)
def test_renaming_every_guid_and_reordering_changes_nothing(
    share: float, gone: float, known: float, exchanged: bool, seed: int
) -> None:
    faults = [scrambled(share, seed), down(gone, seed)]
    if exchanged:
        faults.insert(0, hosts_exchanged("ibl-p01-r1", "ibl-p01-r2"))
    seen = observe(net_of("medium", *faults), seed, known=known)
    first = identify(plan_of("medium"), seen.observation)
    other, real = renamed(seen.observation, seed + 1)
    second = identify(plan_of("medium"), other)
    assert told(second, real) == told(first, {key: key for key in real.values()})
    assert (first.refusal is None) == (second.refusal is None)


@given(order=st.permutations(range(5)), flips=st.lists(st.booleans(), min_size=5, max_size=5))
@settings(max_examples=60, deadline=None)
def test_moves_are_the_fewest_ends_that_any_use_of_the_cables_could_move(
    order: list[int], flips: list[bool]
) -> None:
    # ports 1..10 of one planned pair of switches: cable n joins a/n with b/n; really a/n with b/order[n] (or a with a)
    intended = [(("a", n + 1), ("b", n + 1)) for n in range(5)]
    ends = [[("a", n + 1), ("b", order[n] + 1)] for n in range(5)]
    for n in range(0, 4, 2):  # two cables cross over, so that ends of one side meet
        if flips[n]:
            ends[n][1], ends[n + 1][0] = ends[n + 1][0], ends[n][1]
    actual = [tuple(pair) for pair in ends]
    best = min(
        sum(
            min((c[0] != t[0]) + (c[1] != t[1]), (c[0] != t[1]) + (c[1] != t[0]))
            for c, t in zip(actual, targets, strict=True)
        )
        for targets in permutations(intended)
    )
    plan, seen = Fabric(), Fabric()
    for fabric, cables in ((plan, intended), (seen, actual)):
        for name in "ab":
            fabric.nodes[name] = Node(name, NodeKind.SWITCH, name, ports=8)
        for one, two in cables:
            assert fabric.connect(Link(Port(*one), Port(*two))) is None
    network = build(Plan(plan, PlanFormat.CSV), seen, {})
    place = {key: n for n, key in enumerate(network.places)}
    votes = Votes(network)
    votes.put([(v, place[key]) for v, key in enumerate(network.seen)])
    assert Jacks(network).cost(votes, range(2)).moves == best
