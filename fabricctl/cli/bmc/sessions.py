"""``fabricctl bmc sessions``: who is logged in, and ending what was left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import Hosts, SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.bmc.outcome import Outcome
    from provision.bmc.session_list import SessionList


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("sessions", short_help="Who is logged in at BMCs; end own sessions left behind.")(sessions)


def sessions(
    hosts: Hosts = "",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
    clear_own: Annotated[
        bool, typer.Option("--clear-own", help="End own sessions that no running fabricctl holds.")
    ] = False,
) -> None:
    """List the open sessions of BMCs: user, where from, since when, and whose they are.

    HOSTS is a host set such as gpu[001-032]; all BMCs of the site when left out. Own sessions are those of the same
    user and address as this command's, made over the API; other scripts of the same user on this machine look alike.
    """
    from fabricctl.cli.console import print_lines, print_text
    from fabricctl.cli.progress import progress
    from provision.bmc.outcome import exit_code_of
    from provision.report import sessions_report as report
    from provision.workflows.access import fleet_options
    from provision.workflows.sessions import list_sessions

    desk = open_desk(hosts, site, state)
    total = len(desk.targets)
    with progress() as show:

        def done(outcome: Outcome[SessionList], count: int) -> None:
            show(f"reading sessions: {count:,} of {total:,} BMCs, {outcome.target.host}")

        outcomes = list_sessions(desk.targets, fleet_options(desk.site), clear_own=clear_own, done=done)
    if format is Format.TEXT:
        print_lines(report.sessions_lines(outcomes))
    elif format is Format.JSON:
        print_text(report.sessions_json(outcomes))
    elif format is Format.CSV:
        print_text(report.sessions_table(outcomes).csv())
    else:
        print_text(report.sessions_table(outcomes).markdown())
    code = exit_code_of(outcomes)
    if code:
        raise typer.Exit(code)
