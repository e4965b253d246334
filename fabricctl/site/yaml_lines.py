"""YAML text to plain values, remembering on which line each key stands.

The text is read event by event: no object is ever built from a tag, an alias is the same value again (so a
few lines of nested aliases stay a few values), depth and size are bounded, and a key written twice is an
error with both lines. Plain scalars stay text (:class:`Plain`): ``0x9c05...`` as a key stays a GUID,
``no`` stays a word, ``012`` keeps its zero; whoever knows the expected type converts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from fabricctl.errors import SiteError

MAX_CHARS = 16 << 20
"""Site files are read in pure Python at about a megabyte a second; a longer text is not one."""
MAX_DEPTH = 40
MAX_VALUES = 500_000
"""Values after following every alias; the site file of a 100,000-GPU cluster with a line per host fits."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?\Z")

KeyPath = tuple[str | int, ...]


@dataclass
class Marks:
    """Lines inside one mapping or list, 0-based, named as ruamel.yaml's ``lc`` names them.

    :param line: where it begins; :param data: key or index -> (line,).
    """

    line: int
    data: dict[str | int, tuple[int]] = field(default_factory=dict)


class LineMap(dict[str, object]):
    """A mapping that knows its lines."""

    lc: Marks


class LineList(list[object]):
    """A list that knows its lines."""

    lc: Marks


class Plain(str):
    """Text written without quotes, so a number or a truth value where one is expected."""

    __slots__ = ()


@dataclass
class Document:
    """One YAML document.

    :param data: nested :class:`LineMap`, :class:`LineList`, str, :class:`Plain` and None.
    """

    data: object = None

    def line_of(self, path: KeyPath) -> int:
        """1-based line of a key (a list item's own line), or of its nearest written parent; else 1."""
        here, line = self.data, 0
        for key in path:
            if not isinstance(here, LineMap | LineList) or key not in here.lc.data:
                break
            line = here.lc.data[key][0]
            here = here[key]  # type: ignore[index]  # an index where lc.data says so
        return line + 1


def read_yaml(text: str, path: str) -> Document:
    """Read one document.

    :param path: for messages only.
    :raises SiteError: wrong syntax, a key twice, a tag, too deep, too large, several documents.
    """
    if len(text) > MAX_CHARS:
        raise SiteError(f"expected a site file, found {len(text):,} characters of text", path=path)
    try:
        return _Builder(path).build(YAML(typ="safe", pure=True).parse(text))
    except YAMLError as exc:
        raise _syntax_error(exc, text, path) from exc
    except (ValueError, OverflowError) as exc:  # an escape such as "\UFFFFFFFF" names no character
        raise SiteError(f"not readable as YAML: {exc}", path=path) from exc


def typed(value: object) -> object:
    """The value with plain scalars turned into int, float or bool where they look so (YAML 1.2 core).

    Mappings and lists keep their lines.
    """
    if isinstance(value, LineMap):
        mapping = LineMap((str(key), typed(item)) for key, item in value.items())
        mapping.lc = value.lc
        return mapping
    if isinstance(value, LineList):
        items = LineList(typed(item) for item in value)
        items.lc = value.lc
        return items
    if not isinstance(value, Plain):
        return value
    if value in _BOOLS:
        return _BOOLS[value]
    if _INT.match(value):
        return int(value)
    return float(value) if _FLOAT.match(value) else str(value)


@dataclass
class _Open:
    """A mapping or list under construction."""

    value: LineMap | LineList
    anchor: str | None
    weight: int = 1
    key: str | None = None


class _Builder:
    """Turns events into a Document; an explicit stack, so depth costs no recursion."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.document = Document()
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[object, int]] = {}
        self.documents = 0

    def build(self, events: Iterator[Event]) -> Document:
        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    raise self._error("expected one YAML document, found a second one ('---')", line)
            elif isinstance(event, MappingStartEvent | SequenceStartEvent):
                self._open(event, line)
            elif isinstance(event, MappingEndEvent | SequenceEndEvent):
                done = self.stack.pop()
                self._anchored(done.anchor, done.value, done.weight)
                self._attach(done.value, done.weight, line)
            elif isinstance(event, ScalarEvent):
                self._scalar(event, line)
            elif isinstance(event, AliasEvent):
                self._alias(event, line)
        return self.document

    def _error(self, message: str, line: int) -> SiteError:
        return SiteError(message, path=self.path, line=line)

    def _open(self, event: MappingStartEvent | SequenceStartEvent, line: int) -> None:
        self._refuse_tag(event.tag, line)
        self._begin_value(line)
        if len(self.stack) >= MAX_DEPTH:
            raise self._error(f"expected at most {MAX_DEPTH} levels of nesting, found more", line)
        value = LineMap() if isinstance(event, MappingStartEvent) else LineList()
        value.lc = Marks(line - 1)
        self.stack.append(_Open(value, event.anchor))

    def _scalar(self, event: ScalarEvent, line: int) -> None:
        self._refuse_tag(event.tag, line)
        plain = event.style is None or event.style == ""
        text = str(event.value)
        if self._wants_key():
            self._key(text, line)
            return
        self._begin_value(line)
        value = None if plain and text in _NULLS else Plain(text) if plain else text
        self._anchored(event.anchor, value, 1)
        self._attach(value, 1, line)

    def _alias(self, event: AliasEvent, line: int) -> None:
        if event.anchor not in self.anchors:
            raise self._error(
                f"alias '*{event.anchor}' has no finished anchor '&{event.anchor}' above it", line
            )
        value, weight = self.anchors[event.anchor]
        self._begin_value(line)
        self._attach(value, weight, line)

    def _wants_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, LineMap) and self.stack[-1].key is None

    def _key(self, key: str, line: int) -> None:
        top = self.stack[-1]
        lines = top.value.lc.data
        if key == "<<":
            raise self._error("merge keys (<<) are not used in a site file; write the keys out", line)
        if key in lines:
            raise self._error(f"key {key!r} is written twice, first on line {lines[key][0] + 1}", line)
        top.key = key
        lines[key] = (line - 1,)

    def _begin_value(self, line: int) -> None:
        """A value starts here: note a list item's line; a mapping must have had its key."""
        if not self.stack:
            return
        top = self.stack[-1]
        if isinstance(top.value, LineList):
            top.value.lc.data[len(top.value)] = (line - 1,)
        elif top.key is None:
            raise self._error("expected a word as key, found a list, a mapping or an alias", line)

    def _attach(self, value: object, weight: int, line: int) -> None:
        if not self.stack:
            self.document.data = value
            return
        top = self.stack[-1]
        top.weight += weight
        if top.weight > MAX_VALUES:
            raise self._error(
                f"expected at most {MAX_VALUES:,} values, found more once aliases are followed", line
            )
        if isinstance(top.value, LineList):
            top.value.append(value)
        else:
            assert top.key is not None
            top.value[top.key] = value
            top.key = None

    def _anchored(self, anchor: str | None, value: object, weight: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = (value, weight)

    def _refuse_tag(self, tag: object, line: int) -> None:
        if tag is not None and str(tag) != "!":
            raise self._error(f"tags are not used in a site file, found {str(tag)!r}", line)


def _syntax_error(exc: YAMLError, text: str, path: str) -> SiteError:
    """One line of the YAML reader's several, with the usual cause as hint."""
    if isinstance(exc, ReaderError):
        line = text.count("\n", 0, exc.position) + 1
        return SiteError("a control character is not allowed in YAML", path=path, line=line)
    if not isinstance(exc, MarkedYAMLError):
        return SiteError(f"not readable as YAML: {exc}", path=path)
    mark = exc.problem_mark or exc.context_mark
    line = 0 if mark is None else mark.line + 1
    lines = text.splitlines()
    source = lines[line - 1] if 0 < line <= len(lines) else ""
    hint = ""
    if "\t" in source[: len(source) - len(source.lstrip())]:
        hint = "the line is indented with a tab; YAML wants spaces"
    elif "{" in source and "[" in source:
        hint = 'inside { } a host set needs quotes: "gpu[001-008]"'
    what = ", ".join(part for part in (exc.context, exc.problem) if part)
    return SiteError(f"not readable as YAML: {what}", path=path, line=line, hint=hint)
