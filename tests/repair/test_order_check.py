"""Which steps are done, told from what is seen: every state on the way, mistakes, and what cannot be told."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fabricctl.discovery.model import Observation, Problem, ProblemKind, Source
from fabricctl.repair.order_check import OrderCheck, StepState, check
from fabricctl.repair.order_model import Step, StepKind, WorkOrder
from tests.cabling.fabrics import guid
from tests.repair.plug_hall import Cable, Hall, random_hall
from tests.repair.technician import Technician, look, order_of, place_of

MIXES = [
    ["fibre_straight"],
    ["twin_dac", "single_dac"],
    ["fibre_split_1x2", "fibre_straight"],
    ["fibre_straight", "twin_dac", "dac_split_1x2", "dac_split_1x4"],
]


def states(result: OrderCheck) -> list[StepState]:
    return [one.state for one in result.steps]


def cables_of(hall: Hall, order: WorkOrder) -> dict[int, Cable]:
    """Step number -> the cable of the hall it moves, before anything is done."""
    found = {}
    for step in order.steps:
        for spot in step.sources:
            for cable in hall.cables:
                if place_of(spot) in cable.places:
                    found[step.number] = cable
    return found


@pytest.mark.parametrize("kinds", MIXES, ids="+".join)
def test_after_k_steps_exactly_those_are_done(kinds: list[str]) -> None:
    """But for a cable one of whose plugs hangs: nobody can tell from afar which end that is."""
    steps = 0
    for seed in range(25):
        hall = random_hall(random.Random(f"check {seed} {kinds}"), kinds, 4 + seed % 4)
        order = order_of(hall)
        moved = cables_of(hall, order)
        worker = Technician(hall)
        for k in range(len(order.steps) + 1):
            if k:
                worker.do(order.steps[k - 1])
            for step, result in zip(order.steps, check(order, look(hall)).steps, strict=True):
                assert not result.out_of_date, result
                if step.number in moved and None in moved[step.number].places and step.kind is StepKind.MOVE:
                    assert result.state is not StepState.WRONG, result
                    continue
                wanted = StepState.DONE if step.number <= k else StepState.OPEN
                assert result.state is wanted, (seed, k, step.text, result)
                steps += 1
        final = check(order, look(hall))
        assert final.exit_code == 0
        planned = {frozenset(link) for slot in hall.slots for link in slot.links()}
        there = {frozenset(link) for cable in hall.cables for link in cable.links()}
        assert there <= planned
    assert steps > 200


def exchanged() -> Hall:
    """Four fibres from a leaf to a spine, the spine ends of the first two exchanged."""
    hall = Hall()
    cables = [hall.want("fibre_straight", (("leaf", n),), (("spine", n),)) for n in range(1, 5)]
    hall.swap((cables[0], 1), (cables[1], 1))
    return hall


def two(order: WorkOrder) -> tuple[Step, Step]:
    first, second = order.steps
    return first, second


def test_a_hanging_plug_is_open_and_said_to_be_unplugged() -> None:
    hall = exchanged()
    order = order_of(hall)
    hanging = order.steps[1]
    cable, at = Technician(hall).sitting(place_of(hanging.sources[0]))
    cable.places[at] = None
    one, other = check(order, look(hall)).steps
    assert (one.state, other.state) == (StepState.OPEN, StepState.OPEN)
    assert other.words == "unplugged: its cable makes no link"
    assert one.words.startswith("still where it was")


def test_a_plug_in_a_wrong_place_is_wrong_and_named() -> None:
    hall = exchanged()
    order = order_of(hall)
    step = order.steps[0]
    cable, at = Technician(hall).sitting(place_of(step.sources[0]))
    cable.places[at] = (("spine", 9),)
    result = check(order, look(hall))
    assert result.steps[0].state is StepState.WRONG
    assert "its plug is in spine/9 instead of" in result.steps[0].words
    assert result.exit_code == 1


def test_a_foreign_cable_in_the_target_is_told_in_words() -> None:
    hall = exchanged()
    order = order_of(hall)
    (target,) = place_of(order.steps[0].targets[0])
    worker = Technician(hall)
    for step in order.steps:
        cable, at = worker.sitting(place_of(step.sources[0]))
        cable.places[at] = None
    hall.lay("fibre_straight", (target,), (("leaf", 40),))
    result = check(order, look(hall)).steps[0]
    assert result.state is StepState.WRONG
    assert "leaf/40 instead of" in result.words


def test_a_fabric_that_changed_otherwise_makes_the_order_out_of_date() -> None:
    hall = exchanged()
    order = order_of(hall)
    worker = Technician(hall)
    (source,) = place_of(order.steps[0].sources[0])
    cable, _ = worker.sitting((source,))
    hall.cables.remove(cable)
    hall.lay("fibre_straight", (source,), (("leaf", 33),))
    result = check(order, look(hall))
    assert result.steps[0].state is not StepState.DONE
    assert "leaf/33, which no step explains" in result.steps[0].out_of_date


def test_an_order_untouched_is_all_open_and_exit_1() -> None:
    hall = exchanged()
    result = check(order_of(hall), look(hall))
    assert states(result) == [StepState.OPEN, StepState.OPEN]
    assert result.exit_code == 1


def test_repair_at_the_other_end_of_the_same_cables_counts_as_done() -> None:
    """Exchanging the leaf ends instead of the spine ends makes the same links."""
    hall = exchanged()
    order = order_of(hall)
    by_leaf = {cable.places[0]: cable for cable in hall.cables}
    a, b = by_leaf[(("leaf", 1),)], by_leaf[(("leaf", 2),)]
    a.places[0], b.places[0] = b.places[0], a.places[0]
    assert check(order, look(hall)).exit_code == 0


def test_an_unseen_device_cannot_be_told() -> None:
    hall = exchanged()
    order = order_of(hall)
    seen = look(hall)
    gone = guid("spine")
    del seen.fabric.nodes[gone]
    for port in [port for port, link in seen.fabric.links.items() if gone in (link.a.node, link.b.node)]:
        del seen.fabric.links[port]
    result = check(order, seen)
    assert states(result) == [StepState.COULD_NOT_TELL] * 2
    assert "spine was not seen" in result.steps[0].words
    assert result.exit_code == 3


def doubtful(hall: Hall, problem: Problem) -> Observation:
    seen = look(hall)
    seen.problems.append(problem)
    return seen


def test_no_link_proves_nothing_where_a_query_timed_out() -> None:
    hall = exchanged()
    order = order_of(hall)
    for step in order.steps:
        cable, at = Technician(hall).sitting(place_of(step.sources[0]))
        cable.places[at] = None
    sure = check(order, look(hall))
    unsure = check(order, doubtful(hall, Problem(ProblemKind.TIMEOUT, "no answer from lid 7")))
    assert states(sure) == [StepState.OPEN] * 2
    assert states(unsure) == [StepState.COULD_NOT_TELL] * 2
    assert "no answer from lid 7" in unsure.steps[0].words


def test_a_link_that_is_seen_is_done_whatever_else_is_in_doubt() -> None:
    hall = exchanged()
    order = order_of(hall)
    worker = Technician(hall)
    for step in order.steps:
        worker.do(step)
    seen = doubtful(hall, Problem(ProblemKind.TIMEOUT, "no answer"))
    seen.sources.append(Source("ufm2", None, failed="refused"))
    result = check(order, seen)
    assert result.exit_code == 0
    assert result.doubts == ("ufm2: refused", "no answer")


def test_two_cables_for_one_are_not_taken_for_done() -> None:
    """The far end moves, too; a second cable joins the old place of this end to the new place of that one."""
    hall = exchanged()
    order = order_of(hall)
    step = order.steps[0]
    (joint,) = step.joints
    assert joint.target is not None
    (far,) = joint.far
    later = replace(far, port=far.port + 30)
    both = replace(order, steps=(replace(step, joints=(replace(joint, far=(far, later)),)),))
    cable, at = Technician(hall).sitting(place_of(step.sources[0]))
    blocking = Technician(hall).in_the_way(place_of(step.targets[0]))
    hall.cables = [one for one in hall.cables if one is not blocking[0][0]]
    cable.places[at] = place_of(step.targets[0])
    assert states(check(both, look(hall))) == [StepState.DONE]
    hall.lay("fibre_straight", place_of(step.sources[0]), ((later.name, later.port),))
    assert states(check(both, look(hall))) == [StepState.WRONG]


def test_one_device_looks_only_at_its_own_steps() -> None:
    hall = exchanged()
    pair = [hall.want("fibre_straight", (("leaf7", n),), (("core", n),)) for n in (1, 2)]
    hall.swap((pair[0], 1), (pair[1], 1))
    order = order_of(hall)
    assert len(check(order, look(hall)).steps) == 4
    only = check(order, look(hall), "core")
    assert len(only.steps) == 2
    ends = {step.number: f"{step.text} {step.others[0].now.words}" for step in order.steps}
    assert {one.number for one in only.steps} == {number for number, words in ends.items() if "core" in words}
