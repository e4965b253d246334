"""``fabricctl maas deploy``: the system goes on the disk that the site file's rule chooses, and on no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.maas.clock import clock_checked
from fabricctl.cli.maas.common import FromQuarantine, SiteFile, Wait, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.machines import Situation
    from fabricctl.cli.maas.running import Plan
    from provision.install.outcome import NodeResult
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_deploy import DeployJob
    from provision.workflows.install_model import Progress

SERIES = ("jammy", "noble")
KERNELS = ("ga", "hwe")
Redeploy = Annotated[
    bool, typer.Option("--redeploy", help="Also hosts that are installed: released first, every disk wiped.")
]
Accept = Annotated[
    bool, typer.Option("--accept-disk-change", help="Also where the disks are not those recorded.")
]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("deploy", short_help="Install hosts, on the disk the site file's rule chooses.")(deploy)


def deploy(
    hosts: Hosts,
    site: SiteFile = "",
    series: Annotated[
        str, typer.Option(metavar="NAME", help="jammy or noble, other than the site file's.")
    ] = "",
    kernel: Annotated[str, typer.Option(metavar="KIND", help="ga or hwe, other than the site file's.")] = "",
    redeploy: Redeploy = False,
    accept_disk_change: Accept = False,
    from_quarantine: FromQuarantine = False,
    skip_clock_check: Annotated[
        bool, typer.Option("--skip-clock-check", help="Do not compare clocks before a first installation.")
    ] = False,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Install Ubuntu on the one disk of each host that the site file's rule leaves, and look afterwards whether it is.

    HOSTS is a host set such as gpu[001-032], or all; those that are installed are left alone. The plan names in red
    what is wiped: every disk of a host. Refused: no disk or several by the rule, disks that are not those recorded,
    hardware that is missing, clocks that differ. A host that fails, or takes longer than maas.limits.deploy_min, goes
    into quarantine with the reason; the others go on. Ctrl-C ends the watching, not the installations.
    """
    from fabricctl.cli.maas.machines import read_situation
    from fabricctl.cli.maas.running import carry_out
    from provision.install.lifecycle import Verb, Wish
    from provision.workflows.install_access import (
        deploy_jobs,
        flow_options,
        maas_of,
        open_provisioner,
        read_known,
    )
    from provision.workflows.install_deploy import deploy as run
    from provision.workflows.install_seeds import site_seeds

    _one_of("--series", series, SERIES)
    _one_of("--kernel", kernel, KERNELS)
    desk = open_desk(hosts, site, state)
    known = read_known(desk.site, desk.location, desk.hosts)
    jobs = {job.host: job for job in deploy_jobs(known, series=series, kernel=kernel)}
    seen = read_situation(desk, Wish(Verb.DEPLOY, redeploy, from_quarantine))
    plan = _plan(desk, seen, jobs, accept=accept_disk_change)
    if not skip_clock_check:
        plan = clock_checked(desk, seen, plan)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(flow_options(maas_of(desk.site).limits), book=book, progress=heard, wait=wait)
        async with open_provisioner(desk.site) as provisioner:
            return await run(
                provisioner,
                [jobs[host] for host in plan.hosts],
                options,
                seeds=site_seeds(desk.site, book),
                redeploy=redeploy,
                from_quarantine=from_quarantine,
                accept_disk_change=accept_disk_change,
                comment=reason.strip(),
            )

    manner = Manner("deploy", "install it anew", yes, force_in_service, reason, format)
    carry_out(desk, manner, plan, work)


def _one_of(option: str, word: str, words: Sequence[str]) -> None:
    if word and word not in words:
        raise UsageError(f"{option} {word}: expected {' or '.join(words)}")


def _plan(desk: Desk, seen: Situation, jobs: Mapping[str, DeployJob], *, accept: bool) -> Plan:
    """What would be installed where, and what is lost by it."""
    from provision.install.disks import choose_boot_disk
    from provision.install.lifecycle import Act
    from provision.report.change_report import Planned
    from provision.report.install_disks import HostDisks
    from provision.report.install_plan import Install, plan_deploy, written_disks
    from provision.workflows.install_book import DISKS
    from provision.workflows.install_deploy import refusal, unrecorded

    planned = {}
    disks: list[Mapping[str, str]] = []
    for host, machine in seen.machines.items():
        job, recorded = jobs[host], seen.kept.noted.get(host, {}).get(DISKS)
        refused = refusal(job, machine, recorded, accept=accept)
        choice = choose_boot_disk(machine.disks, job.rule)
        install = Install(job.series, job.kernel, choice, refused)
        planned[host] = plan_deploy(host, machine, seen.steps[host], install, on=seen.powers.on(host))
        left = unrecorded(seen.kept.noted.get(host, {}), ours=seen.kept.ours(host))
        if seen.steps[host].act is Act.DONE and left:
            planned[host] = Planned(host, left)
            continue
        if planned[host].words:
            disks += written_disks(HostDisks(host, machine, choice))
    return seen.plan(desk, planned, disks)
