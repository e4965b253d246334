"""ibsim net files whose node ids are free names instead of ``S-<guid>``: no GUIDs, so names are the keys.

Syntax: ibsim 0.10 ``sim_net.c``: ``Switch|Ca|Hca|Rt PORTS "id"`` and ``[port] "id"[port]``. Hand-written plans
of small fabrics look like this.
"""

from __future__ import annotations

import re

from fabricctl.discovery.build import Draft, ObservationBuilder
from fabricctl.discovery.model import DiscoveryFormat, Observation
from fabricctl.discovery.textlines import lines_of
from fabricctl.fabric import NodeKind

_NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+([0-9]{1,18})\s+"([^"]+)"\s*(?:#\s*"(.*)")?\Z')
_LINK = re.compile(r'\[([0-9]{1,9})\]\s*"([^"]+)"\[([0-9]{1,9})\]\s*(?:#.*)?\Z')
_KINDS = {"Switch": NodeKind.SWITCH, "Ca": NodeKind.HCA, "Hca": NodeKind.HCA, "Rt": NodeKind.ROUTER}
_SETTINGS = re.compile(r"\w+=|(?:module|include|do)\s|#")
_FIRST_NODE = re.compile(r'^(?:Switch|Ca|Hca|Rt)[ \t]+[0-9]+[ \t]+"([^"\n]*)"', re.MULTILINE)
_GUID_ID = re.compile(r"[SHR?]-[0-9a-fA-F]{1,16}\Z")


def has_free_ids(text: str) -> bool:
    """True when the first node's id is not ibnetdiscover's ``S-<guid>``."""
    first = _FIRST_NODE.search(text)
    return first is not None and _GUID_ID.match(first[1]) is None


def parse(text: str, path: str = "") -> Observation:
    """Read a net file with free ids; nodes are keyed by id and ``Node.guid`` is None.

    :raises DiscoveryError: a line that is not understood, or no node at all.
    """
    build = ObservationBuilder(path, DiscoveryFormat.IBNETDISCOVER)
    node: Draft | None = None
    for number, line in enumerate(lines_of(text, path), 1):
        line = line.lstrip()
        if not line or _SETTINGS.match(line):
            continue
        if match := _NODE.match(line):
            key = match[3]
            ports = build.port_count(key, int(match[2]), number)
            node = Draft(key, _KINDS[match[1]], match[4] or key, number, None, True, ports)
            build.drafts[key] = node
        elif node is not None and (match := _LINK.match(line)):
            own = build.port(node.key, int(match[1]), number)
            build.half(own, build.port(match[2], int(match[3]), number), None, number)
        else:
            raise build.not_understood(line, number, "a node or port line of an ibsim net")
    return build.finish()
