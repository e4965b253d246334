"""From a plan to its end: plan, guard, consent, what MAAS does meanwhile, the report, the exit code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from fabricctl.cli.changing import Manner, consent, guard_change, journal_of
from fabricctl.cli.state_options import Format
from fabricctl.errors import (
    EXIT_COULD_NOT_TELL,
    EXIT_FINDINGS,
    EXIT_INTERRUPTED,
    InServiceError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerLoginError,
    ProvisionerUnreachableError,
    UsageError,
)

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from provision.install.outcome import NodeResult
    from provision.report.change_report import Planned
    from provision.report.fleet import Said
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import Progress

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What a command would do.

    :param disks: those that would be written to, for the document.
    :param remarks: what could not be found out; that stops nothing, but the command says so at its end.
    """

    planned: Sequence[Planned]
    disks: Sequence[Mapping[str, str]] = ()
    remarks: Said = field(default=())

    @property
    def hosts(self) -> list[str]:
        """Those for which something would be done."""
        return [one.host for one in self.planned if one.words]

    @property
    def doubts(self) -> Said:
        """Remarks on hosts for which something would be done, and on clocks that are no host's."""
        from provision.install.skew import CONTROLLER, MAAS

        about = {*self.hosts, CONTROLLER, MAAS}
        return [(host, text) for host, text in self.remarks if host in about] if self.hosts else []


Work = Callable[["StoreBook", Callable[["Progress"], None]], Awaitable[Sequence["NodeResult"]]]
"""Carries a plan out: where it is kept, whom to tell -> what came of each host."""


def ask_maas(desk: Desk, work: Callable[[], Coroutine[Any, Any, T]], what: str) -> T:
    """Read something of MAAS, with a line on the terminal. :raises ProvisionerError: it cannot be read."""
    import asyncio

    from fabricctl.cli.progress import progress
    from provision.redfish.interrupt import interruptible

    with progress() as tell:
        tell(what)
        try:
            return asyncio.run(interruptible(work()))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        except ProvisionerError as error:
            _name_place(desk, error)
            raise


def _name_place(desk: Desk, error: ProvisionerError) -> None:
    """Add to an error where MAAS is, or what its key was read from: never what the key is."""
    maas, ironic = desk.site.maas, desk.site.ironic
    away = isinstance(error, ProvisionerUnreachableError | ProvisionerDeadlineError) and not error.hint
    if desk.provisioner != "MAAS":
        if ironic is not None and away:
            error.hint = f"ironic.url is {ironic.url}"
        return
    if maas is None:
        return
    if isinstance(error, ProvisionerLoginError):
        error.hint = (
            f"the key is read from {maas.api_key}; maas apikey --username USER prints it on MAAS's own host"
        )
    elif away:
        error.hint = f"maas.url is {maas.url}"


def carry_out(desk: Desk, manner: Manner, plan: Plan, work: Work) -> NoReturn:
    """Show a plan, have it allowed, carry it out, report; ends the command with its exit code."""
    from provision.report.install_changes import not_done

    _show_plan(manner, plan)
    left = not_done([one for one in plan.planned if not one.words])
    if not plan.hosts:
        _finish(desk, manner, plan, left)
    try:
        guard_change(
            desk, plan.hosts, manner.disturbs or manner.what, force=manner.force or not manner.disturbs
        )
        consent(len(plan.hosts), yes=manner.yes, ask=manner.format is Format.TEXT)
    except (UsageError, InServiceError):
        if manner.format is not Format.TEXT:
            _show(manner, plan, _ordered(desk, not_done(plan.planned)), applied=False)
        raise
    results, interrupted = _run(desk, manner, plan, work)
    _finish(desk, manner, plan, [*left, *results], interrupted=interrupted)


def _run(desk: Desk, manner: Manner, plan: Plan, work: Work) -> tuple[Sequence[NodeResult], bool]:
    import asyncio

    from fabricctl.cli.maas.progress import watched
    from fabricctl.cli.phases import Phases
    from provision.redfish.interrupt import interruptible
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import FleetInterrupted

    phases = Phases(manner.what, len(plan.hosts), noun="hosts")
    ended: set[str] = set()
    with journal_of(desk, manner) as journal, watched(phases) as changed:
        book = StoreBook(journal.store, journal.reason, desk.provisioner.lower(), journal.forced)

        def heard(progress: Progress) -> None:
            if progress.ended is None:
                phases.tell(progress.host, progress.words)
            else:
                ended.add(progress.host)
                phases.end(progress.host, len(ended))
            changed()

        try:
            return asyncio.run(interruptible(work(book, heard))), False
        except FleetInterrupted as stopped:
            return stopped.results, True
        except ProvisionerError as error:
            _name_place(desk, error)
            raise


def _ordered(desk: Desk, results: Sequence[NodeResult]) -> list[NodeResult]:
    place = {host: at for at, host in enumerate(desk.hosts)}
    return sorted(results, key=lambda one: place.get(one.host, len(place)))


def _show_plan(manner: Manner, plan: Plan) -> None:
    from fabricctl.cli.bmc.width import width
    from fabricctl.cli.console import print_lines
    from fabricctl.report.lines import DOUBT
    from provision.report.change_report import plan_lines
    from provision.report.common import said_lines

    if manner.format is Format.TEXT:
        told = [(("could not tell", DOUBT),), *said_lines(plan.doubts)] if plan.doubts else []
        print_lines([*plan_lines(plan.planned, manner.what, "host", width()), *told])


def _show(manner: Manner, plan: Plan, results: Sequence[NodeResult], *, applied: bool = True) -> None:
    from fabricctl.cli.bmc.reading import show
    from provision.report.install_changes import install_report

    report = install_report(results, plan.planned, applied=applied, disks=plan.disks, doubts=plan.doubts)
    show(report, manner.format)


def _finish(
    desk: Desk, manner: Manner, plan: Plan, results: Sequence[NodeResult], *, interrupted: bool = False
) -> NoReturn:
    """Report and end: 130 interrupted, 3 when something could not be told, 1 when a host is not as wanted."""
    from fabricctl.cli.bmc.width import width
    from fabricctl.cli.console import print_lines, say
    from provision.install.outcome import Told
    from provision.report.install_changes import doubt_line, result_lines

    results = _ordered(desk, results)
    if manner.format is not Format.TEXT:
        _show(manner, plan, results)
    elif plan.hosts:
        print_lines(
            [(), *result_lines(results, width()), *(doubt_line(plan.doubts) if not interrupted else ())]
        )
    if interrupted:
        begun = f"what {desk.provisioner} has begun goes on there"
        say(f"{begun}; run the command again to go on watching it")
        raise typer.Exit(EXIT_INTERRUPTED)
    told = {one.outcome for one in results}
    if Told.UNKNOWN in told or plan.doubts:
        raise typer.Exit(EXIT_COULD_NOT_TELL)
    raise typer.Exit(EXIT_FINDINGS if Told.FINDING in told else 0)
