"""Asking many BMCs from a command: progress, and what was finished when somebody interrupts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fabricctl.cli.progress import progress

if TYPE_CHECKING:
    from fabricctl.cli.bmc.common import Desk
    from fabricctl.cli.state_options import Format
    from fabricctl.report.screen import Line
    from provision.bmc.outcome import BmcFinding, Outcome
    from provision.redfish.bmc import Bmc

T = TypeVar("T")


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
    from provision.redfish.fleet import Interrupted, ask
    from provision.workflows.access import fleet_options

    targets = [t for t in desk.targets if hosts is None or t.host in set(hosts)]
    with progress() as say:
        say(f"{what}: 0 of {len(targets):,}")

        def done(outcome: Outcome[T], count: int) -> None:  # noqa: ARG001 - the count is what is shown
            say(f"{what}: {count:,} of {len(targets):,}")

        try:
            outcomes = ask(targets, work, fleet_options(desk.site, writes=writes), wave=wave, done=done)
        except Interrupted as stopped:
            return Asked(stopped.outcomes, True)
    return Asked(outcomes)


@dataclass(frozen=True)
class Forms:
    """One report in its forms, each made only when it is asked for.

    :param text: lines of the whole report; :param doubts: what could not be told beside failures, which CSV and
        markdown have no place for.
    """

    text: Callable[[], Sequence[Line]]
    json: Callable[[], str]
    csv: Callable[[], str]
    markdown: Callable[[], str]
    doubts: Sequence[Line] = ()


def show(format: Format, asked: Asked[Any], forms: Forms) -> None:
    """Write a report in one form. Beside CSV and markdown, what could not be told goes to standard error."""
    from fabricctl.cli.console import plain, print_lines, print_text, say
    from fabricctl.cli.state_options import Format
    from provision.report.common import exposure_lines, failure_lines

    if format is Format.TEXT:
        print_lines(forms.text())
        return
    if format is Format.JSON:
        print_text(forms.json())
        return
    print_text(forms.csv() if format is Format.CSV else forms.markdown())
    targets = [outcome.target for outcome in asked.outcomes]
    beside = [*forms.doubts, *failure_lines(asked.outcomes), *exposure_lines(targets)]
    for text in plain(beside).splitlines():
        say(text.strip())


def exit_with(asked: Asked[Any], findings: Sequence[BmcFinding] = (), *, untold: bool = False) -> None:
    """End the command: 130 when interrupted, 3 when something could not be told, 1 with findings, else 0."""
    import typer

    from fabricctl.cli.console import say
    from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_INTERRUPTED
    from provision.bmc.outcome import exit_code_of

    if asked.interrupted:
        say(f"{len(asked.outcomes):,} BMCs had told by then; the others were not asked to the end")
        raise typer.Exit(EXIT_INTERRUPTED)
    code = exit_code_of(asked.outcomes, findings)
    raise typer.Exit(EXIT_COULD_NOT_TELL if untold else code)
