"""Identities written into a site file's text: lines are added, everything else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from fabricctl.discovery.names import name_key
from fabricctl.errors import SiteError
from fabricctl.hostset import natural_key
from fabricctl.site.use import identity_guid
from fabricctl.site.yaml_lines import Document, LineMap, read_yaml

_PLAIN = re.compile(r"[A-Za-z][\w.\-/]*(?: [A-Za-z][\w.\-/]*)?\Z", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_BREAK = re.compile(r"\r\n|\n|\r")
KEY = "identities"


def missing_identities(text: str, path: str, identities: Mapping[str, str]) -> dict[str, str]:
    """Which of these identities a site file does not have, in natural order of the names.

    What the file declares already stays as it is: a GUID keeps its name, and a name that is declared by another key (a
    serial number) gets no second one.

    :param identities: GUID -> name. :raises SiteError: the text is no site file.
    """
    return _missing(read_yaml(text, path), path, identities)


def add_identities(text: str, path: str, identities: Mapping[str, str]) -> str:
    """The site file's text with the missing ones of these identities added to ``identities:``.

    The same text when it has them all.

    :param identities: GUID -> name.
    :raises SiteError: the text is no site file, or its layout takes no lines (``{...}`` on one line).
    """
    document = read_yaml(text, path)
    new = _missing(document, path, identities)
    if not new:
        return text
    added = _Insertion(text, path).add(new)
    _check(document, added, path, new)
    return added


def _root(document: Document, path: str) -> LineMap:
    if not isinstance(document.data, LineMap):
        raise SiteError("expected a site file, found something else", path=path)
    return document.data


def _missing(document: Document, path: str, identities: Mapping[str, str]) -> dict[str, str]:
    present = _root(document, path).get(KEY)
    if present is not None and not isinstance(present, LineMap):
        raise SiteError(f"expected {KEY} to be a mapping", path=path, line=document.line_of((KEY,)))
    have = present if isinstance(present, LineMap) else {}
    guids = {identity_guid(key) or key for key in have}
    named = {name_key(str(name)) for name in have.values()}
    return {
        guid: name
        for guid, name in sorted(identities.items(), key=lambda item: natural_key(item[1]))
        if guid not in guids and name_key(name) not in named
    }


def _check(before: Document, text: str, path: str, new: Mapping[str, str]) -> None:
    """The new text holds what the old one held and the new identities, whatever its layout."""
    wanted = dict(_root(before, path))
    wanted[KEY] = {**cast("dict[str, str]", wanted.get(KEY) or {}), **new}
    try:
        right = dict(_root(read_yaml(text, path), path)) == wanted
    except SiteError:
        right = False
    if not right:
        raise _no_block(path, before.line_of((KEY,)))


def _no_block(path: str, line: int) -> SiteError:
    return SiteError(
        f"expected {KEY} as a block, one line each",
        path=path,
        line=line,
        hint="write each on a line of its own, then lines can be added",
    )


class _Insertion:
    """Finds the place for new lines: positions come from the YAML reader, never from guesses at the text."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        found = _BREAK.search(text)
        self.ending = found[0] if found is not None else "\n"
        self.events = [
            e for e in YAML(typ="safe", pure=True).parse(text) if not isinstance(e, StreamEndEvent)
        ]

    def add(self, new: Mapping[str, str]) -> str:
        root = next(n for n, event in enumerate(self.events) if isinstance(event, MappingStartEvent))
        if self.events[root].flow_style:
            raise _no_block(self.path, self.events[root].start_mark.line + 1)
        column = self.events[root + 1].start_mark.column
        for key, _, after in self.pairs(root):
            if self.events[key].value == KEY:
                return self.into(key, after, column * " " + "  ", new)
        end = next(event for event in self.events if isinstance(event, DocumentEndEvent))
        at = end.start_mark.index if end.explicit else len(self.text)
        head = f"{column * ' '}{KEY}:"
        return self.insert(
            at, ["", head, *(_row(guid, name, f"{column * ' '}  ") for guid, name in new.items())]
        )

    def pairs(self, start: int) -> Iterator[tuple[int, int, int]]:
        """Of a mapping: positions of key, of its value, and behind its value, among the events."""
        at = start + 1
        while not isinstance(self.events[at], MappingEndEvent):
            value = self.behind(at)
            after = self.behind(value)
            yield at, value, after
            at = after

    def behind(self, at: int) -> int:
        """Position of the event behind a whole value."""
        depth = 0
        while True:
            event = self.events[at]
            depth += isinstance(event, MappingStartEvent | SequenceStartEvent)
            depth -= isinstance(event, MappingEndEvent | SequenceEndEvent)
            at += 1
            if depth == 0:
                return at

    def into(self, key: int, after: int, indent: str, new: Mapping[str, str]) -> str:
        """Lines behind the last identity, or in place of an empty value."""
        value = self.behind(key)
        event = self.events[value]
        pairs = list(self.pairs(value)) if isinstance(event, MappingStartEvent) else []
        if event.anchor is not None or (pairs and event.flow_style):
            raise _no_block(self.path, event.start_mark.line + 1)
        if pairs:
            first = self.line_of(self.events[pairs[0][0]].start_mark.index)
            indent = first[: len(first) - len(first.lstrip(" "))]
            ends = [self.events[n] for n in range(value + 1, after) if self.is_text(self.events[n])]
            at = max(one.end_mark.index for one in ends)
        elif event.start_mark.index == event.end_mark.index:
            at = self.events[key].end_mark.index  # nothing is there: before any comment of what follows
        else:
            at = self.without(event.start_mark.index, self.events[after - 1].end_mark.index)
        return self.insert(at, [_row(guid, name, indent) for guid, name in new.items()])

    @staticmethod
    def is_text(event: Event) -> bool:
        """Whether an event ends where its text ends; a block ends where the next thing begins."""
        return isinstance(event, ScalarEvent | AliasEvent) or (
            isinstance(event, MappingEndEvent | SequenceEndEvent)
            and event.end_mark.index > event.start_mark.index
        )

    def without(self, start: int, end: int) -> int:
        """Take an empty value out (``{}``, ``~``), and its line where nothing else is on it; returns its place."""
        if "#" in self.text[start:end]:
            raise _no_block(self.path, self.text.count("\n", 0, start) + 1)
        before, rest = self.text[:start], self.text[end:]
        if start < end and _BREAK.match(rest.lstrip(" ")) is not None:
            rest, before = rest.lstrip(" "), before.rstrip(" ")
            if before.endswith(("\n", "\r")):
                rest = _BREAK.sub("", rest, count=1)
        elif not rest.strip(" "):
            before, rest = before.rstrip(" \r\n"), ""
        self.text = before + rest
        return len(before)

    def line_of(self, at: int) -> str:
        return _BREAK.split(self.text[:at])[-1] + self.text[at:]

    def insert(self, at: int, rows: list[str]) -> str:
        """Rows at the beginning of a line, or behind the line a place is on."""
        before = self.text[:at]
        if before and not before.endswith(("\n", "\r")):
            found = _BREAK.search(self.text, at)
            at = found.end() if found is not None else len(self.text)
            before = self.text[:at]
            if found is None:
                before += self.ending
        return before + "".join(row + self.ending for row in rows) + self.text[at:]


def _row(guid: str, name: str, indent: str) -> str:
    if _PLAIN.match(name) and name.lower() not in _WORDS:
        return f"{indent}{guid}: {name}"
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{indent}{guid}: "{quoted}"'
