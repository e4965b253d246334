"""A whole layer cabled by another idea: cores or leaf uplinks per rail, per unit or per group.

Every count is right then, every port is up, and the fabric is several networks. What tells it: in the plan a
switch of the upper tier sees lower switches of all rails (or units), in reality of one only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricctl.cabling.comparison import Comparison
from fabricctl.causes.layout import Layout
from fabricctl.causes.residual import Residual
from fabricctl.fabric import Port

PURE = 0.9
"""Share of a layer's real cables that stay in the group of most cables of their upper switch."""
MIXED = 0.6
"""In the plan at most this share does: with two groups it is one half."""
MAJORITY = 0.8
"""A switch is of a group when this share of its lower cables is."""
WRONG_SHARE, WRONG_LINKS = 0.3, 8
"""A layer is looked at when this share of its planned links is wrong, and so many: it is about the whole layer."""

Colours = dict[str, str]
Pairs = list[tuple[str, str]]
"""(lower switch, upper switch) of every cable of a layer."""


@dataclass(frozen=True)
class Layer:
    """A layer cabled by groups.

    :param lower: and ``upper``: tiers; :param word: ``rail``, ``unit`` or ``group``; :param groups: how many.
    :param explained: numbers of the wrong cables; :param planned: links of the layer, :param cables: really there.
    :param pure: of those, the ones that stay in their group; :param of_planned: planned ones that would.
    :param uppers: keys of the upper switches; :param pieces: separate networks seen, 0 when they hang together.
    :param empty: of the explained links, those with one end that carries nothing.
    """

    lower: int
    upper: int
    word: str
    groups: int
    explained: tuple[int, ...]
    planned: int
    cables: int
    pure: int
    of_planned: int
    uppers: tuple[str, ...]
    pieces: int
    empty: int


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
            layer = _judge(low, word, colours, planned[low], actual[low], residual, wrong[low], layout, comparison)
            if layer is not None:
                yield layer
                break


def _layers(comparison: Comparison, tier: Mapping[str, int]) -> tuple[dict[int, Pairs], dict[int, Pairs]]:
    planned: dict[int, Pairs] = defaultdict(list)
    actual: dict[int, Pairs] = defaultdict(list)

    def add(into: dict[int, Pairs], a: str, b: str) -> None:
        ta, tb = tier.get(a, 0), tier.get(b, 0)
        if ta and tb == ta + 1:
            into[ta].append((a, b))
        elif tb and ta == tb + 1:
            into[tb].append((b, a))

    plan_of = comparison.binding.plan_of
    for link in comparison.binding.plan.fabric.each_link():
        add(planned, link[0][0], link[1][0])
    for link in comparison.seen.each_link():
        add(actual, plan_of.get(link[0][0], ""), plan_of.get(link[1][0], ""))
    return planned, actual


def _colourings(
    comparison: Comparison, layout: Layout, low: int, planned: Mapping[int, Pairs], actual: Mapping[int, Pairs]
) -> Iterator[tuple[str, tuple[Colours, Colours]]]:
    """Groups of the layer's lower switches, by plan and by reality: rails, units, then whatever hangs together."""
    leaves = {key for key, tier in layout.tier.items() if tier == 1}
    rails = {key: str(rail) for key, rail in layout.rail.items() if key in leaves}
    units = {key: unit for key, unit in layout.unit.items() if key in leaves}
    for word, colours in (("rail", rails), ("unit", units)):
        by_plan, by_fact = colours, colours
        for tier in range(1, low):
            by_plan, by_fact = _majorities(planned[tier], by_plan), _majorities(actual[tier], by_fact)
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
        found[high][colours.get(low, "")] += 1
    return found


def _majorities(pairs: Pairs, colours: Colours) -> Colours:
    found: Colours = {}
    for key, counts in _counts(pairs, colours).items():
        best, number = counts.most_common(1)[0]
        if best and number >= MAJORITY * counts.total():
            found[key] = best
    return found


def _judge(
    low: int,
    word: str,
    colours: tuple[Colours, Colours],
    planned: Pairs,
    actual: Pairs,
    residual: Residual,
    wrong: list[int],
    layout: Layout,
    comparison: Comparison,
) -> Layer | None:
    by_plan, by_fact = colours
    if not actual or len(set(by_fact.values())) < 2:
        return None
    of_planned = sum(max(counts.values()) for counts in _counts(planned, by_plan).values())
    if of_planned > MIXED * len(planned) and len(by_plan) >= MAJORITY * len({a for a, _ in planned}):
        return None
    counts = _counts(actual, by_fact)
    pure = sum(max((n for colour, n in found.items() if colour), default=0) for found in counts.values())
    if pure < PURE * len(actual):
        return None
    upper = {key: max(found, key=lambda c: (found[c], c)) for key, found in counts.items()}
    explained, empty = [], 0
    for number in wrong:
        cable = residual.cables[number]
        fits = [_stays(end, residual.actual(end), low, by_fact, upper) for end in (cable.a, cable.b)]
        if any(fits) and False not in fits:
            explained.append(number)
            empty += None in fits
    if len(explained) < WRONG_LINKS:
        return None
    sizes = [sum(1 for key in part if key in comparison.binding.plan_of) for part in comparison.seen.islands()]
    pieces = sum(size > 1 for size in sizes)
    groups = len(set(upper.values()) - {""})
    uppers = tuple(sorted({layout_key for layout_key in upper}))
    return Layer(
        low, low + 1, word, groups, tuple(explained), len(planned), len(actual), pure, of_planned, uppers,
        pieces if pieces > 1 else 0, empty,
    )


def _stays(end: Port, far: Port | None, low: int, lower: Colours, upper: Colours) -> bool | None:
    """Whether the cable in this port stays in its group; None when it carries none."""
    if far is None:
        return None
    for a, b in ((end, far), (far, end)):
        colour = lower.get(a.node, "")
        if colour and upper.get(b.node) == colour:
            return True
    return False
