"""``fabricctl ironic release``: nodes are given back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.ironic.common import SiteFile, Wait, open_desk, read_situation
from fabricctl.cli.maas.common import FromQuarantine
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.install.outcome import NodeResult
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("release", short_help="Give nodes back; their systems are given up.")(release)


def release(
    hosts: Hosts,
    site: SiteFile = "",
    from_quarantine: FromQuarantine = False,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Give nodes back to Ironic: they are switched off, and the system on them counts as gone.

    HOSTS is a host set such as gpu[001-032], or all. No disk is erased unless the site file says
    ironic.clean: then the plan names in red which are, and what is known of ZFS pools on them is kept.
    """
    from fabricctl.cli.maas.pools import keep_pools
    from fabricctl.cli.maas.running import carry_out
    from provision.install.lifecycle import Verb, Wish
    from provision.report.install_disks import HostDisks
    from provision.report.install_plan import installed, plan_release, starts, written_disks
    from provision.workflows.install_access import flow_options
    from provision.workflows.install_ironic import ironic_of, open_site_ironic
    from provision.workflows.install_release import release as run

    desk = open_desk(hosts, site, state)
    seen = read_situation(desk, Wish(Verb.RELEASE, from_quarantine=from_quarantine))
    cleans = ironic_of(desk.site).clean
    lost = [
        host for host, machine in seen.machines.items() if starts(seen.steps[host]) and installed(machine)
    ]
    pools = keep_pools(desk, lost, reason.strip() or "release") if cleans else {}
    planned = {
        host: plan_release(
            host,
            machine,
            seen.steps[host],
            on=seen.powers.on(host),
            cleans=cleans,
            pools=pools.get(host, ""),
        )
        for host, machine in seen.machines.items()
    }
    disks = [
        disk
        for host, machine in seen.machines.items()
        if cleans and planned[host].danger
        for disk in written_disks(HostDisks(host, machine), cleans=True)
    ]
    plan = seen.plan(desk, planned, disks)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(
            flow_options(desk.site, ironic_of(desk.site).limits), book=book, progress=heard, wait=wait
        )
        async with open_site_ironic(desk.site) as provisioner:
            return await run(
                provisioner, plan.hosts, options, comment=reason.strip(), from_quarantine=from_quarantine
            )

    manner = Manner("release", "switch it off and give up its system", yes, force_in_service, reason, format)
    carry_out(desk, manner, plan, work)
