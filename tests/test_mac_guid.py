"""MACs, GUIDs and what turns one into the other, against published pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.guid import parse_guid
from fabricctl.mac import (
    guid_of_mac,
    mac_of_guid,
    next_mac,
    parse_hardware_address,
    parse_mac,
)

PUBLISHED = [
    ("b8:3f:d2:a4:1b:d2", "0xb83fd20300a41bd2"),  # a ConnectX-6 in slot 7 of the R750 of the captures
    ("a0:88:c2:46:0c:68", "0xa088c20300460c68"),  # NVIDIA site explorer: base MAC and base GUID of one card
    ("b8:3f:d2:a4:1b:d3", "0xb83fd20300a41bd3"),  # port 2 of the first: MAC and GUID plus one
]
octets = st.binary(min_size=6, max_size=6).filter(lambda raw: not raw[0] & 1 and any(raw))


@pytest.mark.parametrize(
    "text",
    [
        "0c:42:a1:00:12:ef",
        "0C:42:A1:00:12:EF",
        "0c-42-a1-00-12-ef",
        "0C-42-A1-00-12-EF",
        "0c42.a100.12ef",
        "0C42A10012EF",
    ],
)
def test_six_spellings_of_one_mac(text: str) -> None:
    assert parse_mac(text) == "0c:42:a1:00:12:ef"


@pytest.mark.parametrize(
    "text", ["0xb83fd20300a41bd2", "b83fd20300a41bd2", "b8:3f:d2:03:00:a4:1b:d2", "b83f:d203:00a4:1bd2"]
)
def test_four_spellings_of_one_guid(text: str) -> None:
    assert parse_guid(text) == parse_guid(text.upper().replace("0X", "0x")) == "0xb83fd20300a41bd2"


@pytest.mark.parametrize(("mac", "guid"), PUBLISHED)
def test_published_pairs_of_mac_and_guid(mac: str, guid: str) -> None:
    made = guid_of_mac(mac.upper())
    back = mac_of_guid(guid)
    assert made is not None
    assert back is not None
    assert (made.value, back.value) == (guid, mac)
    assert mac in made.rule
    assert guid in back.rule


def test_port_two_has_the_next_mac() -> None:
    assert next_mac("b8:3f:d2:a4:1b:d2") == "b8:3f:d2:a4:1b:d3"
    assert next_mac("ff:ff:ff:ff:ff:ff") == "00:00:00:00:00:00"


@given(octets)
def test_a_mac_comes_back_from_its_guid(raw: bytes) -> None:
    mac = ":".join(f"{octet:02x}" for octet in raw)
    made = guid_of_mac(mac)
    assert made is not None
    back = mac_of_guid(made.value)
    assert back is not None
    assert back.value == mac
    assert made.value[2:8] + made.value[12:] == raw.hex()


@pytest.mark.parametrize("text", ["00:00:00:00:00:00", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", "", "x"])
def test_what_is_no_cards_mac_has_no_guid(text: str) -> None:
    assert guid_of_mac(text) is None


@pytest.mark.parametrize("text", ["0x9c0591030a000500", "0xb83fd2fffea41bd2", "", "zz"])
def test_a_guid_not_made_by_the_rule_has_no_mac(text: str) -> None:
    assert mac_of_guid(text) is None


def test_a_hardware_address_of_ipoib_holds_the_guid() -> None:
    # RFC 4391, 9.1.1: a reserved octet, 24 bits of queue pair, then the GID
    found = parse_hardware_address("80:00:00:48:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:a4:1b:d2")
    assert found is not None
    assert (found.queue_pair, found.subnet_prefix, found.guid) == (
        0x48,
        "0xfe80000000000000",
        "0xb83fd20300a41bd2",
    )


@given(st.binary(min_size=20, max_size=20), st.sampled_from([":", "-", ""]), st.booleans())
def test_every_written_form_of_a_hardware_address_is_one(raw: bytes, joint: str, upper: bool) -> None:
    text = joint.join(f"{octet:02x}" for octet in raw)
    found = parse_hardware_address(text.upper() if upper else text)
    assert found is not None
    assert found.guid == f"0x{raw[12:].hex()}"
    assert found.subnet_prefix == f"0x{raw[4:12].hex()}"
    assert found.queue_pair == int.from_bytes(raw[1:4], "big")


@pytest.mark.parametrize(
    "text", ["", "b8:3f:d2:a4:1b:d2", "80:00:00:48:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:a4:1b"]
)
def test_what_is_no_hardware_address_is_none(text: str) -> None:
    assert parse_hardware_address(text) is None


@given(st.text(max_size=64))
def test_no_parser_crashes_on_any_text(text: str) -> None:
    for parse in (parse_mac, parse_guid, parse_hardware_address, guid_of_mac, mac_of_guid):
        parse(text)
