"""``fabricctl bmc bios``: BIOS settings of nodes: show, compare with the site's profile, set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.changing import Force, Hosts, Reason, Yes, consent, guard_change
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from fabricctl.cli.bmc.common import Desk
    from fabricctl.cli.bmc.reading import Asked
    from provision.bmc.bios import BiosPlan
    from provision.bmc.outcome import Outcome
    from provision.redfish.bmc import Bmc
    from provision.workflows.bios import BiosResult, BiosWrite

app = typer.Typer(
    help="BIOS settings of nodes: show, compare with the site's profile, set.",
    short_help="BIOS settings: show, compare, set.",
    no_args_is_help=True,
)
Profiles = Mapping[str, Mapping[str, str]]
"""Host -> attribute -> value it should have."""


def register(group: typer.Typer) -> None:
    """Add the commands to the group."""
    group.add_typer(app, name="bios")


@app.command("get", short_help="Values of attributes, and those that wait for the next boot.")
def get_bios(
    hosts: Hosts = "all",
    attributes: Annotated[list[str] | None, typer.Argument(metavar="ATTRIBUTE", hidden=True)] = None,
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show BIOS attributes; nodes with the same value share a line.

    HOSTS is a host set such as gpu[001-032], or all; then names of attributes such as SysProfile, all when none are
    given.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.report.bios_report import values_of, values_report
    from provision.workflows.bios import read_bios_state

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_bios_state, "reading BIOS settings")
    names = attributes or []
    values = {host: values_of(found, names) for host, found in asked.values.items()}
    doubts = _absent(names, {host: found.values for host, found in asked.values.items()})
    finish(values_report(values, asked.outcomes, doubts), format, interrupted=asked.interrupted)


def _absent(names: Sequence[str], values: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Host and attribute it does not have, with the nearest that some node has."""
    from provision.bmc.bios import nearest

    known = {name for own in values.values() for name in own}
    near = {name: nearest(name, known) for name in names if name not in known}
    return [
        (host, f"no BIOS attribute {name}" + (f"; did you mean {near[name]}?" if near.get(name) else ""))
        for host, own in values.items()
        for name in names
        if name not in own
    ]


@app.command("diff", short_help="Compare with the profile of the site.")
def diff_bios(
    hosts: Hosts = "all",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Compare BIOS settings with node_models.MODEL.bios of the site file.

    HOSTS is a host set such as gpu[001-032], or all, also when left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.bmc.bios import bios_findings, compare
    from provision.report.bios_report import diff_report
    from provision.workflows.bios import read_bios_state

    desk = open_desk(hosts, site, state)
    profiles = _profiles(desk)
    asked = ask_all(desk, read_bios_state, "reading BIOS settings", hosts=list(profiles))
    compared = [one for host, found in asked.values.items() for one in compare(host, found, profiles[host])]
    report = diff_report(compared, asked.outcomes, bios_findings(compared), _without(desk, profiles))
    untold = any(not one.known for one in compared)
    finish(report, format, interrupted=asked.interrupted, untold=untold)


@app.command("set", short_help="Change settings: one request, one job, read back.")
def set_bios(
    hosts: Hosts,
    settings: Annotated[list[str] | None, typer.Argument(metavar="ATTRIBUTE=VALUE", hidden=True)] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Restart the nodes, in waves, and read the values back.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until a restart has applied them, and read them back.")
    ] = False,
    cut: Annotated[
        bool, typer.Option("--force", help="With --reset: cut the power of nodes that do not shut down.")
    ] = False,
    reason: Reason = "",
    yes: Yes = False,
    force: Force = False,
    site: SiteFile = "",
    state: StateOption = "",
) -> None:
    """Set BIOS attributes; those of node_models.MODEL.bios of the site file when none are given.

    HOSTS is a host set such as gpu[001-032], or all; then settings such as SysProfile=PerfOptimized. The plan is shown
    first. Values are checked against the BIOS's own registry. What differs goes out in one request that makes one job;
    it takes effect at the next restart. Without a difference nothing is written.
    """
    from fabricctl.cli.bmc.reading import Asked, ask_all
    from fabricctl.cli.console import print_lines
    from provision.report.bios_report import plan_lines
    from provision.workflows.bios import BiosWrite, plan_bios

    desk = open_desk(hosts, site, state, changes=True)
    given = _given(settings or [])
    wanted: Profiles = dict.fromkeys(desk.hosts, given) if given else _profiles(desk)
    read = ask_all(
        desk, lambda bmc: plan_bios(bmc, wanted[bmc.target.host]), "reading BIOS settings", hosts=list(wanted)
    )
    plans = read.values
    print_lines(plan_lines(list(plans.values())))
    _stop_on_refusals(list(plans.values()))
    todo = [host for host, plan in plans.items() if plan.writes or plan.waiting]
    if read.interrupted or not todo:
        _finish(desk, read, wanted, Asked(()))
    what = "change BIOS settings and restart" if reset else "change BIOS settings"
    guard_change(desk, todo, what, force=force)
    consent(len(todo), yes=yes)
    written = _write(desk, wanted, todo, BiosWrite(reset=reset, wait=wait), reason, forced=force, cut=cut)
    _finish(desk, read, wanted, written)


def _write(
    desk: Desk,
    wanted: Profiles,
    todo: Sequence[str],
    options: BiosWrite,
    reason: str,
    *,
    forced: bool,
    cut: bool,
) -> Asked[BiosResult]:
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.changing import Manner, journal_of
    from provision.bmc.power import PowerRequest
    from provision.workflows.bios import write_bios
    from provision.workflows.power import PowerOptions, set_power

    with journal_of(desk, Manner("bios set", force=forced, reason=reason)) as journal:

        async def restart(bmc: Bmc) -> object:
            return await set_power(bmc, PowerRequest.CYCLE, PowerOptions(force=cut), journal)

        return ask_all(
            desk,
            lambda bmc: write_bios(bmc, wanted[bmc.target.host], options, restart, journal),
            "writing BIOS settings",
            writes=True,
            wave=desk.site.management.bmc_limits.wave if options.reset else None,
            hosts=todo,
        )


def _given(settings: Sequence[str]) -> dict[str, str]:
    from fabricctl.errors import UsageError

    found: dict[str, str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"expected ATTRIBUTE=VALUE such as SysProfile=PerfOptimized, found {text!r}")
        if found.get(name.strip(), value) != value:
            raise UsageError(f"{name.strip()} is given twice with different values")
        found[name.strip()] = value
    return found


def _profiles(desk: Desk) -> Profiles:
    from fabricctl.errors import UsageError

    models = desk.site.node_models
    found: dict[str, Mapping[str, str]] = {
        target.host: models[target.model].bios
        for target in desk.targets
        if target.model in models and models[target.model].bios
    }
    if not found:
        raise UsageError(
            f"{desk.site.path} has no BIOS profile for these nodes",
            hint="write node_models.MODEL.bios, for example SysProfile: PerfOptimized",
        )
    return found


def _without(desk: Desk, profiles: Profiles) -> list[tuple[str, str]]:
    return [
        (host, "the site has no BIOS profile for its model") for host in desk.hosts if host not in profiles
    ]


def _stop_on_refusals(plans: Sequence[BiosPlan]) -> None:
    from fabricctl.errors import UsageError
    from fabricctl.hostset import fold

    refused = [plan.host for plan in plans if plan.refused]
    if refused:
        raise UsageError(f"nothing was changed: {fold(refused)} cannot take these settings, see above")


def _finish(
    desk: Desk,
    read: Asked[BiosPlan],
    wanted: Profiles,
    writing: Asked[BiosResult],
) -> NoReturn:
    """Say what came of it and end: what could not be read or written, what is not as wanted."""
    from fabricctl.cli.bmc.reading import finish
    from provision.report.bios_report import set_report

    after = {outcome.target.host: outcome for outcome in writing.outcomes}
    outcomes: list[Outcome[Any]] = [after.get(one.target.host, one) for one in read.outcomes]
    report = set_report(writing.values, outcomes, _without(desk, wanted))
    blocked = any(plan.blocked for plan in read.values.values())
    unproven = any(not (one.applied or one.scheduled or one.wrong) for one in writing.values.values())
    interrupted = read.interrupted or writing.interrupted
    finish(report, Format.TEXT, interrupted=interrupted, untold=blocked or unproven)
