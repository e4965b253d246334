"""``fabricctl bmc status``: state, sensors and supplies of nodes."""

from __future__ import annotations

import typer

from fabricctl.cli.bmc.common import Hosts, SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("status", short_help="Health, power, sensors, versions; what of it cannot be right.")(status)


def status(
    hosts: Hosts = "",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show power, health, hottest sensor, fans, power supplies and versions, as the BMCs tell them.

    HOSTS is a host set such as gpu[001-032]; all nodes with a BMC address when left out. Findings: bad health, failed
    supplies, lost redundancy, temperatures that cannot be, fans at full speed while nothing is hot.
    """
    from fabricctl.cli.bmc.reading import Forms, ask_all, exit_with, show
    from fabricctl.cli.bmc.width import width
    from provision.bmc.status import by_model, fan_outliers, status_findings, untold
    from provision.report import status_report as report
    from provision.report.fleet import tail_lines
    from provision.workflows.status import read_node_status

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_node_status, "reading state")
    statuses = list(asked.values.values())
    findings = [finding for one in statuses for finding in status_findings(one)]
    findings += [finding for nodes in by_model(statuses).values() for finding in fan_outliers(nodes)]
    doubts = report.doubt_lines(statuses)
    good = "everything is healthy by what the BMCs say"
    forms = Forms(
        text=lambda: [
            *report.status_lines(statuses),
            *doubts,
            *tail_lines(asked.outcomes, findings, width(), good=good),
        ],
        json=lambda: report.status_json(statuses, asked.outcomes, findings),
        csv=lambda: report.status_csv(statuses),
        markdown=lambda: report.status_markdown(statuses),
        doubts=doubts,
    )
    show(format, asked, forms)
    exit_with(asked, findings, untold=any(untold(one) or one.skipped for one in statuses))
