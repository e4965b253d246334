"""What lies in a planned port, seen through the binding: links of the discovery under the plan's keys."""

from __future__ import annotations

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import Link, Port
from fabricctl.repair.assemblies import is_transceiver
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.model import AssemblyType
from fabricctl.repair.sockets import Sockets


class Lying:
    """Discovered links by plan port (devices outside the plan keep their own keys)."""

    def __init__(self, comparison: Comparison, devices: Devices, sockets: Sockets) -> None:
        self.in_plan, self.links = comparison.in_plan, comparison.seen.links
        self.seen_of = comparison.binding.seen_of
        self.devices, self.sockets = devices, sockets

    def link(self, port: Port) -> Link | None:
        """The link in a port, in the discovery's keys; None when it is dark or its device was not seen."""
        key = self.seen_of.get(port.node)
        if key is None:
            if self.devices.planned(port.node):
                return None
            key = port.node
        return self.links.get(Port(key, port.number))

    def peer(self, port: Port) -> Port | None:
        """What a port is cabled to."""
        link = self.link(port)
        if link is None:
            return None
        return self.in_plan(link.other(Port(self.seen_of.get(port.node, port.node), port.number)))

    def part(self, port: Port) -> str:
        """Part number of what lies in a port: the cable's, else a transceiver's; empty when nothing tells."""
        link = self.link(port)
        if link is None or link.detail is None:
            return ""
        return link.detail.part_number or next((part for part in link.detail.modules if part), "")

    def one_plug(self, port: Port) -> tuple[AssemblyType, Port] | None:
        """Whether the ports of a cage share a serial, and with it one plug of a cable; and at which end.

        At both ends it is a twin cable, at one a 1:2 splitter. A transceiver's serial says nothing of the fibres in it.
        """
        link, peer = self.link(port), self.peer(port)
        serial = link.detail.serial if link is not None and link.detail is not None else ""
        if not serial or peer is None or is_transceiver(self.part(port)):
            return None
        shares = [end for end in (port, peer) if self._shared(end, serial)]
        if not shares:
            return None
        return AssemblyType.TWIN_DAC if len(shares) == 2 else AssemblyType.DAC_SPLIT_2, shares[0]

    def _shared(self, port: Port, serial: str) -> bool:
        for mate in self.sockets.of(port, 2, in_cage=True) or ():
            link = self.link(mate) if mate != port else None
            if link is not None and link.detail is not None and link.detail.serial == serial:
                return True
        return False
