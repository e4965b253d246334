"""Changes of nodes for people and machines: the plan before, what came of it after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line
from fabricctl.words import many
from provision.bmc.outcome import Change, Outcome
from provision.report.alike import alike, alike_rows
from provision.report.common import Table, hanging
from provision.report.fleet import Report
from provision.report.impersonal import filled
from provision.report.schema_parts import BOOLEAN, listed, row, texts

SCHEMA = "fabricctl.bmc-changes/1"
COLUMNS = ("host", "result", "before", "after", "said")
PLAN_COLUMNS = ("host", "steps", "already", "refused")


class Result(StrEnum):
    """What came of one change."""

    DONE = "done"
    UNCHANGED = "nothing to do"
    NOT_REACHED = "not as wanted"
    PLANNED = "not done"
    UNKNOWN = "could not tell"


_STYLES = {
    Result.DONE: GOOD,
    Result.UNCHANGED: DIM,
    Result.NOT_REACHED: BAD,
    Result.PLANNED: PLAIN,
    Result.UNKNOWN: DOUBT,
}


@dataclass(frozen=True, slots=True)
class Planned:
    """One host of a plan.

    :param words: what would be done; empty: nothing is to be done, because of :param already: as it is.
    :param refused: why it cannot be done. :param warn: it disturbs what runs there. :param danger: what is lost by it.
    :param unknown: it is refused because something could not be told.
    """

    host: str
    words: str = ""
    already: str = ""
    refused: str = ""
    warn: bool = False
    danger: str = ""
    unknown: bool = False

    @property
    def steps(self) -> str:
        """What would be done, and what is lost by it."""
        return filled("; ".join(text for text in (self.words, self.danger) if text), self.host)


@dataclass(frozen=True, slots=True)
class Changed:
    """One host after a change."""

    host: str
    result: Result
    before: str = ""
    after: str = ""
    said: str = ""


def changed_row(host: str, change: Change) -> Changed:
    """What came of one change of one node."""
    done = Result.DONE if change.written else Result.UNCHANGED
    kind = done if change.reached else Result.NOT_REACHED
    return Changed(host, kind, change.before, change.after, change.said)


def plan_lines(
    planned: Sequence[Planned], what: str, noun: str = "BMC", width: int | None = None
) -> list[Line]:
    """What a change would do, hosts folded by what would be done.

    :param what: the change in words; :param noun: what is asked to do it, in the singular.
    :param width: of the screen, where long texts are to be wrapped.
    """
    styled: dict[str, list[tuple[str, tuple[str, str]]]] = {}
    for one in planned:
        if one.refused:
            text, style = f"not possible: {one.refused}", BAD
        elif one.words:
            text, style = one.words, BAD if one.warn else PLAIN
        else:
            text, style = f"nothing to do: {one.already}", DIM
        styled.setdefault(style, []).append((one.host, (text, one.danger if one.words else "")))
    lines: list[Line] = []
    for style, said in styled.items():
        for hosts, (text, danger) in alike_rows(said):
            texts = [(text, style), *([(danger, BAD)] if danger else [])]
            if width is not None:
                lines += hanging(fold(hosts), texts, width)
                continue
            lines.append(((fold(hosts), BOLD), ("  ", PLAIN), *_joined(texts)))
    number = sum(1 for one in planned if one.words)
    lines.append(((f"{what}: {number:,} of {many(len(planned), noun)}", PLAIN),))
    return lines


def _joined(texts: Sequence[tuple[str, str]]) -> Line:
    return tuple((text if at == 0 else f"; {text}", style) for at, (text, style) in enumerate(texts))


def changed_lines(changed: Sequence[Changed]) -> list[Line]:
    """What came of it: counts with folded hosts, then every host that is not as wanted with what was seen."""
    lines: list[Line] = []
    for result in Result:
        hosts = [one.host for one in changed if one.result is result]
        if hosts:
            lines.append(
                (
                    (f"{result.value:<15}", _STYLES[result]),
                    (f"{len(hosts):>6,}  ", BOLD),
                    (fold(hosts), PLAIN),
                )
            )
    for result in Result:
        if result is not Result.UNCHANGED:
            told = alike((one.host, _words(one)) for one in changed if one.result is result)
            style = PLAIN if result is Result.DONE else _STYLES[result]
            lines += [((f"  {one.who}", BOLD), (f"  {one.text}", style)) for one in told]
    return lines


def _words(one: Changed) -> str:
    moved = f"{one.before} -> {one.after}" if one.before or one.after else ""
    return ": ".join(part for part in (moved, one.said) if part)


def content_schema() -> Mapping[str, Any]:
    """Of the document."""
    return {
        "applied": {
            **BOOLEAN,
            "description": "false: it was not confirmed, or not allowed; nothing was changed",
        },
        "plan": listed(
            row(texts(PLAN_COLUMNS)), "steps that are to be done, or as it is already, or why not"
        ),
        "changes": listed(row(texts(COLUMNS))),
    }


def changed_report(
    changed: Sequence[Changed],
    outcomes: Sequence[Outcome[Any]],
    planned: Sequence[Planned] = (),
    *,
    applied: bool = True,
) -> Report:
    """One row a host. :param outcomes: of every BMC that was asked. :param applied: the plan was carried out."""
    plan = [
        dict(zip(PLAN_COLUMNS, (one.host, one.steps, one.already, one.refused), strict=True))
        for one in planned
    ]
    rows = [(one.host, one.result.value, one.before, one.after, one.said) for one in changed]
    table = Table(COLUMNS, rows)
    return Report(
        SCHEMA,
        outcomes,
        content=lambda: {"applied": applied, "plan": plan, "changes": table.objects()},
        lines=lambda _: changed_lines(changed),
        table=lambda: table,
    )
