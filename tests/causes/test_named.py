"""Each thing people do wrong is named with exactly the links it moved."""

from __future__ import annotations

import pytest

from fabricctl.causes.model import CauseKind, CauseKnowledge, OtherSlot
from tests.causes.named import FOUR_RAILS, LAYERS, NAMED, splitter
from tests.causes.nets import Case, case, known, truth
from tests.sim.netgen import Wiring
from tests.sim.systematic import SYSTEMATIC


def one(shape: str, kind: str, wiring: Wiring) -> Case:
    return case(
        shape, kind, wiring=wiring, knowledge=known(host_panel=shape == "hall"), splitter=splitter(kind)
    )


QUICK = [*FOUR_RAILS, *[kind for kind in NAMED if kind not in FOUR_RAILS][::2]]
"""The others are tried quickly in the smaller fabric."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.slow) for kind in NAMED]
)
def test_alone_in_the_hall(kind: str) -> None:
    found = one("hall", kind, Wiring.UNIFIED)
    (cause,) = found.explanation.causes
    expected, words = NAMED[kind]
    assert cause.kind is expected
    assert words in cause.headline
    assert found.explained(cause) == truth(found.faults)
    assert found.explanation.left == ()
    assert cause.evidence
    assert cause.fix


@pytest.mark.parametrize("kind", [kind for kind in NAMED if kind not in FOUR_RAILS])
@pytest.mark.parametrize("wiring", [pytest.param(Wiring.UNIFIED, marks=pytest.mark.slow), Wiring.STRIPED])
def test_alone_in_a_smaller_fabric_with_either_core_pattern(kind: str, wiring: Wiring) -> None:
    found = one("medium", kind, wiring)
    (cause,) = found.explanation.causes
    assert found.explained(cause) == truth(found.faults)
    if kind == "split-ready":  # 32 ports are no known switch's split-ready profile
        assert cause.kind is CauseKind.NUMBER_AS_CAGE
    else:
        assert cause.kind is NAMED[kind][0]


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("kind", "links"),
    [
        ("leaf-rotated", 32),
        ("spine-rotated", 32),
        ("uplinks-reversed", 32),
        ("cages-exchanged", 32),
        ("host-bundles", 64),
        ("hosts-exchanged", 16),
        ("hosts-wrong-unit", 128),
    ],
)
def test_a_fault_on_top_of_a_layer_cabled_by_groups_is_named_too(layer: str, kind: str, links: int) -> None:
    found = case("hall", layer, kind, knowledge=known(), seed=4)
    first, second = found.explanation.causes
    assert first.kind is CauseKind.CABLED_PER_RAIL
    assert second.kind is NAMED[kind][0]
    assert links - 2 <= second.links <= links + 2  # a few cables lie alike in both layouts
    assert found.explanation.left == ()


@pytest.mark.slow
def test_a_leaf_rotated_on_top_of_eight_islands() -> None:
    found = case("hall", "leaves-per-rail", "leaf-rotated", knowledge=known())
    assert [cause.kind for cause in found.explanation.causes] == [
        CauseKind.CABLED_PER_RAIL,
        CauseKind.SHIFTED,
    ]
    assert found.explanation.causes[1].evidence == "32 of 32 uplinks sit one port further"


def test_every_fault_of_the_simulator_is_tried() -> None:
    assert set(SYSTEMATIC) - set(NAMED) == {"cards-exchanged", "all-doubled"}


# -- hosts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rails"),
    [
        ("host-cage-ports", "rails 1<->4, 2<->3, 5<->8, 6<->7"),  # the vendor's table, not r <-> 9 - r
        ("host-cages-reversed", "rails 1<->5, 2<->6, 3<->7, 4<->8"),
        ("host-reversed", "rails 1<->8, 2<->7, 3<->6, 4<->5"),
    ],
)
def test_a_dgx_h100_wrong_at_its_panel(kind: str, rails: str) -> None:
    (cause,) = case("hall", kind, knowledge=known()).explanation.causes
    assert cause.evidence == f"8 of 8 cables fit: {rails}"


def test_a_host_without_a_panel_table_is_cabled_in_reverse_order() -> None:
    (cause,) = case("hall", "host-reversed").explanation.causes
    assert cause.kind is CauseKind.HOST_PANEL_REVERSED
    assert cause.headline == "HCAs of gpu069 are cabled in reverse order"


def test_two_cards_are_exchanged_where_the_learned_slots_say_so() -> None:
    slots = {
        "gpu069": (
            OtherSlot("mlx5_1", "NIC.Slot.38", "NIC.Slot.37"),
            OtherSlot("mlx5_2", "NIC.Slot.37", "NIC.Slot.38"),
        )
    }
    (cause,) = case("hall", "cards-exchanged", knowledge=CauseKnowledge(other_slots=slots)).explanation.causes
    assert cause.kind is CauseKind.CARD_IN_OTHER_SLOT
    assert cause.headline == "mlx5_1 and mlx5_2 of gpu069 sit in each other's slot"
    assert "mlx5_1 in NIC.Slot.38 (usually NIC.Slot.37)" in cause.evidence


def test_without_learned_slots_they_are_two_links_swapped() -> None:
    (cause,) = case("hall", "cards-exchanged").explanation.causes
    assert cause.kind is CauseKind.SWAPPED
    assert cause.evidence.endswith("both are at gpu069, mlx5_1 and mlx5_2")


# -- numbering -------------------------------------------------------------------------------------------------


def test_every_switch_in_split_ready_profile_is_one_cause() -> None:
    found = case("hall", "all-doubled", knowledge=known())
    (cause,) = found.explanation.causes
    assert cause.kind is CauseKind.SPLIT_READY
    assert (cause.links, len(cause.devices)) == (12154, 320)  # 12,282 cables, 128 of them between two ports 1


def test_bare_numbers_that_mean_cages_are_one_cause() -> None:
    found = case("medium", "all-doubled")
    (cause,) = found.explanation.causes
    assert cause.kind is CauseKind.NUMBER_AS_CAGE
    assert found.explanation.left == ()
