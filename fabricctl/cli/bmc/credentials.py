"""``fabricctl bmc credentials``: passwords of BMCs from the vendor's list to the ones nobody else knows."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import (
    Desk,
    Force,
    Hosts,
    Reason,
    SiteFile,
    Yes,
    consent,
    guard_change,
    open_desk,
)
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
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

    desk = open_desk("", site, state)
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
    hosts: Hosts = "",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show who has a password: factory, current (changed by us), pending (a change was interrupted).

    HOSTS is a host set such as gpu[001-032]; all BMCs of the site when left out, and then machines beyond it, too.
    """
    from fabricctl.cli.console import print_lines, print_text
    from provision.report.credentials_report import holding_lines, holding_table
    from provision.secrets.store import open_secrets
    from provision.workflows.credentials import holdings

    desk = open_desk(hosts, site, state)
    store = open_secrets(desk.site)
    everyone = hosts.strip() in ("", "all")
    found = list(holdings(desk.site, store, desk.targets, strangers=everyone))
    now = datetime.now(UTC)
    if format is Format.TEXT:
        print_lines(holding_lines(found, now, store.reference))
        return
    table = holding_table(found, now)
    text = {Format.JSON: table.json, Format.CSV: table.csv, Format.MARKDOWN: table.markdown}[format]()
    print_text(text)


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
    --only factory,pending finishes what was begun, and changes no new password again. A password that a BMC refuses is tried once, so that no account is locked.
    """
    from fabricctl.cli.console import print_lines
    from provision.bmc.new_password import check_length
    from provision.report.change_report import plan_lines
    from provision.secrets.store import open_secrets
    from provision.workflows.rotate_plan import (
        count_words,
        left_open,
        narrowed,
        plan_rotation,
        planned,
        wanted,
    )

    check_length(length)
    which = wanted(only, older_than, datetime.now(UTC))
    if not hosts.strip():
        raise UsageError("which BMCs? name them, or say all")
    desk = open_desk(hosts, site, state)
    store = open_secrets(desk.site)
    with store.alone():
        plan = narrowed(plan_rotation(desk.site, store, desk.targets), which)
        if format is Format.TEXT:
            print_lines(plan_lines(planned(plan, length), "new passwords"))
            print_lines([((f"  {count_words(plan)}", ""),)] if plan.jobs else [])
        results: list[Rotated] = []
        if plan.jobs:
            guard_change(desk, [job.host for job in plan.jobs], "change BMC passwords", force=force)
            consent(len(plan.jobs), yes=yes)
            _carry_out(desk, store, plan, length, reason.strip() or "new password", results, format)
        _show(results, plan, format)
    if plan.hopeless or any(left_open(one) for one in results):
        raise typer.Exit(EXIT_COULD_NOT_TELL)
    if any(one.error is not None for one in results):
        raise typer.Exit(EXIT_FINDINGS)


def _carry_out(
    desk: Desk,
    store: SecretStore,
    plan: Plan,
    length: int,
    reason: str,
    results: list[Rotated],
    format: Format,
) -> None:
    """Wave by wave; what was done by then is shown when interrupted."""
    from fabricctl.cli.console import say
    from fabricctl.cli.progress import progress
    from provision.workflows.access import fleet_options
    from provision.workflows.journal import open_journal
    from provision.workflows.rotate import Rotation, asker
    from provision.workflows.rotate_plan import goes_on

    options = fleet_options(desk.site)
    with open_journal(desk.location, desk.site.name, reason) as journal, progress() as tell:
        rotation = Rotation(
            store,
            asker(options),
            length=length,
            record=journal,
            step=lambda name: tell(f"{len(results):,} of {len(plan.jobs):,} BMCs; {name}"),
        )
        try:
            for wave in rotation.run(plan.jobs, desk.site.management.bmc_limits.wave):
                results += wave
        except KeyboardInterrupt:
            _show(results, plan, format)
            command = goes_on(plan, results, f" --site {desk.site.path}")
            say(f"new passwords of the wave that was interrupted are pending; go on with {command}")
            raise


def _show(results: list[Rotated], plan: Plan, format: Format) -> None:
    from fabricctl.cli.console import print_lines, print_text
    from provision.report.change_report import changed_lines, changed_table
    from provision.workflows.rotate_plan import changed

    listed = changed(results, plan.hopeless)
    if format is Format.TEXT:
        print_lines(changed_lines(listed))
        return
    table = changed_table(listed)
    text = {Format.JSON: table.json, Format.CSV: table.csv, Format.MARKDOWN: table.markdown}[format]()
    print_text(text)
