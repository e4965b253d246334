"""What is said of what was seen on the network, role by role."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabricctl.mac import Mac
from provision.install.doctor import Verdict
from provision.install.doctor_dhcp import judge_dhcp
from provision.install.doctor_network import judge_dns, judge_metadata, judge_ntp, judge_proxy, judge_reverse
from provision.install.doctor_seen import (
    DhcpSeen,
    DnsSeen,
    HttpSeen,
    NoAnswer,
    NtpSeen,
    Offer,
    ProxySeen,
    Why,
)

MAC = Mac("02:00:00:aa:00:01")
RACK = "192.0.2.1"
OFFER = Offer(RACK, RACK, "192.0.2.51", RACK, "bootx64.efi")
DOWN = NoAnswer(Why.REFUSED, "connection refused")
NO_WAY = NoAnswer(Why.UNREACHABLE, "network is unreachable")


def of(*verdicts: Verdict) -> list[tuple[str, str]]:
    return [(one.result.value, one.kind) for one in verdicts]


OK = ("ok", "")

# ---- DHCP ------------------------------------------------------------------------------------------------------------


def dhcp(*offers: Offer, servers: tuple[str, ...] = (RACK,), sure: bool = True) -> list[Verdict]:
    seen = DhcpSeen(MAC, "by broadcast on eth0", offers, 4)
    return judge_dhcp(seen, mac=MAC, host="gpu001", way="by broadcast on eth0", servers=servers, sure=sure)


def test_the_right_server_with_a_boot_file_is_ok() -> None:
    assert of(*dhcp(OFFER)) == [OK]


def test_silence_of_dhcp_is_a_finding_that_says_what_was_asked_and_what_to_do() -> None:
    (verdict,) = dhcp()
    assert of(verdict) == [("finding", "dhcp-silent")]
    assert verdict.text == (
        "a DHCPDISCOVER of gpu001 (02:00:00:aa:00:01, PXE over UEFI x64), by broadcast on eth0: expected an offer of "
        "192.0.2.1 with next server and boot file, found no offer in 4 s; is dhcpd running on the rack controller, is "
        "DHCP switched on for this VLAN in MAAS, and does a relay stand where the subnets differ?"
    )


def test_silence_towards_a_relay_in_a_network_that_may_not_be_served_could_not_tell() -> None:
    assert of(*dhcp(sure=False)) == [("could not tell", "dhcp-unknown")]


def test_a_second_server_is_a_finding_beside_the_right_one() -> None:
    rogue = Offer("192.0.2.66", "192.0.2.66", "192.0.2.51", "192.0.2.66", "evil.efi")
    ours, theirs = dhcp(OFFER, rogue)
    assert of(ours, theirs) == [OK, ("finding", "dhcp-rogue")]
    assert theirs.subject == "192.0.2.66"


def test_two_servers_are_a_finding_also_when_nobody_knows_the_right_one() -> None:
    rogue = replace(OFFER, server="192.0.2.66", sender="192.0.2.66")
    assert ("finding", "dhcp-rogue") in of(*dhcp(OFFER, rogue, servers=()))


def test_both_racks_of_a_pair_may_answer() -> None:
    other = replace(OFFER, server="192.0.2.2", sender="192.0.2.2", next_server="192.0.2.2")
    assert of(*dhcp(OFFER, other, servers=(RACK, "192.0.2.2"))) == [OK]


def test_only_a_stranger_answers() -> None:
    rogue = replace(OFFER, server="192.0.2.66", sender="192.0.2.66")
    assert of(*dhcp(rogue)) == [("finding", "dhcp-silent"), ("finding", "dhcp-rogue")]


@pytest.mark.parametrize("lame", [replace(OFFER, bootfile=""), replace(OFFER, next_server="")])
def test_an_offer_that_boots_nothing_is_a_finding(lame: Offer) -> None:
    assert of(*dhcp(lame)) == [("finding", "dhcp-no-boot")]


def test_a_next_server_that_is_not_maass_is_a_finding() -> None:
    assert of(*dhcp(replace(OFFER, next_server="192.0.2.99"))) == [("finding", "dhcp-next-server")]


def test_without_rights_dhcp_could_not_tell() -> None:
    seen = NoAnswer(Why.FORBIDDEN, "only root may send it")
    assert of(*judge_dhcp(seen, mac=MAC, host="h", way="w", servers=())) == [
        ("could not tell", "dhcp-unknown")
    ]


# ---- DNS -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (DnsSeen("gpu001.maas", "A", "NOERROR", ("192.0.2.51",)), OK),
        (DnsSeen("gpu001.maas", "A", "NOERROR", ("192.0.2.51", "192.0.2.52")), OK),
        (DnsSeen("gpu001.maas", "A", "NOERROR", ("192.0.2.99",)), ("finding", "dns-other-address")),
        (DnsSeen("gpu001.maas", "A", "NXDOMAIN"), ("finding", "dns-missing")),
        (DnsSeen("gpu001.maas", "A", "NOERROR"), ("finding", "dns-missing")),
        (DnsSeen("gpu001.maas", "A", "REFUSED"), ("finding", "dns-error")),
        (DOWN, ("finding", "dns-down")),
        (NoAnswer(Why.SILENT, "no answer"), ("finding", "dns-down")),
        (NoAnswer(Why.GARBLED, "no answer of DNS"), ("finding", "dns-garbled")),
        (NO_WAY, ("could not tell", "dns-unknown")),
    ],
)
def test_the_address_of_a_host(seen: DnsSeen | NoAnswer, expected: tuple[str, str]) -> None:
    assert of(judge_dns(seen, server=RACK, name="gpu001.maas", expected=["192.0.2.51"])) == [expected]


def test_the_same_ipv6_address_written_otherwise_is_the_same() -> None:
    seen = DnsSeen("gpu001.maas", "AAAA", "NOERROR", ("2001:db8::51",))
    assert of(judge_dns(seen, server=RACK, name="gpu001.maas", expected=["2001:db8:0:0::51"])) == [OK]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (("gpu001.maas.",), OK),
        (("GPU001.maas.",), OK),
        (("gpu002.maas.",), ("finding", "dns-other-name")),
        ((), ("finding", "dns-missing")),
    ],
)
def test_the_name_of_an_address(answers: tuple[str, ...], expected: tuple[str, str]) -> None:
    seen = DnsSeen("51.2.0.192.in-addr.arpa.", "PTR", "NOERROR", answers)
    assert of(judge_reverse(seen, server=RACK, address="192.0.2.51", name="gpu001.maas")) == [expected]


# ---- NTP -------------------------------------------------------------------------------------------------------------

GOOD = NtpSeen(0.01, 0.002, 0, 2, 0.01, 0.02)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (GOOD, OK),
        (replace(GOOD, leap=3), ("finding", "ntp-unsynchronised")),
        (replace(GOOD, stratum=16), ("finding", "ntp-unsynchronised")),
        (replace(GOOD, leap=3, stratum=0), ("finding", "ntp-unsynchronised")),
        (replace(GOOD, leap=3, stratum=0, reference="RATE"), ("finding", "ntp-refuses")),
        (replace(GOOD, offset_s=31.0), ("finding", "ntp-skew")),
        (replace(GOOD, offset_s=-31.0), ("finding", "ntp-skew")),
        (replace(GOOD, offset_s=29.9), OK),
        (replace(GOOD, offset_s=30.4, delay_s=1.0), OK),  # within what the round trip leaves open
        (replace(GOOD, root_dispersion_s=40.0), ("finding", "ntp-unsure")),
        (DOWN, ("finding", "ntp-down")),
        (NO_WAY, ("could not tell", "ntp-unknown")),
    ],
)
def test_the_time(seen: NtpSeen | NoAnswer, expected: tuple[str, str]) -> None:
    assert of(judge_ntp(seen, server=RACK, max_skew_s=30)) == [expected]


# ---- HTTP ------------------------------------------------------------------------------------------------------------

PAGE = "http://archive.example/ubuntu/dists/jammy/Release"


def page(status: int = 200, body: str = "Suite: jammy\nCodename: jammy\n") -> HttpSeen:
    return HttpSeen(PAGE, status, body)


@pytest.mark.parametrize(
    ("through", "direct", "expected"),
    [
        (page(), None, OK),
        (page(body="<html>log in first</html>"), None, ("finding", "proxy-other-page")),
        (page(body="Suite: jammy-updates\n"), None, OK),
        (page(403), None, ("finding", "proxy-forbids")),
        (page(502), page(), ("finding", "proxy-way-out")),
        (page(502), DOWN, ("finding", "proxy-upstream")),
        (page(404), page(404), ("finding", "proxy-upstream")),
        (DOWN, None, ("finding", "proxy-down")),
        (NoAnswer(Why.UNNAMED, "cannot resolve"), None, ("could not tell", "proxy-unknown")),
    ],
)
def test_the_proxy_is_told_apart_from_the_archive_behind_it(
    through: HttpSeen | NoAnswer, direct: HttpSeen | NoAnswer | None, expected: tuple[str, str]
) -> None:
    seen = ProxySeen("http://192.0.2.1:8000", PAGE, through, direct)
    assert of(judge_proxy(seen, series="jammy")) == [expected]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (HttpSeen("u", 401, "", {"www-authenticate": 'OAuth realm="OAuth"'}), OK),
        (HttpSeen("u", 200, "2012-03-01\nlatest"), OK),
        (HttpSeen("u", 401, "", {"www-authenticate": "Basic"}), ("finding", "metadata-other-service")),
        (HttpSeen("u", 404, "Not Found"), ("finding", "metadata-other-service")),
        (HttpSeen("u", 200, "<html>nginx</html>"), ("finding", "metadata-other-service")),
        (HttpSeen("u", 502, "Bad Gateway"), ("finding", "metadata-broken")),
        (DOWN, ("finding", "metadata-down")),
        (NoAnswer(Why.UNTRUSTED, "its certificate is not vouched for"), ("finding", "metadata-down")),
    ],
)
def test_the_metadata_service(seen: HttpSeen | NoAnswer, expected: tuple[str, str]) -> None:
    assert of(judge_metadata(seen, url="u")) == [expected]
