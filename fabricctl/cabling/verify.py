"""From a plan and an observation to a verdict. Pure: everything it needs is an argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from fabricctl.cabling.bind import bind
from fabricctl.cabling.classify import Classified, Expectations, classify, unexplained
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.directory import Directory, NameIndex, plan_index
from fabricctl.cabling.ends import Ends
from fabricctl.cabling.hca_slots import check_slots, slot_findings
from fabricctl.cabling.islands import Islands, find_islands, planned_words, split_finding
from fabricctl.cabling.link_findings import LinkFindings
from fabricctl.cabling.model import Cable, Counts, Finding, FindingKind
from fabricctl.cabling.other_findings import OtherFindings, covered_ports, unknown_keys
from fabricctl.cabling.profiles import normalise
from fabricctl.cabling.rails import RailCheck, check_rails
from fabricctl.cabling.remarks import Remarks
from fabricctl.cabling.scope import Scope, about, make_scope
from fabricctl.cabling.tiers import Tiers
from fabricctl.cabling.verdict import Options, Verdict, VerdictWord
from fabricctl.discovery.model import Observation
from fabricctl.fabric import Fabric, Link, Port
from fabricctl.hostset import natural_key
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.rates import Rate


def verify(plan: Plan | None, observation: Observation, options: Options | None = None) -> Verdict:
    """Judge an observation.

    :param plan: None runs only the checks that need no plan.
    :raises UsageError: ``options.only`` names nothing in the plan.
    :raises PlanError: plain port numbers of the plan may be cages, and nothing shows it.
    """
    return _Verifier(plan, observation, options or Options()).run()


class _Verifier:
    def __init__(self, plan: Plan | None, observation: Observation, options: Options) -> None:
        options = replace(options, names=options.names.of_nodes(observation.fabric))
        normal = normalise(plan, observation, options.knowledge.model_of, options.names)
        plan, observation = normal.plan, normal.observation
        self.options, self.observation, self.seen = options, observation, observation.fabric
        self.planned, self.normal, self.numbering = plan is not None, normal, normal.numbering
        self.directory = Directory(self.seen, options.names)
        self.binding = bind(plan or _rates_off(observation), self.seen, options.names, self.directory)
        self.tiers = Tiers(self.binding, self.seen)
        self.ends = Ends(self.binding, self.seen, options.knowledge, self.numbering)
        self.other = OtherFindings(self.binding, observation, self.directory, self.tiers, self.ends)
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.counts = Counts()
        self.outside: list[Cable] = []
        self.scope: Scope | None = None
        if options.only:
            self.scope = make_scope(options.only, self.binding.plan, options.knowledge.place_of)

    def run(self) -> Verdict:
        classified = classify(self.binding, self.seen, self.tiers.pair, self.expected)
        of_links = list(LinkFindings(self.binding, self.seen, self.tiers, self.ends).all(classified))
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
        slots = self.slots()
        self.findings = about(self.scope, self.findings)
        self.findings += of_links  # of links in scope only, though the device at fault may be outside of it
        said = planned_words(islands)
        self.notes += [said] if said and self.planned else []
        remarks = Remarks(self.binding, self.observation, planned=self.planned, scope=self.scope)
        doubts = [*self.normal.doubts, *remarks.doubts(classified), *slots]
        self.notes += remarks.notes(classified, list(self.expected.absent), rates_stated=self.rates_stated())
        order = list(FindingKind)
        self.findings.sort(key=lambda f: (order.index(f.kind), -len(f.cables), natural_key(f.subject)))
        word = VerdictWord.FINDINGS if self.findings else VerdictWord.OK
        word = VerdictWord.COULD_NOT_TELL if doubts else word
        plan = self.binding.plan
        return Verdict(
            word=word,
            counts=self.counts,
            islands=islands,
            findings=self.findings,
            doubts=doubts,
            notes=[
                *(plan.notes if self.planned else ()),
                *self.normal.notes,
                *self.binding.notes,
                *self.notes,
            ],
            sources=self.observation.sources,
            gate=self.options.gate,
            only=self.options.only,
            scope=self.scope,
            plan_format=plan.format if self.planned else None,
            plan_path=plan.path if self.planned else "",
            switches_seen=sum(1 for _ in self.seen.switches()),
            hcas_seen=sum(1 for _ in self.seen.hcas()),
            outside=self.outside,
            comparison=Comparison(
                self.binding,
                self.seen,
                classified,
                self.tiers,
                self.ends,
                self.numbering,
                self.reserved_ports(),
            ),
        )

    @cached_property
    def planned_names(self) -> NameIndex:
        """Planned nodes by every name they answer to."""
        return plan_index(self.binding.plan.fabric.nodes.values())

    @cached_property
    def expected(self) -> Expectations:
        """What site and operator say, in the plan's keys."""
        options = self.options
        named = self.planned_names.get if options.expected_absent or options.absent_ports else None
        absent: dict[str, str] = {}
        ports: dict[Port, str] = {}
        if named is not None:
            absent = {key: why for name, why in options.expected_absent.items() for key in named(name)}
            ports = {
                self.site_port(key, p): why
                for p, why in options.absent_ports.items()
                for key in named(p.node)
            }
        in_scope = self.scope.holds if self.scope is not None else None
        rate_of = self.class_rate if options.rate_of_class is not None else None
        return Expectations(rate_of, absent, ports, in_scope, self.observation.disputed)

    def class_rate(self, link: Link) -> Rate | None:
        """The rate the site's link classes give a planned link."""
        nodes, tiers = self.binding.plan.fabric.nodes, self.tiers.plan
        a, b = nodes[link.a.node], nodes[link.b.node]
        rate_of_class = self.options.rate_of_class
        assert rate_of_class is not None
        return rate_of_class(tiers.get(a.key), tiers.get(b.key), (a.host or a.name, b.host or b.name))

    def rates_stated(self) -> bool:
        """Whether plan or site say how fast links should be."""
        return self.options.rate_of_class is not None or any(
            link.rate for link in self.binding.plan.fabric.each_link()
        )

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
        unplanned = unexplained(classified, self.binding, self.seen)
        loose = [link for link in unplanned if not self.on_reserved(link, reserved) and self.in_scope(link)]
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
        if undecided := self.binding.undecided:
            counts.cables_differ -= sum(
                link.a.node in undecided or link.b.node in undecided for link in self.seen.each_link()
            )
        counts.absent_devices = len({judged.absent for judged in classified.judged if judged.absent})
        unknown = unknown_keys(self.binding, self.seen)
        counts.unknown_devices = len(unknown)
        self.findings += self.other.unplanned(loose, strict=self.options.strict)
        if self.scope is None:
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
        for port, who in self.options.reserved.items():
            reserved.update((self.site_port(key, port), who) for key in self.planned_names.get(port.node))
        return reserved

    def site_port(self, key: str, port: Port) -> Port:
        """A port as the site file counts it (the normal profile) under its planned switch's key."""
        return Port(key, self.numbering.of_normal(key, port.number))

    def in_scope(self, link: Link) -> bool:
        """Whether a seen cable touches what ``--only`` chose."""
        if self.scope is None:
            return True
        planned = (self.binding.plan_of.get(end.node) for end in (link.a, link.b))
        return not self.scope.nodes.isdisjoint(key for key in planned if key is not None)

    def on_reserved(self, link: Link, reserved: Mapping[Port, str]) -> bool:
        for end in (link.a, link.b):
            planned = self.binding.plan_of.get(end.node)
            if planned is not None and Port(planned, end.number) in reserved:
                return True
        return False

    def slots(self) -> list[str]:
        """Findings about cards in other slots; returns what could not be told."""
        if not self.options.hca_slots:
            return []
        check = check_slots(self.options.hca_slots, self.seen, self.options.names.node_model)
        self.findings += slot_findings(check, self.ends)
        self.notes += check.notes
        return check.doubts

    def rails(self, classified: Classified) -> None:
        """Findings where the plan declares rails or the operator asks, notes otherwise."""
        check = check_rails(self.seen, lambda port: self.numbering.own(None, port.node, port.number)[0])
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
            what = "1 HCA is" if number == 1 else f"{number:,} HCAs are"
            them = "it" if number == 1 else "them"
            self.notes.append(
                f"{what} out of line with {'its' if number == 1 else 'their'} rail; --check rails lists {them}"
            )


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
    leaves = (
        f"{check.usual_hcas:,} of {check.leaf_hcas:,} HCAs are on a leaf of their own name"
        if check.aligned
        else "leaves carry HCAs of mixed names: this fabric is not rail-aligned, or names its HCAs otherwise"
    )
    ports = (
        f"{check.same_port_hosts:,} of {check.hosts:,} hosts sit on one port number of all their leaves"
        if check.same_port
        else "hosts do not keep one port number on all their leaves"
    )
    return f"rails: {leaves}; {ports}"
