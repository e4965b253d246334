"""What a port cell means.

Host ends: ``mlx5_3``, ``HCA-4``, ``hca4``, ``ibp11s0f0``, ``gpu001 ibp11s0f0`` (UFM NDT lists repeat the
host), ``mlx5_0/1`` (HCA and its port), ``IB Port 3`` (the third one). Switch ends: ``21``, ``21.0``, ``Port 21``,
``P21``, ``swp21``, ``ib21``, ``j51``; ``1/14/1``, ``sw14p1``, ``P13.0``, ``IB1/5`` need a switch model.
Director chassis: ``Blade 16_Port 2/20`` is leaf board 16, ASIC 2, port 20 (pattern of
Mellanox/ufm_sdk_3.0 UFM_NDT_Plugin); the ASIC's node description then ends in ``/L16/U2``. That the three
numbers mean this is usual, no document says it.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, Protocol

from fabricctl.discovery.names import short_host
from fabricctl.fabric import Place
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.cells import whole_number

MAX_PORT = 254
"""Highest InfiniBand port number (IBTA: 8 bits, 255 is reserved)."""

ACCEPTED = (
    "a port number, 'Port 21', 'swp21', 'Blade 16_Port 2/20', or an HCA such as mlx5_0, HCA-1, ibp11s0f0"
)
"""What a port cell may hold, for messages."""


class SiteNames(Protocol):
    """What a site file knows of devices; every answer may be None."""

    def switch_model(self, device: str) -> SwitchModel | None:
        """Model of a switch, None when the name is no known switch."""

    def node_model(self, host: str) -> NodeModel | None:
        """Model of a host, None when the name is no known host."""

    def place(self, device: str) -> Place | None:
        """Where a device stands."""


class Shape(Enum):
    """How a port cell is written."""

    NUMBER = "number"
    """A port number; of a host, its n-th HCA."""
    RUNNING = "running"
    """``IB Port 3``: a host's n-th HCA."""
    HCA = "hca"
    BLADE = "blade"
    PANEL = "panel"
    """Looks like a front-panel label; only a switch model can tell."""
    WORD = "word"
    """Anything else; only a switch model or node model can tell."""
    NONE = "none"
    """An empty cell."""


class Label(NamedTuple):
    """A port cell.

    :param number: port number (of HCA: 1 unless given); :param hca: HCA name as canonical text.
    :param blade: and :param asic: of a director's leaf board; :param host: the host named in the cell.
    :param told: the text where it says more than the port number, else empty.
    """

    shape: Shape
    text: str
    number: int = 1
    hca: str = ""
    blade: int = 0
    asic: int = 0
    host: str = ""
    told: str = ""


_NUMBER = re.compile(r"(?:(?:port|swp|ib|p|j|s|e|eth)[ _-]?)?0*([1-9][0-9]{0,2})\Z", re.I)
_RUNNING = re.compile(r"(?:ib|hca|nic) ?port ?0*([1-9][0-9]?)\Z", re.I)
_RUNNING_TAIL = re.compile(r"(.+) ((?:ib|hca|nic) ?port ?[0-9]{1,2})\Z", re.I)
_BLADE = re.compile(r"blade ?0*([1-9][0-9]?)[ _/-]?port ?0*([1-9])/0*([1-9][0-9]{0,2})\Z", re.I)
_HCA = re.compile(
    r"(?P<hca>mlx[45]_(?:bond_)?[0-9]+|hca[-_ ]?[0-9]+|ibp[0-9]+s[0-9]+(?:f[0-9]+)?(?:np[0-9]+)?|"
    r"ibs[0-9]+(?:f[0-9]+)?|ib0|hfi1_[0-9]+|qib[0-9]+|bnxt_re[0-9]+|rocep\w+)"
    r"(?:(?:[/: ]|[ /]port ?)0*(?P<port>[1-9][0-9]?))?\Z",
    re.I,
)
_PANEL = re.compile(
    r"(?:ib|port)? ?[0-9]{1,3}/[0-9]{1,3}(?:/[0-9]{1,3}){0,2}\Z|sw[0-9]{1,3}p[0-9]{1,2}(?:s[0-9])?\Z|"
    r"p[0-9]{1,3}\.[0-9]{1,2}\Z",
    re.I,
)
_IPOIB = re.compile(r"ib[0-9]{1,2}\Z", re.I)
_NUMBERED_HCA = re.compile(r"hca[-_ ]?([0-9]+)\Z", re.I)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def canonical_hca(text: str) -> str:
    """One spelling per HCA name: ``MLX5_3`` -> ``mlx5_3``, ``hca4`` -> ``HCA-4``; others as written."""
    numbered = _NUMBERED_HCA.match(text)
    if numbered is not None:
        return f"HCA-{numbered[1]}"
    return text.lower() if _HCA.match(text) else text


@lru_cache(maxsize=4096)
def read_label(text: str) -> Label:
    """Read a port label (spaces single and trimmed); what it is not sure of is PANEL or WORD."""
    if not text:
        return Label(Shape.NONE, text)
    text = whole_number(text)
    number = _NUMBER.match(text)
    if number is not None and int(number[1]) <= MAX_PORT:
        return Label(Shape.NUMBER, text, int(number[1]), told="" if text.isdigit() else text)
    hca = _HCA.match(text)
    if hca is not None:
        return Label(Shape.HCA, text, int(hca["port"] or 1), canonical_hca(hca["hca"]), told=text)
    running = _RUNNING.match(text)
    if running is not None:
        return Label(Shape.RUNNING, text, int(running[1]), told=text)
    blade = _BLADE.match(text)
    if blade is not None and int(blade[3]) <= MAX_PORT:
        return Label(Shape.BLADE, text, int(blade[3]), "", int(blade[1]), int(blade[2]), told=text)
    return Label(Shape.PANEL if _PANEL.match(text) else Shape.WORD, text, told=text)


def split_device(text: str) -> tuple[str, Label | None]:
    """``gpu001 mlx5_3`` -> (``gpu001``, HCA label); a name without an HCA behind it stays whole."""
    head, space, tail = text.rpartition(" ")
    if not space:
        return text, None
    if tail.isdigit():
        running = _RUNNING_TAIL.match(text)
        return (text, None) if running is None else (running[1], read_label(running[2]))
    if _IPOIB.match(tail):  # alone it would be a switch's ib3; behind a host's name it is its interface
        return head, Label(Shape.HCA, tail, 1, tail.lower(), told=tail)
    label = read_label(tail)
    return (head, label) if label.shape is Shape.HCA else (text, None)


def read_port_cell(text: str) -> Label:
    """Read a port cell, which may name the host before its HCA."""
    label = read_label(text)
    if label.shape is Shape.WORD and " " in text:
        host, own = split_device(text)
        if own is not None:
            return own._replace(host=host)
    return label


def same_host(one: str, other: str) -> bool:
    """Whether two spellings, full or short, upper or lower case, name one host."""
    return short_host(one).lower() == short_host(other).lower()


def label_advice(text: str) -> str:
    """A hint for a cell that no reading fits, where a cause is known."""
    if _DATE.match(text):
        return "the spreadsheet turned this label into a date: format the column as text and type it again"
    if text == "0":
        return "InfiniBand ports are numbered from 1"
    return ""
