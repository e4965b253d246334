"""``fabricctl bmc power``: on, off, cycle, status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Force, Hosts, Reason, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from provision.bmc.power import SystemView
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Changed, Planned
    from provision.workflows.journal import Journal
    from provision.workflows.power import PowerResult

power = typer.Typer(
    help="Power of nodes: brought to a state, not toggled. What is there already is left alone.",
    short_help="Power of nodes: on, off, cycle, status.",
    no_args_is_help=True,
)

ForceOff = Annotated[
    bool, typer.Option("--force", help="Cut the power when the operating system does not follow in time.")
]
Grace = Annotated[
    float,
    typer.Option(
        min=0, metavar="SECONDS", help="Time the operating system has. With --force, 0 asks it not at all."
    ),
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the state is there.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    app.add_typer(power, name="power")


@power.command("on", short_help="Switch nodes on.")
def power_on(
    hosts: Hosts,
    site: SiteFile = "",
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Switch nodes on, in waves. Those that are on are left alone.

    HOSTS is a host set such as gpu[001-032], or all.
    """
    _change(
        *("on", hosts, site, state),
        yes=yes,
        reason=reason,
        format=format,
        wait=wait,
        in_service=force_in_service,
    )


@power.command("off", short_help="Shut nodes down.")
def power_off(
    hosts: Hosts,
    site: SiteFile = "",
    force: ForceOff = False,
    grace: Grace = 300,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Shut nodes down by asking their operating systems. Power is cut only with --force, and then only of those that
    have not followed within --grace.

    HOSTS is a host set such as gpu[001-032], or all.
    """
    _change(
        *("off", hosts, site, state),
        yes=yes,
        reason=reason,
        format=format,
        wait=wait,
        force=force,
        grace=grace,
        in_service=force_in_service,
    )


@power.command("cycle", short_help="Restart nodes.")
def power_cycle(
    hosts: Hosts,
    site: SiteFile = "",
    force: ForceOff = False,
    grace: Grace = 300,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Restart nodes by asking their operating systems; those that are off are switched on. With --force, those that
    have not followed within --grace are power-cycled. The plan says which command each BMC gets.

    HOSTS is a host set such as gpu[001-032], or all.
    """
    _change(
        *("cycle", hosts, site, state),
        yes=yes,
        reason=reason,
        format=format,
        wait=wait,
        force=force,
        grace=grace,
        in_service=force_in_service,
    )


@power.command("status", short_help="Power, boot override and boot progress.")
def power_status(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show power, boot override, progress of the boot and time of the last reset.

    HOSTS is a host set such as gpu[001-032], or all, also when left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.report.fleet import list_report
    from provision.report.power_report import POWER_SCHEMA, power_table
    from provision.workflows.boot import read_state

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_state, "reading power")
    states = {host: (seen.system, seen.boot) for host, seen in asked.values.items()}
    report = list_report(POWER_SCHEMA, "nodes", power_table(states), asked.outcomes, each=each)
    finish(report, format, interrupted=asked.interrupted)


def _change(
    word: str,
    hosts: str,
    site: str,
    state: str,
    *,
    yes: bool,
    reason: str,
    format: Format,
    wait: bool,
    force: bool = False,
    grace: float = 300,
    in_service: bool = False,
) -> None:
    from fabricctl.cli.bmc.change import run_change
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.changing import Manner
    from provision.bmc.power import PowerRequest
    from provision.workflows.power import PowerOptions, read_power, set_power

    if force and not wait and grace > 0:
        raise UsageError(
            "--force waits for the operating system first: give --grace 0, or leave out --no-wait"
        )
    request = PowerRequest(word)
    desk = open_desk(hosts, site, state, changes=True)
    options = PowerOptions(force=force, grace_s=grace, wait=wait)
    seen = ask_all(desk, read_power, "reading power")
    disturbs = {
        PowerRequest.ON: "switch it on",
        PowerRequest.OFF: "shut it down",
        PowerRequest.CYCLE: "restart it",
    }
    manner = Manner(f"power {word}", disturbs[request], yes, in_service, reason, format)

    def plan(host: str, view: SystemView) -> Planned:
        return plan_power(host, view, request, options.force, options.grace_s)

    async def work(bmc: Bmc, journal: Journal) -> PowerResult:
        return await set_power(bmc, request, options, journal)

    run_change(desk, manner, seen, plan, work, power_row)


def plan_power(host: str, view: SystemView, request: object, force: bool, grace_s: float) -> Planned:
    """What a power command would do to one node."""
    from provision.bmc.power import PowerRequest, decide_power
    from provision.report.change_report import Planned

    assert isinstance(request, PowerRequest)
    decision = decide_power(request, view, force=force, grace_s=grace_s)
    if decision.refused:
        return Planned(host, refused=decision.refused)
    step = decision.step
    if step is None:
        settling = decision.settle is not None and view.power is not decision.settle
        return Planned(host, already=f"power is {view.power_words}" + (", on its way" if settling else ""))
    warn = any(reset.cuts for reset in step.all)
    return Planned(host, f"power is {view.power_words}: {step.words}", warn=warn)


def power_row(host: str, result: PowerResult) -> Changed:
    """What came of a power command on one node."""
    from provision.report.change_report import Changed, Result

    said = result.words
    before, after = result.before.value or "unknown", result.after.value or "unknown"
    if not result.reached and result.evidence:
        return Changed(host, Result.NOT_REACHED, before, after, said)
    if not result.reached:
        asked = bool(result.sent) and result.sent[-1].asks
        why = "the operating system has not followed; --force cuts the power" if asked else "not seen in time"
        return Changed(
            host, Result.NOT_REACHED, before, after, "; ".join(text for text in (said, why) if text)
        )
    return Changed(host, Result.DONE if result.sent else Result.UNCHANGED, before, after, said)
