"""When nothing may be said: this is another fabric, or nothing ties it to the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fabricctl.fabric import Fabric
from fabricctl.identity.evidence import WRONG_FABRIC_SHARE, Anchors, switches_of
from fabricctl.identity.model import Refusal, RefusalKind
from fabricctl.identity.network import NONE, Network
from fabricctl.identity.votes import Votes
from fabricctl.plan.checks import infer_tiers

GUESSES = 6
"""Seeds that are tried to see whether the cabling fits the plan at all, when nobody is known by name."""
FEW_NAMES = 8
"""Fewer named hosts than this say nothing about whose fabric it is."""


def refusal(
    anchors: Anchors, seen: Fabric, network: Network, placed: int, tiers: Mapping[str, int]
) -> Refusal | None:
    """Why no identity is given; None when there is no reason.

    :param placed: switches that got a place with a positive margin.
    """
    possible = min(len(switches_of(anchors.plan)), len(network.seen))
    anchored = bool(anchors.switches) or any(network.base)
    if anchored and placed and placed >= WRONG_FABRIC_SHARE * possible:
        return None
    facts = _facts(anchors, seen, network, tiers)
    if anchored:
        share = f"{placed:,} of {possible:,} switches that could be seen get a place by votes"
        return Refusal((f"this is not the planned fabric: {share}", *facts), RefusalKind.WRONG_FABRIC)
    fit = _fit(network)
    match = f"the best guess of a first switch places {fit:.0%} of the switches that could be"
    if fit < WRONG_FABRIC_SHARE and anchors.named_hosts >= FEW_NAMES:
        return Refusal(
            ("this is not the planned fabric: its hosts are others and its cables do not fit", *facts, match),
            RefusalKind.WRONG_FABRIC,
        )
    said = (
        "could not tell: no host of the plan is known by name and no switch is declared; harvest HCA GUIDs "
        "(--hca-guids) or declare one switch (identities of the site file, or --node-name-map)"
    )
    return Refusal((said, *facts, match), RefusalKind.NO_ANCHOR)


def _facts(anchors: Anchors, seen: Fabric, network: Network, tiers: Mapping[str, int]) -> list[str]:
    plan = anchors.plan.fabric
    planned = Counter(tiers.get(key) for key in network.places[: network.switches])
    levels = infer_tiers(seen)
    found = Counter(levels.get(key) for key in network.seen)
    radix = sorted({node.ports for node in seen.switches()})
    used = Counter(port.node for port in plan.links)
    most = max((used[key] for key in network.places[: network.switches]), default=0)
    hosts = len({node.host for node in plan.hcas() if node.host})
    return [
        f"planned: {_tier_words(planned)}; seen: {_tier_words(found)}",
        f"planned switches use up to {most} ports; seen switches have {', '.join(map(str, radix)) or 'no'} ports",
        f"{anchors.common_hosts:,} of {anchors.named_hosts:,} host names seen are among the {hosts:,} planned",
        f"planned cables: {plan.link_count:,}; seen: {seen.link_count:,}",
    ]


def _tier_words(counts: Counter[int | None]) -> str:
    words = {1: ("leaf", "leaves"), 2: ("spine", "spines"), 3: ("core", "cores")}
    parts = []
    for tier, number in sorted(counts.items(), key=lambda item: (item[0] is None, item[0] or 0)):
        other = "no known tier" if tier is None else f"tier {tier}"
        one, many = words.get(tier or 0, (f"switch of {other}", f"switches of {other}"))
        parts.append(f"{number:,} {one if number == 1 else many}")
    return ", ".join(parts) or "no switch"


def _fit(network: Network) -> float:
    """Share of switches placed from the best of a few guessed seeds: does the cabling fit the plan at all?"""
    possible = min(network.switches, len(network.seen))
    if not possible:
        return 0.0
    start = max(range(len(network.seen)), key=lambda v: len(network.near[v]))
    ports = {port for port, _, _ in network.near[start]}
    fitting: dict[frozenset[int], list[int]] = {}
    for place in range(network.switches):
        own = frozenset(
            port
            for port in network.planned_ports(place)
            if network.wanted[place << network.shift | port] >> network.shift < network.switches
        )
        if own & ports:
            fitting.setdefault(own, []).append(place)
    kinds = sorted(fitting.items(), key=lambda item: (-len(item[0] & ports), item[1]))
    best = 0.0
    for place in [places[0] for _, places in kinds[:GUESSES]]:
        votes = Votes(network, {start: place})
        votes._grow(frozenset())
        agreeing = 0
        for v, at in enumerate(votes.at):
            if at != NONE and votes.ballot(v).get(at, 0) > len(network.near[v]):  # half of two votes a cable
                agreeing += 1
        best = max(best, agreeing / possible)
    return best
