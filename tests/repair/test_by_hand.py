"""Repairs counted by hand: what a person would say how many plugs have to be moved."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.verify import verify
from fabricctl.discovery import ibnetdiscover
from fabricctl.discovery.recognise import parse_any
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.repair.model import RepairPlan
from fabricctl.repair.replay import replay
from fabricctl.repair.solve import plan_repair
from tests.conftest import read_capture
from tests.repair.plug_hall import Cable, Hall, Place
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, End, Net, build, discovery_lines


def moves_and_sizes(plan: RepairPlan) -> tuple[int, int, int, dict[int, int]]:
    """Moves, pulls, new cables, and how many components have how many steps."""
    sizes = Counter(Counter(move.component for move in plan.moves).values())
    return plan.plugs_moved, plan.pulled, plan.added, dict(sizes)


def sw(name: str, *numbers: int) -> Place:
    return tuple((name, number) for number in numbers)


def gpu(number: int, hca: int = 0) -> Place:
    return ((f"gpu{number} mlx5_{hca}", 1),)


def splitters(count: int, kind: str = "fibre_split_1x2") -> tuple[Hall, list[Cable]]:
    """Heads in the places 1+2, 3+4, … of one switch, two hosts each."""
    hall = Hall()
    cables = [
        hall.want(kind, sw("leaf", 2 * n + 1, 2 * n + 2), gpu(2 * n + 1), gpu(2 * n + 2))
        for n in range(count)
    ]
    return hall, cables


def repaired(comparison: Comparison) -> RepairPlan:
    """A plan that, carried out, leaves no difference."""
    plan = plan_repair(comparison)
    assert plan.mismatches == ()
    assert replay(comparison.actual, plan) == comparison.intended
    return plan


def test_two_splitter_heads_exchanged_are_two_moves() -> None:
    hall, cables = splitters(4)
    hall.swap((cables[0], 0), (cables[1], 0))
    plan = repaired(hall.compare())
    assert moves_and_sizes(plan) == (2, 0, 0, {2: 1})
    assert {move.cable.plugs[move.plug].role for move in plan.moves} == {"head"}
    assert {move.hosts for move in plan.moves} == {("gpu1", "gpu2"), ("gpu3", "gpu4")}


def test_thirty_two_heads_rotated_by_one_cage_are_thirty_two_moves() -> None:
    hall, cables = splitters(32)
    hall.rotate([(cable, 0) for cable in cables])
    assert moves_and_sizes(repaired(hall.compare())) == (32, 0, 0, {32: 1})


def test_the_tails_of_one_splitter_crossed_are_two_moves_and_of_thirty_two_are_sixty_four() -> None:
    hall, cables = splitters(32)
    for cable in cables:
        hall.swap((cable, 1), (cable, 2))
    assert moves_and_sizes(repaired(hall.compare())) == (64, 0, 0, {2: 32})


def test_one_tail_each_exchanged_between_two_splitters_is_two_moves() -> None:
    hall, cables = splitters(3, "dac_split_1x2")
    hall.swap((cables[0], 1), (cables[2], 2))
    assert moves_and_sizes(repaired(hall.compare())) == (2, 0, 0, {2: 1})


@pytest.mark.parametrize("kind", ["twin_dac", "twin_acc"])
def test_two_twin_cables_exchanged_are_two_moves(kind: str) -> None:
    hall = Hall()
    cables = [hall.want(kind, sw("leaf", 2 * n + 1, 2 * n + 2), sw(f"spine{n}", 1, 2)) for n in range(3)]
    hall.swap((cables[0], 0), (cables[1], 0))
    plan = repaired(hall.compare())
    assert moves_and_sizes(plan) == (2, 0, 0, {2: 1})
    # the two ends at the leaf stand at one device, those at the spines at two
    assert {move.source.node for move in plan.moves if move.source} == {"leaf"}


def after(change: Callable[[Net], object], shape: str = "medium") -> Comparison:
    """The comparison of a healthy fabric's snapshot with the same fabric after a change."""
    net = build(SHAPES[shape])
    plan = plan_from_observation(ibnetdiscover.parse("".join(discovery_lines(net))))
    change(net)
    comparison = verify(plan, ibnetdiscover.parse("".join(discovery_lines(net)))).comparison
    assert comparison is not None
    return comparison


def test_twenty_random_swaps_of_fibre_are_forty_moves_in_twenty_cycles() -> None:
    comparison = after(lambda net: inject(net, ("swap:14", "host-swap:6"), random.Random(7)))
    assert moves_and_sizes(repaired(comparison)) == (40, 0, 0, {2: 20})


def rotate_uplinks(net: Net) -> None:
    leaf = next(node for node, box in net.boxes.items() if box.name == "ibl-p01-r1")
    far = [net.cut(End(leaf, port)) for port in range(33, 65)]
    for port, peer in zip(range(33, 65), [*far[1:], far[0]], strict=True):
        net.connect(End(leaf, port), peer)


def test_a_leaf_rotated_by_one_is_one_cycle_of_thirty_two_at_that_leaf_with_one_plug_hanging() -> None:
    plan = repaired(after(rotate_uplinks, "hall"))
    assert moves_and_sizes(plan) == (32, 0, 0, {32: 1})
    assert len({move.source.node for move in plan.moves if move.source}) == 1
    assert sum(move.hangs for move in plan.moves) == 1
    assert plan.moves[0].hangs
    assert (plan.moves[0].out, plan.moves[0].into) == (1, 33)
    freed = plan.moves[0].source
    for move in plan.moves[1:]:  # each next plug goes into the place just left
        assert move.target == freed
        freed = move.source
    assert plan.moves[0].target == freed


def test_a_healthy_fabric_needs_nothing() -> None:
    plan = repaired(after(lambda net: None))
    assert (plan.moves, plan.parts, plan.notes, plan.components) == ((), (), (), 0)


def captured(plan_file: Path, seen_file: Path) -> Comparison:
    plan = plan_from_observation(parse_any(read_capture(plan_file), plan_file.name))
    comparison = verify(plan, parse_any(read_capture(seen_file), seen_file.name)).comparison
    assert comparison is not None
    return comparison


def test_eight_islands_become_one_fabric_by_4032_moves(captures: Path) -> None:
    plan = repaired(captured(captures / "ibsim/uni.net.gz", captures / "ibsim/iso.net.gz"))
    # counted from the two files: leaf-spine and spine-core cables in alternating cycles
    assert moves_and_sizes(plan) == (4032, 0, 0, {4: 768, 2: 480})


def test_the_islands_of_the_320_switch_fabric_need_4064_moves(captures: Path) -> None:
    folder = captures / "ibsim"
    comparison = captured(folder / "imbue/fabric.net.gz", folder / "imbue-islands/fabric.net.gz")
    plan = repaired(comparison)
    assert moves_and_sizes(plan) == (4064, 0, 0, {3: 672, 6: 336, 2: 16})
    assert plan.assumed == 4064  # neither the plan nor the discovery says what the cables are


def test_the_captured_faults_are_six_swaps_and_a_list_of_parts(captures: Path) -> None:
    folder = captures / "ibsim"
    comparison = captured(folder / "imbue/fabric.net.gz", folder / "imbue-faulty/ibnetdiscover.txt.gz")
    plan = plan_repair(comparison)
    assert moves_and_sizes(plan) == (12, 0, 0, {2: 6})
    # the truth file: 6 swaps, 5 missing cables, 4 dead HCAs, a dead spine, a dead core, 3 narrow and 3 slow links
    kinds = Counter(part.kind.value for part in plan.parts)
    assert kinds == {"hca": 4, "switch": 2, "cable": 5, "transceiver": 6}
    assert sorted(len(part.ports) for part in plan.parts if part.kind.value == "switch") == [64, 64]
