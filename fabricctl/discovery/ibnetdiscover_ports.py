"""Parser of ``ibnetdiscover -p``, the ports report: one line per port, unconnected ports included.

Grammar: rdma-core ``infiniband-diags/ibnetdiscover.c``, function ``dump_ports_report``: node type, LID, port
number and port GUID, width, speed; then either the same of the neighbour and both names, or 36 blanks and the
port's own name. The width and speed of an unconnected port mean nothing (``4x SDR``, ``4x ???``). Names stand
in single quotes that are not escaped; captures without any quotes exist.

``fabricctl/discovery/portlines.py`` says how nodes are keyed when only port GUIDs are printed.
"""

from __future__ import annotations

import re

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.model import DiscoveryFormat, Observation
from fabricctl.discovery.portlines import Assembler, End, PortLine
from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.fabric import NodeKind, PortState
from fabricctl.rates import Rate, parse_rate

_KINDS = {"SW": NodeKind.SWITCH, "CA": NodeKind.HCA, "RT": NodeKind.ROUTER, "??": NodeKind.UNKNOWN}
_LINE = re.compile(
    r"\s*(CA|SW|RT|\?\?)\s+([0-9]{1,6})\s+([0-9]{1,6})\s+0x([0-9a-fA-F]{1,16})\s+([0-9]{1,9}x|\?\?)\s(\S+)"
    r"(?:\s-\s(CA|SW|RT|\?\?)\s+([0-9]{1,6})\s+([0-9]{1,6})\s+0x([0-9a-fA-F]{1,16})\s\(\s(.*)\s\)|\s+(?!- )(.*\S))\Z"
)
_EXAMPLE = "'SW  7  1 0x9c0591030a000500 4x HDR - CA  40  1 0x9c05910300108101 ( 'name' - 'name' )'"


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text.

    :raises DiscoveryError: a line that is not understood, or no node at all.
    """
    return _Reader(path).read(text)


class _Reader:
    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.IBNETDISCOVER_PORTS, lists_down_ports=True)
        self.names: dict[str, str] = {}
        self.unsure: list[int] = []
        self.told: list[PortLine] = []
        self.rates: dict[tuple[str, str], Rate | None] = {}

    def read(self, text: str) -> Observation:
        match = _LINE.match
        lines = lines_of(text, self.build.path)
        for number, line in enumerate(lines, 1):
            found = match(line)
            if found is not None:
                self.port_line(found, number)
            elif line:
                self.other_line(line, number, last=number == len(lines))
        for index in self.unsure:
            self.told[index] = self.split_names(self.told[index])
        Assembler(self.build).add(self.told)
        return self.build.finish()

    def port_line(self, found: re.Match[str], number: int) -> None:
        kind, lid, port, guid, width, speed, far_kind, far_lid, far_port, far_guid, names, name = (
            found.groups()
        )
        key, own_kind = f"0x{guid.lower():0>16}", _KINDS[kind]
        if names is None:
            name = self.unquoted(name, number)
            self.names[key] = name
            told = PortLine(number, own_kind, key, name, int(lid), int(port), None, PortState.DOWN, None)
            self.told.append(told)
            return
        rate = self.rate(width, speed, number)
        near, dash, far = names[1:-1].partition("' - '") if names[0] == "'" else names.partition(" - ")
        far_key = f"0x{far_guid.lower():0>16}"
        if not dash or (names[0] == "'") is not (names[-1] == "'"):
            raise self.build.fail(
                f"the two names are not understood: {shown(names)}; expected {_EXAMPLE}", number
            )
        if "' - '" in far or (names[0] != "'" and " - " in far):
            near, far = names, ""  # a name holds the separator: decided when all names are known
            self.unsure.append(len(self.told))
        else:
            self.names[key], self.names[far_key] = near, far
        end = End(int(far_port), far_key, far, int(far_lid), _KINDS[far_kind])
        self.told.append(PortLine(number, own_kind, key, near, int(lid), int(port), rate, None, end))

    def split_names(self, told: PortLine) -> PortLine:
        """Split ``'a' - 'b' - 'c'`` where other lines say what the two nodes are called, else at the first."""
        names, peer = told.description, told.peer
        if peer is None or peer.guid is None:
            return told
        separator = "' - '" if names[0] == "'" else " - "
        parts = (names[1:-1] if names[0] == "'" else names).split(separator)
        splits = [(separator.join(parts[:at]), separator.join(parts[at:])) for at in range(1, len(parts))]
        near_name, far_name = self.names.get(told.guid), self.names.get(peer.guid)
        near, far = max(splits, key=lambda split: (split[0] == near_name) + (split[1] == far_name))
        return told._replace(description=near, peer=peer._replace(description=far))

    def unquoted(self, name: str, number: int) -> str:
        """The name of an unconnected port, with or without quotes."""
        if name[0] != "'":
            return name
        if len(name) < 2 or name[-1] != "'":
            raise self.build.fail(f"the name {shown(name)} has no closing quote: the line is cut", number)
        return name[1:-1]

    def rate(self, width: str, speed: str, number: int) -> Rate | None:
        token = (width, speed)
        if token not in self.rates:
            rate = parse_rate(width + speed)
            if rate is None and "?" not in width + speed:
                text = f"link rate {shown(f'{width} {speed}')} is not understood; expected something like '4x HDR'"
                raise self.build.fail(text, number)
            self.rates[token] = rate
        return self.rates[token]

    def other_line(self, line: str, number: int, *, last: bool) -> None:
        if line.lstrip()[0] != "#" and not self.build.noise(line, number):
            raise self.build.not_understood(line, number, _EXAMPLE, last=last)
