"""``fabricctl maas status``: how machines are, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts
from fabricctl.cli.maas.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.report.install_status import Seen


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command(
        "status", short_help="How machines are in MAAS: state, disk of the system, reason of a failure."
    )(status)


def status(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show machines as MAAS has them: state, power, what is installed on which disk, and why one failed.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Findings: failed and quarantined machines,
    hardware that is not what site file and harvest say, a system on another disk than the rule's.
    """
    from fabricctl.cli.bmc.reading import finish
    from fabricctl.cli.maas.running import ask_maas
    from provision.report.install_status import status_report
    from provision.workflows.install_access import deploy_jobs, judges, open_provisioner, read_known
    from provision.workflows.install_state import read_kept, read_status

    desk = open_desk(hosts, site, state)
    known = read_known(desk.site, desk.location, desk.hosts)
    rules = {job.host: job.rule for job in deploy_jobs(known)}
    noted = read_kept(desk.location, desk.site.name, desk.hosts).noted

    async def read() -> tuple[str, list[Seen]]:
        async with open_provisioner(desk.site) as provisioner:
            return provisioner.name, await read_status(
                provisioner, desk.hosts, rules, judges(known), noted, desk.states
            )

    name, seen = ask_maas(desk, read, "reading machines")
    finish(status_report(seen, name, each=each), format)
