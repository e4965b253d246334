"""A verdict with why and how to mend it: causes, and the fewest moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fabricctl.cable_kinds import AssemblyType
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.finding_id import spot_words
from fabricctl.cabling.hca_slots import SlotCheck, check_slots
from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.cabling.scope import Scope
from fabricctl.cabling.verdict import KindOfClass, Options, Verdict
from fabricctl.causes.model import CauseKnowledge, OtherSlot
from fabricctl.fabric import Link
from fabricctl.panels import Panel
from fabricctl.repair.knowledge import RepairKnowledge, distances_by_rack
from fabricctl.repair.model import Mismatch, RepairPlan
from fabricctl.repair.parts import slow_by_rule

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


def deepen(verdict: Verdict, options: Options, site: Site | None = None) -> Verdict:
    """The verdict with ``explanation`` and ``repair`` filled in; as it is when there was no plan.

    A pattern that no cable of the declared kind can make becomes a finding. Under ``--only`` the causes are those of
    the chosen cables; the moves are those of every group of wrong cables that holds a chosen one, followed to its end.
    """
    comparison = verdict.comparison
    if comparison is None or verdict.plan_format is None:
        return verdict
    from fabricctl.causes.explain import explain
    from fabricctl.repair.slots import planned_kinds
    from fabricctl.repair.solve import plan_repair

    known = repair_knowledge(comparison, options, site)
    kinds = planned_kinds(comparison, known)
    explanation = explain(comparison, replace(cause_knowledge(comparison, options), assembly_of=kinds))
    repair = plan_repair(comparison, known)
    if verdict.scope is not None:
        repair = replace(repair, notes=(*repair.notes, *_beyond(verdict.scope, repair)))
    findings = slow_by_rule_said(comparison, verdict.findings)
    deeper = replace(verdict, findings=findings, explanation=explanation, repair=repair)
    deeper.add(mismatch_findings(comparison, repair))
    return deeper


def _beyond(scope: Scope, repair: RepairPlan) -> Iterator[str]:
    """Moves at devices that ``--only`` did not choose: they free or fill the places of those that are."""
    sockets = [[s for s in (move.source, move.target) if s is not None] for move in repair.moves]
    beyond = sum(scope.nodes.isdisjoint(p.node for s in both for p in s.ports) for both in sockets)
    if beyond:
        yield (
            f"{beyond:,} of {len(sockets):,} moves are at devices outside --only: a group of wrong cables is mended "
            "as a whole"
        )


def repair_knowledge(comparison: Comparison, options: Options, site: Site | None = None) -> RepairKnowledge:
    """What site file and panels tell the solver: faces, places, reservations and the way between two devices."""
    places = options.knowledge.place_of
    known = RepairKnowledge(panel_of=comparison.ends.panel, place_of=places.get, reserved=comparison.reserved)
    if options.kind_of_class is not None:
        known = replace(known, class_kind=partial(_class_kind, comparison, options.kind_of_class))
    if site is None:
        return known
    from fabricctl.site.use import rack_spots

    spots = rack_spots(site)
    if not spots:
        return known
    metres = distances_by_rack(comparison.binding.plan.fabric, places.get, spots)
    return replace(known, distance_m=metres, racks=spots)


def _class_kind(comparison: Comparison, kind_of: KindOfClass, link: Link) -> AssemblyType | None:
    nodes, tiers = comparison.binding.plan.fabric.nodes, comparison.tiers.plan
    a, b = nodes[link.a.node], nodes[link.b.node]
    named = link.detail.link_class if link.detail is not None else ""
    return kind_of(named, tiers.get(a.key), tiers.get(b.key), (a.host or a.name, b.host or b.name))


def cause_knowledge(comparison: Comparison, options: Options) -> CauseKnowledge:
    """Panels of switches and hosts, and cards found in other slots."""
    panel_of = options.knowledge.panel_of

    def host_panel(host: str) -> Panel | None:
        return panel_of(host, "") if panel_of is not None else None

    slots: Mapping[str, tuple[OtherSlot, ...]] = {}
    if options.hca_slots:
        slots = other_slots(check_slots(options.hca_slots, comparison.seen, options.names.node_model))
    return CauseKnowledge(comparison.ends.panel, host_panel, slots)


def other_slots(check: SlotCheck) -> dict[str, tuple[OtherSlot, ...]]:
    """Host -> HCAs that sit where most hosts of the model have another one."""
    usual = {
        (model, _hca(words)): slot for model, slots in check.usual.items() for slot, words in slots.items()
    }
    found: dict[str, tuple[OtherSlot, ...]] = {}
    for one in check.deviations:
        own = usual.get((one.model, _hca(one.found)))
        if own is not None and own != one.slot:
            card = OtherSlot(_hca(one.found), one.slot, own)
            found[one.host] = (*found.get(one.host, ()), card)
    return found


def _hca(words: str) -> str:
    """``mlx5_3 at PCI 5e:00.0`` -> ``mlx5_3``."""
    return words.split(" at ")[0]


def slow_by_rule_said(comparison: Comparison, findings: list[Finding]) -> list[Finding]:
    """Findings in which a rate that most links of the plan share is not blamed on each single cable."""
    planned = comparison.binding.plan.fabric.link_count
    shared = {
        (str(rate), str(expected)): links
        for (rate, expected), links in slow_by_rule(comparison.classified.judged, planned).items()
    }
    if not shared:
        return findings

    def said(finding: Finding) -> Finding:
        number = shared.get((finding.found, finding.expected.split(" (")[0]))
        if finding.kind is not FindingKind.DEGRADED or number is None:
            return finding
        fix = f"no fault of this cable, as {number:,} links run at {finding.found}: look at the rate that plan and site"
        return replace(finding, fix=f"{fix} file expect, and at how the switches are set")

    return [said(finding) for finding in findings]


def mismatch_findings(comparison: Comparison, repair: RepairPlan) -> list[Finding]:
    """Patterns impossible for the declared kind of cable."""
    return [_mismatch(comparison, mismatch) for mismatch in repair.mismatches]


def _mismatch(comparison: Comparison, mismatch: Mismatch) -> Finding:
    planned = comparison.binding.plan.fabric.nodes
    ends = [
        comparison.ends.planned(port) if port.node in planned else comparison.ends.discovered(port)
        for port in mismatch.ports
    ]
    where = ", ".join(str(end) for end in ends[:4]) + (", ..." if len(ends) > 4 else "")
    return Finding(
        FindingKind.CABLE_TYPE,
        where,
        f"{where}: no {mismatch.declared.value.replace('_', ' ')} can be plugged like this",
        expected=mismatch.declared.value.replace("_", " "),
        found=mismatch.words,
        fix="look at the cable: its kind is declared wrongly, or a device there is not the one it is taken for",
        devices=tuple(dict.fromkeys(end.device for end in ends)),
        group=mismatch.declared.value,
        where=tuple(spot_words(end.spot) for end in ends),
    )
