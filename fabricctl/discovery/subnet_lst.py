"""Parser of OpenSM's ``opensm-subnet.lst``: one line per port that has a neighbour, both ends in full.

Grammar: OpenSM ``opensm/osm_dump.c``, function ``dump_topology_node``: twice ``{ TYPE Ports:.. SystemGUID:..
NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {description} LID:.. PN:.. }``, all numbers hexadecimal, then
``PHY=4x LOG=ACT SPD=50`` of the first end. ``-SM`` behind a type marks the node whose LID is the master subnet
manager's. Files of old versions end after ``LOG=``. A port that is down has no line. The device ID is right for
the first end only (the second prints it shifted by 16 bits).
"""

from __future__ import annotations

import re

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.lanes import rounded_rate
from fabricctl.discovery.model import DiscoveryFormat, Observation, ProblemKind, SubnetManager
from fabricctl.discovery.textlines import lines_of
from fabricctl.fabric import NodeKind, PortState
from fabricctl.rates import Rate

_KINDS = {"SW": NodeKind.SWITCH, "CA": NodeKind.HCA, "Rt": NodeKind.ROUTER, "**": NodeKind.UNKNOWN}
_END = (
    r"\{ (SW|CA|Rt|\*\*)(-SM)? Ports:([0-9A-Fa-f]{1,8}) SystemGUID:([0-9A-Fa-f]{16}) NodeGUID:([0-9A-Fa-f]{16})"
    r" PortGUID:([0-9A-Fa-f]{16}) VenID:[0-9A-Fa-f]{1,8} DevID:([0-9A-Fa-f]{1,8}) Rev:[0-9A-Fa-f]{1,8}"
    r" \{(.*?)\} LID:([0-9A-Fa-f]{1,8}) PN:([0-9A-Fa-f]{2}) \}"
)
_LINE = re.compile(rf"{_END} {_END} PHY=(\S{{1,16}}) LOG=(\S{{1,16}})(?: SPD=(\S{{1,16}}))?\Z")
_STATES = ("ACT", "ARM", "INI", "DWN")
_EXAMPLE = "'{ SW Ports:.. NodeGUID:.. {name} LID:.. PN:.. } { .. } PHY=4x LOG=ACT SPD=50'"


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text.

    :raises DiscoveryError: a line that is not understood, or no node at all.
    """
    return _Reader(path).read(text)


class _Reader:
    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.SUBNET_LST)
        self.rates: dict[tuple[str, str | None], Rate | None] = {}
        self.masters: set[str] = set()

    def read(self, text: str) -> Observation:
        lines = lines_of(text, self.build.path)
        match = _LINE.match
        for number, line in enumerate(lines, 1):
            found = match(line)
            if found is not None:
                self.port_line(found, number)
            elif line and line.lstrip()[0] != "#" and not self.build.noise(line, number):
                raise self.build.not_understood(line, number, _EXAMPLE, last=number == len(lines))
        if lines[-1]:
            text = "the last line has no line end: the file, and that line's speed, may be cut"
            self.build.doubt(ProblemKind.CUT, text, len(lines))
        return self.build.finish()

    def port_line(self, found: re.Match[str], number: int) -> None:
        fields = found.groups()
        width, state, speed = fields[20:]
        if state not in _STATES:
            raise self.build.fail(f"LOG={state} is none of {', '.join(_STATES)}", number)
        near = self.end(fields[:10], number, own=True)
        far = self.end(fields[10:20], number, own=False)
        build = self.build
        port = build.port(near, int(fields[9], 16), number)
        if state == "DWN":
            build.down(port, PortState.DOWN, number)
            return
        if state != "ACT":
            build.inactive.setdefault(f"LOG={state}", []).append(number)
        build.half(
            port, build.port(far, int(fields[19], 16), number), self.rate(width, speed, number), number
        )

    def end(self, fields: tuple[str, ...], number: int, *, own: bool) -> str:
        """One ``{ ... }``; returns the node's key."""
        kind, manager, ports, system, node, port_guid, device, description, lid, port = fields
        key = f"0x{node.lower()}"
        draft = self.build.drafts.get(key)
        if draft is None or draft.description != description or (own and not draft.listed):
            draft = self.build.mention(key, _KINDS[kind], description, number, own=own)
            draft.ports = self.build.port_count(key, int(ports, 16), number)
            draft.system_guid = f"0x{system.lower()}" if system.strip("0") else None
            if own:
                whole = int(device, 16)
                draft.device_id = whole >> 16 if whole > 0xFFFF else whole
            draft.lid = int(lid, 16) or None
        if kind != "SW":
            if draft.port_guids is None:
                draft.port_guids = {}
            draft.port_guids.setdefault(int(port, 16), f"0x{port_guid.lower()}")
        if manager and port_guid not in self.masters:
            self.masters.add(port_guid)
            told = SubnetManager(f"0x{port_guid.lower()}", "master", lid=int(lid, 16))
            self.build.subnet_managers.append(told)
        return key

    def rate(self, width: str, speed: str | None, number: int) -> Rate | None:
        told = (width, speed)
        if told not in self.rates:
            try:
                self.rates[told] = rounded_rate(width, speed or "")
            except ValueError as error:
                raise self.build.fail(str(error), number) from error
        return self.rates[told]
