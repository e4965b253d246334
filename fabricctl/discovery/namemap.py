"""Parser of node name maps (``/etc/infiniband-diags/ib-node-name-map``): GUID -> name.

Rules: rdma-core ``util/node_name_map.c``: a GUID in ``0x`` form, white space, a name between double quotes (or
bare, up to a ``#``); lines that are blank or start with ``#`` are skipped. Where rdma-core is silent (a GUID
without a name, two names for one GUID) this parser is not: a wrong name sends a technician to the wrong rack.
"""

from __future__ import annotations

import re

from fabricctl.errors import DiscoveryError
from fabricctl.guid import parse_guid

_LINE = re.compile(r'\s*(\S+?)(?:\s+(?:"([^"]*)"\s*(?:#.*)?|([^"#\s][^"#]*?)\s*(?:#.*)?))?\s*\Z')
_EXAMPLE = 'expected 0xGUID "name"'


def parse(text: str, path: str = "") -> dict[str, str]:
    """Return canonical GUID -> name.

    :raises DiscoveryError: a line without GUID or name, or a GUID with two names.
    """
    names: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip()[0] == "#":
            continue
        match = _LINE.match(line)
        guid = parse_guid(match[1]) if match is not None and match[1][:2] in ("0x", "0X") else None
        if match is None or guid is None:
            shown = line.strip()[:100]
            raise DiscoveryError(f"{shown!r} has no GUID; {_EXAMPLE}", path=path, line=number)
        name = (match[2] if match[2] is not None else match[3] or "").strip()
        if not name:
            raise DiscoveryError(f"{guid} has no name; {_EXAMPLE}", path=path, line=number)
        known = names.setdefault(guid, name)
        if known != name:
            text = f"{guid} is called {name!r} here and {known!r} at line {lines[guid]}"
            raise DiscoveryError(text, path=path, line=number)
        lines.setdefault(guid, number)
    return names
