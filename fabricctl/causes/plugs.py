"""Ports that share one plug, as the plan declares its cables: what no hand can do with them.

The head of a splitter fills its cage with all its ports; a twin cable fills a cage at both ends. Such a plug moves as a
whole, in its own order: an act that takes one of its ports without the others cannot be done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from fabricctl.causes.layout import Layout
from fabricctl.causes.splitters import Splitter, plug_place
from fabricctl.fabric import Link, Port
from fabricctl.panels import Panel

TWINS = ("twin_dac", "twin_acc")
"""Assembly types with two links between the same two cages, as ``fabricctl.repair.model.AssemblyType`` spells them."""
WORDS = {"twin_dac": "twin DACs", "twin_acc": "twin ACCs"}
"""Type -> what a person calls such cables; all others are splitters."""

Plug = tuple[Port, ...]
"""Ports of one plug, in order."""


class Plugs:
    """The planned plugs with more than one port.

    :param splitters: and :param twins: both plugs of a twin cable -> its type.
    """

    def __init__(
        self,
        layout: Layout,
        panels: Mapping[str, Panel | None],
        splitters: Iterable[Splitter] = (),
        twins: Mapping[tuple[Plug, Plug], str] | None = None,
    ) -> None:
        self.layout, self.panels = layout, panels
        self.type: dict[Plug, str] = {splitter.head: splitter.type for splitter in splitters}
        for both, kind in (twins or {}).items():
            self.type.update(dict.fromkeys(both, kind))
        self.at: dict[Port, Plug] = {port: plug for plug in self.type for port in plug}

    def torn_by(self, moves: Mapping[Port, Port]) -> str:
        """What the cables are called that no hand can move like this; empty when it can be done.

        :param moves: port where a plug belongs -> port it would sit in.
        """
        if not self.at:
            return ""
        for port in moves:
            plug = self.at.get(port)
            if plug is None or (plug[0] != port and plug[0] in moves):
                continue
            to = tuple(moves.get(own, own) for own in plug)
            if to != plug and not self._is_place(plug, to):
                return WORDS.get(self.type[plug], "splitters")
        return ""

    def _is_place(self, plug: Plug, to: Plug) -> bool:
        """Whether a plug fits there: where the plan has one like it, or the ports of one cage in their order."""
        if to in self.type:
            return len(to) == len(plug)
        nodes = self.layout.nodes
        if self.layout.is_switch(to[0].node):
            panel = self.panels.get(to[0].node)
            cages = {(port.node, plug_place(port, self.type[plug], self.layout, panel)) for port in to}
            return len(cages) == 1 and list(to) == sorted(to)
        hcas = [(nodes[own.node].hca, nodes[there.node].hca) for own, there in zip(plug, to, strict=True)]
        return len({self.layout.host(port.node) for port in to}) == 1 and all(a == b for a, b in hcas)


def find_twins(
    links: Iterable[Link],
    layout: Layout,
    assembly_of: Callable[[Link], str],
    panels: Mapping[str, Panel | None],
) -> dict[tuple[Plug, Plug], str]:
    """The twin cables of the switches that some planned links belong to -> their type; whole ones only.

    The two links of one join the ports of a cage with two ports of one other device or host.
    """
    found: dict[tuple[Plug, Plug], str] = {}
    wanted = {(near.node, assembly_of(link)) for link in links for near in _switch_ends(link, layout)}
    for node, kind in sorted(wanted):
        cages: dict[object, list[tuple[Port, Port]]] = defaultdict(list)
        for number, far in layout.ports.get(node, ()):
            own = Port(node, number)
            if assembly_of(layout.plan.links[own]) == kind:
                cages[plug_place(own, kind, layout, panels.get(node))].append((own, far))
        for rows in cages.values():
            near, far_ends = tuple(sorted(own for own, _ in rows)), tuple(far for _, far in sorted(rows))
            boxes = {layout.host(far.node) or far.node for far in far_ends}
            if len(rows) == 2 and len(boxes) == 1 and (far_ends, near) not in found:
                found[near, far_ends] = kind
    return found


def _switch_ends(link: Link, layout: Layout) -> Iterator[Port]:
    return (end for end in (link.a, link.b) if layout.is_switch(end.node))
