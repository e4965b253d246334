"""``fabricctl ironic manage``: Ironic reaches the BMCs, looks at the hardware, and makes nodes available."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.ironic.common import SiteFile, Wait, open_desk, read_situation
from fabricctl.cli.maas.clock import SkipClocks, clock_checked
from fabricctl.cli.maas.common import FromQuarantine
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.install.outcome import NodeResult
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("manage", short_help="Have Ironic reach BMCs and make nodes available.")(manage)


def manage(
    hosts: Hosts,
    site: SiteFile = "",
    again: Annotated[bool, typer.Option("--again", help="Also nodes that are available.")] = False,
    from_quarantine: FromQuarantine = False,
    skip_clock_check: SkipClocks = False,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Take nodes from enroll to available: manage, inspect where ironic.inspect says so, provide.

    HOSTS is a host set such as gpu[001-032], or all. Where hardware is looked at it is compared with site file and
    harvest. A node that fails goes into quarantine: maintenance with the reason, and a tag in extra. With ironic.clean
    the plan names in red the disks that are erased. Refused the first time: a host with a clock that differs.
    """
    from fabricctl.cli.maas.running import carry_out
    from provision.install.lifecycle import Act, Verb, Wish
    from provision.report.change_report import Planned
    from provision.report.install_disks import HostDisks
    from provision.report.install_plan import plan_commission, written_disks
    from provision.workflows.install_access import flow_options, read_known
    from provision.workflows.install_book import DISKS
    from provision.workflows.install_commission import commission as run
    from provision.workflows.install_commission import unfinished
    from provision.workflows.install_ironic import ironic_judges, ironic_of, open_site_ironic

    desk = open_desk(hosts, site, state)
    cleans = ironic_of(desk.site).clean
    boots = ironic_of(desk.site).inspect == "agent"
    seen = read_situation(desk, Wish(Verb.COMMISSION, again, from_quarantine), boots=boots)
    judged = ironic_judges(read_known(desk.site, desk.location, desk.hosts))
    planned = {}
    for host, machine in seen.machines.items():
        planned[host] = plan_commission(
            host, machine, seen.steps[host], on=seen.powers.on(host), cleans=cleans
        )
        left = unfinished(machine, judged[host], seen.kept.noted.get(host, {}), seen.kept.past(host))
        if seen.steps[host].act is Act.DONE and left:
            planned[host] = Planned(host, left)
    disks = [
        disk
        for host, machine in seen.machines.items()
        if cleans and planned[host].danger
        for disk in written_disks(HostDisks(host, machine), cleans=True)
    ]
    plan = seen.plan(desk, planned, disks)
    if not skip_clock_check:
        plan = clock_checked(desk, seen, plan, DISKS)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(
            flow_options(desk.site, ironic_of(desk.site).limits), book=book, progress=heard, wait=wait
        )
        async with open_site_ironic(desk.site) as provisioner:
            return await run(
                provisioner, plan.hosts, options, judges=judged, again=again, from_quarantine=from_quarantine
            )

    manner = Manner("manage", "boot it to look at it", yes, force_in_service, reason, format)
    carry_out(desk, manner, plan, work)
