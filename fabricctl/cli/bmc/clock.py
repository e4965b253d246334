"""``fabricctl bmc clock``: clocks of BMCs against the controller's."""

from __future__ import annotations

from typing import Annotated

import typer

from fabricctl.cli.bmc.common import Hosts, SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("clock", short_help="BMC time against the controller's, before anything is installed.")(clock)


def clock(
    hosts: Hosts = "",
    everything: Annotated[bool, typer.Option("--all", help="Also list clocks that are right.")] = False,
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Compare the clocks of BMCs with this machine's, and both with the dates of the BMCs' certificates.

    HOSTS is a host set such as gpu[001-032]; all nodes with a BMC address when left out. A skew beyond
    management.max_clock_skew_s is a finding: it breaks certificates and package downloads during an install.
    """
    from fabricctl.cli.bmc.reading import Forms, ask_all, exit_with, show
    from fabricctl.cli.bmc.width import width
    from provision.bmc.clock import clock_findings, culprit
    from provision.report import clock_report as report
    from provision.report.fleet import tail_lines
    from provision.workflows.clock import own_clock, read_clock, served_dates

    desk = open_desk(hosts, site, state)
    bound = desk.site.management.max_clock_skew_s
    own = own_clock()
    asked = ask_all(desk, lambda bmc: read_clock(bmc, served=served_dates), "reading clocks")
    readings = list(asked.values.values())
    findings = [finding for one in readings for finding in clock_findings(one, bound)]
    suspect = culprit(readings, bound)
    forms = Forms(
        text=lambda: [
            *report.clock_lines(readings, own, suspect, bound, width(), everything=everything),
            *tail_lines(asked.outcomes, findings, width(), good=f"every clock is within {bound:g} s"),
        ],
        json=lambda: report.clock_json(readings, own, suspect, asked.outcomes, findings),
        csv=lambda: report.clock_csv(readings),
        markdown=lambda: report.clock_markdown(readings),
    )
    show(format, asked, forms)
    exit_with(asked, findings, untold=any(one.skew_s is None for one in readings))
