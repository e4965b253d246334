"""Node descriptions: who says they are what.

Spellings seen (ibnetdiscover captures of several sites): ``MF0;name:MODEL/U1`` (MLNX-OS), directors
``MF0;name:MCS8500/L06/U2``, ``host mlx5_3``, ``host HCA-4``, ``host ibp11s0f0``, FQDN or short, leading and
trailing spaces, upper and lower case, and the unnamed ``Quantum Mellanox Technologies``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fabricctl.fabric import NodeKind

_MANAGED = re.compile(r"MF0;(?P<name>[^:;]+):(?P<model>[^/]+)/(?P<rest>.+)\Z")
_HCA_WORD = re.compile(r"(?:mlx[45]_(?:bond_)?\d+|HCA-?\d+|ibp?\w+|hfi1_\d+|qib\d+|bnxt_re\d+|rocep?\w+)\Z")
_UNNAMED = re.compile(
    r"(?:Quantum(?:-\d)?|SwitchIB(?:-2)?|Switch-IB(?: 2)?|SwitchX|Infiniscale.*|MT\d+.*|.*InfiniHost.*|"
    r"ConnectX.*)(?: Mellanox Technologies)?\Z|.*Mellanox Technologies\Z|.*Voltaire\Z"
)


class Described(NamedTuple):
    """What a node description says. ``name`` is empty when it is a factory text that names nobody."""

    name: str
    host: str | None = None
    hca: str | None = None
    model: str = ""


def describe(kind: NodeKind, description: str) -> Described:
    """Read a node description."""
    text = " ".join(description.split())
    if ("Technologies" in text or "Voltaire" in text or "Infini" in text or "MT" in text) and _UNNAMED.match(
        text
    ):
        return Described("")
    if kind is NodeKind.HCA:
        host, _, last = text.rpartition(" ")
        if host and _HCA_WORD.match(last):
            return Described(f"{short_host(host)} {last}", short_host(host), last)
        return Described(short_host(text), short_host(text), None)
    managed = _MANAGED.match(text)
    if managed is None:
        return Described(text)
    rest = managed["rest"]
    name = managed["name"] if rest == "U1" else f"{managed['name']}/{rest}"
    return Described(name, None, None, managed["model"])


def short_host(host: str) -> str:
    """``gpu001.example.net`` -> ``gpu001``; an address or a name without letters stays whole."""
    head = host.partition(".")[0]
    return host if head.isdigit() or not head else head


def name_key(name: str) -> str:
    """The form under which two spellings of one name meet: lower case, single spaces, short host."""
    words = name.lower().split()
    return " ".join([short_host(words[0]), *words[1:]]) if words else ""
