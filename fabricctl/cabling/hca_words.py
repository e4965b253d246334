"""Which card of a host is meant, where plan and discovery use other words for it.

A spreadsheet says ``HCA-4``, ``4`` or ``ib3``; the discovery says ``mlx5_3``, and on some hosts (DGX, Selene) the
compute cards are mlx5_0, 3, 4, 9 and so on. A host's model decides. Without one there are three ways to read the
words, each the same for the whole plan: literally (the n-th is mlx5_(n-1), the port mapping of NVIDIA's cable
validation tool), by order (the n-th word is the n-th card, on hosts that show as many cards as are planned), and by
place (the card that most hosts have in the port the plan gives to that word). The cabling itself votes: the way that
puts most cards where they are found wins, so a fault on a few hosts stays visible. Where no way explains even half of
the cards, a card is known only by the port it sits in; that crossed cards of one host cannot be seen is then a doubt.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.directory import Directory
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Node, Port
from fabricctl.hostset import natural_key
from fabricctl.models import NodeModel

_NUMBERED = re.compile(r"(?:hca-?|ib ?port ?|port ?)?([0-9]{1,4})\Z", re.IGNORECASE)
_MLX = re.compile(r"mlx[45]_([0-9]{1,4})\Z")
Cards = dict[str, str]
"""Planned HCA key -> discovered HCA key."""


def match_cards(
    binding: Binding, directory: Directory, models: Mapping[str, NodeModel], left: list[Node]
) -> None:
    """Bind planned HCAs whose host is seen but whose word is not.

    :param left: planned HCA nodes that no name matched; :param models: host -> model.
    """
    planned: dict[str, list[Node]] = defaultdict(list)
    for node in left:
        planned[name_key(node.host or "")].append(node)
    hosts = []
    for nodes in planned.values():
        free = {
            (directory.described[card.key].hca or "").lower(): card.key
            for card in directory.cards(nodes[0].host or "")
            if card.key not in binding.plan_of
        }
        if free:
            hosts.append(_Host(nodes, free, models.get(nodes[0].host or "")))
    if hosts:
        _Matcher(binding, directory, hosts).match()


def readings(
    directory: Directory, models: Mapping[str, NodeModel], left: list[Node], taken: Container[str]
) -> list[Cards]:
    """The ways to read words that need no cabling: literally (a host's model first), and by order.

    :param left: planned HCA nodes that no name matched; :param taken: discovered HCAs that are somebody already.
    """
    planned: dict[str, list[Node]] = defaultdict(list)
    for node in left:
        planned[name_key(node.host or "")].append(node)
    hosts = []
    for nodes in planned.values():
        name = nodes[0].host or ""
        free = {
            (directory.described[card.key].hca or "").lower(): card.key
            for card in directory.cards(name)
            if card.key not in taken
        }
        if free:
            hosts.append(_Host(nodes, free, models.get(name)))
    order = _majority(pair for host in hosts if host.model is None for pair in host.in_order())
    literal: Cards = {}
    ordered: Cards = {}
    for host in hosts:
        literal.update(host.literal())
        ordered.update(host.literal() if host.model is not None else host.by_name(order))
    return [literal] if ordered == literal else [literal, ordered]


class _Host:
    """One host: its planned HCAs, and its unbound discovered cards by name."""

    def __init__(self, nodes: list[Node], cards: dict[str, str], model: NodeModel | None) -> None:
        self.nodes, self.cards, self.model = nodes, cards, model

    def literal(self) -> Cards:
        """By the host's model, or n = mlx5_(n-1); a host with one nameless card needs no word."""
        if len(self.nodes) == len(self.cards) == 1:
            return {self.nodes[0].key: next(iter(self.cards.values()))}
        found: Cards = {}
        for node in self.nodes:
            key = next(
                (self.cards[word] for word in _words(node.hca or "", self.model) if word in self.cards), None
            )
            if key is not None and key not in found.values():
                found[node.key] = key
        return found

    def by_name(self, name_of: Mapping[str, str]) -> Cards:
        """By a table word -> card name."""
        named = (
            (node.key, self.cards.get(name_of.get((node.hca or "").lower(), "\0"))) for node in self.nodes
        )
        return {node: card for node, card in named if card is not None}

    def in_order(self) -> Iterator[tuple[str, str]]:
        """(word, card name) pairs, the n-th with the n-th; nothing where the numbers differ."""
        if len(self.nodes) == len(self.cards):
            words = sorted(((node.hca or "").lower() for node in self.nodes), key=natural_key)
            yield from zip(words, sorted(self.cards, key=natural_key), strict=True)


class _Matcher:
    def __init__(self, binding: Binding, directory: Directory, hosts: list[_Host]) -> None:
        self.binding, self.directory, self.hosts = binding, directory, hosts
        self.placed = [self._placed(host) for host in hosts]

    def match(self) -> None:
        modelled = [host.literal() for host in self.hosts if host.model is not None]
        self.accept(modelled, "were taken as the model says")
        pairs = [
            (host, placed) for host, placed in zip(self.hosts, self.placed, strict=True) if host.model is None
        ]
        if not pairs:
            return
        order = _majority(pair for host, _ in pairs for pair in host.in_order())
        place = _majority(pair for host, placed in pairs for pair in self._words_placed(host, placed))
        ways = (
            ("were taken as", [host.literal() for host, _ in pairs]),
            ("were matched in order, as", [host.by_name(order) for host, _ in pairs]),
            ("were matched by where most hosts have them, as", [host.by_name(place) for host, _ in pairs]),
        )
        total = sum(len(placed) for _, placed in pairs)
        votes = [self._votes(cards, [placed for _, placed in pairs]) for _, cards in ways]
        best = votes.index(max(votes))
        if 2 * votes[best] >= total:
            self.accept(ways[best][1], ways[best][0])
            return
        number = self.accept([placed for _, placed in pairs], "")
        words = ", ".join(
            sorted({node.hca or "?" for host, _ in pairs for node in host.nodes}, key=natural_key)[:4]
        )
        self.binding.doubts.append(
            f"{number:,} HCAs are known only by their host and the leaf port they are in: the plan's words "
            f"({words}) match no discovered card, so cards crossed within one host cannot be seen"
        )

    def _placed(self, host: _Host) -> Cards:
        """Whatever card of the right host sits in the planned switch port."""
        keys = set(host.cards.values())
        found: Cards = {}
        for node in host.nodes:
            own = Port(node.key, 1)
            link = self.binding.plan.fabric.links.get(own)
            far = link.other(own) if link is not None else None
            switch = self.binding.seen_of.get(far.node) if far is not None else None
            peer = (
                self.directory.seen.peer(Port(switch, far.number))
                if far is not None and switch is not None
                else None
            )
            if peer is not None and peer.node in keys and peer.node not in found.values():
                found[node.key] = peer.node
        return found

    def _words_placed(self, host: _Host, placed: Cards) -> Iterator[tuple[str, str]]:
        names = {key: name for name, key in host.cards.items()}
        for node in host.nodes:
            if node.key in placed:
                yield (node.hca or "").lower(), names[placed[node.key]]

    @staticmethod
    def _votes(ways: list[Cards], placed: list[Cards]) -> int:
        """How many cards a way puts where they are found."""
        return sum(
            where.get(key) == card
            for cards, where in zip(ways, placed, strict=True)
            for key, card in cards.items()
        )

    def accept(self, found: list[Cards], how: str) -> int:
        """Bind them; with ``how`` a note says which word was taken for which card."""
        said: set[str] = set()
        number = 0
        for planned, key in ((planned, key) for cards in found for planned, key in cards.items()):
            self.binding.pair(planned, key)
            number += 1
            card = self.directory.described[key].hca or "its only HCA"
            said.add(f"{self.binding.plan.fabric.nodes[planned].hca} = {card}")
        if how and said:
            kinds = sorted(said, key=natural_key)
            shown = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
            self.binding.notes.append(f"the plan's HCA words {how} ({shown}), on {number:,} HCAs")
        return number


def _majority(pairs: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Word -> card name that most pairs give it; a card taken by a more frequent pair is not given twice."""
    table: dict[str, str] = {}
    for (word, card), _ in Counter(pairs).most_common():
        if word not in table and card not in table.values():
            table[word] = card
    return table


def _words(word: str, model: NodeModel | None) -> Iterator[str]:
    """Spellings of one card, lower case, likeliest first."""
    number = _NUMBERED.match(word)
    if number:
        n = int(number[1])
        if model is not None:
            if 1 <= n <= len(model.hcas):
                yield model.hcas[n - 1].lower()
            return
        yield f"hca-{n}"
        yield f"mlx5_{n - 1}"
        yield str(n)
    mlx = _MLX.match(word.lower())
    if mlx:
        yield f"hca-{int(mlx[1]) + 1}"
