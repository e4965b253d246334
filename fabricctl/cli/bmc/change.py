"""Commands that change nodes through their BMCs: plan, guard, consent, change, report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from fabricctl.cli.bmc.common import Desk
from fabricctl.cli.bmc.reading import Asked, ask_all
from fabricctl.cli.changing import Manner, consent, guard_change, journal_of
from fabricctl.cli.state_options import Format
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_INTERRUPTED, InServiceError, UsageError

if TYPE_CHECKING:
    from provision.bmc.outcome import Outcome
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Changed, Planned
    from provision.workflows.journal import Journal

T = TypeVar("T")
R = TypeVar("R")

STOPPED = "interrupted before it was finished; what was sent stands in fabricctl events"


def run_change(
    desk: Desk,
    manner: Manner,
    seen: Asked[T],
    plan: Callable[[str, T], Planned],
    work: Callable[[Bmc, Journal], Awaitable[R]],
    changed: Callable[[str, R], Changed],
) -> NoReturn:
    """Plan, guard, consent, change and report; ends the command with its exit code.

    :param seen: what was read of every BMC; :param plan: host and what was read -> what would be done.
    :param work: changes one BMC; it reads again, for the world may have moved since the plan.
    :param changed: host and what came of it -> a row of the report.
    """
    from provision.report.change_report import Changed, Result

    planned = [plan(host, value) for host, value in seen.values.items()]
    show_plan(manner, planned, seen.outcomes)
    stop_if_interrupted(seen)
    hosts = [one.host for one in planned if one.words]
    rows = [*_unchanged(planned), *_untold(seen.outcomes)]
    done: Asked[R] = Asked(())
    if hosts:
        allow(desk, manner, planned, seen.outcomes)
        done = _apply(desk, manner, hosts, work)
        rows += _rows(done.outcomes, changed)
        finished = {outcome.target.host for outcome in done.outcomes}
        rows += [Changed(host, Result.UNKNOWN, said=STOPPED) for host in hosts if host not in finished]
    after = {outcome.target.host: _told(outcome) for outcome in done.outcomes}
    outcomes: list[Outcome[Any]] = [after.get(one.target.host, one) for one in seen.outcomes]
    finish_change(
        manner.format,
        _ordered(rows, desk),
        outcomes,
        planned=planned,
        shown=bool(hosts),
        interrupted=done.interrupted,
    )


def allow(desk: Desk, manner: Manner, planned: Sequence[Planned], seen: Sequence[Outcome[Any]]) -> None:
    """Guard and consent. Without them the document tells the plan, and that it was not applied.

    :raises InServiceError: :raises UsageError: it is not allowed; nothing was changed.
    """
    from provision.report.change_report import Changed, Result

    hosts = [one.host for one in planned if one.words]
    force = manner.force or not manner.disturbs
    try:
        guard_change(desk, hosts, manner.disturbs or manner.what, force=force)
        consent(len(hosts), yes=manner.yes, ask=manner.format is Format.TEXT)
    except (UsageError, InServiceError):
        rows = [Changed(one.host, Result.PLANNED, said=one.words) for one in planned if one.words]
        rows += [*_unchanged(planned), *_untold(seen)]
        _show_changes(manner.format, _ordered(rows, desk), seen, planned, applied=False)
        raise


def _ordered(rows: Sequence[Changed], desk: Desk) -> list[Changed]:
    place = {host: at for at, host in enumerate(desk.hosts)}
    return sorted(rows, key=lambda row: place[row.host])


def _unchanged(planned: Sequence[Planned]) -> list[Changed]:
    """Rows of those for which nothing is to be done, or can be."""
    from provision.report.change_report import Changed, Result

    return [
        Changed(one.host, Result.NOT_REACHED, said=one.refused)
        if one.refused
        else Changed(one.host, Result.UNCHANGED, one.already, one.already)
        for one in planned
        if one.refused or not one.words
    ]


def _untold(seen: Sequence[Outcome[Any]]) -> list[Changed]:
    """Rows of those that could not be read, so that nothing was planned for them."""
    from provision.report.change_report import Changed, Result
    from provision.report.common import reason

    return [
        Changed(one.target.host, Result.UNKNOWN, said=reason(one.error, one.target))
        for one in seen
        if one.error is not None
    ]


def _told(outcome: Outcome[R]) -> Outcome[R]:
    """A BMC's no to a change is an answer, so it could tell."""
    refused = outcome.error is not None and outcome.error.refused_change
    return replace(outcome, error=None) if refused else outcome


def show_plan(manner: Manner, planned: Sequence[Planned], seen: Sequence[Outcome[Any]]) -> None:
    """What would be done, who could not tell, and how far the answers are trusted; to people only."""
    from fabricctl.cli.console import print_lines
    from provision.report.change_report import plan_lines
    from provision.report.common import exposure_lines, failure_lines
    from provision.report.fleet import note_lines

    if manner.format is Format.TEXT:
        weak = exposure_lines(outcome.target for outcome in seen)
        print_lines([*plan_lines(planned, manner.what), *failure_lines(seen), *weak, *note_lines(seen)])


def stop_if_interrupted(seen: Asked[Any]) -> None:
    """Interrupted while reading: nothing was sent."""
    from fabricctl.cli.console import say

    if seen.interrupted:
        say("interrupted while reading; nothing was changed")
        raise typer.Exit(EXIT_INTERRUPTED)


def finish_change(
    format: Format,
    rows: Sequence[Changed],
    outcomes: Sequence[Outcome[Any]],
    *,
    planned: Sequence[Planned] = (),
    shown: bool = True,
    interrupted: bool = False,
) -> NoReturn:
    """Report a change and end the command with its exit code.

    :param outcomes: of every BMC that was asked. :param shown: to people there is something to show beside the plan,
        with which who could not be read and weakened trust were shown.
    """
    from fabricctl.cli.console import print_lines, say
    from provision.report.change_report import Result, changed_lines

    if format is Format.TEXT and shown:
        print_lines(changed_lines(rows))
    _show_changes(format, rows, outcomes, planned)
    if interrupted:
        say(STOPPED)
        raise typer.Exit(EXIT_INTERRUPTED)
    if any(outcome.error is not None for outcome in outcomes) or any(
        row.result is Result.UNKNOWN for row in rows
    ):
        raise typer.Exit(EXIT_COULD_NOT_TELL)
    raise typer.Exit(EXIT_FINDINGS if any(row.result is Result.NOT_REACHED for row in rows) else 0)


def _show_changes(
    format: Format,
    rows: Sequence[Changed],
    outcomes: Sequence[Outcome[Any]],
    planned: Sequence[Planned],
    *,
    applied: bool = True,
) -> None:
    """To machines, and as a ticket: one document, whether or not it was carried out."""
    from fabricctl.cli.bmc.reading import show
    from provision.report.change_report import changed_report

    if format is not Format.TEXT:
        show(changed_report(rows, outcomes, planned, applied=applied), format)


def _apply(
    desk: Desk, manner: Manner, hosts: Sequence[str], work: Callable[[Bmc, Journal], Awaitable[R]]
) -> Asked[R]:
    """Change them, in waves."""
    wave = desk.site.management.bmc_limits.wave
    with journal_of(desk, manner) as journal:

        async def one(bmc: Bmc) -> R:
            return await work(bmc, journal)

        return ask_all(desk, one, manner.what, writes=True, wave=wave, hosts=hosts)


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
            kind = Result.NOT_REACHED if outcome.error.refused_change else Result.UNKNOWN
            rows.append(Changed(host, kind, said=reason(outcome.error, outcome.target)))
    return rows
