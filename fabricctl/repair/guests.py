"""Guests of reserved ports who sit elsewhere: their plug goes to the port that is kept for them.

Without this a subnet manager's host in a planned port would look like a cable whose far plug only has to be moved from
that host to the planned one.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabricctl.discovery.names import name_key, short_key
from fabricctl.fabric import Port
from fabricctl.hostset import expand
from fabricctl.repair.assemblies import kind_of
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.lying import Lying
from fabricctl.repair.model import Assembly, Plug, Socket


class Guests:
    """Slots of reserved ports, made for the cables whose device they are kept for."""

    def __init__(self, reserved: Mapping[Port, str], devices: Devices, lying: Lying) -> None:
        self.devices, self.lying = devices, lying
        self.free = {
            port: holders
            for port, who in sorted(reserved.items())
            if port not in devices.plan.links and devices.bound(port.node)
            if not self._holds(port, holders := {name_key(name) for name in expand(who)})
        }

    def slot_of(self, cable: Assembly) -> Assembly | None:
        """Where this cable's guest belongs: of the free ports kept for it one on the same device, else the first.

        None when it has no guest, or no port is free. Any port kept for a guest is as right as the next.
        """
        if not self.free or not kind_of(cable).single or len(cable.plugs) < 2:
            return None
        for guest, other in (cable.plugs, cable.plugs[::-1]):
            [end] = guest.socket.ports
            if self.devices.planned(end.node):
                continue
            kept = [port for port, holders in self.free.items() if self._is_one_of(end, holders)]
            near = [port for port in kept if port.node == other.socket.node] or kept
            if near:
                del self.free[near[0]]
                plugs = (Plug("end", 1, Socket((near[0],))), Plug("end", 2, guest.socket))
                return Assembly(cable.type, plugs, cable.type_from)
        return None

    def _holds(self, port: Port, holders: set[str]) -> bool:
        peer = self.lying.peer(port)
        return peer is not None and self._is_one_of(peer, holders)

    def _is_one_of(self, end: Port, holders: set[str]) -> bool:
        names = (self.devices.name(end.node), self.devices.box(end.node))
        own = {name_key(name) for name in names} | {short_key(name) for name in names}
        return not own.isdisjoint(holders)
