"""Which ports share a plug: the cages and MPO sockets of a device, from its panel or, without one, by counting.

A head or twin plug needs a place of as many ports. In the normal profile that is a cage (QM9700 cage 14: ports 27 and
28); in the split-ready profile every port number doubles, so a cage is four numbers (53..56), a twin plug lights the
first halves (53, 55) and the head of a split fibre or of an HDR splitter takes both halves of one port (53, 54).
"""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl.fabric import NodeKind, Port
from fabricctl.panels import Panel
from fabricctl.repair.knowledge import Devices


class Sockets:
    """Finds the place a port belongs to."""

    def __init__(self, devices: Devices) -> None:
        self.devices = devices
        self._panels: dict[str, Panel | None] = {}
        self._places: dict[tuple[str, bool, int, bool], dict[int, tuple[int, ...]]] = {}
        self.counted: set[str] = set()
        """Boxes whose cages were counted (ports 1 and 2 are one, 3 and 4 the next), since no panel was known."""

    def of(self, port: Port, size: int, *, in_cage: bool) -> tuple[Port, ...] | None:
        """Ports of the place of ``size`` ports around a port, in order of the plug's positions.

        :param in_cage: the plug fills a cage; else it is an MPO, which carries one port or that port's two halves.

        None when the device has no such place, or nothing tells which ports of an HCA's host share a cage.
        """
        if size == 1:
            return (port,)
        node = self.devices.node(port.node)
        panel = self._panel(port.node)
        if node is not None and node.kind is NodeKind.HCA:
            return self._on_host(port, size, panel) if panel is not None else None
        if panel is None:
            self.counted.add(self.devices.box(port.node))
            first = (port.number - 1) // size * size + 1
            return tuple(Port(port.node, number) for number in range(first, first + size))
        split = self.devices.ends.splits(port.node)
        key = (panel.name, split, size, in_cage)
        places = self._places.get(key)
        if places is None:
            table = _places(panel, size, split=split, in_cage=in_cage)
            places = self._places[key] = {number: place for place in table for number in place}
        found = places.get(port.number)
        return tuple(Port(port.node, number) for number in found) if found is not None else None

    def _panel(self, key: str) -> Panel | None:
        if key not in self._panels:
            known = self.devices.planned(key)
            self._panels[key] = self.devices.knowledge.panel_of(key) if known else None
        return self._panels[key]

    def _on_host(self, port: Port, size: int, panel: Panel) -> tuple[Port, ...] | None:
        node = self.devices.node(port.node)
        host = self.devices.host(port.node)
        own = next(
            (p for p in panel.ports if node and p.hca == (node.hca or "") and p.number == port.number), None
        )
        if own is None:
            return None
        mates = sorted((p for p in panel.ports if p.cage == own.cage), key=lambda p: p.port)
        keys = [self.devices.hca_keys.get((host, mate.hca)) for mate in mates]
        if len(mates) != size or None in keys:
            return None
        return tuple(Port(key, mate.number) for key, mate in zip(keys, mates, strict=True) if key is not None)


def _places(panel: Panel, size: int, *, split: bool, in_cage: bool) -> Iterator[tuple[int, ...]]:
    """Every place of ``size`` ports: whole cages first, then, where that fits none, the halves of single ports."""
    cages: dict[str, list[tuple[int, int, int | None]]] = {}
    for port in panel.ports:
        cages.setdefault(port.cage, []).append((port.port, port.number, port.split_ready))
    ordered = [[(number, half) for _, number, half in sorted(cage)] for cage in cages.values()]
    normal = [tuple(number for number, _ in cage) for cage in ordered]
    firsts = [tuple(half for _, half in cage if half is not None) for cage in ordered]
    halves = [tuple(n for half in cage for n in (half, half + 1)) for cage in firsts]
    of_port = [(half, half + 1) for cage in firsts for half in cage]
    whole = (firsts if split else normal, halves) if in_cage else ()
    for places in (*whole, of_port):
        fitting = [place for place in places if len(place) == size]
        if fitting:
            yield from fitting
            return
