"""Which card of a host each word of a plan may mean: the readings, as tables, before anybody weighs them.

A spreadsheet says ``HCA-4``, ``4`` or ``ib3``; the discovery says ``mlx5_3``, and on some hosts (DGX, Selene) the
compute cards are mlx5_0, 3, 4, 9 and so on. As long as a host has other words than the plan, an equal word means
nothing by itself: mlx5_3 of a plan that counts 0 to 7 is the second compute card of a DGX called mlx5_3 by chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabricctl.cabling.directory import Directory
from fabricctl.discovery.names import name_key
from fabricctl.fabric import Node
from fabricctl.hostset import natural_key
from fabricctl.models import NodeModel

_NUMBERED = re.compile(r"(?:hca-?|ib ?port ?|port ?)?([0-9]{1,4})\Z", re.IGNORECASE)
_MLX = re.compile(r"mlx[45]_([0-9]{1,4})\Z")
Table = dict[str, str]
"""Planned word -> card name, both in lower case."""
Words = frozenset[str]

LITERAL = "were taken as"
MODEL = "were taken as the model says"
REST = "were matched by name, the rest in order, as"
ORDER = "were matched in order, as"
MODEL_ORDER = "were matched in the order of the model, as"
REVERSE = "were matched in reverse order, as"
PLACE = "were matched by where most hosts have them, as"


@dataclass(frozen=True)
class HostCards:
    """A host whose discovered cards have other words than its planned ones.

    :param nodes: its planned HCAs; :param cards: card name -> discovered HCAs of that name.
    """

    nodes: tuple[Node, ...]
    cards: Mapping[str, tuple[str, ...]]
    model: NodeModel | None
    words: Words
    seen: Words


def word_of(node: Node) -> str:
    """The planned word, as words are compared."""
    return (node.hca or "").lower()


def differing(
    planned: Iterable[Node],
    directory: Directory,
    models: Mapping[str, NodeModel],
    without: Iterable[str] = (),
) -> tuple[list[HostCards], Counter[Words]]:
    """Hosts whose words differ from the plan's, and how many hosts agree, by their words.

    :param planned: HCAs of the plan; one whose key is a discovered device is known by it and left out.
    :param models: host -> model; :param without: discovered cards that say no name of their own.
    """
    by_host: dict[str, list[Node]] = {}
    nodes, described, out = directory.seen.nodes, directory.described, set(without)
    for node in planned:
        if node.host and node.key not in nodes:
            by_host.setdefault(name_key(node.host), []).append(node)
    found: list[HostCards] = []
    agree: Counter[Words] = Counter()
    for own in by_host.values():
        host = own[0].host or ""
        words = frozenset(word_of(node) for node in own)
        cards: dict[str, tuple[str, ...]] = {}
        for card in directory.cards(host):
            if card.key not in out:
                name = (described[card.key].hca or "").lower()
                cards[name] = (*cards.get(name, ()), card.key)
        if not cards:
            continue
        if cards.keys() == words:
            agree[words] += 1
        else:
            found.append(HostCards(tuple(own), cards, models.get(host), words, frozenset(cards)))
    return found, agree


def by_group(hosts: Iterable[HostCards]) -> list[list[HostCards]]:
    """Hosts of the same planned words, cards and model stand together; the largest group first."""
    groups: dict[tuple[Words, Words, str], list[HostCards]] = {}
    for host in hosts:
        groups.setdefault((host.words, host.seen, host.model.name if host.model else ""), []).append(host)
    return sorted(groups.values(), key=lambda g: (-len(g), sorted(g[0].words), sorted(g[0].seen)))


def exact(words: Words) -> Table:
    """Every word is the card of that name."""
    return {word: word for word in words}


def natural_tables(words: Words, cards: Words, model: NodeModel | None) -> dict[str, Table]:
    """Readings that need no cabling: how -> table, without the empty ones."""
    found = {MODEL if model is not None else LITERAL: _literal(words, cards, model)}
    if model is not None:
        found[LITERAL] = _literal(words, cards, None)
    same = words & cards
    if len(words) == len(cards):
        found[ORDER] = _zip(words, cards)
        if model is not None:
            found[MODEL_ORDER] = _through_model(words, cards, model)
        if same:
            found[REST] = {**exact(same), **_zip(words - same, cards - same)}
        ordered = sorted(words, key=natural_key)
        found[REVERSE] = dict(zip(ordered, sorted(cards, key=natural_key)[::-1], strict=True))
    return {how: table for how, table in found.items() if table}


def as_model(words: Words, cards: Words, model: NodeModel | None) -> Table:
    """Numbers of a plan as the host's model names them, where the host shows these cards (dead or more ones apart)."""
    if model is None or not all(_NUMBERED.match(word) for word in words):
        return {}
    table = {word: card for word in words if (card := _model_card(word, model)) is not None}
    named = frozenset(table.values())
    return table if len(table) == len(words) and (named <= cards or cards <= named) else {}


def majority(pairs: Iterable[tuple[str, str]]) -> Table:
    """Word -> card name that most pairs give it; a card taken by a more frequent pair is not given twice."""
    table: Table = {}
    for (word, card), _ in Counter(pairs).most_common():
        if word not in table and card not in table.values():
            table[word] = card
    return table


def ordered(words: Words, cards: Words) -> Table:
    """The n-th word is the n-th card; empty where the numbers differ."""
    return _zip(words, cards) if len(words) == len(cards) else {}


def _zip(words: Words, cards: Words) -> Table:
    return dict(zip(sorted(words, key=natural_key), sorted(cards, key=natural_key), strict=True))


def _model_card(word: str, model: NodeModel) -> str | None:
    number = _NUMBERED.match(word)
    if number is None:
        return None
    n = int(number[1])
    return model.hcas[n - 1].lower() if 1 <= n <= len(model.hcas) else None


def _through_model(words: Words, cards: Words, model: NodeModel) -> Table:
    """Word -> card of the model -> the card of the host that stands at its place in order."""
    named = {word: _model_card(word, model) or word for word in words}
    known = frozenset(hca.lower() for hca in model.hcas)
    if len(known) != len(cards) or not known.issuperset(named.values()):
        return {}
    place = _zip(known, cards)
    return {word: place[card] for word, card in named.items()}


def _literal(words: Words, cards: Words, model: NodeModel | None) -> Table:
    """By the host's model, or n = mlx5_(n-1), the port mapping of NVIDIA's cable validation tool."""
    table: Table = {}
    taken: set[str] = set()
    for word in sorted(words, key=natural_key):
        card = next((name for name in (word, *_spellings(word, model)) if name in cards), None)
        if card is not None and card not in taken:
            table[word] = card
            taken.add(card)
    return table


def _spellings(word: str, model: NodeModel | None) -> Iterator[str]:
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
    mlx = _MLX.match(word)
    if mlx:
        yield f"hca-{int(mlx[1]) + 1}"
