"""``fabricctl bmc clock``: clocks of BMCs against the controller's."""

from __future__ import annotations

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts
from fabricctl.cli.state_options import Format, FormatOption, StateOption


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("clock", short_help="BMC time against the controller's.")(clock)


def clock(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Compare the clocks of BMCs with this machine's, and both with the dates of the BMCs' certificates.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. A skew beyond
    management.max_clock_skew_s is a finding: it breaks certificates and package downloads during an install.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.report.clock_report import clock_report
    from provision.workflows.clock import own_clock, read_clock, served_dates

    desk = open_desk(hosts, site, state)
    own = own_clock()
    asked = ask_all(desk, lambda bmc: read_clock(bmc, served=served_dates), "reading clocks")
    bound = desk.site.management.max_clock_skew_s
    report = clock_report(list(asked.values.values()), own, bound, asked.outcomes, each=each)
    finish(report, format, interrupted=asked.interrupted)
