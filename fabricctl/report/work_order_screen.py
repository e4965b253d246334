"""A work order, and what became of it, on a terminal: lines of (text, style) as in ``report/screen.py``."""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl.repair.order_check import OrderCheck, StepState, counts
from fabricctl.repair.order_model import Step, WorkOrder
from fabricctl.repair.order_words import PART_TITLES
from fabricctl.report import work_order_words as words
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line, paragraph
from fabricctl.words import many

_LABEL = 13
_STATES = {
    StepState.DONE: ("\u2713 done", GOOD),
    StepState.WRONG: ("\u2717 wrong", BAD),
    StepState.OPEN: ("\u25cb open", PLAIN),
    StepState.COULD_NOT_TELL: ("? could not tell", DOUBT),
}


def render(order: WorkOrder, *, width: int = 100) -> list[Line]:
    """The order: what it is, what cannot be told, the steps in short, the separate orders."""
    return list(_order(order, width))


def _order(order: WorkOrder, width: int) -> Iterator[Line]:
    nothing = "COULD NOT TELL  " if order.not_covered else "NOTHING TO DO  "
    head = nothing if order.empty else "WORK ORDER  "
    yield (
        (head, DOUBT if order.empty and order.not_covered else GOOD if order.empty else BOLD),
        (words.summary(order), BOLD),
    )
    for name, text in words.facts(order):
        if text:
            yield from _wrapped(name, text, width, PLAIN)
    for index, text in enumerate(order.not_covered):
        yield from _wrapped("not covered" if index == 0 else "", text, width, DOUBT)
    for index, text in enumerate(words.busy(order)):
        yield from _wrapped("jobs" if index == 0 else "", text, width, BAD)
    for index, look in enumerate(order.look_first):
        yield from _wrapped("look first" if index == 0 else "", look.text, width, BAD)
    for step in order.steps:
        yield ()
        yield from _short(step, width)
    yield from _parts(order, width)
    if order.notes:
        yield ()
    for index, note in enumerate(order.notes):
        yield from _wrapped("note" if index == 0 else "", note, width, DIM)


def _head(step: Step) -> Line:
    kind = words.KIND_WORDS[step.kind]
    return ((f"{step.number:>5}  ", BOLD), (f"{kind}  ", BOLD), (f"{step.id}, {words.heading(step)}", DIM))


def _short(step: Step, width: int) -> Iterator[Line]:
    yield _head(step)
    for text in step.first:
        yield from _wrapped("first", text, width, PLAIN, 7)
    yield from _wrapped("do", step.text, width, BOLD, 7)
    yield from _wrapped("label", step.label_here, width, PLAIN, 7)
    for far in step.others:
        yield from _wrapped("other end", words.far_words(far), width, PLAIN, 7)
    if step.hosts:
        yield from _wrapped("hosts", step.hosts_words, width, DOUBT, 7)


def _parts(order: WorkOrder, width: int) -> Iterator[Line]:
    for kind, title in PART_TITLES.items():
        parts = [part for part in order.parts if part.kind is kind]
        if not parts:
            continue
        yield ()
        yield ((f"Separate order: {title}", BOLD),)
        for part in parts:
            yield ((f"  {part.id}  ", BOLD), (f"{part.device}: {part.text}", PLAIN))
            for name, text in words.part_rows(part):
                yield from _wrapped(name, text, width, PLAIN, 7)


def show(step: Step, *, width: int = 100) -> list[Line]:
    """Everything about one step."""
    lines: list[Line] = [_head(step)]
    for text in step.first:
        lines += _wrapped("first", text, width, PLAIN, 7)
    lines += _wrapped("do", step.text, width, BOLD, 7)
    for name, text in words.rows(step):
        lines += _wrapped(name, text, width, PLAIN, 7)
    return lines


def check(result: OrderCheck, *, width: int = 100, everything: bool = False) -> list[Line]:
    """What became of the steps: counts, then what is not done; done ones only with ``everything``."""
    return list(_check(result, width, everything))


def _check(result: OrderCheck, width: int, everything: bool) -> Iterator[Line]:
    found = counts(result)
    total = len(result.steps)
    where = f" at {result.device}" if result.device else ""
    numbers = ", ".join(
        f"{number:,} {state.value.replace('_', ' ')}" for state, number in found.items() if number
    )
    word, style = {0: ("ALL DONE", GOOD), 1: ("NOT DONE", BAD)}.get(
        result.exit_code, ("COULD NOT TELL", DOUBT)
    )
    yield (
        (f"{word}  ", style),
        (f"{many(total, 'step')}{where}{f': {numbers}' if numbers else ''}", BOLD),
    )
    for index, doubt in enumerate(result.doubts):
        yield from _wrapped("not told" if index == 0 else "", doubt, width, DOUBT)
    stale = [one for one in result.steps if one.out_of_date]
    if stale:
        which = ", ".join(str(one.number) for one in stale[:12]) + (", ..." if len(stale) > 12 else "")
        verb = "step" if len(stale) == 1 else "steps"
        yield from _wrapped(
            "out of date", f"the order is out of date for {verb} {which}: make it anew", width, BAD
        )
    for state in (StepState.WRONG, StepState.COULD_NOT_TELL, StepState.OPEN, StepState.DONE):
        if state is StepState.DONE and not everything:
            continue
        mark, style = _STATES[state]
        for one in result.steps:
            if one.state is not state:
                continue
            yield (
                (f"{one.number:>5}  ", BOLD),
                (f"{mark}  ", style),
                (f"{one.id}  ", DIM),
                (one.words, PLAIN),
            )
            if one.out_of_date:
                yield from _wrapped("", f"out of date: {one.out_of_date}", width, BAD, 7)
    if result.parts:
        up = sum(0 < part.links == part.links_up for part in result.parts)
        yield ((f"separate orders: {up:,} of {len(result.parts):,} have all their links up", DIM),)
    for part in result.parts if everything else ():
        yield ((f"  {part.id}  ", DIM), (part.words, PLAIN))


def _wrapped(label: str, text: str, width: int, style: str, indent: int = 2) -> Iterator[Line]:
    return paragraph(f"{' ' * indent}{label}", text, width, style, column=indent + _LABEL)
