"""After a repair: which NIC got another MAC and whether the BMC is reached otherwise, or why nobody can tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabricctl.mac import Mac, parse_mac
from fabricctl.nodes.model import Identity, IdentityKind
from provision.install.addresses import bmc_address
from provision.install.adoption import Known
from provision.install.machine import Machine, Nic
from provision.install.spec import EnrolSpec

RECOMMISSION = "commission it again: the provisioner has not looked at the new part yet"


@dataclass(frozen=True, slots=True)
class NicChange:
    """A NIC that gets another MAC. :param how: why it is this one, for people."""

    nic: Nic
    mac: Mac
    how: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """What is to be changed of a machine. Its id, host name and addresses stay.

    :param power: how its BMC is reached is set; :param refused: why nothing is changed.
    """

    nics: tuple[NicChange, ...] = ()
    power: bool = False
    refused: str = ""

    @property
    def nothing(self) -> bool:
        """Whether everything is as it should be."""
        return not self.nics and not self.power and not self.refused


def replacement(
    spec: EnrolSpec, known: Known, identities: Iterable[Identity] = (), *, credentials: bool = False
) -> Replacement:
    """What is to be changed of a host's machine.

    :param identities: of the host, those that held included: they tell which MAC came in whose place.
    :param credentials: user and password at the BMC changed, which no provisioner tells.
    """
    own = next((m for m in known.machines.values() if m.hostname.lower() == spec.host.lower()), None)
    if own is None:
        return Replacement(refused="there is no machine of this name: enrol it")
    if not own.id:
        return Replacement(refused="its system_id is not told")
    taken = _taken(spec, known, own)
    if taken:
        return Replacement(refused=taken)
    if spec.service_tag and own.service_tag and spec.service_tag.upper() != own.service_tag.upper():
        return Replacement(
            refused=f"{known.name(own.id)} has service tag {own.service_tag}, expected {spec.service_tag}: "
            "this is another machine, not another part"
        )
    address = known.address(own.id)
    power = credentials or bmc_address(address) != bmc_address(spec.power.address)
    changes = _changes(own, spec.macs, list(identities))
    return Replacement(refused=changes) if isinstance(changes, str) else Replacement(tuple(changes), power)


def _taken(spec: EnrolSpec, known: Known, own: Machine) -> str:
    """Another machine that has one of its addresses."""
    for machine in known.machines.values():
        shared = sorted(set(spec.macs) & set(machine.macs))
        if machine.id != own.id and shared:
            return f"its MAC {shared[0]} is on {known.name(machine.id)}, expected {known.name(own.id)}"
    wanted = bmc_address(spec.power.address)
    others = sorted(
        id for id, address in known.bmc.items() if bmc_address(address) == wanted and id != own.id
    )
    return f"its BMC address {wanted} is also that of {known.name(others[0])}" if others else ""


def _changes(own: Machine, macs: Sequence[Mac], identities: Sequence[Identity]) -> list[NicChange] | str:
    """Which NIC each missing MAC belongs to, or why that cannot be told."""
    missing = [mac for mac in macs if mac not in own.macs]
    before = _predecessors(identities)
    current = _held(identities) | set(macs)
    changes: list[NicChange] = []
    free = [nic for nic in own.nics if nic.kind == "physical" and nic.mac not in current]
    for mac in missing:
        part, old = before.get(mac, ("", frozenset[str]()))
        nics = [nic for nic in own.nics if nic.mac in old]
        if len(nics) == 1:
            changes.append(NicChange(nics[0], mac, f"{part} had {nics[0].mac} before"))
    used = {change.nic.id for change in changes}
    left = [nic for nic in free if nic.id not in used]
    unknown = [mac for mac in missing if mac not in {change.mac for change in changes}]
    if len(unknown) == 1 and len(left) == 1:
        changes.append(NicChange(left[0], unknown[0], "the only NIC whose MAC is not known any more"))
    elif unknown:
        names = ", ".join(f"{nic.name} {nic.mac}" for nic in left) or "none"
        return (
            f"which NIC got {', '.join(unknown)} cannot be told: NICs with MACs that are not known any more: {names}; "
            "harvest the BMC before and after a part is changed, or change one at a time"
        )
    return sorted(changes, key=lambda change: change.nic.name)


def _predecessors(identities: Sequence[Identity]) -> Mapping[str, tuple[str, frozenset[str]]]:
    """MAC that holds -> its part, and MACs the part had before."""
    old: dict[str, set[str]] = {}
    for one in identities:
        if one.fact.kind is IdentityKind.MAC and one.until is not None and one.fact.part:
            old.setdefault(one.fact.part, set()).add(one.fact.value)
    return {
        one.fact.value: (one.fact.part, frozenset(old.get(one.fact.part, set())))
        for one in identities
        if one.fact.kind is IdentityKind.MAC and one.until is None and one.fact.part
    }


def _held(identities: Sequence[Identity]) -> set[Mac]:
    """MACs that hold."""
    told = (one.fact.value for one in identities if one.fact.kind is IdentityKind.MAC and one.until is None)
    return {mac for text in told if (mac := parse_mac(text)) is not None}
