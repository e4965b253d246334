"""A work order as CSV: one row per step, separate order and thing to look at first; no cell runs as a formula."""

from __future__ import annotations

import csv
import io

from fabricctl.repair.order_model import LookFirst, Part, Spot, Step, WorkOrder
from fabricctl.report.csv_report import cell
from fabricctl.report.work_order_words import busy, far_words

_SPOT = ("rack", "unit", "side", "device", "place", "label")
COLUMNS = (
    *("number", "id", "kind", "group", "place_in_group", "group_size", "do", "first"),
    *(f"{end}_{part}" for end in ("from", "to") for part in _SPOT),
    *("other_end", "label_here", "label_far", "label_now", "plan_label", "cable_type", "type_from", "cable"),
    *("expect", "hosts", "minutes", "stop_if", "undo", "initials", "time", "photo"),
)
"""Header of the table; the last three are to be filled by hand."""


def render(order: WorkOrder) -> str:
    """The table with a header row; lines end in a newline."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for step in order.steps:
        writer.writerow(_row(_step(step)))
    for part in order.parts:
        writer.writerow(_row(_part(part)))
    for text in busy(order):
        writer.writerow(_row({"kind": "in_service", "do": text}))
    for look in order.look_first:
        writer.writerow(_row(_look(look)))
    for text in order.not_covered:
        writer.writerow(_row({"kind": "not_covered", "do": text}))
    return out.getvalue()


def _row(values: dict[str, str]) -> list[str]:
    return [cell(values.get(column, "")) for column in COLUMNS]


def _ends(name: str, spots: tuple[Spot, ...]) -> dict[str, str]:
    """Columns of one end; of several plugs, each place with its own rack."""
    if not spots:
        return {}
    texts = [(s.rack, s.unit, s.side, f"{s.device} {s.hca}".rstrip(), s.where, s.label) for s in spots]
    return {
        f"{name}_{part}": " + ".join(dict.fromkeys(text[at] for text in texts))
        for at, part in enumerate(_SPOT)
    }


def _step(step: Step) -> dict[str, str]:
    return {
        "number": str(step.number),
        "id": step.id,
        "kind": step.kind.value,
        "group": str(step.group),
        "place_in_group": str(step.place_in_group),
        "group_size": str(step.group_size),
        "do": step.text,
        "first": "; ".join(step.first),
        **_ends("from", step.sources),
        **_ends("to", step.targets),
        "other_end": "; ".join(map(far_words, step.others)),
        "label_here": step.label_here,
        "label_far": step.label_far,
        "label_now": step.label_now,
        "plan_label": step.plan_label,
        "cable_type": step.cable.value,
        "type_from": step.type_from.value,
        "cable": step.cable_words,
        "expect": step.expect,
        "hosts": step.hosts,
        "minutes": f"{step.minutes:g}",
        "stop_if": "; ".join(step.stop_if),
        "undo": step.undo,
    }


def _part(part: Part) -> dict[str, str]:
    far = tuple(spot for spot in part.far if spot is not None)
    values = {"id": part.id, "kind": f"order_{part.kind.value}", "do": f"{part.text}. {part.action}"}
    return {**values, **_ends("from", part.spots), **_ends("to", far)}


def _look(look: LookFirst) -> dict[str, str]:
    return {"kind": "look_first", "do": look.text, **_ends("from", look.spots)}
