"""A whole layer cabled by another idea: cores or leaf uplinks per rail, per unit or per group.

Every count is right then, every port is up, and the fabric is several networks. What tells it: in the plan a
switch of the upper tier sees lower switches of all rails (or units), in reality of one only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabricctl.cabling.comparison import Comparison
from fabricctl.causes.layout import Layout
from fabricctl.causes.residual import Residual
from fabricctl.fabric import Port
from fabricctl.hostset import natural_key

PURE = 0.9
"""Share of a layer's real cables that stay in the group of most cables of their upper switch."""
MIXED = 0.6
"""In the plan at most this share does: with two groups it is one half."""
MAJORITY = 0.8
"""A switch is of a group when this share of its lower cables is."""
WRONG_SHARE, WRONG_LINKS = 0.3, 8
"""A layer is looked at when this share of its planned links is wrong, and so many: it is about the whole layer."""

Colours = dict[str, str]
Pairs = list[tuple[Port, Port]]
"""Lower and upper port of every cable of a layer, in the plan's keys."""


@dataclass(frozen=True)
class Layer:
    """A layer cabled by groups.

    :param lower: and ``upper``: tiers; :param word: ``rail``, ``unit`` or ``group``; :param groups: how many.
    :param planned: links of the layer, :param cables: really there.
    :param pure: of those, the ones that stay in their group; :param of_planned: planned ones that would.
    :param uppers: keys of the upper switches; :param pieces: separate networks seen, 0 when they hang together.
    :param wrong: numbers of all wrong cables of the layer.
    :param colours: group of lower and of upper switches, as they are cabled.
    :param pattern: lower port -> upper port the layer's own rule would join it with, where it could be learned.
    """

    lower: int
    upper: int
    word: str
    groups: int
    planned: int
    cables: int
    pure: int
    of_planned: int
    uppers: tuple[str, ...]
    pieces: int
    wrong: tuple[int, ...]
    colours: tuple[Colours, Colours]
    pattern: Mapping[Port, Port] = field(default_factory=dict)


def grouped_layers(comparison: Comparison, residual: Residual, layout: Layout) -> Iterator[Layer]:
    """Layers of switches that are cabled by groups although the plan mixes them, lowest first."""
    tier = layout.tier
    wrong: dict[int, list[int]] = defaultdict(list)
    for number in residual.wrong:
        link = residual.cables[number].link
        low, high = sorted((tier.get(link.a.node, 0), tier.get(link.b.node, 0)))
        if low >= 1 and high == low + 1:
            wrong[low].append(number)
    if not wrong or max(map(len, wrong.values())) < WRONG_LINKS:
        return
    planned, actual = _layers(comparison, tier)
    for low in sorted(wrong):
        if len(wrong[low]) < max(WRONG_LINKS, WRONG_SHARE * len(planned[low])):
            continue
        for word, colours in _colourings(comparison, layout, low, planned, actual):
            layer = _judge(word, colours, low, planned[low], actual[low], wrong[low], layout, comparison)
            if layer is not None:
                yield layer
                break


def _layers(comparison: Comparison, tier: Mapping[str, int]) -> tuple[dict[int, Pairs], dict[int, Pairs]]:
    planned: dict[int, Pairs] = defaultdict(list)
    actual: dict[int, Pairs] = defaultdict(list)

    def add(into: dict[int, Pairs], a: Port, b: Port) -> None:
        ta, tb = tier.get(a[0], 0), tier.get(b[0], 0)
        if ta and tb == ta + 1:
            into[ta].append((a, b))
        elif tb and ta == tb + 1:
            into[tb].append((b, a))

    plan_of = comparison.binding.plan_of
    for link in comparison.binding.plan.fabric.each_link():
        add(planned, link[0], link[1])
    for link in comparison.seen.each_link():
        a, b = plan_of.get(link[0][0], ""), plan_of.get(link[1][0], "")
        if tier.get(a, 0) and tier.get(b, 0):
            add(actual, Port(a, link[0][1]), Port(b, link[1][1]))
    return planned, actual


def _colourings(
    comparison: Comparison,
    layout: Layout,
    low: int,
    planned: Mapping[int, Pairs],
    actual: Mapping[int, Pairs],
) -> Iterator[tuple[str, tuple[Colours, Colours]]]:
    """Groups of the layer's lower switches, by plan and as taken for real.

    First rails and units as planned, so that a switch out of place stands out; then as the layers below are
    really cabled, since those may be mixed up themselves; last whatever hangs together, which explains anything.
    """
    leaves = {key for key, tier in layout.tier.items() if tier == 1}
    found: list[tuple[str, Colours, Colours]] = []
    for word, of in (("rail", {key: str(rail) for key, rail in layout.rail.items()}), ("unit", layout.unit)):
        by_plan = by_fact = {key: colour for key, colour in of.items() if key in leaves}
        for tier in range(1, low):
            by_plan, by_fact = _majorities(planned[tier], by_plan), _majorities(actual[tier], by_fact)
        found.append((word, by_plan, by_fact))
    for word, by_plan, _ in found:
        yield word, (by_plan, by_plan)
    for word, by_plan, by_fact in found if low > 1 else ():
        yield word, (by_plan, by_fact)
    pieces: Colours = {}
    for number, keys in enumerate(comparison.seen.islands()):
        for key in keys:
            name = comparison.binding.plan_of.get(key)
            if name is not None:
                pieces[name] = str(number)
    yield "group", (pieces, pieces)


def _counts(pairs: Pairs, colours: Colours) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for low, high in pairs:
        found[high[0]][colours.get(low[0], "")] += 1
    return found


def _majorities(pairs: Pairs, colours: Colours) -> Colours:
    found: Colours = {}
    for key, counts in _counts(pairs, colours).items():
        best, number = counts.most_common(1)[0]
        if best and number >= MAJORITY * counts.total():
            found[key] = best
    return found


def _judge(
    word: str,
    colours: tuple[Colours, Colours],
    low: int,
    planned: Pairs,
    actual: Pairs,
    wrong: list[int],
    layout: Layout,
    comparison: Comparison,
) -> Layer | None:
    by_plan, by_fact = colours
    if not actual or len(set(by_fact.values())) < 2:
        return None
    of_planned = sum(max(counts.values()) for counts in _counts(planned, by_plan).values())
    if of_planned > MIXED * len(planned) and len(by_plan) >= MAJORITY * len({a[0] for a, _ in planned}):
        return None
    counts = _counts(actual, by_fact)
    pure = sum(max((n for colour, n in found.items() if colour), default=0) for found in counts.values())
    upper = {key: max(found, key=lambda c: (found[c], c)) for key, found in counts.items()}
    groups = len(set(upper.values()) - {""})
    if pure < PURE * len(actual) or groups < 2:
        return None
    sizes = [
        sum(1 for key in part if key in comparison.binding.plan_of) for part in comparison.seen.islands()
    ]
    pieces = sum(size > 1 for size in sizes)
    return Layer(
        low,
        low + 1,
        word,
        groups,
        len(planned),
        len(actual),
        pure,
        of_planned,
        tuple(sorted(upper)),
        pieces if pieces > 1 else 0,
        tuple(wrong),
        (by_fact, upper),
        _learned(actual, by_fact, upper, layout),
    )


def _learned(actual: Pairs, lower: Colours, upper: Colours, layout: Layout) -> dict[Port, Port]:
    """The rule by which the layer is really cabled, where most groups agree on it.

    Groups are alike: the k-th lower switch of each has its port n on the same port of the j-th upper switch.
    Two groups cannot outvote each other, so nothing is learned from fewer than three.
    """
    ranked = [
        _ranked(colours, {port[0] for port in ends}, layout)
        for colours, ends in zip((lower, upper), zip(*actual, strict=True), strict=True)
    ]
    (rank_low, _), (rank_high, names) = ranked
    votes: dict[tuple[int, int], Counter[tuple[int, int]]] = defaultdict(Counter)
    for low, high in actual:
        if low[0] in rank_low and high[0] in rank_high and lower[low[0]] == upper[high[0]]:
            votes[rank_low[low[0]], low[1]][rank_high[high[0]], high[1]] += 1
    groups = len({colour for colour, _ in names})
    rule: dict[tuple[int, int], tuple[int, int]] = {}
    for place, counts in votes.items():
        best, number = counts.most_common(1)[0]
        if groups >= 3 and 2 * number > groups:
            rule[place] = best
    by_rank = _as_cabled(rule, actual, rank_low, lower, upper)
    found: dict[Port, Port] = {}
    for key, rank in rank_low.items():
        for number, far in layout.ports.get(key, ()):
            to = rule.get((rank, number))
            there = by_rank.get((lower[key], to[0])) if to is not None else None
            if (
                to is not None
                and there is not None
                and layout.tier.get(far.node, 0) > layout.tier.get(key, 0)
            ):
                found[Port(key, number)] = Port(there, to[1])
    return found


def _as_cabled(
    rule: Mapping[tuple[int, int], tuple[int, int]],
    actual: Pairs,
    rank_low: Mapping[str, int],
    lower: Colours,
    upper: Colours,
) -> dict[tuple[str, int], str]:
    """(group, place) -> the upper switch that has most of that place's cables.

    No plan says which of a group's upper switches is which, so the one that is cabled as the j-th is the j-th.
    """
    votes: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for low, high in actual:
        to = rule.get((rank_low.get(low[0], -1), low[1]))
        if to is not None and lower[low[0]] == upper.get(high[0]):
            votes[lower[low[0]], to[0]][high[0]] += 1
    return {place: min(counts, key=lambda key: (-counts[key], key)) for place, counts in votes.items()}


def _ranked(
    colours: Colours, keys: set[str], layout: Layout
) -> tuple[dict[str, int], dict[tuple[str, int], str]]:
    """Switch -> its place among those of its group by name, and back."""
    members: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        if colours.get(key):
            members[colours[key]].append(key)
    rank: dict[str, int] = {}
    for found in members.values():
        found.sort(key=lambda key: natural_key(layout.name(key)))
        rank.update((key, place) for place, key in enumerate(found))
    return rank, {(colours[key], place): key for key, place in rank.items()}


def by_rule(layer: Layer, residual: Residual, tier: Mapping[str, int]) -> dict[int, tuple[Port, Port]]:
    """Where the wrong cables of a layer lie by its own rule."""
    found: dict[int, tuple[Port, Port]] = {}
    for number in layer.wrong:
        cable = residual.cables[number]
        at_a = tier.get(cable.link.a.node) == layer.lower
        to = layer.pattern.get(cable.link.a if at_a else cable.link.b)
        if to is not None and number in residual.wrong:  # a port may have been renumbered since
            found[number] = (cable.a if at_a else cable.b, to)
    return found


def within_groups(layer: Layer, residual: Residual) -> list[int]:
    """Numbers of the layer's unexplained cables whose planned ports carry cables that stay in their group."""
    explained = []
    for number in layer.wrong:
        if number not in residual.wrong:
            continue
        link = residual.cables[number].link
        fits = [_stays(end, residual.actual(end), *layer.colours) for end in (link.a, link.b)]
        if any(fits) and False not in fits:
            explained.append(number)
    return explained


def _stays(end: Port, far: Port | None, lower: Colours, upper: Colours) -> bool | None:
    """Whether the cable in this port stays in its group; None when it carries none."""
    if far is None:
        return None
    for a, b in ((end, far), (far, end)):
        colour = lower.get(a.node, "")
        if colour and upper.get(b.node) == colour:
            return True
    return False
