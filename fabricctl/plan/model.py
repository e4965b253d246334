"""What every plan format ends in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.fabric import Fabric, Port


class PlanFormat(StrEnum):
    """How the plan was written."""

    CSV = "csv"
    XLSX = "xlsx"
    NDT = "ndt"
    RULES = "rules"
    FAT_TREE = "fat-tree"
    SNAPSHOT = "snapshot"
    SITE = "site"


class PortNumbers(StrEnum):
    """What plain port numbers of a file are (``fabricctl/plan/port_numbers.py``)."""

    INFINIBAND = "infiniband"
    CAGE = "cage"


@dataclass(frozen=True, slots=True)
class UnclearNumbers:
    """A plain port number that may be a cage: nothing in the file shows what its numbers are.

    :param switch: the first switch with one, of :param model: with that many :param cages:; :param path: and
        :param line: where it stands.
    """

    switch: str
    model: str
    cages: int
    path: str
    line: int


@dataclass
class Plan:
    """An intended fabric and what its writer declared about it.

    Node keys: names (``ibl-p01-r1``, ``gpu001 mlx5_3``) or, when ``keyed_by_guid``, canonical GUIDs.
    A host end always is an HCA node with ``host`` and ``hca`` set and port 1..n of that HCA; where the
    plan names only the host and a running number, ``hca`` is that number as text until an observation or a
    node model tells its name.

    :param reserved: ports kept free for a named user (``Port`` -> ``"ufm1"``); anybody else there is a finding.
    :param port_numbers: what plain port numbers of its file were said to be None when nobody said;
        :param unclear: set while it must be asked (``fabricctl/plan/port_numbers.py``).
    :param notes: what the reader should know (assumptions made, rows skipped), one sentence each.
    """

    fabric: Fabric
    format: PlanFormat
    path: str = ""
    keyed_by_guid: bool = False
    declares_rails: bool = False
    non_blocking: bool = False
    notes: list[str] = field(default_factory=list)
    reserved: dict[Port, str] = field(default_factory=dict)
    port_numbers: PortNumbers | None = None
    unclear: UnclearNumbers | None = None
