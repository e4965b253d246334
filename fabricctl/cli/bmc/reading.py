"""Asking many BMCs from a command, and the end of one: progress, interruption, the report, the exit code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Generic, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from fabricctl.cli.bmc.common import Desk
    from fabricctl.cli.state_options import Format
    from provision.bmc.outcome import Outcome
    from provision.redfish.bmc import Bmc
    from provision.report.fleet import Report

T = TypeVar("T")

Each = Annotated[
    bool, typer.Option("--each", help="A line for each; else hosts that say the same share one.")
]


@dataclass(frozen=True)
class Asked(Generic[T]):
    """Outcomes in the order of the BMCs. :param interrupted: only those that were finished by then."""

    outcomes: Sequence[Outcome[T]]
    interrupted: bool = False

    @property
    def values(self) -> dict[str, T]:
        """Host -> what was read, of the BMCs that told."""
        return {o.target.host: o.value for o in self.outcomes if o.value is not None}


def ask_all(
    desk: Desk,
    work: Callable[[Bmc], Awaitable[T]],
    what: str,
    *,
    writes: bool = False,
    wave: int | None = None,
    hosts: Sequence[str] | None = None,
) -> Asked[T]:
    """Do work on the BMCs of a desk, with a count on the terminal.

    :param what: being done, in words that stand before ": 17 of 511"; :param hosts: only these of the desk.
    """
    from fabricctl.cli.bmc.patience import Patience
    from fabricctl.cli.phases import Phases
    from fabricctl.cli.progress import live
    from provision.redfish.fleet import Interrupted, ask
    from provision.workflows.access import fleet_options
    from provision.workflows.phase import heard_by

    chosen = None if hosts is None else set(hosts)
    targets = [target for target in desk.targets if chosen is None or target.host in chosen]
    phases, patience = Phases(what, len(targets)), Patience(lambda _: None)

    async def one(bmc: Bmc) -> T:
        with heard_by(partial(phases.tell, bmc.target.host)):
            return await work(bmc)

    def done(outcome: Outcome[T], count: int) -> None:
        patience.say("", outcome.target.host)
        phases.end(outcome.target.host, count)

    options = fleet_options(desk.site, writes=writes, identity=desk.changes)
    with live(lambda: phases.line + patience.words()):
        try:
            outcomes = ask(targets, one, replace(options, waiting=patience.waiting), wave=wave, done=done)
        except Interrupted as stopped:
            return Asked(stopped.outcomes, True)
    return Asked(outcomes)


def show(report: Report, format: Format) -> None:
    """Write a report in one form. Beside CSV, what it has no cell for goes to standard error."""
    from fabricctl.cli.bmc.width import width
    from fabricctl.cli.console import print_lines, print_text, say
    from fabricctl.cli.state_options import Format

    if format is Format.TEXT:
        print_lines(report.text(width()))
    elif format is Format.JSON:
        print_text(report.json())
    elif format is Format.MARKDOWN:
        print_text(report.markdown())
    else:
        print_text(report.csv())
        for text in report.beside():
            say(text)


def finish(report: Report, format: Format, *, interrupted: bool = False, untold: bool = False) -> NoReturn:
    """Write a report and end the command: 130 when interrupted, 3 when something could not be told, 1 with findings.

    :param untold: something could not be told that the report does not say.
    """
    show(report, format)
    exit_with(report, interrupted=interrupted, untold=untold)


def exit_with(report: Report, *, interrupted: bool = False, untold: bool = False) -> NoReturn:
    """End the command with the exit code of a report."""
    from fabricctl.cli.console import say
    from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_INTERRUPTED
    from provision.bmc.outcome import exit_code_of

    if interrupted:
        say(f"{len(report.outcomes):,} BMCs had told by then; the others were not asked to the end")
        raise typer.Exit(EXIT_INTERRUPTED)
    code = exit_code_of(report.outcomes, report.findings)
    raise typer.Exit(EXIT_COULD_NOT_TELL if untold or report.doubts else code)
