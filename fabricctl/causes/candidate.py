"""One possible cause, and how well it fits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import chain

from fabricctl.causes.model import CauseKind
from fabricctl.causes.residual import Moves, Residual
from fabricctl.fabric import Port

MIN_FIT = 0.7
"""A pattern needs this share of the cables it speaks of (and that can be seen) on its side."""
HALF = 0.45
"""Of an exchange that another act hides in part, one direction must fit: half of its cables, less a few."""
MIN_LINKS = 4
"""And this many links: two of one pattern come about by chance, four do not (see ``chance.py``)."""


@dataclass(slots=True)
class Candidate:
    """An act on plugs that would explain some cables.

    :param moves: port where a plug belongs -> port it would sit in, for every plug the act speaks of.
    :param devices: plan keys (of a host's cables: host names) the act was done at; :param acts: how often.
    :param family: candidates of the same family are one habit and are told as one cause; None stands alone.
    :param side: block of ports (``layout.DOWN`` ...); :param step: of a shift, ports further (negative: back).
    :param size: of a shift or reversal, ports in the block; :param far: key of the device the block leads to.
    :param wraps: of a shift, the last plug went to the first port; :param note: words of the detector.
    :param impossible: what the declared cables are called that no hand can do it with; empty when it can be done.
    :param among: links its own were picked from, where it is only some of a block.
    :param least: links it needs; fewer than ``MIN_LINKS`` of a family that has enough together.
    :param twisted: an exchange one side of which has its plugs in other ports: another act comes on top of it.
    :param loose: it may join its family but does not stand alone: the devices it names went round in a larger ring.
    """

    kind: CauseKind
    moves: Moves
    devices: tuple[str, ...]
    family: Hashable | None = None
    acts: int = 1
    side: str = ""
    step: int = 0
    size: int = 0
    far: str = ""
    wraps: bool = True
    note: str = ""
    pairs: tuple[tuple[str, ...], ...] = ()
    least: int = MIN_LINKS
    impossible: str = ""
    among: int = 0
    twisted: bool = False
    loose: bool = False
    explained: frozenset[int] = frozenset()
    links: int = 0
    """Cables it speaks of, without those that carry nothing."""
    unseen: int = 0
    near: int = 0
    """Of a twisted one, cables that would lie on the right devices, in a wrong port."""
    members: tuple[Candidate, ...] = field(default=())

    def weigh(self, residual: Residual) -> None:
        """Count what it explains, what contradicts it and what cannot be seen, in the present residual."""
        moves = self.moves
        fits, unseen, near, numbers = [], 0, 0, residual.touched(moves)
        for number in numbers:
            if residual.fits(number, moves):
                fits.append(number)
            elif residual.unseen(number, moves):
                unseen += 1
            elif self.twisted and residual.near(number, moves):
                near += 1
        self.explained, self.unseen, self.near = frozenset(fits), unseen, near
        self.links = len(numbers) - unseen + residual.right_in(moves)

    @property
    def score(self) -> float:
        """Links explained, less one for each time somebody did it: of equals the simpler story wins.

        What no hand can do counts half: a story that can be true comes first.
        """
        return (len(self.explained) - self.acts) * (0.5 if self.impossible else 1)

    def holds(self) -> bool:
        """Enough links, and nearly all of those it speaks of; of a twisted one, of those in their own ports."""
        number = len(self.explained)
        return (
            number >= self.least
            and number >= MIN_FIT * (self.links - self.near)
            and number >= HALF * self.links
        )

    def may_join(self) -> bool:
        """Whether a loose one fits as well as it can: every second plug of the ring went where it says."""
        return len(self.explained) >= max(self.least, HALF * self.links)


_FIRST = (
    CauseKind.WRONG_UNIT,
    CauseKind.WRONG_RACK,
    CauseKind.TAILS_CROSSED,
    CauseKind.HEADS_EXCHANGED,
    CauseKind.HOST_PANEL_REVERSED,
    CauseKind.HOST_CAGE_PORTS_EXCHANGED,
    CauseKind.BUNDLES_EXCHANGED,
    CauseKind.CAGE_PORTS_EXCHANGED,
)
"""Of stories that explain as much, the one with a thing to hold in the hand comes before rows of port numbers."""
_ORDER = {
    kind: _FIRST.index(kind) if kind in _FIRST else len(_FIRST) + at for at, kind in enumerate(CauseKind)
}


def rank(candidate: Candidate) -> tuple[float, bool, int, int, tuple[str, ...], str, int]:
    """Sort key: best first, the same for every order of the input."""
    return (
        -candidate.score,
        bool(candidate.impossible),
        candidate.acts,
        _ORDER[candidate.kind],
        candidate.devices,
        candidate.side + candidate.far,
        abs(candidate.step),
    )


def folded(candidates: Iterable[Candidate], residual: Residual) -> list[Candidate]:
    """Weigh candidates, drop those that do not hold, and add to each family of several the cause of all of them."""
    held: list[Candidate] = []
    families: dict[Hashable, dict[tuple[str, ...], Candidate]] = defaultdict(dict)
    loose: dict[Hashable, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        candidate.weigh(residual)
        if candidate.loose:
            if candidate.may_join():
                loose[candidate.family].append(candidate)
            continue
        if not candidate.holds():
            continue
        held.append(candidate)
        if candidate.family is not None:
            key = (*candidate.devices, candidate.far, str(min(candidate.moves)))
            families[candidate.family].setdefault(key, candidate)
    for family, members in families.items():
        if len(members) > 1:
            held.append(_together(family, list(members.values()), residual))
            if family in loose:
                wider = _together(family, [*members.values(), *loose[family]], residual)
                held += [wider] if wider.holds() else []
    return held


def _together(family: Hashable, members: list[Candidate], residual: Residual) -> Candidate:
    moves: dict[Port, Port] = {}
    for member in members:
        moves.update(member.moves)
    first = members[0]
    of_units = first.kind is CauseKind.BUNDLES_EXCHANGED and not first.far
    one = Candidate(
        CauseKind.WRONG_UNIT if of_units else first.kind,
        moves,
        tuple(dict.fromkeys(chain.from_iterable(member.devices for member in members))),
        family,
        acts=min(sum(member.acts for member in members), len({member.devices for member in members})),
        side=first.side,
        step=first.step,
        size=first.size,
        far=first.far if all(member.far == first.far for member in members) else "",
        wraps=first.wraps,
        note=first.note,
        pairs=tuple(chain.from_iterable(member.pairs for member in members)),
        least=first.least,
        among=first.among,
        impossible=next((member.impossible for member in members if member.impossible), ""),
        twisted=any(member.twisted for member in members),
        members=tuple(members),
    )
    one.weigh(residual)
    return one
