"""``fabricctl maas replace``: another NIC or BMC in the same machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.changing import Force, Hosts, Manner, Reason, Yes
from fabricctl.cli.maas.common import SiteFile, open_desk
from fabricctl.cli.state_options import Format, FormatOption, StateOption

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from provision.install.outcome import NodeResult
    from provision.report.change_report import Planned
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_model import Progress
    from provision.workflows.install_replace import ReplaceLook


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command("replace", short_help="After a repair: another NIC or BMC in the same machine.")(replace)


def replace(
    hosts: Hosts,
    site: SiteFile = "",
    credentials: Annotated[
        bool, typer.Option("--credentials", help="Also tell MAAS the BMC's user and password anew.")
    ] = False,
    yes: Yes = False,
    force_in_service: Force = False,
    reason: Reason = "",
    state: StateOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """After a repair, tell MAAS the new MAC of a NIC or the new BMC of a machine; its id, name and addresses stay.

    HOSTS is a host set such as gpu[001-032], or all. Harvest first: which MAC came in whose place is told by the node
    record. A machine with another service tag is another machine: that is no replaced part. Passwords of BMCs cannot be
    read back from MAAS: after "bmc credentials rotate" give --credentials. A new BMC is first asked whose it
    is. Commission the machine again afterwards.
    """
    from fabricctl.cli.maas.running import Plan, ask_maas, carry_out
    from provision.report.change_report import Planned
    from provision.report.install_plan import plan_replace
    from provision.secrets.store import open_secrets
    from provision.workflows.install_access import (
        enrol_specs,
        flow_options,
        maas_of,
        open_provisioner,
        read_known,
    )
    from provision.workflows.install_replace import look_replace, replace_parts

    desk = open_desk(hosts, site, state)
    known = read_known(desk.site, desk.location, desk.hosts)
    made = enrol_specs(known, open_secrets(desk.site))
    identities = {host: record.identities for host, record in known.records.items()}

    async def read() -> ReplaceLook:
        async with open_provisioner(desk.site) as provisioner:
            return await look_replace(provisioner, made.specs, identities, credentials=credentials)

    seen = ask_maas(desk, read, "looking for machines")
    planned = {host: Planned(host, refused=why) for host, why in made.refused.items()}
    planned |= {spec.host: plan_replace(spec, seen.replacements[spec.host]) for spec in made.specs}
    planned = _whose_bmc(desk, planned, [host for host, one in seen.replacements.items() if one.power])
    plan = Plan([planned[host] for host in desk.hosts])

    async def work(book: StoreBook, heard: Callable[[Progress], None]) -> Sequence[NodeResult]:
        options = changed(flow_options(desk.site, maas_of(desk.site).limits), book=book, progress=heard)
        chosen = [spec for spec in made.specs if spec.host in set(plan.hosts)]
        async with open_provisioner(desk.site) as provisioner:
            return await replace_parts(provisioner, chosen, options, seen)

    manner = Manner(
        "replace", "tell MAAS another MAC or BMC of it", yes, force_in_service, reason=reason, format=format
    )
    carry_out(desk, manner, plan, work)


def _whose_bmc(desk: Desk, planned: Mapping[str, Planned], hosts: Sequence[str]) -> dict[str, Planned]:
    """Refused where another machine's BMC, or none, answers at the address that MAAS would be told.

    :param hosts: whose BMC MAAS would be told of.
    """
    from fabricctl.cli.maas.power_look import look_at_power
    from provision.report.change_report import Planned

    asked = [host for host in hosts if planned[host].words]
    powers = look_at_power(desk, asked)
    if powers.interrupted:
        raise KeyboardInterrupt
    refused = {host: f"could not tell whose BMC answers there: {why}" for host, why in powers.unknown.items()}
    refused |= {host: f"another BMC answers there: {why}" for host, why in powers.foreign.items()}
    return {**planned, **{host: Planned(host, refused=refused[host]) for host in asked if host in refused}}
