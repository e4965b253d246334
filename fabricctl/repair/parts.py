"""What no move repairs: parts that are missing, dead or weak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from fabricctl.cabling.model import Judged, LinkClass
from fabricctl.fabric import Port, PortState
from fabricctl.repair.assemblies import kind_of
from fabricctl.repair.build import Stock
from fabricctl.repair.model import OrderKind, PartOrder


def part_orders(stock: Stock, judged: Collection[Judged], laid: Collection[Port]) -> Iterator[PartOrder]:
    """One order per absent device, dark cable and weak link.

    :param laid: ports a new cable of the moves will fill; they need no order of their own.
    """
    absent: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.cls is LinkClass.MISSING and one.absent is not None:
            absent[one.absent].append(one)
    for device, lost in absent.items():
        yield _device(stock, device, lost)
    for one in judged:
        if one.cls is LinkClass.MISSING and one.absent is None and one.link.a not in laid:
            yield _dark(stock, one)
        elif one.cls is LinkClass.DEGRADED:
            yield _weak(stock, one)


def _device(stock: Stock, device: str, lost: list[Judged]) -> PartOrder:
    ports = tuple(one.link.b if one.link.b.node == device else one.link.a for one in lost)
    kind = OrderKind.HCA if stock.devices.is_hca(device) else OrderKind.SWITCH
    own = sum(port.node == device for port in ports)
    behind = len(ports) - own
    words = (
        f"{stock.devices.name(device)} was not seen, and whatever should face it is down: off, dead or not cabled; "
        f"{own:,} planned cable{'s' * (own != 1)}" + (f" and {behind:,} more behind it" if behind else "")
    )
    return PartOrder(kind, device, ports, words)


def _dark(stock: Stock, one: Judged) -> PartOrder:
    a, b = one.link.a, one.link.b
    words = f"{stock.slots.words(a)} and {stock.slots.words(b)} carry nothing"
    unseen = [port for port, seen in ((a, one.seen_a), (b, one.seen_b)) if seen is None]
    if PortState.DISABLED in (one.state_a, one.state_b):
        off = a if one.state_a is PortState.DISABLED else b
        words += f"; {stock.slots.words(off)} is switched off by command: enable it before touching the cable"
    elif unseen:
        words = (
            f"{stock.slots.words(b if unseen[0] == a else a)} carries nothing and {stock.devices.name(unseen[0].node)} "
            "was not seen: look whether the device is on, then at the cable"
        )
    else:
        words += (
            "; from here a cable that hangs there dark and one that was never laid look the same: if it is there, "
            "inspect, clean and reseat both plugs, then replace it; else lay it"
        )
    return PartOrder(OrderKind.CABLE, a.node, (a, b), words)


def _weak(stock: Stock, one: Judged) -> PartOrder:
    a, b = one.link.a, one.link.b
    slot = stock.slots.at(a)
    copper = slot is not None and kind_of(slot).in_cage
    steps = "reseat both plugs, then replace the cable"
    if not copper:
        steps = "inspect, clean and reseat both plugs, then replace a transceiver, then the fibre"
    words = (
        f"{stock.slots.words(a)} to {stock.slots.words(b)} runs at {one.rate}, {one.expected_rate} is expected: "
        f"{steps}"
    )
    return PartOrder(OrderKind.CABLE if copper else OrderKind.TRANSCEIVER, a.node, (a, b), words)
