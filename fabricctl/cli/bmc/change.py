"""Commands that change nodes through their BMCs: look, plan, guard, consent, change, report. And lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from fabricctl.cli.bmc.common import Desk, consent, guard_change
from fabricctl.cli.state_options import Format
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from fabricctl.report.screen import Line
    from provision.bmc.outcome import Outcome
    from provision.bmc.target import Target
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Changed, Planned
    from provision.report.common import Table
    from provision.workflows.journal import Journal

T = TypeVar("T")
R = TypeVar("R")

STOPPED = "interrupted before it was finished; what was sent stands in fabricctl events"


@dataclass(frozen=True)
class Manner:
    """How a change was asked for.

    :param what: the command in words (``power off``); :param disturbs: what it does to a node in service, in words that
        follow "would"; empty when it does nothing to it.
    """

    what: str
    disturbs: str = ""
    yes: bool = False
    force: bool = False
    reason: str = ""
    format: Format = Format.TEXT


def look(desk: Desk, work: Callable[[Bmc], Awaitable[T]], what: str) -> list[Outcome[T]]:
    """Read something of every BMC of the desk. :param what: for the progress line."""
    from fabricctl.cli.progress import progress
    from provision.redfish.fleet import ask
    from provision.workflows.access import fleet_options

    with progress() as show:
        show(f"{what}: {len(desk.targets):,} BMCs")
        return ask(
            desk.targets,
            work,
            fleet_options(desk.site),
            done=lambda _, number: show(f"{what}: {number:,} of {len(desk.targets):,} BMCs"),
        )


@contextmanager
def journal_of(desk: Desk, manner: Manner) -> Iterator[Journal]:
    """Where changes are kept; open before anything is changed, so that none goes unrecorded.

    :raises StateError: it cannot be written. :raises UsageError: the reason is no single line.
    """
    from fabricctl.nodes.transitions import OCCUPIED
    from provision.workflows.journal import open_journal

    if not manner.reason.isprintable():
        raise UsageError("--reason: expected one line of text, without control characters")
    forced = [host for host, state in desk.states.items() if state in OCCUPIED] if manner.force else []
    with open_journal(desk.location, desk.site.name, manner.reason.strip() or manner.what, forced) as journal:
        yield journal


def run_change(
    desk: Desk,
    manner: Manner,
    seen: Sequence[Outcome[T]],
    plan: Callable[[str, T], Planned],
    work: Callable[[Bmc, Journal], Awaitable[R]],
    changed: Callable[[str, R], Changed],
) -> None:
    """Plan, guard, consent, change and report; ends the command with its exit code.

    :param seen: what was read of every BMC; :param plan: host and what was read -> what would be done.
    :param work: changes one BMC; it reads again, for the world may have moved since the plan.
    :param changed: host and what came of it -> a row of the report.
    """
    from provision.report.change_report import Changed, Result, plan_lines
    from provision.report.common import failure_lines

    planned = [plan(o.target.host, o.value) for o in seen if o.value is not None]
    hosts = [one.host for one in planned if one.words]
    if manner.format is Format.TEXT:
        _print([*plan_lines(planned, manner.what), *failure_lines(seen), *_trust(desk, seen)])
    rows = [
        Changed(p.host, Result.UNCHANGED, p.already, p.already)
        for p in planned
        if not p.words and not p.refused
    ]
    rows += [Changed(p.host, Result.NOT_REACHED, said=p.refused) for p in planned if p.refused]
    outcomes: list[Outcome[R]] = []
    if hosts:
        guard_change(desk, hosts, manner.disturbs or manner.what, force=manner.force or not manner.disturbs)
        consent(len(hosts), yes=manner.yes)
        outcomes = _apply(
            desk,
            manner,
            hosts,
            work,
            lambda done, left: _report(
                manner,
                [*rows, *_rows(done, changed), *(Changed(h, Result.UNKNOWN, said=STOPPED) for h in left)],
                done,
            ),
        )
    failed: list[Outcome[Any]] = [outcome for outcome in seen if outcome.error is not None]
    rows += _rows(outcomes, changed)
    if hosts or manner.format is not Format.TEXT:
        _report(manner, rows, [*failed, *outcomes])
    finish(rows, [*failed, *outcomes])


def _apply(
    desk: Desk,
    manner: Manner,
    hosts: Sequence[str],
    work: Callable[[Bmc, Journal], Awaitable[R]],
    interrupted: Callable[[Sequence[Outcome[R]], Sequence[str]], None],
) -> list[Outcome[R]]:
    """Change them, in waves.

    :param interrupted: reports when somebody stops it: what was finished, and the hosts that were not.
    """
    from fabricctl.cli.progress import progress
    from provision.redfish.fleet import Interrupted, ask
    from provision.workflows.access import fleet_options

    chosen = set(hosts)
    targets: list[Target] = [target for target in desk.targets if target.host in chosen]

    with journal_of(desk, manner) as journal, progress() as show:

        async def one(bmc: Bmc) -> R:
            return await work(bmc, journal)

        show(f"{manner.what}: {len(targets):,} BMCs")
        try:
            return ask(
                targets,
                one,
                fleet_options(desk.site, writes=True),
                wave=desk.site.management.bmc_limits.wave,
                done=lambda _, number: show(f"{manner.what}: {number:,} of {len(targets):,} BMCs"),
            )
        except Interrupted as stopped:
            finished = {outcome.target.host for outcome in stopped.outcomes}
            interrupted(stopped.outcomes, [host for host in hosts if host not in finished])
            raise


def _rows(outcomes: Sequence[Outcome[R]], changed: Callable[[str, R], Changed]) -> list[Changed]:
    from provision.report.change_report import Changed, Result
    from provision.report.common import reason

    rows = []
    for outcome in outcomes:
        host = outcome.target.host
        if outcome.value is not None:
            row = changed(host, outcome.value)
            notes = "; ".join(note.text for note in outcome.notes)
            rows.append(replace(row, said="; ".join(text for text in (row.said, notes) if text)))
        elif outcome.error is not None:
            rows.append(Changed(host, Result.UNKNOWN, said=reason(outcome.error, outcome.target)))
    return rows


def _report(manner: Manner, rows: Sequence[Changed], outcomes: Sequence[Outcome[Any]]) -> None:
    from provision.report.change_report import changed_lines, changed_table

    told = {row.host for row in rows}
    unread = [outcome for outcome in outcomes if outcome.target.host not in told]
    show_table(changed_table(rows), manner.format, unread, lines=changed_lines(rows))


def finish(rows: Sequence[Changed], outcomes: Sequence[Outcome[Any]]) -> None:
    """End with exit code 3 where something could not be told, else 1 where something is not as wanted."""
    from provision.report.change_report import Result

    if any(outcome.error is not None for outcome in outcomes) or any(
        r.result is Result.UNKNOWN for r in rows
    ):
        raise typer.Exit(EXIT_COULD_NOT_TELL)
    if any(row.result is Result.NOT_REACHED for row in rows):
        raise typer.Exit(EXIT_FINDINGS)


def show_table(
    table: Table,
    format: Format,
    outcomes: Sequence[Outcome[Any]],
    *,
    lines: Sequence[Line] | None = None,
) -> None:
    """Write a list in the form asked for, with the BMCs that could not tell.

    :param lines: for the terminal, instead of the table itself.
    """
    from fabricctl.cli.console import print_text, say
    from fabricctl.report.screen import DIM
    from provision.report.common import failure_lines, failures_json

    if format is Format.TEXT:
        rows = table.lines() if lines is None else lines
        _print([*(rows or [(("nothing to list", DIM),)]), *failure_lines(outcomes)])
        return
    if format is Format.JSON:
        print_text(table.json(could_not_tell=failures_json(outcomes)))
        return
    print_text(table.csv() if format is Format.CSV else table.markdown())
    for line in failure_lines(outcomes):
        say("".join(text for text, _ in line).strip())


def show_list(desk: Desk, table: Table, format: Format, outcomes: Sequence[Outcome[Any]]) -> None:
    """A command that only reads: write its list, end with its exit code."""
    show_table(table, format, outcomes)
    if format is Format.TEXT:
        _print(_trust(desk, outcomes))
    if any(outcome.error is not None for outcome in outcomes):
        raise typer.Exit(EXIT_COULD_NOT_TELL)


def _trust(desk: Desk, outcomes: Sequence[Outcome[Any]]) -> list[Line]:
    """How far the answers are trusted, and what was odd in them."""
    from provision.report.common import exposure_lines

    lines = exposure_lines(desk.targets)
    texts: dict[str, list[str]] = {}
    for outcome in outcomes:
        for note in outcome.notes:
            texts.setdefault(note.text, []).append(outcome.target.host)
    if texts:
        from fabricctl.hostset import fold
        from fabricctl.report.screen import DIM

        lines += [((f"{fold(hosts)}: {text}", DIM),) for text, hosts in texts.items()]
    return lines


def _print(lines: Sequence[Line]) -> None:
    from fabricctl.cli.console import print_lines

    print_lines(lines)
