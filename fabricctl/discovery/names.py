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
_HCA_WORD = re.compile(
    r"(?:mlx[45]_(?:bond_)?[0-9]+|HCA-?[0-9]+|ibp?\w+|hfi1_[0-9]+|qib[0-9]+|bnxt_re[0-9]+|rocep?\w+)\Z"
)
_UNNAMED = re.compile(
    r"(?:Quantum(?:-[0-9])?|SwitchIB(?:-2)?|Switch-IB(?: 2)?|SwitchX|Infiniscale.*|MT[0-9].*|.*InfiniHost.*|"
    r"ConnectX.*)(?: Mellanox Technologies)?\Z|.*Mellanox Technologies\Z|.*Voltaire\Z"
)


class Described(NamedTuple):
    """What a node description says. ``name`` is empty when it is a factory text that names nobody."""

    name: str
    host: str | None = None
    hca: str | None = None
    model: str = ""


def describe(kind: NodeKind, description: str) -> Described:
    """Read a node description. Hosts keep their domain here: who is meant by a short name, binding decides."""
    words = description.split()
    if kind is NodeKind.HCA and len(words) == 2 and words[1].startswith("mlx5_"):
        return Described(f"{words[0]} {words[1]}", words[0], words[1])  # nearly all, and without any pattern
    text = " ".join(words)
    if _UNNAMED.match(text):
        return Described("")
    if kind is NodeKind.HCA:
        host, _, last = text.rpartition(" ")
        if host and _HCA_WORD.match(last):
            return Described(f"{host} {last}", host, last)
        return Described(text, text, None)
    managed = _MANAGED.match(text)
    if managed is None:
        return Described(text)
    rest = managed["rest"]
    name = managed["name"] if rest == "U1" else f"{managed['name']}/{rest}"
    return Described(name, None, None, managed["model"])


def name_key(name: str) -> str:
    """The form under which two spellings of one name meet: lower case, single spaces."""
    return " ".join(name.lower().split())


def short_host(host: str) -> str:
    """``gpu001.example.net`` -> ``gpu001``; an address, or a first label of digits only, stays whole."""
    head = host.partition(".")[0]
    return host if head.isdigit() or not head else head


def short_key(name: str) -> str:
    """``name_key`` without the host's domain: ``gpu001.example.net mlx5_3`` -> ``gpu001 mlx5_3``."""
    host, blank, rest = name_key(name).partition(" ")
    return short_host(host) + blank + rest
