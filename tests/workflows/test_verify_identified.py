"""verify-cabling --identify: who is who first, then the cables; what is open is not judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fabricctl.cabling.binding import Names
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Options, Verdict, VerdictWord
from fabricctl.errors import UsageError
from fabricctl.fabric import Node, NodeKind
from fabricctl.identity.model import Identification
from fabricctl.plan.snapshot import plan_from_observation
from fabricctl.workflows.identify import names_for, run_identify
from fabricctl.workflows.verify_cabling import Intent, judge, use_serials
from fabricctl.workflows.work_order import Piece, made
from tests.identity.nets import (
    Seen,
    dead,
    hosts_exchanged,
    net_of,
    observe,
    plan_of,
    rotated,
    scrambled,
)

NOW = datetime(2030, 1, 31, 8, 0, tzinfo=UTC)


def intent(**changes: object) -> Intent:
    return replace(Intent(plan_of("hall"), Options(gate=1.0), identify=True), **changes)  # type: ignore[arg-type]


def test_factory_names_everywhere_and_every_cable_is_judged() -> None:
    seen = observe(net_of("hall", dead("ibs-p04-s4")))
    verdict = judge(intent(), seen.observation)
    assert [f.headline for f in verdict.findings] == [
        "spine ibs-p04-s4 at D10 U34 is absent: 64 cables missing with it"
    ]
    assert (verdict.counts.ok, verdict.counts.missing) == (12282 - 64, 64)
    assert verdict.exit_code == 1


def test_a_switch_that_carries_anothers_name_is_known_by_its_cables() -> None:
    seen = observe(net_of("hall"), described=True)
    nodes = seen.observation.fabric.nodes
    one, two = seen.guid("ibl-p01-r1"), seen.guid("ibl-p02-r2")
    first, second = nodes[one], nodes[two]
    nodes[one] = replace(first, name=second.name, description=second.description)
    nodes[two] = replace(second, name=first.name, description=first.description)
    assert judge(intent(identify=False), seen.observation).counts.ok < 12282
    verdict = judge(intent(), seen.observation)
    assert (verdict.word, verdict.counts.ok) == (VerdictWord.OK, 12282)


def test_cables_of_open_switches_are_not_judged_and_say_why() -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")), described=True)
    verdict = judge(intent(), seen.observation)
    counts = verdict.counts
    # by hand: two leaves of 64 cables each
    assert (counts.not_judged, counts.ok, counts.bad) == (128, 12282 - 128, 0)
    assert verdict.doubts == [
        "128 planned cables not judged: a switch there could be ibl-p01-r1 or ibl-p01-r2 (see fabricctl identify, "
        "ambiguity 1)"
    ]
    assert (verdict.word, verdict.exit_code, verdict.findings) == (VerdictWord.COULD_NOT_TELL, 3, [])
    assert counts.cables_differ == counts.unexpected == counts.outside_plan == counts.unknown_devices == 0
    assert verdict.islands.unseen_switches == 0
    assert verdict.islands.seen[0].switches == 320
    assert any(note.startswith("ambiguity 1: the host bundles of") for note in verdict.notes)


@pytest.mark.parametrize(("choice", "tier"), [(1, "host-leaf"), (2, "leaf-spine")])
def test_an_assumed_hypothesis_is_judged(choice: int, tier: str) -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    verdict = judge(intent(assume=((1, choice),)), seen.observation)
    assert verdict.counts.by_tier[tier]["swapped"] == verdict.counts.bad == 64
    assert any(note.startswith(f"assumed: ambiguity 1, hypothesis {choice}") for note in verdict.notes)


def test_a_rotated_tier_leaves_the_tiers_above_open() -> None:
    verdict = judge(intent(), observe(net_of("hall", rotated(1, 1))).observation)
    rows = verdict.counts.by_tier
    assert rows["host-leaf"]["ok"] == 4090
    assert rows["leaf-spine"]["not_judged"] == rows["spine-core"]["not_judged"] == 4096
    assert verdict.exit_code == 3


def test_hosts_without_a_name_are_not_judged_while_swapped_ones_that_have_one_are() -> None:
    seen = observe(net_of("hall", scrambled(0.02)), known=0.5)
    verdict = judge(intent(), seen.observation)
    row = verdict.counts.by_tier["host-leaf"]
    assert row["ok"] > 1900
    assert row["miswired"] + row["swapped"] > 20
    assert row["not_judged"] > 1900
    assert any("harvest HCA GUIDs" in doubt for doubt in verdict.doubts)


def test_harvested_guids_name_the_hosts() -> None:
    seen = observe(net_of("hall"), known=0.01)
    hcas = {key: name for key, name in seen.truth.items() if " " in name}
    verdict = judge(intent(harvested=hcas), seen.observation)
    assert (verdict.word, verdict.counts.ok) == (VerdictWord.OK, 12282)


def test_names_are_the_sites_own_before_harvest_and_votes() -> None:
    seen = observe(net_of("hall"))
    leaf = seen.guid("ibl-p01-r1")
    options = Options(names=Names(declared={leaf: "ibl-p01-r2"}))
    names, found = names_for(intent(options=options), seen.observation)
    assert names.declared[leaf] == "ibl-p01-r2"
    assert names.declared[seen.guid("ibc-64")] == "ibc-64"
    assert [c.by_votes for c in found.contradictions] == ["ibl-p01-r1"]
    verdict = judge(intent(options=replace(options, gate=1.0)), seen.observation)
    assert verdict.findings[0].kind is FindingKind.IDENTITY
    assert "is declared as ibl-p01-r2, but its cables say ibl-p01-r1" in verdict.findings[0].headline


def nameless(seen: Seen) -> Seen:
    """The same with no host known by name."""
    nodes = seen.observation.fabric.nodes
    for key, node in list(nodes.items()):
        if node.kind is NodeKind.HCA:
            nodes[key] = Node(key, node.kind, key, key, "", 1)
    return seen


def by_serial(name: str, serials: dict[str, str]) -> Intent:
    """Serial MT7 is declared as a planned switch. :param serials: as read off the switches."""
    return intent(options=Options(names=Names(declared={"MT7": name}), gate=1.0), serials=serials)


def identified(wanted: Intent, seen: Seen) -> Identification:
    """As ``fabricctl identify`` does it."""
    wanted, notes = use_serials(wanted, seen.observation)
    found = run_identify(wanted, seen.observation)
    found.notes += notes
    return found


def test_one_declared_serial_places_every_switch_like_a_declared_guid() -> None:
    seen = nameless(observe(net_of("hall", scrambled(0.05))))
    leaf = seen.guid("ibl-p01-r1")
    wanted = by_serial("ibl-p01-r1", {leaf: "MT7", seen.guid("ibc-64"): "MT8"})
    found = identified(wanted, seen)
    assert (len(found.names), seen.right(found), found.unfilled) == (320, 320, [])
    by_guid = intent(options=Options(names=Names(declared={leaf: "ibl-p01-r1"})))
    assert identified(by_guid, seen).names == found.names
    verdict = judge(wanted, seen.observation)
    assert verdict.identification is not None
    assert verdict.identification.names == found.names
    assert verdict.counts.by_tier["leaf-spine"]["not_judged"] == 0
    assert verdict.counts.by_tier["spine-core"]["not_judged"] == 0


def test_a_wrong_serial_is_a_contradiction() -> None:
    seen = observe(net_of("hall"))
    wanted = by_serial("ibl-p01-r2", {seen.guid("ibl-p01-r1"): "MT7"})
    found = identified(wanted, seen)
    assert [(c.declared, c.by_votes) for c in found.contradictions] == [("ibl-p01-r2", "ibl-p01-r1")]
    assert judge(wanted, seen.observation).findings[0].kind is FindingKind.IDENTITY


def test_a_serial_nobody_has_is_a_note_and_changes_nothing() -> None:
    seen = observe(net_of("hall"))
    wanted = by_serial("ibl-p01-r2", {seen.guid("ibl-p01-r1"): "MT1"})
    found = identified(wanted, seen)
    note = "declared serial MT7 (ibl-p01-r2): no switch has it, by what --switch-serials read"
    assert (found.notes[-1], found.contradictions, seen.right(found)) == (note, [], 320)
    verdict = judge(wanted, seen.observation)
    assert (verdict.word, note in verdict.notes) == (VerdictWord.OK, True)


def test_the_label_to_read_is_named_with_its_serial() -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    leaf = seen.guid("ibl-p01-r1")
    found = identified(intent(serials={leaf: "MT7"}), seen)
    assert f"{leaf} (serial MT7) means hypothesis 1" in found.ambiguities[0].decide_by[0]


# -- the cables of open switches are nobody's work --------------------------------------------------------------


def moves(wanted: Intent, seen: Seen) -> tuple[Verdict, Counter[tuple[str, ...]]]:
    """The verdict; and how many plugs its repair touches, by the devices their cables shall join: ibl ibs, gpu ibl."""
    verdict = judge(wanted, seen.observation)
    assert verdict.repair is not None
    count: Counter[tuple[str, ...]] = Counter()
    for move in verdict.repair.moves:
        cable = move.becomes or move.cable
        count[tuple(sorted(plug.socket.node[:3] for plug in cable.plugs))] += 1
    return verdict, count


def test_no_cable_of_two_open_leaves_is_moved_until_a_hypothesis_is_taken_as_fact() -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    verdict, touched = moves(intent(), seen)
    assert (touched, verdict.exit_code) == ({}, 3)
    order = made(verdict, intent(), Piece(), NOW)
    assert (order.orders[0].steps, order.exit_code) == ((), 3)
    assert "128 planned cables not judged" in order.orders[0].not_covered[0]


@pytest.mark.parametrize(("choice", "cables"), [(1, ("gpu", "ibl")), (2, ("ibl", "ibs"))])
def test_64_moves_of_the_hosts_or_of_the_uplinks(choice: int, cables: tuple[str, str]) -> None:
    seen = observe(net_of("hall", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    verdict, touched = moves(intent(assume=((1, choice),)), seen)
    # by hand: 32 cables on each of the two leaves, one end each
    assert touched == {cables: 64}
    steps = made(verdict, intent(assume=((1, choice),)), Piece(), NOW).orders[0].steps
    assert len(steps) == 64


def test_no_cable_above_the_leaves_is_moved_while_all_their_uplinks_may_be_rotated() -> None:
    seen = observe(net_of("hall", rotated(1, 1)))
    verdict, touched = moves(intent(), seen)
    assert (touched, verdict.exit_code) == ({}, 3)
    assert made(verdict, intent(), Piece(), NOW).orders[0].steps == ()
    # by hand: 128 leaves of 32 uplinks; or the same ends from the other side, and 192 switches renamed
    assert moves(intent(assume=((1, 1),)), seen)[1] == {("ibl", "ibs"): 4096}


def test_another_fabric_is_refused_with_the_evidence() -> None:
    verdict = judge(intent(), observe(net_of("medium")).observation)
    assert (verdict.exit_code, verdict.findings) == (3, [])
    assert verdict.doubts[0].startswith("this is not the planned fabric: ")
    assert verdict.counts.not_judged == verdict.counts.intended


def test_nobody_known_by_name_is_could_not_tell() -> None:
    seen = nameless(observe(net_of("hall")))
    verdict = judge(intent(), seen.observation)
    assert verdict.exit_code == 3
    assert verdict.doubts[0].startswith("could not tell: no host of the plan is known by name")
    assert verdict.counts.bad == 0


def test_a_snapshot_needs_no_identity_and_no_plan_is_a_usage_error() -> None:
    seen = observe(net_of("small3"))
    golden = plan_from_observation(seen.observation)
    verdict = judge(Intent(golden, Options(), identify=True), seen.observation)
    assert verdict.word is VerdictWord.OK
    assert any("--identify changes nothing" in note for note in verdict.notes)
    with pytest.raises(UsageError, match="needs a plan"):
        judge(Intent(None, Options(), identify=True), seen.observation)
