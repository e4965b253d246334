"""Which ports share a plug, what kind of cable lies there, and patterns no cable of its type can make."""

from __future__ import annotations

import pytest

from fabricctl.fabric import Port
from fabricctl.panels import Panel, PanelPort
from fabricctl.repair.assemblies import KINDS, joined, type_of_part
from fabricctl.repair.knowledge import RepairKnowledge
from fabricctl.repair.model import Assembly, AssemblyType, Plug, Socket, TypeSource
from fabricctl.repair.replay import replay
from fabricctl.repair.solve import plan_repair
from tests.repair.plug_hall import MAKES, Cable, Hall, Place
from tests.repair.test_by_hand import gpu, moves_and_sizes, sw

# mstflint's calculatePanelPort: port 2 * cage + port - 2; split-ready: its first half is twice that, less one
QM9700 = Panel(
    "QM9700",
    tuple(
        PanelPort(str(cage), port, 2 * cage + port - 2, split_ready=2 * (2 * cage + port - 2) - 1)
        for cage in range(1, 33)
        for port in (1, 2)
    ),
)
# mlxlink, same file: HDR cages hold one port; split-ready 2n-1 and 2n
QM8700 = Panel("QM8700", tuple(PanelPort(str(n), 1, n, split_ready=2 * n - 1) for n in range(1, 41)))
# DGX H100 user guide, tables 5 and 6: cages 3 and 4
DGX = Panel(
    "DGX-H100",
    (
        PanelPort("3", 1, 1, hca="mlx5_4"),
        PanelPort("3", 2, 1, hca="mlx5_3"),
        PanelPort("4", 1, 1, hca="mlx5_5"),
        PanelPort("4", 2, 1, hca="mlx5_0"),
    ),
)


def faces(panel: Panel) -> RepairKnowledge:
    return RepairKnowledge(panel_of=lambda key: DGX if key.startswith("gpu") else panel)


def test_the_tables_agree_with_those_written_by_hand() -> None:
    assert {kind.value for kind in AssemblyType} == set(MAKES)
    for type_, kind in KINDS.items():
        make = MAKES[type_.value]
        assert tuple(plug.ports for plug in kind.plugs) == make.plugs
        assert tuple((tuple(a), tuple(b)) for a, b in kind.joins) == make.joins
        assert kind.permutations == make.turns
        assert kind.keeps_side == make.osfp


def test_an_assembly_joins_what_its_map_says() -> None:
    head = Plug("head", 1, Socket((Port("s", 1), Port("s", 2))))
    tail = Plug("tail", 2, Socket((Port("h", 1),)))
    assert list(joined(Assembly(AssemblyType.DAC_SPLIT_2, (head, tail)))) == [(Port("s", 2), Port("h", 1))]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("MFP7E10-N005", "fibre_straight"),
        ("MFP7E40-N010", "fibre_split_1x2"),
        ("mcp4y10-n002-flt", "twin_dac"),
        ("MCA4J80-N004", "twin_acc"),
        ("MCP7Y10-N002", "dac_split_1x2"),
        ("MCA7J75-N004", "dac_split_1x4"),
        ("MCP1650-H001E30", "single_dac"),
        ("MMA4Z00-NS", None),
        ("", None),
    ],
)
def test_part_numbers_tell_the_kind(part: str, kind: str | None) -> None:
    assert type_of_part(part) == kind


def exchanged(hall: Hall, knowledge: RepairKnowledge) -> tuple[int, int, int, dict[int, int]]:
    comparison = hall.compare()
    plan = plan_repair(comparison, knowledge)
    assert plan.mismatches == ()
    assert replay(comparison.actual, plan) == comparison.intended
    assert not any("counted" in note for note in plan.notes)
    return moves_and_sizes(plan)


def test_twin_plugs_fill_a_cage_of_the_panel() -> None:
    hall = Hall()
    one = hall.want("twin_dac", sw("leaf", 27, 28), sw("spine", 1, 2))
    two = hall.want("twin_dac", sw("leaf", 29, 30), sw("spine", 63, 64))
    hall.swap((one, 0), (two, 0))
    assert exchanged(hall, faces(QM9700)) == (2, 0, 0, {2: 1})


def test_in_a_split_ready_switch_twin_plugs_light_first_halves() -> None:
    # cage 14 is 53..56 there, an unsplit twin cable lights 53 and 55; cage 32 tells the profile
    hall = Hall(model="QM9700")
    one = hall.want("twin_dac", sw("leaf", 53, 55), sw("spine", 1, 3))
    two = hall.want("twin_dac", sw("leaf", 125, 127), sw("spine", 125, 127))
    hall.swap((one, 0), (two, 0))
    assert exchanged(hall, faces(QM9700)) == (2, 0, 0, {2: 1})


def test_where_second_halves_are_used_elsewhere_twin_plugs_still_light_first_halves() -> None:
    # ports 5 and 7 are those of cage 2
    hall = Hall(model="QM9700")
    one = hall.want("twin_dac", sw("leaf", 5, 7), sw("spine", 1, 3))
    two = hall.want("twin_dac", sw("leaf", 9, 11), sw("spine", 13, 15))
    hall.want("fibre_split_1x2", sw("spine", 101, 102), gpu(1), gpu(2))
    hall.want("fibre_straight", sw("leaf", 127), sw("spine", 127))
    hall.swap((one, 0), (two, 0))
    assert exchanged(hall, faces(QM9700)) == (2, 0, 0, {2: 1})


def test_heads_of_split_fibre_take_the_halves_of_one_port_and_1_to_4_heads_a_cage() -> None:
    hall = Hall(model="QM9700")
    one = hall.want("fibre_split_1x2", sw("leaf", 53, 54), gpu(1), gpu(2))
    two = hall.want("fibre_split_1x2", sw("leaf", 55, 56), gpu(3), gpu(4))
    three = hall.want("dac_split_1x4", sw("leaf", 1, 2, 3, 4), *map(gpu, (11, 12, 13, 14)))
    four = hall.want("dac_split_1x4", sw("leaf", 125, 126, 127, 128), *map(gpu, (15, 16, 17, 18)))
    hall.swap((one, 0), (two, 0))
    hall.swap((three, 0), (four, 0))
    assert exchanged(hall, faces(QM9700)) == (4, 0, 0, {2: 2})


def test_heads_of_hdr_splitters_take_the_halves_of_a_cage_of_one_port() -> None:
    hall = Hall(model="QM8700")
    one = hall.want("dac_split_1x2", sw("leaf", 1, 2), gpu(1), gpu(2))
    two = hall.want("dac_split_1x2", sw("leaf", 79, 80), gpu(3), gpu(4))
    hall.swap((one, 0), (two, 0))
    assert exchanged(hall, faces(QM8700)) == (2, 0, 0, {2: 1})


def dgx_cage(host: int, *hcas: int) -> Place:
    return tuple((f"gpu{host} mlx5_{hca}", 1) for hca in hcas)


def test_cages_of_a_host_come_from_its_panel() -> None:
    hall = Hall()
    one = hall.want("twin_dac", sw("leaf", 1, 2), dgx_cage(1, 4, 3))
    two = hall.want("twin_dac", sw("leaf", 3, 4), dgx_cage(1, 5, 0))
    hall.swap((one, 1), (two, 1))
    assert exchanged(hall, faces(QM9700)) == (2, 0, 0, {2: 1})


def test_a_plan_that_joins_two_cages_of_a_host_by_one_twin_plug_is_impossible() -> None:
    hall = Hall()
    hall.want("twin_dac", sw("leaf", 1, 2), dgx_cage(1, 4, 5))
    hall.cables = [Cable("twin_dac", [sw("leaf", 1, 2), dgx_cage(1, 4, 3)])]
    plan = plan_repair(hall.compare(), faces(QM9700))
    assert plan.moves == ()
    assert [one.declared for one in plan.mismatches] == [AssemblyType.TWIN_DAC]


def test_what_the_cables_say_of_themselves_stands_in_for_a_plan_that_tells_no_types() -> None:
    hall = Hall(typed=False)
    for n in range(3):
        hall.want("twin_dac", sw("leaf", 2 * n + 1, 2 * n + 2), sw(f"spine{n}", 1, 2)).part = "MCP4Y10-N001"
    hall.swap((hall.cables[0], 0), (hall.cables[1], 0))
    plan = plan_repair(hall.compare())
    assert moves_and_sizes(plan) == (2, 0, 0, {2: 1})
    assert plan.assumed == 0
    assert {move.cable.type_from for move in plan.moves} == {TypeSource.CABLE_INFO}


def test_one_serial_on_both_ports_of_both_cages_is_one_twin_cable() -> None:
    hall = Hall(typed=False)
    for n in range(3):
        hall.want("twin_dac", sw("leaf", 2 * n + 1, 2 * n + 2), sw(f"spine{n}", 1, 2)).serial = f"SN{n}"
    hall.swap((hall.cables[0], 0), (hall.cables[1], 0))
    plan = plan_repair(hall.compare())
    assert moves_and_sizes(plan) == (2, 0, 0, {2: 1})
    assert {move.cable.type for move in plan.moves} == {AssemblyType.TWIN_DAC}
    assert {move.cable.serial for move in plan.moves} == {"SN0", "SN1"}


def test_a_shared_serial_of_a_transceiver_says_nothing_of_its_fibres() -> None:
    hall = Hall(typed=False)
    for n in range(4):
        cable = hall.want("fibre_straight", sw("leaf", n + 1), sw(f"spine{n}", 1))
        cable.part, cable.serial = "MMA4Z00-NS", f"SN{n // 2}"
    hall.swap((hall.cables[0], 0), (hall.cables[1], 0))
    plan = plan_repair(hall.compare())
    assert moves_and_sizes(plan) == (2, 0, 0, {2: 1})
    assert {move.cable.type for move in plan.moves} == {AssemblyType.FIBRE}


def test_without_any_word_cables_are_fibre_and_said_to_be_assumed() -> None:
    hall = Hall(typed=False)
    one = hall.want("twin_dac", sw("leaf", 1, 2), sw("spine1", 1, 2))
    two = hall.want("twin_dac", sw("leaf", 3, 4), sw("spine2", 1, 2))
    hall.swap((one, 0), (two, 0))
    plan = plan_repair(hall.compare())
    assert (moves_and_sizes(plan), plan.assumed) == ((4, 0, 0, {2: 2}), 4)


def test_link_classes_may_tell_the_kind() -> None:
    hall = Hall(link_class="leaf-spine", typed=False)
    one = hall.want("twin_dac", sw("leaf", 1, 2), sw("spine1", 1, 2))
    two = hall.want("twin_dac", sw("leaf", 3, 4), sw("spine2", 1, 2))
    hall.swap((one, 0), (two, 0))
    knowledge = RepairKnowledge(
        class_kind=lambda link: {"leaf-spine": AssemblyType.TWIN_DAC}[link.detail.link_class]
    )
    plan = plan_repair(hall.compare(), knowledge)
    assert (moves_and_sizes(plan), plan.assumed) == ((2, 0, 0, {2: 1}), 0)


def twins_as_fibres(shift: int) -> Hall:
    """Four twin cables planned; their eight links lie as if single, turned by some ports."""
    hall = Hall()
    near = [("leaf", port) for port in range(1, 9)]
    far = [(f"spine{n}", port) for n in range(4) for port in (1, 2)]
    for n in range(4):
        hall.want("twin_dac", (near[2 * n], near[2 * n + 1]), (far[2 * n], far[2 * n + 1]))
    hall.cables = [Cable("fibre_straight", [(port,), (far[(n + shift) % 8],)]) for n, port in enumerate(near)]
    return hall


def test_twin_plugs_rotated_by_one_port_are_impossible_and_by_one_cage_are_four_moves() -> None:
    plan = plan_repair(twins_as_fibres(1).compare())
    assert plan.moves == ()
    [mismatch] = plan.mismatches
    assert len(mismatch.ports) == 16
    assert "no twin_dac or a device is not the one named" in mismatch.words
    assert any("4 planned cables are left out" in note for note in plan.notes)
    plan = plan_repair(twins_as_fibres(2).compare())
    assert (moves_and_sizes(plan), plan.mismatches) == ((4, 0, 0, {4: 1}), ())


def test_the_two_ports_of_a_twin_plug_never_change_places() -> None:
    hall = Hall()
    hall.want("twin_dac", sw("leaf", 1, 2), sw("spine", 1, 2))
    hall.want("twin_dac", sw("leaf", 3, 4), sw("spine", 3, 4))
    hall.cables = [
        Cable("fibre_straight", [sw("leaf", 1), sw("spine", 2)]),
        Cable("fibre_straight", [sw("leaf", 2), sw("spine", 1)]),
        Cable("twin_dac", [sw("leaf", 3, 4), sw("spine", 3, 4)]),
    ]
    plan = plan_repair(hall.compare())
    assert plan.moves == ()
    assert len(plan.mismatches) == 1


def test_a_mismatch_holds_up_nothing_that_shares_no_port_with_it() -> None:
    hall = twins_as_fibres(1)
    one, two = (
        hall.want("fibre_straight", sw("leaf", 21), gpu(1)),
        hall.want("fibre_straight", sw("leaf", 22), gpu(2)),
    )
    hall.swap((one, 1), (two, 1))
    plan = plan_repair(hall.compare())
    assert (plan.plugs_moved, len(plan.mismatches)) == (2, 1)


def test_a_cable_whose_own_word_is_another_kind_than_the_plans_is_replaced() -> None:
    hall = Hall()
    hall.want("twin_dac", sw("leaf", 1, 2), sw("spine", 1, 2))
    for cable in [
        Cable("fibre_straight", [sw("leaf", n), sw("spine", 3 - n)], "MFP7E10-N005") for n in (1, 2)
    ]:
        hall.cables.append(cable)
    del hall.cables[0]
    plan = plan_repair(hall.compare())
    assert (plan.plugs_moved, plan.pulled, plan.added, plan.mismatches) == (0, 2, 1, ())


def test_a_twin_cable_where_an_untyped_plan_wants_two_ways_is_a_mismatch() -> None:
    hall = Hall(typed=False)
    hall.want("fibre_straight", sw("leaf", 1), sw("spine1", 1))
    hall.want("fibre_straight", sw("leaf", 2), sw("spine2", 1))
    hall.cables = [Cable("twin_dac", [sw("leaf", 1, 2), sw("spine1", 1, 2)], "MCP4Y10-N001")]
    plan = plan_repair(hall.compare())
    assert plan.moves == ()
    assert [one.declared for one in plan.mismatches] == [AssemblyType.TWIN_DAC]
