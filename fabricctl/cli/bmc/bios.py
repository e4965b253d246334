"""``fabricctl bmc bios``: BIOS settings of nodes: show, compare with the site's profile, set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabricctl.cli.bmc.common import Force, Hosts, Reason, SiteFile, Yes, consent, guard_change, open_desk
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
    hosts: Hosts = "",
    attributes: Annotated[list[str] | None, typer.Argument(metavar="[ATTRIBUTE]...", hidden=True)] = None,
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show BIOS attributes; nodes with the same value share a line.

    HOSTS is a host set such as gpu[001-032] or "all"; then names of attributes such as SysProfile, all when none are
    given.
    """
    from fabricctl.cli.bmc.reading import Forms, ask_all, exit_with, show
    from fabricctl.cli.bmc.width import width
    from fabricctl.cli.console import say
    from provision.bmc.bios import nearest
    from provision.report import bios_report as report
    from provision.report.fleet import tail_lines
    from provision.workflows.bios import read_bios_state

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_bios_state, "reading BIOS settings")
    names = attributes or []
    values = {host: report.values_of(found, names) for host, found in asked.values.items()}
    forms = Forms(
        text=lambda: [*report.value_lines(values), *tail_lines(asked.outcomes, (), width())],
        json=lambda: report.values_json(values, asked.outcomes),
        csv=lambda: report.values_csv(values),
        markdown=lambda: report.values_markdown(values),
    )
    show(format, asked, forms)
    known = {name for found in asked.values.values() for name in found.values}
    for name in [name for name in names if known and name not in known]:
        near = nearest(name, known)
        say(f"no node has a BIOS attribute {name}" + (f"; did you mean {near}?" if near else ""))
    absent = any(name not in found.values for found in asked.values.values() for name in names)
    exit_with(asked, untold=absent)


@app.command("diff", short_help="Compare with the profile of the site.")
def diff_bios(
    hosts: Hosts = "",
    site: SiteFile = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Compare BIOS settings with node_models.MODEL.bios of the site file.

    HOSTS is a host set such as gpu[001-032]; all nodes with a BMC address when left out.
    """
    from fabricctl.cli.bmc.reading import Forms, ask_all, exit_with, show
    from fabricctl.cli.bmc.width import width
    from provision.bmc.bios import bios_findings, compare
    from provision.report import bios_report as report
    from provision.report.fleet import tail_lines
    from provision.workflows.bios import read_bios_state

    desk = open_desk(hosts, site, state)
    profiles = _profiles(desk)
    asked = ask_all(desk, read_bios_state, "reading BIOS settings", hosts=list(profiles))
    compared = [one for host, found in asked.values.items() for one in compare(host, found, profiles[host])]
    findings = bios_findings(compared)
    good = "every setting is as the profile wants it" if all(one.known for one in compared) else ""
    forms = Forms(
        text=lambda: [
            *report.diff_lines(compared),
            *tail_lines(asked.outcomes, findings, width(), good=good),
        ],
        json=lambda: report.diff_json(compared, asked.outcomes, findings),
        csv=lambda: report.diff_csv(compared),
        markdown=lambda: report.diff_markdown(compared),
    )
    show(format, asked, forms)
    _say_without(desk, profiles)
    untold = any(not one.known for one in compared) or len(profiles) < len(desk.targets)
    exit_with(asked, findings, untold=untold)


@app.command("set", short_help="Change settings: one request, one job, read back.")
def set_bios(
    hosts: Hosts,
    settings: Annotated[list[str] | None, typer.Argument(metavar="[ATTRIBUTE=VALUE]...", hidden=True)] = None,
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

    HOSTS is a host set such as gpu[001-032] or "all"; then settings such as SysProfile=PerfOptimized. The plan is shown
    first. Values are checked against the BIOS's own registry. What differs goes out in one request that makes one job;
    it takes effect at the next restart. Without a difference nothing is written.
    """
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.console import print_lines
    from provision.report.bios_report import plan_lines
    from provision.workflows.bios import BiosWrite, plan_bios

    desk = open_desk(hosts, site, state)
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
        _finish(desk, read, {}, wanted)
    what = "change BIOS settings and restart" if reset else "change BIOS settings"
    guard_change(desk, todo, what, force=force)
    consent(len(todo), yes=yes)
    written = _write(desk, wanted, todo, BiosWrite(reset=reset, wait=wait), reason, forced=force, cut=cut)
    _finish(desk, read, {outcome.target.host: outcome for outcome in written.outcomes}, wanted, written)


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
    from fabricctl.cli.bmc.change import Manner, journal_of
    from fabricctl.cli.bmc.reading import ask_all
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


def _say_without(desk: Desk, profiles: Profiles) -> None:
    from fabricctl.cli.console import say
    from fabricctl.hostset import fold

    without = [host for host in desk.hosts if host not in profiles]
    if without:
        say(f"could not tell: the site has no BIOS profile for the model of {fold(without)}")


def _stop_on_refusals(plans: Sequence[BiosPlan]) -> None:
    from fabricctl.errors import UsageError
    from fabricctl.hostset import fold

    refused = [plan.host for plan in plans if plan.refused]
    if refused:
        raise UsageError(f"nothing was changed: {fold(refused)} cannot take these settings, see above")


def _finish(
    desk: Desk,
    read: Asked[BiosPlan],
    written: Mapping[str, Outcome[BiosResult]],
    wanted: Profiles,
    writing: Asked[BiosResult] | None = None,
) -> None:
    """Say what came of it and end: what could not be read or written, what is not as wanted."""
    from fabricctl.cli.bmc.reading import Asked, exit_with
    from fabricctl.cli.bmc.width import width
    from fabricctl.cli.console import print_lines
    from provision.report.bios_report import result_findings, result_lines
    from provision.report.fleet import tail_lines

    results = {host: outcome.value for host, outcome in written.items() if outcome.value is not None}
    print_lines(result_lines(results))
    findings = result_findings(results)
    after: Mapping[str, Outcome[Any]] = written
    outcomes: list[Outcome[Any]] = [after.get(one.target.host, one) for one in read.outcomes]
    print_lines(tail_lines(outcomes, findings, width()))
    _say_without(desk, wanted)
    blocked = any(plan.blocked for plan in read.values.values())
    unproven = any(not (one.applied or one.scheduled or one.wrong) for one in results.values())
    interrupted = read.interrupted or (writing is not None and writing.interrupted)
    untold = blocked or unproven or len(wanted) < len(desk.targets)
    exit_with(Asked(outcomes, interrupted), findings, untold=untold)
