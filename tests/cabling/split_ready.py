"""Fabrics whose switches are in the profile ``ib split-ready``, by the published formula: port n becomes 2n - 1."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tests.sim.netgen import Box, End, Net


def split_ready(net: Net, switches: Collection[str], *, header: int = 129) -> Net:
    """A copy of a net in which these switches (node ids) count their ports in the split-ready profile."""
    made = Net()
    for node, box in net.boxes.items():
        made.add(replace(box, ports=header) if node in switches else box)

    def end(old: End) -> End:
        return End(old.node, 2 * old.port - 1) if old.node in switches else old

    for a, b in net.each():
        made.connect(end(a), end(b))
    made.rates.update({end(port): rate for port, rate in net.rates.items()})
    return made


def of_tier(net: Net, *tiers: int) -> list[str]:
    """Node ids of the switches of these tiers, all without any."""
    return [node for node, box in net.boxes.items() if box.is_switch and (not tiers or box.tier in tiers)]


def nameless(net: Net) -> Net:
    """A copy in which switch descriptions do not tell the model."""
    made = Net()
    for box in net.boxes.values():
        made.add(Nameless(**{name: getattr(box, name) for name in Box.__slots__}) if box.is_switch else box)
    for a, b in net.each():
        made.connect(a, b)
    made.rates.update(net.rates)
    return made


class Nameless(Box):
    """A switch described by its name alone, as an unmanaged one with a name set on it."""

    @property
    def description(self) -> str:
        return self.name
