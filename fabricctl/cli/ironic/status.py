"""``fabricctl ironic status``: how nodes are, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Hosts
from fabricctl.cli.ironic.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.report.install_status import Seen


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("status", short_help="How nodes are in Ironic: state, reason of a failure.")(status)


def status(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show nodes as Ironic has them: provision state, power, root disk where it is known, and why one failed.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. Findings: failed and quarantined nodes,
    hardware that is not what site file and harvest say.
    """
    from fabricctl.cli.bmc.reading import finish
    from fabricctl.cli.maas.running import ask_maas
    from provision.report.install_status import status_report
    from provision.workflows.install_access import deploy_jobs, read_known
    from provision.workflows.install_ironic import ironic_judges, open_site_ironic
    from provision.workflows.install_state import read_status

    desk = open_desk(hosts, site, state)
    known = read_known(desk.site, desk.location, desk.hosts)
    rules = {job.host: job.rule for job in deploy_jobs(known)}

    async def read() -> list[Seen]:
        async with open_site_ironic(desk.site) as provisioner:
            return await read_status(provisioner, desk.hosts, rules, ironic_judges(known), {})

    finish(status_report(ask_maas(desk, read, "reading nodes"), "Ironic", each=each), format)
