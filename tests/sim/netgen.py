"""Fat trees as real discovery text: written by rule, fed to ibsim, or read as they are.

Run by hand::

    python -m tests.sim.netgen hall --fault swap:3 --fault dead-spine --truth truth.json > hall.net

Shape of the ``hall``: 16 scalable units of 8 leaves and 8 spines, 64 cores, 64 ports each: 320 switches; 511
hosts of 8 HCAs; the 512th host's place is given to two UFM servers. Rail r of every host sits on leaf r of its
unit (NVIDIA DGX SuperPOD B200 reference architecture, table "16 SU": 128 leaf, 128 spine, 64 core).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

DEFAULT_RATE = "4xHDR"
"""The fastest that Debian's ibsim 0.10 knows; its NDR came later."""

SWITCH_GUID = 0xB83FD203_00A00000
HCA_GUID = 0xB83FD203_40000000
UFM_GUID = 0xB83FD203_F0000000


class Wiring(StrEnum):
    """How leaves, spines and cores meet above the hosts."""

    UNIFIED = "unified"
    """Leaf to every spine of its unit; spine s to the cores of group s: one network."""
    PLANES = "planes"
    """Leaf r of every unit only to spine r of every unit: as many networks as rails, every count right."""
    STRIPED = "striped"
    """As unified, but a group has more cores than a spine has uplinks: uplinks are dealt out in turn."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Counts of a fat tree. ``cores == 0`` means two tiers; hosts fill units in order."""

    radix: int
    units: int
    leaves: int
    spines: int
    cores: int
    rails: int
    hosts: int
    ufm: int = 0
    wiring: Wiring = Wiring.UNIFIED


SHAPES: dict[str, Shape] = {
    "small2": Shape(radix=8, units=1, leaves=4, spines=2, cores=0, rails=4, hosts=4),
    "small3": Shape(radix=8, units=4, leaves=2, spines=2, cores=4, rails=2, hosts=15, ufm=2),
    "medium": Shape(radix=16, units=8, leaves=4, spines=4, cores=16, rails=4, hosts=63, ufm=2),
    "hall": Shape(radix=64, units=16, leaves=8, spines=8, cores=64, rails=8, hosts=511, ufm=2),
    "hall-full": Shape(radix=64, units=16, leaves=8, spines=8, cores=64, rails=8, hosts=512),
    "campus": Shape(
        radix=64, units=400, leaves=8, spines=8, cores=1600, rails=8, hosts=12800, wiring=Wiring.STRIPED
    ),
}
"""``hall-full`` has 12,288 cables; ``campus`` is the 100,000-GPU class: 8,000 switches, 307,200 cables."""


class End(NamedTuple):
    """One end of a cable: node id (``S-<guid>`` or ``H-<guid>``) and port number."""

    node: str
    port: int


@dataclass(frozen=True, slots=True)
class Box:
    """A switch or an HCA. ``name`` is ``ibl-p01-r1`` or ``gpu001 mlx5_0``; tier 0 is an HCA."""

    node: str
    guid: int
    ports: int
    name: str
    tier: int
    unit: int = 0

    @property
    def is_switch(self) -> bool:
        return self.tier > 0

    @property
    def description(self) -> str:
        return f"MF0;{self.name}:MQM9700/U1" if self.is_switch else self.name


@dataclass
class Net:
    """Boxes by node id in the order they are written, cables under both ends, rates that are not the default."""

    boxes: dict[str, Box] = field(default_factory=dict)
    cables: dict[End, End] = field(default_factory=dict)
    rates: dict[End, str] = field(default_factory=dict)

    def add(self, box: Box) -> None:
        self.boxes[box.node] = box

    def connect(self, a: End, b: End) -> None:
        for end in (a, b):
            if end in self.cables or not 1 <= end.port <= self.boxes[end.node].ports:
                raise ValueError(f"{self.label(end)} is taken or does not exist")
        self.cables[a] = b
        self.cables[b] = a

    def cut(self, a: End) -> End:
        """Pull the cable at ``a``; returns its other end."""
        b = self.cables.pop(a)
        del self.cables[b]
        return b

    def each(self) -> Iterator[tuple[End, End]]:
        """Every cable once, lower tier first."""
        for a, b in self.cables.items():
            if (self.boxes[a.node].tier, a) < (self.boxes[b.node].tier, b):
                yield a, b

    def label(self, end: End) -> str:
        """``ibl-p01-r1/33`` or ``gpu001 mlx5_0/1``."""
        return f"{self.boxes[end.node].name}/{end.port}"

    def counts(self) -> tuple[int, int, int]:
        """Switches, HCAs, cables."""
        switches = sum(box.is_switch for box in self.boxes.values())
        return switches, len(self.boxes) - switches, len(self.cables) // 2


def build(shape: Shape, wiring: Wiring | None = None) -> Net:
    """A healthy fabric of that shape. UFM servers come first: ibsim's clients sit on the first node."""
    return _Builder(shape, wiring or shape.wiring).build()


class _Builder:
    """Holds the node id of each leaf, spine and core while the cables are drawn."""

    def __init__(self, shape: Shape, wiring: Wiring) -> None:
        self.shape = shape
        self.wiring = wiring
        self.net = Net()
        self.half = shape.radix // 2
        self.leaf: dict[tuple[int, int], str] = {}
        self.spine: dict[tuple[int, int], str] = {}
        self.core: list[str] = []

    def build(self) -> Net:
        for ufm in range(self.shape.ufm):
            self._hca(UFM_GUID + ufm * 0x1000, f"ufm{ufm + 1} mlx5_0", self.shape.units)
        self._switches()
        self._hosts()
        if self.wiring is Wiring.PLANES:
            self._planes()
        else:
            self._units()
            self._core_groups()
        return self.net

    def _hca(self, guid: int, name: str, unit: int) -> str:
        node = f"H-{guid:016x}"
        self.net.add(Box(node, guid, 1, name, 0, unit))
        return node

    def _switch(self, name: str, tier: int, unit: int) -> str:
        guid = SWITCH_GUID + 0x40 * (len(self.leaf) + len(self.spine) + len(self.core))
        node = f"S-{guid:016x}"
        # a two-tier spine looks down with every port; the radix of all switches is the same
        self.net.add(Box(node, guid, self.shape.radix, name, tier, unit))
        return node

    def _switches(self) -> None:
        digits = max(2, len(str(self.shape.units)))
        for u in range(self.shape.units):
            for r in range(self.shape.leaves):
                self.leaf[u, r] = self._switch(f"ibl-p{u + 1:0{digits}d}-r{r + 1}", 1, u + 1)
        for u in range(self.shape.units):
            for s in range(self.shape.spines):
                self.spine[u, s] = self._switch(f"ibs-p{u + 1:0{digits}d}-s{s + 1}", 2, u + 1)
        digits = max(2, len(str(self.shape.cores)))
        for c in range(self.shape.cores):
            self.core.append(self._switch(f"ibc-{c + 1:0{digits}d}", 3, 0))

    def _hosts(self) -> None:
        """Host k of a unit takes port k+1 of leaf r with its HCA r; UFM takes the place after the last host."""
        digits = max(3, len(str(self.shape.hosts)))
        for host in range(self.shape.hosts):
            unit, place = divmod(host, self.half)
            for rail in range(self.shape.rails):
                guid = HCA_GUID + (host * 16 + rail) * 0x10
                node = self._hca(guid, f"gpu{host + 1:0{digits}d} mlx5_{rail}", unit + 1)
                self.net.connect(End(node, 1), End(self.leaf[unit, rail], place + 1))
        unit, place = divmod(self.shape.hosts, self.half)
        for ufm in range(self.shape.ufm):
            node = f"H-{UFM_GUID + ufm * 0x1000:016x}"
            self.net.connect(End(node, 1), End(self.leaf[unit, ufm], place + 1))

    def _bundle(self, low: str, low_port: int, high: str, high_port: int, cables: int) -> None:
        """Parallel cables between two switches from these 0-based ports on."""
        for j in range(1, cables + 1):
            self.net.connect(End(low, low_port + j), End(high, high_port + j))

    def _units(self) -> None:
        shape, wide = self.shape, self.half // self.shape.spines
        for (u, r), leaf in self.leaf.items():
            for s in range(shape.spines):
                self._bundle(leaf, self.half + s * wide, self.spine[u, s], r * wide, wide)

    def _core_groups(self) -> None:
        shape = self.shape
        group = shape.cores // shape.spines
        if not group:
            return
        for (u, s), spine in self.spine.items():
            cores = self.core[s * group : (s + 1) * group]
            for up in range(self.half):
                if self.wiring is Wiring.STRIPED:
                    port, c = divmod(u * self.half + up, group)
                else:
                    wide = self.half // group
                    c, j = divmod(up, wide)
                    port = u * wide + j
                self.net.connect(End(spine, self.half + up + 1), End(cores[c], port + 1))

    def _planes(self) -> None:
        shape = self.shape
        wide, group = self.half // shape.units, shape.cores // shape.leaves
        up = self.half // group
        for (u, r), leaf in self.leaf.items():
            for other in range(shape.units):
                self._bundle(leaf, self.half + other * wide, self.spine[other, r], u * wide, wide)
            for c in range(group):
                self._bundle(self.spine[u, r], self.half + c * up, self.core[r * group + c], u * up, up)


def discovery_lines(net: Net) -> Iterator[str]:
    """The fabric as ibnetdiscover prints it (also a valid ibsim net file), lines with their newline.

    A node without cables is written too: ibsim then knows it and no discovery reaches it.
    """
    yield "#\n# Topology file: generated by rule\n#\n"
    lids = {node: number for number, node in enumerate(net.boxes, 1)}
    for node, box in net.boxes.items():
        word, key, device = ("Switch", "switch", "d2f2") if box.is_switch else ("Ca", "ca", "1021")
        own = f"({box.guid:x})" if box.is_switch else ""
        yield f"\nvendid=0x2c9\ndevid=0x{device}\nsysimgguid=0x{box.guid:x}\n{key}guid=0x{box.guid:x}{own}\n"
        tail = f" base port 0 lid {lids[node]} lmc 0" if box.is_switch else ""
        yield f'{word}\t{box.ports} "{node}"\t\t# "{box.description}"{tail}\n'
        for number in range(1, box.ports + 1):
            peer = net.cables.get(End(node, number))
            if peer is None:
                continue
            far = net.boxes[peer.node]
            rate = net.rates.get(End(node, number), DEFAULT_RATE)
            far_guid = "" if far.is_switch else f"({far.guid + 1:x}) "
            near = "" if box.is_switch else f"({box.guid + 1:x}) "
            lid = "" if box.is_switch else f"lid {lids[node]} lmc 0 "
            yield (
                f'[{number}]{near}\t"{peer.node}"[{peer.port}]{far_guid}\t\t'
                f'# {lid}"{far.description}" lid {lids[peer.node]} {rate}\n'
            )


def main(argv: Sequence[str] | None = None) -> int:
    from tests.sim.faults import UnknownFaultError, inject

    parser = argparse.ArgumentParser(description="write a fat tree as an ibsim net file on standard output")
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--wiring", choices=list(Wiring), type=Wiring)
    parser.add_argument("--fault", action="append", default=[], metavar="KIND[:COUNT]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", help="where to write what was injected, as JSON")
    options = parser.parse_args(argv)
    net = build(SHAPES[options.shape], options.wiring)
    try:
        faults = inject(net, options.fault, random.Random(options.seed))
    except UnknownFaultError as error:
        parser.error(str(error))
    sys.stdout.writelines(discovery_lines(net))
    if options.truth:
        with open(options.truth, "w", encoding="utf-8") as out:
            json.dump([fault.as_json() for fault in faults], out, indent=1)
    sys.stderr.write("{} switches, {} HCAs, {} cables\n".format(*net.counts()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
