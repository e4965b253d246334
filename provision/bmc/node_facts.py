"""What an inventory tells of a node: identities and facts as the node record keeps them, and what it could not tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import UsageError
from fabricctl.nodes.facts import NodeFact, Value
from fabricctl.nodes.model import DERIVED, Fact, IdentityKind, make_fact
from provision.bmc.inventory import Depth, Family, Inventory, NetFunction, Role, System
from provision.bmc.reading import How, Reading, readings

SOURCE = "redfish"
BMC_PART = "bmc"
BOARD_PART = "board"
"""Part of the serial number of a Dell: it is the board's, and changes with it while the service tag stays."""
STATUS_FIELD = "harvest.status"
"""Of the node itself: how its last harvest went."""
UNSURE = "unsure"
"""Key of that status: families of which parts may be there unread."""


def identities_of(inventory: Inventory) -> list[Fact]:
    """Service tag, serials, MACs and GUIDs. A GUID that was derived says so.

    The network over USB between host and BMC is left out: its MAC may be the same on many machines
    (https://github.com/bb-Ricardo/netbox-sync/issues/280). So are serials that two parts of the machine share
    (several chips of one card), and those of drives and memory modules, which are unique only within a maker.
    """
    return [*_of_machine(inventory), *_of_network(inventory), *_serials(inventory)]


def _of_machine(inventory: Inventory) -> Iterator[Fact]:
    system = inventory.system
    yield from _fact(IdentityKind.SERVICE_TAG, system.service_tag.value, "")
    yield from _fact(IdentityKind.SERIAL, system.serial.value, BOARD_PART if system.service_tag.known else "")


def _of_network(inventory: Inventory) -> Iterator[Fact]:
    own = [nic for nic in inventory.bmc_nics if nic.role is Role.BMC]
    for nic in own:
        yield from _fact(IdentityKind.MAC, nic.mac, BMC_PART if nic is own[0] else f"{BMC_PART} {nic.id}")
    for function in inventory.functions:
        if function.role is Role.USB:
            continue
        yield from _fact(IdentityKind.MAC, function.mac, function.id)
        guid = function.node_guid if function.node_guid.known else function.port_guid
        source = DERIVED if guid.how is How.DERIVED else SOURCE
        yield from _fact(IdentityKind.GUID, guid.value, function.id, source)
        if function.port_guid.known and function.port_guid.value != guid.value:
            yield from _fact(IdentityKind.GUID, function.port_guid.value, f"{function.id} port")


def _serials(inventory: Inventory) -> Iterator[Fact]:
    parts = [(adapter.id, adapter.serial.value) for adapter in inventory.adapters]
    parts += [(gpu.id, gpu.serial.value) for gpu in inventory.gpus]
    count = Counter(serial.upper() for _, serial in parts if serial)
    for part, serial in parts:
        if serial and count[serial.upper()] == 1 and len(serial) >= 6:
            yield from _fact(IdentityKind.SERIAL, serial, part)


def _fact(kind: IdentityKind, value: str | None, part: str, source: str = SOURCE) -> Iterator[Fact]:
    """The fact in its canonical form; none when the value is no identity, as ``N/A`` with a blank in it."""
    if not value:
        return
    try:
        made = make_fact(kind, value, source)
    except UsageError:
        return
    if made.value != "N/A":
        yield Fact(kind, made.value, part, source)


def facts_of(inventory: Inventory) -> list[NodeFact]:
    """Every known field of every part, with how and where it was read."""
    made: list[NodeFact] = []
    for family, part in inventory.parts():
        if family is not Family.FIRMWARE:
            kind = family.value
            own = "" if isinstance(part, System) else part.id
            made += [
                NodeFact(own, f"{kind}.{name}", reading.value, _source(reading))
                for name, reading in readings(part)
                if reading.value is not None
            ]
    return [*made, *_firmware_facts(inventory)]


def _firmware_facts(inventory: Inventory) -> Iterator[NodeFact]:
    """Installed versions by what they run on: the id of a component holds its version and would be another part."""
    versions: dict[str, list[Reading[str]]] = {}
    for component in inventory.firmware:
        if component.state == "installed" and component.version.known:
            versions.setdefault(component.runs_on, []).append(component.version)
    for part, some in versions.items():
        several = ", ".join(sorted({str(version.value) for version in some}))
        yield NodeFact(part, f"{Family.FIRMWARE.value}.version", several, _source(some[0]))


def _source(reading: Reading[Any]) -> str:
    if reading.how is How.DERIVED:
        return f"{DERIVED} of {SOURCE} {reading.source}: {reading.why}"
    return f"{SOURCE} {reading.source}"


_FAMILIES: dict[Depth, tuple[Family, ...]] = {
    Depth.QUICK: (),
    Depth.DEFAULT: (Family.SYSTEM, Family.BMC, Family.ADAPTER, Family.NIC),
    Depth.FULL: tuple(Family),
}
"""What a harvest of a depth tells all of: what it does not tell of these is not there any more."""


def unsure(inventory: Inventory) -> set[Family]:
    """Families of which parts may be there unread: after a failure, or where there must be some and none is.

    A BMC that tells of no network card at all has not looked yet, or cannot: nothing is concluded from that.
    """
    found = {gap.family for gap in inventory.gaps}
    if Family.ADAPTER in found or not inventory.adapters:
        found |= {Family.ADAPTER, Family.NIC}
    if not inventory.bmc_nics:
        found.add(Family.BMC)
    return found


def whole(inventory: Inventory) -> frozenset[str]:
    """Families of which this inventory tells everything there is: what it does not tell is not there any more."""
    doubtful = unsure(inventory)
    return frozenset(family.value for family in _FAMILIES[inventory.depth] if family not in doubtful)


def own_mac(inventory: Inventory) -> str | None:
    """MAC of the BMC itself."""
    return next((nic.mac for nic in inventory.bmc_nics if nic.role is Role.BMC), None)


@dataclass(frozen=True, slots=True)
class Unread:
    """Something of a machine that could not be told. :param what: in few words, the same for alike things."""

    what: str
    part: str
    why: str


def unread(inventory: Inventory) -> list[Unread]:
    """What the harvest should have told and did not: gaps, and addresses of functions that are in use.

    A function of type Disabled counts: a BlueField boots through one, and its MAC may come back after the next boot
    (https://github.com/dsx-ai-factory/infra-controller/issues/2169). A port that is switched off and tells
    nothing does not.
    """
    found = [Unread(gap.what, "", gap.why) for gap in inventory.gaps]
    families = {gap.family for gap in inventory.gaps}
    if not inventory.adapters and Family.ADAPTER not in families:
        found.append(Unread("network cards", "", "NetworkAdapters are empty or not there"))
    if own_mac(inventory) is None and Family.BMC not in families:
        found.append(Unread("the BMC's own MAC", "", "its EthernetInterfaces tell none"))
    for function in inventory.functions:
        if function.role is Role.USB or (not function.used and not function.type_disabled):
            continue
        if function.infiniband:
            if not function.node_guid.known and not function.port_guid.known:
                what = "no GUID" if function.mac else "no MAC, no GUID"
                found.append(Unread(what, function.id, function.node_guid.why))
        elif function.mac is None:
            found.append(Unread("no MAC", function.id, _why_no_mac(function)))
    return found


def _why_no_mac(function: NetFunction) -> str:
    if function.type_disabled:
        return (
            f"{function.mac_permanent.why}; disabled functions are not looked at: boot once and harvest again"
        )
    return function.mac_permanent.why


def status_fact(inventory: Inventory | None, why: str = "") -> NodeFact:
    """How the harvest went, for ``--resume``. :param inventory: None when there is none, and then ``why``."""
    if inventory is None:
        return NodeFact("", STATUS_FIELD, {"complete": False, "why": why}, SOURCE)
    missing = unread(inventory)
    depth = inventory.depth.name.lower()
    if missing:
        families: list[Value] = [family.value for family in sorted(unsure(inventory))]
        status: dict[str, Value] = {"complete": False, "depth": depth, "why": missing[0].what}
        return NodeFact("", STATUS_FIELD, {**status, UNSURE: families}, SOURCE)
    return NodeFact("", STATUS_FIELD, {"complete": True, "depth": depth}, SOURCE)


def unsure_before(status: object) -> frozenset[str]:
    """Families of which a stored status says that parts may be there unread."""
    found = status.get(UNSURE) if isinstance(status, dict) else None
    return frozenset(str(family) for family in found) if isinstance(found, list) else frozenset()


def complete_at(status: object, depth: Depth) -> bool:
    """Whether a stored status says that everything of a depth was read."""
    if not isinstance(status, dict) or status.get("complete") is not True:
        return False
    name = str(status.get("depth", "")).upper()
    return name in Depth.__members__ and Depth[name] >= depth
