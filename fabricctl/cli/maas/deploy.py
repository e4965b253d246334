"""``fabricctl maas deploy``: the system goes on the disk that the site file's rule chooses, and on no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.maas.clock import SkipClocks, clock_checked
from fabricctl.cli.maas.common import Again, FromQuarantine, Redeploy, SiteFile, Wait, asked_again, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.machines import Situation
    from fabricctl.cli.maas.running import Plan
    from provision.install.machine import Machine
    from provision.install.outcome import NodeResult
    from provision.report.change_report import Planned
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_deploy import DeployJob
    from provision.workflows.install_model import Progress

RELEASES = ("jammy", "noble")
KERNELS = ("ga", "hwe")
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
    again: Again = False,
    accept_disk_change: Accept = False,
    from_quarantine: FromQuarantine = False,
    skip_clock_check: SkipClocks = False,
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
    into quarantine with the reason; the others go on. Ctrl-C ends the watching, not the installations. An interrupted
    --redeploy is run again: hosts installed anew within six hours are left out, unless --again.
    """
    _one_of("--series", series, RELEASES)
    _one_of("--kernel", kernel, KERNELS)
    asked_again(again, redeploy=redeploy)
    wanted = Wanted(
        series,
        kernel,
        redeploy,
        again,
        accept_disk_change,
        from_quarantine,
        not skip_clock_check,
        wait,
        reason.strip(),
    )
    manner = Manner("deploy", "install it anew", yes, force_in_service, reason, format)
    _deploy(open_desk(hosts, site, state), wanted, manner)


@dataclass(frozen=True)
class Wanted:
    """What was asked for. :param accept: disks that are not those recorded; :param clocks: are compared first."""

    series: str
    kernel: str
    redeploy: bool
    again: bool
    accept: bool
    from_quarantine: bool
    clocks: bool
    wait: bool
    reason: str


def _deploy(desk: Desk, wanted: Wanted, manner: Manner) -> NoReturn:
    from fabricctl.cli.maas.pools import pool_export
    from fabricctl.cli.maas.running import carry_out
    from provision.install.cloud_init import render_user_data
    from provision.workflows import install_access as access
    from provision.workflows.install_deploy import deploy as run
    from provision.workflows.install_seeds import site_seeds, user_data

    render_user_data(user_data(desk.site))  # users and keys that cannot be are said before anything else
    known = access.read_known(desk.site, desk.location, desk.hosts)
    jobs = {job.host: job for job in access.deploy_jobs(known, series=wanted.series, kernel=wanted.kernel)}
    plan = _plan(desk, jobs, wanted)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        limits = access.maas_of(desk.site).limits
        options = replace(access.flow_options(desk.site, limits), book=book, progress=heard, wait=wanted.wait)
        async with access.open_provisioner(desk.site) as provisioner:
            return await run(
                provisioner,
                [jobs[host] for host in plan.hosts],
                options,
                seeds=site_seeds(desk.site, book),
                redeploy=wanted.redeploy,
                again=wanted.again,
                from_quarantine=wanted.from_quarantine,
                accept_disk_change=wanted.accept,
                export=pool_export(desk, book),
                comment=wanted.reason,
            )

    carry_out(desk, manner, plan, work)


def _one_of(option: str, word: str, words: Sequence[str]) -> None:
    if word and word not in words:
        raise UsageError(f"{option} {word}: expected {' or '.join(words)}")


def _plan(desk: Desk, jobs: Mapping[str, DeployJob], wanted: Wanted) -> Plan:
    """What would be installed where, what is lost by it, and whose clock stands in the way."""
    from fabricctl.cli.maas.machines import read_situation
    from fabricctl.cli.maas.pools import keep_pools, recorded_pools
    from provision.install.lifecycle import Verb, Wish
    from provision.install.machine import Phase
    from provision.report.install_plan import installed, starts
    from provision.workflows.install_book import SERIES

    install = desk.site.install
    system = wanted.series or install.series, wanted.kernel or install.kernel
    wish = Wish(Verb.DEPLOY, wanted.redeploy, wanted.from_quarantine, wanted.again, *system)
    seen = read_situation(desk, wish)
    begun = {host: machine for host, machine in seen.machines.items() if starts(seen.steps[host])}
    asked = [
        host
        for host, machine in begun.items()
        if installed(machine, seen.system(host)) or seen.steps[host].phase is Phase.RELEASE
    ]
    others = [host for host in begun if host not in set(asked)]
    pools = {
        **keep_pools(desk, asked, wanted.reason or "deploy"),
        **recorded_pools(desk, others, seen.kept),
    }
    planned = _planned(seen, jobs, pools, accept=wanted.accept)
    disks = [disk for one, written in planned.values() if one.words for disk in written]
    plan = seen.plan(desk, {host: one for host, (one, _) in planned.items()}, disks)
    return clock_checked(desk, seen, plan, SERIES) if wanted.clocks else plan


def as_it_is(one: Planned, job: DeployJob, machine: Machine, *, ours: bool) -> Planned:
    """An installed machine that is left as it is: refused where it differs from what is asked for.

    :param ours: fabricctl installed it, and looked at it.
    """
    from provision.workflows.install_deploy import differs

    by = "" if ours else f"installed by {machine.owner or 'somebody'}, not by fabricctl"
    wrong = differs(job, machine)
    if wrong:
        return replace(
            one, already="", refused="; ".join(text for text in (machine.status, by, *wrong) if text)
        )
    return replace(one, already="; ".join(text for text in (one.already, by) if text))


def _planned(
    seen: Situation, jobs: Mapping[str, DeployJob], pools: Mapping[str, str], *, accept: bool
) -> dict[str, tuple[Planned, list[Mapping[str, str]]]]:
    """Host -> what would be done, and the disks that would be written to. :param pools: host -> words about them."""
    from provision.install.disks import choose_boot_disk
    from provision.install.lifecycle import Act
    from provision.report.change_report import Planned
    from provision.report.install_disks import HostDisks
    from provision.report.install_plan import Install, plan_deploy, starts, written_disks
    from provision.workflows.install_book import DISKS
    from provision.workflows.install_deploy import changed_disks, refusal, unrecorded, untold_disks

    found: dict[str, tuple[Planned, list[Mapping[str, str]]]] = {}
    for host, machine in seen.machines.items():
        job, recorded = jobs[host], seen.kept.noted.get(host, {}).get(DISKS)
        choice = choose_boot_disk(machine.disks, job.rule)
        refused = refusal(job, machine, recorded, accept=accept)
        install = Install(
            *(job.series, job.kernel, choice, refused),
            pools=pools.get(host, ""),
            before=seen.system(host),
            owner=seen.other(host),
            unrecorded=recorded is None,
            accepted=changed_disks(machine, recorded) if accept else (),
        )
        step, past, now = seen.steps[host], seen.kept.past(host), datetime.now(UTC)
        one = plan_deploy(host, machine, step, install, on=seen.powers.on(host))
        left, untold = unrecorded(machine, past, now), untold_disks(recorded, accept=accept)
        if starts(step) and untold:
            found[host] = (Planned(host, refused=untold, unknown=True), [])
        elif step.act is Act.DONE and left and not seen.other(host):
            found[host] = (Planned(host, left), [])
        elif step.act is Act.DONE:
            found[host] = (as_it_is(one, job, machine, ours=not seen.other(host) and past.verified), [])
        else:
            found[host] = (one, list(written_disks(HostDisks(host, machine, choice))))
    return found
