"""How hosts are at a provisioner, read once: for status, for their disks, for a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fabricctl.adapters.store.reading import read_store
from fabricctl.errors import ProvisionerError
from fabricctl.nodes.facts import Value
from fabricctl.nodes.model import NodeState
from provision.install.disk_record import compare, fingerprint, read_fingerprint, unreadable
from provision.install.disk_rule import DiskRule
from provision.install.disks import choose_boot_disk, verify_root
from provision.install.hardware import Lack
from provision.install.machine import QUARANTINE_TAG, Machine, Stage
from provision.install.provisioner import Provisioner
from provision.install.zfs import FIELD as POOLS
from provision.install.zfs import read_record
from provision.report.install_disks import HostDisks
from provision.report.install_status import Seen
from provision.workflows.install_book import DISKS, MACHINE_ID, StoreBook
from provision.workflows.install_commission import Judge, no_judge, untold
from provision.workflows.install_past import NO_PAST, Past
from provision.workflows.install_run import lookup

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location

WHYS = 32
"""Machines that failed of which the reason is asked for, a few requests each; of more, their last words are shown."""
_SETTLED = (Stage.READY, Stage.ALLOCATED, Stage.DEPLOYED)


@dataclass(frozen=True)
class Kept:
    """What the store knows of hosts.

    :param noted: host -> facts of the family ``install``; :param pasts: host -> what was begun on it before.
    :param states: of node records; hosts without one are not in it.
    """

    noted: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    pasts: Mapping[str, Past] = field(default_factory=dict)
    states: Mapping[str, NodeState] = field(default_factory=dict)

    def past(self, host: str) -> Past:
        """What was begun on it before."""
        return self.pasts.get(host, NO_PAST)


def read_kept(location: Location, site_name: str, hosts: Sequence[str]) -> Kept:
    """What is kept; nothing where the store was never written. :raises StateError: it cannot be read."""
    with read_store(location, site_name) as store:
        if store is None:
            return Kept()
        book = StoreBook(store, "", "")
        return Kept(book.noted(hosts), book.past(hosts), book.states(hosts))


async def read_status(
    provisioner: Provisioner,
    hosts: Sequence[str],
    rules: Mapping[str, DiskRule | None],
    judges: Mapping[str, Judge],
    noted: Mapping[str, Mapping[str, Value]],
    states: Mapping[str, NodeState] | None = None,
) -> list[Seen]:
    """Machines of hosts, with the reason where one failed. GPUs are not counted: that is a request a machine.

    :param noted: host -> facts of the family ``install``: a machine that was enrolled must be there.
    :param states: of node records.
    :raises ProvisionerError: they cannot be read.
    """
    machines = await lookup(provisioner, hosts)
    failed = [machine for machine in machines.values() if _failed(machine) and machine.id][:WHYS]
    said = await asyncio.gather(*(_why(provisioner, machine) for machine in failed))
    whys = dict(zip((machine.id for machine in failed), said, strict=True))
    seen = [
        _seen(host, machines.get(host), whys, rules.get(host), judges.get(host, no_judge)) for host in hosts
    ]
    quarantined = {host for host, state in (states or {}).items() if state is NodeState.QUARANTINED}
    return [
        replace(
            one,
            recorded=str(noted.get(one.host, {}).get(MACHINE_ID, "")),
            recorded_bad=one.host in quarantined,
        )
        for one in seen
    ]


def _failed(machine: Machine) -> bool:
    return machine.stage in (Stage.FAILED, Stage.BROKEN) or QUARANTINE_TAG in machine.tags


async def _why(provisioner: Provisioner, machine: Machine) -> str:
    try:
        return await provisioner.why(machine)
    except ProvisionerError as error:
        return f"{machine.said}; its events cannot be read: {error.message}"


def _seen(
    host: str, machine: Machine | None, whys: Mapping[str, str], rule: DiskRule | None, judge: Judge
) -> Seen:
    if machine is None:
        return Seen(host)
    judged = judge(machine) if machine.stage in _SETTLED else ()
    counted = [one for one in judged if one.kind is not Lack.GPUS or machine.gpus is not None]
    wrong = [one.words for one in counted if one.told]
    if machine.stage is Stage.DEPLOYED and machine.disks and rule is not None:
        choice = choose_boot_disk(machine.disks, rule)
        root = choice.refused or verify_root(machine, choice).removeprefix(f"{machine.hostname}: ")
        wrong += [root] if root else []
    return Seen(host, machine, whys.get(machine.id, ""), tuple(wrong), tuple(untold(counted)))


async def read_disks(
    provisioner: Provisioner, hosts: Sequence[str], rules: Mapping[str, DiskRule | None], kept: Kept
) -> list[HostDisks]:
    """What an installation would do to the disks of hosts. :raises ProvisionerError: they cannot be read."""
    machines = await lookup(provisioner, hosts)
    return [
        host_disks(host, machines.get(host), rules.get(host), kept.noted.get(host, {}), provisioner.name)
        for host in hosts
    ]


def host_disks(
    host: str, machine: Machine | None, rule: DiskRule | None, noted: Mapping[str, Value], name: str
) -> HostDisks:
    """What an installation would do to the disks of one host. :param name: of the provisioner."""
    if machine is None:
        return HostDisks(host, unknown=f"{name} has no machine of this name: enrol it first")
    if not machine.disks:
        words = f"{name} knows no disk of it, it is {machine.status}: commission it"
        return HostDisks(host, machine, unknown=words)
    recorded = read_fingerprint(noted.get(DISKS))
    changes = compare(recorded, fingerprint(machine.disks)) if recorded is not None else []
    choice = choose_boot_disk(machine.disks, rule)
    record = read_record(noted.get(POOLS))
    pools = tuple(pool.words for pool in record.pools) if record is not None else ()
    unread = unreadable(noted.get(DISKS))
    return HostDisks(host, machine, choice, tuple(changes), recorded is not None, pools=pools, unread=unread)
