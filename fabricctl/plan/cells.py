"""What single cells of a cabling table say: speeds, lengths, places, link types, device types."""

from __future__ import annotations

import difflib
import math
import re

from fabricctl.fabric import Place
from fabricctl.plan.columns import Role
from fabricctl.rates import NOMINAL_GBPS, WIDTHS, Rate, parse_rate

BLANK = frozenset(("", "-", "--", "n/a", "na", "none", "tbd", "?", "???"))
"""Cells that say nothing, in lower case."""

EXCEL_ERRORS = frozenset(("#REF!", "#N/A", "#NAME?", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!"))
"""What a spreadsheet leaves where a formula failed."""

_SPEED_OF_NOMINAL = {40: "QDR", 56: "FDR", 100: "EDR", 200: "HDR", 400: "NDR", 800: "XDR"}
_SPEED_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:([0-9]{1,2})[xX] ?)?(FDR10|[SDQFEHNX]DR)([0-9]{2,3})?(?![A-Za-z0-9])", re.I
)
_GBPS = re.compile(
    r"(?<![\w.])([0-9]{1,7})(?: ?(G|Gb|Gb/s|Gbps|Gbit|Gbit/s|GbE|M|Mb/s|Mbps))?(?![\w.])", re.I
)
_LENGTH = re.compile(r"([0-9]{1,6}(?:[.,][0-9]{1,3})?) ?(?:m|mtr|meters?|metres?)?\Z", re.I)
_UNIT = re.compile(r"[uU] ?[0-9]{1,2}[LRlr]?\Z")
_BARE_UNIT = re.compile(r"[0-9]{1,2}[LRlr]?\Z")
_EXPORTED = re.compile(r"([0-9]{1,9})\.0\Z")

_KEPT = ("data", "ib", "infiniband", "compute", "storage", "fabric")
_SKIPPED = (
    *("ethernet", "eth", "roce", "management", "mgmt", "oob", "bmc", "ipmi", "in-band", "inband", "console"),
    *("serial", "power", "nvlink", "fc", "fibre channel", "sync", "other"),
)
_TYPE_ROLES = (
    dict.fromkeys(("switch", "sw", "leaf", "spine", "core", "superspine", "tor", "director"), Role.SWITCH)
    | dict.fromkeys(("host", "hca", "ca", "server", "compute", "gpu", "nic", "dgx", "hgx"), Role.HOST)
    | {"rt": Role.ROUTER, "router": Role.ROUTER}
)


def tidy(text: str) -> str:
    """A cell without outer and repeated white space."""
    return " ".join(text.split())


def whole_number(text: str) -> str:
    """``1.0`` -> ``1``: how programs write a column of whole numbers that has a gap (pandas ``to_csv``)."""
    match = _EXPORTED.match(text)
    return match[1] if match else text


def shown(text: str) -> str:
    """A cell for a message: quoted, control characters escaped, at most 60 characters."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parse_speed(text: str) -> Rate | None:
    """``200000`` (Mb/s), ``400G``, ``HDR``, ``HDR100``, ``4xNDR``, ``200G HDR cable`` -> Rate.

    A number alone is a whole 4x port's nominal rate (100 EDR, 200 HDR, 400 NDR, 800 XDR). Number and name
    together give the width: ``100G HDR`` and ``HDR100`` are 2xHDR.

    :returns: None when no speed can be read or number and name do not fit each other.
    """
    text = whole_number(text)
    exact = parse_rate(text)
    if exact is not None:
        return exact
    name = _SPEED_NAME.search(text)
    number = _GBPS.search(text if name is None else text[: name.start()] + " " + text[name.end() :])
    gbps = _gbps(number)
    if name is None:
        speed = _SPEED_OF_NOMINAL.get(gbps)
        return None if speed is None else Rate(4, speed)
    speed = name[2].upper()
    total = int(name[3]) if name[3] else gbps
    width = int(name[1]) if name[1] else 4 if not total else 4 * total // NOMINAL_GBPS[speed]
    # a twin-port cable's total (400G HDR) is no 8x link
    fits = not total or (width * NOMINAL_GBPS[speed] == 4 * total and width <= 4)
    return Rate(width, speed) if width in WIDTHS and fits else None


def _gbps(number: re.Match[str] | None) -> int:
    if number is None:
        return 0
    value, unit = int(number[1]), (number[2] or "").lower()
    if unit.startswith("m") or (not unit and value >= 1000):
        return value // 1000 if value % 1000 == 0 else -1
    return value


def parse_length_m(text: str) -> float | None:
    """``10``, ``10m``, ``3 m``, ``1,5 m`` -> metres; None when it is no length."""
    match = _LENGTH.match(text)
    value = float(match[1].replace(",", ".")) if match else math.nan
    return value if math.isfinite(value) else None


def parse_place(rack: str, unit: str, location: str) -> Place | None:
    """Rack and unit out of the three columns tables use for it.

    A location is the rack where no rack column exists (UFM NDT: ``F01C04-DR426``) and the unit where it
    reads like one (HPE SHCD: ``u36``, ``u15L``).
    """
    rack, unit, location = ("" if t.lower() in BLANK else whole_number(t) for t in (rack, unit, location))
    if location and (_UNIT.match(location) or (rack and not unit and _BARE_UNIT.match(location))):
        unit = unit or location
    elif location:
        rack = rack or location
    return Place(rack, unit) if rack or unit else None


def keeps_link_type(text: str) -> bool | None:
    """Whether a row of this link type or protocol is an InfiniBand cable; None when the word is unknown."""
    word = text.lower()
    if word in BLANK or word in _KEPT:
        return True
    head = re.split(r"[ /_-]", word, maxsplit=1)[0]
    if word in _SKIPPED or head in _SKIPPED:
        return False
    if head in _KEPT or parse_speed(text) is not None:
        return True
    return None


def link_type_hint(text: str) -> str:
    """The nearest link type that is known, or all of them."""
    close = difflib.get_close_matches(text.lower()[:40], (*_KEPT, *_SKIPPED), n=1, cutoff=0.6)
    known = f"read: {', '.join(_KEPT)}; skipped: {', '.join(_SKIPPED[:5])}, ..."
    return f"did you mean {close[0]}?" if close else known


def role_of_type(text: str) -> Role | None:
    """What a type column says of a device; None when its word is not known."""
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _TYPE_ROLES:
            return _TYPE_ROLES[word]
    return None
