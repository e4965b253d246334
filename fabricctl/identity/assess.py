"""How sure each place is: votes for and against, the second-best hypothesis, and who could change places with whom."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabricctl.identity.evidence import PLACED_SHARE
from fabricctl.identity.network import NONE
from fabricctl.identity.votes import Votes


@dataclass
class Standing:
    """One switch that has a place.

    :param against: votes for other places; :param others: (votes, place) of the other places, most first.
    :param margin: how many votes fewer the second-best hypothesis has; one that takes the place of another switch
        counts what that one would lose. :param runner_up: the place of that hypothesis, NONE when there is none.
    """

    place: int
    votes: int
    against: int
    others: list[tuple[int, int]]
    margin: int = 0
    runner_up: int = NONE


@dataclass
class Standings:
    """All of them.

    :param of: seen switch -> Standing. :param cycles: switches that could change places in a ring: each with the place
        it would take. :param loose: switches that could as well stand on an empty place, with that place.
    """

    of: dict[int, Standing] = field(default_factory=dict)
    cycles: list[dict[int, int]] = field(default_factory=list)
    loose: list[dict[int, int]] = field(default_factory=list)


def assess(votes: Votes, share: float) -> Standings:
    """Weigh an assignment; a switch with hardly any vote for its place loses it.

    :param share: of ``Evidence.ambiguous_share``.
    """
    result = Standings()
    for switch, place in enumerate(votes.at):
        if place == NONE:
            continue
        ballot = votes.ballot(switch)
        own = ballot.pop(place, 0)
        if switch not in votes.fixed and own <= PLACED_SHARE * _possible(votes, switch):
            continue
        others = sorted(((count, other) for other, count in ballot.items()), key=lambda o: (-o[0], o[1]))
        result.of[switch] = Standing(place, own, sum(ballot.values()), others)
    votes.put(
        (switch, NONE) for switch, place in enumerate(votes.at) if place != NONE and switch not in result.of
    )
    _margins(votes, result)
    _rings(votes, result, share)
    return result


def _possible(votes: Votes, switch: int) -> int:
    """Votes its cables could cast: two for each to another switch or to a planned host."""
    network = votes.network
    known = sum(1 for _, hca, _ in network.hosts[switch] if hca != NONE)
    return 2 * (len(network.near[switch]) + known)


def _margins(votes: Votes, result: Standings) -> None:
    """Votes minus those of the best other hypothesis."""
    firm = {}
    for switch, standing in result.of.items():
        best = max((count for count, _ in standing.others), default=0)
        firm[switch] = max(0, standing.votes - best)
    for standing in result.of.values():
        standing.margin = standing.votes
        for count, place in standing.others:
            holder = votes.holder[place]
            if holder in votes.fixed:
                continue
            loss = standing.votes - count + (firm.get(holder, 0) if holder != NONE else 0)
            if loss < standing.margin or standing.runner_up == NONE:
                standing.margin, standing.runner_up = min(loss, standing.margin), place


def _rings(votes: Votes, result: Standings, share: float) -> None:
    """Follow each switch's nearly as good places: rings, and chains that end on an empty place."""
    near: dict[int, list[tuple[int, int]]] = {}
    for switch, standing in result.of.items():
        if switch in votes.fixed or not standing.votes:
            continue
        limit = standing.votes * (1 - share)
        near[switch] = [
            (place, votes.holder[place])
            for count, place in standing.others
            if count >= limit and votes.holder[place] not in votes.fixed
        ]
    taken: set[int] = set()
    for start in near:
        if start in taken:
            continue
        ring = _ring(start, near, taken)
        if ring:
            taken.update(ring)
            result.cycles.append(ring)
    for start in near:
        chain = {} if start in taken else _chain(start, near, taken)
        if chain:
            taken.update(chain)
            result.loose.append(chain)


def _ring(start: int, near: dict[int, list[tuple[int, int]]], taken: set[int]) -> dict[int, int]:
    """The shortest ring of switches through ``start``: switch -> place it would take; empty when there is none."""
    came: dict[int, tuple[int, int]] = {}
    edge = [start]
    while edge:
        following = []
        for switch in edge:
            for place, holder in near.get(switch, ()):
                if holder == start:
                    return _path(start, switch, place, came)
                if holder != NONE and holder not in came and holder not in taken:
                    came[holder] = (switch, place)
                    following.append(holder)
        edge = following
    return {}


def _chain(start: int, near: dict[int, list[tuple[int, int]]], taken: set[int]) -> dict[int, int]:
    """The shortest chain from ``start`` to an empty place."""
    came: dict[int, tuple[int, int]] = {}
    edge = [start]
    while edge:
        following = []
        for switch in edge:
            for place, holder in near.get(switch, ()):
                if holder == NONE:
                    return _path(start, switch, place, came)
                if holder != start and holder not in came and holder not in taken:
                    came[holder] = (switch, place)
                    following.append(holder)
        edge = following
    return {}


def _path(start: int, last: int, place: int, came: dict[int, tuple[int, int]]) -> dict[int, int]:
    ring = {last: place}
    while last != start:
        before, taken = came[last]
        ring[before] = taken
        last = before
    return ring
