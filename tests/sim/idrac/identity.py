"""Identities of simulated machines: tags, serials, MACs, GUIDs; from a seed, unique in the fleet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

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

    def serial(self, prefix: str, digits: int = 8) -> str:
        """A serial number."""
        return self._unused(lambda: prefix + "".join(self._dice.choices("0123456789ABCDEF", k=digits)))

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


def machine(mint: Mint) -> dict[str, str]:
    """Identities of one machine, by what stands in bodies: ``tag``, ``bmc_mac``, ``board``, ``mac:<FQDD>``…"""
    return {
        "tag": mint.tag(),
        "board": mint.serial("CNIVC00", 7),
        "bmc_mac": mac_text(mint.macs(0xB07B25, 1), upper=False),
    }
