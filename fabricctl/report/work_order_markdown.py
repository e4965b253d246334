"""A work order as Markdown: a checklist that a ticket or a wiki ticks off."""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl import __version__
from fabricctl.repair.order_model import Step, WorkOrder
from fabricctl.repair.order_pieces import by_label, by_place
from fabricctl.repair.order_words import HANDLING, PART_TITLES, STOP_ALWAYS
from fabricctl.report import work_order_words as words
from fabricctl.report.markdown import escape


def render(order: WorkOrder) -> str:
    """The whole order; long ones are meant for a file, not for a comment."""
    return "\n".join(_lines(order)) + "\n"


def _lines(order: WorkOrder) -> Iterator[str]:
    yield f"## {escape(words.title(order))}"
    yield ""
    yield f"**{escape(words.summary(order))}**"
    yield ""
    yield from (f"- {name}: {escape(text)}" for name, text in words.facts(order) if text)
    yield from _bullets("Not covered: could not be told", order.not_covered)
    yield from _bullets("Jobs may run on these hosts", words.busy(order))
    yield from _bullets("Look first", [look.text for look in order.look_first])
    if order.steps:
        yield from _bullets("Stop, leave it as it is and ask, if", STOP_ALWAYS)
        yield from _bullets("Handling", [f"{rule.words} ({rule.status})" for rule in HANDLING])
        yield from ("", "### Steps", "")
        for step in order.steps:
            yield from _step(step)
    yield from _parts(order)
    if order.steps:
        yield from _indexes(order)
    yield from _bullets("Notes", order.notes)
    yield from ("", f"fabricctl {__version__}")


def _bullets(name: str, texts: tuple[str, ...] | list[str]) -> Iterator[str]:
    if texts:
        yield from ("", f"**{name}**", "")
        yield from (f"- {escape(text)}" for text in texts)


def _step(step: Step) -> Iterator[str]:
    yield f"- [ ] **{step.number}** `{step.id}` {words.KIND_WORDS[step.kind]} ({words.heading(step)})"
    yield from (f"  - first {escape(text)}" for text in step.first)
    yield f"  - **{escape(step.text)}**"
    yield from (f"  - {name}: {escape(text)}" for name, text in words.rows(step))


def _parts(order: WorkOrder) -> Iterator[str]:
    for kind, heading in PART_TITLES.items():
        parts = [part for part in order.parts if part.kind is kind]
        if not parts:
            continue
        yield from ("", f"### Separate order: {heading}", "")
        for part in parts:
            yield f"- [ ] `{part.id}` **{escape(part.device)}**: {escape(part.text)}"
            yield from (f"  - {name}: {escape(text)}" for name, text in words.part_rows(part))


def _indexes(order: WorkOrder) -> Iterator[str]:
    yield from ("", "### Index by place", "", "| rack | unit | device | steps |", "| --- | --- | --- | --- |")
    for row in by_place(order):
        steps = "; ".join(f"{where}: {words.listed(numbers)}" for where, numbers in row.steps)
        yield f"| {escape(row.rack or '?')} | {escape(row.unit)} | {escape(row.device)} | {escape(steps)} |"
    yield from ("", "### Index by label", "", "| label | steps |", "| --- | --- |")
    for label, numbers in by_label(order):
        yield f"| {escape(label)} | {words.listed(numbers)} |"
