"""Clocks before a host is commissioned or installed first: one that is off breaks it in places that do not say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.errors import BmcError, SecretError, StateError, UsageError

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.machines import Situation
    from fabricctl.cli.maas.running import Plan
    from provision.install.skew import ClockGate

SkipClocks = Annotated[
    bool, typer.Option("--skip-clock-check", help="Do not compare clocks, the first time that is done.")
]
HOW = "--skip-clock-check does it all the same"


def clock_checked(desk: Desk, seen: Situation, plan: Plan, fact: str) -> Plan:
    """A plan without hosts whose clock, or MAAS's or our own, is off; Ironic's is not asked.

    Asked of hosts that would be started, each until it came through once. What could not be told stops nothing.

    :param fact: which is kept of a host that came through: where it is known, its clock is not asked.
    """
    from provision.report.install_plan import starts

    first = [
        host for host in plan.hosts if starts(seen.steps[host]) and fact not in seen.kept.noted.get(host, {})
    ]
    if not first:
        return plan
    gate = _ask(desk, first)
    if isinstance(gate, str):
        return replace(plan, remarks=[*plan.remarks, *((host, f"clocks: {gate}") for host in first)])
    refused = {host: why.removeprefix(f"{host}: ") for host, why in gate.refused(first).items()}
    planned = [
        replace(one, words="", danger="", refused=f"{refused[one.host]}; {HOW}")
        if one.host in refused
        else one
        for one in plan.planned
    ]
    hosts = {one.host for one in planned if one.words}
    return replace(
        plan,
        planned=planned,
        disks=[disk for disk in plan.disks if disk["host"] in hosts],
        remarks=[
            *plan.remarks,
            *((host, f"its clock could not be told: {why}") for host, why in gate.doubts),
        ],
    )


def _ask(desk: Desk, hosts: Sequence[str]) -> ClockGate | str:
    """What came of comparing; in words where nobody could be asked."""
    from fabricctl.cli.maas.running import ask_maas
    from fabricctl.site.use import bmc_addresses
    from provision.maas.provisioner import open_maas
    from provision.workflows.access import fleet_options
    from provision.workflows.desk import read_desk
    from provision.workflows.install_access import maas_of, maas_settings
    from provision.workflows.install_clock import clock_gate

    known = bmc_addresses(desk.site)
    targets, _ = read_desk(desk.site, desk.location, [host for host in hosts if host in known])
    skew = desk.site.management.max_clock_skew_s

    async def work() -> ClockGate:
        if desk.provisioner != "MAAS":  # the others tell no time
            return await clock_gate(None, "", targets, fleet_options(desk.site), max_skew_s=skew)
        async with open_maas(maas_settings(desk.site)) as maas:
            url = maas_of(desk.site).url
            return await clock_gate(maas, url, targets, fleet_options(desk.site), max_skew_s=skew)

    try:
        return ask_maas(desk, work, "comparing clocks")
    except (BmcError, SecretError, StateError, UsageError) as error:
        return str(error)
