"""Two links that were exchanged, and what the two have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabricctl.causes.layout import Layout
from fabricctl.causes.model import CauseKind, CauseKnowledge, OtherSlot
from fabricctl.causes.residual import Residual
from fabricctl.causes.splitters import Splitter
from fabricctl.fabric import Port
from fabricctl.panels import Panel


class Swap(NamedTuple):
    """Two cables of the residual that lie in each other's place.

    :param kind: what they have in common, ``SWAPPED`` for nothing; :param where: words for it.
    :param device: host or switch they have in common; :param slots: evidence of a card in another slot.
    """

    first: int
    second: int
    kind: CauseKind
    device: str = ""
    where: str = ""
    slots: tuple[OtherSlot, ...] = ()


def pairs(residual: Residual) -> Iterator[tuple[int, int]]:
    """Numbers of two unexplained cables each of which lies where the other belongs."""
    for number in residual.wrong:
        cable = residual.cables[number]
        far = residual.actual(cable.a)
        other = residual.at.get(far) if far is not None else None
        if far is None or other is None or other <= number or other not in residual.wrong:
            continue
        twin = residual.cables[other]
        rest = twin.b if far == twin.a else twin.a
        if far != rest and residual.actual(cable.b) == rest:
            yield number, other


def find_swaps(
    residual: Residual,
    layout: Layout,
    knowledge: CauseKnowledge,
    panels: Mapping[str, Panel | None],
    splitters: list[Splitter],
) -> list[Swap]:
    """Every exchange of two links, with what the two share: a cage, a host, a splitter."""
    tail_of = {tail: splitter for splitter in splitters for tail in splitter.tails}
    return [_named(residual, one, two, layout, knowledge, panels, tail_of) for one, two in pairs(residual)]


def _named(
    residual: Residual,
    one: int,
    two: int,
    layout: Layout,
    knowledge: CauseKnowledge,
    panels: Mapping[str, Panel | None],
    tail_of: Mapping[Port, Splitter],
) -> Swap:
    first, second = residual.cables[one], residual.cables[two]
    for a in (first.a, first.b):
        for b in (second.a, second.b):
            splitter = tail_of.get(a)
            if splitter is not None and splitter is tail_of.get(b):
                return Swap(one, two, CauseKind.TAILS_CROSSED, splitter.head[0].node, _ports(splitter.head))
    for a in (first.a, first.b):
        for b in (second.a, second.b):
            found = _same_host(a, b, one, two, layout, knowledge) or _same_cage(a, b, one, two, panels)
            if found is not None:
                return found
    return Swap(one, two, CauseKind.SWAPPED)


def _ports(ports: tuple[Port, ...]) -> str:
    return f"ports {ports[0].number} to {ports[-1].number}"


def _same_host(
    a: Port, b: Port, one: int, two: int, layout: Layout, knowledge: CauseKnowledge
) -> Swap | None:
    host = layout.host(a.node)
    if host is None or host != layout.host(b.node):
        return None
    names = [layout.nodes[port.node].hca or "" for port in (a, b)]
    told = tuple(slot for slot in knowledge.other_slots.get(host, ()) if slot.hca in names)
    if len(told) == 2:
        return Swap(one, two, CauseKind.CARD_IN_OTHER_SLOT, host, " and ".join(sorted(names)), told)
    panel = knowledge.host_panel(host)
    found = [
        panel.behind(name) if panel is not None and name not in panel.storage else None for name in names
    ]
    if found[0] is not None and found[1] is not None and found[0].cage == found[1].cage:
        return Swap(one, two, CauseKind.HOST_CAGE_PORTS_EXCHANGED, host, f"cage {found[0].cage}")
    return Swap(one, two, CauseKind.SWAPPED, host, " and ".join(sorted(names)))


def _same_cage(a: Port, b: Port, one: int, two: int, panels: Mapping[str, Panel | None]) -> Swap | None:
    panel = panels.get(a.node)
    if a.node != b.node or panel is None:
        return None
    here, there = panel.at(a.number), panel.at(b.number)
    if here is None or there is None or here.cage != there.cage:
        return None
    return Swap(one, two, CauseKind.CAGE_PORTS_EXCHANGED, a.node, f"cage {here.cage}")
