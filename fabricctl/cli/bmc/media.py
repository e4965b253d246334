"""``fabricctl bmc media``: virtual CD images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.boot import Again
from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.bmc.power import ForceOff, Grace
from fabricctl.cli.bmc.reading import Each
from fabricctl.cli.changing import Force, Hosts, Reason, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from fabricctl.cli.changing import Manner
    from provision.bmc.media import VirtualDrive
    from provision.bmc.outcome import Change
    from provision.redfish.bmc import Bmc
    from provision.report.change_report import Planned
    from provision.workflows.journal import Journal

media = typer.Typer(
    help="Images in the virtual CD drives of nodes: insert and boot, eject, list.",
    short_help="Virtual CD images: insert and boot, eject.",
    no_args_is_help=True,
)

Image = Annotated[str, typer.Argument(metavar="URL", hidden=True)]
Replace = Annotated[bool, typer.Option("--replace", help="Take another image out first.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    app.add_typer(media, name="media")


@media.command("insert", short_help="Insert an image and boot it.")
def insert_media(
    hosts: Hosts,
    image: Image,
    site: SiteFile = "",
    replace: Replace = False,
    boot: Annotated[
        bool, typer.Option("--boot/--no-boot", help="Boot it once, restarting the nodes.")
    ] = True,
    prove: Annotated[bool, typer.Option("--prove", help="Wait until the boot has taken it.")] = False,
    again: Again = False,
    force: ForceOff = False,
    grace: Grace = 300,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Insert an image, set a one-time boot from it, and restart the nodes: in that order, each step only when the one
    before it worked. With --no-boot only insert it.

    HOSTS is a host set such as gpu[001-032], or all; URL is an address the BMC can fetch (http, https, nfs, cifs).
    """
    from fabricctl.cli.changing import Manner
    from provision.bmc.boot import BootSource
    from provision.bmc.media import check_image
    from provision.workflows.boot_run import BootPlan
    from provision.workflows.power import PowerOptions

    url = check_image(image)
    if not boot:
        manner = Manner("media insert", "put an image in its drive", yes, force_in_service, reason, format)
        _insert_only(hosts, url, site, state, replace=replace, manner=manner)
        return
    from fabricctl.cli.bmc.boot_set import set_boot

    power = PowerOptions(force=force, grace_s=grace)
    plan = BootPlan(
        BootSource.CD, image=url, replace=replace, reset=True, prove=prove, again=again, power=power
    )
    set_boot(
        "media insert",
        plan,
        hosts,
        site,
        state,
        yes=yes,
        force=force_in_service,
        reason=reason,
        format=format,
    )


@media.command("eject", short_help="Take images out.")
def eject_media(
    hosts: Hosts,
    image: Annotated[str, typer.Option("--image", metavar="URL", help="Only this image.")] = "",
    site: SiteFile = "",
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Take images out of the virtual drives of nodes.

    HOSTS is a host set such as gpu[001-032], or all.
    """
    from fabricctl.cli.bmc.change import run_change
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.changing import Manner
    from provision.bmc.media import check_image, decide_eject
    from provision.report.change_report import Planned, changed_row
    from provision.workflows.media import eject, read_drives

    url = check_image(image) if image else ""
    desk = open_desk(hosts, site, state, changes=True)
    seen = ask_all(desk, read_drives, "reading drives")
    manner = Manner(
        "media eject", "take out an image that may be in use", yes, force_in_service, reason, format
    )

    def plan(host: str, places: list[list[VirtualDrive]]) -> Planned:
        filled = decide_eject((drive for place in places for drive in place), url)
        names = ", ".join(dict.fromkeys(drive.words for drive in filled))
        return (
            Planned(host, f"eject {names}") if filled else Planned(host, already="nothing is in its drives")
        )

    async def work(bmc: Bmc, journal: Journal) -> Change:
        return await eject(bmc, url, record=journal)

    run_change(desk, manner, seen, plan, work, changed_row)


@media.command("status", short_help="What is in the virtual drives.")
def media_status(
    hosts: Hosts = "all",
    site: SiteFile = "",
    each: Each = False,
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Show the virtual drives of nodes and what is in them.

    HOSTS is a host set such as gpu[001-032], or all, also when left out.
    """
    from fabricctl.cli.bmc.reading import ask_all, finish
    from provision.report.fleet import list_report
    from provision.report.power_report import MEDIA_SCHEMA, media_table
    from provision.workflows.media import read_drives

    desk = open_desk(hosts, site, state)
    asked = ask_all(desk, read_drives, "reading drives")
    found = {host: [drive for place in places for drive in place] for host, places in asked.values.items()}
    report = list_report(MEDIA_SCHEMA, "drives", media_table(found), asked.outcomes, each=each)
    finish(report, format, interrupted=asked.interrupted)


def _insert_only(hosts: str, url: str, site: str, state: str, *, replace: bool, manner: Manner) -> None:
    from fabricctl.cli.bmc.change import run_change
    from fabricctl.cli.bmc.reading import ask_all
    from provision.bmc.media import decide_insert
    from provision.report.change_report import Planned, changed_row
    from provision.workflows.media import insert, read_drives

    desk = open_desk(hosts, site, state, changes=True)
    seen = ask_all(desk, read_drives, "reading drives")

    def plan(host: str, places: list[list[VirtualDrive]]) -> Planned:
        decision = decide_insert(places[0] if places else [], url, replace=replace)
        if decision.refused:
            return Planned(host, refused=decision.refused)
        if decision.insert is None:
            return Planned(host, already="the image is in its drive")
        first = f"eject {decision.eject.words}, then " if decision.eject is not None else ""
        return Planned(host, f"{first}insert {url.partition('?')[0]}")

    async def work(bmc: Bmc, journal: Journal) -> Change:
        return await insert(bmc, url, replace=replace, record=journal)

    run_change(desk, manner, seen, plan, work, changed_row)
