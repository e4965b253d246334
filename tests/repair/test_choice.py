"""Among plans of equally few moves, the one that is cheaper for people."""

from __future__ import annotations

import random
from itertools import permutations

from fabricctl.fabric import Place as Rack
from fabricctl.fabric import Port
from fabricctl.plan.lengths import RackSpot
from fabricctl.repair.knowledge import RepairKnowledge, distances_by_rack
from fabricctl.repair.model import MoveKind, RepairPlan
from fabricctl.repair.replay import replay
from fabricctl.repair.solve import plan_repair
from tests.repair.plug_hall import Cable, Hall, fewest_plugs
from tests.repair.test_by_hand import gpu, splitters, sw


def places(**racks: str) -> RepairKnowledge:
    """Device -> ``rack`` or ``rack Unn``."""
    table = {name: Rack(*text.split()) for name, text in racks.items()}
    return RepairKnowledge(place_of=table.get)


def stood_at(plan: RepairPlan) -> set[str]:
    return {socket.node for move in plan.moves for socket in (move.source, move.target) if socket}


def crossed(ends: tuple[str, str, str, str]) -> Hall:
    """Fibres a-b and c-d whose far ends are exchanged."""
    a, b, c, d = ends
    hall = Hall()
    one, two = (
        hall.want("fibre_straight", sw(a, 1), sw(b, 1)),
        hall.want("fibre_straight", sw(c, 2), sw(d, 2)),
    )
    hall.swap((one, 1), (two, 1))
    return hall


def test_both_plugs_are_moved_at_one_device_rather_than_one_each_at_two() -> None:
    assert stood_at(plan_repair(crossed(("leaf1", "spine1", "leaf1", "spine2")).compare())) == {"leaf1"}
    assert stood_at(plan_repair(crossed(("leaf1", "spine1", "leaf2", "spine1")).compare())) == {"spine1"}


def test_one_rack_is_cheaper_than_two() -> None:
    hall = crossed(("a", "b", "c", "d"))
    together = places(a="R1", b="R2", c="R1", d="R3")
    assert stood_at(plan_repair(hall.compare(), together)) == {"a", "c"}
    together = places(a="R1", b="R2", c="R3", d="R2")
    assert stood_at(plan_repair(hall.compare(), together)) == {"b", "d"}


def test_a_host_counts_as_one_device_whatever_hca_the_plug_is_at() -> None:
    hall = Hall()
    one = hall.want("fibre_straight", sw("leaf1", 1), gpu(1, 0))
    two = hall.want("fibre_straight", sw("leaf2", 1), gpu(1, 1))
    hall.swap((one, 1), (two, 1))
    plan = plan_repair(hall.compare())
    assert stood_at(plan) == {"gpu1 mlx5_0", "gpu1 mlx5_1"}
    assert {move.hosts for move in plan.moves} == {("gpu1",)}


def test_a_device_that_is_visited_anyway_is_preferred_across_components() -> None:
    hall = Hall()
    pairs = []
    for n in range(5):  # five swaps between the same leaves and spines: one side of the hall does for all
        one = hall.want("fibre_straight", sw("leaf1", n + 1), sw("spine1", n + 1))
        two = hall.want("fibre_straight", sw("leaf2", n + 1), sw("spine2", n + 1))
        pairs.append((one, two))
    for one, two in pairs:
        hall.swap((one, 1), (two, 1))
    assert len(stood_at(plan_repair(hall.compare()))) == 2


def knowing_lengths(hall: Hall, lengths: dict[str, float]) -> RepairKnowledge:
    def metres(a: str, b: str) -> float | None:
        return lengths.get(f"{a}-{b}") or lengths.get(f"{b}-{a}")

    return RepairKnowledge(distance_m=metres)


def test_the_cables_are_chosen_so_that_they_span_their_new_runs() -> None:
    # a-d and c-b lie there; a-b needs 10 m. What spans a-d (3 m) cannot do it, what spans c-b (10 m) can.
    lengths = {"a-b": 10.0, "c-d": 3.0, "a-d": 3.0, "c-b": 10.0}
    plan = plan_repair(crossed(("a", "b", "c", "d")).compare(), knowing_lengths(Hall(), lengths))
    assert stood_at(plan) == {"a", "c"}  # c-b keeps its plug at b, a-d the one at d
    assert [move.reaches for move in plan.moves] == [True, True]
    assert {(move.has_m, move.needs_m) for move in plan.moves} == {(11.0, 10.0), (4.0, 3.0)}
    lengths = {"a-b": 10.0, "c-d": 3.0, "a-d": 10.0, "c-b": 3.0}
    plan = plan_repair(crossed(("a", "b", "c", "d")).compare(), knowing_lengths(Hall(), lengths))
    assert stood_at(plan) == {"b", "d"}


def test_a_cable_that_spans_no_new_run_is_said() -> None:
    lengths = {"a-b": 10.0, "c-d": 3.0, "a-d": 3.0, "c-b": 3.0}
    plan = plan_repair(crossed(("a", "b", "c", "d")).compare(), knowing_lengths(Hall(), lengths))
    assert sorted(str(move.reaches) for move in plan.moves) == ["False", "True"]
    assert any("do not span" in note for note in plan.notes)


def test_copper_never_spans_more_than_it_is_made() -> None:
    hall = Hall()
    one = hall.want("twin_dac", sw("a", 1, 2), sw("b", 1, 2))
    two = hall.want("twin_dac", sw("c", 1, 2), sw("d", 1, 2))
    hall.swap((one, 1), (two, 1))
    near = dict.fromkeys(("a-b", "c-d", "a-d", "c-b"), 2.0)
    assert {m.reaches for m in plan_repair(hall.compare(), knowing_lengths(hall, near)).moves} == {True}
    far = dict.fromkeys(("a-b", "c-d", "a-d", "c-b"), 2.5)
    assert {m.reaches for m in plan_repair(hall.compare(), knowing_lengths(hall, far)).moves} == {False}


def test_lengths_come_from_where_racks_stand() -> None:
    hall = crossed(("a", "b", "c", "d"))
    table = {"a": Rack("R1", "U40"), "b": Rack("R2", "U40"), "c": Rack("R1", "U41"), "d": Rack("R9", "U40")}
    racks = {"R1": RackSpot("A", 1, 48), "R2": RackSpot("A", 2, 48), "R9": RackSpot("A", 9, 48)}
    comparison = hall.compare()
    metres = distances_by_rack(comparison.binding.plan.fabric, table.get, racks)
    # eight rack pitches of 0.6 m, up 8 and 8 units of 44.45 mm and twice half a metre, one metre of slack: 7.51 m
    assert metres("a", "d") == 8.0
    plan = plan_repair(comparison, RepairKnowledge(place_of=table.get, distance_m=metres))
    assert {move.reaches for move in plan.moves} == {True}
    assert stood_at(plan) == {"a", "c"}


def test_no_plug_of_osfp_copper_changes_between_switch_and_host_side() -> None:
    hall = Hall()
    up = hall.want("twin_dac", sw("leaf", 1, 2), sw("spine", 1, 2))
    down = hall.want("twin_dac", sw("leaf", 3, 4), (*gpu(1, 0), *gpu(1, 1)))
    hall.swap((up, 0), (down, 0))
    plan = plan_repair(hall.compare())
    assert [move.kind for move in plan.moves] == [MoveKind.MOVE, MoveKind.MOVE]
    assert stood_at(plan) == {"leaf"}
    # a switch-to-switch cable where a switch-to-host one is wanted: its finned plug does not fit the card
    hall.cables.pop()
    plan = plan_repair(hall.compare())
    assert (plan.plugs_moved, plan.pulled, plan.added) == (1, 0, 1)
    [move] = [move for move in plan.moves if move.kind is MoveKind.MOVE]
    assert move.target is not None
    assert move.target.ports == (Port("leaf", 1), Port("leaf", 2))


def test_of_splitters_the_plug_that_drops_fewer_hosts_hangs_longest() -> None:
    hall, cables = splitters(2)
    spare: Cable = hall.want("fibre_straight", sw("leaf", 9), gpu(9))
    hall.rotate([(cables[0], 1), (spare, 1)])
    hall.swap((cables[0], 0), (cables[1], 0))
    comparison = hall.compare()
    plan = plan_repair(comparison)
    assert replay(comparison.actual, plan) == comparison.intended
    for component in range(plan.components):
        steps = [move for move in plan.moves if move.component == component]
        hanging = [len(move.hosts) for move in steps if move.hangs]
        assert min(len(move.hosts) for move in steps) in hanging


def test_choosing_never_costs_a_move() -> None:
    dice = random.Random(5)
    for _ in range(40):
        hall = Hall()
        cables = [
            hall.want("fibre_straight", sw(f"leaf{n % 3}", n + 1), sw(f"spine{n % 4}", n + 1))
            for n in range(7)
        ]
        for _ in range(4):
            a, b = dice.sample(cables, 2)
            hall.swap((a, dice.randrange(2)), (b, dice.randrange(2)))
        if dice.random() < 0.5:
            hall.cables.remove(dice.choice(hall.cables))
        table = {f"{kind}{n}": Rack(f"R{dice.randrange(3)}") for kind in ("leaf", "spine") for n in range(4)}
        lengths = {f"{a}-{b}": float(dice.randrange(1, 9)) for a in table for b in table if a <= b}
        knowledge = RepairKnowledge(
            place_of=table.get, distance_m=lambda a, b, known=lengths: known[f"{min(a, b)}-{max(a, b)}"]
        )
        plan = plan_repair(hall.compare(), knowledge)
        assert sum(move.source is not None for move in plan.moves) == fewest_plugs(hall)


def cheapest(hall: Hall, racks: dict[str, str]) -> tuple[int, int]:
    """Fewest racks, then devices, over all repairs of fewest plugs, by trying them all."""
    cables = [
        cable for cable in hall.cables if list(cable.places) not in [list(s.places) for s in hall.slots]
    ]
    slots = [slot for slot in hall.slots if list(slot.places) not in [list(c.places) for c in hall.cables]]
    found: list[tuple[int, int, int]] = []
    for serving in permutations([*range(len(slots)), *[None] * len(cables)], len(cables)):
        stood: set[str] = set()
        handled = 0
        for cable, at in zip(cables, serving, strict=True):
            ends = [place[0][0] for place in cable.places if place]
            if at is None:
                stood.update(ends)
                handled += 2
                continue
            wanted = slots[at].places
            turn = max(([0, 1], [1, 0]), key=lambda t: sum(cable.places[n] == wanted[t[n]] for n in (0, 1)))
            for n in (0, 1):
                if cable.places[n] != wanted[turn[n]]:
                    handled += 1
                    stood.update(place[0][0] for place in (cable.places[n], wanted[turn[n]]) if place)
        for at, slot in enumerate(slots):
            if at not in serving:
                stood.update(place[0][0] for place in slot.places if place)
        found.append((handled, len({racks[box] for box in stood}), len(stood)))
    return min(found)[1:]


def test_no_other_repair_of_one_component_visits_fewer_racks_or_devices() -> None:
    dice = random.Random(11)
    for _ in range(60):
        hall = Hall()
        number = dice.randrange(2, 5)
        cables = [hall.want("fibre_straight", sw(f"a{n}", 1), sw(f"b{n}", 1)) for n in range(number)]
        hall.rotate([(cable, 1) for cable in cables])
        fault = dice.random()
        if fault < 0.4:
            hall.cables.remove(cables[0])
        elif fault < 0.7:
            hall.slots.remove(hall.slots[0])
        racks = {f"{side}{n}": f"R{dice.randrange(4)}" for side in "ab" for n in range(number)}
        table = {box: Rack(rack) for box, rack in racks.items()}
        plan = plan_repair(hall.compare(), RepairKnowledge(place_of=table.get))
        assert plan.components == 1
        stood = stood_at(plan)
        assert (len({racks[box] for box in stood}), len(stood)) == cheapest(hall, racks)
