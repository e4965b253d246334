"""Parser of ``ibdiagnet2.db_csv``: CSV tables between ``START_NAME`` and ``END_NAME`` lines.

Tables read, by column name: ``NODES`` (NodeDesc, NumPorts, NodeType 1 HCA, 2 switch, 3 router, SystemImageGUID,
NodeGUID, PortGUID, DeviceID), ``LINKS`` (NodeGuid1, PortNum1, NodeGuid2, PortNum2) and, when it is there,
``PORTS`` (NodeGuid, PortNum, PortGuid, LID, LinkWidthActv, LinkSpeedActv, PortPhyState, PortState).
Sources: the reader ``parse_ibdiagnet_dump`` of ``plugins/UFM_NDT_Plugin/ndt_file_creator.py`` and ``LinkObj`` and
``SystemObj`` of ``.../topoparse/topo_objects.py`` (Mellanox/ufm_sdk_3.0), which hold sample rows; the speed
codes are ibdm's ``IBLinkSpeed`` (``Fabric.h`` of ibdiagnet2): second byte extended, third FDR10, fourth XDR;
widths and states are those of PortInfo (InfiniBand specification); ``CABLE_INFO``: ``cable_info.py``.
Subnet manager tables are not read: no public sample of one was found.
"""

from __future__ import annotations

from collections.abc import Callable

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.cable_info import CableTable, add_cables
from fabricctl.discovery.model import DiscoveryFormat, Observation, ProblemKind
from fabricctl.discovery.textlines import shown
from fabricctl.fabric import Fabric, NodeKind, PortState
from fabricctl.guid import parse_guid
from fabricctl.rates import Rate

_KINDS = {"1": NodeKind.HCA, "2": NodeKind.SWITCH, "3": NodeKind.ROUTER}
_WIDTHS = {"1": 1, "2": 4, "4": 8, "8": 12, "16": 2}
_SPEEDS = {
    "1": "SDR",
    "2": "DDR",
    "4": "QDR",
    "256": "FDR",
    "512": "EDR",
    "1024": "HDR",
    "2048": "NDR",
    "65536": "FDR10",
    "16777216": "XDR",
}
_STATE_DOWN = "1"
_PHYSICAL_DISABLED = "3"

Row = dict[str, str]


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text.

    :raises DiscoveryError: a row that is not understood, a table that does not end, no table of nodes or links.
    """
    return _Reader(path).read(text)


class _Reader:
    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.DB_CSV)
        self.rates: dict[tuple[str, str], Rate | None] = {}
        self.linked: list[tuple[Row, int]] = []
        self.ported: list[tuple[Row, int]] = []
        self.cables = CableTable()

    def read(self, text: str) -> Observation:
        readers: dict[str, Callable[[Row, int], None]] = {
            "NODES": self.node,
            "LINKS": lambda row, number: self.linked.append((row, number)),
            "PORTS": lambda row, number: self.ported.append((row, number)),
        }
        seen, section, columns, opened = set(), "", None, 0
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if not line:
                continue
            if not section:
                if line.startswith("START_"):
                    section, columns, opened = line[6:], None, number
                    seen.add(section)
            elif line == f"END_{section}":
                section = ""
            elif line.startswith("START_"):
                raise self.build.fail(
                    f"{shown(line)} inside the table {shown(section)}, which has no end", number
                )
            elif section == "CABLE_INFO":
                self.cables.take(line, number)
            elif section in readers:
                if columns is None:
                    columns = self.columns(section, line, number)
                else:
                    readers[section](self.row(line, columns, number), number)
        if section:
            name = section if len(section) <= 60 else section[:57] + "..."
            raise self.build.fail(f"the table {name} has no END_{name} line: the file is cut", opened)
        for wanted in ("NODES", "LINKS"):
            if wanted not in seen:
                raise self.build.fail(f"no START_{wanted} table in this db_csv file")
        self.build.lists_down_ports = bool(self.ported)
        rates = self.ports()
        self.links(rates)
        if self.cables.unread:
            count, first = len(self.cables.unread), self.cables.unread[0]
            text = f"{count:,} rows of the table CABLE_INFO were not understood, the first at line {first}"
            self.build.doubt(ProblemKind.VIEWER_NOTE, text, first)
        observation = self.build.finish()
        if self.cables.rows:
            add_cables(observation.fabric, self.cables.ends(_keys(observation.fabric)))
        return observation

    def columns(self, section: str, line: str, number: int) -> list[str]:
        names = [name.strip() for name in line.split(",")]
        wanted = {
            "NODES": ("NodeDesc", "NumPorts", "NodeType", "NodeGUID"),
            "LINKS": ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"),
            "PORTS": ("NodeGuid", "PortNum"),
        }[section]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise self.build.fail(
                f"the table {section} has no column {', '.join(missing)}: {shown(line)}", number
            )
        return names

    def row(self, line: str, columns: list[str], number: int) -> Row:
        """Split a row; only a node description may hold commas and quotes."""
        values = [value.strip() for value in line.split(",")]
        extra = len(values) - len(columns)
        if extra > 0 and "NodeDesc" in columns:
            at = columns.index("NodeDesc")
            whole = line.split(",")
            values[at : at + extra + 1] = [",".join(whole[at : at + extra + 1]).strip()]
        if len(values) != len(columns):
            text = f"{len(values)} values for {len(columns)} columns: {shown(line)}"
            raise self.build.fail(text, number)
        return dict(zip(columns, values, strict=True))

    def guid(self, value: str, number: int) -> str:
        guid = parse_guid(value)
        if guid is None:
            raise self.build.fail(f"{shown(value)} is not a GUID", number)
        return guid

    def number(self, row: Row, column: str, number: int) -> int:
        value = row[column]
        if not _small(value):
            raise self.build.fail(f"{column} {shown(value)} is not a number", number)
        return int(value)

    def node(self, row: Row, number: int) -> None:
        kind = _KINDS.get(row["NodeType"])
        if kind is None:
            raise self.build.fail(
                f"NodeType {shown(row['NodeType'])} is none of 1 (HCA), 2 (switch), 3 (router)", number
            )
        description = row["NodeDesc"]
        if len(description) >= 2 and description[0] == description[-1] == '"':
            description = description[1:-1]
        key = self.guid(row["NodeGUID"], number)
        known = self.build.drafts.get(key)
        if known is not None:
            text = f"node {key} has a second row at line {number}; the first is at line {known.line}"
            self.build.doubt(ProblemKind.DUPLICATE_GUID, text, number, (key,))
        draft = self.build.mention(key, kind, description, number, own=True)
        draft.ports = self.build.port_count(key, self.number(row, "NumPorts", number), number)
        draft.system_guid = parse_guid(row.get("SystemImageGUID", ""))
        device = row.get("DeviceID", "")
        draft.device_id = int(device) if _small(device) else None

    def ports(self) -> dict[tuple[str, int], Rate | None]:
        """Take port rows: states, LIDs, port GUIDs; returns the active rate of each port that is up."""
        rates: dict[tuple[str, int], Rate | None] = {}
        for row, line in self.ported:
            key, number = self.guid(row["NodeGuid"], line), self.number(row, "PortNum", line)
            draft = self.build.drafts.get(key)
            if draft is None:
                draft = self.build.mention(key, NodeKind.UNKNOWN, "", line)
            port_guid = parse_guid(row.get("PortGuid", ""))
            if port_guid is not None and draft.kind is not NodeKind.SWITCH and number:
                draft.port_guids = {**(draft.port_guids or {}), number: port_guid}
            lid = row.get("LID", "")
            if draft.lid is None and _small(lid):
                draft.lid = int(lid) or None
            if not number:
                continue  # port 0 of a switch is its management port, not a cable's
            port = self.build.port(key, number, line)
            if row.get("PortState") == _STATE_DOWN:
                disabled = row.get("PortPhyState") == _PHYSICAL_DISABLED
                self.build.down(port, PortState.DISABLED if disabled else PortState.DOWN, line)
            else:
                rates[port] = self.rate(row, line)
        return rates

    def rate(self, row: Row, line: int) -> Rate | None:
        """Active rate of a port; None when the file does not tell."""
        told = (row.get("LinkWidthActv", ""), row.get("LinkSpeedActv", ""))
        if told not in self.rates:
            width, speed = _WIDTHS.get(told[0]), _SPEEDS.get(told[1])
            unknown = [value for value in told if value not in ("", "0", "N/A", *_WIDTHS, *_SPEEDS)]
            if unknown:
                text = f"LinkWidthActv {shown(told[0])} or LinkSpeedActv {shown(told[1])} is not understood"
                raise self.build.fail(text, line)
            self.rates[told] = Rate(width, speed) if width and speed else None
        return self.rates[told]

    def links(self, rates: dict[tuple[str, int], Rate | None]) -> None:
        """Take link rows; ibdiagnet has read both ends of each itself."""
        build = self.build
        for row, line in self.linked:
            near = build.port(self.guid(row["NodeGuid1"], line), self.number(row, "PortNum1", line), line)
            far = build.port(self.guid(row["NodeGuid2"], line), self.number(row, "PortNum2", line), line)
            build.half(near, far, rates.get(near), line)
            build.half(far, near, rates.get(far), line)
        for port in rates.keys() - build.halves.keys():
            build.down(build.port(*port), PortState.UNKNOWN, 0)


def _keys(fabric: Fabric) -> dict[str, str]:
    """Node and port GUIDs -> node key."""
    keys = {guid: key for key, node in fabric.nodes.items() for _, guid in node.port_guids}
    keys.update((key, key) for key in fabric.nodes)
    return keys


def _small(text: str) -> bool:
    """A decimal number of a size that ports, LIDs and device IDs have."""
    return text.isascii() and text.isdecimal() and len(text) <= 6
