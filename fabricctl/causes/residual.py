"""What is still wrong: the planned cables that are not where they belong, and where they would be by now.

Every cause is an act on plugs: "what belongs in port p was put into port q". Taking a cause moves the planned
cables accordingly; those that then lie where a cable really is are explained, and the next cause is looked for in
what is left. Thus a second fault on top of a first is seen in its own shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.model import WRONG, Judged
from fabricctl.fabric import Link, Port

Moves = Mapping[Port, Port]
"""Port where a plug belongs -> port it would sit in."""


def wrong_links(comparison: Comparison) -> list[Judged]:
    """The planned links a cause is wanted for, in the order of their ports: not those of absent devices."""
    found = [j for j in comparison.classified.judged if j.cls in WRONG and j.absent is None]
    return sorted(found, key=lambda judged: judged.link.a)


@dataclass(slots=True)
class Cable:
    """A planned cable with the ports it would lie in after the causes taken so far."""

    link: Link
    a: Port
    b: Port


class Residual:
    """The wrong planned cables and the cables that are really there."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.judged = wrong_links(comparison)
        self.cables = [Cable(j.link, j.link.a, j.link.b) for j in self.judged]
        self.wrong = dict.fromkeys(range(len(self.cables)))
        """Numbers of the cables that are still unexplained, in order."""
        self.at: dict[Port, int] = {}
        for number, cable in enumerate(self.cables):
            self.at[cable.a] = self.at[cable.b] = number
        self.home = frozenset(self.at)
        """Ports that the wrong links were planned for."""
        self._actual: dict[Port, Port | None] = {}

    def actual(self, port: Port) -> Port | None:
        """What is really at the other end of the cable in this port, in the plan's keys."""
        try:
            return self._actual[port]
        except KeyError:
            pass
        comparison = self._comparison
        key = comparison.binding.seen_of.get(port.node, port.node)
        far = comparison.seen.peer(Port(key, port.number))
        found = self._actual[port] = None if far is None else comparison.in_plan(far)
        return found

    def displaced(self) -> dict[Port, Port]:
        """Port of a wrong cable -> port where its plug sits instead, as told from its other end."""
        found: dict[Port, Port] = {}
        for number in self.wrong:
            cable = self.cables[number]
            for own, far in ((cable.a, cable.b), (cable.b, cable.a)):
                there = self.actual(far)
                if there is not None and there != own:
                    found[own] = there
        return found

    def touched(self, moves: Moves) -> list[int]:
        """Numbers of the unexplained cables a cause would move."""
        at, wrong = self.at, self.wrong
        return list(dict.fromkeys(n for port in moves if (n := at.get(port, -1)) in wrong))

    def fits(self, number: int, moves: Moves) -> bool:
        """Whether a cable, moved, lies where one really is."""
        cable = self.cables[number]
        return self.actual(moves.get(cable.a, cable.a)) == moves.get(cable.b, cable.b)

    def near(self, number: int, moves: Moves) -> bool:
        """Whether a cable, moved, has one of its ends in the right port and the other one on the right device."""
        cable = self.cables[number]
        a, b = moves.get(cable.a, cable.a), moves.get(cable.b, cable.b)
        return any(
            (there := self.actual(end)) is not None and there.node == far.node
            for end, far in ((a, b), (b, a))
        )

    def unseen(self, number: int, moves: Moves) -> bool:
        """Whether a cable, moved, would lie between two ports that carry nothing."""
        cable = self.cables[number]
        ends = (moves.get(cable.a, cable.a), moves.get(cable.b, cable.b))
        return all(self.actual(end) is None for end in ends)

    def right_in(self, moves: Moves) -> int:
        """How many cables a cause would move away although they are right where they are."""
        planned = self._comparison.binding.plan.fabric.links
        links = {planned[p] for p, q in moves.items() if p != q and p in planned and p not in self.home}
        return sum(self.actual(link.a) == link.b for link in links)  # others are out of scope, or not judged

    def take(self, moves: Moves) -> list[int]:
        """Move the cables; returns the numbers of those that are explained by it."""
        places = {}
        for number in self.touched(moves):
            cable = self.cables[number]
            places[number] = (moves.get(cable.a, cable.a), moves.get(cable.b, cable.b))
        return self.lay(places)

    def lay(self, places: Mapping[int, tuple[Port, Port]]) -> list[int]:
        """Lay cables between other ports; returns the numbers of those that are explained by it."""
        for number in places:
            self._lift(number)
        for number, ends in places.items():
            cable = self.cables[number]
            cable.a, cable.b = ends
            self.at[cable.a] = self.at[cable.b] = number
        return self.settle(number for number, (a, b) in places.items() if self.actual(a) == b)

    def _lift(self, number: int) -> None:
        for end in (self.cables[number].a, self.cables[number].b):
            if self.at.get(end) == number:
                del self.at[end]

    def settle(self, numbers: Iterable[int]) -> list[int]:
        """Strike cables off what is unexplained."""
        done = list(numbers)
        for number in done:
            del self.wrong[number]
            self._lift(number)
        return done
