"""A work order to print: one HTML file that needs nothing else and holds its own JSON for ``work-order check``.

A content security policy lets the page load nothing and run nothing; its JSON is data, not script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabricctl import __version__
from fabricctl.repair.order_model import Part, Step, StepKind, WorkOrder
from fabricctl.repair.order_pieces import by_label, by_place
from fabricctl.repair.order_words import FIBRES, HANDLING, PART_TITLES, STOP_ALWAYS
from fabricctl.report import work_order_words as words
from fabricctl.report.markup import esc
from fabricctl.report.work_order_style import STYLE, Paper, page_rule
from fabricctl.words import printable

_FEW = 8
"""Ports; a separate order about more may run over several pages."""
_BOX = '<i class="box"></i>'
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_MONO = ("label here", "label there", "plan's label", "runs today")


def render(order: WorkOrder, *, paper: Paper = Paper.ANY) -> str:
    """The whole page. :param paper: what it is printed on; ``ANY`` leaves it to the printer."""
    body = [
        *_cover(order),
        *_steps(order),
        *_parts(order),
        *(_indexes(order) if order.steps else ()),
        f"<footer>fabricctl {esc(__version__)}. Check what is done with <code>fabricctl work-order check</code> and "
        "this file.</footer>",
    ]
    return f"{_top(order, paper)}{chr(10).join(body)}\n{_data(order)}</body>\n</html>\n"


def _top(order: WorkOrder, paper: Paper) -> str:
    name = printable(words.title(order))
    plan = printable(f"plan {order.plan}") if order.plan else ""
    seen = printable(f"discovery {', '.join(order.discoveries)}") if order.discoveries else ""
    left = " | ".join(part for part in (name, plan) if part)
    rule = page_rule(_cut(left, 110), _cut(printable(order.made), 40), _cut(seen, 120), paper)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(words.title(order))}</title>\n<style>{STYLE}{rule}</style>\n</head>\n<body>\n"
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _data(order: WorkOrder) -> str:
    """The order for programs. In JSON ``<`` may be written by its code point: no text ends the element."""
    from fabricctl.report.work_order_json import ISLAND, to_json  # pydantic: only when a file is written

    text = to_json(order, indent=None).strip().replace("<", "\\u003c").replace("\u2028", "\\u2028")
    return f'<script type="application/json" id="{ISLAND}">{text}</script>\n'


def _dl(pairs: Iterable[tuple[str, str]], *, facts: bool = False) -> str:
    inside = "".join(
        f'<div class="r"><dt>{esc(name)}</dt><dd{" class=lab" if name in _MONO else ""}>{esc(text)}</dd></div>'
        for name, text in pairs
        if text
    )
    return f"<dl{' class=facts' if facts else ''}>{inside}</dl>"


def _list(texts: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{esc(text)}</li>" for text in texts) + "</ul>"


def _cover(order: WorkOrder) -> Iterator[str]:
    yield f"<h1>{esc(words.title(order))}</h1>"
    yield f'<p class="sum">{esc(_upper(words.summary(order)))}.</p>'
    yield _dl(words.facts(order), facts=True)
    if order.not_covered:
        yield f'<div class="warn"><h2>? Not covered: could not be told</h2>{_list(order.not_covered)}</div>'
    if busy := words.busy(order):
        yield f'<div class="warn"><h2>! Jobs may run on these hosts</h2>{_list(busy)}</div>'
    if order.look_first:
        yield '<div class="warn"><h2>! Look at this first</h2>'
        for look in order.look_first:
            yield f"<p>{_BOX}{esc(look.text)}</p>{_list(spot.words for spot in look.spots)}"
        yield "</div>"
    if order.steps:
        yield f"<h2>Stop, leave it as it is, write it down and ask, if</h2>{_list(STOP_ALWAYS)}"
        yield "<h2>Handling</h2><ul>"
        kinds = {step.cable in FIBRES for step in order.steps}
        for rule in HANDLING:
            if rule.fibre is None or rule.fibre in kinds:
                yield f"<li>{esc(rule.words)} <small>{esc(rule.status)}: {esc(rule.source)}</small></li>"
        yield "</ul><h2>How to work</h2>" + _list(_HOW)
    if order.notes:
        yield f"<h2>Notes</h2>{_list(order.notes)}"


_HOW = (
    "Steps of one group (joined by a dashed line) are done one after the other, by one person, to the end: a plug may "
    "hang in between.",
    "Groups stand in the order of one walk along the racks; groups do not depend on each other.",
    "Photograph before and after, write the number of the picture into the step, then your initials and the time.",
    "What is done shows with `fabricctl work-order check` and this file, for one device too.",
    "Holding a label? The index by label at the end names the step; the index by place does so for a port.",
)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _steps(order: WorkOrder) -> Iterator[str]:
    if not order.steps:
        return
    yield '<h2 class="new-page">Steps</h2>'
    for step in order.steps:
        yield _step(step)


def _step(step: Step) -> str:
    kind = f"{words.KIND_MARKS[step.kind]} {words.KIND_WORDS[step.kind]}"
    more = " more" if step.place_in_group > 1 else ""
    first = "".join(f'<p class="do">{_BOX}First {esc(text)}</p>' for text in step.first)
    sign = "".join(f"<span>{name}</span>" for name in words.SIGN_OFF)
    return (
        f'<section class="s{more}" id="{esc(step.id)}"><header><b>{step.number}</b><span class="k">{kind}</span>'
        f'<span class="id">{esc(step.id)}</span><span class="g">{esc(words.heading(step))}</span></header>'
        f'{first}<p class="do">{_BOX}{esc(_upper(step.text) if step.kind is not StepKind.MOVE else step.text)}</p>'
        f'<div class="two">{_dl(words.where_rows(step))}{_dl(words.how_rows(step))}</div>'
        f'<div class="sign">{sign}</div></section>'
    )


def _parts(order: WorkOrder) -> Iterator[str]:
    for kind, heading in PART_TITLES.items():
        parts = [part for part in order.parts if part.kind is kind]
        if parts:
            yield f'<h2 class="new-page">Separate order: {esc(heading)}</h2>'
            yield from map(_part, parts)


def _part(part: Part) -> str:
    sign = "".join(f"<span>{name}</span>" for name in words.SIGN_OFF)
    return (
        f'<section class="s{" long" if len(part.spots) > _FEW else ""}" id="{esc(part.id)}">'
        f"<header><b>{esc(part.device)}</b>"
        f'<span class="k">{esc(part.kind.value)}</span><span class="id">{esc(part.id)}</span></header>'
        f'<p class="do">{_BOX}{esc(part.text)}</p>'
        f'{_dl(words.part_rows(part))}<div class="sign">{sign}</div></section>'
    )


def _indexes(order: WorkOrder) -> Iterator[str]:
    ids = {step.number: step.id for step in order.steps}

    def links(numbers: Iterable[int]) -> str:
        return ", ".join(f'<a href="#{esc(ids[number])}">{number}</a>' for number in numbers)

    yield '<h2 class="new-page">Index by place</h2><div class="cols">'
    rack: str | None = None
    for row in by_place(order):
        if row.rack != rack:
            rack = row.rack
            yield f"<h3>{esc(f'rack {rack}' if rack else 'rack unknown')}</h3>"
        steps = "; ".join(f"{esc(where)}: {links(numbers)}" for where, numbers in row.steps)
        yield f"<p><b>{esc(f'{row.unit} {row.device}'.strip())}</b> {steps}</p>"
    yield '</div><h2 class="new-page">Index by label</h2><div class="cols lab">'
    for label, numbers in by_label(order):
        yield f"<p>{esc(label)} <b>{links(numbers)}</b></p>"
    yield "</div>"
