"""``fabricctl bmc status``: state, sensors and supplies of nodes."""

from __future__ import annotations

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts
from fabricctl.cli.state_options import Format, FormatOption, StateOption


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("status", short_help="Health, power, sensors, versions; what cannot be right.")(status)


def status(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show power, health, hottest sensor, fans, power supplies and versions, as the BMCs tell them.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Findings: bad health,
    failed supplies, lost redundancy, temperatures that cannot be, fans at full speed while nothing is hot.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.bmc.status import by_model, fan_outliers, status_findings
    from provision.report.status_report import status_report
    from provision.workflows.status import read_node_status

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_node_status, "reading state")
    statuses = list(asked.values.values())
    findings = [finding for one in statuses for finding in status_findings(one)]
    findings += [finding for nodes in by_model(statuses).values() for finding in fan_outliers(nodes)]
    finish(
        status_report(statuses, asked.outcomes, findings, each=each), format, interrupted=asked.interrupted
    )
