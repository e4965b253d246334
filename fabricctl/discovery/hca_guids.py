"""Parser of harvested HCA GUIDs: which GUID is which HCA of which host, read off the hosts themselves.

One HCA a line, three words in any order: host, HCA and GUID, separated by blanks, commas or tabs; a colon behind a
word is dropped, so that what ``pdsh`` prefixes is read as it comes (``gpu001: mlx5_0 946d:ae03:0012:3456``). A line
may also be of the form ``0xGUID "gpu001 mlx5_0"`` (node-name-map). Node GUIDs and port GUIDs are both fine. A first
line without a GUID is a heading; blank lines and lines that start with ``#`` are skipped.
"""

from __future__ import annotations

import re

from fabricctl.discovery.textlines import lines_of, shown
from fabricctl.errors import DiscoveryError
from fabricctl.guid import parse_guid

_EXAMPLE = "gpu001 mlx5_0 946d:ae03:0012:3456"
_WORDS = re.compile(r"[\s,;\"]+")
_GUID = re.compile(
    r"0[xX][0-9a-fA-F]{1,16}\Z|[0-9a-fA-F]{16}\Z|[0-9a-fA-F]{4}(?:[:.][0-9a-fA-F]{4}){3}\Z"
    r"|[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){7}\Z"
)


def parse(text: str, path: str = "") -> dict[str, str]:
    """Return canonical GUID -> ``host hca``.

    :raises DiscoveryError: a line that is not understood, a GUID of two HCAs, or no HCA at all.
    """
    names: dict[str, str] = {}
    lines: dict[str, int] = {}
    heading = True
    for number, line in enumerate(lines_of(text, path), 1):
        if not line.strip() or line.lstrip()[0] == "#":
            continue
        words = [word.rstrip(":") for word in _WORDS.split(line.strip()) if word]
        found = [index for index, word in enumerate(words) if _GUID.match(word)]
        if heading and not found:
            heading = False
            continue
        heading = False
        guid = parse_guid(words[found[0]]) if len(found) == 1 and len(words) == 3 else None
        if guid is None:
            raise DiscoveryError(
                f"{shown(line)} is not understood; expected host, HCA and GUID: {_EXAMPLE}",
                path=path,
                line=number,
            )
        host, hca = (word for index, word in enumerate(words) if index != found[0])
        name = f"{host} {hca}"
        known = names.setdefault(guid, name)
        if known != name:
            text = f"{guid} is {name!r} here and {known!r} at line {lines[guid]}"
            raise DiscoveryError(text, path=path, line=number)
        lines.setdefault(guid, number)
    if not names:
        raise DiscoveryError(f"the list of HCA GUIDs is empty; expected lines such as {_EXAMPLE}", path=path)
    return names
