"""``fabricctl maas release``: machines are given back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.maas.common import FromQuarantine, SiteFile, Wait, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from provision.install.outcome import NodeResult
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("release", short_help="Give machines back; their systems are given up.")(release)


def release(
    hosts: Hosts,
    site: SiteFile = "",
    from_quarantine: FromQuarantine = False,
    wait: Wait = True,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Give machines back to MAAS: they are switched off, and the system on them counts as gone. No disk is erased.

    HOSTS is a host set such as gpu[001-032], or all.
    """
    from fabricctl.cli.maas.machines import read_situation
    from fabricctl.cli.maas.running import carry_out
    from provision.install.lifecycle import Verb, Wish
    from provision.report.install_plan import plan_release
    from provision.workflows.install_access import flow_options, maas_of, open_provisioner
    from provision.workflows.install_release import release as run

    desk = open_desk(hosts, site, state)
    seen = read_situation(desk, Wish(Verb.RELEASE, from_quarantine=from_quarantine))
    planned = {
        host: plan_release(host, machine, seen.steps[host], on=seen.powers.on(host), owner=seen.other(host))
        for host, machine in seen.machines.items()
    }
    plan = seen.plan(desk, planned)

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(
            flow_options(desk.site, maas_of(desk.site).limits), book=book, progress=heard, wait=wait
        )
        async with open_provisioner(desk.site) as provisioner:
            return await run(
                provisioner, plan.hosts, options, comment=reason.strip(), from_quarantine=from_quarantine
            )

    manner = Manner("release", "switch it off and give up its system", yes, force_in_service, reason, format)
    carry_out(desk, manner, plan, work)
