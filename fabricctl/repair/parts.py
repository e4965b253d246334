"""What no move repairs: parts that are missing, dead or weak."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from fabricctl.cabling.model import Judged, LinkClass
from fabricctl.fabric import Port, PortState
from fabricctl.rates import Rate
from fabricctl.repair.assemblies import joined, kind_of
from fabricctl.repair.build import Stock
from fabricctl.repair.model import OrderKind, PartOrder

MASS_SHARE = 0.5
"""When more than half of all planned links run at one and the same lower rate, no cable is at fault."""


def slow_by_rule(judged: Collection[Judged], planned: int) -> dict[tuple[Rate | None, Rate | None], int]:
    """(Rate, expected rate) -> links, where so many share them that a profile, a part or the plan's rate is the reason.

    :param planned: planned links in all.
    """
    rates = Counter((one.rate, one.expected_rate) for one in judged if one.cls is LinkClass.DEGRADED)
    return {pair: count for pair, count in rates.items() if count > MASS_SHARE * planned}


def part_orders(stock: Stock, judged: Collection[Judged], laid: Collection[Port]) -> Iterator[PartOrder]:
    """One order per absent device, dark cable and weak cable; a twin cable's two links are one cable.

    :param laid: ports a new cable of the moves will fill; they need no order of their own.
    """
    absent: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.cls is LinkClass.MISSING and one.absent is not None:
            absent[one.absent].append(one)
    for device, lost in absent.items():
        yield _device(stock, device, lost)
    by_rule = slow_by_rule(judged, stock.slots.plan.link_count)
    wrong: dict[tuple[int, LinkClass], list[Judged]] = defaultdict(list)
    for one in judged:
        dark = one.cls is LinkClass.MISSING and one.absent is None and one.link.a not in laid
        weak = one.cls is LinkClass.DEGRADED and (one.rate, one.expected_rate) not in by_rule
        if dark or weak:
            wrong[id(stock.slots.at(one.link.a)), one.cls].append(one)
    for (_, cls), links in wrong.items():
        yield _dark(stock, links) if cls is LinkClass.MISSING else _weak(stock, links)


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


def _dark(stock: Stock, links: list[Judged]) -> PartOrder:
    """One cable some or all of whose links are dark."""
    words, one = stock.slots.words, links[0]
    a, b = one.link.a, one.link.b
    dark = " and ".join(f"{words(one.link.a)} to {words(one.link.b)}" for one in links)
    unseen = [port for port, seen in ((a, one.seen_a), (b, one.seen_b)) if seen is None]
    said = f"{dark}: dark at both ends"
    if PortState.DISABLED in (one.state_a, one.state_b):
        off = a if one.state_a is PortState.DISABLED else b
        said += f"; {words(off)} is switched off by command: enable it before touching the cable"
    elif unseen:
        said = (
            f"{dark}: dark, and {stock.devices.name(unseen[0].node)} was not seen: look whether that device is on, "
            "then at the cable"
        )
    elif _lit(stock, a):
        said += (
            "; another link of the same cable is up, so it is there: inspect, clean and reseat its plugs, then "
            "replace it"
        )
    else:
        said += (
            "; from here a cable that hangs there dark and one that was never laid look the same: if it is there, "
            "inspect, clean and reseat its plugs, then replace it; else lay it"
        )
    return PartOrder(OrderKind.CABLE, a.node, _ends(links), said)


def _lit(stock: Stock, port: Port) -> bool:
    """Whether the cable planned here has another link that is up as planned."""
    slot = stock.slots.at(port)
    return slot is not None and any(stock.cables.peer(a) == b for a, b in joined(slot))


def _ends(links: list[Judged]) -> tuple[Port, ...]:
    return tuple(port for one in links for port in (one.link.a, one.link.b))


def _weak(stock: Stock, links: list[Judged]) -> PartOrder:
    """One cable some or all of whose links are narrow or slow."""
    slot = stock.slots.at(links[0].link.a)
    copper = slot is not None and kind_of(slot).in_cage
    steps = "reseat its plugs, then replace the cable"
    if not copper:
        tops = {top: port for port in _ends(links) if (top := stock.devices.top(port.node))}
        which = " and ".join(f"{top} top in {stock.devices.name(port.node)}" for top, port in tops.items())
        steps = (
            f"inspect, clean and reseat its plugs, then replace a transceiver{f' ({which})' if which else ''}, then "
            "the fibre"
        )
    said = " and ".join(
        f"{stock.slots.words(one.link.a)} to {stock.slots.words(one.link.b)} runs at {one.rate}, "
        f"{one.expected_rate} is expected"
        for one in links
    )
    kind = OrderKind.CABLE if copper else OrderKind.TRANSCEIVER
    return PartOrder(kind, links[0].link.a.node, _ends(links), f"{said}: {steps}")
