"""What a port cell means.

Host ends: ``mlx5_3``, ``HCA-4``, ``hca4``, ``ibp11s0f0``, ``gpu001 ibp11s0f0`` (UFM NDT lists repeat the
host), ``mlx5_0/1`` (HCA and its port), ``IB Port 3`` (the third one). Switch ends: ``21``, ``Port 21``,
``P21``, ``swp21``, ``ib21``, ``j51``; ``1/14/1``, ``sw14p1``, ``P13.0``, ``IB1/5`` need a switch model.
Director chassis: ``Blade 16_Port 2/20`` is leaf board 16, ASIC 2, port 20 (pattern of
Mellanox/ufm_sdk_3.0 UFM_NDT_Plugin); the ASIC's node description then ends in ``/L16/U2``. That the three
numbers mean this is usual, no document says it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple, Protocol

from fabricctl.discovery.names import short_host
from fabricctl.fabric import Place
from fabricctl.models import NodeModel, SwitchModel

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


class Label(NamedTuple):
    """A port cell.

    :param number: port number (of HCA: 1 unless given); :param hca: HCA name as canonical text.
    :param blade: and :param asic: of a director's leaf board.
    """

    shape: Shape
    text: str
    number: int = 1
    hca: str = ""
    blade: int = 0
    asic: int = 0


_NUMBER = re.compile(r"(?:(?:port|swp|ib|p|j|s|e|eth)[ _-]?)?0*([1-9]\d{0,2})\Z", re.I)
_RUNNING = re.compile(r"(?:ib|hca|nic) ?port ?0*([1-9]\d{0,1})\Z", re.I)
_BLADE = re.compile(r"blade ?0*([1-9]\d?)[ _/-]?port ?0*([1-9])/0*([1-9]\d{0,2})\Z", re.I)
_HCA = re.compile(
    r"(?P<hca>mlx[45]_(?:bond_)?\d+|hca[-_ ]?\d+|ibp\d+s\d+(?:f\d+)?(?:np\d+)?|ibs\d+(?:f\d+)?|ib0|"
    r"hfi1_\d+|qib\d+|bnxt_re\d+|rocep\w+)(?:(?:[/: ]|[ /]port ?)0*(?P<port>[1-9]\d?))?\Z",
    re.I,
)
_PANEL = re.compile(
    r"(?:ib|port)? ?\d{1,3}/\d{1,3}(?:/\d{1,3}){0,2}\Z|sw\d{1,3}p\d{1,2}(?:s\d)?\Z|p\d{1,3}\.\d{1,2}\Z", re.I
)
_TAIL = re.compile(r"(.+?)[ ]((?:IB|HCA|NIC) Port \d{1,2}|\S+)\Z", re.I)
_IPOIB = re.compile(r"ib\d{1,2}\Z", re.I)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def canonical_hca(text: str) -> str:
    """One spelling per HCA name: ``MLX5_3`` -> ``mlx5_3``, ``hca4`` -> ``HCA-4``; others as written."""
    numbered = re.match(r"hca[-_ ]?(\d+)\Z", text, re.I)
    if numbered is not None:
        return f"HCA-{numbered[1]}"
    return text.lower() if _HCA.match(text) else text


def read_label(text: str) -> Label:
    """Read a port cell (spaces already single and trimmed); what it is not sure of is PANEL or WORD."""
    number = _NUMBER.match(text)
    if number is not None and int(number[1]) <= MAX_PORT:
        return Label(Shape.NUMBER, text, int(number[1]))
    hca = _HCA.match(text)
    if hca is not None:
        return Label(Shape.HCA, text, int(hca["port"] or 1), canonical_hca(hca["hca"]))
    running = _RUNNING.match(text)
    if running is not None:
        return Label(Shape.RUNNING, text, int(running[1]))
    blade = _BLADE.match(text)
    if blade is not None and int(blade[3]) <= MAX_PORT:
        return Label(Shape.BLADE, text, int(blade[3]), "", int(blade[1]), int(blade[2]))
    return Label(Shape.PANEL if _PANEL.match(text) else Shape.WORD, text)


def split_device(text: str) -> tuple[str, Label | None]:
    """``gpu001 mlx5_3`` -> (``gpu001``, HCA label); a name without an HCA behind it stays whole."""
    tail = _TAIL.match(text) if " " in text else None
    if tail is not None:
        label = read_label(tail[2])
        if _IPOIB.match(
            tail[2]
        ):  # alone it would be a switch's ib3; behind a host's name it is its interface
            label = Label(Shape.HCA, tail[2], 1, tail[2].lower())
        if label.shape in (Shape.HCA, Shape.RUNNING):
            return tail[1], label
    return text, None


def without_host(text: str, device: str) -> str | None:
    """The port cell without the host's name before it; None when another host's name stands there."""
    head, _, tail = text.rpartition(" ")
    if head and short_host(head).lower() == short_host(device).lower():
        return tail
    named, label = split_device(text)
    if label is None:
        return text
    same = short_host(named).lower() == short_host(device).lower()
    return label.text if same else None


def label_advice(text: str) -> str:
    """A hint for a cell that no reading fits, where a cause is known."""
    if _DATE.match(text):
        return "the spreadsheet turned this label into a date: format the column as text and type it again"
    if text == "0":
        return "InfiniBand ports are numbered from 1"
    return ""
