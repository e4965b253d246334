"""``fabricctl bmc boot``: what nodes boot next, once or for good, with a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.boot_set import last_events, set_boot
from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.power import ForceOff, Grace
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Force, Hosts, Reason, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from provision.workflows.boot_run import BootPlan

boot = typer.Typer(
    help="What nodes boot next: once by default. Set only where it differs, and proven by reading back.",
    short_help="Boot from PXE, disk, media or into BIOS setup.",
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

    HOSTS is a host set such as gpu[001-032], or all.
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

    HOSTS is a host set such as gpu[001-032], or all.
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

    HOSTS is a host set such as gpu[001-032], or all.
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

    HOSTS is a host set such as gpu[001-032], or all.
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

    HOSTS is a host set such as gpu[001-032], or all.
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

    HOSTS is a host set such as gpu[001-032], or all.
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

    HOSTS is a host set such as gpu[001-032], or all, also when left out.
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
        for host, kinds in last_events(desk).items()
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
