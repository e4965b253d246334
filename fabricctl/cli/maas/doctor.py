"""``fabricctl maas doctor``: every role that MAAS plays, asked alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.maas.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from provision.install.doctor import Role, RoleResult
    from provision.workflows.maas_doctor import DoctorOptions

ALL = "all"
Hosts = Annotated[str, typer.Argument(metavar="HOSTS", hidden=True)]
Interface = Annotated[
    str,
    typer.Option(
        "--interface",
        metavar="NAME",
        help="This machine's interface in the hosts' network: DHCP is asked by broadcast.",
    ),
]
Only = Annotated[str, typer.Option("--only", metavar="ROLE,...", help="Ask these roles only.")]
Skip = Annotated[str, typer.Option("--skip", metavar="ROLE,...", help="Ask all roles but these.")]
Bmcs = Annotated[
    int | None,
    typer.Option(
        "--bmcs",
        min=0,
        metavar="N",
        help="Hosts whose BMC is asked through MAAS; default 8, or all HOSTS named.",
    ),
]
NoBmc = Annotated[bool, typer.Option("--no-bmc", help="Do not ask the BMCs themselves who they are.")]
EachAnswer = Annotated[bool, typer.Option("--each", help="A line for every question.")]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("doctor", short_help="Ask each role MAAS plays whether it works.")(doctor)


def doctor(
    hosts: Hosts = ALL,
    site: SiteFile = "",
    interface: Interface = "",
    only: Only = "",
    skip: Skip = "",
    bmcs: Bmcs = None,
    no_bmc: NoBmc = False,
    each: EachAnswer = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Ask each role that MAAS plays whether it works, and name each one that does not.

    api (answers, takes the key, clock), racks (connected, reach the BMCs), dhcp (offers a host an address and a boot
    file; a second server is a finding), images, metadata, ntp, dns, proxy, agreement (MAC, address and name are the
    same by site, MAAS and BMC). HOSTS is a host set such as gpu[001-032], or all, also when left out.

    Nothing is changed and no address is taken. DHCP needs root; without --interface it is asked as a relay asks.
    """
    from fabricctl.cli.bmc.reading import exit_with, show
    from fabricctl.cli.console import say
    from fabricctl.errors import EXIT_INTERRUPTED
    from provision.report.doctor_report import doctor_report
    from provision.workflows.maas_doctor import DoctorOptions

    roles = chosen(only, skip)
    desk = open_desk(hosts, site, state)
    whole = hosts.strip() == ALL
    number = bmcs if bmcs is not None else 8 if whole else len(desk.hosts)
    options = DoctorOptions(roles=roles, interface=interface, bmcs=number, whole=whole)
    told, finished = _run(desk, options, ask_bmcs=not no_bmc)
    report = doctor_report(told, each=each)
    show(report, format)
    if not finished:
        say("interrupted: the other roles were not asked to the end")
        raise typer.Exit(EXIT_INTERRUPTED)
    exit_with(report)


def chosen(only: str, skip: str) -> frozenset[Role]:
    """Roles to ask. :raises UsageError: an unknown role, or none is left."""
    from provision.install.doctor import Role

    wanted = _roles(only) if only.strip() else frozenset(Role)
    left = wanted - _roles(skip)
    if not left:
        raise UsageError("no role is left to ask")
    return left


def _roles(text: str) -> frozenset[Role]:
    from fabricctl.near import did_you_mean
    from provision.install.doctor import Role

    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    known = [role.value for role in Role]
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        hint = did_you_mean(unknown, known) or f"there are {', '.join(known)}"
        raise UsageError(f"MAAS plays no role {unknown!r}", hint=hint)
    return frozenset(Role(name) for name in names)


def _run(desk: Desk, options: DoctorOptions, *, ask_bmcs: bool) -> tuple[list[RoleResult], bool]:
    """Results in the order of roles, and whether all were asked to the end."""
    import asyncio

    from fabricctl.cli.progress import progress
    from provision.maas.provisioner import open_maas
    from provision.redfish.interrupt import interruptible
    from provision.workflows.doctor_bmcs import who_are
    from provision.workflows.doctor_book import read_book
    from provision.workflows.install_access import maas_settings
    from provision.workflows.maas_doctor import Doctor

    told: list[RoleResult] = []
    book = read_book(desk.site, desk.location)
    waiting = {role.value for role in options.roles}

    async def examine() -> None:
        async with open_maas(maas_settings(desk.site)) as maas:
            ask = (lambda hosts: who_are(desk.site, desk.location, hosts)) if ask_bmcs else None
            await Doctor(desk.site, maas, book, desk.hosts, options, ask).examine(done)

    with progress() as tell:

        def done(one: RoleResult) -> None:
            told.append(one)
            waiting.discard(one.role.value)
            tell(f"asking {', '.join(sorted(waiting))}")

        tell(f"asking {', '.join(sorted(waiting))}")
        try:
            asyncio.run(interruptible(examine()))
        except (asyncio.CancelledError, KeyboardInterrupt):
            return _ordered(told), False
    return _ordered(told), True


def _ordered(told: list[RoleResult]) -> list[RoleResult]:
    from provision.install.doctor import Role

    return sorted(told, key=lambda one: list(Role).index(one.role))
