"""What ``maas doctor`` reads from MAAS; an error of MAAS is data."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

from fabricctl.errors import ProvisionerError, ProvisionerLoginError, ProvisionerPowerError
from fabricctl.mac import Mac
from provision.install.addresses import bmc_address
from provision.install.doctor_agree import View
from provision.install.doctor_maas import ApiSeen, ImageLike, RackLike, Refusal
from provision.install.machine import Machine
from provision.workflows.clock import Clocks

T = TypeVar("T")
STRANGERS = 50
"""Machines that the site does not know which are read by name; a MAAS that serves other sites too has many."""


class MaasEyes(Protocol):
    """What of MAAS is looked at: :class:`provision.maas.provisioner.MaasProvisioner`."""

    async def version(self) -> str:
        """Of MAAS."""
        ...

    async def api_hash(self) -> str:
        """Of the API's description."""
        ...

    async def user(self) -> str:
        """Whose key it is."""
        ...

    async def server_date(self) -> datetime | None:
        """By the ``Date`` header."""
        ...

    async def images(self) -> Sequence[ImageLike]:
        """Boot images."""
        ...

    async def racks(self) -> Sequence[RackLike]:
        """Rack controllers."""
        ...

    async def query_power(self, id: str) -> str:
        """Power state, asked of the BMC through a rack controller."""
        ...

    async def find(self, macs: Sequence[Mac] = (), hostnames: Sequence[str] = ()) -> Sequence[Machine]:
        """Machines by MAC or host name."""
        ...

    async def read(self, ids: Sequence[str]) -> Sequence[Machine]:
        """Machines by id."""
        ...

    async def bmc_addresses(self) -> Mapping[str, str]:
        """Machine id -> BMC address."""
        ...


@dataclass(frozen=True)
class Known:
    """What MAAS has of the hosts. :param machines: host -> its machines there, which should be one.

    :param strangers: machines whose BMC is none of the site's; None when that was not asked.
    """

    machines: Mapping[str, tuple[Machine, ...]] = field(default_factory=dict)
    strangers: Sequence[Machine] | None = None

    def one(self, host: str) -> Machine | None:
        """The machine of a host, where there is exactly one."""
        found = self.machines.get(host, ())
        return found[0] if len(found) == 1 else None


async def told(asked: Awaitable[T]) -> T | Refusal:
    """An answer, or MAAS's error as data."""
    try:
        return await asked
    except ProvisionerError as error:
        return Refusal(
            error.message,
            login=isinstance(error, ProvisionerLoginError),
            power=isinstance(error, ProvisionerPowerError),
        )


async def look_at_api(maas: MaasEyes, clocks: Clocks) -> ApiSeen | Refusal:
    """Version and clock of MAAS. The connection stands by the time the clock is asked for."""
    version = await told(maas.version())
    if isinstance(version, Refusal):
        return version
    api_hash = await told(maas.api_hash())
    sent, begun = clocks.now(), clocks.elapsed()
    date = await told(maas.server_date())
    took_s = clocks.elapsed() - begun
    if isinstance(date, Refusal):
        return date
    known = api_hash if isinstance(api_hash, str) else ""
    return ApiSeen(version, known, date, sent, took_s)


async def look_at_machines(
    maas: MaasEyes, hosts: Sequence[str], views: Mapping[str, View], *, strangers: bool
) -> Known | Refusal:
    """Machines of hosts, by name and by MAC: one that has another name is found as well.

    :param strangers: also read those whose BMC is none of the site's.
    """
    macs = [Mac(mac) for host in hosts for mac in sorted(views[host].macs)]
    found = await told(maas.find(macs, hosts))
    if isinstance(found, Refusal):
        return found
    addresses = await told(maas.bmc_addresses())
    if isinstance(addresses, Refusal):
        return addresses
    by_host = {
        host: tuple(
            _addressed(one, addresses)
            for one in found
            if one.hostname == host or views[host].macs & {str(mac) for mac in one.macs}
        )
        for host in hosts
    }
    if not strangers:
        return Known(by_host)
    ours = {bmc_address(view.bmc_address) for view in views.values()}
    mine = {one.id for machines in by_host.values() for one in machines}
    ids = [id for id, address in addresses.items() if bmc_address(address) not in ours and id not in mine]
    read = await told(maas.read(ids[:STRANGERS])) if ids else []
    if isinstance(read, Refusal):
        return read
    return Known(by_host, [_addressed(one, addresses) for one in read])


def _addressed(machine: Machine, addresses: Mapping[str, str]) -> Machine:
    return replace(machine, bmc_address=machine.bmc_address or addresses.get(machine.id, ""))


async def look_at_power(maas: MaasEyes, machines: Mapping[str, Machine]) -> dict[str, str | Refusal]:
    """Host -> power state as a rack controller read it from the BMC, or why not; all at once, the client bounds it."""
    states = await asyncio.gather(*(told(maas.query_power(machine.id)) for machine in machines.values()))
    return dict(zip(machines, states, strict=True))


def sample(hosts: Sequence[str], number: int) -> list[str]:
    """Hosts spread evenly over all, the first among them."""
    if number >= len(hosts):
        return list(hosts)
    return [hosts[at * len(hosts) // number] for at in range(number)]
