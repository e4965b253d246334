"""Which card of a host is meant, where plan and discovery use other words for it.

A host's model decides, where the plan numbers its cards and the host shows what the model lists. Else the readings
of ``card_tables`` are weighed by the cabling: hosts with the same planned words and the same cards are read alike, and
the reading that puts clearly most of their cards where they are found is taken, and said. So a fault on a few hosts
stays visible, and another naming is no fault. Where no reading is clearly the best, nothing of these cards is judged
but what sits in its planned leaf port: that crossed cards of one host cannot be seen is then a doubt.

Two cases lean on what is known already: where the host only shows more cards than planned or fewer, equal names hold
unless another reading is clearly better; and one or two hosts with words of their own (a dead card more) are read as
the many are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabricctl.cabling.binding import Binding, Undecided
from fabricctl.cabling.card_tables import (
    LITERAL,
    MODEL,
    ORDER,
    PLACE,
    HostCards,
    Table,
    Words,
    as_model,
    by_group,
    exact,
    majority,
    natural_tables,
    ordered,
    word_of,
)
from fabricctl.cabling.directory import Directory
from fabricctl.fabric import Port
from fabricctl.hostset import fold, natural_key

FEW = 3
"""From this many hosts on a group's cabling may say by itself what its words mean."""
SECOND = 0.75
"""A reading is clearly the best when the next fits no more than this share of the cables it fits."""
_SAME = ""
Cards = dict[str, str]
"""Planned HCA key -> discovered HCA key."""


@dataclass
class _Reading:
    how: str
    table: Table
    votes: int = 0


def match_cards(
    binding: Binding, directory: Directory, hosts: Sequence[HostCards], agree: Counter[Words]
) -> None:
    """Bind the planned HCAs of hosts whose words differ.

    :param hosts: of ``differing``, :param agree: hosts whose words are the plan's, by their words.
    """
    if hosts:
        _Matcher(binding, directory, agree).match(hosts)


class _Matcher:
    def __init__(self, binding: Binding, directory: Directory, agree: Counter[Words]) -> None:
        self.binding, self.directory, self.agree = binding, directory, agree
        self.accepted: dict[Words, list[_Reading]] = {}
        self.said: dict[str, Counter[str]] = {}
        self.taken: Counter[str] = Counter()
        self.same_words = False

    def match(self, hosts: Sequence[HostCards]) -> None:
        unread: list[tuple[HostCards, Cards]] = []
        for group in by_group(hosts):
            placed = [self._placed(host) for host in group]
            reading = self._decide(group, placed)
            if reading is None:
                unread += zip(group, placed, strict=True)
            else:
                self._accept(group, reading)
        self._say()
        self._models(hosts)
        if unread:
            self._not_read(unread)

    # -- weighing ---------------------------------------------------------------------------------------------

    def _decide(self, group: list[HostCards], placed: list[Cards]) -> _Reading | None:
        first = group[0]
        words, cards = first.words, first.seen
        if told := as_model(words, cards, first.model):
            return _Reading(MODEL, told)
        if len(words) == len(cards) == 1:
            return _Reading(LITERAL, {next(iter(words)): next(iter(cards))})
        readings = self._readings(group, placed)
        total = sum(len(where) for where in placed)
        for reading in readings:
            reading.votes = sum(
                self._fits(host, w, reading.table) for host, w in zip(group, placed, strict=True)
            )
        ranked = sorted(readings, key=lambda reading: -reading.votes)
        best = ranked[0] if ranked else None
        second = ranked[1].votes if len(ranked) > 1 else 0
        clear = best is not None and total > 0 and 2 * best.votes >= total and second <= SECOND * best.votes
        if words <= cards or cards <= words:
            return best if clear else readings[0]
        if clear:
            return best
        if total == 0 and readings and (readings[0].how == _SAME or len(readings[0].table) == len(words)):
            return readings[0]
        return None

    def _readings(self, group: list[HostCards], placed: list[Cards]) -> list[_Reading]:
        """Different readings, what is known or simple first."""
        first = group[0]
        words, cards = first.words, first.seen
        subset = words <= cards or cards <= words
        prior = [r for r in self.accepted.get(words, []) if _covers(set(r.table.values()), cards)]
        found = [_Reading(_SAME, exact(words))] if subset else []
        found += prior
        if len(group) >= FEW or not (prior or subset):
            found += [_Reading(h, table) for h, table in natural_tables(words, cards, first.model).items()]
            pairs = Counter(
                pair for host, where in zip(group, placed, strict=True) for pair in _pairs(host, where)
            )
            if len(cards) != len(words):
                cabled: Counter[str] = Counter()
                for (_, card), number in pairs.items():
                    cabled[card] += number
                usual = frozenset(card for card, number in cabled.items() if 2 * number >= len(group))
                found.append(_Reading(ORDER, ordered(words, usual)))
            if len(group) >= FEW and not subset:
                found.append(_Reading(PLACE, majority(pairs.elements())))
        distinct: dict[tuple[tuple[str, str], ...], _Reading] = {}
        for reading in found:
            here = tuple(sorted((word, card) for word, card in reading.table.items() if card in cards))
            if here:
                distinct.setdefault(here, _Reading(reading.how, reading.table))
        return list(distinct.values())

    def _placed(self, host: HostCards) -> Cards:
        """Whatever card of the right host sits in the planned switch port."""
        own = {key for keys in host.cards.values() for key in keys}
        found: Cards = {}
        taken: set[str] = set()
        fabric, seen_of, seen = self.binding.plan.fabric, self.binding.seen_of, self.directory.seen
        for node in host.nodes:
            jack = Port(node.key, 1)
            link = fabric.links.get(jack)
            if link is None:
                continue
            far = link.other(jack)
            switch = seen_of.get(far.node)
            peer = seen.peer(Port(switch, far.number)) if switch is not None else None
            if peer is not None and peer.node in own and peer.node not in taken:
                found[node.key] = peer.node
                taken.add(peer.node)
        return found

    @staticmethod
    def _fits(host: HostCards, placed: Cards, table: Table) -> int:
        """How many cards a reading puts where they are found."""
        return sum(
            placed.get(node.key, "") in host.cards.get(table.get(word_of(node), "\0"), ())
            for node in host.nodes
        )

    # -- binding ----------------------------------------------------------------------------------------------

    def _accept(self, group: list[HostCards], reading: _Reading) -> None:
        known = self.accepted.setdefault(group[0].words, [])
        if reading.table not in [other.table for other in known]:
            known.append(reading)
        for host in group:
            for node in host.nodes:
                card = reading.table.get(word_of(node), "\0")
                keys = host.cards.get(card, ())
                if len(keys) > 1:  # a declared name outranks a described one
                    name = self.directory.described[keys[0]].name
                    keys = tuple(key for key in self.directory.exact(name) if key in keys) or keys
                if keys and self.binding.take(node, list(keys)) and reading.how != _SAME:
                    card = self.directory.described[keys[0]].hca or "its only HCA"
                    self.said.setdefault(reading.how, Counter())[f"{node.hca} = {card}"] += 1
            if reading.how != _SAME and host.words & host.seen:
                self.same_words = True

    def _say(self) -> None:
        """Which word was taken for which card."""
        for how, said in self.said.items():
            other = [pair for pair in said if len(set(pair.lower().split(" = "))) > 1]
            kinds = sorted(other or said, key=natural_key)
            shown = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
            number = said.total()
            self.binding.notes.append(f"the plan's HCA words {how} ({shown}), on {_hcas(number)}")
        if self.same_words:
            self.binding.notes.append(
                "these hosts have other HCA names than the plan, so that an equal name need not be the same card: "
                "what most of their cables agree with decided"
            )

    def _models(self, hosts: Sequence[HostCards]) -> None:
        """What a model of the site lists and no host shows."""
        models = {host.model.name: host.model for host in hosts if host.model is not None}
        for name, model in sorted(models.items()):
            own = [host for host in hosts if host.model is not None and host.model.name == name]
            shown = {card for host in own for card in host.seen}
            listed = {hca.lower() for hca in model.hcas}
            if shown <= listed:
                continue
            shown = shown.union(*self.agree)
            lost = [hca for hca in model.hcas if hca.lower() not in shown]
            if lost:
                self.binding.notes.append(
                    f"the site's model {name} lists {', '.join(lost)}, which no host shows: its hcas need a look"
                )

    def _not_read(self, unread: list[tuple[HostCards, Cards]]) -> None:
        """Bind what sits in its planned port; nothing is said of the rest."""
        placed = 0
        words = sorted({node.hca or "?" for host, _ in unread for node in host.nodes}, key=natural_key)[:4]
        for host, where in unread:
            for planned, key in where.items():
                self.binding.pair(planned, key)
                placed += 1
            rest = tuple(node.key for node in host.nodes if node.key not in where)
            why = f"which cards the plan means by {', '.join(words)} ... could not be told"
            self.binding.ambiguous.update(rest)
            for key in (key for keys in host.cards.values() for key in keys):
                if key not in self.binding.plan_of:
                    self.binding.undecided[key] = Undecided(why, rest)
        hosts = fold(host.nodes[0].host or "" for host, _ in unread[:3])
        more = f" and {len(unread) - 3:,} more" if len(unread) > 3 else ""
        self.binding.doubts.append(
            f"{_hcas(placed)} of {hosts}{more} are known only by the leaf port they are in: no reading of the plan's "
            f"words ({', '.join(words)}) fits the discovered cards clearly better than others, so cards crossed "
            "within one host cannot be seen"
        )


def _pairs(host: HostCards, placed: Cards) -> Iterator[tuple[str, str]]:
    names = {key: name for name, keys in host.cards.items() for key in keys}
    for node in host.nodes:
        if node.key in placed:
            yield word_of(node), names[placed[node.key]]


def _covers(image: set[str], cards: Words) -> bool:
    return cards <= image or image <= cards


def _hcas(number: int) -> str:
    return f"{number:,} HCA{'' if number == 1 else 's'}"


def readings(hosts: Sequence[HostCards]) -> list[tuple[str, Cards]]:
    """The ways to read words without knowing any switch: how, and planned HCA -> discovered HCA.

    A way that a host's words do not allow (a card is dead) is, for that host, what it is on the hosts that have all.
    """
    if not hosts:
        return []
    tables: list[tuple[list[HostCards], dict[str, Table]]] = []
    whole: dict[Words, dict[str, Table]] = {}
    for group in by_group(hosts):
        words, cards, model = group[0].words, group[0].seen, group[0].model
        if told := as_model(words, cards, model):
            own = {MODEL: told}
        elif words <= cards or cards <= words:
            own = {LITERAL: exact(words)}
        else:
            own = natural_tables(words, cards, model)
            if len(words) == len(cards):
                whole.setdefault(words, own)
        tables.append((group, own))
    ways: dict[str, Cards] = {}
    hows = dict.fromkeys(how for _, own in tables for how in own)
    for how in hows:
        way: Cards = {}
        for group, own in tables:
            first = next(iter(own.values()), {})
            other = whole.get(group[0].words, {}).get(how, {})
            table = own.get(how) or (other if group[0].seen <= set(other.values()) else first)
            for host in group:
                for node in host.nodes:
                    keys = host.cards.get(table.get(word_of(node), "\0"), ())
                    if len(keys) == 1:
                        way[node.key] = keys[0]
        if way and way not in ways.values():
            ways[how] = way
    return list(ways.items())
