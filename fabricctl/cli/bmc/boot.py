"""``fabricctl bmc boot``: what nodes boot next, once or for good, with a proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import Desk, Force, Hosts, Reason, SiteFile, Yes, open_desk
from fabricctl.cli.bmc.power import ForceOff, Grace
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.nodes.model import Event, EventKind
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Planned
    from provision.workflows.boot_run import BootLook, BootPlan, BootRun
    from provision.workflows.journal import Journal

boot = typer.Typer(
    help="What nodes boot next: once by default. Set only where it differs, and proven by reading back.",
    short_help="Boot from PXE, disk, media or into BIOS setup, once or for good.",
    no_args_is_help=True,
)

Persistent = Annotated[
    bool,
    typer.Option("--persistent", help="For good: the boot options of this kind come first in the order."),
]
Mode = Annotated[
    str,
    typer.Option(metavar="UEFI|Legacy", help="Boot mode; written only where it differs. Default: as it is."),
]
Nic = Annotated[
    str,
    typer.Option(
        metavar="FQDD",
        help="Boot from this port (NIC.Slot.5-1), also one that shows no MAC yet: a BIOS job makes it a boot device.",
    ),
]
Reset = Annotated[
    bool, typer.Option("--reset", help="Then restart the nodes, in waves; those that are off go on.")
]
Prove = Annotated[
    bool, typer.Option("--prove", help="With --reset: wait until the boot has taken the override.")
]

Again = Annotated[
    bool,
    typer.Option("--again", help="Also nodes that have just booted so, where an installation may run."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    app.add_typer(boot, name="boot")


@boot.command("pxe", short_help="Boot from the network by PXE.")
def boot_pxe(
    hosts: Hosts,
    site: SiteFile = "",
    persistent: Persistent = False,
    nic: Nic = "",
    mode: Mode = "",
    reset: Reset = False,
    prove: Prove = False,
    again: Again = False,
    force: ForceOff = False,
    grace: Grace = 300,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Have nodes boot from the network, once; afterwards they boot as usual again.

    HOSTS is a host set such as gpu[001-032]; all means every node with a BMC address.
    """
    plan = _plan(
        "pxe",
        persistent=persistent,
        nic=nic,
        mode=mode,
        reset=reset,
        prove=prove,
        again=again,
        force=force,
        grace=grace,
    )
    set_boot(
        "boot pxe", plan, hosts, site, state, yes=yes, force=force_in_service, reason=reason, format=format
    )


@boot.command("http", short_help="Boot from the network by UEFI HTTP.")
def boot_http(
    hosts: Hosts,
    site: SiteFile = "",
    persistent: Persistent = False,
    nic: Nic = "",
    reset: Reset = False,
    prove: Prove = False,
    again: Again = False,
    force: ForceOff = False,
    grace: Grace = 300,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Have nodes boot by UEFI HTTP, once.

    HOSTS is a host set such as gpu[001-032]; all means every node with a BMC address.
    """
    plan = _plan(
        "http",
        persistent=persistent,
        nic=nic,
        reset=reset,
        prove=prove,
        again=again,
        force=force,
        grace=grace,
    )
    set_boot(
        "boot http", plan, hosts, site, state, yes=yes, force=force_in_service, reason=reason, format=format
    )


@boot.command("disk", short_help="Boot from disk.")
def boot_disk(
    hosts: Hosts,
    site: SiteFile = "",
    persistent: Persistent = False,
    mode: Mode = "",
    reset: Reset = False,
    prove: Prove = False,
    again: Again = False,
    force: ForceOff = False,
    grace: Grace = 300,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Have nodes boot from disk, once or for good.

    HOSTS is a host set such as gpu[001-032]; all means every node with a BMC address.
    """
    plan = _plan(
        "disk",
        persistent=persistent,
        mode=mode,
        reset=reset,
        prove=prove,
        again=again,
        force=force,
        grace=grace,
    )
    set_boot(
        "boot disk", plan, hosts, site, state, yes=yes, force=force_in_service, reason=reason, format=format
    )


@boot.command("media", short_help="Boot from (virtual) CD.")
def boot_media(
    hosts: Hosts,
    site: SiteFile = "",
    persistent: Persistent = False,
    reset: Reset = False,
    prove: Prove = False,
    again: Again = False,
    force: ForceOff = False,
    grace: Grace = 300,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Have nodes boot from CD, virtual or not, once. To insert an image and boot it, see bmc media insert.

    HOSTS is a host set such as gpu[001-032]; all means every node with a BMC address.
    """
    plan = _plan(
        "media", persistent=persistent, reset=reset, prove=prove, again=again, force=force, grace=grace
    )
    set_boot(
        "boot media", plan, hosts, site, state, yes=yes, force=force_in_service, reason=reason, format=format
    )


@boot.command("bios", short_help="Boot into BIOS setup.")
def boot_bios(
    hosts: Hosts,
    site: SiteFile = "",
    reset: Reset = False,
    again: Again = False,
    force: ForceOff = False,
    grace: Grace = 300,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Have nodes stop in their BIOS setup at the next boot, for somebody at the console.

    HOSTS is a host set such as gpu[001-032]; all means every node with a BMC address.
    """
    plan = _plan("bios", reset=reset, again=again, force=force, grace=grace)
    set_boot(
        "boot bios", plan, hosts, site, state, yes=yes, force=force_in_service, reason=reason, format=format
    )


@boot.command("none", short_help="Take a boot override back.")
def boot_none(
    hosts: Hosts,
    site: SiteFile = "",
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Take a boot override back: nodes boot as usual.

    HOSTS is a host set such as gpu[001-032]; all means every node with a BMC address.
    """
    set_boot(
        *("boot none", _plan("none"), hosts, site, state),
        yes=yes,
        force=force_in_service,
        reason=reason,
        format=format,
    )


@boot.command("status", short_help="What nodes boot next, and whether the last override was taken.")
def boot_status(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what nodes boot next, and what became of the override that was set last.

    HOSTS is a host set such as gpu[001-032]; every node with a BMC address when left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from fabricctl.nodes.model import EventKind
    from provision.bmc.boot_fate import fate_words
    from provision.report.fleet import list_report
    from provision.report.power_report import BOOT_SCHEMA, boot_table
    from provision.workflows.boot import read_state

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_state, "reading boot")
    states = {host: (seen.system, seen.boot) for host, seen in asked.values.items()}
    last = {
        host: kinds[EventKind.NODE_BOOT]
        for host, kinds in _last_events(desk).items()
        if EventKind.NODE_BOOT in kinds
    }
    told = {
        host: fate_words(last[host].at, last[host].after, boot.override, system.last_reset)
        for host, (system, boot) in states.items()
        if host in last
    }
    report = list_report(BOOT_SCHEMA, "nodes", boot_table(states, told), asked.outcomes, each=each)
    finish(report, format, interrupted=asked.interrupted)


def _plan(
    word: str,
    *,
    persistent: bool = False,
    nic: str = "",
    mode: str = "",
    reset: bool = False,
    prove: bool = False,
    again: bool = False,
    force: bool = False,
    grace: float = 300,
) -> BootPlan:
    """Options as a plan. :raises UsageError: they do not go together."""
    from provision.bmc.boot import WORDS
    from provision.bmc.boot_device import check_fqdd
    from provision.workflows.boot_run import BootPlan
    from provision.workflows.power import PowerOptions

    if prove and not reset:
        raise UsageError(
            "--prove looks at the boot that --reset makes: give both, or see bmc boot status later"
        )
    if prove and persistent:
        raise UsageError("--prove is for a one-time boot; see bmc boot status for --persistent")
    if persistent and mode:
        raise UsageError("--mode goes with a one-time boot; set the boot mode for good with bmc bios set")
    known = {"": "", "uefi": "UEFI", "legacy": "Legacy"}
    if mode.lower() not in known:
        raise UsageError(f"--mode {mode}: expected UEFI or Legacy")
    return BootPlan(
        source=WORDS[word],
        persistent=persistent,
        mode=known[mode.lower()],
        nic=check_fqdd(nic) if nic else "",
        reset=reset,
        prove=prove,
        again=again,
        power=PowerOptions(force=force, grace_s=grace),
    )


def set_boot(
    what: str,
    wanted: BootPlan,
    hosts: str,
    site: str,
    state: str,
    *,
    yes: bool,
    force: bool,
    reason: str,
    format: Format,
) -> None:
    """Carry a plan out on the nodes of a host set."""
    from fabricctl.cli.bmc.boot_words import boot_row, check_ports, plan_boot
    from fabricctl.cli.bmc.change import Manner, run_change
    from fabricctl.cli.bmc.reading import ask_all
    from provision.workflows.boot_run import boot_node, look_before

    desk = open_desk(hosts, site, state)

    async def read(bmc: Bmc) -> BootLook:
        return await look_before(bmc, wanted)

    seen = ask_all(desk, read, "reading boot")
    check_ports(seen.values, wanted.nic)
    taken = _taken(desk, seen.values, wanted)
    manner = Manner(what, _disturbs(wanted), yes, force, reason, format)

    def plan(host: str, now: BootLook) -> Planned:
        return plan_boot(host, now, wanted, taken.get(host, ""))

    async def work(bmc: Bmc, journal: Journal) -> BootRun:
        return await boot_node(bmc, wanted, journal)

    run_change(desk, manner, seen, plan, work, boot_row)


def _disturbs(wanted: BootPlan) -> str:
    if wanted.reset:
        return "restart it"
    return "change its next boot"


def _taken(desk: Desk, seen: Mapping[str, BootLook], wanted: BootPlan) -> dict[str, str]:
    """Host -> that the boot of an earlier run has just taken the override, where it has."""
    from datetime import UTC, datetime

    from provision.workflows.boot_again import taken_words

    if wanted.again or not wanted.reset or wanted.persistent:
        return {}
    last, now = _last_events(desk), datetime.now(UTC)
    words = {
        host: taken_words(last.get(host, {}), look.state, wanted.source, now) for host, look in seen.items()
    }
    return {host: text for host, text in words.items() if text}


def _last_events(desk: Desk) -> Mapping[str, Mapping[EventKind, Event]]:
    """Host -> kind -> the event recorded last; of a store that is not there yet, none."""
    from fabricctl.workflows.nodes import Nodes

    events: Sequence[Event] = Nodes(desk.location, desk.site).events(subjects=desk.hosts)
    found: dict[str, dict[EventKind, Event]] = {}
    for event in events:
        found.setdefault(event.subject, {})[event.kind] = event
    return found
