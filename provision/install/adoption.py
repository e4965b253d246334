"""Whether a host is created, or is there already, or would become a second machine: decided before anything is sent.

MAAS 3.7.3 accepts two machines with one BMC address without a word, and answers 503 to a create that it has carried
out. So whoever enrols looks first, and after every lost answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from provision.install.addresses import bmc_address
from provision.install.machine import Machine
from provision.install.spec import EnrolSpec


class Choice(StrEnum):
    """What enrolling a host means."""

    CREATE = "create"
    ADOPT = "adopt"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Adoption:
    """What is to be done for a host.

    :param machine: that is adopted; :param words: why it is refused, naming both sides.
    :param power: it has no BMC address yet, which has to be set.
    """

    choice: Choice
    machine: Machine | None = None
    words: str = ""
    power: bool = False


@dataclass(frozen=True)
class Known:
    """What the provisioner has. :param machines: by id, those found by MAC, name or BMC address.

    :param bmc: machine id -> BMC address, of all machines.
    """

    machines: Mapping[str, Machine]
    bmc: Mapping[str, str]

    def name(self, id: str) -> str:
        """A machine as people know it."""
        machine = self.machines.get(id)
        return f"{machine.hostname} ({id})" if machine is not None and machine.hostname else f"machine {id}"

    def address(self, id: str) -> str:
        """BMC address of a machine, empty when none is known."""
        machine = self.machines.get(id)
        return self.bmc.get(id, "") or (machine.bmc_address if machine is not None else "")


def collisions(specs: Sequence[EnrolSpec]) -> dict[str, str]:
    """Hosts of one request that cannot be told apart -> why: a MAC, a BMC address, a service tag or a name twice."""
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for spec in specs:
        keys = {("MAC", str(mac)) for mac in spec.macs}
        keys |= {("BMC address", bmc_address(spec.power.address)), ("host name", spec.host.lower())}
        keys |= {("service tag", spec.service_tag.upper())} if spec.service_tag else set()
        for key in sorted(keys):
            holders[key].append(spec.host)
    refused: dict[str, str] = {}
    for (kind, value), hosts in sorted(holders.items()):
        for host in hosts if len(hosts) > 1 else ():
            others = ", ".join(dict.fromkeys(other for other in hosts if other != host)) or "itself"
            refused.setdefault(host, f"{kind} {value} is asked for twice: {host} and {others}")
    return refused


def adoption(spec: EnrolSpec, known: Known) -> Adoption:
    """What enrolling a host means, by what the provisioner has."""
    holders = [m for m in known.machines.values() if set(spec.macs) & set(m.macs)]
    named = [m for m in known.machines.values() if m.hostname.lower() == spec.host.lower()]
    if len(holders) > 1:
        names = " and ".join(sorted(known.name(m.id) for m in holders))
        return _refuse(f"its MACs {', '.join(spec.macs)} are on several machines: {names}")
    if not holders and named:
        macs = ", ".join(named[0].macs) or "none"
        return _refuse(
            f"the name {spec.host} is taken by {known.name(named[0].id)} with MACs {macs}, "
            f"which has none of {', '.join(spec.macs)}; if its NIC was replaced, use replace"
        )
    own = holders[0] if holders else None
    if own is not None and not own.id:
        return _refuse(
            f"its MAC is on machine {own.hostname or 'without a name'}, whose system_id is not told"
        )
    address = bmc_address(spec.power.address)
    others = [id for id in sorted(known.bmc) if bmc_address(known.bmc[id]) == address]
    taken = [id for id in others if own is None or id != own.id]
    if taken:
        return _refuse(f"its BMC address {address} is also that of {known.name(taken[0])}")
    if own is None:
        return Adoption(Choice.CREATE)
    return _adopt(spec, known, own, [m for m in named if m.id != own.id])


def _adopt(spec: EnrolSpec, known: Known, own: Machine, named: Sequence[Machine]) -> Adoption:
    """A machine with its MAC is there: is it the one?"""
    who = known.name(own.id)
    mac = next(mac for mac in spec.macs if mac in own.macs)
    if own.hostname.lower() != spec.host.lower():
        return _refuse(f"its MAC {mac} is on {who}, expected {spec.host}")
    if named:
        return _refuse(
            f"the name {spec.host} is taken by {known.name(named[0].id)}, its MAC {mac} is on {who}"
        )
    if spec.service_tag and own.service_tag and spec.service_tag.upper() != own.service_tag.upper():
        return _refuse(f"{who} has service tag {own.service_tag}, expected {spec.service_tag}")
    address = known.address(own.id)
    if address and bmc_address(address) != bmc_address(spec.power.address):
        return _refuse(
            f"{who} has BMC address {address}, expected {spec.power.address}; if the BMC was replaced, use replace"
        )
    return Adoption(Choice.ADOPT, own, power=not address)


def _refuse(words: str) -> Adoption:
    return Adoption(Choice.REFUSE, words=words)
