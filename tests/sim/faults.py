"""Faults put into a generated fabric, each with the truth of what was planned and what is there now."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.sim.netgen import DEFAULT_RATE, End, Net

Cable = tuple[str, str]
"""Labels of both ends, ``ibl-p01-r1/33``."""


@dataclass(frozen=True)
class Fault:
    """One injected fault.

    :param planned: cables of the plan it breaks; :param actual: cables that lie there instead.
    :param device: the node that is gone; :param rate: what the cable came up with instead of the default.
    """

    kind: str
    planned: tuple[Cable, ...]
    actual: tuple[Cable, ...] = ()
    device: str = ""
    rate: str = ""

    def as_json(self) -> dict[str, object]:
        """What stands in a truth file; empty fields are left out."""
        entry: dict[str, object] = {"kind": self.kind, "planned": self.planned}
        entry |= {k: v for k in ("actual", "device", "rate") if (v := getattr(self, k))}
        return entry


@dataclass
class Site:
    """A net under attack: no cable is hit twice, so that every fault keeps its own class."""

    net: Net
    dice: random.Random
    hit: set[End] = field(default_factory=set)

    def fresh(self, low_tier: int | None = None) -> list[tuple[End, End]]:
        """Untouched cables, lower end first: of that lower tier, or all between switches."""
        boxes = self.net.boxes
        wanted = (1, 2) if low_tier is None else (low_tier,)
        return sorted(
            (a, b)
            for a, b in self.net.each()
            if boxes[a.node].tier in wanted
            and not {a, b} & self.hit
            and not boxes[a.node].name.startswith("ufm")
        )

    def name(self, a: End, b: End) -> Cable:
        return self.net.label(a), self.net.label(b)

    def relay(self, kind: str, cables: list[tuple[End, End]], far: list[End]) -> Fault:
        """Plug the near end of each cable into the given far end."""
        planned = tuple(self.name(a, b) for a, b in cables)
        for a, _ in cables:
            self.net.cut(a)
        for (a, b), new in zip(cables, far, strict=True):
            self.net.connect(a, new)
            self.hit |= {a, b}
        actual = tuple(self.name(a, new) for (a, _), new in zip(cables, far, strict=True))
        return Fault(kind, planned, actual)

    def kill(self, kind: str, node: str) -> Fault:
        ends = sorted(end for end in self.net.cables if end.node == node)
        planned = []
        for end in ends:
            peer = self.net.cut(end)
            self.hit |= {end, peer}
            low, high = sorted((end, peer), key=lambda e: self.net.boxes[e.node].tier)
            planned.append(self.name(low, high))
        return Fault(kind, tuple(planned), device=self.net.boxes[node].name)


def _swap(site: Site, low_tier: int) -> list[tuple[End, End]]:
    """Two cables of one tier whose four devices all differ."""
    cables = site.fresh(low_tier)
    while True:
        (a, b), (c, d) = site.dice.sample(cables, 2)
        if len({a.node, b.node, c.node, d.node}) == 4:
            return [(a, b), (c, d)]


def _switch_swap(site: Site) -> Fault:
    pair = _swap(site, site.dice.choice((1, 2)))
    return site.relay("swap", pair, [pair[1][1], pair[0][1]])


def _host_swap(site: Site) -> Fault:
    pair = _swap(site, 0)
    return site.relay("host-swap", pair, [pair[1][1], pair[0][1]])


def _shift(site: Site) -> Fault:
    """The bundle of one leaf to one spine lands one port further, the last cable back on the first port."""
    bundles: dict[tuple[str, str], list[tuple[End, End]]] = {}
    for a, b in site.fresh(1):
        bundles.setdefault((a.node, b.node), []).append((a, b))
    widest = max(map(len, bundles.values()))
    bundle = site.dice.choice([cables for cables in bundles.values() if len(cables) == widest])
    far = [b for _, b in bundle]
    return site.relay("shift", bundle, [*far[1:], far[0]])


def _missing(site: Site) -> Fault:
    a, b = site.dice.choice(site.fresh())
    site.net.cut(a)
    site.hit |= {a, b}
    return Fault("missing", (site.name(a, b),))


def _dead(kind: str, tier: int) -> Callable[[Site], Fault]:
    def kill(site: Site) -> Fault:
        """A device none of whose cables was hit before."""
        spoiled = {end.node for end in site.hit}
        nodes = [
            node
            for node, box in site.net.boxes.items()
            if box.tier == tier and node not in spoiled and not box.name.startswith("ufm")
        ]
        return site.kill(kind, site.dice.choice(nodes))

    return kill


def _degrade(kind: str, rate: str) -> Callable[[Site], Fault]:
    def slow(site: Site) -> Fault:
        """Both ends: OpenSM's PortInfo Set makes ibsim work out the active rate from the end it set alone."""
        a, b = site.dice.choice(site.fresh())
        site.net.rates |= {a: rate, b: rate}
        site.hit |= {a, b}
        return Fault(kind, (site.name(a, b),), rate=rate)

    return slow


_width, _speed = DEFAULT_RATE.split("x")
KINDS: dict[str, Callable[[Site], Fault]] = {
    "swap": _switch_swap,
    "host-swap": _host_swap,
    "shift": _shift,
    "missing": _missing,
    "dead-hca": _dead("dead-hca", 0),
    "dead-leaf": _dead("dead-leaf", 1),
    "dead-spine": _dead("dead-spine", 2),
    "dead-core": _dead("dead-core", 3),
    "width": _degrade("width", f"1x{_speed}"),
    "speed": _degrade("speed", f"{_width}xEDR"),
}
"""Fault kinds by the word used on the command line and in truth files."""


def inject(net: Net, wanted: Iterable[str], dice: random.Random) -> list[Fault]:
    """Put faults into ``net``, in the order given.

    :param wanted: ``kind`` or ``kind:count``; kinds are those of ``KINDS`` and of :mod:`tests.sim.systematic`.
    :raises UnknownFaultError: for an unknown kind or a count that is no number, before anything is changed.
    :raises ValueError, IndexError: where the net has no room for a fault.
    """
    from tests.sim.systematic import SYSTEMATIC, put

    site = Site(net, dice)
    faults: list[Fault] = []
    for kind, count in [kind_and_count(word) for word in wanted]:
        one = (lambda site, kind=kind: put(site, kind)) if kind in SYSTEMATIC else KINDS[kind]
        faults += [one(site) for _ in range(count)]
    return faults


class UnknownFaultError(ValueError):
    """A word that names no fault; says which there are."""


def kind_and_count(word: str) -> tuple[str, int]:
    """``swap:3`` -> ``("swap", 3)``.

    :raises UnknownFaultError: for an unknown kind or a count that is no number.
    """
    from tests.sim.systematic import SYSTEMATIC

    kind, colon, count = word.partition(":")
    if kind not in KINDS and kind not in SYSTEMATIC:
        raise UnknownFaultError(f"unknown fault {kind!r}; expected one of {', '.join([*KINDS, *SYSTEMATIC])}")
    if colon and not count.isdecimal():
        raise UnknownFaultError(f"fault {word!r}: expected a number after the colon, found {count!r}")
    return kind, int(count or 1)
