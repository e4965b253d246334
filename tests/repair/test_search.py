"""The number of moves against a search over where every plug is, which knows nothing of assignments.

A state is the place of each plug, or the bench. What costs is taking a plug out of a place: it then goes straight into
a free one or onto the bench; from the bench into a free place is the second half of the same move. The end is a hall in
which every cable either is a planned one of its kind or lies on the bench as a whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricctl.repair.solve import plan_repair
from tests.repair.plug_hall import MAKES, Cable, Hall, Place, is_hca
from tests.repair.test_fewest_moves import assert_repairs, handled

State = tuple[Place | None, ...]


def form(kind: str, at: int, place: Place) -> tuple[int, bool, bool]:
    """What a place must have in common with a plug: its size, cage or MPO, and for OSFP copper switch or host."""
    make = MAKES[kind]
    cage = kind.startswith(("twin", "dac", "single"))
    return len(place), cage, make.osfp and is_hca(place)


class Search:
    """Breadth first, moves that cost nothing first of all."""

    def __init__(self, hall: Hall) -> None:
        self.plugs = [(n, at) for n, cable in enumerate(hall.cables) for at in range(len(cable.places))]
        self.cables = hall.cables
        self.start: State = tuple(hall.cables[n].places[at] for n, at in self.plugs)
        self.slots = hall.slots
        every = [(c.type, at, p) for c in [*hall.slots, *hall.cables] for at, p in enumerate(c.places) if p]
        self.fitting = [
            sorted({p for kind, k, p in every if form(kind, k, p) == self.form_of(n, at)})
            for n, at in self.plugs
        ]

    def form_of(self, cable: int, at: int) -> tuple[int, bool, bool]:
        place = self.cables[cable].places[at]
        assert place is not None
        return form(self.cables[cable].type, at, place)

    def done(self, state: State) -> bool:
        first = 0
        for cable in self.cables:
            places = state[first : first + len(cable.places)]
            first += len(places)
            if any(places) and not any(self.fills(cable, places, slot) for slot in self.slots):
                return False
        return True

    @staticmethod
    def fills(cable: Cable, places: State, slot: Cable) -> bool:
        make = MAKES[cable.type]
        return make.family == MAKES[slot.type].family and any(
            tuple(slot.places[turn[at]] for at in range(len(places))) == places for turn in make.turns
        )

    def moves(self, state: State) -> Iterator[tuple[int, State]]:
        taken = {port for place in state if place for port in place}
        for at, place in enumerate(state):
            if place is not None:
                yield 1, (*state[:at], None, *state[at + 1 :])
            for target in self.fitting[at]:
                if taken.isdisjoint(target):
                    yield int(place is not None), (*state[:at], target, *state[at + 1 :])

    def fewest(self) -> int:
        known = {self.start: 0}
        todo = deque([(0, self.start)])
        while True:
            cost, state = todo.popleft()
            if cost > known[state]:
                continue
            if self.done(state):
                return cost
            for more, after in self.moves(state):
                if cost + more < known.get(after, cost + more + 1):
                    known[after] = cost + more
                    (todo.append if more else todo.appendleft)((cost + more, after))


MIXES = [
    ["fibre_straight"],
    ["single_dac"],
    ["twin_dac", "twin_acc"],
    ["fibre_split_1x2"],
    ["dac_split_1x2"],
    ["dac_split_1x4"],
    ["fibre_straight", "fibre_split_1x2"],
    ["twin_dac", "dac_split_1x2"],
    ["twin_acc", "fibre_straight", "single_dac"],
    ["dac_split_1x4", "twin_dac", "fibre_split_1x2"],
]
"""Kinds whose plugs may meet in each other's places."""
PARTS = {
    "fibre_straight": "MFP7E10-N010",
    "single_dac": "MCP1650-H001E30",
    "twin_dac": "MCP4Y10-N002",
    "twin_acc": "MCA4J80-N004",
    "fibre_split_1x2": "MFP7E20-N010",
    "dac_split_1x2": "MCP7Y00-N002",
    "dac_split_1x4": "MCP7Y50-N002",
}


@st.composite
def halls(draw: st.DrawFn) -> Hall:
    """Two or three planned cables with up to three plugs misplaced, one cable gone or one too many."""
    kinds = draw(st.sampled_from(MIXES))
    hall, spare = Hall(), iter(range(100, 200))
    chosen = [draw(st.sampled_from(kinds)) for _ in range(draw(st.integers(2, 3)))]
    if "dac_split_1x4" in chosen:
        chosen = chosen[:2]  # five plugs each: the search must end
    for n, kind in enumerate(chosen):
        first, *rest = MAKES[kind].plugs
        block = 8 * n
        near = tuple(("leaf", block + port) for port in range(1, first + 1))
        if len(rest) > 1:
            far = [((f"gpu{next(spare)} mlx5_0", 1),) for _ in rest]
        elif draw(st.booleans()):
            host = next(spare)
            far = [tuple((f"gpu{host} mlx5_{hca}", 1) for hca in range(rest[0]))]
        else:
            far = [tuple((f"spine{n}", port) for port in range(1, rest[0] + 1))]
        hall.want(kind, near, *far)
    change = draw(st.sampled_from(("none", "none", "gone", "unplanned")))
    if change == "gone":
        hall.cables.pop(draw(st.integers(0, len(hall.cables) - 1)))
    elif change == "unplanned":
        at = draw(st.integers(0, len(hall.slots) - 1))
        hall.cables[at].part = PARTS[
            hall.slots.pop(at).type
        ]  # what nobody planned must say itself what it is
    for _ in range(1 if "dac_split_1x4" in chosen else draw(st.integers(1, 2))):
        misplace(draw, hall)
    return hall


def misplace(draw: st.DrawFn, hall: Hall) -> None:
    """Plugs of one form go round, or one is put aside."""
    plugs = [(cable, at) for cable in hall.cables for at in range(len(cable.places))]
    forms: dict[object, list[tuple[Cable, int]]] = {}
    for cable, at in plugs:
        place = cable.places[at]
        assert place is not None
        forms.setdefault(form(cable.type, at, place), []).append((cable, at))
    alike = draw(st.sampled_from(list(forms.values())))
    if len(alike) == 1 or draw(st.integers(0, 4)) == 0:
        cable, at = alike[0]
        place = cable.places[at]
        assert place is not None
        if not is_hca(place):
            block = 40 + 8 * draw(st.integers(0, 1))
            aside = tuple(("leaf", block + port) for port in range(1, len(place) + 1))
            if not any(aside == taken for one in hall.cables for taken in one.places):
                cable.places[at] = aside
        return
    count = draw(st.integers(2, min(3, len(alike))))
    order = draw(st.permutations(range(len(alike))))
    hall.rotate([alike[n] for n in order[:count]])


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(halls())
def test_no_sequence_of_hands_needs_fewer_plug_moves(hall: Hall) -> None:
    plan = assert_repairs(hall)
    assert handled(plan) == Search(hall).fewest()


def test_the_search_finds_what_a_person_counts() -> None:
    hall = Hall()
    cables = [hall.want("fibre_straight", (("leaf", n),), ((f"spine{n}", 1),)) for n in (1, 2, 3)]
    assert Search(hall).fewest() == 0
    hall.rotate([(cable, 0) for cable in cables])
    assert Search(hall).fewest() == 3
    hall.slots.pop()  # the third cable is one too many: both its plugs come out, and two go round
    assert Search(hall).fewest() == handled(plan_repair(hall.compare())) == 4
