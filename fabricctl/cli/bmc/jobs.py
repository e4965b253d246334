"""``fabricctl bmc jobs``: the job queues of BMCs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Force, Hosts, Reason, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.bmc.jobs import Job
    from provision.bmc.outcome import Change
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Changed
    from provision.workflows.job_runner import JobResult
    from provision.workflows.journal import Journal

jobs = typer.Typer(
    help="Jobs of BMCs, from all places they live in: list, wait, clear one by its id.",
    short_help="Job queues of BMCs: list, wait, clear one.",
    no_args_is_help=True,
)

JobId = Annotated[str, typer.Option("--id", metavar="JID", help="The job.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    app.add_typer(jobs, name="jobs")


@jobs.command("list", short_help="Jobs of BMCs.")
def list_jobs(
    hosts: Hosts = "all",
    site: SiteFile = "",
    everything: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """List jobs that wait, run, or are stuck.

    HOSTS is a host set such as gpu[001-032], or all, also when left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.bmc.jobs import Phase
    from provision.report.fleet import list_report
    from provision.report.power_report import JOB_SCHEMA, job_table
    from provision.workflows.job_runner import read_jobs

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_jobs, "reading jobs")
    found: dict[str, list[Job]] = {
        host: [job for job in listed if everything or not job.phase.over or job.phase is Phase.STUCK]
        for host, listed in asked.values.items()
    }
    report = list_report(JOB_SCHEMA, "jobs", job_table(found), asked.outcomes, each=each)
    finish(report, format, interrupted=asked.interrupted)


@jobs.command("wait", short_help="Wait for the end of a job.")
def wait_for_job(
    hosts: Hosts,
    job_id: JobId,
    site: SiteFile = "",
    minutes: Annotated[float, typer.Option(min=0, metavar="MINUTES", help="How long at most.")] = 30,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Wait until a job is over, also while its BMC restarts itself.

    HOSTS is a host set such as gpu[001-032], or all; each is asked for the job of that id.
    """
    from fabricctl.cli.bmc.change import finish_change
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.console import print_lines
    from provision.bmc.job_watch import End, Patience
    from provision.report.change_report import Changed, Result
    from provision.report.common import exposure_lines, reason
    from provision.workflows.job_clear import check_job_id
    from provision.workflows.job_runner import wait_job

    wanted = check_job_id(job_id)
    desk = open_desk(hosts, site, state)

    async def work(bmc: Bmc) -> JobResult:
        return await wait_job(bmc, wanted, patience=Patience(total_s=minutes * 60))

    asked = ask_all(desk, work, f"waiting for {wanted}")

    def row(host: str, result: JobResult) -> Changed:
        known = result.end is End.SETTLED
        kind = Result.DONE if result.ok else Result.NOT_REACHED if known else Result.UNKNOWN
        return Changed(host, kind, after=result.phase.value, said=result.words)

    rows = [row(host, result) for host, result in asked.values.items()]
    rows += [
        Changed(outcome.target.host, Result.UNKNOWN, said=reason(outcome.error, outcome.target))
        for outcome in asked.outcomes
        if outcome.error is not None
    ]
    if format is Format.TEXT:
        print_lines(exposure_lines(desk.targets))
    finish_change(format, rows, asked.outcomes, interrupted=asked.interrupted)


@jobs.command("clear", short_help="Take one job out of the queue.")
def clear_jobs(
    hosts: Hosts,
    job_id: JobId,
    site: SiteFile = "",
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Take one job out of the queue, named by its id. Jobs that run are left alone; there is no way to clear all.

    HOSTS is a host set such as gpu[001-032], or all.
    """
    from fabricctl.cli.bmc.change import run_change
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.changing import Manner
    from provision.bmc.jobs import Phase
    from provision.report.change_report import Planned, changed_row
    from provision.workflows.job_clear import check_job_id, clear_job
    from provision.workflows.job_runner import read_jobs

    wanted = check_job_id(job_id)
    desk = open_desk(hosts, site, state, changes=True)
    seen = ask_all(desk, read_jobs, "reading jobs")
    manner = Manner("jobs clear", "take a job out of its queue", yes, force_in_service, reason, format)

    def plan(host: str, found: list[Job]) -> Planned:
        job = next((job for job in found if job.id == wanted), None)
        if job is None:
            return Planned(host, already=f"it has no job {wanted}")
        if job.phase is Phase.RUNNING:
            return Planned(host, refused=f"{job.words} runs")
        return Planned(host, f"clear {job.words}")

    async def work(bmc: Bmc, journal: Journal) -> Change:
        return await clear_job(bmc, wanted, journal)

    run_change(desk, manner, seen, plan, work, changed_row)
