"""What is no move: parts, unknown devices, reserved ports, links nobody can judge, and what is out of scope."""

from __future__ import annotations

import pytest

from fabricctl.cabling.verify import Options, verify
from fabricctl.fabric import LinkDetail, Port
from fabricctl.rates import Rate
from fabricctl.repair.model import MoveKind, OrderKind, RepairPlan
from fabricctl.repair.replay import OccupiedError, replay
from fabricctl.repair.solve import plan_repair
from tests.cabling.fabrics import fabric, guid, plan, seen, two_tier, without
from tests.cabling.fabrics import plan as by_hand
from tests.cabling.fabrics import seen as seen_by_hand
from tests.repair.plug_hall import Cable, Hall
from tests.repair.test_by_hand import gpu, splitters, sw


def fibres(count: int) -> tuple[Hall, list[Cable]]:
    """Hosts 1.. on ports 1.. of one leaf."""
    hall = Hall()
    return hall, [hall.want("fibre_straight", sw("leaf", n), gpu(n)) for n in range(1, count + 1)]


def done(hall: Hall, **reserved: dict[Port, str]) -> RepairPlan:
    return plan_repair(hall.compare(**reserved))


def kinds(found: RepairPlan) -> list[str]:
    return [move.kind.value for move in found.moves]


def test_a_dark_cable_is_a_cable_order_that_does_not_claim_to_know_whether_it_hangs_there() -> None:
    hall, cables = fibres(3)
    hall.cables.remove(cables[0])
    found = done(hall)
    [part] = found.parts
    assert (part.kind, set(part.ports)) == (OrderKind.CABLE, {Port("leaf", 1), Port("gpu1 mlx5_0", 1)})
    assert "look the same" in part.words
    assert (found.moves, found.added) == ((), 0)


def test_a_dark_twin_cable_is_one_order_and_one_with_a_dark_port_is_known_to_be_there() -> None:
    hall = Hall()
    hall.want("twin_dac", sw("leaf", 1, 2), sw("spine", 1, 2))
    hall.want("twin_dac", sw("leaf", 3, 4), sw("spine", 3, 4))
    hall.cables.pop()
    [part] = done(hall).parts
    assert (part.kind, len(part.ports)) == (OrderKind.CABLE, 4)
    hall.cables.append(Cable("fibre_straight", [sw("leaf", 3), sw("spine", 3)]))  # its second port stays dark
    found = done(hall)
    [part] = found.parts
    assert (found.moves, set(part.ports)) == ((), {Port("leaf", 4), Port("spine", 4)})
    assert "so it is there" in part.words


def test_a_dead_device_is_one_order_with_its_cables() -> None:
    cables = two_tier(hosts=4, leaves=2, spines=2)
    alive = [cable for cable in cables if "spine1" not in (cable[0], cable[2])]
    verdict = verify(plan(cables), seen(alive, alone=["leaf1", "leaf2"]))
    assert verdict.comparison is not None
    found = plan_repair(verdict.comparison)
    [part] = found.parts
    assert (part.kind, part.device, len(part.ports)) == (OrderKind.SWITCH, "spine1", 4)
    assert found.moves == ()


@pytest.mark.parametrize(("assembly", "kind"), [("", OrderKind.TRANSCEIVER), ("single_dac", OrderKind.CABLE)])
def test_a_slow_fibre_is_a_transceiver_order_and_slow_copper_a_cable_order(
    assembly: str, kind: OrderKind
) -> None:
    wanted, slow = plan(two_tier()), seen(two_tier())
    links = wanted.fabric.links
    links.update({port: link._replace(detail=LinkDetail(assembly=assembly)) for port, link in links.items()})
    link = slow.fabric.links[Port(guid("leaf1"), 21)]
    slow.fabric.links.update(dict.fromkeys((link.a, link.b), link._replace(rate=Rate(1, "HDR"))))
    verdict = verify(wanted, slow)
    assert verdict.comparison is not None
    [part] = plan_repair(verdict.comparison).parts
    assert part.kind is kind
    assert "runs at 1xHDR, 4xHDR is expected" in part.words


def test_when_most_links_run_at_one_lower_rate_no_part_is_ordered_for_any() -> None:
    verdict = verify(plan(two_tier()), seen(two_tier(), rate=Rate(4, "EDR")))
    assert verdict.comparison is not None
    found = plan_repair(verdict.comparison)
    assert found.parts == ()
    assert any("16 of 16 planned links run at 4xEDR instead of 4xHDR" in note for note in found.notes)


def test_a_plug_in_a_device_outside_the_plan_is_moved_with_its_owners_word() -> None:
    hall, cables = fibres(2)
    hall.strangers = {"sto1 mlx5_0"}
    cables[0].places[1] = (("sto1 mlx5_0", 1),)
    hall.cables.append(Cable("fibre_straight", [None, gpu(1)]))
    found = done(hall)
    [move] = found.moves
    assert move.kind is MoveKind.MOVE
    assert move.target is not None
    assert move.target.ports == (Port("gpu1 mlx5_0", 1),)
    assert "ask its owner" in move.note


def test_a_strangers_cable_in_a_planned_port_is_pulled_there_and_left_at_its_owners() -> None:
    hall, cables = fibres(2)
    hall.strangers = {"sto1 mlx5_0"}
    hall.lay("fibre_straight", sw("leaf", 9), (("sto1 mlx5_0", 1),))
    hall.swap((cables[0], 0), (hall.cables[-1], 0))
    found = done(hall)
    assert kinds(found) == ["pull", "move"]
    pull, move = found.moves
    assert pull.source is not None
    assert (pull.source.ports, "left to its owner" in pull.note) == ((Port("leaf", 1),), True)
    assert move.source is not None
    assert move.source.ports == (Port("leaf", 9),)


def test_a_cable_to_an_unknown_device_where_an_unseen_one_is_planned_waits_for_its_identity() -> None:
    hall, cables = fibres(2)
    hall.strangers, hall.dead = {"new mlx5_0"}, {"gpu1 mlx5_0"}
    cables[0].places[1] = (("new mlx5_0", 1),)
    found = done(hall)
    assert found.moves == ()
    assert any("new" in note and "find out first" in note for note in found.notes)


def test_no_plug_goes_to_an_unseen_device_and_what_sits_in_its_port_may_leave() -> None:
    hall, cables = fibres(3)
    hall.swap((cables[0], 0), (cables[1], 0))
    hall.dead = {"gpu1 mlx5_0"}
    found = done(hall)  # leaf/1 holds gpu2's cable; gpu1's own is dark, in leaf/2
    [move] = found.moves
    assert move.source is not None
    assert move.target is not None
    assert (move.source.ports, move.target.ports) == ((Port("leaf", 1),), (Port("leaf", 2),))
    assert any("gpu1 was not seen" in note for note in found.notes)


def test_a_guest_of_a_reserved_port_and_cables_between_strangers_are_left_alone() -> None:
    hall, _ = fibres(2)
    hall.strangers = {"ufm1 mlx5_0", "sto1 mlx5_0", "sto"}
    hall.lay("fibre_straight", sw("leaf", 30), (("ufm1 mlx5_0", 1),))
    hall.lay("fibre_straight", sw("sto", 1), (("sto1 mlx5_0", 1),))
    hall.lay("fibre_straight", sw("leaf", 31), sw("leaf", 32))
    found = done(hall, reserved={Port("leaf", 30): "ufm1", Port("leaf", 31): "ufm2"})
    assert (found.moves, found.parts) == ((), ())


def test_a_guest_in_a_planned_port_goes_to_the_port_that_is_kept_for_it() -> None:
    hall, cables = fibres(2)
    hall.strangers = {"ufm1 mlx5_0"}
    hall.cables.remove(cables[0])
    hall.lay("fibre_straight", sw("leaf", 1), (("ufm1 mlx5_0", 1),))
    found = done(hall, reserved={Port("leaf", 30): "ufm[1-2]"})
    move = found.moves[0]
    assert move.source is not None
    assert move.target is not None
    assert (move.source.ports, move.target.ports) == ((Port("leaf", 1),), (Port("leaf", 30),))
    assert (kinds(found), found.added) == (["move", "new", "new"], 1)
    # where that port is taken by its other holder, only its owner knows where the guest belongs
    hall.strangers.add("ufm2 mlx5_0")
    hall.lay("fibre_straight", sw("leaf", 30), (("ufm2 mlx5_0", 1),))
    [move] = done(hall, reserved={Port("leaf", 30): "ufm[1-2]"}).moves
    assert "ask its owner" in move.note


def test_a_cable_nobody_planned_between_planned_devices_is_pulled_both_plugs_together() -> None:
    hall, _ = fibres(2)
    hall.want("fibre_straight", sw("leaf", 3), sw("spine", 3))
    hall.lay("fibre_straight", sw("leaf", 30), sw("spine", 30))
    found = done(hall)
    assert (kinds(found), found.pulled, found.plugs_moved) == (["pull", "pull"], 1, 0)


def test_a_loopback_plug_in_a_planned_port_comes_out() -> None:
    cables = two_tier()
    gone = ("leaf1", 21, "spine1", 1)
    looped = seen(without(cables, gone))
    looped.fabric.connect(fabric([("leaf1", 21, "leaf1", 21)], by_guid=True).links[Port(guid("leaf1"), 21)])
    verdict = verify(plan(cables), looped)
    assert verdict.comparison is not None
    found = plan_repair(verdict.comparison)
    assert (found.pulled, found.added, found.plugs_moved) == (1, 1, 0)
    after = replay(verdict.comparison.actual, found)
    assert after == verdict.comparison.intended


def test_a_swap_with_one_cable_dark_is_one_move_and_one_cable_with_a_word_where_to_look_first() -> None:
    hall, cables = fibres(3)
    hall.swap((cables[0], 0), (cables[1], 0))
    hall.cables.remove(cables[0])
    found = done(hall)
    assert (kinds(found), found.added) == (["move", "new", "new"], 1)
    assert "first look at gpu1 mlx5_0/1" in found.moves[1].note
    assert found.parts == ()


def test_heads_are_exchanged_though_a_tails_host_is_dead() -> None:
    hall, cables = splitters(3)
    hall.swap((cables[0], 0), (cables[1], 0))
    hall.dead = {"gpu2 mlx5_0"}
    found = done(hall)
    assert kinds(found) == ["move", "move"]
    assert sorted(move.hosts for move in found.moves) == [("gpu1",), ("gpu3", "gpu4")]


def test_only_repairs_what_is_asked_for_but_whole_components() -> None:
    cables = two_tier(hosts=4, leaves=4, spines=1, width=1)
    swapped = [
        (a, p, b, {1: 2, 2: 1, 3: 4, 4: 3}[q] if b == "spine1" else q) for a, p, b, q in cables
    ]  # leaf1 with leaf2, leaf3 with leaf4 at the spine
    verdict = verify(plan(cables), seen(swapped), Options(only="leaf1"))
    assert verdict.comparison is not None
    found = plan_repair(verdict.comparison)
    assert (found.plugs_moved, found.components) == (2, 1)
    assert {move.becomes.plugs[0].socket.node for move in found.moves if move.becomes} == {"leaf1", "leaf2"}


def test_replay_refuses_a_plan_that_puts_two_plugs_into_one_place() -> None:
    hall, cables = fibres(2)
    hall.swap((cables[0], 0), (cables[1], 0))
    comparison = hall.compare()
    found = plan_repair(comparison)
    first = found.moves[0]
    assert first.hangs
    broken = RepairPlan(found.moves[:1], 1, 1, 0, 0)
    with pytest.raises(OccupiedError, match="taken"):
        replay(comparison.actual, broken)


def test_no_cable_is_taken_out_because_the_devices_it_may_belong_to_were_not_seen() -> None:
    """a1 and b1 each carry what belongs elsewhere; where a1's and w's own cables lead, nobody saw."""
    wanted = [("a", 1, "x", 1), ("b", 1, "y", 1), ("c", 1, "w", 1)]
    verdict = verify(by_hand(wanted), seen_by_hand([("a", 1, "y", 1), ("b", 1, "w", 1)]))
    assert verdict.comparison is not None
    repair = plan_repair(verdict.comparison)
    assert (repair.plugs_moved, repair.pulled) == (0, 0)
    assert "1 group of wrong cables is not planned" in " ".join(repair.unplanned)
    everything = verify(by_hand(wanted), seen_by_hand([("a", 1, "y", 1), ("b", 1, "w", 1)], alone=["x", "c"]))
    assert everything.comparison is not None
    assert plan_repair(everything.comparison).plugs_moved == 2  # of two wrong cables for three places
