"""The one picture of a fabric: nodes, ports and the cables between them.

A plan and a discovery are both a ``Fabric``; the diff compares two of them. An InfiniBand node is a switch
ASIC, one HCA or a router: a host with eight HCAs is eight nodes sharing ``Node.host``. Links are keyed by
port, never by node pair, because parallel cables are real (fourteen between two switches of one capture).
``Fabric.graph`` is the same thing as a ``networkx.MultiGraph`` for everything graph-shaped; it is built on
first use, since half a million dictionary entries are not free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from fabricctl.rates import Rate

if TYPE_CHECKING:
    import networkx as nx


class NodeKind(StrEnum):
    """Node types with the word ibnetdiscover uses; ``UNKNOWN`` also stands for "the plan does not say"."""

    SWITCH = "Switch"
    HCA = "Ca"
    ROUTER = "Rt"
    UNKNOWN = "???"


class PortState(StrEnum):
    """What is known of a port that carries no link."""

    DOWN = "down"
    DISABLED = "disabled"
    UNKNOWN = "unknown"
    """The port's node was named by a neighbour but never read itself."""


class Port(NamedTuple):
    """One end of a cable: the node's key in its fabric and the InfiniBand port number (1-based)."""

    node: str
    number: int


class Place(NamedTuple):
    """Where a device stands: rack name and rack unit (``"U41"`` or ``"41"`` as written, may be empty)."""

    rack: str
    unit: str = ""

    def __str__(self) -> str:
        unit = self.unit if not self.unit or self.unit[:1] in "Uu" else f"U{self.unit}"
        return " ".join(part for part in (self.rack, unit) if part)


@dataclass(frozen=True, slots=True)
class Node:
    """A switch ASIC, an HCA or a router.

    :param key: its key in the fabric: the GUID in a discovery, the name (or GUID) in a plan.
    :param name: what people call it: ``ibl-p01-r1``, ``gpu001 mlx5_3``.
    :param guid: canonical node GUID, None when a plan does not know it.
    :param description: the node description exactly as discovered.
    :param ports: number of ports, 0 when unknown. Discoveries count an aggregation node's port.
    :param host: of an HCA, the host it sits in; :param hca: its name there (``mlx5_3``, ``HCA-4``).
    :param tier: 0 HCA, 1 leaf, 2 spine, 3 core; None when unknown.
    :param rail: 1-based rail of an HCA or leaf, None when unknown or not rail-optimised.
    :param unit: scalable unit the node belongs to, 1-based, None when unknown.
    :param listed: the node's own block was read, so a port without a link is a port that is down.
    :param port_guids: port number -> port GUID where the source tells.
    """

    key: str
    kind: NodeKind
    name: str
    guid: str | None = None
    description: str = ""
    ports: int = 0
    host: str | None = None
    hca: str | None = None
    tier: int | None = None
    rail: int | None = None
    unit: int | None = None
    place: Place | None = None
    model: str = ""
    device_id: int | None = None
    system_guid: str | None = None
    lid: int | None = None
    listed: bool = True
    seen_by: int = 1
    port_guids: tuple[tuple[int, str], ...] = ()

    def stands(self, find: Callable[[str], Place | None]) -> Place | None:
        """Where it stands: its own place, else that of its name, of an HCA else that of its host.

        :param find: device or host name -> place, as a site file tells.
        """
        return self.place or find(self.name) or (find(self.host) if self.host else None)


class LinkDetail(NamedTuple):
    """What only some links carry.

    :param could_be: the rate both ends support, as iblinkinfo's "Could be" says.
    :param link_class: name of the plan's link class.
    :param cable: label or part number, :param length_m: as planned.
    :param labels: port labels as the plan wrote them, end a and end b.
    :param assembly: kind of cable as ``AssemblyType`` spells it, empty when not told.
    :param part_number: and :param serial: of the cable, as planned or as its EEPROM says.
    :param connectors: connector at end a and end b (``OSFP``, ``MPO``), :param modules: transceiver part numbers.
    """

    could_be: Rate | None = None
    link_class: str = ""
    cable: str = ""
    length_m: float | None = None
    labels: tuple[str, str] = ("", "")
    assembly: str = ""
    part_number: str = ""
    serial: str = ""
    connectors: tuple[str, str] = ("", "")
    modules: tuple[str, str] = ("", "")


class Link(NamedTuple):
    """One cable.

    :param rate: planned or seen width and speed, None when not stated.
    :param line: line of the plan file that wrote it, 0 when generated.
    :param seen_by: of a discovery, bit i set when source i reported it.
    :param ends_seen: of a discovery, how many of its two ends reported it.
    """

    a: Port
    b: Port
    rate: Rate | None = None
    line: int = 0
    seen_by: int = 1
    ends_seen: int = 2
    detail: LinkDetail | None = None

    def other(self, port: Port) -> Port:
        """The port at the other end."""
        return self.b if port == self.a else self.a


class PortClash(NamedTuple):
    """A port that two links claim."""

    port: Port
    first: Link
    second: Link


@dataclass
class Fabric:
    """Nodes by key and links by port.

    :param nodes: key -> Node.
    :param links: Port -> Link; every link stands under both of its ports.
    :param states: what a source said of ports without a link (``PortState.DOWN`` or ``DISABLED``).
    :param origin: the file or source it came from, for messages.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[Port, Link] = field(default_factory=dict)
    states: dict[Port, PortState] = field(default_factory=dict)
    origin: str = ""

    def connect(self, link: Link) -> PortClash | None:
        """Add a link; when a port is taken by another link nothing changes and the clash is returned."""
        links = self.links
        for port in (link.a, link.b):
            if port in links:
                return PortClash(port, links[port], link)
        links[link.a] = link
        links[link.b] = link  # the same entry again for a loopback plug in one port
        return None

    def each_link(self) -> Iterator[Link]:
        """Every link once."""
        return (link for port, link in self.links.items() if port == link.a)

    @property
    def link_count(self) -> int:
        """Number of cables."""
        return sum(1 for _ in self.each_link())

    def peer(self, port: Port) -> Port | None:
        """The port at the other end of the cable in ``port``, None when there is none."""
        link = self.links.get(port)
        return None if link is None else link.other(port)

    def state(self, port: Port) -> PortState | None:
        """None when the port carries a link; else why not, as far as the source tells."""
        if port in self.links:
            return None
        told = self.states.get(port)
        if told is not None:
            return told
        node = self.nodes.get(port.node)
        if node is None or not node.listed or 0 < node.ports < port.number:
            return (
                PortState.UNKNOWN
            )  # never read, or a port this node does not have (or whose line is cut off)
        return PortState.DOWN

    @cached_property
    def graph(self) -> nx.MultiGraph[str]:
        """The fabric as a MultiGraph: nodes by key with ``node=Node``, edges keyed by their two ports."""
        import networkx as nx  # a third of the start-up time: only when a graph is asked for

        graph: nx.MultiGraph[str] = nx.MultiGraph()
        graph.add_nodes_from((key, {"node": node}) for key, node in self.nodes.items())
        for link in self.each_link():
            graph.add_edge(link.a.node, link.b.node, key=(link.a, link.b), link=link)
        return graph

    def islands(self, perhaps: Iterable[tuple[Port, Port]] = ()) -> list[set[str]]:
        """Connected components as sets of node keys, largest first; a node without cables is one of its own.

        :param perhaps: cables that may be there; what is in doubt splits nothing.

        The same as ``nx.connected_components(self.graph)`` (a test holds them together), without importing
        networkx and filling a graph: that was a third of a whole verify-cabling run of 12,288 cables.
        """
        near: dict[str, list[str]] = {key: [] for key in self.nodes}
        pairs = {(link[0][0], link[1][0]) for link in self.links.values()}
        pairs.update((a[0], b[0]) for a, b in perhaps)
        for a, b in pairs:
            near[a].append(b)
            near[b].append(a)
        parts: list[set[str]] = []
        reached: set[str] = set()
        for start in near:
            if start in reached:
                continue
            part, edge = {start}, [start]
            while edge:
                edge = [far for key in edge for far in near[key]]
                edge = list(set(edge) - part)
                part.update(edge)
            reached |= part
            parts.append(part)
        return sorted(parts, key=lambda part: (-len(part), min(part)))

    def switches(self) -> Iterator[Node]:
        """Switch nodes."""
        return (node for node in self.nodes.values() if node.kind is NodeKind.SWITCH)

    def hcas(self) -> Iterator[Node]:
        """HCA nodes."""
        return (node for node in self.nodes.values() if node.kind is NodeKind.HCA)
