"""Which card of a host is meant, where plan and discovery use other words for it.

A spreadsheet says ``HCA-4``, ``4`` or ``ib3``; the discovery says ``mlx5_3``, and on some hosts (DGX, Selene) the
compute cards are mlx5_0, 3, 4, 9 and so on. Tried in this order, for the whole plan at once: the host's model; the
literal rule (n-th is mlx5_(n-1), the port mapping of NVIDIA's cable validation tool) where it names every card;
the order of the words against the order of the cards. An order that the cabling itself contradicts on most hosts is
not believed: then a card is only known by the leaf port it is found in, and that crossed cards of one host cannot be
seen is said as a doubt.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from fabricctl.cabling.bind import Binding
from fabricctl.discovery.names import short_key
from fabricctl.fabric import Fabric, Node, Port
from fabricctl.hostset import natural_key
from fabricctl.models import NodeModel

_NUMBERED = re.compile(r"(?:hca-?|ib ?port ?|port ?)?(\d+)\Z", re.IGNORECASE)
_MLX = re.compile(r"mlx[45]_(\d+)\Z")
Cards = dict[str, str]
"""Planned HCA key -> discovered HCA key, of one host or of many."""


def match_cards(binding: Binding, seen: Fabric, models: Mapping[str, NodeModel], left: list[Node]) -> None:
    """Bind planned HCAs whose host is seen but whose word is not.

    :param left: planned HCA nodes that no name matched; :param models: host -> model.
    """
    free: dict[str, list[Node]] = defaultdict(list)
    for node in seen.hcas():
        if node.host and node.key not in binding.plan_of:
            free[short_key(node.host)].append(node)
    planned: dict[str, list[Node]] = defaultdict(list)
    for node in left:
        host = short_key(node.host or "")
        if host in free:
            planned[host].append(node)
    if planned:
        _Matcher(binding, seen, models).match(planned, free)


class _Matcher:
    def __init__(self, binding: Binding, seen: Fabric, models: Mapping[str, NodeModel]) -> None:
        self.binding, self.seen, self.models = binding, seen, models

    def match(self, planned: Mapping[str, list[Node]], free: Mapping[str, list[Node]]) -> None:
        literal = {host: self.literal(nodes, free[host]) for host, nodes in planned.items()}
        whole = [host for host, nodes in planned.items() if len(nodes) == len(free[host])]
        complete = sum(len(literal[host]) == len(planned[host]) for host in whole)
        if 2 * complete >= len(whole) and any(literal.values()):
            self.accept(literal, "were taken as")
            return
        ordered = {host: self.ordered(planned[host], free[host]) for host in whole}
        placed = {host: self.placed(nodes, free[host]) for host, nodes in planned.items()}
        total = sum(map(len, ordered.values()))
        agree = sum(
            placed[host].get(key) == card for host, cards in ordered.items() for key, card in cards.items()
        )
        if total and 2 * agree >= total:
            rest = {host: cards for host, cards in placed.items() if host not in ordered}
            self.accept(ordered | rest, "were matched in order, as")
            return
        number = self.accept(placed, "")
        if number:
            words = ", ".join(
                sorted({n.hca or "?" for nodes in planned.values() for n in nodes}, key=natural_key)[:4]
            )
            self.binding.doubts.append(
                f"{number:,} HCAs are known only by their host and the leaf port they are in: the plan's words "
                f"({words}) match no discovered card, so cards crossed within one host cannot be seen"
            )

    def literal(self, nodes: list[Node], cards: list[Node]) -> Cards:
        """By the host's model, or n = mlx5_(n-1)."""
        by_word = {(card.hca or "").lower(): card.key for card in cards}
        if len(nodes) == len(cards) == 1 and "" in by_word:
            return {nodes[0].key: cards[0].key}  # a host whose only card has no name of its own
        found: Cards = {}
        for node in nodes:
            model = self.models.get(node.host or "") or self.models.get((node.host or "").partition(".")[0])
            key = next((by_word[word] for word in _words(node.hca or "", model) if word in by_word), None)
            if key is not None and key not in found.values():
                found[node.key] = key
        return found

    @staticmethod
    def ordered(nodes: list[Node], cards: list[Node]) -> Cards:
        """The n-th word is the n-th card."""
        words = sorted(nodes, key=lambda node: natural_key(node.hca or ""))
        names = sorted(cards, key=lambda card: natural_key(card.hca or card.key))
        return {node.key: card.key for node, card in zip(words, names, strict=True)}

    def placed(self, nodes: list[Node], cards: list[Node]) -> Cards:
        """Whatever card of the right host sits in the planned switch port."""
        keys = {card.key for card in cards}
        found: Cards = {}
        for node in nodes:
            link = self.binding.plan.fabric.links.get(Port(node.key, 1))
            far = link.other(Port(node.key, 1)) if link is not None else None
            switch = self.binding.seen_of.get(far.node) if far is not None else None
            peer = (
                self.seen.peer(Port(switch, far.number)) if far is not None and switch is not None else None
            )
            if peer is not None and peer.node in keys and peer.node not in found.values():
                found[node.key] = peer.node
        return found

    def accept(self, cards: Mapping[str, Cards], how: str) -> int:
        """Bind them; with ``how`` a note says which word was taken for which card."""
        said: set[str] = set()
        number = 0
        for matched in cards.values():
            for planned, key in matched.items():
                self.binding.pair(planned, key)
                number += 1
                word, card = self.binding.plan.fabric.nodes[planned].hca, self.seen.nodes[key].hca
                said.add(f"{word} = {card or 'its only HCA'}")
        if how and said:
            kinds = sorted(said, key=natural_key)
            shown = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
            self.binding.notes.append(f"the plan's HCA words {how} ({shown}), on {number:,} HCAs")
        return number


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
