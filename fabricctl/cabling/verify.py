"""From a plan and an observation to a verdict. Pure: everything it needs is an argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.cabling.bind import Names, bind
from fabricctl.cabling.classify import Classified, Expectations, classify, unexplained
from fabricctl.cabling.ends import Ends, Knowledge
from fabricctl.cabling.islands import Islands, find_islands, split_finding
from fabricctl.cabling.link_findings import LinkFindings
from fabricctl.cabling.model import Cable, Counts, Finding, FindingKind, LinkClass
from fabricctl.cabling.other_findings import OtherFindings, covered_ports, unknown_keys
from fabricctl.cabling.rails import RailCheck, check_rails
from fabricctl.cabling.scope import Scope, make_scope
from fabricctl.cabling.tiers import Tiers
from fabricctl.discovery.model import INFORMATION, Observation, Problem, ProblemKind, Source
from fabricctl.discovery.names import name_key, short_key
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.hostset import fold, natural_key
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.rates import Rate

DEFAULT_GATE = 0.10
"""Share of bad links at which adaptive routing no longer copes (operators' experience; facts of the field)."""

RateOfClass = Callable[[int | None, int | None, tuple[str, str]], Rate | None]
"""Tiers and devices of the two ends -> the rate the site expects there."""


class VerdictWord(StrEnum):
    """The three results."""

    OK = "ok"
    FINDINGS = "findings"
    COULD_NOT_TELL = "could_not_tell"


@dataclass(frozen=True)
class Options:
    """What the operator and the site say beside plan and discovery.

    :param expected_absent: device or host name -> reason; :param absent_ports: ``Port`` by name -> reason.
    :param reserved: ``Port`` by device name -> host set that may be there.
    :param only: ``--only`` text; :param manager_hosts: host set the master subnet manager may run on.
    """

    names: Names = field(default_factory=Names)
    knowledge: Knowledge = field(default_factory=Knowledge)
    rate_of_class: RateOfClass | None = None
    expected_absent: Mapping[str, str] = field(default_factory=dict)
    absent_ports: Mapping[Port, str] = field(default_factory=dict)
    reserved: Mapping[Port, str] = field(default_factory=dict)
    only: str = ""
    strict: bool = False
    check_rails: bool = False
    gate: float = DEFAULT_GATE
    manager_hosts: str = ""


@dataclass
class Verdict:
    """The answer.

    :param doubts: why something could not be told, one sentence each; :param notes: worth knowing, no verdict.
    :param outside: cables that reach a device outside the plan; counted, and listed on request.
    :param plan_format: None when no plan was given and only the plan-free checks ran.
    """

    word: VerdictWord
    counts: Counts
    islands: Islands
    findings: list[Finding]
    doubts: list[str]
    notes: list[str]
    sources: list[Source]
    gate: float
    only: str = ""
    plan_format: PlanFormat | None = None
    plan_path: str = ""
    switches_seen: int = 0
    hcas_seen: int = 0
    outside: list[Cable] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """Of design: 0 ok, 1 findings, 3 could not tell."""
        codes = {VerdictWord.OK: EXIT_OK, VerdictWord.FINDINGS: EXIT_FINDINGS}
        return codes.get(self.word, EXIT_COULD_NOT_TELL)


def verify(plan: Plan | None, observation: Observation, options: Options | None = None) -> Verdict:
    """Judge an observation.

    :param plan: None runs only the checks that need no plan.
    :raises UsageError: ``options.only`` names nothing in the plan.
    """
    return _Verifier(plan, observation, options or Options()).run()


class _Verifier:
    def __init__(self, plan: Plan | None, observation: Observation, options: Options) -> None:
        self.options, self.observation, self.seen = options, observation, observation.fabric
        self.planned = plan is not None
        self.binding = bind(plan if plan is not None else _rates_off(observation), self.seen, options.names)
        self.tiers = Tiers(self.binding, self.seen)
        self.ends = Ends(self.binding, self.seen, options.knowledge)
        self.other = OtherFindings(self.binding, observation, self.tiers, self.ends)
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.counts = Counts()
        self.outside: list[Cable] = []
        self.scope: Scope | None = None
        if options.only:
            self.scope = make_scope(options.only, self.binding.plan, options.knowledge.place_of)

    def run(self) -> Verdict:
        classified = classify(self.binding, self.seen, self.tiers.pair, self.expectations())
        self.findings += LinkFindings(self.binding, self.seen, self.tiers, self.ends).all(classified)
        islands = find_islands(self.binding, self.observation)
        if self.planned:
            self.against_plan(classified, islands)
        else:
            self.findings += self.other.bundle_gaps()
            self.findings += self.other.unplanned(
                [c for c in self.seen.each_link() if c.a.node == c.b.node], strict=False
            )
        self.findings += self.other.names()
        self.findings += self.other.managers(self.options.manager_hosts)
        self.rails(classified)
        if self.scope is not None:
            self.findings = [f for f in self.findings if not f.devices or self.scope.names_any(f.devices)]
        self.same_names()
        if self.planned:
            self.remarks()
        doubts = self.doubts(classified)
        order = list(FindingKind)
        self.findings.sort(key=lambda f: (order.index(f.kind), -len(f.cables), natural_key(f.subject)))
        word = (
            VerdictWord.COULD_NOT_TELL
            if doubts
            else VerdictWord.FINDINGS
            if self.findings
            else VerdictWord.OK
        )
        plan = self.binding.plan
        return Verdict(
            word=word,
            counts=self.counts,
            islands=islands,
            findings=self.findings,
            doubts=doubts,
            notes=[*(plan.notes if self.planned else ()), *self.binding.notes, *self.notes],
            sources=self.observation.sources,
            gate=self.options.gate,
            only=self.options.only,
            plan_format=plan.format if self.planned else None,
            plan_path=plan.path if self.planned else "",
            switches_seen=sum(1 for _ in self.seen.switches()),
            hcas_seen=sum(1 for _ in self.seen.hcas()),
            outside=self.outside,
        )

    def expectations(self) -> Expectations:
        in_scope = self.scope.holds if self.scope is not None else None
        nodes = self.binding.plan.fabric.nodes
        by_name = (
            _keys_by_name(self.binding.plan.fabric)
            if self.options.expected_absent or self.options.absent_ports
            else {}
        )
        absent = {
            key: why
            for name, why in self.options.expected_absent.items()
            for key in by_name.get(name_key(name), ())
        }
        ports = {
            Port(key, port.number): why
            for port, why in self.options.absent_ports.items()
            for key in by_name.get(name_key(port.node), ())
        }
        rate_of_class = self.options.rate_of_class
        if rate_of_class is None:
            return Expectations(None, absent, ports, in_scope, self.observation.disputed)
        tier_of = self.tiers.plan

        def rate_of(link: Link) -> Rate | None:
            a, b = nodes[link.a.node], nodes[link.b.node]
            return rate_of_class(tier_of.get(a.key), tier_of.get(b.key), (a.host or a.name, b.host or b.name))

        return Expectations(rate_of, absent, ports, in_scope, self.observation.disputed)

    def against_plan(self, classified: Classified, islands: Islands) -> None:
        """Counts, cables nobody planned, reserved ports, islands and the gate."""
        counts = self.counts
        for cls, number in classified.counts.items():
            setattr(counts, cls.value, number)
        counts.intended = sum(classified.counts.values())
        counts.by_tier = {
            p: {c.value: n for c, n in row.items()}
            for p, row in sorted(classified.by_tier.items(), key=_tier_order)
        }
        counts.excused = sum(1 for judged in classified.judged if judged.excused)
        reserved = self.reserved_ports()
        unplanned = unexplained(classified, self.seen)
        loose = [link for link in unplanned if not self.on_reserved(link, reserved)]
        kinds = Counter(self.other.kind_of(link) for link in loose)
        counts.unexpected = kinds[FindingKind.UNEXPECTED]
        counts.outside_plan = kinds[FindingKind.OUTSIDE_PLAN]
        self.outside = [
            Cable(
                self.ends.discovered(link.a), None, self.ends.discovered(link.b), self.tiers.seen_pair(link)
            )
            for link in loose
            if self.other.kind_of(link) is FindingKind.OUTSIDE_PLAN
        ]
        counts.cables_seen = self.seen.link_count
        counts.cables_as_planned = classified.as_planned
        counts.cables_differ = counts.cables_seen - classified.as_planned - len(unplanned)
        counts.absent_devices = sum(1 for absence in classified.absent.values() if absence.under is None)
        unknown = unknown_keys(self.binding, self.seen)
        counts.unknown_devices = len(unknown)
        if not self.options.only:
            self.findings += self.other.unplanned(loose, strict=self.options.strict)
            if self.options.strict:
                self.findings += self.other.unknown_devices(unknown)
            split = split_finding(islands) if self.seen.links else None
            self.findings += [split] if split else []
        self.findings += self.other.reserved(reserved)
        representative = self.scope is None and 2 * counts.judged >= counts.intended
        if representative and counts.bad and counts.bad_share >= self.options.gate:
            self.findings.append(_share_finding(counts, self.options.gate))

    def reserved_ports(self) -> dict[Port, str]:
        """Reserved ports in plan keys, from the plan and the site."""
        reserved = dict(self.binding.plan.reserved)
        if self.options.reserved:
            by_name = _keys_by_name(self.binding.plan.fabric)
            for port, who in self.options.reserved.items():
                for key in by_name.get(name_key(port.node), ()):
                    reserved[Port(key, port.number)] = who
        return reserved

    def on_reserved(self, link: Link, reserved: Mapping[Port, str]) -> bool:
        for end in (link.a, link.b):
            planned = self.binding.plan_of.get(end.node)
            if planned is not None and Port(planned, end.number) in reserved:
                return True
        return False

    def rails(self, classified: Classified) -> None:
        """Findings where the plan declares rails or the operator asks, notes otherwise."""
        check = check_rails(self.seen)
        asked = self.options.check_rails or (self.planned and self.binding.plan.declares_rails)
        if asked:
            covered = covered_ports(classified)
            if self.planned and self.binding.plan.declares_rails:
                covered.update(classified.planned_at)  # what such a plan wants is on the right rail
            self.findings += self.other.rails(check, covered)
            if self.options.check_rails:
                self.notes.append(_rail_note(check))
        elif check.misaligned or check.other_port:
            number = len(check.misaligned) + len(check.other_port)
            self.notes.append(f"{number} HCAs are out of line with their rail; --check rails lists them")

    def remarks(self) -> None:
        """What is worth knowing and changes no verdict."""
        plan = self.binding.plan
        unsure = [
            n.name
            for k, n in plan.fabric.nodes.items()
            if n.kind is NodeKind.UNKNOWN and k not in self.binding.seen_of
        ]
        if unsure:
            self.notes.append(
                f"{len(unsure):,} unseen devices may be switches or hosts: the plan does not say ({fold(unsure[:3])})"
            )
        here = [k for k in self.expectations().absent if k in self.binding.seen_of]
        if here:
            names = fold(plan.fabric.nodes[key].name for key in here)
            self.notes.append(f"expected absent, but seen: {names}")
        if not any(link.rate for link in plan.fabric.each_link()) and self.options.rate_of_class is None:
            rates = Counter(str(link.rate) for link in self.seen.each_link() if link.rate)
            if rates:
                shown = ", ".join(f"{number:,} at {rate}" for rate, number in rates.most_common(4))
                self.notes.append(f"the plan states no rate; the cables run {shown}")

    def same_names(self) -> None:
        """Names used twice where they decide nothing: worth a note."""
        needed = {name_key(clash.name) for clash in self.binding.clashes}
        counts = Counter(node.name for node in self.seen.nodes.values() if node.name != node.key)
        twice = [name for name, number in counts.items() if number > 1 and name_key(name) not in needed]
        if twice:
            shown = ", ".join(twice[:3]) + (", ..." if len(twice) > 3 else "")
            what = "name is" if len(twice) == 1 else "names are"
            self.notes.append(
                f"{len(twice)} {what} used by several devices ({shown}); GUIDs tell them apart here"
            )

    def out_of_scope(self, problem: Problem) -> bool:
        """A doubt about devices that ``--only`` leaves out."""
        if self.scope is None or not problem.nodes:
            return False
        planned = {self.binding.plan_of.get(key) for key in problem.nodes}
        return self.scope.nodes.isdisjoint(key for key in planned if key is not None)

    def known_to_snapshot(self, problem: Problem) -> bool:
        """A golden snapshot that had not read these nodes either makes them no news."""
        plan = self.binding.plan
        if (
            not self.planned
            or plan.format is not PlanFormat.SNAPSHOT
            or problem.kind is not ProblemKind.UNREAD_NODE
        ):
            return False
        nodes = [plan.fabric.nodes.get(key) for key in problem.nodes]
        return bool(nodes) and all(node is not None and not node.listed for node in nodes)

    def doubts(self, classified: Classified) -> list[str]:
        doubts = [
            f"{source.label}: {source.failed}" if source.failed else f"{source.label}: nothing was read"
            for source in self.observation.sources
            if source.failed or source.format is None
        ]
        problems: dict[ProblemKind, list[str]] = {}
        for problem in self.observation.problems:
            if self.known_to_snapshot(problem) or self.out_of_scope(problem):
                continue
            label = self.observation.sources[problem.source].label if self.observation.sources else ""
            problems.setdefault(problem.kind, []).append(
                f"{label}: {problem.text}" if label else problem.text
            )
        for kind, texts in problems.items():
            more = f" (and {len(texts) - 1:,} more like it)" if len(texts) > 1 else ""
            if kind in INFORMATION:
                self.notes.append(texts[0] + more)
            elif kind not in (ProblemKind.DUPLICATE_GUID, ProblemKind.INACTIVE, ProblemKind.VIEWER):
                doubts.append(texts[0] + more)
        reasons = Counter(
            j.reason for j in classified.judged if j.cls is LinkClass.NOT_JUDGED and not j.excused
        )
        doubts += [
            f"{number:,} planned cables not judged: {reason}" for reason, number in reasons.most_common()
        ]
        if classified.rate_untold:
            doubts.append(
                f"the source does not tell the rate of {classified.rate_untold:,} cables that have an expected one"
            )
        if not self.planned and not self.seen.links:
            doubts.append("no cable was seen at all")
        return doubts


def _rates_off(observation: Observation) -> Plan:
    """The observation as its own plan without rates: what is left to judge is what needs no plan."""
    if not observation.fabric.links:
        return Plan(Fabric(), PlanFormat.SNAPSHOT, keyed_by_guid=True)
    plan = plan_from_observation(observation)
    fabric = Fabric(nodes=plan.fabric.nodes)
    for link in plan.fabric.each_link():
        fabric.connect(link._replace(rate=None))
    plan.fabric, plan.keyed_by_guid = fabric, True
    return plan


def _keys_by_name(fabric: Fabric) -> dict[str, list[str]]:
    keys: dict[str, list[str]] = {}
    node: Node
    for key, node in fabric.nodes.items():
        for name in {
            name_key(node.name),
            name_key(node.host or node.name),
            short_key(node.host or node.name),
        }:
            keys.setdefault(name, []).append(key)
    return keys


def _tier_order(item: tuple[str, object]) -> tuple[int, str]:
    order = ("host-leaf", "host-switch", "leaf-spine", "spine-core")
    return (order.index(item[0]) if item[0] in order else len(order), item[0])


def _share_finding(counts: Counts, gate: float) -> Finding:
    return Finding(
        FindingKind.BAD_LINK_SHARE,
        f"{counts.bad_share:.1%} bad",
        f"{counts.bad_share:.1%} of the judged cables are bad: above the gate of {gate:.0%}",
        expected=f"less than {gate:.0%}",
        found=f"{counts.bad:,} of {counts.judged:,}",
        fix="repair before any training run: adaptive routing does not cope with this many bad links",
    )


def _rail_note(check: RailCheck) -> str:
    if not check.leaves:
        return "rails: no leaf has enough named HCAs to tell"
    return (
        f"rails: {check.aligned_leaves:,} of {check.leaves:,} leaves have one HCA name on most ports "
        f"({len(check.misaligned):,} HCAs differ), {check.same_port_hosts:,} of {check.hosts:,} hosts sit on one "
        "port number of all their leaves"
    )
