"""Which column of a cabling table holds what: header names to fields.

No two sites name their columns alike, so the words of a header are read, not its spelling. Headers known to
exist in the wild and read here:

* ``a_device,a_port,z_device,z_port`` (what ``fabricctl plan export`` writes, with more columns)
* UFM NDT: ``#StartDevice,StartPort,EndDevice,EndPort,LinkType``, with unnamed columns, ``#Fields:`` before
  the first name and ``U height`` once per side (Mellanox/ufm_sdk_3.0, UFM_NDT_Plugin tests)
* NVIDIA Cable Validation Tool up to 1.6: ``Rack,U,Name,HCA/Port`` twice; its manual's own example calls the
  second ``U`` ``Name`` too. From 1.7.1 the sheet Links: ``A-Node,A-Port,Z-Node,Z-Port,Protocol,Shuffle-ID,
  A-Connector,A-MPO-Connector,Z-Connector,Z-MPO-Connector,A-Module-PN,Z-Module-PN,Source-Ref``
  (docs.nvidia.com/networking/display/cablevalidationtool171/p2p+file); the shuffle ID names the cable
* HPE SHCD workbooks: ``Source,Rack,Location,Slot,,Port,Destination,Rack,Location,,Port`` (Cray-HPE/canu)
* ``source/destination``, ``from/to``, ``local/remote``, ``device1/device2``, ``switch,port,host,hca``
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fabricctl.errors import PlanError

EXAMPLES = (
    "a_device,a_port,z_device,z_port",
    "StartDevice,StartPort,EndDevice,EndPort",
    "A-Node,A-Port,Z-Node,Z-Port",
    "Source,Port,Destination,Port",
    "Rack,U,Name,HCA/Port,Rack,U,Name,Port",
)
"""Headers to show a user whose own was not understood."""


class Role(StrEnum):
    """What a device is as far as a table says."""

    SWITCH = "switch"
    HOST = "host"
    ROUTER = "router"


@dataclass(frozen=True, slots=True)
class Side:
    """Column numbers (0-based) of one end; -1 where the table has no such column.

    :param role: set when the header itself says it (``switch,port,host,hca``).
    """

    device: int = -1
    port: int = -1
    hca: int = -1
    rack: int = -1
    unit: int = -1
    location: int = -1
    type: int = -1
    guid: int = -1
    connector: int = -1
    mpo: int = -1
    module: int = -1
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """Column numbers of a table; -1 where absent."""

    a: Side
    z: Side
    speed: int = -1
    link_class: int = -1
    protocol: int = -1
    length: int = -1
    cable: int = -1
    assembly: int = -1
    part_number: int = -1
    serial: int = -1
    header: tuple[str, ...] = ()


class HeaderGuess(NamedTuple):
    """What a row would mean as a header.

    :param columns: None when it is no complete header.
    :param missing: of an incomplete one, what it lacks, with names that would be understood.
    :param found: how many of the four needed columns (two devices, two ports) it has.
    """

    columns: Columns | None
    missing: tuple[str, ...]
    found: int


_A, _Z = "a", "z"
_SIDES = dict.fromkeys(("a", "start", "source", "src", "from", "local", "near", "left"), _A) | dict.fromkeys(
    ("z", "b", "end", "destination", "dest", "dst", "to", "remote", "far", "right", "target", "peer"), _Z
)
_LETTERS = {"a": _A, "b": _Z, "z": _Z, "1": _A, "2": _Z}
_ROLE_WORDS = {"switch": Role.SWITCH, "host": Role.HOST, "server": Role.HOST}

_END_FIELDS = {
    "device": "device,node,name,node name,device name,hostname,host name,system,system name,equipment,switch,"
    "switch name,host,server,server name",
    "port": "port,interface,interface name,port name,port number,port num,port no,port id,port label,ifname,"
    "hca port",
    "hca": "hca,slot,nic,adapter,card,hca name,rdma device",
    "rack": "rack,rack name,rack id,rack number,rack no,cabinet",
    "unit": "u,ru,unit,rack unit,rack u,u height,u position,u pos,u number,u no,elevation",
    "location": "location,loc,device location,position,place",
    "type": "type,model,device type,device model,node type,kind,node kind",
    "guid": "guid,node guid,device guid",
    "connector": "connector,connector type,plug,plug type",
    "mpo": "mpo connector,mpo,mpo port",
    "module": "module pn,module,module part number,transceiver,transceiver pn,optic,optics,optic pn",
}
_LINK_FIELDS = {
    "speed": "speed,rate,link speed,link rate,data rate,bandwidth",
    "link_class": "class,link class",
    "protocol": "link type,protocol",
    "length": "length,length m,length meters,length metres,cable length,cable length m,cable len,len",
    "cable": "cable,cable label,label,cable id,cable name,shuffle id",
    "assembly": "assembly,assembly type,cable type,cable kind,cable media,media,medium",
    "part_number": "cable pn,cable part number,part number,part no,pn,cable part",
    "serial": "cable serial,cable serial number,cable sn,serial number,serial,sn",
}
_END_FIELD = {name: field for field, names in _END_FIELDS.items() for name in names.split(",")}
_LINK_FIELD = {name: field for field, names in _LINK_FIELDS.items() for name in names.split(",")}
_GLUED = {
    (side + name).replace(" ", ""): f"{side} {name}"
    for side in _SIDES
    if len(side) > 1
    for name in _END_FIELD
} | {name.replace(" ", ""): name for name in (*_END_FIELD, *_LINK_FIELD)}
_PLAIN_NAMES = [
    *("StartDevice", "StartPort", "EndDevice", "EndPort", "StartDeviceLocation", "EndDeviceLocation"),
    *("a_device", "a_port", "z_device", "z_port", "a_rack", "a_u", "z_rack", "z_u", "a_guid", "z_guid"),
    *("A-Node", "A-Port", "Z-Node", "Z-Port", "Source", "Destination", "Port", "Name", "Rack"),
    *("source_port", "destination_port", "from", "from_port", "to", "to_port", "switch", "host", "hca"),
]
_NEEDED = {
    ("a", "device"): "the device of the first end (a_device, StartDevice, A-Node, Source, Name)",
    ("a", "port"): "the port of the first end (a_port, StartPort, A-Port, Port)",
    ("z", "device"): "the device of the second end (z_device, EndDevice, Z-Node, Destination, Name)",
    ("z", "port"): "the port of the second end (z_port, EndPort, Z-Port, Port)",
}


class _Cell(NamedTuple):
    at: int
    field: str
    side: str | None
    owner: Role | None


def header_words(text: str) -> str:
    """The words of a header name, lower case, one space apart: ``#Fields:StartDevice`` -> ``start device``."""
    text = text.strip().lstrip("\ufeff#").strip()
    if text[:7].lower() == "fields:":
        text = text[7:]
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text[:80])
    words = " ".join(re.findall(r"[a-z]+|[0-9]+", text.lower()))
    return _GLUED.get(words.replace(" ", ""), words)


def _read_cell(index: int, text: str) -> _Cell | None:
    """One header name, None when it names nothing known."""
    words = header_words(text).split()
    whole = " ".join(words)
    if whole in _LINK_FIELD:
        return None
    if whole in _END_FIELD:
        return _Cell(index, _END_FIELD[whole], None, _ROLE_WORDS.get(words[0]))
    side, rest = _split_side(words)
    if side is not None:
        field = "device" if not rest else _END_FIELD.get(" ".join(rest))
        return None if field is None else _Cell(index, field, side, None)
    if len(words) > 1 and words[0] in _ROLE_WORDS:
        field = _END_FIELD.get(" ".join(words[1:]))
        return None if field is None else _Cell(index, field, None, _ROLE_WORDS[words[0]])
    return None


def _split_side(words: list[str]) -> tuple[str | None, list[str]]:
    """``["start", "port"]`` -> (a, ["port"]); ``["a", "end", "port"]`` and ``["port", "2"]`` likewise."""
    if not words:
        return None, words
    letter = next((word for word in (words[0], words[-1]) if word in _LETTERS), None)
    if letter is not None and (len(words) > 1 or letter.isalpha()):
        rest = [word for word in words if word not in (letter, "end", "side")]
        return _LETTERS[letter], rest
    if words[0] in _SIDES:
        return _SIDES[words[0]], words[1:]
    return None, words


def guess_header(row: Sequence[str]) -> HeaderGuess:
    """Read a row as a header."""
    cells = [cell for cell in (_read_cell(i, text) for i, text in enumerate(row)) if cell is not None]
    cells = _correct_second_name(cells)
    taken = _assign(cells)
    missing = [
        text
        for (side, field), text in _NEEDED.items()
        if (side, field) not in taken and not (field == "port" and (side, "hca") in taken)
    ]
    if missing:
        return HeaderGuess(None, tuple(missing), 4 - len(missing))
    links: dict[str, int] = {}
    for index, text in enumerate(row):
        field = _LINK_FIELD.get(header_words(text))
        if field is not None:
            links.setdefault(field, index)
    a, z = (_side(taken, side) for side in (_A, _Z))
    return HeaderGuess(Columns(a, z, **links, header=tuple(row)), (), 4)


def _side(taken: dict[tuple[str, str], _Cell], side: str) -> Side:
    owner = {Role.SWITCH, Role.HOST} & {
        cell.owner for (_, field), cell in taken.items() if field == "device" and cell.owner is not None
    }
    # only a header with one of each says which end is which: "server" alone may head a column of anything
    role = taken[side, "device"].owner if len(owner) == 2 else None
    return Side(**{field: cell.at for (which, field), cell in taken.items() if which == side}, role=role)


def _correct_second_name(cells: list[_Cell]) -> list[_Cell]:
    """``Rack,U,Name,Port,Rack,Name,Name,Port``: the manual's example writes ``Name`` over the second U."""
    shape = [cell.field for cell in cells]
    if any(cell.side for cell in cells) or shape != [
        *("rack", "unit", "device", "port"),
        *("rack", "device", "device", "port"),
    ]:
        return cells
    return [*cells[:5], cells[5]._replace(field="unit"), *cells[6:]]


def _assign(cells: list[_Cell]) -> dict[tuple[str, str], _Cell]:
    """Give every column its side: by name, by owner, by its place in the row, by being the second."""
    taken: dict[tuple[str, str], _Cell] = {}
    for cell in cells:
        if cell.side is not None:
            taken.setdefault((cell.side, cell.field), cell)
    for cell in (c for c in cells if c.side is None and c.field == "device"):
        free = next((side for side in (_A, _Z) if (side, "device") not in taken), None)
        if free is not None:
            taken[free, "device"] = cell
    devices = sorted((cell.at, side) for (side, field), cell in taken.items() if field == "device")
    first = devices[0][1] if devices else _A
    second = _Z if first == _A else _A
    border = devices[1][0] if len(devices) == 2 else len(cells) + max((c.at for c in cells), default=0)
    owners = {taken[side, "device"].owner: side for _, side in devices}
    loose: dict[str, list[_Cell]] = {}
    for cell in cells:
        if cell.side is not None or cell.field == "device":
            continue
        if cell.owner is not None and cell.owner in owners:
            taken.setdefault((owners[cell.owner], cell.field), cell)
        else:
            loose.setdefault(cell.field, []).append(cell)
    for field, same in loose.items():
        if len(same) == 1:
            taken.setdefault((first if same[0].at < border else second, field), same[0])
        else:
            taken.setdefault((first, field), same[0])
            taken.setdefault((second, field), same[1])
    return taken


def header_error(row: Sequence[str], guess: HeaderGuess, *, path: str, line: int) -> PlanError:
    """Say which header names were found, which are missing and what the nearest known name is."""
    names = [cell.strip() for cell in row if cell.strip()]
    found = ", ".join(repr(name[:40]) for name in names[:12]) or "nothing"
    if len(names) > 12:
        found += f" and {len(names) - 12} more"
    hint = _nearest(names)
    if guess.found >= 2:
        return PlanError(
            f"the header has no column for {' and '.join(guess.missing)}; found {found}",
            path=path,
            line=line,
            hint=hint,
        )
    return PlanError(
        f"no header row with known column names; found {found}, expected for example "
        f"{' or '.join(EXAMPLES[:2])}",
        path=path,
        line=line,
        hint=hint,
    )


def _nearest(names: list[str]) -> str:
    known = {name.lower(): name for name in _PLAIN_NAMES}
    for name in names:
        if _read_cell(0, name) is not None or header_words(name) in _LINK_FIELD:
            continue
        close = difflib.get_close_matches(name.strip("# ").lower()[:40], known, n=1, cutoff=0.7)
        if close:
            return f"for {name[:40]!r} did you mean {known[close[0]]}?"
    return ""
