"""What every discovery format ends in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.fabric import Fabric, NodeKind, Port

AGGREGATION_NODE = "Mellanox Technologies Aggregation Node"
"""Node description of the SHARP aggregation node inside a switch; it is not a cable and never reported."""


class DiscoveryFormat(StrEnum):
    """Which tool wrote it."""

    IBNETDISCOVER = "ibnetdiscover"
    IBNETDISCOVER_PORTS = "ibnetdiscover -p"
    IBLINKINFO = "iblinkinfo"
    IBLINKINFO_LINES = "iblinkinfo -l"
    SUBNET_LST = "opensm subnet.lst"
    NET_DUMP = "ibdiagnet2 net_dump"
    DB_CSV = "ibdiagnet2 db_csv"
    UFM_LINKS = "UFM links JSON"
    SMINFO = "sminfo"


class ProblemKind(StrEnum):
    """Why an observation may not be the whole truth; all but ``INFORMATION`` make the verdict "could not tell"."""

    TIMEOUT = "timeout"
    """The tool itself said that a query got no answer."""
    CUT = "cut"
    """The text ends in the middle of something."""
    ONE_SIDED = "one-sided"
    """A node whose own block was read does not list a link that its neighbour lists."""
    UNREAD_NODE = "unread-node"
    """A node is named by a neighbour but its own block is absent."""
    CONTRADICTION = "contradiction"
    """Two lines, or two sources, say different things about one port or node."""
    RATES_DIFFER = "rates-differ"
    """The two ends of one cable name different rates; the lower one is taken. No doubt about what is there."""
    RENAMED = "renamed"
    """Two sources call one GUID by different descriptions; no doubt either: the GUID is the key."""
    INACTIVE = "inactive"
    """Ports that are up but not Active: cabled, but no subnet manager has brought them up. A finding, no doubt."""
    VIEWER_NOTE = "viewer-note"
    """What a live viewer chose or passed over; no doubt."""
    DUPLICATE_GUID = "duplicate-guid"
    """Two nodes claim one GUID."""


INFORMATION = frozenset({ProblemKind.RATES_DIFFER, ProblemKind.RENAMED, ProblemKind.VIEWER_NOTE})
"""Kinds that are worth a note but leave no doubt about what is cabled to what."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason for doubt.

    :param text: a sentence naming the line or lines; :param line: 1-based, 0 when none.
    :param nodes: keys of the nodes it is about, :param source: index of the source that shows it.
    """

    kind: ProblemKind
    text: str
    line: int = 0
    nodes: tuple[str, ...] = ()
    source: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that was read.

    :param label: file as the operator wrote it, or the viewer's name.
    :param format: which tool wrote it; None when nothing came (a failed viewer).
    :param seen_from: GUID of the node the discovery started at, where told.
    :param digest: of the bytes that were read, empty when nobody took it.
    """

    label: str
    format: DiscoveryFormat | None
    nodes: int = 0
    links: int = 0
    seen_from: str | None = None
    failed: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class SubnetManager:
    """A subnet manager a source names. :param state: ``master``, ``standby``, ...; :param guid: port GUID."""

    guid: str
    state: str
    priority: int | None = None
    lid: int | None = None
    source: int = 0


@dataclass
class Observation:
    """A discovered fabric, its sources and the doubts about it.

    Nodes and ports are keyed by canonical node GUID. Aggregation nodes are dropped and counted. A source's
    index in ``sources`` is its bit in ``Node.seen_by`` and ``Link.seen_by``.

    :param aggregation_nodes: how many were dropped.
    :param disputed: ports whose cable the sources contradict each other about, each with a port it may go to.
    :param lists_down_ports: the format shows a port that is down (else it omits it).
    """

    fabric: Fabric
    sources: list[Source]
    problems: list[Problem] = field(default_factory=list)
    subnet_managers: list[SubnetManager] = field(default_factory=list)
    aggregation_nodes: int = 0
    lists_down_ports: bool = False
    disputed: dict[Port, Port] = field(default_factory=dict)


def is_aggregation_node(kind: NodeKind, description: str) -> bool:
    """SHARP aggregation nodes are HCAs with NVIDIA's fixed description (UFM's own tools drop them by it)."""
    return kind is NodeKind.HCA and description.strip() == AGGREGATION_NODE
