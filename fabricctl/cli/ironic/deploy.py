"""``fabricctl ironic deploy``: an image on the disk that the site file's rule chooses, or a system in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.ironic.common import SiteFile, Wait, open_desk, read_situation
from fabricctl.cli.maas.clock import SkipClocks, clock_checked
from fabricctl.cli.maas.common import Again, FromQuarantine, asked_again
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.machines import Situation
    from fabricctl.cli.maas.running import Plan
    from provision.install.outcome import NodeResult
    from provision.report.install_plan import Install
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_deploy import DeployJob
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("deploy", short_help="Install hosts, or boot them into memory.")(deploy)


def deploy(
    hosts: Hosts,
    site: SiteFile = "",
    redeploy: Annotated[
        bool, typer.Option("--redeploy", help="Also nodes that are active: they are released first.")
    ] = False,
    again: Again = False,
    accept_disk_change: Annotated[
        bool, typer.Option("--accept-disk-change", help="Also where the disks are not those recorded.")
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
    """Install the site file's image on the one disk its rule leaves; with deploy_interface ramdisk boot it into memory.

    HOSTS is a host set such as gpu[001-032], or all; active ones are left alone. Series and kernel are those of the
    image: where the site file's install asks for others it is refused. A node that fails, or takes longer than
    ironic.limits.deploy_min, goes into quarantine with the reason; the others go on. The plan names in
    red what is written over, and with ironic.clean what a node loses that is released first. Refused the first time: a
    host with a clock that differs.
    """
    from fabricctl.cli.maas.pools import keep_pools, pool_export
    from fabricctl.cli.maas.running import carry_out
    from provision.install.lifecycle import Verb, Wish
    from provision.report.install_plan import installed, starts
    from provision.workflows.install_access import deploy_jobs, flow_options, read_known
    from provision.workflows.install_book import SERIES
    from provision.workflows.install_deploy import deploy as run
    from provision.workflows.install_ironic import (
        deploy_into_memory,
        ironic_judges,
        ironic_of,
        open_site_ironic,
    )
    from provision.workflows.install_seeds import site_seeds

    asked_again(again, redeploy=redeploy)
    desk = open_desk(hosts, site, state)
    known = read_known(desk.site, desk.location, desk.hosts)
    judged = ironic_judges(known)
    jobs = {job.host: replace(job, judge=judged[job.host]) for job in deploy_jobs(known)}
    memory = ironic_of(desk.site).image.deploy_interface == "ramdisk"
    system = ("", "") if memory else (desk.site.install.series, desk.site.install.kernel)
    seen = read_situation(desk, Wish(Verb.DEPLOY, redeploy, from_quarantine, again, *system))
    cleans = ironic_of(desk.site).clean
    lost = [
        host for host, machine in seen.machines.items() if starts(seen.steps[host]) and installed(machine)
    ]
    pools = keep_pools(desk, lost, reason.strip() or "deploy") if cleans else {}
    installs = (
        _into_memory(desk, seen, pools) if memory else _onto_disk(seen, jobs, pools, accept_disk_change)
    )
    plan = _plan(desk, seen, {host: replace(one, cleans=cleans) for host, one in installs.items()}, memory)
    if not skip_clock_check:
        plan = clock_checked(desk, seen, plan, SERIES)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(
            flow_options(desk.site, ironic_of(desk.site).limits), book=book, progress=heard, wait=wait
        )
        seeds, comment = site_seeds(desk.site, book), reason.strip()
        async with open_site_ironic(desk.site) as provisioner:
            if memory:
                return await deploy_into_memory(
                    provisioner,
                    desk.site,
                    plan.hosts,
                    options,
                    seeds=seeds,
                    redeploy=redeploy,
                    again=again,
                    from_quarantine=from_quarantine,
                    comment=comment,
                )
            return await run(
                provisioner,
                [jobs[host] for host in plan.hosts],
                options,
                seeds=seeds,
                redeploy=redeploy,
                again=again,
                from_quarantine=from_quarantine,
                accept_disk_change=accept_disk_change,
                export=pool_export(desk, book) if cleans else None,
                comment=comment,
            )

    manner = Manner("deploy", "install it anew", yes, force_in_service, reason, format)
    carry_out(desk, manner, plan, work)


def _into_memory(desk: Desk, seen: Situation, pools: Mapping[str, str]) -> Mapping[str, Install]:
    """What would be booted; no disk is chosen, and none written to by it."""
    from provision.install.disks import DiskChoice
    from provision.report.install_plan import Install

    install = desk.site.install
    return {
        host: Install(
            install.series, install.kernel, DiskChoice(None), wipes=False, pools=pools.get(host, "")
        )
        for host in seen.machines
    }


def _onto_disk(
    seen: Situation, jobs: Mapping[str, DeployJob], pools: Mapping[str, str], accept: bool
) -> Mapping[str, Install]:
    """What would be installed where. Ironic writes to that disk alone."""
    from provision.install.disks import choose_boot_disk
    from provision.report.install_plan import Install
    from provision.workflows.install_book import DISKS
    from provision.workflows.install_deploy import refusal

    found = {}
    for host, machine in seen.machines.items():
        job, recorded = jobs[host], seen.kept.noted.get(host, {}).get(DISKS)
        choice = choose_boot_disk(machine.disks, job.rule)
        refused = refusal(job, machine, recorded, accept=accept)
        found[host] = Install(job.series, job.kernel, choice, refused, wipes=False, pools=pools.get(host, ""))
    return found


def _plan(desk: Desk, seen: Situation, installs: Mapping[str, Install], memory: bool) -> Plan:
    """What would be done, and the disks that would be written to."""
    from provision.install.lifecycle import Act
    from provision.install.machine import Phase
    from provision.report.change_report import Planned
    from provision.report.install_disks import HostDisks
    from provision.report.install_plan import plan_deploy, written_disks
    from provision.workflows.install_deploy import unrecorded

    planned: dict[str, Planned] = {}
    disks: list[Mapping[str, str]] = []
    for host, machine in seen.machines.items():
        install, step = installs[host], seen.steps[host]
        one = plan_deploy(host, machine, step, install, on=seen.powers.on(host))
        if memory:
            one = replace(one, words=one.words.replace("install ", "boot into memory ", 1))
        left = "" if memory else unrecorded(machine, seen.kept.past(host), datetime.now(UTC))
        planned[host] = Planned(host, left) if step.act is Act.DONE and left else one
        if one.danger:
            cleans = install.cleans and step.phase is Phase.RELEASE
            disks += written_disks(HostDisks(host, machine, install.choice), others=False, cleans=cleans)
    return seen.plan(desk, planned, disks)
