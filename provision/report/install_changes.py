"""What was done to hosts through a provisioner, for people and machines: the plan before, what came of each after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from provision.bmc.outcome import BmcFinding
from provision.install.outcome import End, NodeResult, Told
from provision.report.alike import alike
from provision.report.change_report import PLAN_COLUMNS, Planned
from provision.report.common import SHOWN, Table, hanging, more_line
from provision.report.fleet import Report, Said
from provision.report.impersonal import impersonal
from provision.report.schema_parts import BOOLEAN, NUMBER, TEXT, listed, row, texts

SCHEMA = "fabricctl.maas-changes/1"
COLUMNS = ("host", "result", "end", "before", "after", "reason", "notes", "system_id", "seconds")
WIPED_COLUMNS = ("host", "serial", "model", "by_id", "becomes")
_STYLES = {Told.OK: GOOD, Told.FINDING: BAD, Told.UNKNOWN: DOUBT}
_WIDTH = max(len(end.value) for end in End)


def not_done(planned: Sequence[Planned]) -> list[NodeResult]:
    """Results of a plan that is not, or cannot be, carried out."""
    return [
        NodeResult(
            one.host,
            Told.UNKNOWN if one.unknown else _refusal(one.refused),
            End.REFUSED,
            reason=one.refused,
        )
        if one.refused
        else NodeResult(one.host, Told.OK, End.NOT_STARTED, reason=one.steps)
        if one.words
        else NodeResult(one.host, Told.OK, End.UNCHANGED, after=one.already)
        for one in planned
    ]


def _refusal(why: str) -> Told:
    return Told.UNKNOWN if why.startswith(Told.UNKNOWN) else Told.FINDING


def result_lines(results: Sequence[NodeResult], width: int) -> list[Line]:
    """Counts with folded hosts, then every host that is not as wanted with its state and the reason, then notes."""
    lines: list[Line] = []
    for end in End:
        of = [one for one in results if one.end is end]
        if of:
            style = DIM if end is End.UNCHANGED else _STYLES[_worst(of)]
            lines.append(((f"{end.value:<{_WIDTH}}", style), (f"{len(of):>6,}  ", BOLD), (_who(of), PLAIN)))
    for told in (Told.FINDING, Told.UNKNOWN):
        bad = [(one.host, impersonal(words(one), one.host)) for one in results if one.outcome is told]
        lines += _each(bad, _STYLES[told], width)
    notes = [(one.host, impersonal(note, one.host)) for one in results for note in one.notes]
    return [*lines, *_each(notes, DIM, width)]


def doubt_line(doubts: Said) -> list[Line]:
    """That something could not be told before; what it is stands in the plan."""
    hosts = fold(dict.fromkeys(host for host, _ in doubts))
    return [((f"{Told.UNKNOWN.value} before: {hosts}, see the plan", DOUBT),)] if doubts else []


def _who(results: Sequence[NodeResult]) -> str:
    return fold([one.host for one in results])


def _worst(results: Sequence[NodeResult]) -> Told:
    order = (Told.UNKNOWN, Told.FINDING, Told.OK)
    return next(told for told in order if any(one.outcome is told for one in results))


def _each(said: Sequence[tuple[str, str]], style: str, width: int) -> list[Line]:
    groups = alike(said)
    lines = [
        line for one in groups[:SHOWN] for line in hanging(one.who, [(one.text, style)], width, indent="  ")
    ]
    return [*lines, *more_line(len(groups) - SHOWN, "line")]


def words(one: NodeResult) -> str:
    """``Deploying -> Failed deployment: Installation failed (curtin)``."""
    moved = f"{one.before} -> {one.after}" if one.before and one.after != one.before else one.after
    return ": ".join(part for part in (moved, one.reason) if part) or one.end.value


def install_report(
    results: Sequence[NodeResult],
    planned: Sequence[Planned] = (),
    *,
    applied: bool = True,
    disks: Sequence[Mapping[str, str]] = (),
    doubts: Said = (),
) -> Report:
    """One row a host.

    :param applied: the plan was carried out; :param disks: those an installation writes to, WIPED_COLUMNS of each.
    :param doubts: what could not be found out before, by host.
    """
    plan = [
        dict(zip(PLAN_COLUMNS, (one.host, one.steps, one.already, one.refused), strict=True))
        for one in planned
    ]
    table = Table(COLUMNS, [_row(one) for one in results])
    return Report(
        SCHEMA,
        (),
        content=lambda: {
            "applied": applied,
            "plan": plan,
            "disks": [dict(disk) for disk in disks],
            "changes": [_object(one) for one in results],
        },
        lines=lambda width: result_lines(results, width),
        table=lambda: table,
        findings=[
            BmcFinding(
                one.host, one.end.value.partition(",")[0], f"{one.host}: {words(one)}", found=one.after
            )
            for one in results
            if one.outcome is Told.FINDING
        ],
        doubts=[*doubts, *((one.host, words(one)) for one in results if one.outcome is Told.UNKNOWN)],
        repeated=True,
        partly="could not tell",
        noun="host",
    )


def _row(one: NodeResult) -> tuple[str, ...]:
    return (
        *(one.host, one.outcome.value, one.end.value, one.before, one.after, one.reason),
        *("; ".join(one.notes), one.machine_id, f"{one.seconds:.1f}"),
    )


def _object(one: NodeResult) -> dict[str, Any]:
    cells = dict(zip(COLUMNS, _row(one), strict=True))
    return {**cells, "notes": list(one.notes), "seconds": round(one.seconds, 1)}


def content_schema() -> Mapping[str, Any]:
    """Of the document."""
    change = {
        **texts(("host", "before", "after", "reason", "system_id")),
        "result": {"enum": [told.value for told in Told]},
        "end": {"enum": [end.value for end in End]},
        "notes": listed(TEXT),
        "seconds": NUMBER,
    }
    return {
        "applied": {
            **BOOLEAN,
            "description": "false: it was not confirmed, or not allowed; nothing was changed",
        },
        "plan": listed(
            row(texts(PLAN_COLUMNS)), "steps that are to be done, or as it is already, or why not"
        ),
        "disks": listed(row(texts(WIPED_COLUMNS)), "disks that an installation writes to"),
        "changes": listed(row(change)),
    }
