"""The face of a device: which cage holds which InfiniBand port, what it is called, and where to look for it.

A panel is a table, one row per port, from ``fabricctl/tables/``; a site file may override it. ``SwitchModel``'s labels
are read off the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class PanelPort(NamedTuple):
    """One port of a panel.

    :param cage: what the cage is called (``14``, ``OSFP1``); :param port: 1-based port within the cage.
    :param number: InfiniBand port number in the normal profile (of an HCA: its port on the card).
    :param split_ready: InfiniBand port number of its first half in the split-ready profile, None when there is none.
    :param lanes: module lanes, ``1-4``; :param row: ``top``, ``bottom`` or a number; :param column: 1-based, 0 unknown.
    :param hca: of a host's panel, the HCA behind it (``mlx5_11``), else empty.
    :param labels: operating system or tool -> label (``MLNX-OS`` -> ``1/14/1``).
    """

    cage: str
    port: int
    number: int
    split_ready: int | None = None
    lanes: str = ""
    row: str = ""
    column: int = 0
    hca: str = ""
    labels: Mapping[str, str] = {}


@dataclass(frozen=True)
class Panel:
    """The panel of one device model.

    :param name: ``QM9700``; :param aliases: other models with the same face (``QM9790``).
    :param side: side of the rack its ports are on, usually ``rear``; empty when unknown.
    :param ports: every port once; :param cage_type: ``twin-port OSFP (finned)``.
    :param status: aspect (``number``, ``labels``, ``rows``, ``side``) -> confirmed, inferred, usual or unknown.
    :param sources: aspect -> document.
    """

    name: str
    ports: tuple[PanelPort, ...]
    aliases: tuple[str, ...] = ()
    side: str = ""
    cage_type: str = ""
    status: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def ports_per_cage(self) -> int:
        """Ports of the fullest cage."""
        return max((port.port for port in self.ports), default=1)

    def at(self, number: int) -> PanelPort | None:
        """The port with this InfiniBand number in the normal profile; None when there is none."""
        return next((port for port in self.ports if port.number == number), None)

    def behind(self, hca: str) -> PanelPort | None:
        """Of a host's panel, the port of this HCA."""
        return next((port for port in self.ports if port.hca == hca), None)
