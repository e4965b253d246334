"""Firmware for people and machines: per host, across the fleet, and against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabricctl.report.lines import BAD, BOLD, DIM, PLAIN, Line
from fabricctl.report.tables import text_table
from provision.bmc.firmware import Component, JudgedVersion, Spread
from provision.bmc.outcome import BmcFinding, Outcome
from provision.report.common import Table
from provision.report.fleet import Report, Said, hosts_cell
from provision.report.schema_parts import BOOLEAN, TEXT, listed, texts
from provision.report.schema_parts import row as schema_row

SCHEMA = "fabricctl.bmc-firmware/1"
DIFF_SCHEMA = "fabricctl.bmc-firmware-diff/1"
COLUMNS = ("host", "component", "fqdd", "version", "state", "updateable", "component_id", "id")
DIFF_COLUMNS = ("host", "component", "part", "want", "have", "verdict")
Firmware = Mapping[str, Sequence[Component]]


def host_lines(host: str, components: Sequence[Component], *, everything: bool) -> list[Line]:
    """One host's components. :param everything: also copies kept for a rollback or reinstall."""
    shown = [part for part in components if part.installed or everything]
    rows = [
        [part.name, part.fqdd or part.id, part.version or "not told", part.state, _yes(part.updateable)]
        for part in shown
    ]
    header, *body = text_table(("component", "where", "version", "state", "updateable"), rows)
    return [((host, BOLD),), ((header, DIM),), *(((text, PLAIN),) for text in body)]


def fleet_lines(spreads: Sequence[Spread]) -> list[Line]:
    """Version -> hosts for every kind of part; those that differ from most stand out."""
    lines: list[Line] = []
    everyone: dict[str, set[str]] = {}
    for row in spreads:
        everyone.setdefault(row.model, set()).update(host for some in row.versions.values() for host in some)
    width = min(48, max((len(row.kind) for row in spreads), default=0))
    deep = max((len(version) for row in spreads for version in row.versions), default=0)
    for at, row in enumerate(spreads):
        if at == 0 or row.model != spreads[at - 1].model:
            lines += [((row.model or "model not told", BOLD),)]
        for number, (version, hosts) in enumerate(row.versions.items()):
            kind = row.kind if number == 0 else ""
            odd = version in row.odd
            who = "all" if everyone[row.model] == set(hosts) else hosts_cell(hosts)
            lines.append(
                (
                    (f"  {kind[:48]:<{width}}  ", PLAIN),
                    (f"{version:<{deep}}", BAD if odd else PLAIN),
                    (f"  {len(hosts):>5,}  {who}", PLAIN),
                    ("  <- differs from most" if odd else "", BAD),
                )
            )
    return lines


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[value]


def _rows(firmware: Firmware) -> list[list[str]]:
    return [
        [
            host,
            part.name,
            part.fqdd,
            part.version,
            part.state,
            _yes(part.updateable),
            part.component_id,
            part.id,
        ]
        for host, components in firmware.items()
        for part in components
    ]


def _ticket(spreads: Sequence[Spread]) -> Table:
    """Version -> hosts as a table for a ticket."""
    rows = [
        [
            row.model,
            row.kind,
            version,
            str(len(hosts)),
            hosts_cell(hosts),
            "yes" if version in row.odd else "",
        ]
        for row in spreads
        for version, hosts in row.versions.items()
    ]
    return Table(("model", "component", "version", "hosts", "which", "differs from most"), rows)


def firmware_report(
    firmware: Firmware,
    spreads: Sequence[Spread],
    outcomes: Sequence[Outcome[Any]],
    doubts: Said = (),
    *,
    everything: bool = False,
) -> Report:
    """Everything read, and the view across the fleet. :param everything: the screen lists every entry of every host."""

    def lines(_: int) -> list[Line]:
        if not everything and len(firmware) != 1:
            return fleet_lines(spreads)
        return [
            line for host, own in firmware.items() for line in host_lines(host, own, everything=everything)
        ]

    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {
            "components": Table(COLUMNS, _rows(firmware)).objects(),
            "versions": [
                {
                    "model": row.model,
                    "component": row.kind,
                    "versions": [
                        {"version": version, "hosts": list(hosts), "differs_from_most": version in row.odd}
                        for version, hosts in row.versions.items()
                    ],
                }
                for row in spreads
            ],
        },
        lines=lines,
        table=lambda: Table(COLUMNS, _rows(firmware)),
        ticket=lambda: _ticket(spreads),
        doubts=doubts,
    )


def content_schema() -> dict[str, Any]:
    """Of the list."""
    version = {"version": TEXT, "hosts": listed(TEXT), "differs_from_most": BOOLEAN}
    return {
        "components": listed(schema_row(texts(COLUMNS))),
        "versions": listed(
            schema_row({"model": TEXT, "component": TEXT, "versions": listed(schema_row(version))})
        ),
    }


def diff_lines(judged: Sequence[JudgedVersion]) -> list[Line]:
    """Baseline against hosts: component, wanted version, and hosts by what they have."""
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for one in judged:
        groups.setdefault((one.component, one.want, one.have, one.words), []).append(one.host)
    rows = [
        [
            component,
            want,
            have or "-",
            words,
            str(len(dict.fromkeys(hosts))),
            hosts_cell(list(dict.fromkeys(hosts))),
        ]
        for (component, want, have, words), hosts in groups.items()
    ]
    if not rows:
        return []
    header, *body = text_table(("component", "want", "have", "verdict", "hosts", "which"), rows)
    styles = [PLAIN if row[3] == "as wanted" else BAD for row in rows]
    return [((header, DIM),), *(((text, style),) for text, style in zip(body, styles, strict=True))]


def _diff_rows(judged: Sequence[JudgedVersion]) -> list[list[str]]:
    return [[one.host, one.component, one.part, one.want, one.have, one.words] for one in judged]


def diff_report(
    judged: Sequence[JudgedVersion],
    outcomes: Sequence[Outcome[Any]],
    findings: Sequence[BmcFinding],
    doubts: Said = (),
) -> Report:
    """Every comparison with its verdict; a ticket has what is not as wanted."""
    return Report(
        DIFF_SCHEMA,
        outcomes,
        content=lambda: {"comparisons": Table(DIFF_COLUMNS, _diff_rows(judged)).objects()},
        lines=lambda _: diff_lines(judged),
        table=lambda: Table(DIFF_COLUMNS, _diff_rows(judged)),
        ticket=lambda: Table(DIFF_COLUMNS, _diff_rows([one for one in judged if not one.right])),
        findings=findings,
        doubts=doubts,
        good="every part has the version of the baseline",
    )
