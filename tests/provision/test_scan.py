"""Who answers at BMC addresses: crossed cables of any length, strangers, doubles, the silent."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fabricctl.errors import UsageError
from provision.bmc.scan import Answer, Comparison, Sight, compare
from provision.bmc.service_root import Claim, claim_of
from provision.bmc.target import Target
from provision.workflows.scan import network_questions, parse_network, tag_lines
from tests.conftest import captures_root

HOSTS = ["gpu001", "gpu002", "gpu003", "gpu004"]
TAGS = dict(zip(HOSTS, ["AAAAAA1", "AAAAAA2", "AAAAAA3", "AAAAAA4"], strict=True))
OWNERS = {tag: host for host, tag in TAGS.items()}


def sight(host: str, found: str, tag: str | None = None, address: str = "") -> Sight:
    where = address or f"192.0.2.{host[-1]}"
    return Sight(where, host, TAGS.get(host, "") if tag is None else tag, claim=Claim(found))


def kinds(seen: Comparison) -> list[str]:
    return [finding.kind for finding in seen.findings]


def test_where_everybody_is_at_home_nothing_is_said() -> None:
    seen = compare([sight(host, tag) for host, tag in TAGS.items()], OWNERS)
    assert (seen.findings, seen.doubts, dict(seen.learned)) == ((), (), {})


def test_two_crossed_cables_are_one_finding_that_names_both() -> None:
    found = ["AAAAAA2", "AAAAAA1", "AAAAAA3", "AAAAAA4"]
    seen = compare([sight(host, tag) for host, tag in zip(HOSTS, found, strict=True)], OWNERS)
    assert kinds(seen) == ["bmc-crossed"]
    assert seen.findings[0].text.startswith(
        "BMC cables of gpu001 and gpu002 are crossed: AAAAAA2 (gpu002) answers at 192.0.2.1, and AAAAAA1 (gpu001) at "
        "192.0.2.2"
    )


def test_a_ring_of_three_is_one_finding_with_its_order() -> None:
    found = ["AAAAAA2", "AAAAAA3", "AAAAAA1", "AAAAAA4"]
    seen = compare([sight(host, tag) for host, tag in zip(HOSTS, found, strict=True)], OWNERS)
    assert [(one.kind, one.part) for one in seen.findings] == [("bmc-crossed", "gpu001,gpu002,gpu003")]
    assert (
        "crossed in a ring: at gpu001 (192.0.2.1) answers AAAAAA2 (gpu002); at gpu002"
        in seen.findings[0].text
    )


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_every_way_to_cross_four_cables_is_told_by_its_rings(order: tuple[int, ...]) -> None:
    found = [TAGS[HOSTS[at]] for at in order]
    seen = compare([sight(host, tag) for host, tag in zip(HOSTS, found, strict=True)], OWNERS)
    left, rings = {at for at in range(4) if order[at] != at}, set[frozenset[str]]()
    while left:  # rings of a permutation, counted by walking it
        at, ring = left.pop(), set[str]()
        while HOSTS[at] not in ring:
            ring.add(HOSTS[at])
            left.discard(at)
            at = order[at]
        rings.add(frozenset(ring))
    assert {frozenset(one.part.split(",")) for one in seen.findings} == rings
    assert set(kinds(seen)) <= {"bmc-crossed"}


def test_a_machine_that_answers_elsewhere_while_its_own_address_is_silent() -> None:
    silent = Sight("192.0.2.2", "gpu002", TAGS["gpu002"], answer=Answer.SILENT, text="no answer within 10 s")
    seen = compare([sight("gpu001", "AAAAAA2"), silent], OWNERS)
    assert kinds(seen) == ["bmc-elsewhere"]
    assert "at gpu001 (192.0.2.1) answers AAAAAA2, which is gpu002; expected AAAAAA1" in seen.findings[0].text
    assert "own address 192.0.2.2 no answer within 10 s" in seen.findings[0].text
    assert seen.doubts == ("gpu002: no answer within 10 s",)


def test_a_stranger_is_named_with_what_was_expected() -> None:
    seen = compare([sight("gpu001", "ZZZZZZ9")], OWNERS)
    assert kinds(seen) == ["unknown-machine"]
    assert "expected service tag AAAAAA1, found ZZZZZZ9" in seen.findings[0].text


def test_one_tag_at_two_addresses_is_a_finding_and_no_ring() -> None:
    seen = compare([sight("gpu001", "AAAAAA1"), sight("gpu002", "AAAAAA1")], OWNERS)
    assert kinds(seen) == ["tag-twice"]
    assert "answers at 2 addresses: gpu001 (192.0.2.1), gpu002 (192.0.2.2)" in seen.findings[0].text


def test_tags_the_site_lacks_are_learned_but_not_from_doubles_and_not_those_of_others() -> None:
    sights = [
        sight("gpu001", "BBBBBB1", tag=""),
        sight("gpu002", "BBBBBB2", tag=""),
        sight("gpu003", "BBBBBB2", tag=""),
        sight("gpu004", "AAAAAA1", tag=""),
    ]
    seen = compare(sights, {"AAAAAA1": "gpu009"})
    assert dict(seen.learned) == {"gpu001": "BBBBBB1"}
    assert kinds(seen) == ["tag-twice", "bmc-elsewhere"]
    assert seen.doubts == (
        "gpu[001-004]: neither site file nor node record has a service tag, so who answers was not compared",
    )


def test_a_known_machine_at_a_network_address_the_site_does_not_have() -> None:
    seen = compare([Sight("192.0.2.77", claim=Claim("AAAAAA3"))], OWNERS)
    assert [(one.kind, one.host) for one in seen.findings] == [("bmc-elsewhere", "gpu003")]
    assert "the site has nobody there" in seen.findings[0].text


def test_the_right_tag_with_another_bmc_mac_is_a_replaced_board() -> None:
    one = Sight(
        "192.0.2.1", "gpu001", "AAAAAA1", "b0:7b:25:d6:51:82", claim=Claim("AAAAAA1", "b0:7b:25:00:00:01")
    )
    seen = compare([one], OWNERS)
    assert kinds(seen) == ["bmc-replaced"]
    assert "expected MAC b0:7b:25:d6:51:82, found b0:7b:25:00:00:01" in seen.findings[0].text


def test_a_bmc_that_does_not_tell_its_tag_was_not_compared() -> None:
    seen = compare([Sight("192.0.2.1", "gpu001", "AAAAAA1", claim=Claim(vendor="AMI"))], OWNERS)
    assert seen.findings == ()
    assert seen.doubts == (
        "gpu001: the BMC tells no service tag without a login, so who answers was not compared",
    )


@given(st.lists(st.sampled_from([*TAGS.values(), "ZZZZZZ9", ""]), min_size=4, max_size=4))
def test_every_host_that_answers_wrongly_is_named(found: list[str]) -> None:
    seen = compare([sight(host, tag) for host, tag in zip(HOSTS, found, strict=True)], OWNERS)
    said = " ".join([one.text for one in seen.findings] + list(seen.doubts))
    for host, tag in zip(HOSTS, found, strict=True):
        if tag != TAGS[host]:
            assert host in said or "gpu[" in said


# what a service root tells


@pytest.mark.captures
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "dell_r750_h100_ib_idrac9_6.00.30.json",
            Claim(
                "F54P1G3", "b0:7b:25:d6:51:82", "Dell", "Integrated Dell Remote Access Controller", "1.13.1"
            ),
        ),
        (
            "nvidia_dgx_h100_8xCX7.json",
            Claim("", "", "AMI", "AMI Redfish Server", "1.11.0", "b1273e3e-bfde-1000-02bc-e9e6fb35ff5c"),
        ),
    ],
)
def test_roots_of_real_bmcs(captures: Path, name: str, wanted: Claim) -> None:
    dump = json.loads((captures_root() / "redfish" / name).read_text())
    assert claim_of(dump["/redfish/v1"]) == wanted


@pytest.mark.parametrize("body", [None, [], "x", {}, {"Systems": {}}, {"RedfishVersion": 1, "Systems": {}}])
def test_what_is_no_service_root(body: object) -> None:
    assert claim_of(body) is None


words = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=40))
NAMES = ["ServiceTag", "ManagerMACAddress"]
roots = st.fixed_dictionaries(
    {"@odata.type": st.just("#ServiceRoot.v1_10_0.ServiceRoot")},
    optional={
        "Vendor": words,
        "Product": words,
        "Oem": st.one_of(
            words,
            st.fixed_dictionaries(
                {"Dell": st.dictionaries(st.sampled_from(["ServiceTag", "ManagerMACAddress"]), words)}
            ),
        ),
    },
)


@given(roots)
def test_whatever_a_stranger_claims_its_tag_can_stand_in_a_site_file(root: dict[str, object]) -> None:
    claim = claim_of(root)
    assert claim is not None
    text = "management:\n" + "\n".join(tag_lines({"gpu001": claim.service_tag}))
    assert YAML(typ="safe", pure=True).load(text) == {
        "management": {"service_tags": {"gpu001": claim.service_tag}}
    }


@pytest.mark.parametrize("tag", ['A": x\n    evil: "', "A\x1b[31m", "<script>", "..", "7XK4 QZ3"])
def test_a_tag_that_is_none_counts_as_not_told(tag: str) -> None:
    claim = claim_of({"RedfishVersion": "1.13.1", "Systems": {}, "Oem": {"Dell": {"ServiceTag": tag}}})
    assert claim is not None
    assert claim.service_tag == ""


# networks


def test_a_network_is_asked_without_its_own_and_its_broadcast_address() -> None:
    network = parse_network("192.0.2.0/29")
    assert network is not None
    known = [Target("gpu001", "192.0.2.3", 8443, service_tag="AAAAAA1")]
    asked = network_questions(network, known, {"gpu001": "b0:7b:25:d6:51:82"}, port=443)
    assert [one.target.address for one in asked] == [f"192.0.2.{at}" for at in range(1, 7)]
    assert [(one.target.host, one.target.port, one.mac) for one in asked][2] == (
        "gpu001",
        8443,
        "b0:7b:25:d6:51:82",
    )


def test_a_20_is_scanned_and_a_19_is_not() -> None:
    for text, fits in (("192.0.0.0/20", True), ("192.0.0.0/19", False), ("2001:db8::/64", False)):
        network = parse_network(text)
        assert network is not None
        if fits:
            assert len(network_questions(network, (), {}, port=443)) == 4094
        else:
            with pytest.raises(UsageError, match=r"at most 4,096 are scanned at once.*--max-addresses"):
                network_questions(network, (), {}, port=443)


def test_a_mistyped_network_is_not_taken_for_a_host() -> None:
    assert parse_network("gpu[001-004]") is None
    assert parse_network("192.0.2.7") is not None
    with pytest.raises(UsageError, match="is no network"):
        parse_network("192.0.2.0/33")


def test_learned_tags_are_text_to_every_yaml_reader() -> None:
    learned = {"gpu001": "1234567", "gpu002": "12345E6", "gpu003": "0X12345"}
    text = "management:\n" + "\n".join(tag_lines(learned))
    assert YAML(typ="safe", pure=True).load(text) == {"management": {"service_tags": learned}}
