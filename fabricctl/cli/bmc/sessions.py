"""``fabricctl bmc sessions``: who is logged in, and ending what was left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts
from fabricctl.cli.state_options import Format, FormatOption, StateOption


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("sessions", short_help="Who is logged in at BMCs; end own sessions left behind.")(sessions)


def sessions(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
    clear_own: Annotated[
        bool, typer.Option("--clear-own", help="End own sessions that no running fabricctl holds.")
    ] = False,
) -> None:
    """List the open sessions of BMCs: user, where from, since when, and whose they are.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Own sessions are those of the same
    user and address as this command's, made over the API; other scripts of the same user on this machine look alike.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.report.sessions_report import sessions_report
    from provision.workflows.access import fleet_options
    from provision.workflows.sessions import list_sessions

    desk = open_desk(hosts, site, state)
    work = list_sessions(fleet_options(desk.site), clear_own=clear_own)
    asked = ask_all(desk, work, "reading sessions")
    finish(sessions_report(asked.outcomes, each=each), format, interrupted=asked.interrupted)
