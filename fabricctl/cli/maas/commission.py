"""``fabricctl maas commission``: MAAS looks at machines, and what it saw is compared with what should be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.maas.clock import SkipClocks, clock_checked
from fabricctl.cli.maas.common import FromQuarantine, SiteFile, Wait, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.install.outcome import NodeResult
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("commission", short_help="Have MAAS look at machines, and compare what it saw.")(commission)


def commission(
    hosts: Hosts,
    site: SiteFile = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also machines that are ready; to look at one twice does no harm.")
    ] = False,
    from_quarantine: FromQuarantine = False,
    skip_clock_check: SkipClocks = False,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Have MAAS boot machines and look at them. Ready is not enough: disks, NICs, GPUs and memory are compared too.

    HOSTS is a host set such as gpu[001-032], or all. BMC users are left alone. A machine whose hardware is not as site
    file and harvest say, or that takes longer than maas.limits.commission_min, goes into quarantine: tagged and marked
    as broken, with the reason. Refused the first time: a host with a clock that differs.
    """
    from fabricctl.cli.maas.machines import read_situation
    from fabricctl.cli.maas.running import carry_out
    from provision.install.lifecycle import Act, Verb, Wish
    from provision.report.change_report import Planned
    from provision.report.install_plan import plan_commission
    from provision.workflows.install_access import flow_options, judges, maas_of, open_provisioner, read_known
    from provision.workflows.install_book import DISKS
    from provision.workflows.install_commission import commission as run
    from provision.workflows.install_commission import unfinished

    desk = open_desk(hosts, site, state)
    seen = read_situation(desk, Wish(Verb.COMMISSION, again, from_quarantine))
    judged = judges(read_known(desk.site, desk.location, desk.hosts))
    planned = {}
    for host, machine in seen.machines.items():
        step = seen.steps[host]
        planned[host] = plan_commission(host, machine, step, on=seen.powers.on(host))
        noted, past = seen.kept.noted.get(host, {}), seen.kept.past(host)
        left = unfinished(machine, judged[host], noted, past)
        if step.act is Act.DONE and left:
            planned[host] = Planned(host, left)
    plan = seen.plan(desk, planned)
    if not skip_clock_check:
        plan = clock_checked(desk, seen, plan, DISKS)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(
            flow_options(desk.site, maas_of(desk.site).limits), book=book, progress=heard, wait=wait
        )
        async with open_provisioner(desk.site) as provisioner:
            return await run(
                provisioner, plan.hosts, options, judges=judged, again=again, from_quarantine=from_quarantine
            )

    manner = Manner("commission", "boot it to look at it", yes, force_in_service, reason, format)
    carry_out(desk, manner, plan, work)
