"""Which MACs a host is enrolled with: those it boots from, by the site file or by what its BMC told in a harvest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fabricctl.mac import Mac, parse_mac
from fabricctl.nodes.facts import StoredFact, Value
from fabricctl.nodes.model import Identity, IdentityKind

HARVEST = "run fabricctl bmc harvest for it"
_BMC = "bmc"


def boot_macs(
    boot_nic: str, facts: Iterable[StoredFact], identities: Iterable[Identity]
) -> tuple[Mac, ...] | str:
    """MACs to enrol a host with, or why there are none.

    :param boot_nic: id of a NIC by the harvest, a MAC, or empty: then every Ethernet NIC that boots from the network,
        or every Ethernet NIC where the BMC does not tell which do.
    :param facts: and ``identities``: of the host, those that hold count. The BMC's own NIC and its network over USB,
        whose MAC many machines share, never count: the harvest makes no identity of the latter.
    """
    own = parse_mac(boot_nic)
    if own is not None:
        return (own,)
    identities = list(identities)
    nics = _nics(facts, {one.fact.value for one in identities if _of_host(one)})
    if boot_nic:
        named = [macs for id, macs in nics.items() if id.lower() == boot_nic.lower()]
        if named:
            return _macs([named[0]])
        known = ", ".join(sorted(nics)) or "none"
        return f"boot_nic {boot_nic} is not among its Ethernet NICs ({known}): {HARVEST}"
    if not nics:
        told = [one.fact.value for one in identities if _of_host(one) and one.fact.source == "operator"]
        macs = tuple(sorted(mac for text in told if (mac := parse_mac(text)) is not None))
        if macs:
            return macs
        older = any(_of_host(one) for one in identities)
        known = "its MACs are known, but not which NICs boot with them" if older else "no MAC is known"
        return f"{known}: {HARVEST}{' anew' if older else ''}, or give boot_nic a MAC"
    booting = [nic for nic in nics.values() if nic.get("nic.pxe") is True]
    if not booting and any("nic.pxe" in nic for nic in nics.values()):
        return f"none of its Ethernet NICs boots from the network ({', '.join(sorted(nics))}): name one as boot_nic"
    return _macs(booting or nics.values())


def _of_host(one: Identity) -> bool:
    return one.until is None and one.fact.kind is IdentityKind.MAC and not one.fact.part.startswith(_BMC)


def _nics(facts: Iterable[StoredFact], macs: set[str]) -> dict[str, Mapping[str, Value]]:
    """Ethernet NICs in use: id -> fields."""
    parts: dict[str, dict[str, Value]] = {}
    for stored in facts:
        if stored.until is None and stored.fact.field.startswith("nic."):
            parts.setdefault(stored.fact.part, {})[stored.fact.field] = stored.fact.value
    return {
        id: part
        for id, part in parts.items()
        if part.get("nic.technology") == "ethernet"
        and part.get("nic.enabled") is not False
        and {part.get("nic.mac_permanent"), part.get("nic.mac_current")} & macs
    }


def _macs(nics: Iterable[Mapping[str, Value]]) -> tuple[Mac, ...]:
    """What DHCP sees of each: the MAC in use, else the one burnt in."""
    told = (nic.get("nic.mac_current") or nic.get("nic.mac_permanent") or "" for nic in nics)
    return tuple(sorted({mac for text in told if (mac := parse_mac(str(text))) is not None}))
