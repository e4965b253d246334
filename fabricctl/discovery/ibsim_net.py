"""ibsim net files whose node ids are free names instead of ``S-<guid>``: no GUIDs, so names are the keys.

Syntax: ibsim 0.10 ``sim_net.c``: ``Switch|Ca|Hca|Rt PORTS "id"`` and ``[port] "id"[port]``. Hand-written plans
of small fabrics look like this.
"""

from __future__ import annotations

import re

from fabricctl.discovery.build import Draft, ObservationBuilder
from fabricctl.discovery.model import DiscoveryFormat, Observation
from fabricctl.fabric import NodeKind, Port

_NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]+)"\s*(?:#\s*"(.*)"\s*)?\Z')
_LINK = re.compile(r'\[(\d+)\]\s*"([^"]+)"\[(\d+)\]\s*(?:#.*)?\Z')
_KINDS = {"Switch": NodeKind.SWITCH, "Ca": NodeKind.HCA, "Hca": NodeKind.HCA, "Rt": NodeKind.ROUTER}
_SETTINGS = re.compile(r"\w+=|(?:module|include|do)\s|#")
_FIRST_NODE = re.compile(r'^(?:Switch|Ca|Hca|Rt)\s+\d+\s+"([^"]*)"', re.MULTILINE)
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
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or _SETTINGS.match(line):
            continue
        if match := _NODE.match(line):
            key = match[3]
            node = Draft(key, _KINDS[match[1]], match[4] or key, number, None, True, int(match[2]))
            build.drafts[key] = node
        elif node is not None and (match := _LINK.match(line)):
            build.half(Port(node.key, int(match[1])), Port(match[2], int(match[3])), None, number)
        else:
            raise build.fail(
                f"not understood: {line[:100]!r}; expected a node or port line of an ibsim net", number
            )
    return build.finish()
