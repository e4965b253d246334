"""Cables counted per pair of cells or groups, from the data of a picture; what both static drawings count with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fabricctl.picture.data import PictureData
from fabricctl.picture.links import ASIDE
from fabricctl.report.words import CLASSES

CLASS_COUNT = len(CLASSES) + 1
MISSING, MISWIRED, SWAPPED, DEGRADED, NOT_JUDGED, NOT_ASKED = 1, 2, 3, 4, 5, 6
WORST = (MISSING, MISWIRED, SWAPPED, DEGRADED, NOT_JUDGED)
TIERS = {0: "host", 1: "leaf", 2: "spine", 3: "core", 9: "tier unknown"}


@dataclass(slots=True)
class Pair:
    """Cables between two cells or groups.

    :param by: planned ones per class number; :param strays: found where the plan has none or another one;
    :param outside: to a device that is not planned, or outside ``--only``: no fault by itself.
    """

    low: int
    high: int
    by: list[int] = field(default_factory=lambda: [0] * CLASS_COUNT)
    strays: int = 0
    outside: int = 0

    @property
    def planned(self) -> int:
        """Planned cables."""
        return sum(self.by)

    @property
    def found(self) -> int:
        """Cables that are there."""
        return self.by[0] + self.by[DEGRADED] + self.strays

    @property
    def asked(self) -> bool:
        """Whether anything of it was judged at all."""
        return self.by[NOT_ASKED] < self.planned or bool(self.strays)

    @property
    def wrong(self) -> bool:
        """Whether anything is to be said."""
        return bool(self.strays) or any(self.by[cls] for cls in WORST)


class Cells:
    """Numbers of the data taken apart: cells, groups and tiers."""

    def __init__(self, data: PictureData) -> None:
        self.data = data
        self.switches = len(data["nodes"]["switches"]["name"])
        self.count = self.switches + len(data["nodes"]["hosts"]["name"])
        self.hosts_of_cards: list[int] = data["nodes"]["hcas"]["host"]
        self.groups: list[dict[str, object]] = data["map"]["groups"]
        self.group_of = [0] * self.count
        for number, group in enumerate(data["map"]["groups"]):
            for cell in range(group["first"], group["first"] + group["n"]):
                self.group_of[cell] = number

    def cell(self, device: int) -> int:
        """A switch or a host as it is, an HCA's host."""
        return device if device < self.count else self.hosts_of_cards[device - self.count]

    def group(self, device: int) -> int:
        """Group of a device."""
        return self.group_of[self.cell(device)]

    def tier(self, cell: int) -> int:
        """0 for hosts."""
        tiers: list[int] = self.data["nodes"]["switches"]["tier"]
        return tiers[cell] if cell < self.switches else 0

    def name(self, cell: int) -> str:
        """Name of a switch or a host."""
        nodes = self.data["nodes"]
        names = nodes["switches"]["name"] if cell < self.switches else nodes["hosts"]["name"]
        return str(names[cell if cell < self.switches else cell - self.switches])


def count_pairs(data: PictureData, unit: Callable[[int], int], tier: Callable[[int], int]) -> Iterator[Pair]:
    """Pairs with at least one cable.

    :param unit: device number -> number of the cell or group it counts for; :param tier: tier of such a unit.
    """
    links, pairs = data["links"], dict[tuple[int, int], Pair]()

    def pair(a: int, b: int) -> Pair:
        one, two = unit(a), unit(b)
        low, high = (one, two) if (tier(one), one) <= (tier(two), two) else (two, one)
        found = pairs.get((low, high))
        if found is None:
            found = pairs[low, high] = Pair(low, high)
        return found

    for a, b, cls in zip(links["a"], links["b"], links["c"], strict=True):
        pair(a, b).by[int(cls)] += 1
    for a, _, b, _, kind in links["stray"]:
        if kind in ASIDE:
            pair(a, b).outside += 1
        else:
            pair(a, b).strays += 1
    if "pairs" in links:
        counted = links["pairs"]
        outside = counted["o"] or [0] * len(counted["n"])
        for a, b, number, out in zip(counted["a"], counted["b"], counted["n"], outside, strict=True):
            by = pair(a, b).by
            by[0] += number - out
            by[NOT_ASKED] += out
    yield from pairs.values()


MAIN_SHARE = 0.8


def main_island(data: PictureData) -> int:
    """The island that holds nearly all seen switches, -1 when there is none: only the others are then marked."""
    seen = [island for island in data["nodes"]["switches"]["island"] if island >= 0]
    largest = max(set(seen), key=seen.count, default=-1)
    return largest if seen.count(largest) >= MAIN_SHARE * len(seen) else -1


def letter(island: int) -> str:
    """``A`` for the first island, numbers behind ``Z``; as the page says it."""
    return chr(ord("A") + island) if island < 26 else str(island + 1)


def island_letters(islands: tuple[int, ...]) -> str:
    """``A``, ``AB``, of more than two in a row ``A\u2013H``. :param islands: sorted."""
    if len(islands) < 3:
        return "".join(map(letter, islands))
    if islands[-1] - islands[0] == len(islands) - 1:
        return f"{letter(islands[0])}\u2013{letter(islands[-1])}"
    return "".join(map(letter, islands[:3])) + "\u2026"
