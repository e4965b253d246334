"""Parser of UFM's REST answer to ``GET /ufmRest/resources/links``: a JSON list with one object per link.

Documents: "Links REST API", NVIDIA UFM Enterprise REST API Guide v6.11.1 and v6.19.3; a recorded entry with
node descriptions: ``plugins/UFM_NDT_Plugin/ufm_plugin_ndt/topoparse/data/ufm_samples/links.json``
(Mellanox/ufm_sdk_3.0). GUIDs have no ``0x``, port numbers are strings, the width is ``IB_4x`` or ``4x``, the speed
is not told. A switch's description carries ``:PORT`` at its end. An HCA's GUID in UFM's port names is that of
its port (the guide's ``port_guid`` and ``port_name`` of port 2 agree), so ``Node.guid`` of an HCA is None and
``port_guids`` holds it, as in ``fabricctl/discovery/portlines.py``.

The answer for one system (``?system=``) shows only its links: when one switch is an end of every link, only that
switch counts as listed, so that nobody takes its neighbours' other ports for down.
"""

from __future__ import annotations

import json
from typing import Any

from fabricctl.discovery.build import ObservationBuilder
from fabricctl.discovery.model import DiscoveryFormat, Observation
from fabricctl.discovery.portlines import guess_kind
from fabricctl.discovery.textlines import shown
from fabricctl.fabric import NodeKind, Port
from fabricctl.guid import parse_guid

_WANTED = ("source_guid", "source_port", "destination_guid", "destination_port")


def parse(text: str, path: str = "") -> Observation:
    """Read the whole text.

    :raises DiscoveryError: not JSON, not a list of links, or no link at all.
    """
    return _Reader(path).read(text)


class _Reader:
    def __init__(self, path: str) -> None:
        self.build = ObservationBuilder(path, DiscoveryFormat.UFM_LINKS)
        self.ends: list[tuple[Port, Port]] = []

    def read(self, text: str) -> Observation:
        line, at = 1, 0
        for entry, start in _entries(self.build, text):
            line += text.count("\n", at, start)
            at = start
            self.link(entry, line)
        if not self.ends:
            raise self.build.fail("the list of links is empty")
        self.one_system()
        return self.build.finish()

    def link(self, entry: Any, line: int) -> None:
        if not isinstance(entry, dict):
            raise self.build.fail(f"an entry is not an object with {', '.join(_WANTED)}", line)
        missing = [name for name in _WANTED if name not in entry]
        if missing:
            raise self.build.fail(f"a link without {', '.join(missing)}", line)
        near, far = self.end(entry, "source", line), self.end(entry, "destination", line)
        self.ends.append((near, far))
        self.build.half(near, far, None, line)
        self.build.half(far, near, None, line)

    def end(self, entry: dict[str, Any], side: str, line: int) -> Port:
        told, number = (_word(entry[f"{side}_{what}"]) for what in ("guid", "port"))
        guid = parse_guid(told)
        if guid is None:
            raise self.build.fail(f"{side}_guid {shown(told)} is not a GUID", line)
        if not number.isascii() or not number.isdecimal() or len(number) > 6:
            raise self.build.fail(f"{side}_port {shown(number)} is not a port number", line)
        label = _word(entry.get(f"{side}_port_dname")) or number
        description = _word(entry.get(f"{side}_port_node_description"))
        for suffix in (f":{label}", f":{number}"):
            description = description.removesuffix(suffix)
        draft = self.build.mention(guid, _kind(description, label), description, line, own=True)
        port = self.build.port(guid, int(number), line)
        if draft.kind is not NodeKind.SWITCH:
            draft.guid = None
            draft.port_guids = {**(draft.port_guids or {}), port.number: guid}
        return port

    def one_system(self) -> None:
        """When every link touches one switch, its neighbours are known by that link alone."""
        first, *rest = self.ends
        common = {first[0].node, first[1].node}
        for near, far in rest:
            common &= {near.node, far.node}
        if rest and len(common) == 1:
            for key, draft in self.build.drafts.items():
                draft.listed = key in common
            self.build.unread_told = True


def _word(value: object) -> str:
    """A text or whole number of the answer as text; empty for anything else, which no port has for a name."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _kind(description: str, label: str) -> NodeKind:
    """UFM calls a switch's port by its number or panel label, an HCA's ``HCA-1/2``."""
    guess = guess_kind(description)
    if guess is NodeKind.HCA or label.upper().startswith(("HCA", "MLX")):
        return NodeKind.HCA
    return NodeKind.SWITCH if label.replace("/", "").isdecimal() else NodeKind.UNKNOWN


def _entries(build: ObservationBuilder, text: str) -> list[tuple[Any, int]]:
    """The list's entries, each with where it starts in the text."""
    decoder = json.JSONDecoder()
    at = _blank(text, 1 if text[:1] == "\ufeff" else 0)
    if text[at : at + 1] != "[":
        found = text[at : at + 60]
        raise build.fail(f"expected a JSON list of links, found {found!r}", 1)
    entries: list[tuple[Any, int]] = []
    at = _blank(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            entry, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, at) + 1
            raise build.fail(f"not JSON, or cut: {error}", line) from error
        entries.append((entry, at))
        at = _blank(text, end)
        if text[at : at + 1] == ",":
            at = _blank(text, at + 1)
        elif text[at : at + 1] != "]":
            line = text.count("\n", 0, at) + 1
            raise build.fail("the JSON list has no end: the file is cut", line)
    if text[at + 1 :].strip():
        raise build.fail("there is more after the JSON list", text.count("\n", 0, at) + 1)
    return entries


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
