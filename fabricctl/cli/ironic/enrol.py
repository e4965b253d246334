"""``fabricctl ironic enrol``: hosts become nodes of Ironic, each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fabricctl.cli.changing import Hosts, Manner, Reason, Yes
from fabricctl.cli.ironic.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.install.outcome import NodeResult
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_enrol import Look
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("enrol", short_help="Make hosts nodes of Ironic, each once.")(enrol)


def enrol(
    hosts: Hosts,
    site: SiteFile = "",
    yes: Yes = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Make hosts nodes of Ironic: name, a port for each MAC that boots, how the BMC is reached. Nothing is booted.

    HOSTS is a host set such as gpu[001-032], or all. One that is there already, with its MAC and BMC address, is
    adopted; one whose MAC, name or BMC address another node has is refused. A node whose ports could not all be made
    is finished by the next run.
    """
    from fabricctl.cli.maas.running import Plan, ask_maas, carry_out
    from provision.report.change_report import Planned
    from provision.report.install_plan import plan_enrol
    from provision.secrets.store import open_secrets
    from provision.workflows.install_access import enrol_specs, flow_options, read_known
    from provision.workflows.install_enrol import enrol as run
    from provision.workflows.install_enrol import look
    from provision.workflows.install_ironic import ironic_hosts, ironic_of, open_site_ironic

    desk = open_desk(hosts, site, state)
    known = read_known(desk.site, desk.location, desk.hosts)
    specs = enrol_specs(known, open_secrets(desk.site), ironic_hosts(desk.site))

    async def read() -> Look:
        async with open_site_ironic(desk.site) as provisioner:
            return await look(provisioner, specs.specs)

    seen = ask_maas(desk, read, "looking for nodes")
    planned = {host: Planned(host, refused=why) for host, why in specs.refused.items()}
    planned |= {spec.host: plan_enrol(spec, seen.adoptions[spec.host]) for spec in specs.specs}
    plan = Plan([planned[host] for host in desk.hosts])

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(flow_options(desk.site, ironic_of(desk.site).limits), book=book, progress=heard)
        chosen = set(plan.hosts)
        async with open_site_ironic(desk.site) as provisioner:
            return await run(provisioner, [spec for spec in specs.specs if spec.host in chosen], options)

    carry_out(desk, Manner("enrol", yes=yes, reason=reason, format=format), plan, work)
