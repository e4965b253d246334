"""Faults that whole tiers share: every uplink of every leaf (or spine) rotated by k, or in reverse order.

Votes alone relabel the switches above instead, since nothing but these cables says who they are: two hundred renamed
switches look cheaper than four thousand moved plugs. So the far port numbers are compared with the plan's under each
rotation of the block: where one fits clearly better than none, the rotation is undone on the observation, the votes
are counted again, and both readings are shown. Of readings that fit equally well (a bundle of four cables turned by one
or by five) the smallest turn counts.

A rotation by a whole bundle may leave no trace at all: then the fabric is, as far as anyone can see from inside,
cabled as planned. Only somebody who knows a switch otherwise can object: a declared identity, or most node
descriptions of the tiers above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricctl.identity.hypotheses import Teller, Trial
from fabricctl.identity.model import Ambiguity
from fabricctl.identity.network import NONE, Cable
from fabricctl.identity.votes import Votes

SAMPLE = 256
"""Lower switches that are looked at; a fault that whole tiers share shows in these."""
LEAD = 0.02
"""A rotation must fit this share of the block's cables better than none does, and at least ``LEAD_CABLES``."""
LEAD_CABLES = 8
FITS = 0.3
"""Least share of the cables a rotation must fit."""
ALIKE = 0.97
"""Rotations that fit at least this share of what the best fits are as good."""
AGREE = 0.9
"""Share of objecting identities that a rotation must explain."""


_WORDS = {1: ("leaf", "leaves"), 2: ("spine", "spines"), 3: ("core", "cores")}
_OTHER = ("switch", "switches")


@dataclass(frozen=True)
class Turn:
    """How a block was turned. :param by: positions, 0 when reversed."""

    by: int
    size: int
    reverse: bool = False

    def source(self, index: int) -> int:
        """Place in the block whose cable now sits at ``index``."""
        return self.size - 1 - index if self.reverse else (index - self.by) % self.size

    @property
    def reach(self) -> tuple[int, int, int]:
        """Order of simplicity: small turns first."""
        signed = self.by if 2 * self.by <= self.size else self.size - self.by
        return (self.size if self.reverse else signed, int(self.reverse), self.by)

    def __str__(self) -> str:
        if self.reverse:
            return "in reverse order"
        by = self.by if 2 * self.by <= self.size else self.by - self.size
        return f"rotated by {by} port{'' if abs(by) == 1 else 's'}"


@dataclass
class Block:
    """Uplinks of one tier: for every lower switch its uplink ports and what is seen and planned behind them."""

    tier: int
    size: int
    rows: list[tuple[int, list[int]]]
    """Lower switch, its uplink ports in order."""


def blocks(votes: Votes, tiers: Mapping[str, int]) -> Iterator[Block]:
    """Tiers whose switches have uplinks, lowest first; switches with the usual number of them."""
    network = votes.network
    by_tier: dict[int, list[tuple[int, list[int]]]] = {}
    level = [tiers.get(key, NONE) for key in network.places]
    for switch, place in enumerate(votes.at):
        tier = level[place] if place != NONE else NONE
        if tier < 1:
            continue
        first = place << network.shift
        ports = [
            port
            for port in network.planned_ports(place)
            if level[network.wanted[first | port] >> network.shift] == tier + 1
        ]
        if len(ports) > 1:
            by_tier.setdefault(tier, []).append((switch, ports))
    for tier, rows in sorted(by_tier.items()):
        size = Counter(len(ports) for _, ports in rows).most_common(1)[0][0]
        yield Block(tier, size, [row for row in rows if len(row[1]) == size])


def fits(votes: Votes, block: Block) -> dict[Turn, int]:
    """For every turn of the block: how many cables meet the far port number the plan says."""
    network, size = votes.network, block.size
    counts = dict.fromkeys([*(Turn(k, size) for k in range(size)), Turn(0, size, reverse=True)], 0)
    step = max(1, len(block.rows) // SAMPLE)
    for switch, ports in block.rows[::step]:
        first = votes.at[switch] << network.shift
        planned = [network.wanted[first | port] & network.mask for port in ports]
        far = {port: far_port for port, _, far_port in network.near[switch]}
        seen = [far.get(port, NONE) for port in ports]
        for turn in counts:
            counts[turn] += sum(seen[i] == planned[turn.source(i)] for i in range(size) if seen[i] != NONE)
    return counts


def undone(votes: Votes, block: Block, turn: Turn) -> Votes:
    """Votes on the observation with the turn taken back; lower tiers stay where they are."""
    network = votes.network
    place_of_port: dict[int, dict[int, int]] = {}
    for switch, ports in block.rows:
        place_of_port[switch] = {port: ports[turn.source(i)] for i, port in enumerate(ports)}
    same: dict[int, int] = {}

    def back(switch: int, port: int) -> int:
        return place_of_port.get(switch, same).get(port, port)

    near: list[list[Cable]] = [
        sorted((back(v, port), far, back(far, far_port)) for port, far, far_port in cables)
        for v, cables in enumerate(network.near)
    ]
    fixed = dict(votes.fixed)
    fixed.update({switch: votes.at[switch] for switch, _ in block.rows})
    again = Votes(network.with_ports(near), fixed)
    again.run()
    return again


def _onto(votes: Votes, again: Votes) -> Votes:
    """The places of one count of votes, on the observation as it is."""
    other = votes.copy()
    other.put([(v, NONE) for v in range(len(other.at))])
    other.put([(v, place) for v, place in enumerate(again.at) if place != NONE])
    return other


def shared_faults(
    votes: Votes, teller: Teller, objections: Mapping[int, int], declared: bool
) -> tuple[Ambiguity, Votes] | None:
    """The first tier, from below, whose uplinks read better when they are turned; with the reading shown first.

    :param objections: seen switch -> place, of identities that speak against the votes.
    :param declared: they are declared (a single one counts), not just node descriptions.
    """
    for block in blocks(votes, teller.tiers):
        counts = fits(votes, block)
        cables = max(1, sum(1 for _ in block.rows) * block.size)
        sampled = min(1.0, SAMPLE / max(1, len(block.rows)))
        none = counts[Turn(0, block.size)]
        best = max(counts.values())
        lead = max(LEAD_CABLES, LEAD * cables * sampled)
        found = None
        if best - none >= lead and best >= FITS * cables * sampled:
            alike = sorted((t for t, n in counts.items() if n >= ALIKE * best), key=lambda t: t.reach)
            found = _turned(votes, block, alike, teller)
        elif objections:
            alike = [t for t, n in counts.items() if n >= ALIKE * best and t != Turn(0, block.size)]
            found = _objected(
                votes, block, sorted(alike, key=lambda t: t.reach), teller, objections, declared
            )
        if found is not None:
            return found
    return None


def invisible_turn(votes: Votes, teller: Teller) -> str:
    """What nobody could see from inside, one sentence: uplinks rotated by whole bundles; empty when it would show.

    Nothing to say where a switch above is declared.
    """
    network = votes.network
    known = {teller.tiers.get(network.places[place], NONE) for place in votes.fixed.values()}
    for block in blocks(votes, teller.tiers):
        if any(tier > block.tier for tier in known):
            continue
        counts = fits(votes, block)
        none = Turn(0, block.size)
        alike = [turn for turn, n in counts.items() if turn != none and n >= counts[none] > 0]
        if alike:
            turn = min(alike, key=lambda t: t.reach)
            lower, upper = _WORDS.get(block.tier, _OTHER)[1], _WORDS.get(block.tier + 1, _OTHER)[1]
            return (
                f"not to be seen from inside: were the uplinks of all {lower} {turn} (whole bundles), the {upper} "
                "would only be taken for each other; the serial or GUID label of one, declared in the site file, "
                "excludes it"
            )
    return ""


def _turned(votes: Votes, block: Block, alike: list[Turn], teller: Teller) -> tuple[Ambiguity, Votes] | None:
    """The block was turned: the smallest turn against the votes' own reading, or against the next turn."""
    turn = alike[0]
    first = _onto(votes, undone(votes, block, turn))
    others = [votes] if first.at != votes.at else []
    for other in alike[1:]:
        if others:
            break
        reading = _onto(votes, undone(votes, block, other))
        others += [reading] if reading.at != first.at else []
    if not others:
        return None
    return _told(teller, block, turn, first, others[0])


def _objected(
    votes: Votes,
    block: Block,
    alike: list[Turn],
    teller: Teller,
    objections: Mapping[int, int],
    declared: bool,
) -> tuple[Ambiguity, Votes] | None:
    """The cables are as planned, but those who know the switches otherwise agree on a turn."""
    for turn in alike:
        guess = _places_after(votes, block, turn)
        asked = [v for v in objections if v in guess]
        agreeing = sum(guess[v] == objections[v] for v in asked)
        if not asked or agreeing < AGREE * len(asked) or (len(asked) < 2 and not declared):
            continue
        free = Votes(votes.network)
        free.at, free.holder = list(votes.at), list(votes.holder)
        reading = _onto(votes, undone(free, block, turn))
        if reading.at != votes.at:
            return _told(teller, block, turn, reading, votes)
    return None


def _places_after(votes: Votes, block: Block, turn: Turn) -> dict[int, int]:
    """Upper switch -> the place most of its cables give it when the turn is taken back."""
    network = votes.network
    counts: dict[int, Counter[int]] = {}
    for switch, ports in block.rows:
        first = votes.at[switch] << network.shift
        position = {port: i for i, port in enumerate(ports)}
        for port, far, _ in network.near[switch]:
            if port in position:
                jack = network.wanted[first | ports[turn.source(position[port])]]
                counts.setdefault(far, Counter())[jack >> network.shift] += 1
    return {far: count.most_common(1)[0][0] for far, count in counts.items()}


def _told(teller: Teller, block: Block, turn: Turn, first: Votes, second: Votes) -> tuple[Ambiguity, Votes]:
    network = first.network
    differing = frozenset(v for v, place in enumerate(first.at) if place != second.at[v])
    everywhere = range(network.switches)
    trials = [
        Trial(first, teller.jacks.cost(first, everywhere), frozenset()),
        Trial(second, teller.jacks.cost(second, everywhere), differing),
    ]
    lower = _WORDS.get(block.tier, _OTHER)[0]
    upper = sorted(
        {teller.tiers.get(network.places[first.at[v]], 0) for v in differing if first.at[v] != NONE}
    )
    whom = " and ".join(_WORDS.get(t, _OTHER)[1] for t in upper) or "switches"
    moves, other = trials[0].cost.moves, trials[1].cost.moves
    words = [
        f"the uplinks of every {lower} are {turn}: move {moves:,} ends, nobody is renamed",
        f"the {whom} stand elsewhere: rename {len(differing):,} switches and move {other:,} ends",
    ]
    ambiguity = teller.ambiguity(trials, words)
    return ambiguity, first
