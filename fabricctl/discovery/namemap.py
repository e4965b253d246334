"""Parser of node name maps (``/etc/infiniband-diags/ib-node-name-map``): GUID -> name.

Rules: rdma-core ``util/node_name_map.c``: a GUID in ``0x`` form, white space, a name between double quotes (or
bare, up to a ``#``); lines that are blank or start with ``#`` are skipped. Where rdma-core is silent (a GUID
without a name, two names for one GUID) this parser is not: a wrong name sends a technician to the wrong rack.
"""

from __future__ import annotations

from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.errors import DiscoveryError
from fabricctl.guid import parse_guid

_EXAMPLE = '0xGUID "name"'


def parse(text: str, path: str = "") -> dict[str, str]:
    """Return canonical GUID -> name.

    :raises DiscoveryError: a line without GUID or name, or a GUID with two names.
    """
    names: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(lines_of(text, path), 1):
        if not line or line.lstrip()[0] == "#":
            continue
        word, *rest = line.split(None, 1)
        guid = parse_guid(word) if word[:2] in ("0x", "0X") else None
        if guid is None:
            raise DiscoveryError(f"{shown(line)} has no GUID; expected {_EXAMPLE}", path=path, line=number)
        name = _name(rest[0] if rest else "", path, number)
        if not name:
            raise DiscoveryError(f"{guid} has no name; expected {_EXAMPLE}", path=path, line=number)
        known = names.setdefault(guid, name)
        if known != name:
            text = f"{guid} is called {name!r} here and {known!r} at line {lines[guid]}"
            raise DiscoveryError(text, path=path, line=number)
        lines.setdefault(guid, number)
    return names


def _name(text: str, path: str, number: int) -> str:
    """The name behind a GUID, without quotes and comment; empty when there is none."""
    if text[:1] == '"':
        name, quote, rest = text[1:].partition('"')
        if quote and rest.lstrip()[:1] in ("", "#"):
            return name.strip()
    else:
        name = text.partition("#")[0].strip()
        if '"' not in name:
            return name
    raise DiscoveryError(
        f"the name {shown(text)} is not understood; expected {_EXAMPLE}", path=path, line=number
    )
