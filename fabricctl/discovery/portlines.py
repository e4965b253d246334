"""From lines that tell one port each to an ``Observation``: ``ibnetdiscover -p`` and both ``iblinkinfo`` forms.

These formats print **port** GUIDs. A switch's port GUID is its node GUID in all captures known; an HCA's is
not (two-port HCAs; simulated ones). So an HCA is keyed by the port GUID of its first port, ``Node.guid`` is
None, and ``Node.port_guids`` holds what was printed: a merge with another source goes through
``port_guids``. Ports of one HCA are recognised by the tools' loop over a node's ports: lines that follow each
other, same description, another port number, and a GUID that differs by as much as the port number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from fabricctl.discovery.build import Draft, ObservationBuilder
from fabricctl.discovery.model import AGGREGATION_NODE, ProblemKind
from fabricctl.discovery.names import describe
from fabricctl.fabric import NodeKind, PortState
from fabricctl.rates import Rate


class End(NamedTuple):
    """The far end as a line names it.

    :param guid: port GUID, None when the line names only the LID.
    :param description: exactly as printed; :param lid: 0 when the port has none.
    """

    number: int
    guid: str | None
    description: str
    lid: int
    kind: NodeKind = NodeKind.UNKNOWN


class PortLine(NamedTuple):
    """One port's line.

    :param line: 1-based; :param guid: port GUID; :param kind: UNKNOWN when the format does not tell.
    :param state: why there is no ``peer``, None when there is one.
    :param block: number of the block the line stands in, 0 when the format has no blocks.
    """

    line: int
    kind: NodeKind
    guid: str
    description: str
    lid: int
    number: int
    rate: Rate | None
    state: PortState | None
    peer: End | None
    could_be: Rate | None = None
    block: int = 0


def guess_kind(description: str) -> NodeKind:
    """HCA when a description ends in an HCA's name (``gpu001 mlx5_3``) or is an aggregation node's."""
    if description.strip() == AGGREGATION_NODE or describe(NodeKind.HCA, description).hca:
        return NodeKind.HCA
    return NodeKind.UNKNOWN


def tell_kinds(lines: list[PortLine]) -> dict[str, NodeKind]:
    """Port GUID -> kind, for a format that prints none.

    Every port of a switch prints the switch's one GUID, every port of an HCA or router its own: so a GUID
    with several port numbers is a switch. A GUID whose only line is port 1 or 2 is an HCA.
    """
    one: dict[str, int] = {}
    kinds: dict[str, NodeKind] = {}
    names: dict[str, str] = {}
    for told in lines:
        guid = told.guid
        if one.setdefault(guid, told.number) != told.number:
            kinds[guid] = NodeKind.SWITCH
        peer = told.peer
        if peer is not None and peer.guid is not None:
            if one.setdefault(peer.guid, peer.number) != peer.number:
                kinds[peer.guid] = NodeKind.SWITCH
            elif peer.guid not in kinds:
                names[peer.guid] = peer.description
    for told in lines:
        if told.guid not in kinds:
            guess = guess_kind(told.description)
            kinds[told.guid] = NodeKind.HCA if told.number <= 2 else guess
    for guid, description in names.items():
        if guid not in kinds:
            kinds[guid] = guess_kind(description)
    return kinds


class Assembler:
    """Puts port lines into a builder.

    Own lines come first, so that every GUID and LID is known when neighbours are looked up.

    :param kinds: port GUID -> kind, for a format that does not print it; else the lines' own word counts.
    """

    def __init__(self, build: ObservationBuilder, kinds: dict[str, NodeKind] | None = None) -> None:
        self.build = build
        self.kinds = kinds or {}
        self.key_of: dict[str, str] = {}
        self.by_lid: dict[int, str] = {}
        self.shared_lids: set[int] = set()
        self.by_name: dict[str, list[str]] | None = None

    def add(self, lines: Iterable[PortLine]) -> None:
        """Take all lines of a text.

        :raises DiscoveryError: a port number out of range.
        """
        lines = list(lines)
        before: PortLine | None = None
        for told in lines:
            if before is None or told.guid != before.guid or told[3:5] != before[3:5]:
                self._own(told, before)
            before = told
        build, key_of = self.build, self.key_of
        for told in lines:
            port = build.port(key_of[told.guid], told.number, told.line)
            peer = told.peer
            if peer is None:
                build.down(port, told.state or PortState.UNKNOWN, told.line)
                continue
            far = build.port(self._far(peer, told.line), peer.number, told.line)
            build.half(port, far, told.rate, told.line, told.could_be)
        if not build.halves:
            self._down_only()

    def _own(self, told: PortLine, before: PortLine | None) -> None:
        key = self.key_of.get(told.guid)
        if key is None:
            key = self.key_of[told.guid] = self._node_of(told, before)
        draft = self.build.drafts.get(key)
        if draft is None or not draft.listed or draft.description != told.description:
            kind = self.kinds.get(told.guid, told.kind)
            draft = self.build.mention(key, kind, told.description, told.line, own=True)
        if draft.kind is not NodeKind.SWITCH:
            draft.guid = None
            _add_port_guid(draft, told.number, told.guid)
        if told.lid and draft.lid != told.lid:
            if draft.lid is None:
                draft.lid = told.lid
            if self.by_lid.setdefault(told.lid, key) != key:
                self.shared_lids.add(told.lid)

    def _node_of(self, told: PortLine, before: PortLine | None) -> str:
        """The node of a port GUID seen for the first time: that of the line before when it is the same HCA."""
        if (
            before is None
            or told.kind is not before.kind
            or self.kinds.get(told.guid, told.kind) is NodeKind.SWITCH
            or self.kinds.get(before.guid, before.kind) is NodeKind.SWITCH
            or told.description != before.description
            or told.number == before.number
            or told.block != before.block
        ):
            return told.guid
        apart = int(told.guid, 16) - int(before.guid, 16)
        if told.block or apart == told.number - before.number:
            return self.key_of[before.guid]
        return told.guid

    def _far(self, peer: End, line: int) -> str:
        """Key of the node at the far end, made known when it has no lines of its own."""
        build = self.build
        key = self._by_lid(peer) if peer.guid is None else self.key_of.setdefault(peer.guid, peer.guid)
        draft = build.drafts.get(key)
        if draft is None:
            kind = self.kinds.get(key, peer.kind)
            kind = guess_kind(peer.description) if kind is NodeKind.UNKNOWN else kind
            draft = build.mention(key, kind, peer.description, line)
            if kind is not NodeKind.SWITCH:
                draft.guid = None
            draft.lid = peer.lid or None
        elif draft.description != peer.description:
            self._same_name(draft, peer, line)
        if not draft.listed and draft.kind is not NodeKind.SWITCH and peer.guid is not None:
            _add_port_guid(draft, peer.number, peer.guid)
        return key

    def _same_name(self, draft: Draft, peer: End, line: int) -> None:
        """``iblinkinfo -l`` pads a port's own description, not its neighbour's: the neighbour's is exact."""
        if draft.description.strip() == peer.description.strip():
            draft.description = peer.description
        else:
            self.build.mention(draft.key, draft.kind, peer.description, line)

    def _by_lid(self, peer: End) -> str:
        """Look a neighbour up by LID, or by its description when no LID is assigned or two nodes claim it.

        ``lid:N`` (without a LID ``name:DESCRIPTION``) is the key of one that has no lines of its own.
        """
        key = self.by_lid.get(peer.lid)
        if key is not None and peer.lid not in self.shared_lids:
            return key
        if key is None and peer.lid:
            return f"lid:{peer.lid}"
        if self.by_name is None:
            self.by_name = {}
            for draft in self.build.drafts.values():
                self.by_name.setdefault(draft.description, []).append(draft.key)
        named = self.by_name.get(peer.description, [])
        return named[0] if len(named) == 1 else f"name:{peer.description}"

    def _down_only(self) -> None:
        """``iblinkinfo -d`` lists ports that are down and nothing else: no node is known in full."""
        drafts = self.build.drafts
        for key, draft in drafts.items():
            drafts[key] = replace(draft, listed=False)
        if drafts:
            text = "only ports that are down are listed (iblinkinfo -d?): the cables are not known"
            self.build.doubt(ProblemKind.UNREAD_NODE, text, 1, tuple(drafts))
            self.build.unread_told = True


def _add_port_guid(draft: Draft, number: int, guid: str) -> None:
    if draft.port_guids is None:
        draft.port_guids = {number: guid}
    else:
        draft.port_guids.setdefault(number, guid)
