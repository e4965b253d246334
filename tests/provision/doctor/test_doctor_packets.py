"""Bytes on the wire against the RFCs' own numbers, and against whatever may come back."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.mac import Mac
from provision.probes import ntp_packet
from provision.probes.dhcp_packet import COOKIE, discover, read_reply

MAC = Mac("02:00:00:aa:00:01")


def options_of(packet: bytes) -> dict[int, bytes]:
    found, at = {}, 240
    while packet[at] != 255:
        code, length = packet[at], packet[at + 1]
        found[code] = packet[at + 2 : at + 2 + length]
        at += 2 + length
    return found


def offer(options: bytes, *, file: bytes = b"", sname: bytes = b"", op: int = 2) -> bytes:
    """An offer laid out by hand after RFC 2131, figure 1: 192.0.2.51, next server 192.0.2.1."""
    head = struct.pack("!BBBBIHH", op, 1, 6, 0, 7, 0, 0x8000)
    addresses = bytes(4) + bytes((192, 0, 2, 51)) + bytes((192, 0, 2, 1)) + bytes(4)
    hardware = bytes.fromhex("020000aa0001").ljust(16, b"\0")
    return head + addresses + hardware + sname.ljust(64, b"\0") + file.ljust(128, b"\0") + COOKIE + options


# ---- DHCP ------------------------------------------------------------------------------------------------------------


def test_a_discover_is_what_uefi_firmware_sends() -> None:
    packet = discover(MAC, 0x01020304)
    assert packet[:12] == bytes((1, 1, 6, 0, 1, 2, 3, 4, 0, 4, 0x80, 0))  # broadcast flag set
    assert packet[28:34] == bytes.fromhex("020000aa0001")
    assert packet[236:240] == bytes.fromhex("63825363")
    told = options_of(packet)
    assert told[53] == b"\x01"
    assert told[60] == b"PXEClient:Arch:00007:UNDI:003016"
    assert told[93] == b"\x00\x07"
    assert len(told[97]) == 17


def test_a_discover_asks_for_no_lease() -> None:
    told = options_of(discover(MAC, 1))
    assert 50 not in told  # requested address
    assert 54 not in told  # chosen server


def test_as_a_relay_it_names_itself_and_counts_a_hop() -> None:
    packet = discover(MAC, 1, relay="192.0.2.9")
    assert (packet[3], packet[24:28]) == (1, bytes((192, 0, 2, 9)))


def test_an_offer_is_read() -> None:
    options = bytes((53, 1, 2, 54, 4, 192, 0, 2, 1, 51, 4, 0, 0, 14, 16, 67, 5)) + b"a.efi" + b"\xff"
    reply = read_reply(offer(options), "192.0.2.1")
    assert reply is not None
    assert (reply.xid, reply.mac) == (7, MAC)
    made = reply.offer
    assert made is not None
    assert (made.server, made.address, made.next_server) == ("192.0.2.1", "192.0.2.51", "192.0.2.1")
    assert (made.bootfile, made.lease_s) == ("a.efi", 3600)


def test_without_option_67_the_boot_file_is_the_fields() -> None:
    reply = read_reply(offer(bytes((53, 1, 2, 255)), file=b"bootx64.efi"), "192.0.2.1")
    assert reply is not None
    assert reply.offer is not None
    assert (reply.offer.bootfile, reply.offer.server) == ("bootx64.efi", "192.0.2.1")


def test_options_that_go_on_in_the_file_field_are_read() -> None:
    more = bytes((67, 5)) + b"b.efi" + b"\xff"
    reply = read_reply(offer(bytes((53, 1, 2, 52, 1, 1, 255)), file=more), "192.0.2.1")
    assert reply is not None
    assert reply.offer is not None
    assert reply.offer.bootfile == "b.efi"


def test_an_ack_is_no_offer() -> None:
    reply = read_reply(offer(bytes((53, 1, 5, 255))), "192.0.2.1")
    assert reply is not None
    assert reply.offer is None


def test_a_clients_own_packet_is_no_reply() -> None:
    assert read_reply(discover(MAC, 7), "192.0.2.9") is None


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reading_of_options(data: bytes) -> None:
    read_reply(offer(data), "192.0.2.1")
    read_reply(offer(bytes((53, 1, 2, 52, 1, 3, 255)), file=data[:128], sname=data[:64]), "192.0.2.1")
    read_reply(data, "192.0.2.1")


# ---- NTP -------------------------------------------------------------------------------------------------------------

NTP_2024 = 3_913_056_000
"""2024-01-01T00:00:00Z in seconds since 1900: 45,290 days."""
UNIX_2024 = 1_704_067_200.0


def answer(first: int = 0x24, stratum: int = 2, *, seconds: int = NTP_2024, stamp: int = 99) -> bytes:
    """Version 4, mode 4; root delay 0.5 s, root dispersion 0.25 s; received and sent at the same moment."""
    head = struct.pack("!BBbbII4s", first, stratum, 6, -20, 0x8000, 0x4000, b"GPS\0")
    return head + struct.pack("!QQQQ", 0, stamp, seconds << 32, seconds << 32)


def test_the_question_is_48_bytes_of_a_version_4_client() -> None:
    assert (len(ntp_packet.ask(1)), ntp_packet.ask(1)[0]) == (48, 0x23)


def test_offset_and_delay_are_those_of_rfc_5905() -> None:
    found = ntp_packet.read(answer(), 99, UNIX_2024 - 10.2, UNIX_2024 - 9.8)
    assert found is not None
    assert found.offset_s == pytest.approx(10.0)
    assert found.delay_s == pytest.approx(0.4)
    assert (found.root_delay_s, found.root_dispersion_s) == (0.5, 0.25)
    assert found.root_distance_s == pytest.approx(0.7)


@pytest.mark.parametrize("seconds", [4_294_967_295, 0, 100])
def test_the_era_that_begins_in_2036_is_the_nearest(seconds: int) -> None:
    # 2036-02-07T06:28:16Z is second 0 of era 1 (RFC 5905, figure 4)
    near = 2_085_978_496.0
    found = ntp_packet.read(answer(seconds=seconds), 99, near, near)
    assert found is not None
    assert abs(found.offset_s) <= 101


def test_an_answer_to_another_question_is_none() -> None:
    assert ntp_packet.read(answer(stamp=98), 99, UNIX_2024, UNIX_2024) is None


def test_a_kiss_of_death_keeps_its_code() -> None:
    packet = bytearray(answer(0xE4, 0))
    packet[12:16] = b"RATE"
    found = ntp_packet.read(bytes(packet), 99, UNIX_2024, UNIX_2024)
    assert found is not None
    assert (found.leap, found.stratum, found.reference) == (3, 0, "RATE")


@given(st.binary(max_size=60))
def test_no_bytes_break_the_reading_of_the_time(data: bytes) -> None:
    ntp_packet.read(data, 0, UNIX_2024, UNIX_2024)
    ntp_packet.read(b"\x24" + data.ljust(60, b"\0"), int.from_bytes(data[23:31]), UNIX_2024, UNIX_2024)
