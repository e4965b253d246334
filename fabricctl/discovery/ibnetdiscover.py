"""Parser of ``ibnetdiscover``'s default output, also with ``-g``, ``-f``, ``-m``, and of ibsim net files.

Grammar: rdma-core ``infiniband-diags/ibnetdiscover.c`` (functions ``out_switch``, ``out_ca``,
``out_switch_port``, ``out_ca_port``, ``out_chassis``). A node is a few ``name=value`` lines, one line that
starts with its type, and one line per port that is up; a port that is down has no line. Real files differ in
white space (tabs, single spaces, all tabs stripped, CRLF), lack a system image GUID or port GUIDs, hold
chassis lines and lines of the tool's standard error, and never escape a quote inside a description: so the
description ends at the last quote of its line.

Two readers, one result: blocks written exactly as today's tool writes them are taken whole by one regular
expression each (a tenth of the time on half a million lines); everything else goes line by line through
expressions that tolerate every variation above. Tests hold the two against each other.
"""

from __future__ import annotations

import re

from fabricctl.discovery import ibsim_net
from fabricctl.discovery.build import Draft, Half, ObservationBuilder
from fabricctl.discovery.model import DiscoveryFormat, Observation, ProblemKind
from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.fabric import Link, NodeKind, Port
from fabricctl.rates import Rate, parse_rate

_LINK = re.compile(
    r"\[([0-9]{1,9})\](?:\[ext [0-9]+\])?(?:\(([0-9a-fA-F]{1,16})\))?\s*"  # own port and port GUID
    r'"[SHR?]-([0-9a-fA-F]{1,16})"\[([0-9]{1,9})\](?:\[ext [0-9]+\])?(?:\([0-9a-fA-F]{1,16}\))?\s*'  # peer
    r'(?:#\s*(?:lid [0-9]+ lmc [0-9]+ )?".*"\s*lid [0-9]+ (\S+)'  # rate
    r"(?: s=[0-9]+ w=[0-9]+ v=[0-9]+(?: e=[0-9]+)?)?(?: slot [0-9]+)?(?: \(scp\))?)?\Z"
)
_NODE = re.compile(
    r"(Switch|Ca|Hca|Rt|\?\?\?)\s*([0-9]{1,18})\s*"
    r'"([SHR?])-([0-9a-fA-F]{1,16})"\s*'
    r'(?:#\s*"(.*)"\s*(?:(?:base|enhanced) port 0 lid ([0-9]{1,9}) lmc [0-9]+)?)?\Z'
)
_VALUE = re.compile(
    r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=(?:0x)?([0-9a-fA-F]{1,16})(?:\([0-9a-fA-F]{1,16}\))?\s*(?:#.*)?\Z"
)
_INITIATED = re.compile(r"# Initiated from node ([0-9a-fA-F]{1,16})")
_CHASSIS = re.compile(r"Chassis [0-9]|Non-Chassis Nodes")
_NET_FILE = re.compile(r"(?:width|speed|extspeed|netprefix|netnodeprefix|noderange)=|(?:module|include|do)\s")
_BLOCK = re.compile(
    r"^vendid=0x[0-9a-f]{1,16}\n(?:devid=0x([0-9a-f]{1,16})\n)?(?:sysimgguid=0x([0-9a-f]{1,16})\n)?"
    r"(?:switchguid=0x[0-9a-f]{1,16}\([0-9a-f]{1,16}\)|caguid=0x[0-9a-f]{1,16})\n"
    r'(?:Switch|Ca)\t(\d{1,3}) "([SH])-([0-9a-f]{16})"\t\t# "(.{0,3900})"'
    r"(?: (?:base|enhanced) port 0 lid (\d{1,9}) lmc \d{1,9})?\n"
    r"((?:\[.*\n)*)",
    re.MULTILINE | re.ASCII,
)
_BLOCK_HEADER = 3
"""Lines of a block before its ports: vendid, the GUID, the node; devid and sysimgguid where it has them."""
_PORT = re.compile(
    r"^\[(\d\d?|1\d\d)\](?:\(([0-9a-f]{1,16})\) )?\t"
    r'"[SH]-([0-9a-f]{16})"\[(\d\d?|1\d\d)\](?:\([0-9a-f]{1,16}\) )?'
    r'\t\t# .{0,3900}" lid \d{1,9} (\S{1,64})$',
    re.MULTILINE | re.ASCII,
)
_PEER = re.compile(
    r'"([SHR?])-([0-9a-fA-F]{1,16})"\[([0-9]{1,9})\](?:\[ext [0-9]+\])?(?:\(([0-9a-fA-F]{1,16})\))?'
    r'[^"]*(?:"(.*)")?'
)

_KINDS = {"S": NodeKind.SWITCH, "H": NodeKind.HCA, "R": NodeKind.ROUTER, "?": NodeKind.UNKNOWN}
_tuple = tuple.__new__  # a NamedTuple's own constructor costs twice as much, and this runs 600,000 times


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text.

    :raises DiscoveryError: a line that is not understood, or no node at all.
    """
    if ibsim_net.has_free_ids(text):
        return ibsim_net.parse(text, path)
    return _Reader(path).read(text)


class _Reader:
    """State while reading: the node whose port lines are being read, and header values waiting for a node."""

    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.IBNETDISCOVER)
        self.values: dict[str, str] = {}
        self.values_line = 0
        self.node: Draft | None = None
        self.rates: dict[str | None, Rate | None] = {}
        self.rows: dict[str, list[Port]] = {}

    def read(self, text: str) -> Observation:
        text = text.replace("\r\n", "\n")
        at, line = 0, 1
        for block in _BLOCK.finditer(text):
            start = block.start()
            if start == at + 1 and text[at] == "\n":
                line += 1  # the blank line between two blocks
            elif start > at:
                line = self.lines(text[at:start], line)
            line = self.block(block, line)
            at = block.end()
        self.lines(text[at:], line)
        self.end(text)
        self.name_unread(text)
        return self.build.finish()

    # -- whole blocks -------------------------------------------------------------------------------------

    def block(self, match: re.Match[str], line: int) -> int:
        """Take a block in today's spelling; return the number of the line after it."""
        device, system, ports, letter, guid, description, lid, body = match.groups()
        line += _BLOCK_HEADER + (device is not None) + (system is not None)
        key = "0x" + guid
        fresh = key not in self.build.drafts
        node = self.begin(_KINDS[letter], key, description, int(ports), lid, line - 1, (device, system))
        found = _PORT.findall(body)
        if len(found) != body.count("\n"):
            return self.lines(body, line)
        halves, links, rates, rows = self.build.halves, self.build.links, self.rates, self.rows
        own_row = rows.get(guid)
        if own_row is None or len(own_row) <= node.ports:
            own_row = self.row(guid, node.ports)
        once = fresh and len({port[0] for port in found}) == len(found)  # no port was or will be told twice
        for own, own_guid, peer_guid, peer_port, token in found:
            if token not in rates:
                rates[token] = self.rate(token, line)
            number, there, row = int(own), int(peer_port), rows.get(peer_guid)
            if number >= len(own_row):
                own_row = self.row(guid, number)
            if row is None or there >= len(row):
                row = self.row(peer_guid, there)
            port, peer = own_row[number], row[there]
            rate = rates[token]
            first = halves.get(peer)
            if not once and (port in links or port in halves):
                self.build.half(port, peer, rate, line)
            elif first is not None and first[0] is port and first[1] == rate:
                links[port] = links[peer] = _tuple(Link, (peer, port, rate, first[2], 1, 2, None))
            else:
                halves[port] = _tuple(Half, (peer, rate, line, None))
            if own_guid:
                _port_guid(node, number, own_guid)
            line += 1
        return line

    def row(self, guid: str, upto: int) -> list[Port]:
        """Ports 0 to ``upto`` of a node, each made once: half a million lines name them twice.

        An HCA has one port; where a second one is named it is a switch, whose ports are then made at once.
        """
        row = self.rows.setdefault(guid, [])
        key = "0x" + guid
        upto = max(upto, 64) if upto > 1 else upto
        row.extend([_tuple(Port, (key, number)) for number in range(len(row), upto + 1)])
        return row

    # -- line by line -------------------------------------------------------------------------------------

    def lines(self, text: str, number: int) -> int:
        """Take any other text line by line; return the number of the line after it."""
        lines = lines_of(text, self.build.path, number)
        for number, line in enumerate(lines, number):  # noqa: B020 - the last number is the result
            if line[:1] == "[":
                match = _LINK.match(line)
                if match is None:
                    raise self.build.not_understood(line, number, "a port line of ibnetdiscover")
                self.port_line(match, number)
            elif line:
                self.other_line(line, number)
        return number

    def port_line(self, match: re.Match[str], number: int) -> None:
        own, own_guid, peer_guid, peer_port, token = match.groups()
        node = self.node
        if node is None:
            raise self.build.fail(f"port line [{own}] before any node line", number)
        if token not in self.rates:
            self.rates[token] = self.rate(token, number)
        peer = self.build.port(_key(peer_guid), int(peer_port), number)
        self.build.half(self.build.port(node.key, int(own), number), peer, self.rates[token], number)
        if own_guid is not None:
            _port_guid(node, int(own), own_guid)

    def rate(self, token: str | None, number: int) -> Rate | None:
        """None for an ibsim net file without comments and for ``4x???``: the tool could not tell."""
        if token is None or "?" in token:
            return None
        rate = parse_rate(token)
        if rate is None:
            raise self.build.fail(
                f"link rate {shown(token)} is not understood; expected something like 4xHDR", number
            )
        return rate

    def other_line(self, line: str, number: int) -> None:
        if line[0] == "#":
            started = _INITIATED.match(line)
            if started:
                self.build.seen_from = _key(started[1])
            return
        if value := _VALUE.match(line):
            if value[1] == "vendid" or value[1] in self.values:
                self.values = {}
            self.values[value[1]] = value[2]
            self.values_line = number
            self.node = None
        elif node := _NODE.match(line):
            word, ports, letter, guid, description, lid = node.groups()
            values = (self.values.get("devid"), self.values.get("sysimgguid"))
            self.begin(_KINDS[letter], _key(guid), description or "", int(ports), lid, number, values)
            if word == "???":
                text = f"{_key(guid)}: the tool could not tell what kind of node it is"
                self.build.doubt(ProblemKind.UNREAD_NODE, text, number, (_key(guid),))
        elif not (_CHASSIS.match(line) or _NET_FILE.match(line) or self.build.noise(line, number)):
            raise self.build.not_understood(line, number, "a node, port or value line of ibnetdiscover")

    # -- both ---------------------------------------------------------------------------------------------

    def begin(
        self,
        kind: NodeKind,
        key: str,
        description: str,
        ports: int,
        lid: str | None,
        number: int,
        values: tuple[str | None, str | None],
    ) -> Draft:
        """A node line: the port lines after it are this node's. :param values: devid and sysimgguid."""
        draft = self.build.drafts.get(key)
        if draft is None:
            device, system = values
            draft = self.build.drafts[key] = Draft(
                key,
                kind,
                description,
                number,
                key,
                True,
                self.build.port_count(key, ports, number),
                int(lid) if lid else None,
                _key(system) if system else None,
                int(device, 16) if device else None,
            )
        else:
            text = f"{key} ({description!r}) has a second block at line {number}; its first is at line {draft.line}"
            self.build.doubt(ProblemKind.DUPLICATE_GUID, text, number, (key,))
        self.node = draft
        if self.values:
            self.values = {}
        return draft

    def name_unread(self, text: str) -> None:
        """Nodes that only neighbours name: take kind, description and port GUIDs from the neighbours' lines."""
        drafts = self.build.drafts
        unread = {half[0][0] for half in self.build.halves.values()} - drafts.keys()
        if not unread:
            return
        if self.node is not None:
            self.node.listed = (
                False  # the text may end inside this block: its other ports are not known to be down
            )
        for number, line in enumerate(text.split("\n"), 1):
            peer = _PEER.search(line) if line[:1] == "[" else None
            if peer is None or _key(peer[2]) not in unread:
                continue
            draft = self.build.mention(_key(peer[2]), _KINDS[peer[1]], peer[5] or "", number)
            if peer[4]:
                _port_guid(draft, int(peer[3]), peer[4])

    def end(self, text: str) -> None:
        """A text that stops inside a block is a cut file, not a small fabric."""
        if self.values:
            message = "the file ends after a node's values, before the node itself: it is cut"
            raise self.build.fail(message, self.values_line)
        last = text[text.rfind("\n") + 1 :]
        if last and not last.isspace() and last[0] != "#":
            said = "the last line has no line end: the file may be cut"
            self.build.doubt(ProblemKind.CUT, said, text.count("\n") + 1)


def _key(guid: str) -> str:
    return "0x" + guid.lower().rjust(16, "0")


def _port_guid(node: Draft, port: int, guid: str) -> None:
    """Remember port GUIDs: they tell which HCA is meant where a format knows only those."""
    if node.port_guids is None:
        node.port_guids = {port: _key(guid)}
    else:
        node.port_guids.setdefault(port, _key(guid))
