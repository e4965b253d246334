"""``fabricctl maas enrol``: hosts become machines of MAAS, each once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from fabricctl.cli.changing import Hosts, Manner, Reason, Yes
from fabricctl.cli.maas.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.running import Plan
    from provision.install.outcome import NodeResult
    from provision.workflows.install_access import Specs
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_enrol import Look
    from provision.workflows.install_model import Progress


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("enrol", short_help="Make hosts machines of MAAS, each once.")(enrol)


def enrol(
    hosts: Hosts,
    site: SiteFile = "",
    yes: Yes = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Make hosts machines of MAAS: name, MACs by the harvest, how the BMC is reached. Nothing is booted.

    HOSTS is a host set such as gpu[001-032], or all. One that is there already, with its MAC, service tag and BMC
    address, is adopted; one whose MAC, name or BMC address another machine has is refused. After a lost answer MAAS is
    looked at before anything is sent again, so that no machine is created twice.
    """
    from fabricctl.cli.maas.running import ask_maas, carry_out
    from provision.secrets.store import open_secrets
    from provision.workflows.install_access import (
        enrol_specs,
        flow_options,
        maas_of,
        open_provisioner,
        read_known,
    )
    from provision.workflows.install_enrol import enrol as run
    from provision.workflows.install_enrol import look

    desk = open_desk(hosts, site, state)
    specs = enrol_specs(read_known(desk.site, desk.location, desk.hosts), open_secrets(desk.site))

    async def read() -> Look:
        async with open_provisioner(desk.site) as provisioner:
            return await look(provisioner, specs.specs)

    plan = _plan(desk, specs, ask_maas(desk, read, "looking for machines"))

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = replace(flow_options(desk.site, maas_of(desk.site).limits), book=book, progress=heard)
        chosen = set(plan.hosts)
        async with open_provisioner(desk.site) as provisioner:
            return await run(provisioner, [spec for spec in specs.specs if spec.host in chosen], options)

    carry_out(desk, Manner("enrol", yes=yes, reason=reason, format=format), plan, work)


def _plan(desk: Desk, specs: Specs, seen: Look) -> Plan:
    from fabricctl.cli.maas.running import Plan
    from provision.report.change_report import Planned
    from provision.report.install_plan import plan_enrol

    planned = {host: Planned(host, refused=why) for host, why in specs.refused.items()}
    planned |= {spec.host: plan_enrol(spec, seen.adoptions[spec.host]) for spec in specs.specs}
    return Plan([planned[host] for host in desk.hosts])
