"""``fabricctl bmc harvest``: every MAC and GUID of the machines, and what else their BMCs tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.changing import Hosts
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fabricctl.cli.bmc.common import Desk
    from fabricctl.cli.bmc.patience import Patience
    from provision.bmc.inventory import Inventory
    from provision.bmc.outcome import Outcome
    from provision.bmc.target import Target
    from provision.report.harvest import Told
    from provision.workflows.harvest import Harvest, Request


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("harvest", short_help="MACs, GUIDs and parts of machines, read off their BMCs.")(harvest)


def harvest(
    hosts: Hosts = "all",
    site: SiteFile = "",
    state: StateOption = "",
    quick: Annotated[bool, typer.Option("--quick", help="MACs and GUIDs only.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Also GPUs, drives, power supplies, memory, firmware.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Only hosts that the last harvest did not read completely.")
    ] = False,
    accept_replaced: Annotated[
        bool, typer.Option("--accept-replaced", help="Store it when another machine than recorded answers.")
    ] = False,
    maas: Annotated[
        str, typer.Option("--maas", metavar="FILE", help="Write a list ready for enrolment in MAAS (JSON).")
    ] = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Read NICs, HCAs and the BMC of every machine and keep it in the node record, with the source of every field.

    HOSTS is a host set such as gpu[001-032], or all, also when left out. A harvest reads and changes
    nothing on the machines. It says what changed since the last one: replaced and moved cards, lost addresses, another
    machine behind a BMC address (which is not stored without --accept-replaced).

    Exit code 3: something could not be read, it says what and why; --resume reads only that again.
    """
    from fabricctl.cli.bmc.reading import exit_with, show
    from provision.bmc.inventory import Depth
    from provision.report.harvest_lists import harvest_report
    from provision.workflows.harvest import Request

    if quick and full:
        raise UsageError("--quick reads less, --full more: give one of them")
    depth = Depth.QUICK if quick else Depth.FULL if full else Depth.DEFAULT
    desk = open_desk(hosts, site, state)
    request = Request(depth, resume=resume, accept_replaced=accept_replaced)
    told = _told(desk, _run(desk, request), request)
    report = harvest_report(told)
    show(report, format)
    if maas:
        _write_maas(told, maas)
    exit_with(report, interrupted=told.interrupted)


def _run(desk: Desk, request: Request) -> Harvest:
    from dataclasses import replace
    from datetime import UTC, datetime

    from fabricctl.cli.bmc.patience import Patience
    from fabricctl.cli.progress import progress
    from fabricctl.workflows.state_place import operator
    from provision.workflows.access import fleet_options
    from provision.workflows.harvest import harvest as run
    from provision.workflows.harvest_read import read_fleet

    with progress() as show:
        patience = Patience(show)
        options = replace(fleet_options(desk.site), waiting=patience.waiting)

        def asked(targets: Sequence[Target]) -> Sequence[Outcome[Inventory]]:
            return read_fleet(targets, request.depth, options, _counter(len(targets), patience))

        return run(
            desk.targets,
            request,
            asked,
            site=desk.site,
            location=desk.location,
            who=operator(),
            now=lambda: datetime.now(UTC),
        )


def _counter(total: int, patience: Patience) -> Callable[[Outcome[Inventory], int], None]:
    """Progress: BMCs finished, those that failed."""
    failed = 0

    def done(outcome: Outcome[Inventory], count: int) -> None:
        nonlocal failed
        failed += outcome.error is not None
        trouble = f", {failed:,} failed" if failed else ""
        patience.say(f"{count:,} of {total:,} BMCs read{trouble}", outcome.target.host)

    return done


def _told(desk: Desk, made: Harvest, request: Request) -> Told:
    from provision.report.harvest import Told

    return Told(
        made=made.at.isoformat(timespec="seconds"),
        depth=request.depth,
        outcomes=made.outcomes,
        findings=made.findings,
        changes=made.changes,
        wanted=len(desk.targets) - len(made.skipped),
        skipped=made.skipped,
        stored=made.stored,
        withheld=made.withheld,
        unconfirmed=made.unconfirmed,
        interrupted=made.interrupted,
    )


def _write_maas(told: Told, path: str) -> None:
    from fabricctl.adapters.files import write_atomic
    from fabricctl.cli.console import say
    from fabricctl.hostset import fold
    from provision.report.harvest_lists import maas_list

    text, left = maas_list(told)
    write_atomic(path, text)
    reasons: dict[str, list[str]] = {}
    for host, why in left.items():
        reasons.setdefault(why, []).append(host)
    for why, hosts in reasons.items():
        say(f"not in {path}: {fold(hosts)}: {why}")
