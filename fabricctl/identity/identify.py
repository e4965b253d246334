"""Which discovered switch is which planned one. Pure: everything it needs is an argument."""

from __future__ import annotations

from collections.abc import Sequence

from fabricctl.discovery.model import Observation
from fabricctl.errors import UsageError
from fabricctl.fabric import Fabric
from fabricctl.hostset import natural_key
from fabricctl.identity.assess import Standing, Standings, assess
from fabricctl.identity.evidence import PLACED_SHARE, SCATTERED, Anchors, Evidence, gather, switches_of
from fabricctl.identity.gauge import invisible_turn, shared_faults
from fabricctl.identity.hypotheses import Teller, local_ambiguities
from fabricctl.identity.model import (
    Ambiguity,
    Assignment,
    Contradiction,
    Hypothesis,
    Identification,
    Said,
    Source,
)
from fabricctl.identity.moves import Jacks
from fabricctl.identity.network import NONE, Network, build
from fabricctl.identity.refuse import refusal
from fabricctl.identity.votes import Votes
from fabricctl.plan.checks import infer_tiers
from fabricctl.plan.model import Plan

CLEAR = 0.25
"""A reading of HCA words is clearly the best when it has this share of its HCAs' votes (two each) more than the next:
the votes of the cables between switches are nearly the same under all of them."""


def identify(
    plan: Plan,
    observation: Observation,
    evidence: Evidence | None = None,
    assume: Sequence[tuple[int, int]] = (),
) -> Identification:
    """Give every discovered switch its place in the plan, or say why not.

    The plan's port numbers must be those the switches use (see split-ready profiles), so translate both first.

    :param assume: ambiguity and hypothesis (both 1-based) that somebody takes as fact.
    :raises UsageError: ``assume`` names what there is not.
    """
    result = _Identifier(plan, observation.fabric, evidence or Evidence()).run()
    return take_as_fact(result, assume) if assume else result


class _Identifier:
    def __init__(self, plan: Plan, seen: Fabric, evidence: Evidence) -> None:
        self.seen, self.evidence = seen, evidence
        self.anchors: Anchors = gather(plan, seen, evidence)
        self.plan = self.anchors.plan.fabric
        self.tiers = infer_tiers(self.plan)
        self.result = Identification(notes=list(self.anchors.notes))
        self.result.plan_names = {key: n.name for key, n in self.plan.nodes.items() if n.name != key}
        self.votes = self._count()
        self.network: Network = self.votes.network
        self.result.links = sum(len(near) for near in self.network.near) // 2

    def run(self) -> Identification:
        standings = assess(self.votes, self.evidence.ambiguous_share)
        placed = sum(1 for v, s in standings.of.items() if s.votes > 0 or v in self.votes.fixed)
        self.result.refusal = refusal(self.anchors, self.seen, self.network, placed, self.tiers)
        if self.result.refusal is not None:
            self.result.unplaced = sorted(self.network.seen, key=natural_key)
            return self.result
        self._contradictions(standings)
        standings = self._ambiguities(standings)
        self._assignments(standings)
        self._harvest()
        seen, strange = len(self.network.seen), len(self.result.unplaced)
        if 2 * strange > seen:
            self.result.notes.insert(
                0,
                f"{strange:,} of {seen:,} discovered switches fit no place of the plan: this may be another fabric, or "
                "one that has grown",
            )
        return self.result

    def _count(self) -> Votes:
        """The votes under the reading of the plan's HCA words that agrees with clearly most cables."""
        ways = self.anchors.hcas
        counted = [self._votes_of(hcas) for hcas in ways]
        if len(ways) == 1:
            return counted[0]
        totals = [votes.total() for votes in counted]
        order = sorted(range(len(ways)), key=lambda n: -totals[n])
        best, second = order[:2]
        if totals[best] - totals[second] >= CLEAR * 2 * len(ways[best]):
            how = self.anchors.how[best].removesuffix(" as").removesuffix(",")
            self.result.notes.append(
                f"hosts have other HCA names than the plan: the plan's words {how}, which the cabling agrees with best"
            )
            return counted[best]
        sure = {key: p for key, p in ways[best].items() if all(way.get(key) == p for way in ways)}
        self.result.notes.append(
            f"could not tell which HCA the plan means on hosts whose HCAs have other names: "
            f"{len(ways[best]) - len(sure):,} HCAs say nothing here"
        )
        return self._votes_of(sure)

    def _votes_of(self, hcas: dict[str, str]) -> Votes:
        network = build(self.anchors.plan, self.seen, hcas)
        place = {key: number for number, key in enumerate(network.places)}
        number = {key: index for index, key in enumerate(network.seen)}
        fixed = {number[key]: place[planned] for key, planned in self.anchors.switches.items()}
        votes = Votes(network, fixed)
        votes.run()
        return votes

    # -- what speaks against ----------------------------------------------------------------------------------

    def _contradictions(self, standings: Standings) -> None:
        for switch, standing in standings.of.items():
            if switch not in self.votes.fixed or not standing.others:
                continue
            count, place = standing.others[0]
            if count > standing.votes and count > PLACED_SHARE * 2 * len(self.network.near[switch]):
                self.result.contradictions.append(
                    Contradiction(
                        self.network.seen[switch],
                        self.network.places[standing.place],
                        self.network.places[place],
                        count,
                        standing.votes,
                        Said.SNAPSHOT if self.network.seen[switch] in self.anchors.by_guid else Said.DECLARED,
                    )
                )
        self.result.contradictions.sort(key=lambda c: natural_key(c.declared))

    def _harvest(self) -> None:
        """Harvested names of HCAs that describe themselves as others and sit where those belong."""
        network, votes = self.network, self.votes
        number = {key: index for index, key in enumerate(network.seen)}
        jack = {key: n for n, key in enumerate(network.places)}
        doubtful = self.anchors.doubtful
        ports = [port for port in self.seen.links if port[0] in doubtful] if doubtful else []
        for key, (harvested, described) in doubtful.items():
            for own in (port for port in ports if port[0] == key):
                far = self.seen.links[own].other(own)
                place = votes.at[number[far.node]] if far.node in number else NONE
                wanted = network.wanted[jack[described] << network.shift | own.number]
                if place != NONE and wanted == place << network.shift | far.number:
                    self.result.contradictions.append(
                        Contradiction(key, harvested, described, 2, 0, Said.HARVESTED)
                    )
                    break

    def _ambiguities(self, standings: Standings) -> Standings:
        """Find them, and take over the first hypothesis of each as what is assigned."""
        teller = Teller(
            Jacks(self.network),
            self.plan.nodes,
            self.seen.nodes,
            self.tiers,
            self.anchors.described,
            self.evidence,
        )
        share = self.evidence.ambiguous_share
        shared = shared_faults(self.votes, teller, *self._objections())
        found: list[Ambiguity] = []
        if shared is not None:
            found.append(shared[0])
            self.votes = shared[1]
            concerned = set(shared[0].devices)
            standings = assess(self.votes.copy(), share)
            standings.cycles = [r for r in standings.cycles if not self._any_of(r, concerned)]
            standings.loose = [r for r in standings.loose if not self._any_of(r, concerned)]
        elif unseen := invisible_turn(self.votes, teller):
            self.result.notes.append(unseen)
        changes: dict[int, int] = {}
        for ambiguity, votes in local_ambiguities(self.votes, standings, teller):
            found.append(ambiguity)
            number = {key: index for index, key in enumerate(self.network.seen)}
            changes.update((number[key], votes.at[number[key]]) for key in ambiguity.devices)
        moved = {v: place for v, place in changes.items() if self.votes.at[v] != place}
        if moved:
            self.votes.put(moved.items())
            standings = assess(self.votes.copy(), share)
        names = self.result.plan_names
        found.sort(
            key=lambda a: (
                -len(a.devices),
                natural_key(min(names.get(p, p) for _, p in a.hypotheses[0].names)),
            )
        )
        self.result.ambiguities = found
        return standings

    def _any_of(self, ring: dict[int, int], keys: set[str]) -> bool:
        return any(self.network.seen[v] in keys for v in ring)

    def _objections(self) -> tuple[dict[int, int], bool]:
        """Identities that speak against the votes: declared ones, else node descriptions if most of them do."""
        network, fixed = self.network, self.votes.fixed
        place = {key: number for number, key in enumerate(network.places)}
        number = {key: index for index, key in enumerate(network.seen)}
        against = {number[c.seen]: place[c.declared] for c in self.result.contradictions}
        if against:
            return against, True
        described: dict[int | None, list[int]] = {}
        for key in self.anchors.described:
            if number[key] not in fixed:
                tier = self.tiers.get(network.places[self.votes.at[number[key]]])
                described.setdefault(tier, []).append(number[key])
        other: dict[int, int] = {}
        for own in described.values():
            differ = {
                v: place[self.anchors.described[network.seen[v]]]
                for v in own
                if self.votes.at[v] != place[self.anchors.described[network.seen[v]]]
            }
            if 2 * len(differ) > len(own):
                other.update(differ)
        return other, False

    # -- what is said -----------------------------------------------------------------------------------------

    def _assignments(self, standings: Standings) -> None:
        result, network = self.result, self.network
        unsure = result.ambiguous
        filled: set[str] = set()
        for switch, key in enumerate(network.seen):
            standing = standings.of.get(switch)
            if standing is None and key in unsure and self.votes.at[switch] != NONE:
                standing = Standing(self.votes.at[switch], 0, 0, [])  # of a hypothesis no vote speaks for
            if standing is None or not (key in unsure or switch in self.votes.fixed or _firm(standing)):
                result.unplaced.append(key)
                result.assignments.append(
                    Assignment(key, None, Source.VOTES, described=self.anchors.said.get(key, ""))
                )
                continue
            planned = network.places[standing.place]
            filled.add(planned)
            declared = switch in self.votes.fixed
            described = self.anchors.described.get(key)
            result.assignments.append(
                Assignment(
                    key,
                    planned,
                    Source.DECLARED if declared else Source.VOTES,
                    standing.votes,
                    standing.against,
                    standing.margin,
                    network.places[standing.runner_up] if standing.runner_up != NONE else None,
                    self.anchors.said.get(key, ""),
                    self._place(planned),
                    described is not None and described != planned,
                )
            )
            if key not in unsure:
                result.names[key] = result.name(planned)
        result.assignments.sort(
            key=lambda a: (a.planned is None, natural_key(result.name(a.planned or "")), a.seen)
        )
        result.unplaced.sort()
        result.unfilled = sorted(
            (key for key in switches_of(self.anchors.plan) if key not in filled),
            key=lambda k: natural_key(result.name(k)),
        )

        if len(result.unplaced) == len(result.unfilled) == 1:
            (key,), (planned,) = result.unplaced, result.unfilled
            result.notes.append(
                f"{key} and the place of {result.name(planned)} are left over: they may belong together, but no cable "
                "says so; read its label"
            )

    def _place(self, planned: str) -> str:
        place = self.plan.nodes[planned].stands(self.evidence.place_of.get)
        return str(place) if place is not None else ""


def _firm(standing: Standing) -> bool:
    """No other hypothesis equals it, and not twice as many votes are scattered over all other places."""
    return standing.margin > 0 and SCATTERED * standing.votes > standing.against


def take_as_fact(result: Identification, assume: Sequence[tuple[int, int]]) -> Identification:
    """Settle ambiguities as somebody says: the hypothesis' names become certain, and the output says so.

    :param assume: (ambiguity, hypothesis), both 1-based, as the table numbers them.
    :raises UsageError: no such ambiguity or hypothesis, or one ambiguity settled twice.
    """
    settled: dict[int, Hypothesis] = {}
    for number, choice in assume:
        if not 1 <= number <= len(result.ambiguities):
            many = len(result.ambiguities)
            there = "is 1 ambiguity" if many == 1 else f"are {many or 'no'} ambiguities"
            raise UsageError(f"--assume {number}.{choice}: there {there}")
        hypotheses = result.ambiguities[number - 1].hypotheses
        if not 1 <= choice <= len(hypotheses):
            raise UsageError(
                f"--assume {number}.{choice}: ambiguity {number} has hypotheses 1 to {len(hypotheses)}"
            )
        if number in settled:
            raise UsageError(f"--assume {number}.{choice}: ambiguity {number} is settled twice")
        settled[number] = hypotheses[choice - 1]
        result.assumed.append(f"ambiguity {number}, hypothesis {choice}: {hypotheses[choice - 1].words}")
    places: dict[str, str] = {}
    result.assumed_keys |= {key for h in settled.values() for key, _ in h.names}
    for hypothesis in settled.values():
        places.update(hypothesis.names)
    result.names.update((key, result.name(planned)) for key, planned in places.items())
    result.assignments = [_moved(a, places[a.seen]) if a.seen in places else a for a in result.assignments]
    result.ambiguities = [a for n, a in enumerate(result.ambiguities, 1) if n not in settled]
    filled = {a.planned for a in result.assignments}
    result.unfilled = [key for key in result.unfilled if key not in filled]
    return result


def _moved(assignment: Assignment, planned: str) -> Assignment:
    from dataclasses import replace

    if assignment.planned == planned:
        return assignment
    return replace(
        assignment,
        planned=planned,
        votes_for=assignment.votes_for - assignment.margin,
        margin=-assignment.margin,
        runner_up=assignment.planned,
        place="",
    )
