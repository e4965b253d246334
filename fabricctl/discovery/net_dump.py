"""Parser of ``ibdiagnet2.net_dump``: a block per switch, a line per port, ports that are down included.

Sample: the one in ``parse_ibdiagnet_dump`` of ``plugins/UFM_NDT_Plugin/ndt_file_creator.py`` (Mellanox/ufm_sdk_3.0;
ibdiagnet 2.10, QM8700), whose comments also show a port that is up without a known neighbour and say how ports
are labelled. Columns: ``#`` is the port's label, ``IB#`` its InfiniBand number, ``LWA`` and ``LSA`` active
width and lane rate, ``N#`` the neighbour's **label**. A label is turned into a number by the neighbour's own
block; an HCA's label is its port number. HCAs have no blocks, so they are never ``listed``. Not verified on a
real file: how a disabled port is spelled, and whether an HCA's GUID here is its node's or its port's; it is
taken for the port's (see ``fabricctl/discovery/portlines.py``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.lanes import rounded_rate
from fabricctl.discovery.model import DiscoveryFormat, Observation, ProblemKind
from fabricctl.discovery.portlines import guess_kind
from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.fabric import NodeKind, Port, PortState
from fabricctl.guid import parse_guid
from fabricctl.rates import Rate

_SWITCH = re.compile(r'"(.*)"\s*,[^,]*,\s*(0x[0-9a-fA-F]{1,16})\s*,\s*LID\s+([0-9]{1,6})\Z')
_COLUMNS = (
    "#",
    "IB#",
    "Sta",
    "PhysSta",
    "MTU",
    "LWA",
    "LSA",
    "FEC",
    "Ret",
    "Neighbor Guid",
    "N#",
    "NLID",
    "Neighbor D",
)
_UP = ("ACT", "ARM", "INI")
_DOWN = ("DOWN", "DWN")


class _Row(NamedTuple):
    """A port's line; the neighbour's fields are empty when it has none."""

    line: int
    switch: str
    number: int
    up: bool
    disabled: bool
    rate: Rate | None
    peer_guid: str | None
    peer_label: str
    peer_lid: int
    peer_name: str


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text.

    :raises DiscoveryError: a line that is not understood, or no node at all.
    """
    return _Reader(path).read(text)


class _Reader:
    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.NET_DUMP, lists_down_ports=True)
        self.switch = ""
        self.labels: dict[tuple[str, str], int] = {}
        self.rows: list[_Row] = []

    def read(self, text: str) -> Observation:
        lines = lines_of(text, self.build.path)
        for number, line in enumerate(lines, 1):
            stripped = line.lstrip()
            if not stripped:
                continue
            if stripped[0] == "#":
                self.columns(stripped, number)
            elif stripped[0] == '"':
                self.header(stripped, number)
            elif not self.build.noise(line, number):
                self.rows.append(self.row(stripped, number))
        for row in self.rows:
            self.place(row)
        build = self.build
        if lines[-1]:
            build.doubt(ProblemKind.CUT, "the last line has no line end: the file may be cut", len(lines))
        switches = [d for d in build.drafts.values() if not d.listed and d.kind is not NodeKind.HCA]
        build.unread_told = not switches
        return build.finish()

    def columns(self, line: str, number: int) -> None:
        """Comments are skipped; a line of column names must name those known, in their order."""
        if "IB#" not in line:
            return
        names = [name.strip() for name in line.split(":")]
        known = zip(names, _COLUMNS, strict=False)
        if len(names) != len(_COLUMNS) or not all(name.startswith(start) for name, start in known):
            expected = " : ".join(_COLUMNS)
            raise self.build.fail(
                f"the columns are not those known: {shown(line)}; expected {expected}", number
            )

    def header(self, line: str, number: int) -> None:
        found = _SWITCH.match(line)
        if found is None:
            raise self.build.not_understood(line, number, "'\"name\", vendor, 0xGUID, LID 1'")
        description, guid, lid = found.groups()
        self.switch = f"0x{guid[2:].lower():0>16}"
        draft = self.build.drafts.get(self.switch)
        if draft is not None:
            text = (
                f"switch {self.switch} has a second block at line {number}; the first is at line {draft.line}"
            )
            self.build.doubt(ProblemKind.DUPLICATE_GUID, text, number, (self.switch,))
        draft = self.build.mention(self.switch, NodeKind.SWITCH, description, number, own=True)
        draft.lid = int(lid) or None

    def row(self, line: str, number: int) -> _Row:
        fields = [field.strip() for field in line.split(":", len(_COLUMNS) - 1)]
        if len(fields) < 4 or not _small(fields[1]) or fields[2] not in _UP + _DOWN:
            expected = f"{len(_COLUMNS)} fields between colons: {' : '.join(_COLUMNS)}"
            raise self.build.not_understood(line, number, expected)
        if not self.switch:
            raise self.build.fail("a port line before any switch line", number)
        label, port, state, physical = fields[:4]
        self.labels[self.switch, label] = int(port)
        disabled = "DISABLE" in physical.upper()
        if state in _DOWN:
            return _Row(number, self.switch, int(port), False, disabled, None, None, "", 0, "")
        if len(fields) < len(_COLUMNS):
            raise self.build.fail(f"only {len(fields)} of {len(_COLUMNS)} fields: the line is cut", number)
        width, speed, far, far_label, far_lid, far_name = *fields[5:7], *fields[9:13]
        try:
            rate = rounded_rate(width, speed)
        except ValueError as error:
            raise self.build.fail(str(error), number) from error
        guid = parse_guid(far) if far else None
        if far and guid is None:
            raise self.build.fail(f"the neighbour's GUID {shown(far)} is not a GUID", number)
        quoted = len(far_name) >= 2 and far_name[0] == far_name[-1] == '"'
        if far and not quoted:
            raise self.build.fail(
                f"the neighbour's name {shown(far_name)} is not between quotes: the line is cut", number
            )
        lid = int(far_lid) if _small(far_lid) else 0
        return _Row(
            number, self.switch, int(port), True, disabled, rate, guid, far_label, lid, far_name[1:-1]
        )

    def place(self, row: _Row) -> None:
        build = self.build
        port = build.port(row.switch, row.number, row.line)
        if not row.up:
            build.down(port, PortState.DISABLED if row.disabled else PortState.DOWN, row.line)
            return
        far = self.far_port(row)
        if far is None:
            build.down(port, PortState.UNKNOWN, row.line)
            name = build.show(port)
            text = f"{name} is up, but its neighbour's port is not told (line {row.line})"
            build.doubt(ProblemKind.TIMEOUT, text, row.line, (row.switch,))
            return
        build.half(port, far, row.rate, row.line)

    def far_port(self, row: _Row) -> Port | None:
        """The neighbour's port; None when its GUID is absent or its label cannot be turned into a number."""
        guid = row.peer_guid
        if guid is None:
            return None
        draft = self.build.drafts.get(guid)
        if draft is not None and draft.listed:
            number = self.labels.get((guid, row.peer_label))
        else:
            number = int(row.peer_label) if _small(row.peer_label) else None
        kind = NodeKind.SWITCH if draft is not None and draft.listed else guess_kind(row.peer_name)
        draft = self.build.mention(guid, kind, row.peer_name, row.line)
        if number is None:
            return None
        if draft.kind is not NodeKind.SWITCH:
            draft.guid = None
            draft.port_guids = {**(draft.port_guids or {}), number: guid}
            draft.lid = draft.lid or row.peer_lid or None
        return self.build.port(guid, number, row.line)


def _small(text: str) -> bool:
    """A decimal number of a size that ports and LIDs have."""
    return text.isascii() and text.isdecimal() and len(text) <= 6
