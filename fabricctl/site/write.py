"""Identities written into a site file's text: lines are added, everything else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabricctl.discovery.names import name_key
from fabricctl.errors import SiteError
from fabricctl.hostset import natural_key
from fabricctl.site.use import identity_guid
from fabricctl.site.yaml_lines import Document, LineMap, read_yaml

_PLAIN = re.compile(r"[A-Za-z][\w.\-/]*(?: [A-Za-z][\w.\-/]*)?\Z", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
KEY = "identities"


def add_identities(text: str, path: str, identities: Mapping[str, str]) -> str:
    """The site file's text with these identities added to ``identities:``; the same text when it has them all.

    What the file declares already stays as it is: a GUID keeps its name, and a name that is declared by another key (a
    serial number) gets no second one.

    :param identities: GUID -> name. :raises SiteError: the text is no site file, or its identities are not a block.
    """
    document = read_yaml(text, path)
    root = document.data
    if not isinstance(root, LineMap):
        raise SiteError("expected a site file, found something else", path=path)
    present = root.get(KEY)
    if present is not None and not isinstance(present, LineMap):
        raise SiteError(f"expected {KEY} to be a mapping", path=path, line=document.line_of((KEY,)))
    have = present if isinstance(present, LineMap) else {}
    guids = {identity_guid(key) or key for key in have}
    named = {name_key(str(name)) for name in have.values()}
    new = {
        guid: name
        for guid, name in sorted(identities.items(), key=lambda item: natural_key(item[1]))
        if guid not in guids and name_key(name) not in named
    }
    if not new:
        return text
    return _insert(text, path, document, new)


def _insert(text: str, path: str, document: Document, new: Mapping[str, str]) -> str:
    lines = text.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    root = document.data
    assert isinstance(root, LineMap)
    if KEY not in root:
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines[-1] += ending
        rows = [_row(guid, name, "  ") for guid, name in new.items()]
        return "".join([*lines, ending, f"{KEY}:{ending}", *(row + ending for row in rows)])
    at = root.lc.data[KEY][0]
    have = root[KEY]
    if isinstance(have, LineMap) and have.lc.data:
        last = max(mark[0] for mark in have.lc.data.values())
        first = min(mark[0] for mark in have.lc.data.values())
        if first == at:
            raise SiteError(
                f"expected {KEY} as a block, one line each; found them on one line",
                path=path,
                line=at + 1,
                hint="write each on a line of its own, then lines can be added",
            )
        indent = lines[last][: len(lines[last]) - len(lines[last].lstrip())]
    else:  # "identities:" or "identities: {}", a comment may follow
        head = re.match(rf"(\s*{KEY}\s*:)\s*(?:\{{\s*\}}|~|null)?(\s*(?:#.*)?)$", lines[at].rstrip("\r\n"))
        if head is None:
            raise SiteError(f"expected {KEY} as a block, one line each", path=path, line=at + 1)
        lines[at] = f"{head[1]}{head[2].rstrip()}{ending}"
        last, indent = at, "  "
    if not lines[last].endswith(("\n", "\r")):
        lines[last] += ending
    rows = [_row(guid, name, indent) + ending for guid, name in new.items()]
    return "".join([*lines[: last + 1], *rows, *lines[last + 1 :]])


def _row(guid: str, name: str, indent: str) -> str:
    if _PLAIN.match(name) and name.lower() not in _WORDS:
        return f"{indent}{guid}: {name}"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{indent}{guid}: "{quoted}"'
