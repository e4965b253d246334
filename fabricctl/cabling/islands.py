"""Islands: is the fabric one network, and which part of it was seen?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.model import Finding, FindingKind, Island
from fabricctl.discovery.model import Observation, Source
from fabricctl.fabric import Node, NodeKind
from fabricctl.hostset import fold, natural_key

RAIL_SHARE = 0.9
"""An island is called a rail's when at least this share of its HCAs belong to one."""
SHOWN = 8
"""Islands named one by one; the rest are counted."""
ALIKE = 1.1
"""Networks of a plan are described by one size when their HCAs differ by no more than this factor."""


@dataclass(frozen=True)
class Islands:
    """Components of the plan against components seen.

    :param planned: of the intended fabric; :param seen: of the discovered one, both largest first.
    :param unseen_switches: and ``unseen_hcas``: planned but not discovered.
    :param seen_in: for every island of ``seen``, the places in ``planned`` of the components it has devices of.
    :param planned_pieces: components of the plan that hold both switches and HCAs: more than one when no
        planned cable joins them, by design or by a slip of it.
    """

    planned: tuple[Island, ...]
    seen: tuple[Island, ...]
    planned_switches: int = 0
    planned_hcas: int = 0
    unseen_switches: int = 0
    unseen_hcas: int = 0
    unseen_rails: tuple[tuple[str, int], ...] = ()
    unseen_switch_set: str = ""
    seen_in: tuple[tuple[int, ...], ...] = ()
    planned_pieces: int = 0

    def torn(self) -> dict[int, list[int]]:
        """Place in ``planned`` -> places in ``seen``, of planned networks that lie on several seen islands.

        Only islands with a planned switch count: an HCA that sees no switch divides nothing.
        """
        lies_on: dict[int, list[int]] = {}
        for number, (island, parts) in enumerate(zip(self.seen, self.seen_in, strict=True)):
            for part in parts if island.switches else ():
                lies_on.setdefault(part, []).append(number)
        return {part: numbers for part, numbers in sorted(lies_on.items()) if len(numbers) > 1}


def find_islands(binding: Binding, observation: Observation) -> Islands:
    """Both sides' components. A component that holds no planned device is another fabric, not an island."""
    plan, seen, sources = binding.plan.fabric, observation.fabric, observation.sources
    nodes = plan.nodes
    unseen = [
        node for key, node in nodes.items() if key not in binding.seen_of and key not in binding.ambiguous
    ]
    unseen_switches = [node for node in unseen if _is_switch(node)]
    unseen_hcas = [node for node in unseen if node.kind is NodeKind.HCA]
    hcas = sum(node.kind is NodeKind.HCA for node in nodes.values())
    planned_parts = plan.islands()
    planned = tuple(_island([nodes[key] for key in part]) for part in planned_parts)
    part_of = {key: number for number, part in enumerate(planned_parts) for key in part}
    seen_parts = [
        part for part in seen.islands(observation.disputed.items()) if not part.isdisjoint(binding.plan_of)
    ]
    return Islands(
        planned,
        tuple(_seen_island(binding, [seen.nodes[key] for key in part], sources) for part in seen_parts),
        sum(_is_switch(node) for node in nodes.values()),
        hcas,
        len(unseen_switches),
        len(unseen_hcas),
        rail_counts(unseen_hcas),
        fold(node.name for node in unseen_switches) if len(unseen_switches) <= 512 else "",
        tuple(
            tuple(sorted({part_of[binding.plan_of[key]] for key in part if key in binding.plan_of}))
            for part in seen_parts
        ),
        len(_pieces(planned)),
    )


def _pieces(islands: Iterable[Island]) -> list[Island]:
    """Islands that somebody could train on: switches and HCAs."""
    return [island for island in islands if island.switches and island.hcas]


def _is_switch(node: Node) -> bool:
    """What a plan does not say to be an HCA is a switch for the count."""
    return node.kind not in (NodeKind.HCA, NodeKind.ROUTER)


def _seen_island(binding: Binding, nodes: list[Node], sources: list[Source]) -> Island:
    planned = binding.plan.fabric.nodes
    known = [planned[binding.plan_of[node.key]] for node in nodes if node.key in binding.plan_of]
    perhaps = [binding.undecided[node.key].planned for node in nodes if node.key in binding.undecided]
    known += [planned[keys[0]] for keys in perhaps if keys and keys[0] in planned]
    bits = 0
    for node in nodes:
        bits |= node.seen_by
    labels = tuple(source.label for index, source in enumerate(sources) if bits >> index & 1)
    nobody = sum(not keys for keys in perhaps)
    return replace(_island(known), sources=labels, strangers=len(nodes) - len(known) - nobody)


def _island(nodes: list[Node]) -> Island:
    switches = [node for node in nodes if _is_switch(node)]
    hcas = [node for node in nodes if node.kind is NodeKind.HCA]
    names = fold(node.name for node in switches) if len(switches) <= 512 else ""
    return Island(len(switches), len(hcas), rail_counts(hcas), names)


def rail_counts(hcas: Iterable[Node]) -> tuple[tuple[str, int], ...]:
    """How many HCAs are on which rail: declared rails as ``rail 1``, else the HCA's own name."""
    counts = Counter(
        f"rail {node.rail}" if node.rail is not None else node.hca or "unnamed HCAs" for node in hcas
    )
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], natural_key(item[0]))))


def rail_words(rails: tuple[tuple[str, int], ...]) -> str:
    """``rail 1``, ``mlx5_0 only`` or ``8 rails``: what an island's HCAs have in common."""
    total = sum(count for _, count in rails)
    if not total:
        return "no HCA"
    name, count = rails[0]
    if count >= RAIL_SHARE * total:
        return f"{name} only"
    text = fold(name for name, _ in rails)
    return text if len(text) <= 60 else f"{len(rails)} kinds of HCA"


def island_words(island: Island) -> str:
    """``40 switches, 512 HCAs (mlx5_0 only)``, strangers beside them."""
    text = device_words(island.switches, island.hcas, island.rails)
    if island.strangers:
        text += f" and {_number(island.strangers, 'device')} outside the plan"
    return text


def device_words(switches: int, hcas: int, rails: tuple[tuple[str, int], ...]) -> str:
    """Numbers of switches and HCAs in words."""
    parts = []
    if switches or not hcas:
        parts.append(_number(switches, "switch"))
    parts.append(f"{_number(hcas, 'HCA')} ({rail_words(rails)})" if hcas else "no HCA")
    return ", ".join(parts)


def islands_words(islands: Sequence[Island]) -> str:
    """The first eight kinds in words, then how many more; equal ones, and switches that see nothing, are counted."""
    lone = sum(1 for island in islands if _sees_nothing(island))
    kinds = Counter(island_words(island) for island in islands if not _sees_nothing(island))
    shown = list(kinds.items())[:SHOWN]
    parts = [words if number == 1 else f"{number:,} islands of {words} each" for words, number in shown]
    more = len(islands) - lone - sum(number for _, number in shown)
    parts += [f"and {more:,} more"] if more else []
    parts += [f"{'and ' if parts else ''}{_number(lone, 'switch')} that {_see(lone)} nothing"] if lone else []
    return "; ".join(parts)


def _sees_nothing(island: Island) -> bool:
    return island.switches == 1 and not island.hcas and not island.strangers


def _number(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 'es' if word.endswith('ch') else 's'}"


def _see(number: int) -> str:
    return "sees" if number == 1 else "see"


def planned_words(islands: Islands) -> str:
    """That the plan itself is several networks, and how big they are; empty when it is one."""
    pieces = _pieces(islands.planned)
    if len(pieces) < 2:
        return ""
    switches = {island.switches for island in pieces}
    hcas = {island.hcas for island in pieces}
    text = f"the plan itself is {len(pieces):,} networks that no cable joins: "
    if len(switches) > 1 or max(hcas) > ALIKE * min(hcas):
        return text + islands_words(pieces)
    one_rail = all(rail_words(island.rails).endswith(" only") for island in pieces)
    return (
        text
        + f"{_range(switches, 'switch')} and {_range(hcas, 'HCA')} each{', of one rail' if one_rail else ''}"
    )


def _range(numbers: set[int], word: str) -> str:
    low, high = min(numbers), max(numbers)
    return _number(high, word) if low == high else f"{low:,} to {_number(high, word)}"


def split_finding(islands: Islands) -> Finding | None:
    """A network of the plan whose devices were seen on several islands that cannot reach each other.

    It is the worst thing a fabric with every cable up can have. Two networks that the plan does not join are no
    split, nor is a network of which one island was seen. HCAs that see no switch divide nothing: their cables
    are missing, and they are said beside a split.
    """
    divided = islands.torn()
    if not divided:
        return None
    torn = [islands.seen[number] for number in sorted({n for numbers in divided.values() for n in numbers})]
    cut_off = sum(
        island.hcas
        for island, parts in zip(islands.seen, islands.seen_in, strict=True)
        if not island.switches and not island.strangers and not divided.keys().isdisjoint(parts)
    )
    beside = f", and {_number(cut_off, 'HCA')} {_see(cut_off)} no switch at all" if cut_off else ""
    whole = [islands.planned[part] for part in divided]
    if sum(not _sees_nothing(island) for island in islands.planned if island.switches) == 1:
        what, expected = "the fabric is", "one network"
    elif len(whole) == 1:
        what, expected = "one of the planned networks is", f"one network of {islands_words(whole)}"
    else:
        what = f"{len(whole)} of the planned networks are"
        expected = f"{len(whole)} networks: {islands_words(whole)}"
    return Finding(
        FindingKind.SPLIT_FABRIC,
        f"{len(torn)} islands",
        f"{what} in {len(torn)} islands that cannot reach each other{beside}",
        expected=expected,
        found=islands_words(torn),
        fix="see the switch-to-switch cables and absent switches below: they are what divides it",
        devices=(),
    )
