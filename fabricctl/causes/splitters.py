"""Splitters, where the plan declares them: tails crossed inside one, heads exchanged between two.

A head takes all its ports with it, so on a splitter's head single ports cannot have changed places; what looks
like that are its tails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fabricctl.causes.candidate import MIN_FIT, MIN_LINKS, Candidate
from fabricctl.causes.exchanges import cycles
from fabricctl.causes.layout import Layout
from fabricctl.causes.model import CauseKind
from fabricctl.fabric import Link, Port
from fabricctl.panels import Panel

SPLITTERS = {"fibre_split_1x2": 2, "dac_split_1x2": 2, "dac_split_1x4": 4}
"""Assembly types with a head, as ``fabricctl.repair.model.AssemblyType`` spells them -> number of tails."""


@dataclass(frozen=True)
class Splitter:
    """One planned splitter: its head's ports in order, and the port each tail is planned for."""

    head: tuple[Port, ...]
    tails: tuple[Port, ...]
    type: str


def find_splitters(
    links: list[Link], layout: Layout, assembly_of: Callable[[Link], str], panels: Mapping[str, Panel | None]
) -> list[Splitter]:
    """The splitters some planned links belong to, whole ones only.

    Links of one splitter share its label, else the cage of its head. The head is the end on the higher tier.
    """
    groups: dict[tuple[str, object], list[tuple[Port, Port]]] = defaultdict(list)
    kinds: dict[tuple[str, object], str] = {}
    done: set[Port] = set()
    for start in links:
        kind = assembly_of(start)
        if kind not in SPLITTERS or start.a in done:
            continue
        head = _head(start, layout)
        for number, far in layout.ports.get(head.node, ()):
            own = Port(head.node, number)
            link = layout.plan.links[own]
            if assembly_of(link) != kind or link.a in done or _head(link, layout) != own:
                continue
            done.add(link.a)
            label = link.detail.cable if link.detail is not None else ""
            key = (head.node, label or plug_place(own, kind, layout, panels.get(head.node)))
            groups[key].append((own, far))
            kinds[key] = kind
    found = []
    for key, rows in groups.items():
        if len(rows) == SPLITTERS[kinds[key]]:
            rows.sort()
            found.append(Splitter(tuple(a for a, _ in rows), tuple(b for _, b in rows), kinds[key]))
    return sorted(found, key=lambda splitter: splitter.head)


def _head(link: Link, layout: Layout) -> Port:
    tiers = (layout.tier.get(link.a.node, 0), layout.tier.get(link.b.node, 0))
    return link.a if tiers[0] > tiers[1] else link.b


def plug_place(port: Port, kind: str, layout: Layout, panel: Panel | None) -> object:
    """What the plug in this port fills: a cage, both halves of one port, or as many ports in a row.

    Where ports are counted by halves, a copper head lights a whole cage and the MPO of a fibre one a single port.
    """
    tails = SPLITTERS.get(kind, 2)
    found = layout.ends.panel_port(port, panel) if panel is not None else None
    if panel is not None and found is not None:
        halves = layout.ends.splits(port.node)
        if halves and kind.startswith("fibre"):
            return found.cage, found.port
        if tails == panel.ports_per_cage or (halves and tails == 2 * panel.ports_per_cage):
            return found.cage
    return (port.number - 1) // tails


def _tails(splitters: list[Splitter], displaced: Mapping[Port, Port], layout: Layout) -> Iterator[Candidate]:
    """Crossed tails by the device of their heads: all its splitters where most are crossed, else those that are."""
    crossed: dict[tuple[str, str], list[dict[Port, Port]]] = defaultdict(list)
    every: dict[tuple[str, str], list[Splitter]] = defaultdict(list)
    for splitter in splitters:
        key = splitter.head[0].node, splitter.type
        every[key].append(splitter)
        order = {tail: to for tail in splitter.tails if (to := displaced.get(tail)) is not None}
        if len(splitter.tails) == 2 and order:
            swapped = dict(zip(splitter.tails, reversed(splitter.tails), strict=True))
            order = swapped if order.items() <= swapped.items() else {}
        if order and set(order) == set(order.values()):
            crossed[key].append(order)
    for (node, kind), orders in crossed.items():
        own = every[node, kind]
        moves = {tail: to for order in orders for tail, to in order.items()}
        tails = SPLITTERS[kind]
        if tails == 2 and len(orders) >= MIN_FIT * len(own):
            for splitter in own:
                moves.update(zip(splitter.tails, reversed(splitter.tails), strict=True))
        family = ("tails", layout.tier.get(node), kind, len(orders) > 1)
        yield Candidate(
            CauseKind.TAILS_CROSSED,
            moves,
            (node,),
            family,
            size=len(moves) // tails,
            least=min(2 * len(orders), MIN_LINKS),
            note="splitter",
            among=tails * len(own) if len(orders) > 1 else 0,
        )


def splitter_candidates(
    splitters: list[Splitter], displaced: Mapping[Port, Port], layout: Layout
) -> Iterator[Candidate]:
    """Tails crossed inside splitters; heads that went to each other's places as a whole."""
    yield from _tails(splitters, displaced, layout)
    of_head = {splitter.head[0]: splitter for splitter in splitters}
    target: dict[Port, Port] = {}
    for splitter in splitters:
        heads = splitter.head
        there_heads = [displaced.get(port) for port in heads]
        first = there_heads[0]
        whole = of_head.get(first) if first is not None else None
        if whole is not None and tuple(there_heads) == whole.head:
            target[heads[0]] = whole.head[0]
    text = {f"{port.node}\0{port.number:09d}": port for port in {*target, *target.values()}}
    keys = {port: word for word, port in text.items()}
    for ring, closed in cycles({keys[a]: keys[b] for a, b in target.items()}):
        ports = [text[word] for word in ring]
        moves = {
            own: to
            for a in ports
            if a in target
            for own, to in zip(of_head[a].head, of_head[target[a]].head, strict=True)
        }
        yield Candidate(
            CauseKind.HEADS_EXCHANGED,
            moves,
            tuple(dict.fromkeys(port.node for port in ports)),
            size=len(ports),
            wraps=closed,
            pairs=tuple((port.node, str(port.number)) for port in ports),
        )
