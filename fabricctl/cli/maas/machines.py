"""Machines of the hosts a command is about, and what a wish means for each: read before the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.power_look import Powers
    from fabricctl.cli.maas.running import Plan
    from fabricctl.site.schema import Site
    from provision.install.lifecycle import Step, Wish
    from provision.install.machine import Machine
    from provision.install.provisioner import Provisioner
    from provision.report.change_report import Planned
    from provision.workflows.install_state import Kept

Opened = Callable[["Site"], AbstractAsyncContextManager["Provisioner"]]


@dataclass(frozen=True)
class Situation:
    """What is known before the plan.

    :param machines: host -> its machine, of those that have one; :param steps: the same -> what is to be done next.
    :param powers: what BMCs said of hosts that would be started or stopped.
    :param user: as whom the provisioner knows us, empty when it cannot tell.
    """

    machines: Mapping[str, Machine]
    steps: Mapping[str, Step]
    kept: Kept
    powers: Powers
    user: str = ""

    def system(self, host: str) -> str:
        """Release that was recorded as installed on it, empty where none was."""
        from provision.workflows.install_book import SERIES

        return str(self.kept.noted.get(host, {}).get(SERIES, ""))

    def other(self, host: str) -> str:
        """Whose machine it is, where it is known to be somebody else's."""
        from provision.install.lifecycle import foreign

        machine = self.machines[host]
        return machine.owner if foreign(machine, self.user) else ""

    def plan(
        self, desk: Desk, planned: Mapping[str, Planned], disks: list[Mapping[str, str]] | None = None
    ) -> Plan:
        """Of all hosts of the desk. :param planned: of those that have a machine."""
        from fabricctl.cli.maas.running import Plan
        from provision.report.change_report import Planned

        words = f"{desk.provisioner} has no machine of this name: enrol it first"
        unknown = [(host, f"is it on? {why}") for host, why in self.powers.unknown.items()]
        every = [planned.get(host) or Planned(host, refused=words) for host in desk.hosts]
        every = [self._own(one) for one in every]
        kept = {one.host for one in every if one.words}
        return Plan(every, [disk for disk in disks or [] if disk["host"] in kept], unknown)

    def _own(self, one: Planned) -> Planned:
        """Refused where another machine answers at its BMC's address: that one would be started or stopped."""
        from provision.report.change_report import Planned

        why = self.powers.foreign.get(one.host, "") if one.words else ""
        return Planned(one.host, refused=f"its BMC is not the one that it should be: {why}") if why else one


def read_situation(desk: Desk, wish: Wish, opened: Opened | None = None, *, boots: bool = True) -> Situation:
    """Machines, what is kept of them, and the power of those that would be started or stopped.

    :param opened: opens the site's provisioner; MAAS by default. :param boots: what is wished starts or stops machines.
    :raises ProvisionerError: MAAS cannot be read; :raises KeyboardInterrupt: interrupted.
    """
    from fabricctl.cli.maas.power_look import look_at_power
    from fabricctl.cli.maas.running import ask_maas
    from provision.report.install_plan import starts
    from provision.workflows.install_access import open_provisioner
    from provision.workflows.install_run import lookup
    from provision.workflows.install_state import read_kept
    from provision.workflows.install_work import user_of

    async def read() -> tuple[dict[str, Machine], str]:
        async with (opened or open_provisioner)(desk.site) as provisioner:
            machines = await lookup(provisioner, desk.hosts)
            return machines, await user_of(provisioner) if machines else ""

    now = datetime.now(UTC)
    kept = read_kept(desk.location, desk.site.name, desk.hosts)
    machines, user = ask_maas(desk, read, "reading machines")
    steps = {host: _step(wish, host, machine, kept, now, user) for host, machine in machines.items()}
    powers = look_at_power(desk, [host for host, step in steps.items() if boots and starts(step)])
    if powers.interrupted:
        raise KeyboardInterrupt
    return Situation(machines, steps, kept, powers, user)


def _step(wish: Wish, host: str, machine: Machine, kept: Kept, now: datetime, user: str) -> Step:
    from fabricctl.nodes.model import NodeState
    from provision.install.lifecycle import decide

    past = kept.past(host)
    return decide(
        wish,
        machine,
        ours=past.left(machine.status, now),
        installed_s=past.installed_s(machine.status, now),
        user=user,
        quarantined=kept.states.get(host) is NodeState.QUARANTINED,
    )
