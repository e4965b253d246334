"""Derived GUIDs: they give way to any that was read, are judged against what was seen, and have one holder."""

from __future__ import annotations

import pytest

from fabricctl.nodes.confirm import Judged, SeenGuid, Verdict, judge_guids
from fabricctl.nodes.fleet import Clash, ClashKind, Holder, plan_identities
from fabricctl.nodes.identities import merge_facts
from fabricctl.nodes.model import DERIVED, Fact, Identity, IdentityKind, NodeRecord
from tests.store.stores import at

GUID, MAC = IdentityKind.GUID, IdentityKind.MAC
ONE, TWO, THREE = "0xb83fd20300a41bd2", "0xb83fd20300a41bd3", "0xb83fd20300a41bd4"


def guid(value: str = ONE, part: str = "ib0", source: str = DERIVED) -> Fact:
    return Fact(GUID, value, part, source)


def held(*facts: Fact) -> list[Identity]:
    return [Identity(fact, at(0), at(0)) for fact in facts]


def record(name: str, *facts: Fact) -> NodeRecord:
    return NodeRecord(name, identities=tuple(held(*facts)))


@pytest.mark.parametrize("source", ["ibstat", "fabric", "redfish", "operator"])
@pytest.mark.parametrize("part", ["ib0", ""])
def test_the_same_guid_from_another_source_takes_the_place_of_the_derived_one(source: str, part: str) -> None:
    merge = merge_facts(held(guid()), [guid(part=part, source=source)], at(1))
    assert [(i.fact, i.since) for i in merge.added] == [(guid(source=source), at(1))]
    assert [(i.fact, i.until) for i in merge.ended] == [(guid(), at(1))]


def test_another_guid_that_was_read_takes_the_place_of_the_derived_one() -> None:
    merge = merge_facts(held(guid()), [guid(TWO, source="ibstat")], at(1))
    assert [i.fact.value for i in merge.added] == [TWO]
    assert [i.fact.value for i in merge.ended] == [ONE]


@pytest.mark.parametrize("told", [guid(), guid(TWO), guid(part="other")])
def test_a_derived_guid_changes_nothing_where_one_was_read(told: Fact) -> None:
    assert merge_facts(held(guid(source="ibstat")), [told], at(1)) == merge_facts([], [], at(1))


def test_a_derived_guid_told_again_is_confirmed_as_derived_only() -> None:
    (again,) = merge_facts(held(guid()), [guid()], at(1)).confirmed
    assert (again.fact.source, again.confirmed) == (DERIVED, at(1))


def test_a_guid_the_fabric_shows_is_confirmed_whether_it_says_a_name_or_not() -> None:
    nodes = [record("gpu001", guid(), guid(TWO, "ib1"))]
    judged = judge_guids(nodes, [SeenGuid(ONE, "gpu001 mlx5_0", "gpu001"), SeenGuid(TWO, "MT4129", "")])
    assert [one.verdict for one in judged] == [Verdict.CONFIRMED, Verdict.CONFIRMED]


def test_a_guid_another_host_shows_is_contradicted() -> None:
    judged = judge_guids([record("gpu001", guid())], [SeenGuid(ONE, "gpu002 mlx5_0", "gpu002")])
    assert judged == [Judged("gpu001", "ib0", ONE, Verdict.CONTRADICTED, "it is 'gpu002 mlx5_0', of gpu002")]


def test_a_host_that_shows_all_its_hcas_without_it_contradicts_it() -> None:
    seen = [SeenGuid(THREE, "gpu001 mlx5_0", "gpu001"), SeenGuid(TWO, "gpu001 mlx5_1", "gpu001")]
    judged = judge_guids([record("gpu001", guid(), guid(TWO, "ib1"))], seen)
    assert [(one.part, one.verdict) for one in judged] == [
        ("ib0", Verdict.CONTRADICTED),
        ("ib1", Verdict.CONFIRMED),
    ]


def test_of_a_host_that_shows_some_of_its_hcas_or_none_nothing_is_known() -> None:
    nodes = [record("gpu001", guid(), guid(TWO, "ib1")), record("gpu002", guid(THREE))]
    judged = judge_guids(nodes, [SeenGuid(TWO, "gpu001 mlx5_1", "gpu001")])
    assert [(one.node, one.verdict, one.why) for one in judged] == [
        ("gpu001", Verdict.NOT_SEEN, "gpu001 shows 1 of 2 HCAs"),
        ("gpu001", Verdict.CONFIRMED, "gpu001 mlx5_1"),
        ("gpu002", Verdict.NOT_SEEN, "no HCA of gpu002 was seen by name"),
    ]


def test_two_guids_of_one_hca_count_as_one_hca() -> None:
    seen = [SeenGuid(THREE, "gpu001", "gpu001", "hca"), SeenGuid("0x1", "gpu001", "gpu001", "hca")]
    judged = judge_guids([record("gpu001", guid(), guid(TWO, "ib1"))], seen)
    assert {one.verdict for one in judged} == {Verdict.NOT_SEEN}


def test_guids_that_were_read_are_not_judged() -> None:
    assert judge_guids([record("gpu001", guid(source="ibstat"))], []) == []


def mac(value: str, part: str = "eth0") -> Fact:
    return Fact(MAC, value, part, "redfish")


def test_an_identity_of_two_nodes_is_given_to_neither() -> None:
    shared = mac("02:00:00:00:00:01")
    plan, clashes = plan_identities({"gpu001": [shared], "gpu002": [shared]}, {}, ["gpu001", "gpu002"])
    assert [telling.facts for telling in plan] == [(), ()]
    assert clashes == [Clash(ClashKind.DUPLICATE, shared, (("gpu001", "eth0"), ("gpu002", "eth0")), None)]


def test_whoever_had_it_keeps_it() -> None:
    shared = mac("02:00:00:00:00:01")
    holder = Holder("gpu002", "eth0", "redfish")
    plan, _ = plan_identities({"gpu001": [shared], "gpu002": [shared]}, {(MAC, shared.value): holder}, [])
    assert {telling.node: telling.facts for telling in plan} == {"gpu001": (), "gpu002": (shared,)}


def test_it_moves_from_a_node_that_was_read_and_no_longer_shows_it() -> None:
    one = mac("02:00:00:00:00:01")
    held_by = {(MAC, one.value): Holder("gpu002", "eth9", "redfish")}
    told = {"gpu001": [one], "gpu002": []}
    plan, (clash,) = plan_identities(told, held_by, ["gpu001", "gpu002"])
    assert (plan[0].facts, dict(plan[0].takes)) == ((one,), {(MAC, one.value): "gpu002"})
    assert clash.kind is ClashKind.MOVED
    plan, (clash,) = plan_identities(told, held_by, ["gpu001"])  # gpu002 was read in part
    assert (plan[0].facts, clash.kind) == ((), ClashKind.ELSEWHERE)


def test_a_derived_guid_is_never_taken_from_a_node_that_shows_it() -> None:
    holder = {(GUID, ONE): Holder("gpu002", "ib0", "ibstat")}
    plan, (clash,) = plan_identities({"gpu001": [guid()], "gpu002": []}, holder, ["gpu001", "gpu002"])
    assert (plan[0].facts, clash.kind) == ((), ClashKind.ELSEWHERE)
