"""Parser of ``iblinkinfo``: blocks of ports under a header per node, and ``-l``, everything on one line.

Grammar: rdma-core ``infiniband-diags/iblinkinfo.c`` (``print_port``, ``print_node_header``),
``ibdiag_common.c`` (``get_max_msg``), ``libibmad/dump.c`` (the words). What is worth knowing:

* The rate is that of one lane (``4X 53.125 Gbps`` is 4xHDR); ``10.0 Gbps (FDR10)`` is FDR10.
* ``Down/ Polling`` is a port that is down, ``Down/Disabled`` and ``Active/Disabled`` one switched off by
  management. A port that is up whose neighbour did not answer prints ``"Port not available"``.
* ``(Could be 12X Could be 53.125 Gbps)`` is what both ends support where that is more than what is active.
* Blocks name the neighbour by LID and description only; ``-l`` by port GUID, but no node types.
  ``fabricctl/discovery/portlines.py`` says how neighbours and types are told.
* ``-l`` pads a port's own description to 30 characters with leading blanks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.model import DiscoveryFormat, Observation, ProblemKind
from fabricctl.discovery.portlines import Assembler, End, PortLine, tell_kinds
from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.fabric import NodeKind, PortState
from fabricctl.rates import SPEED_OF_LANE_GBPS, Rate, parse_rate

_PORT = re.compile(
    r'\s*(?:0x([0-9a-fA-F]{1,16})\s+)?(?:"([^"]*(?:"(?!\s+[0-9]+\s+[0-9]+\[)[^"]*)*)"\s+)?'
    r"([0-9]{1,6})\s+([0-9]{1,6})\[\s*[0-9]*\]\s*==(\([^=]*\))==>\s*"
    r'(?:(?:0x([0-9a-fA-F]{1,16})\s+)?(?:([0-9]{1,6})\s+([0-9]{1,6}))?\[\s*[0-9]*\]\s*"(.*)"\s+\((.*+)(?<=\))\Z'
    r'|"(Port not available)"\Z)'
)
_HEADER = re.compile(r"(?:Switch:?\s+0x([0-9a-fA-F]{1,16})|(CA|Router|\?\?):)\s(.*):\Z")
_LINK = re.compile(
    r"\( ?(?:([0-9]{1,9}X|undefined \([0-9]+\)) )?(\S.*?)?? ?"
    r"(Down|Initialize|Init|Armed|Active|NoChange|\?\([0-9]+\)) ?/ ?([A-Za-z]+|\?\([0-9]+\)) ?\)"
    r"(?: ?\(HOQ:[0-9]+ VL_Stall:[0-9]+\))?\Z"
)
"""Of a text whose white space is single blanks."""
_LANE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?) Gbps( \(FDR10\))?\Z")
_NO_SPEED = re.compile(r"(?:Extended speed|No Extended Speed(?: 2)?|undefined \([0-9]+\))\Z")
_COULD_BE = re.compile(
    r"\s*Could be (?:([0-9]{1,9}X)|([0-9]{1,9}(?:\.[0-9]{0,9})?) Gbps|(FDR10)(?: \([^()]*\)?)?|"
    r"Extended speed|No Extended Speed|undefined \([0-9]+\))"
)
_KINDS = {None: NodeKind.SWITCH, "CA": NodeKind.HCA, "Router": NodeKind.ROUTER, "??": NodeKind.UNKNOWN}
_EXAMPLE = "'LID PORT[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==> LID PORT[  ] \"name\" ( )'"


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text, of either form.

    :raises DiscoveryError: a line that is not understood, or no node at all.
    """
    return _Reader(path).read(text)


class _Block(NamedTuple):
    """The header of the block being read."""

    line: int
    kind: NodeKind
    guid: str | None
    description: str


class _Link(NamedTuple):
    """What stands between ``==(`` and ``)==>``."""

    rate: Rate | None
    down: bool
    disabled: bool


class _Reader:
    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.IBLINKINFO, lists_down_ports=True)
        self.block: _Block | None = None
        self.told: list[PortLine] = []
        self.links: dict[str, _Link] = {}
        self.could_be: dict[tuple[str, Rate | None], Rate | None] = {}
        self.in_lines = False

    def read(self, text: str) -> Observation:
        match = _PORT.match
        lines = lines_of(text, self.build.path)
        for number, line in enumerate(lines, 1):
            found = match(line)
            if found is not None:
                self.port_line(found, number)
            elif line:
                self.other_line(line, number, last=number == len(lines))
        if self.in_lines:
            self.build.form = DiscoveryFormat.IBLINKINFO_LINES
        kinds = tell_kinds(self.told) if self.in_lines else None
        Assembler(self.build, kinds).add(self.told)
        return self.build.finish()

    def port_line(self, found: re.Match[str], number: int) -> None:
        guid, name, lid, port, link_text, far_guid, far_lid, far_port, far_name, could_be, lost = (
            found.groups()
        )
        link = self.links.get(link_text)
        if link is None:
            link = self.links[link_text] = self.link(link_text, number)
        kind, own_guid, description, block = self.owner(guid, name, number)
        peer, state = None, None
        if far_port is not None:
            far_key = f"0x{far_guid.lower():0>16}" if far_guid else None
            if (far_key is None) is self.in_lines:
                raise self.build.fail("the neighbour has no GUID although the port has a name", number)
            peer = End(int(far_port), far_key, far_name, int(far_lid))
        else:
            state = self.state(link, lost is not None, description, port, number)
        could_be = could_be[:-1].strip() if could_be else ""
        best = self.best(could_be, link.rate, number) if could_be else None
        self.told.append(
            PortLine(
                number, kind, own_guid, description, int(lid), int(port), link.rate, state, peer, best, block
            )
        )

    def owner(self, guid: str | None, name: str | None, number: int) -> tuple[NodeKind, str, str, int]:
        """Kind, GUID, description and block of the port's node."""
        if name is not None:
            if guid is None or self.block is not None:
                raise self.build.fail(
                    f"a port with a name, in the middle of a block; expected {_EXAMPLE}", number
                )
            self.in_lines = True
            text = name.lstrip() if len(name) == 30 else name
            return NodeKind.UNKNOWN, f"0x{guid.lower():0>16}", text, 0
        block = self.block
        if block is None:
            raise self.build.fail("a port line before any 'Switch:' or 'CA:' line", number)
        if guid is None and block.guid is None:
            raise self.build.fail("the port of an HCA without its GUID", number)
        own = f"0x{guid.lower():0>16}" if guid else block.guid or ""
        return block.kind, own, block.description, block.line

    def state(self, link: _Link, lost: bool, description: str, port: str, number: int) -> PortState:
        """Why a port has no neighbour."""
        if link.disabled:
            return PortState.DISABLED
        if link.down and not lost:
            return PortState.DOWN
        text = f"{description or 'a port'}/{port} is up, but its neighbour did not answer (line {number})"
        self.build.doubt(ProblemKind.TIMEOUT, text, number)
        return PortState.UNKNOWN

    def link(self, text: str, number: int) -> _Link:
        """Read ``( 4X        53.125 Gbps Active/  LinkUp)``."""
        found = _LINK.match(" ".join(text.split()))
        if found is None:
            raise self.build.fail(f"the link {shown(text)} is not understood; expected {_EXAMPLE}", number)
        width, speed, state, physical = found.groups()
        down, disabled = state == "Down", physical == "Disabled"
        if not (down or disabled) and (state, physical) != ("Active", "LinkUp"):
            self.build.inactive.setdefault(f"{state}/{physical}", []).append(number)
        rate = None
        if speed:
            lane = _LANE.match(speed)
            if lane is not None:
                rate = self.lane_rate(width, "FDR10" if lane[2] else lane[1], number)
            elif _NO_SPEED.match(speed) is None:
                raise self.build.fail(
                    f"the speed {shown(speed)} is not understood; expected {_EXAMPLE}", number
                )
        return _Link(rate, down, disabled)

    def lane_rate(self, width: str | None, lane: str, number: int) -> Rate | None:
        """``4X`` and the Gb/s of one lane -> Rate; None when the width is undefined."""
        speed = "FDR10" if lane == "FDR10" else SPEED_OF_LANE_GBPS.get(lane)
        if speed is None:
            known = ", ".join(SPEED_OF_LANE_GBPS)
            raise self.build.fail(
                f"{lane} Gbps is not the rate of a lane this program knows; known are {known}", number
            )
        return None if width is None or "undefined" in width else parse_rate(width + speed)

    def best(self, text: str, rate: Rate | None, number: int) -> Rate | None:
        """Read ``Could be 12X Could be 53.125 Gbps``; what is not said is as the link is."""
        told = (text, rate)
        if told in self.could_be:
            return self.could_be[told]
        width, speed, at = "", "", 0
        while at < len(text):
            found = _COULD_BE.match(text, at)
            if found is None:
                raise self.build.fail(f"what the link could be is not understood: {shown(text)}", number)
            width = found[1] or width
            speed = (found[3] and "FDR10") or found[2] or speed
            at = found.end()
        best = None
        if rate is not None and (width or speed):
            lane = speed or rate.speed
            name = SPEED_OF_LANE_GBPS.get(lane, lane)
            best = parse_rate((width or f"{rate.width}x") + name)
        self.could_be[told] = best
        return best

    def other_line(self, line: str, number: int, *, last: bool) -> None:
        header = _HEADER.match(line)
        if header is not None and not self.in_lines:
            guid = f"0x{header[1].lower():0>16}" if header[1] else None
            self.block = _Block(number, _KINDS[header[2]], guid, header[3])
            if guid is not None:
                self.build.mention(guid, NodeKind.SWITCH, header[3], number)
        elif line[:2] in ("< ", "> "):
            raise self.build.fail("this is what changed (iblinkinfo --diff), not what is there", number)
        elif line.lstrip()[0] != "#" and not self.build.noise(line, number):
            raise self.build.not_understood(line, number, _EXAMPLE, last=last)
