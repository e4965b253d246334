"""Two links that were exchanged, and what the two have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabricctl.causes.layout import Layout
from fabricctl.causes.model import CauseKind, CauseKnowledge, OtherSlot
from fabricctl.causes.plugs import Plugs
from fabricctl.causes.residual import Residual
from fabricctl.causes.splitters import Splitter
from fabricctl.fabric import Port
from fabricctl.panels import Panel


class Swap(NamedTuple):
    """Two cables of the residual that lie in each other's place.

    :param kind: what they have in common, ``SWAPPED`` for nothing; :param where: words for it.
    :param device: host or switch they have in common; :param slots: evidence of a card in another slot.
    :param more: of two twin cables, the second link of each.
    :param impossible: what the declared cables are called that no hand can exchange so; empty when it can be done.
    """

    first: int
    second: int
    kind: CauseKind
    device: str = ""
    where: str = ""
    slots: tuple[OtherSlot, ...] = ()
    more: tuple[int, ...] = ()
    impossible: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of all its cables."""
        return (self.first, self.second, *self.more)


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
    plugs: Plugs,
) -> list[Swap]:
    """Every exchange of two links (or of two twin cables), with what the two share: a cage, a host, a splitter."""
    tail_of = {tail: splitter for splitter in splitters for tail in splitter.tails}
    found = [_named(residual, one, two, layout, knowledge, panels, tail_of) for one, two in pairs(residual)]
    return _with_twins(found, residual, plugs) if plugs.at else found


def _with_twins(swaps: list[Swap], residual: Residual, plugs: Plugs) -> list[Swap]:
    """Both links of two twin cables exchanged told as one; what would tear a plug at either end marked."""
    made: dict[object, Swap] = {}
    moved: dict[object, tuple[dict[Port, Port], dict[Port, Port]]] = {}
    for swap in swaps:
        ways = _ways(residual, swap)
        torn = _torn(ways, plugs)
        key: object = (
            frozenset(plugs.at.get(port) or (port,) for way in ways for port in way) if torn else swap
        )
        if key in made:
            ways[0].update(moved[key][0])
            ways[1].update(moved[key][1])
            whole = made[key]
            if not _torn(ways, plugs):
                made[key] = whole._replace(
                    kind=CauseKind.SWAPPED, more=(swap.first, swap.second), impossible=""
                )
                continue
            key = swap
        made[key], moved[key] = swap._replace(impossible=torn), ways
    return list(made.values())


def _torn(ways: tuple[dict[Port, Port], dict[Port, Port]], plugs: Plugs) -> str:
    """It was done at one end: impossible only when it tears a plug at both."""
    return plugs.torn_by(ways[1]) and plugs.torn_by(ways[0])


def _ways(residual: Residual, swap: Swap) -> tuple[dict[Port, Port], dict[Port, Port]]:
    """Moves that exchange the two cables: at the lower keys' ends, or at the others."""
    one, two = residual.cables[swap.first], residual.cables[swap.second]
    near, far = (two.a, two.b) if residual.actual(one.a) == two.b else (two.b, two.a)
    return {one.a: near, near: one.a}, {one.b: far, far: one.b}


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
                where = _ports(splitter.head, layout)
                return Swap(one, two, CauseKind.TAILS_CROSSED, splitter.head[0].node, where)
    for a in (first.a, first.b):
        for b in (second.a, second.b):
            found = _same_host(a, b, one, two, layout, knowledge) or _same_cage(
                a, b, one, two, layout, panels
            )
            if found is not None:
                return found
    return Swap(one, two, CauseKind.SWAPPED)


def _ports(ports: tuple[Port, ...], layout: Layout) -> str:
    return f"ports {layout.ends.own_number(ports[0])} to {layout.ends.own_number(ports[-1])}"


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


def _same_cage(
    a: Port, b: Port, one: int, two: int, layout: Layout, panels: Mapping[str, Panel | None]
) -> Swap | None:
    panel = panels.get(a.node)
    if a.node != b.node or panel is None:
        return None
    here, there = (layout.ends.panel_port(port, panel) for port in (a, b))
    if here is None or there is None or here.cage != there.cage or here.port == there.port:
        return None
    if layout.ends.normal(a)[1:] != layout.ends.normal(b)[1:]:  # a first and a second half
        return None
    return Swap(one, two, CauseKind.CAGE_PORTS_EXCHANGED, a.node, f"cage {here.cage}")
