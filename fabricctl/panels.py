"""The face of a device: which cage holds which InfiniBand port, what it is called, and where to look for it.

A panel is a table, one row per port, from ``fabricctl/tables/``; a site file may override it. ``SwitchModel``'s labels
are read off the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_TOPS = {"finned": ("finned", "ihs"), "flat": ("flat", "rhs")}
"""Words of a cage type that tell which OSFP plugs fit."""


class PanelPort(NamedTuple):
    """One port of a panel.

    :param cage: what the cage is called (``14``, ``OSFP1``); :param port: 1-based port within the cage.
    :param number: InfiniBand port number in the normal profile (of an HCA: its port on the card); 0 when no source
        tells it.
    :param split_ready: InfiniBand port number of its first half in the split-ready profile, None when there is none.
    :param lanes: module lanes, ``1-4``; :param row: ``top``, ``bottom`` or a number; :param column: 1-based, 0 unknown.
    :param hca: of a host's panel, the HCA behind it (``mlx5_11``), else empty.
    :param labels: operating system or tool -> label (``MLNX-OS`` -> ``1/14/1``; ``panel``: what stands on the face).
    :param pci: of a host's panel, PCI address of the HCA (``dc:00.0``), :param gpu: and the GPU it serves, from 0.
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
    pci: str = ""
    gpu: int | None = None

    @property
    def label(self) -> str:
        """What stands beside the port on the face; cage and port where the table has no such label."""
        return self.labels.get("panel") or (f"{self.cage}/{self.port}")


@dataclass(frozen=True)
class Panel:
    """The panel of one device model.

    :param name: ``QM9700``; :param aliases: other models with the same face (``QM9790``).
    :param side: side of the rack its ports are on, usually ``rear``; empty when unknown.
    :param ports: every port once; :param cage_type: ``twin-port OSFP (finned)``.
    :param status: aspect (``number``, ``labels``, ``rows``, ``side``) -> confirmed, inferred, usual or unknown.
    :param sources: aspect -> document; :param notes: what a reader should know, one sentence each.
    :param kind: ``switch`` or ``host``; :param height_u: rack units, 0 when unknown.
    """

    name: str
    ports: tuple[PanelPort, ...]
    aliases: tuple[str, ...] = ()
    side: str = ""
    cage_type: str = ""
    status: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    kind: str = "switch"
    height_u: int = 0
    notes: tuple[str, ...] = ()

    @property
    def cages(self) -> tuple[str, ...]:
        """Names of the cages in the table's order."""
        return tuple(dict.fromkeys(port.cage for port in self.ports))

    @property
    def top(self) -> str:
        """Which OSFP plugs its cages take, as ``cage_type`` says: ``finned``, ``flat``, or empty when it does not say.

        Finned (IHS) ones go into air-cooled switches; flat-topped (RHS) ones into ConnectX-7 cards, DGX H100 and
        liquid-cooled switches (docs.nvidia.com/networking/display/800g200gpam4list).
        """
        said = self.cage_type.lower()
        tops = [top for top, words in _TOPS.items() if any(word in said for word in words)]
        return tops[0] if len(tops) == 1 else ""

    @property
    def side_words(self) -> str:
        """The side with its status where that is no more than usual: ``rear, usual``; empty when unknown."""
        status = self.status.get("side", "")
        return f"{self.side}, {status}" if self.side and status not in ("", "confirmed") else self.side

    @property
    def ports_per_cage(self) -> int:
        """Ports of the fullest cage."""
        return max((port.port for port in self.ports), default=1)

    def behind(self, hca: str) -> PanelPort | None:
        """Of a host's panel, the port of this HCA."""
        return next((port for port in self.ports if port.hca == hca), None)

    @property
    def storage(self) -> frozenset[str]:
        """Of a host's panel, HCAs behind ports that serve no GPU while others do: storage and in-band cards."""
        if all(port.gpu is None for port in self.ports):
            return frozenset()
        return frozenset(port.hca for port in self.ports if port.hca and port.pci and port.gpu is None)
