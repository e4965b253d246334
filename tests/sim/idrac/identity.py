"""Identities of simulated machines: tags, serials, MACs, GUIDs; from a seed, unique in the fleet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tests.sim.idrac.hardware import Adapter, Hardware, Kind

_TAG = "BCDFGHJKLMNPQRSTVWXYZ0123456789"


def mac_text(value: int, *, upper: bool = True) -> str:
    """Six octets with colons."""
    text = ":".join(f"{value:012x}"[at : at + 2] for at in range(0, 12, 2))
    return text.upper() if upper else text


def guid_of_mac(value: int) -> str:
    """How NVIDIA makes a GUID of a base MAC: 0300 between its halves; colons as Dell prints it."""
    text = f"{value:012x}"
    raw = text[:6] + "0300" + text[6:]
    return ":".join(raw[at : at + 2] for at in range(0, 16, 2)).upper()


class Mint:
    """Gives each part of each machine an identity; two never get the same.

    :param seed: the same seed gives the same fleet.
    """

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._used: set[str] = set()
        self._next_mac: dict[int, int] = {}

    def tag(self) -> str:
        """A service tag: seven letters and digits without vowels."""
        return self._unused(lambda: "".join(self._dice.choices(_TAG, k=7)))

    def serial(self, prefix: str, digits: int = 8, alphabet: str = "0123456789ABCDEF") -> str:
        """A serial number."""
        return self._unused(lambda: prefix + "".join(self._dice.choices(alphabet, k=digits)))

    def macs(self, vendor: int, count: int) -> int:
        """The first of this many MACs in a row, of one card."""
        start = self._next_mac.get(vendor)
        if start is None:
            start = (vendor << 24) + (self._dice.randrange(0, 1 << 20) << 3)
        step = count + (-count) % 4
        self._next_mac[vendor] = vendor << 24 | (start + step) & 0xFFFFFF
        return start

    def _unused(self, make: Callable[[], str]) -> str:
        while True:
            text = make()
            if text not in self._used:
                self._used.add(text)
                return text


def swap(first: dict[str, str], second: dict[str, str], keys: Iterable[str]) -> None:
    """Exchange identities of two machines."""
    for key in keys:
        first[key], second[key] = second[key], first[key]


def machine(mint: Mint, hardware: Hardware, address: str) -> dict[str, str]:
    """Identities of one machine, by what stands in bodies.

    ``tag``, ``express`` (the tag as a number), ``board``, ``uuid``…, ``address``, ``bmc_mac``; by function ``mac:…``
    (permanent), ``virtual_mac:…`` (current), ``guid:…``; by part ``serial:…``.
    """
    tag = mint.tag()
    known = {
        "tag": tag,
        "express": str(int(tag, 36)),
        "board": mint.serial("CNIVC00", 7),
        "bmc_mac": mac_text(mint.macs(0xB07B25, 1), upper=False),
        "address": address,
        **uuids_of(tag),
    }
    for adapter in hardware.adapters:
        known |= card(mint, adapter)
    for drive in hardware.drives:
        known[f"serial:{drive.id}"] = mint.serial(drive.serial, 9)
    for gpu in hardware.gpus:
        known[f"serial:{gpu.id}"] = mint.serial("165", 10, "0123456789")
    for part in hardware.dimms:
        known[f"serial:{part}"] = mint.serial("", 8)
    return known


def card(mint: Mint, adapter: Adapter) -> dict[str, str]:
    """Identities of one network adapter; a replacement has others."""
    first = mint.macs(adapter.vendor, len(adapter.ports))
    known = {f"serial:{adapter.id}": mint.serial("MT24" if adapter.vendor != 0xE43D1A else "VNFCVBA", 8)}
    for number, port in enumerate(adapter.ports):
        mac = mac_text(first + number)
        known |= {f"mac:{port.function}": mac, f"virtual_mac:{port.function}": mac}
        if adapter.kind is Kind.INFINIBAND:
            known[f"guid:{port.function}"] = guid_of_mac(first + number)
            known[f"serial:NetworkTransceiver.Integrated.1:{port.id}"] = mint.serial("MT25", 9)
    return known


def uuids_of(tag: str) -> dict[str, str]:
    """UUIDs of a Dell spell the service tag (capture: tag F54P1G3 is 4c4c4544-0035-3410-8050-c6c04f314733)."""
    t = [f"{ord(letter):02x}" for letter in tag]
    flagged = f"{ord(tag[0]) | 0x80:02x}"
    tail = f"{flagged}c04f{t[4]}{t[5]}{t[6]}"
    uuid = f"4c4c4544-00{t[1]}-{t[2]}10-80{t[3]}-{tail}"
    return {
        "uuid": uuid,
        "smbios_guid": f"44454c4c-{t[1]}00-10{t[2]}-80{t[3]}-{tail}",
        "platform_guid": f"{t[6]}{t[5]}{t[4]}4f-c0{flagged}-{t[3]}80-{t[2]}10-00{t[1]}4c4c4544",
    }
