"""``fabricctl bmc credentials``: passwords of BMCs from the vendor's list to the ones nobody else knows."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from fabricctl.cli.bmc.common import Desk, SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import ALL, Force, Hosts, Reason, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabricctl.cli.changing import Manner
    from provision.report.change_report import Planned
    from provision.secrets.store import SecretStore
    from provision.workflows.rotate_plan import Plan, Rotated

group = typer.Typer(
    help="Passwords of BMCs: import the vendor's list, see who has one, change them. No command shows one.",
    short_help="Passwords of BMCs: import, list, rotate.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="credentials")


@group.command("import", short_help="Keep the factory passwords of a vendor's list.")
def import_list(
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    site: SiteFile = "",
    state: StateOption = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be kept; keep nothing.")] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Also in place of passwords changed since: the BMC was replaced or reset."
        ),
    ] = False,
) -> None:
    """Keep the factory passwords of a vendor's list in the secret store, by service tag.

    FILE has columns of service tags and passwords, perhaps of user names: CSV, tabs, blanks, or a workbook (.xlsx); -
    reads standard input. Nothing is kept unless every row can be read.
    """
    from fabricctl.cli.console import print_lines, say
    from provision.report.credentials_report import import_lines
    from provision.secrets.store import open_secrets
    from provision.workflows import credentials as workflow

    desk = open_desk("all", site, state, nobody=True)
    store = open_secrets(desk.site)
    machines = workflow.read_list(file)
    now, source = datetime.now(UTC), f"import {os.path.basename(file)}"
    found = workflow.plan_import(machines, desk.targets, store, source=source, now=now, replace=replace)
    if found.entries and not dry_run:
        store.put(found.entries)
    print_lines(import_lines(found, file, store.reference, dry=dry_run))
    mode = workflow.open_to_others(file)
    if mode:
        say(f"others may read {file} (mode {mode}): chmod 600 it, or remove it now that it is imported")


@group.command("list", short_help="Which BMC has a password, since when, and of what kind.")
def list_credentials(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show who has a password: factory, current (changed by us), pending (a change was interrupted).

    HOSTS is a host set such as gpu[001-032], or all, also when left out, and then machines beyond it, too.
    """
    from fabricctl.cli.bmc.reading import show
    from provision.bmc.outcome import Outcome
    from provision.report.credentials_report import holding_report
    from provision.secrets.store import open_secrets
    from provision.workflows.credentials import holdings

    desk = open_desk(hosts, site, state, nobody=True)
    store = open_secrets(desk.site)
    everyone = hosts.strip() == ALL
    found = list(holdings(desk.site, store, desk.targets, strangers=everyone))
    asked = [Outcome[None](target) for target in desk.targets]
    show(holding_report(found, datetime.now(UTC), store.reference, asked, each=each), format)


@group.command("rotate", short_help="Give BMCs new passwords, each its own.")
def rotate(
    hosts: Hosts,
    site: SiteFile = "",
    state: StateOption = "",
    length: Annotated[
        int, typer.Option("--length", metavar="N", help="Characters of the new passwords: 12 to 20.")
    ] = 20,
    only: Annotated[
        str,
        typer.Option(
            "--only", metavar="KINDS", help="Only passwords that are factory, pending, current or reference."
        ),
    ] = "",
    older_than: Annotated[
        int | None,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Only passwords kept for so many days."),
    ] = None,
    yes: Yes = False,
    reason: Reason = "",
    force: Force = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Give BMCs new random passwords. Each is kept before the BMC hears of it, and proved by a login afterwards.

    HOSTS is a host set such as gpu[001-032], or all. Interrupted or killed at any point, the same command with
    --only factory,pending finishes what was begun, and changes no new password again. A password that a BMC refuses is
    tried once, so that no account is locked.
    """
    from fabricctl.cli.bmc.change import allow, show_plan
    from fabricctl.cli.changing import Manner
    from fabricctl.cli.console import print_lines
    from provision.bmc.new_password import check_length
    from provision.bmc.outcome import Outcome
    from provision.secrets.store import open_secrets
    from provision.workflows.rotate_plan import (
        count_words,
        narrowed,
        plan_rotation,
        planned,
        wanted,
    )

    check_length(length)
    which = wanted(only, older_than, datetime.now(UTC))
    desk = open_desk(hosts, site, state, changes=True)
    store = open_secrets(desk.site)
    with store.alone():
        plan = narrowed(plan_rotation(desk.site, store, desk.targets), which)
        manner = Manner("new passwords", "change BMC passwords", yes, force, reason, format)
        steps, asked = planned(plan, length), [Outcome[None](target) for target in desk.targets]
        show_plan(manner, steps, asked)
        if plan.jobs and format is Format.TEXT:
            print_lines([((f"  {count_words(plan)}", ""),)])
        results: list[Rotated] = []
        interrupted = False
        if plan.jobs:
            allow(desk, manner, steps, asked)
            interrupted = _carry_out(desk, store, plan, length, manner, results)
    _finish(desk, results, plan, steps, format, interrupted=interrupted)


def _carry_out(
    desk: Desk, store: SecretStore, plan: Plan, length: int, manner: Manner, results: list[Rotated]
) -> bool:
    """Wave by wave, into results; True when somebody interrupted it."""
    from fabricctl.cli.changing import journal_of
    from fabricctl.cli.console import say
    from fabricctl.cli.progress import progress
    from provision.workflows.access import fleet_options
    from provision.workflows.rotate import Rotation
    from provision.workflows.rotate_ask import asker
    from provision.workflows.rotate_plan import goes_on

    interrupted = False
    with journal_of(desk, manner) as journal, progress() as tell:
        rotation = Rotation(
            store,
            asker(fleet_options(desk.site)),
            length=length,
            record=journal,
            step=lambda name: tell(f"{len(results):,} of {len(plan.jobs):,} BMCs; {name}"),
        )
        try:
            for wave in rotation.run(plan.jobs, desk.site.management.bmc_limits.wave):
                results += wave
        except KeyboardInterrupt:
            interrupted = True
    if not interrupted:
        return False
    # not before: progress still had the last line of the terminal
    command = goes_on(plan, results, f" --site {desk.site.path}")
    say(f"new passwords of the wave that was interrupted are pending; go on with {command}")
    return True


def _finish(
    desk: Desk,
    results: Sequence[Rotated],
    plan: Plan,
    steps: Sequence[Planned],
    format: Format,
    *,
    interrupted: bool,
) -> NoReturn:
    from fabricctl.cli.bmc.change import finish_change
    from provision.bmc.outcome import Outcome
    from provision.workflows.rotate_plan import changed, left_open

    # of the others it is certain that nothing was changed: a finding
    errors = {one.job.host: one.error for one in results if left_open(one)}
    outcomes = [Outcome[None](target, error=errors.get(target.host)) for target in desk.targets]
    rows = changed(results, plan.hopeless)
    finish_change(format, rows, outcomes, planned=steps, shown=bool(rows), interrupted=interrupted)
