"""From half-links to an ``Observation``: what every discovery parser shares.

A discovery tells each cable from its ends, one line per end. ``ObservationBuilder`` takes those lines in file
order and decides at the end: two ends that name each other are one link; an end that is alone is a link with
``ends_seen=1`` and a doubt; ends that name different ports or rates are a contradiction naming both lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from fabricctl.discovery.model import (
    DiscoveryFormat,
    Observation,
    Problem,
    ProblemKind,
    Source,
    SubnetManager,
    is_aggregation_node,
)
from fabricctl.discovery.names import describe
from fabricctl.discovery.noise import complaint, is_noise
from fabricctl.discovery.textlines import shown
from fabricctl.errors import DiscoveryError
from fabricctl.fabric import Fabric, Link, LinkDetail, Node, NodeKind, Port, PortState
from fabricctl.rates import Rate


class Half(NamedTuple):
    """What one end says of its cable. :param line: 1-based line that says it."""

    peer: Port
    rate: Rate | None
    line: int
    could_be: Rate | None = None


_make = tuple.__new__
"""Makes a NamedTuple from a tuple: its own constructor takes twice as long, which half a million feel."""

PORTS_MAX = 254
"""Highest port number of a node (InfiniBand specification: 255 means "all ports")."""

PORT_COUNT_MAX = 255
"""Most ports a node can say it has (InfiniBand specification, NodeInfo:NumPorts: one byte)."""


@dataclass(slots=True)
class Draft:
    """A node while its lines are still coming in; the fields are those of ``fabricctl.fabric.Node``.

    :param line: the line that named it first; :param listed: one of its own lines was read.
    :param guid: its node GUID, None when the format tells only port GUIDs.
    """

    key: str
    kind: NodeKind
    description: str
    line: int
    guid: str | None
    listed: bool = False
    ports: int = 0
    lid: int | None = None
    system_guid: str | None = None
    device_id: int | None = None
    port_guids: dict[int, str] | None = None

    def node(self) -> Node:
        """Make the finished node, named by its description (its key when that names nobody)."""
        said = describe(self.kind, self.description)
        guids = tuple(sorted(self.port_guids.items())) if self.port_guids else ()
        return Node(  # positions, not names: a hundred thousand of these are made
            self.key,
            self.kind,
            said.name or self.key,
            self.guid,
            self.description,
            self.ports,
            said.host,
            said.hca,
            None,  # tier
            None,  # rail
            None,  # unit
            None,  # place
            said.model,
            self.device_id,
            self.system_guid,
            self.lid,
            self.listed,
            1,
            guids,
        )


class ObservationBuilder:
    """Collects nodes and half-links of one text and makes the ``Observation``.

    ``drafts`` and ``halves`` may be filled directly by a parser in a hurry; the methods check more.
    ``port`` hands out each ``Port`` once: making half a million twice costs more than reading the lines.

    :param path: the file as the operator wrote it, for messages and the source's label.
    :param form: which tool wrote it.
    :param lists_down_ports: the format has a line for a port that is down, so a port without any line is
        unknown, not down.
    """

    def __init__(self, path: str, form: DiscoveryFormat, *, lists_down_ports: bool = False) -> None:
        self.path = path
        self.form = form
        self.lists_down_ports = lists_down_ports
        self.drafts: dict[str, Draft] = {}
        self.halves: dict[Port, Half] = {}
        self.links: dict[Port, Link] = {}
        """Cables whose two ends were already seen to agree; the second half of such a cable is not kept."""
        self.states: dict[Port, tuple[PortState, int]] = {}
        self.problems: list[Problem] = []
        self.subnet_managers: list[SubnetManager] = []
        self.seen_from: str | None = None
        self.inactive: dict[str, list[int]] = {}
        """State of ports that are up but not Active -> lines that say so."""
        self.unread_told = False  # the parser itself said that nodes are not listed
        self._clashing: set[Port] = set()
        self._rows: dict[str, list[Port]] = {}

    # -- while reading ------------------------------------------------------------------------------------

    def fail(self, message: str, line: int = 0, *, hint: str = "") -> DiscoveryError:
        """Return the error to raise for a line."""
        return DiscoveryError(message, path=self.path, line=line, hint=hint)

    def not_understood(self, line: str, number: int, expected: str, *, last: bool = False) -> DiscoveryError:
        """Return the error for a line of unknown form; ``last``: nothing follows, not even a line end."""
        what = "the file is cut in this line" if last else "not understood"
        return self.fail(f"{what}: {shown(line)}; expected {expected}", number)

    def noise(self, line: str, number: int) -> bool:
        """Take a line of the tool's standard error as a doubt; False when it is not such a line."""
        if not is_noise(line):
            return False
        told = complaint(line, number)
        if told is not None:
            self.problems.append(told)
        return True

    def doubt(self, kind: ProblemKind, text: str, line: int = 0, nodes: tuple[str, ...] = ()) -> None:
        """Note a reason why this observation may not be the whole truth."""
        self.problems.append(Problem(kind, text, line, nodes))

    def port(self, node: str, number: int, line: int = 0) -> Port:
        """Return the one ``Port`` object of a node's port.

        :raises DiscoveryError: when the number cannot be a port number.
        """
        try:
            return self._rows[node][number]
        except (KeyError, IndexError):
            if not 0 <= number <= PORTS_MAX:
                text = f"port number {number} is not one of 1 to {PORTS_MAX}"
                raise self.fail(text, line) from None
        row = self._rows.setdefault(node, [])
        row.extend(Port(node, n) for n in range(len(row), number + 1))
        return row[number]

    def port_count(self, node: str, count: int, line: int) -> int:
        """Return how many ports a line says a node has.

        :raises DiscoveryError: when no node has so many.
        """
        if count > PORT_COUNT_MAX:
            text = f"{node} says it has {count:,} ports; a node has at most {PORT_COUNT_MAX}"
            raise self.fail(text, line)
        return count

    def mention(self, key: str, kind: NodeKind, description: str, line: int, *, own: bool = False) -> Draft:
        """Note that a line names a node; ``own`` when the line is one of the node's own.

        The first line wins; another kind or description later is a contradiction. A kind not told
        (``NodeKind.UNKNOWN``) or an empty description is filled in by a later line that tells.
        """
        draft = self.drafts.get(key)
        if draft is None:
            draft = Draft(key, kind, description, line, key, own)
            self.drafts[key] = draft
            return draft
        if own:
            draft.listed = True
        if draft.description != description and description:
            self._redescribe(draft, description, line)
        if draft.kind is not kind and kind is not NodeKind.UNKNOWN:
            if draft.kind is NodeKind.UNKNOWN:
                draft.kind = kind
            else:
                self._differs(draft, f"a {draft.kind} at line {draft.line} and a {kind}", line)
        return draft

    def _redescribe(self, draft: Draft, description: str, line: int) -> None:
        if not draft.description:
            draft.description = description
        else:
            self._differs(draft, f"{draft.description!r} at line {draft.line} and {description!r}", line)

    def _differs(self, draft: Draft, what: str, line: int) -> None:
        text = f"{draft.key} is called {what} at line {line}"
        self.doubt(ProblemKind.CONTRADICTION, text, line, (draft.key,))

    def half(
        self, port: Port, peer: Port, rate: Rate | None = None, line: int = 0, could_be: Rate | None = None
    ) -> None:
        """Note that ``port``'s own line says it is cabled to ``peer``."""
        joined = self.links.get(port)
        if joined is not None:
            self.halves.setdefault(port, Half(joined.other(port), joined.rate, joined.line))
        half: Half = _make(Half, (peer, rate, line, could_be))
        earlier = self.halves.setdefault(port, half)
        if earlier is half:
            return
        if earlier[0] != peer:
            self._clash(port, earlier, port, half)
        elif earlier[1] != rate:
            self._rates(port, half, earlier)

    def down(self, port: Port, state: PortState, line: int) -> None:
        """Note that ``port``'s own line says it carries no link."""
        self.states.setdefault(port, (state, line))

    def show(self, port: Port) -> str:
        """``name/port`` with the description's name, the key when it has none."""
        draft = self.drafts.get(port.node)
        name = describe(draft.kind, draft.description).name if draft is not None else ""
        return f"{name or port.node}/{port.number}"

    # -- at the end ---------------------------------------------------------------------------------------

    def finish(self) -> Observation:
        """Pair the half-links and return the observation.

        :raises DiscoveryError: when no node was read.
        """
        if not self.drafts:
            raise self.fail(
                f"no node found in what looks like {self.form} output",
                hint="was the discovery cut short, or run on a host without the fabric?",
            )
        fabric = Fabric(links=self.links, origin=self.path)
        dropped = self._drop_aggregation_nodes(fabric)
        self._pair(fabric)
        for port, (state, line) in self.states.items():
            self._settle_state(fabric, port, state, line)
        self._number_ports(fabric)
        fabric.nodes = {key: draft.node() for key, draft in self.drafts.items()}
        unread = [draft for draft in self.drafts.values() if not draft.listed]
        if unread and not self.unread_told:
            self._tell_unread(unread)
        self._tell_inactive()
        self.problems.sort(key=lambda problem: problem.line)
        source = Source(self.path, self.form, len(fabric.nodes), fabric.link_count, self.seen_from)
        return Observation(
            fabric=fabric,
            sources=[source],
            problems=self.problems,
            subnet_managers=self.subnet_managers,
            aggregation_nodes=dropped,
            lists_down_ports=self.lists_down_ports,
        )

    def _drop_aggregation_nodes(self, fabric: Fabric) -> int:
        """Take aggregation nodes and their half-links out; the switch port behind one is not a cable port."""
        gone = {k for k, draft in self.drafts.items() if is_aggregation_node(draft.kind, draft.description)}
        if not gone:
            return 0
        for key in gone:
            del self.drafts[key]
        inner = [port for port, link in self.links.items() if link.a.node in gone or link.b.node in gone]
        for port in inner:
            del self.links[port]
            if port.node not in gone:
                fabric.states[port] = PortState.UNKNOWN
        inner = [port for port, half in self.halves.items() if port.node in gone or half[0].node in gone]
        for port in inner:
            for end in (port, self.halves.pop(port)[0]):
                if end.node not in gone:
                    fabric.states[end] = PortState.UNKNOWN
        self.states = {port: told for port, told in self.states.items() if port.node not in gone}
        return len(gone)

    def _pair(self, fabric: Fabric) -> None:
        links, halves = fabric.links, self.halves
        lonely: list[tuple[Port, Half]] = []
        make = _make
        for port, half in halves.items():
            if port in links:
                continue  # told by the other end already
            peer, rate, line, could_be = half
            back = halves.get(peer)
            if back is None or back[0] != port:
                lonely.append((port, half))
                continue
            if back[1] != rate:
                rate = self._rates(port, half, back) if rate and back[1] else rate or back[1]
            if could_be is None:
                could_be = back[3]
            detail = None if could_be is None else LinkDetail(could_be)
            links[port] = links[peer] = make(Link, (port, peer, rate, line, 1, 2, detail))
        for port, half in lonely:
            self._one_ended(fabric, port, half)

    def _one_ended(self, fabric: Fabric, port: Port, half: Half) -> None:
        """Only one end tells of the link: keep it when the other end is free, say why it is alone."""
        links, (peer, rate, line, could_be) = fabric.links, half
        back = self.halves.get(peer)
        if back is None and peer in links:
            taken = links[peer]
            back = Half(taken.other(peer), None, taken.line)
        if back is not None:
            self._clash(port, half, peer, back)
            fabric.states[port] = PortState.UNKNOWN
            return
        detail = None if could_be is None else LinkDetail(could_be)
        links[port] = links[peer] = Link(port, peer, rate, line, 1, 1, detail)
        far = self.drafts.get(peer.node)
        if far is None:
            self.mention(peer.node, NodeKind.UNKNOWN, "", line)
        elif far.listed and peer not in self.states:
            says = f"{self.show(port)} is cabled to {self.show(peer)}"
            text = f"{says} (line {line}), which does not list it"
            self.doubt(ProblemKind.ONE_SIDED, text, line, (port.node, peer.node))

    def _clash(self, port: Port, half: Half, other: Port, back: Half) -> None:
        """Two lines give one port two cables: ``port`` its ``half`` and ``other`` its ``back``."""
        if port in self._clashing:
            return
        self._clashing.update((port, other))
        says = f"{self.show(port)} is cabled to {self.show(half[0])} (line {half[2]})"
        denies = f"{self.show(other)} is cabled to {self.show(back[0])} (line {back[2]})"
        nodes = tuple(dict.fromkeys((port.node, half[0].node, other.node, back[0].node)))
        line = max(half[2], back[2])
        self.doubt(ProblemKind.CONTRADICTION, f"{says}, but {denies}", line, nodes)

    def _rates(self, port: Port, half: Half, back: Half) -> Rate | None:
        """Two lines name different rates of one cable: note it and return the lower one."""
        first, second = (half, back) if half[2] <= back[2] else (back, half)
        text = (
            f"the cable of {self.show(port)} runs at {first[1]} by line {first[2]} "
            f"and at {second[1]} by line {second[2]}"
        )
        nodes = tuple(dict.fromkeys((port.node, half[0].node, back[0].node)))
        self.doubt(ProblemKind.RATES_DIFFER, text, second[2], nodes)
        rates = [rate for rate in (first[1], second[1]) if rate is not None]
        return min(rates, key=lambda rate: rate.gbps) if rates else None

    def _settle_state(self, fabric: Fabric, port: Port, state: PortState, line: int) -> None:
        """A port said to carry no link: contradicted when another line cables it."""
        link = fabric.links.get(port)
        if link is None:
            fabric.states.setdefault(port, state)
            return
        far = link.other(port)
        says = f"{self.show(port)} is {state} by line {line}"
        text = f"{says}, but cabled to {self.show(far)} by line {link.line}"
        self.doubt(ProblemKind.CONTRADICTION, text, line, tuple(dict.fromkeys((port.node, far.node))))

    def _number_ports(self, fabric: Fabric) -> None:
        """Where every port has a line: count ports, and call those in a gap unknown instead of down."""
        if not self.lists_down_ports:
            return
        numbers: dict[str, set[int]] = {}
        for node, number in chain(self.halves, self.states):
            numbers.setdefault(node, set()).add(number)
        for key, told in numbers.items():
            draft = self.drafts.get(key)
            if draft is None or not draft.listed:
                continue
            draft.ports = max(draft.ports, max(told))
            for number in set(range(1, draft.ports + 1)) - told:
                fabric.states.setdefault(Port(key, number), PortState.UNKNOWN)
        for key in self.drafts.keys() - numbers.keys():
            self.drafts[key].listed = False  # a header without its ports: what follows is cut or filtered

    def _tell_inactive(self) -> None:
        """One problem for all ports that carry a link nobody can use."""
        if self.inactive:
            counts = ", ".join(f"{len(lines):,} {state}" for state, lines in self.inactive.items())
            first = min(lines[0] for lines in self.inactive.values())
            text = f"ports are up but not Active: {counts} (first at line {first})"
            self.doubt(ProblemKind.INACTIVE, text, first)

    def _tell_unread(self, unread: list[Draft]) -> None:
        """One doubt for all nodes that only their neighbours name."""
        unread.sort(key=lambda draft: draft.line)
        shown = [
            f"{describe(draft.kind, draft.description).name or draft.key} (line {draft.line})"
            for draft in unread[:3]
        ]
        more = [f"{len(unread) - 3} more"] if len(unread) > 3 else []
        what = "1 node is" if len(unread) == 1 else f"{len(unread)} nodes are"
        text = f"{what} named by neighbours, but none of its own lines is there: {', '.join(shown + more)}"
        if len(unread) > 1:
            text = text.replace("none of its own", "none of their own")
        keys = tuple(draft.key for draft in unread)
        self.doubt(ProblemKind.UNREAD_NODE, text, unread[0].line, keys)
