"""BIOS settings for people and machines: values, differences, plans and what came of writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.report.tables import text_table
from fabricctl.words import many
from provision.bmc.bios import BiosPlan, BiosState, Difference, shown
from provision.bmc.bios_registry import Values
from provision.bmc.outcome import BmcFinding, Outcome
from provision.report.common import Table
from provision.report.fleet import Report, Said, hosts_cell
from provision.report.schema_parts import TEXT, either, mapped, row

SCHEMA = "fabricctl.bmc-bios/1"
DIFF_SCHEMA = "fabricctl.bmc-bios-diff/1"
COLUMNS = ("host", "attribute", "value", "pending")
DIFF_COLUMNS = ("host", "attribute", "want", "have", "pending", "verdict")

Shown = Mapping[str, Mapping[str, tuple[str, str]]]
"""Host -> attribute -> value and the one that waits for the next boot."""


def values_of(state: BiosState, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Attribute -> (value, pending value) for people; all when no names are given."""
    chosen = names or sorted({*state.values, *state.pending}, key=str.lower)
    return {
        name: (
            shown(name, state.values[name]) if name in state.values else "(no such attribute)",
            shown(name, state.pending[name]) if name in state.pending else "",
        )
        for name in chosen
    }


def value_lines(values: Shown) -> list[Line]:
    """Attribute -> value -> hosts: nodes that agree share a line."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for host, own in values.items():
        for name, (value, pending) in own.items():
            groups.setdefault((name, value, pending), []).append(host)
    if len(values) == 1:
        rows = [[name, value, pending] for name, value, pending in groups]
        columns: tuple[str, ...] = ("attribute", "value", "pending")
    else:
        names = {name: at for at, name in enumerate(dict.fromkeys(key[0] for key in groups))}
        ordered = sorted(groups.items(), key=lambda item: (names[item[0][0]], -len(item[1])))
        rows = [[*key, str(len(hosts)), fold(hosts)] for key, hosts in ordered]
        columns = ("attribute", "value", "pending", "hosts", "which")
    header, *body = text_table(columns, rows)
    return [((header, DIM),), *(((text, PLAIN),) for text in body)]


def _rows(values: Shown) -> list[list[str]]:
    return [[host, name, *pair] for host, own in values.items() for name, pair in own.items()]


def values_report(values: Shown, outcomes: Sequence[Outcome[Any]], doubts: Said = ()) -> Report:
    """Host -> attribute -> value and pending value."""
    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {
            "hosts": {
                host: {
                    name: {"value": value, "pending": pending or None}
                    for name, (value, pending) in own.items()
                }
                for host, own in values.items()
            }
        },
        lines=lambda _: value_lines(values),
        table=lambda: Table(COLUMNS, _rows(values)),
        doubts=doubts,
    )


def content_schema() -> dict[str, Any]:
    """Of the values."""
    pair = row({"value": TEXT, "pending": either(TEXT)})
    return {"hosts": mapped(mapped(pair, "attribute -> its value"), "host -> its attributes")}


def verdict(one: Difference) -> str:
    """In one word or two."""
    if not one.known:
        return f"no such attribute{f'; did you mean {one.near}?' if one.near else ''}"
    if one.same:
        return "as wanted"
    return "waits for the next boot" if one.pending is not None and _text(one) == one.want else "differs"


def _text(one: Difference) -> str:
    return shown(one.name, one.pending)


def diff_lines(differences: Sequence[Difference]) -> list[Line]:
    """Attribute, wanted value, and hosts by what they have."""
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for one in differences:
        have = shown(one.name, one.have) if one.known else "-"
        groups.setdefault((one.name, one.want, have, verdict(one)), []).append(one.host)
    if not groups:
        return []
    rows = [[*key, str(len(hosts)), hosts_cell(hosts)] for key, hosts in groups.items()]
    header, *body = text_table(("attribute", "want", "have", "verdict", "hosts", "which"), rows)
    styles = [PLAIN if row[3] == "as wanted" else BAD for row in rows]
    return [((header, DIM),), *(((text, style),) for text, style in zip(body, styles, strict=True))]


def _diff_rows(differences: Sequence[Difference]) -> list[list[str]]:
    return [
        [
            one.host,
            one.name,
            one.want,
            shown(one.name, one.have) if one.known else "",
            shown(one.name, one.pending) if one.pending is not None else "",
            verdict(one),
        ]
        for one in differences
    ]


def diff_report(
    differences: Sequence[Difference],
    outcomes: Sequence[Outcome[Any]],
    findings: Sequence[BmcFinding],
    doubts: Said = (),
) -> Report:
    """Every comparison with its verdict; a ticket has what is not as wanted."""
    return Report(
        DIFF_SCHEMA,
        outcomes,
        content=lambda: {"comparisons": Table(DIFF_COLUMNS, _diff_rows(differences)).objects()},
        lines=lambda _: diff_lines(differences),
        table=lambda: Table(DIFF_COLUMNS, _diff_rows(differences)),
        ticket=lambda: Table(DIFF_COLUMNS, _diff_rows([one for one in differences if not one.same])),
        findings=findings,
        doubts=doubts,
        good="every setting is as the profile wants it",
    )


def plan_lines(plans: Sequence[BiosPlan]) -> list[Line]:
    """What a write would do, nodes with the same changes together."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for plan in plans:
        groups.setdefault(tuple(_plan_texts(plan)), []).append(plan.host)
    lines: list[Line] = []
    for texts, hosts in groups.items():
        lines.append(((f"{fold(hosts)} ({many(len(hosts), 'node')})", BOLD),))
        lines += [((f"  {text}", style),) for text, style in texts]
    return lines


def _plan_texts(plan: BiosPlan) -> list[tuple[str, str]]:
    if plan.refused:
        return [(text, BAD) for text in plan.refused]
    if plan.blocked:
        waiting = ", ".join(f"{name}={shown(name, value)}" for name, value in plan.blocked.items())
        return [(f"other values wait for the next boot: {waiting}; nothing is written over them", DOUBT)]
    if not plan.changes:
        return [("as wanted already", DIM)]
    texts = [
        (f"{name}  {shown(name, plan.before.get(name))} -> {shown(name, value)}", PLAIN)
        for name, value in plan.changes.items()
    ]
    texts += [(f"{name} follows from {by}", DIM) for name, by in plan.follows.items()]
    if plan.waiting:
        texts.append(("waits for the next boot already: nothing is written, its job is awaited", DIM))
    return texts


class Written(Protocol):
    """What is shown of a write."""

    @property
    def plan(self) -> BiosPlan:
        """What was to be written."""
        ...

    @property
    def words(self) -> str:
        """What came of it."""
        ...

    @property
    def applied(self) -> bool:
        """Every value was read back in force."""
        ...

    @property
    def scheduled(self) -> bool:
        """Every value was read back as pending."""
        ...

    @property
    def wrong(self) -> Values | None:
        """Values in force that are not the wanted ones."""
        ...


def result_lines(results: Mapping[str, Written]) -> list[Line]:
    """What came of writes, folded."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for host, one in results.items():
        groups.setdefault((one.words, one.applied or one.scheduled), []).append(host)
    return [
        ((f"{fold(hosts)}  ", BOLD), (words, GOOD if good else BAD))
        for (words, good), hosts in groups.items()
    ]


def result_findings(results: Mapping[str, Written]) -> list[BmcFinding]:
    """Values that are still not as wanted after all was done."""
    return [
        BmcFinding(
            host,
            "bios-not-applied",
            f"{host}: {name} is still {shown(name, value)}, {shown(name, one.plan.changes.get(name))} was written",
            name,
            shown(name, one.plan.changes.get(name)),
            shown(name, value),
        )
        for host, one in results.items()
        for name, value in (one.wrong or {}).items()
    ]


def set_report(results: Mapping[str, Written], outcomes: Sequence[Outcome[Any]], doubts: Said) -> Report:
    """What came of writes, for people."""
    table = Table(("host", "said"), [(host, one.words) for host, one in results.items()])
    return Report(
        "fabricctl.bmc-bios-set/1",
        outcomes,
        content=lambda: {"written": table.objects()},
        lines=lambda _: result_lines(results),
        table=lambda: table,
        findings=result_findings(results),
        doubts=doubts,
    )
