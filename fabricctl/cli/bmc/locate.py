"""``fabricctl bmc locate``: the identify light."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.bmc.common import SiteFile, open_desk
from fabricctl.cli.changing import Hosts, Reason, Yes
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.bmc.locate import Light
    from provision.bmc.outcome import Change
    from provision.redfish.bmc import Bmc
    from provision.workflows.journal import Journal


class Switch(StrEnum):
    """Wanted state of a light."""

    ON = "on"
    OFF = "off"


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("locate", short_help="Switch identify lights on or off.")(locate)


def locate(
    hosts: Hosts,
    switch: Annotated[Switch, typer.Argument(metavar="on|off", hidden=True)],
    site: SiteFile = "",
    yes: Yes = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Switch the identify lights of nodes on or off, so that they are found in their racks.

    HOSTS is a host set such as gpu[001-032], or all; after it comes on or off. Nodes in service are no exception: a
    light disturbs nothing, and it is there that the right node must be found.
    """
    from fabricctl.cli.bmc.change import run_change
    from fabricctl.cli.bmc.reading import ask_all
    from fabricctl.cli.changing import Manner
    from provision.report.change_report import Planned, changed_row
    from provision.workflows.locate import read_lights, set_light

    on = switch is Switch.ON
    desk = open_desk(hosts, site, state, changes=True)
    seen = ask_all(desk, read_lights, "reading lights")
    manner = Manner(f"locate {switch}", "", yes, False, reason, format)

    def plan(host: str, lights: list[Light]) -> Planned:
        return (
            Planned(host, already=f"its light is {lights[0].words}")
            if lights[0].on is on
            else Planned(host, f"light {switch} (now {lights[0].words})")
        )

    async def work(bmc: Bmc, journal: Journal) -> Change:
        return await set_light(bmc, on, journal)

    run_change(desk, manner, seen, plan, work, changed_row)
