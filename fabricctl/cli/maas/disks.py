"""``fabricctl maas disks``: which disk would get the system, which would be wiped, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts
from fabricctl.cli.maas.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.report.install_disks import HostDisks


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("disks", short_help="What would be root, what would be wiped, and why.")(disks)


def disks(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show which disk of each host would get the system by the site file's rule, and which would be wiped.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Nothing is changed. An installation writes to
    every disk: MAAS wipes the beginning of those it does not use, and with it the labels of a ZFS pool. Findings: no
    disk or several by the rule, disks that are not those recorded. Forms for machines have a row for each disk.
    """
    from fabricctl.cli.bmc.reading import finish
    from fabricctl.cli.maas.running import ask_maas
    from provision.report.install_disks import disks_report
    from provision.workflows.install_access import deploy_jobs, open_provisioner, read_known
    from provision.workflows.install_state import read_disks, read_kept

    desk = open_desk(hosts, site, state)
    rules = {job.host: job.rule for job in deploy_jobs(read_known(desk.site, desk.location, desk.hosts))}
    kept = read_kept(desk.location, desk.site.name, desk.hosts)

    async def read() -> list[HostDisks]:
        async with open_provisioner(desk.site) as provisioner:
            return await read_disks(provisioner, desk.hosts, rules, kept)

    finish(disks_report(ask_maas(desk, read, "reading disks"), each=each), format)
