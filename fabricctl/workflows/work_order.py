"""Work orders: from a verdict to what a person in the hall does, and back from a discovery to what is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from fabricctl.adapters.files import decode, read_input
from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.verdict import Verdict
from fabricctl.causes.model import CauseKind
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK, UsageError
from fabricctl.near import did_you_mean
from fabricctl.repair.order_check import OrderCheck, check
from fabricctl.repair.order_model import About, WorkOrder
from fabricctl.repair.order_pieces import devices_of, only_device, only_rack, racks_of, split
from fabricctl.repair.work_order import make_order
from fabricctl.report.causes_words import headline
from fabricctl.workflows.deepen import repair_knowledge
from fabricctl.workflows.in_service import Record, read_states
from fabricctl.workflows.verify_cabling import Intent, Progress, Request, judge, load_intent, observe


@dataclass(frozen=True)
class Piece:
    """Which piece of the whole work is wanted. :param people: among how many it is shared."""

    device: str = ""
    rack: str = ""
    people: int = 1


@dataclass(frozen=True)
class Made:
    """Work orders, one per person.

    :param exit_code: 0 nothing to do, 1 something, 3 something was not told.
    :param refused: why there is no order at all: with ``--identify``, this is another fabric.
    """

    orders: list[WorkOrder]
    exit_code: int
    refused: tuple[str, ...] = ()


def make(request: Request, piece: Piece, now: datetime, progress: Progress) -> Made:
    """Judge the fabric and write down what repairs it.

    :raises UsageError: there is no plan, or no such device or rack. :raises InputError: a file cannot be used.
    :raises StateError: the store that ``--state`` names cannot be read.
    """
    intent = load_intent(request, progress)
    if intent.plan is None:
        raise UsageError("a work order needs the intended cabling: give --plan or --site")
    record = read_states(intent.site, request.state)
    verdict = judge(intent, observe(request, intent.viewers, progress, site=intent.site))
    if verdict.repair is None:
        return Made([], EXIT_COULD_NOT_TELL, tuple(verdict.doubts))
    progress("writing the steps")
    return made(verdict, intent, piece, now, record)


def made(verdict: Verdict, intent: Intent, piece: Piece, now: datetime, record: Record | None = None) -> Made:
    """The work orders of a verdict.

    :param record: the node record, by which hosts in service are named.
    :raises UsageError: no such device or rack.
    """
    comparison = verdict.comparison
    assert comparison is not None
    order = order_of(verdict, intent, now, record)
    if piece.device:
        _known("device", piece.device, _devices(comparison), devices_of(order))
        order = only_device(order, piece.device)
    if piece.rack:
        _known("rack", piece.rack, _racks(comparison, intent), racks_of(order))
        order = only_rack(order, piece.rack)
    assert verdict.repair is not None
    untold = verdict.doubts or verdict.repair.unplanned
    code = EXIT_COULD_NOT_TELL if untold else EXIT_OK if order.empty else EXIT_FINDINGS
    return Made(split(order, piece.people) if piece.people > 1 else [order], code)


def order_of(verdict: Verdict, intent: Intent, now: datetime, record: Record | None = None) -> WorkOrder:
    """The whole work order of a verdict that has a repair. :param record: the node record, where one is at hand."""
    comparison, repair = verdict.comparison, verdict.repair
    assert comparison is not None
    assert repair is not None
    knowledge = repair_knowledge(comparison, intent.options, intent.site)
    head = about(verdict, intent, now)
    if record is not None:
        head = replace(head, states=record.states, notes=(record.doubt,) if record.doubt else ())
    return make_order(repair, comparison, knowledge, head)


def about(verdict: Verdict, intent: Intent, now: datetime) -> About:
    """What heads the order of a verdict."""
    plan = verdict.plan_path or str(verdict.plan_format or "")
    return About(
        site=intent.site.name if intent.site is not None else "",
        plan=f"{plan}, {verdict.only} only" if verdict.only else plan,
        discoveries=tuple(source.label for source in verdict.sources),
        made=now.isoformat(timespec="minutes"),
        not_covered=(*verdict.doubts, *(verdict.repair.unplanned if verdict.repair is not None else ())),
        look_first=tuple(_causes_first(verdict)),
        notes=tuple(note for note in verdict.notes if "--identify" in note),
    )


CAUSES_FIRST = 8
"""Causes that head an order; who has more of them reads verify-cabling first."""


def _causes_first(verdict: Verdict) -> Iterator[str]:
    """Causes, those first that may be settled by correcting a name instead of moving a plug."""
    if verdict.explanation is None:
        return
    causes = sorted(verdict.explanation.systematic, key=lambda cause: cause.kind is not CauseKind.WRONG_RACK)
    for cause in causes[:CAUSES_FIRST]:
        said = f"{headline(cause)}. {cause.fix[:1].upper()}{cause.fix[1:]}"
        if cause.kind is CauseKind.WRONG_RACK:
            said += "; if only the names are wrong, correct them, make the order anew, and move none of these plugs"
        yield said
    if len(causes) > CAUSES_FIRST:
        yield f"and {len(causes) - CAUSES_FIRST:,} more causes: see verify-cabling"


def _devices(comparison: Comparison) -> set[str]:
    """Every name that a device of plan or discovery has: switches, hosts, HCAs."""
    nodes = [*comparison.binding.plan.fabric.nodes.values(), *comparison.seen.nodes.values()]
    return {name for node in nodes for name in (node.host or node.name, node.name)}


def _racks(comparison: Comparison, intent: Intent) -> set[str]:
    nodes = comparison.binding.plan.fabric.nodes.values()
    places = [*(node.place for node in nodes), *intent.options.knowledge.place_of.values()]
    return {place.rack for place in places if place is not None}


def _known(what: str, name: str, *known: set[str] | list[str]) -> None:
    names = {one for some in known for one in some}
    if name not in names:
        raise UsageError(
            f"neither plan nor discovery knows a {what} {name!r}", hint=did_you_mean(name, sorted(names))
        )


def load_order(path: str) -> WorkOrder:
    """A work order from its JSON or HTML file.

    :raises InputError: it is none.
    """
    from fabricctl.report.work_order_json import read_order

    return read_order(decode(read_input(path), path), path)


def check_order(path: str, request: Request, device: str, progress: Progress) -> OrderCheck:
    """Look which steps of a work order are done.

    :param request: where to look; plan and site are not needed. :param device: only steps that touch it.
    :raises UsageError: nothing to look at, or the order does not touch the device. :raises InputError: bad files.
    """
    order = load_order(path)
    if device:
        spots = {far.now.device for step in order.steps for far in step.others}
        _touched(device, spots | set(devices_of(order)))
    return check(order, observe(request, (), progress), device)


def _touched(device: str, names: set[str]) -> None:
    if device.split(" ")[0] not in names and device not in names:
        raise UsageError(
            f"the work order does not touch a device {device!r}", hint=did_you_mean(device, sorted(names))
        )
