"""Words that the forms of a work order share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabricctl.hostset import fold
from fabricctl.repair.order_model import FarEnd, Part, Spot, Step, StepKind, WorkOrder
from fabricctl.repair.order_words import busy_first, span
from fabricctl.words import many

KIND_WORDS = {StepKind.MOVE: "MOVE", StepKind.PULL: "TAKE OUT", StepKind.LAY: "NEW CABLE"}
KIND_MARKS = {StepKind.MOVE: "\u2192", StepKind.PULL: "\u2715", StepKind.LAY: "\uff0b"}
"""A shape for each kind, so that colour is never needed."""
SIGN_OFF = ("initials", "time", "photo")
"""Fields to fill by hand."""


def listed(numbers: Iterable[int]) -> str:
    """``1, 2, 17``."""
    return ", ".join(map(str, numbers))


def title(order: WorkOrder) -> str:
    """What the document is."""
    share = f", share {order.part} of {order.of_parts}" if order.of_parts > 1 else ""
    only = f", {order.limited_to} only" if order.limited_to else ""
    return f"Work order{f' {order.site}' if order.site else ''}{only}{share}"


def summary(order: WorkOrder) -> str:
    """One sentence on how much there is to do."""
    if order.empty:
        told = "nothing of what could be told" if order.not_covered else "nothing"
        where = f" at {order.limited_to}" if order.limited_to else ""
        left = f"; {many(order.left_out, 'step')} elsewhere" if order.left_out else ""
        return f"{told} is to be done{where}{left}"
    parts = []
    if order.steps:
        racks = many(len(order.racks), "rack") if order.racks else "racks unknown"
        parts.append(
            f"{many(len(order.steps), 'step')} in {many(order.groups, 'group')}, {racks}, about "
            f"{span(order.minutes)}"
        )
    if order.parts:
        parts.append(many(len(order.parts), "separate order"))
    if order.look_first:
        parts.append(f"{many(len(order.look_first), 'thing')} to look at first")
    return "; ".join(parts)


def busy(order: WorkOrder) -> list[str]:
    """What to do first about hosts that jobs may run on, by the node record."""
    return list(busy_first(order.in_service, order.draining))


def facts(order: WorkOrder) -> Iterator[tuple[str, str]]:
    """What the document was made from."""
    yield from (
        ("plan", order.plan),
        ("discovery", ", ".join(order.discoveries)),
        ("made", order.made),
        ("limited to", order.limited_to),
    )
    if order.left_out:
        yield "left out", f"{many(order.left_out, 'step')} of the whole repair: groups that do not touch it"
    if order.of_parts > 1:
        yield "share", f"{order.part} of {order.of_parts}; steps keep the numbers of the whole order"
    if order.racks:
        yield "racks", fold(order.racks)


def heading(step: Step) -> str:
    """Group and time of a step."""
    group = f"group {step.group}"
    if step.group_size > 1:
        group += f", {step.place_in_group} of {step.group_size}"
    return f"{group}, about {span(step.minutes)}"


def far_words(far: FarEnd) -> str:
    """Where another plug of the cable is."""
    what = "" if far.role == "end" else f"{far.role}: "
    if far.later is None:
        return f"{what}{far.now.words}; stays"
    return f"{what}{far.now.words}; goes to {far.later.words} in step {far.step}"


def rows(step: Step) -> Iterator[tuple[str, str]]:
    """Everything beside the sentence itself, as (what, text)."""
    yield from where_rows(step)
    yield from how_rows(step)


def where_rows(step: Step) -> Iterator[tuple[str, str]]:
    """Places and labels: what one holds against the cable."""
    for spot in step.sources:
        text = "; ".join(part for part in (spot.mark, spot.detail) if part)
        if text:
            yield "from", text
    yield from (("to", spot.detail) for spot in step.targets if spot.detail)
    yield from (("other end", far_words(far)) for far in step.others)
    yield "label here", step.label_here
    if step.label_far:
        yield "label there", step.label_far
    if step.plan_label:
        yield "plan's label", step.plan_label
    if step.label_now:
        yield "runs today", step.label_now


def how_rows(step: Step) -> Iterator[tuple[str, str]]:
    """The cable, and what to mind before, during and after."""
    yield "cable", step.cable_words
    yield "success", step.expect
    yield "hosts", step.hosts_words
    if step.stop_if:
        yield "stop if", "; ".join(step.stop_if)
    yield "undo", step.undo


def part_rows(part: Part) -> Iterator[tuple[str, str]]:
    """What a separate order is about, as (what, text); a link whose two ends are in it is told once."""
    told: set[Spot] = set()
    for spot, far in zip(part.spots, part.far, strict=True):
        if spot in told:
            continue
        if far is None:
            yield "port", spot.words
        else:
            told.add(far)
            yield "from", spot.words
            yield "to", far.words
    yield "do", part.action
