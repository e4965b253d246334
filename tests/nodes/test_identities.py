"""Identities: canonical forms, sources, and what a replaced part leaves behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import UsageError
from fabricctl.mac import parse_mac
from fabricctl.nodes.identities import merge_facts
from fabricctl.nodes.model import Fact, Identity, IdentityKind, make_fact
from tests.store.stores import at

MAC, GUID, TAG, SERIAL = IdentityKind.MAC, IdentityKind.GUID, IdentityKind.SERVICE_TAG, IdentityKind.SERIAL


@given(st.binary(min_size=6, max_size=6), st.booleans())
def test_every_written_form_of_a_mac_is_one(raw: bytes, upper: bool) -> None:
    canonical = ":".join(f"{byte:02x}" for byte in raw)
    digits = raw.hex()
    dotted = ".".join(digits[i : i + 4] for i in (0, 4, 8))
    for text in (canonical, canonical.replace(":", "-"), dotted, digits):
        assert parse_mac(f" {text.upper() if upper else text} ") == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0c:42:a1:00:12",
        "0c:42:a1:00:12:ef:00",
        "0c:42-a1:00:12:ef",
        "0c42.a100.12eg",
        "0x0c42a10012ef",
        "0c42a10012e",
    ],
)
def test_what_is_no_mac_is_none(text: str) -> None:
    assert parse_mac(text) is None


@given(st.text(max_size=24))
def test_the_mac_parser_never_crashes(text: str) -> None:
    found = parse_mac(text)
    assert found is None or parse_mac(found) == found


@pytest.mark.parametrize(
    ("kind", "text", "part", "value"),
    [
        (MAC, "bmc=0C42.A100.12EF", "bmc", "0c:42:a1:00:12:ef"),
        (GUID, "mlx5_0=c42a10300b3c4d5", "mlx5_0", "0x0c42a10300b3c4d5"),
        (TAG, "7xk4qz3", "", "7XK4QZ3"),
        (SERIAL, "mlx5_0=MT2243x00123", "mlx5_0", "MT2243X00123"),
    ],
)
def test_an_identity_is_kept_in_its_canonical_form(
    kind: IdentityKind, text: str, part: str, value: str
) -> None:
    fact = make_fact(kind, text)
    assert (fact.part, fact.value, fact.source) == (part, value, "operator")


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (MAC, "eth0=12", "'12' is no MAC; expected six pairs"),
        (GUID, "zz", "is no GUID"),
        (TAG, "two words", "is no service tag"),
        (SERIAL, "=X", "names no part"),
        (SERIAL, "", "is no serial"),
    ],
)
def test_what_is_no_identity_is_refused_with_what_was_expected(
    kind: IdentityKind, text: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        make_fact(kind, text)


def _held(*facts: Fact) -> list[Identity]:
    return [Identity(fact, at(0), at(0)) for fact in facts]


def test_a_replaced_card_keeps_the_old_guid_with_its_end() -> None:
    old, new = Fact(GUID, "0x1", "mlx5_0"), Fact(GUID, "0x2", "mlx5_0", "redfish")
    merge = merge_facts(_held(old), [new], at(5))
    assert [(i.fact, i.since) for i in merge.added] == [(new, at(5))]
    assert [(i.fact, i.until) for i in merge.ended] == [(old, at(5))]


def test_a_service_tag_is_one_and_macs_without_a_part_are_many() -> None:
    held = _held(Fact(TAG, "A"), Fact(MAC, "m1"))
    merge = merge_facts(held, [Fact(TAG, "B"), Fact(MAC, "m2")], at(1))
    assert {i.fact.value for i in merge.added} == {"B", "m2"}
    assert {i.fact.value for i in merge.ended} == {"A"}


def test_the_same_again_is_confirmed_and_changes_nothing() -> None:
    held = _held(Fact(TAG, "A"), Fact(MAC, "m1", "eth0"))
    merge = merge_facts(held, [Fact(TAG, "A", source="redfish"), Fact(MAC, "m1")], at(9))
    assert (merge.added, merge.ended) == ((), ())
    assert {(i.fact.value, i.since, i.confirmed, i.fact.source) for i in merge.confirmed} == {
        ("A", at(0), at(9), "operator"),
        ("m1", at(0), at(9), "operator"),
    }


def test_a_part_told_later_takes_the_place_of_the_vague_one() -> None:
    merge = merge_facts(_held(Fact(MAC, "m1")), [Fact(MAC, "m1", "eth0", "redfish")], at(2))
    assert [i.fact.part for i in merge.added] == ["eth0"]
    assert [i.fact.part for i in merge.ended] == [""]


FACTS = st.builds(
    Fact,
    st.sampled_from(list(IdentityKind)),
    st.sampled_from(["v1", "v2", "v3"]),
    st.sampled_from(["", "mlx5_0", "bmc"]),
    st.sampled_from(["operator", "redfish"]),
)


@given(st.lists(FACTS, max_size=6), st.lists(FACTS, max_size=6))
def test_a_value_holds_once_and_a_part_has_one_value(a: list[Fact], b: list[Fact]) -> None:
    held: list[Identity] = []
    for hour, facts in enumerate((a, b)):
        merge = merge_facts(held, facts, at(hour))
        changed = [(i.fact, i.since) for i in (*merge.ended, *merge.confirmed)]
        kept = [i for i in held if i.until is not None or (i.fact, i.since) not in changed]
        held = [*kept, *merge.ended, *merge.confirmed, *merge.added]
        now = [i.fact for i in held if i.until is None]
        assert len({(f.kind, f.value) for f in now}) == len(now)
        named = [(f.kind, f.part) for f in now if f.part or f.kind in (TAG, SERIAL)]
        assert len(set(named)) == len(named)
        assert {(f.kind, f.value) for f in facts} >= {(i.fact.kind, i.fact.value) for i in merge.added}
