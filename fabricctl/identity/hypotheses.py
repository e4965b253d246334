"""Devices that cannot be told apart from here: what would explain the fabric, what each explanation costs to repair.

Rings of switches that could change places (``assess.py``) are tried: the ring is turned, and both assignments are laid
against the plan. Where turning all rings of a region makes further switches undecided (the hosts of one scalable unit
plugged into another), these are turned too, and the region is one ambiguity with a hypothesis for each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabricctl.cabling.tiers import pair_word
from fabricctl.fabric import Node, Place
from fabricctl.hostset import fold, natural_key
from fabricctl.identity.assess import Standings, assess
from fabricctl.identity.evidence import Evidence
from fabricctl.identity.model import Ambiguity, Hypothesis
from fabricctl.identity.moves import Cost, Jacks
from fabricctl.identity.network import NONE
from fabricctl.identity.votes import Votes

LEVELS = 4
"""Most steps a region is followed: hosts, leaves, spines, cores."""
ALIKE = 1.1
"""Costs that differ by no more than this factor say nothing about which is true."""
REGION = 512
"""Most rings that are looked at together."""


@dataclass(frozen=True)
class Trial:
    """One assignment that explains what is seen. :param turned: switches whose place differs from the first's."""

    votes: Votes
    cost: Cost
    turned: frozenset[int]


@dataclass
class Teller:
    """Puts trials into words.

    :param nodes: planned nodes by key; :param seen_nodes: discovered ones; :param tiers: planned key -> tier.
    :param described: discovered switch -> planned key its description names.
    """

    jacks: Jacks
    nodes: dict[str, Node]
    seen_nodes: dict[str, Node]
    tiers: dict[str, int]
    described: dict[str, str]
    evidence: Evidence

    def ambiguity(self, trials: Sequence[Trial], words: Sequence[str]) -> Ambiguity:
        """One ambiguity of trials, best first."""
        network = self.jacks.network
        devices = sorted(
            {v for trial in trials for v in trial.turned},
            key=lambda v: natural_key(self._name(trials[0].votes.at[v])),
        )
        hypotheses = tuple(
            Hypothesis(
                text,
                tuple(
                    (network.seen[v], network.places[trial.votes.at[v]])
                    for v in devices
                    if trial.votes.at[v] != NONE
                ),
                trial.cost.moves,
                len(trial.turned),
            )
            for trial, text in zip(trials, words, strict=True)
        )
        return Ambiguity(
            tuple(network.seen[v] for v in devices), hypotheses, tuple(self._decide_by(trials, devices))
        )

    def ring_words(self, trial: Trial, devices: Iterable[int], *, first: bool) -> str:
        """``the host bundles of L1 and L2 are exchanged: move 64 host ends``, or that devices stand elsewhere."""
        places = [trial.votes.at[v] for v in devices]
        names = self.names(place for place in places if place != NONE)
        kind = self.kind_of(trial.cost, places)
        ends = f"move {trial.cost.moves:,} {kind} ends" if trial.cost.moves else "nothing to move"
        if first:
            return f"the {kind} bundles of {names} are exchanged: {ends}"
        number = len(trial.turned)
        whom = "both" if number == 2 else f"all {number:,}"
        return f"{names} stand in each other's place: rename {whom} and {ends}"

    def chain_words(self, trial: Trial, devices: Iterable[int]) -> str:
        """Where each of a few devices stands."""
        network = self.jacks.network
        where = ", ".join(f"{network.seen[v]} is {self._name(trial.votes.at[v])}" for v in devices)
        moves = trial.cost.moves
        return f"{where}: {f'move {moves:,} ends' if moves else 'nothing to move'}"

    def names(self, places: Iterable[int]) -> str:
        """Planned names, two joined by "and", more folded."""
        names = sorted((self._name(place) for place in places), key=natural_key)
        return " and ".join(names) if len(names) <= 2 else fold(names)

    def place_text(self, key: str) -> str:
        """``rack B07, U31`` of a planned device; empty when nobody said."""
        node = self.nodes[key]
        place: Place | None = node.stands(self.evidence.place_of.get)
        if place is None:
            return ""
        unit = place.unit if not place.unit or place.unit[:1] in "Uu" else f"U{place.unit}"
        return f"rack {place.rack}" + (f", {unit}" if unit else "")

    def _name(self, place: int) -> str:
        return self.nodes[self.jacks.network.places[place]].name if place != NONE else "nothing planned"

    def kind_of(self, cost: Cost, places: Iterable[int]) -> str:
        """Which cables are wrong, by most of them: ``host``, ``uplink``, ``downlink``, ``leaf-spine``, or ``cable``."""
        if cost.wrong and 2 * cost.hosts >= len(cost.wrong):
            return "host"
        network = self.jacks.network
        own = {self.tiers.get(network.places[place]) for place in places if place != NONE}
        pairs = Counter(
            tuple(sorted(self.tiers.get(network.places[jack >> network.shift], NONE) for jack in pair))
            for pair in cost.wrong
        )
        if not pairs:
            return "cable"
        low, high = pairs.most_common(1)[0][0]
        if low < 1:
            return "cable"
        if own == {low} and low != high:
            return "uplink"
        return "downlink" if own == {high} and low != high else pair_word(low, high)

    def _decide_by(self, trials: Sequence[Trial], devices: list[int]) -> Iterable[str]:
        network = self.jacks.network
        first = trials[0].votes
        for device in devices:
            place = first.at[device]
            others = [trial.votes.holder[place] if place != NONE else NONE for trial in trials]
            if place == NONE or len(set(others)) < 2:
                continue
            yield self._read_label(network.places[place], others)
            yield self._blink(network.seen[device], network.places[place])
            break
        said = [sum(self._agrees(trial, v) for v in devices) for trial in trials]
        if any(said):
            best = said.index(max(said))
            yield (
                f"{said[best]:,} of {len(devices):,} node descriptions agree with hypothesis {best + 1}: a hint, no "
                "proof (a description is text that somebody set)"
            )

    def _agrees(self, trial: Trial, device: int) -> bool:
        network = self.jacks.network
        at = trial.votes.at[device]
        return at != NONE and self.described.get(network.seen[device]) == network.places[at]

    def _read_label(self, planned: str, holders: list[int]) -> str:
        where = self.place_text(planned)
        name = self.nodes[planned].name
        place = (
            f"at {where} (planned: {name})" if where else f"planned as {name} (its rack is not in the plan)"
        )
        means: dict[int, list[str]] = {}
        for number, holder in enumerate(holders, 1):
            means.setdefault(holder, []).append(str(number))
        said = ", ".join(
            f"{self._label(holder)} means hypothesis {' or '.join(numbers)}"
            for holder, numbers in means.items()
        )
        return f"read the serial or GUID label of the switch {place}: {said}"

    def _label(self, holder: int) -> str:
        if holder == NONE:
            return "any other"
        key = self.jacks.network.seen[holder]
        serial = self.evidence.serials.get(key)
        return f"{key} (serial {serial})" if serial else key

    def _blink(self, key: str, planned: str) -> str:
        lid = self.seen_nodes[key].lid
        device = f"lid-{lid}" if lid else "lid-<its LID>"
        where = self.place_text(planned) or self.nodes[planned].name
        return (
            f"or let {key} blink and look whether it is the one at {where}: mlxreg -d {device} --reg_name MLCR "
            '--indexes "local_port=1,led_type=0" --set "beacon_duration=60" (not run, and not tried on hardware: '
            "compare with --show_reg MLCR first)"
        )


def local_ambiguities(votes: Votes, standings: Standings, teller: Teller) -> list[tuple[Ambiguity, Votes]]:
    """Rings and chains, each with the votes of its first hypothesis.

    Where the first hypothesis is not what was assigned, the caller takes it over.
    """
    found: list[tuple[Ambiguity, Votes]] = []
    rings = standings.cycles
    for region in _regions(votes, rings):
        merged = _region(votes, region, teller) if 1 < len(region) <= REGION else None
        if merged is not None:
            found.append(merged)
        else:
            found += [_ring(votes, ring, teller) for ring in region]
    for chain in standings.loose:
        trials = _trials(votes, chain, teller)
        found.append(
            (
                teller.ambiguity(trials, [teller.chain_words(trial, chain) for trial in trials]),
                trials[0].votes,
            )
        )
    return found


def _trials(votes: Votes, ring: dict[int, int], teller: Teller) -> list[Trial]:
    """Both assignments of a ring, the cheaper first; of equals the one that blames host cables."""
    turned = votes.copy()
    turned.put(ring.items())
    places = {votes.at[v] for v in ring} | set(ring.values())
    both = [votes, turned]
    costs = [teller.jacks.cost(each, places) for each in both]
    who = frozenset(ring)
    order = _best_first(costs)
    return [Trial(both[n], costs[n], who if n != order[0] else frozenset()) for n in order]


def _best_first(costs: list[Cost]) -> list[int]:
    """Cheapest first; of nearly equal ones that which blames most host cables: they are many, thin and hand-plugged."""
    limit = ALIKE * min(cost.moves for cost in costs)
    return sorted(range(len(costs)), key=lambda n: (costs[n].moves > limit, -costs[n].hosts, costs[n].moves))


def _ring(votes: Votes, ring: dict[int, int], teller: Teller) -> tuple[Ambiguity, Votes]:
    trials = _trials(votes, ring, teller)
    words = [teller.ring_words(trial, ring, first=number == 0) for number, trial in enumerate(trials)]
    return teller.ambiguity(trials, words), trials[0].votes


def _regions(votes: Votes, rings: list[dict[int, int]]) -> list[list[dict[int, int]]]:
    """Rings whose switches share a neighbour stand together."""
    root = list(range(len(rings)))

    def find(index: int) -> int:
        while root[index] != index:
            root[index] = root[root[index]]
            index = root[index]
        return index

    first: dict[int, int] = {}
    for index, ring in enumerate(rings):
        for switch in ring:
            for _, neighbour, _ in votes.network.near[switch]:
                root[find(index)] = find(first.setdefault(neighbour, index))
    regions: dict[int, list[dict[int, int]]] = {}
    for index, ring in enumerate(rings):
        regions.setdefault(find(index), []).append(ring)
    return list(regions.values())


def _region(votes: Votes, rings: list[dict[int, int]], teller: Teller) -> tuple[Ambiguity, Votes] | None:
    """All rings turned at once: when this makes others undecided, follow them; None when it does not."""
    steps = [votes]
    turned: set[int] = set()
    turn = {switch: place for ring in rings for switch, place in ring.items()}
    known = set(turn)
    while turn and len(steps) <= LEVELS:
        following = steps[-1].copy()
        following.put(turn.items())
        steps.append(following)
        turned |= set(turn)
        again = assess(following.copy(), teller.evidence.ambiguous_share)
        turn = {
            switch: place
            for ring in again.cycles
            if turned.isdisjoint(ring) and _touches(votes, ring, turned)
            for switch, place in ring.items()
        }
        known |= set(turn)
    if len(steps) < 3:
        return None
    places = {step.at[v] for step in steps for v in known} - {NONE}
    costs = [teller.jacks.cost(step, places) for step in steps]
    order = _best_first(costs)
    best = steps[order[0]]
    trials = [
        Trial(steps[n], costs[n], frozenset(v for v in known if steps[n].at[v] != best.at[v])) for n in order
    ]
    words = []
    for number, trial in enumerate(trials):
        names = teller.names(trial.votes.at[v] for v in (trial.turned or known))
        kind = teller.kind_of(trial.cost, [trial.votes.at[v] for v in known])
        ends = f"move {trial.cost.moves:,} {kind} ends"
        words.append(
            f"the {kind} cables of {names} are exchanged: {ends}"
            if number == 0
            else f"{names} stand in each other's place: rename all {len(trial.turned):,} and {ends}"
        )
    return teller.ambiguity(trials, words), best


def _touches(votes: Votes, ring: dict[int, int], others: set[int]) -> bool:
    return any(neighbour in others for v in ring for _, neighbour, _ in votes.network.near[v])
