"""Each probe against a real server: dnsmasq, chronyd, tinyproxy; one of them stopped or wrong at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

from fabricctl.mac import Mac
from provision.install.doctor import Verdict
from provision.install.doctor_dhcp import judge_dhcp
from provision.install.doctor_network import judge_dns, judge_ntp, judge_proxy, judge_reverse
from provision.install.doctor_seen import DhcpSeen, NoAnswer, Why
from provision.probes.dhcp import Way, ask_dhcp
from provision.probes.http import ask_proxy, get
from provision.probes.name_server import ask_name, ask_reverse
from provision.probes.ntp import ask_ntp
from tests.sim.roles import CLIENT, DOMAIN, INTERFACE, PAGE, PROXY, ROGUE, SERVER, Roles
from tests.sim.roles import missing as missing_for_roles

pytestmark = pytest.mark.slow

MACHINES = {"gpu001": Mac("02:00:00:aa:00:01"), "gpu002": Mac("02:00:00:aa:00:02")}
BROADCAST, RELAY = Way(INTERFACE), Way(server=SERVER)


@pytest.fixture(scope="module")
def network() -> Iterator[Roles]:
    absent = missing_for_roles() + ([] if os.geteuid() == 0 else ["root"])
    if absent and os.environ.get("REQUIRE_TOOLS") != "1":
        pytest.skip(f"tools not installed: {', '.join(absent)}")
    with Roles(MACHINES) as running:
        yield running


@pytest.fixture
def roles(network: Roles) -> Iterator[Roles]:
    """The network with every server as it should be, again after each test."""
    yield network
    network.restore()


def dhcp(roles: Roles, way: Way = BROADCAST, host: str = "gpu001") -> list[Verdict]:
    mac = MACHINES[host]
    seen = roles.inside(lambda: ask_dhcp(mac, way, xid=7, window_s=0.6))
    return judge_dhcp(seen, mac=mac, host=host, way=way.words, servers=[SERVER])


def dns(roles: Roles, host: str = "gpu001") -> list[Verdict]:
    name, address = f"{host}.{DOMAIN}", roles.address(host)
    seen = roles.inside(lambda: ask_name(SERVER, name, answer_s=0.3))
    back = roles.inside(lambda: ask_reverse(SERVER, address, answer_s=0.3))
    return [
        judge_dns(seen, server=SERVER, name=name, expected=[address]),
        judge_reverse(back, server=SERVER, address=address, name=name),
    ]


def ntp(roles: Roles, ahead_s: float = 0.0) -> list[Verdict]:
    """:param ahead_s: how far this machine's clock is ahead of the server's."""
    seen = roles.inside(lambda: ask_ntp(SERVER, answer_s=0.5, now=lambda: time.time() + ahead_s))
    return [judge_ntp(seen, server=SERVER, max_skew_s=30)]


def proxy(roles: Roles) -> list[Verdict]:
    seen = roles.inside(lambda: ask_proxy(PROXY, PAGE, answer_s=8))
    return [judge_proxy(seen, series="jammy")]


def kinds(verdicts: list[Verdict]) -> list[str]:
    return [one.kind or "ok" for one in verdicts]


ASK: dict[str, Callable[[Roles], list[Verdict]]] = {"dhcp": dhcp, "dns": dns, "ntp": ntp, "proxy": proxy}


def test_all_are_ok_when_all_run(roles: Roles) -> None:
    assert {role: set(kinds(ask(roles))) for role, ask in ASK.items()} == {role: {"ok"} for role in ASK}


@pytest.mark.parametrize(
    ("stopped", "kind"),
    [("dhcp", "dhcp-silent"), ("dns", "dns-down"), ("ntp", "ntp-down"), ("proxy", "proxy-down")],
)
def test_the_one_that_is_stopped_is_named_and_no_other(roles: Roles, stopped: str, kind: str) -> None:
    roles.stop(stopped)
    told = {role: set(kinds(ask(roles))) for role, ask in ASK.items()}
    assert told == {**{role: {"ok"} for role in ASK}, stopped: {kind}}


# ---- DHCP ------------------------------------------------------------------------------------------------------------


def test_a_known_machine_is_offered_its_own_address_by_broadcast_and_through_a_relay(roles: Roles) -> None:
    for way in (BROADCAST, RELAY):
        seen = roles.inside(lambda way=way: ask_dhcp(MACHINES["gpu002"], way, xid=9, window_s=0.6))  # type: ignore[misc]
        assert isinstance(seen, DhcpSeen)
        (offer,) = seen.offers
        assert (offer.server, offer.address) == (SERVER, roles.address("gpu002"))
        assert (offer.next_server, offer.bootfile) == (SERVER, "bootx64.efi")


def test_no_lease_is_taken(roles: Roles) -> None:
    dhcp(roles)
    log = roles.log("dhcp")
    assert "DHCPOFFER" in log
    assert "DHCPREQUEST" not in log
    assert "DHCPACK" not in log


def test_the_server_takes_it_for_a_machine_that_boots_by_uefi(roles: Roles) -> None:
    dhcp(roles)
    assert "vendor class: PXEClient:Arch:00007:UNDI:003016" in roles.log("dhcp")


def test_a_second_server_is_named_by_its_address(roles: Roles) -> None:
    roles.start("rogue")
    verdicts = dhcp(roles)
    assert kinds(verdicts) == ["ok", "dhcp-rogue"]
    assert verdicts[1].subject == ROGUE
    assert "evil.efi" in verdicts[1].found


def test_an_offer_without_a_boot_file_is_named(roles: Roles) -> None:
    roles.start("dhcp", boot=False)
    assert kinds(dhcp(roles)) == ["dhcp-no-boot"]


def test_an_interface_that_is_not_there_could_not_tell(roles: Roles) -> None:
    assert kinds(dhcp(roles, Way("eth7"))) == ["dhcp-unknown"]


# ---- DNS -------------------------------------------------------------------------------------------------------------


def test_another_address_is_named(roles: Roles) -> None:
    roles.start("dns", wrong="192.0.2.99")
    assert kinds(dns(roles)) == ["dns-other-address", "dns-missing"]


def test_a_host_that_dns_does_not_know_is_named(roles: Roles) -> None:
    seen = roles.inside(lambda: ask_name(SERVER, f"gpu511.{DOMAIN}", answer_s=0.3))
    verdict = judge_dns(seen, server=SERVER, name="gpu511", expected=["192.0.2.200"])
    assert kinds([verdict]) == ["dns-missing"]


def test_an_answer_too_long_for_a_datagram_comes_over_tcp(roles: Roles) -> None:
    seen = roles.inside(lambda: ask_name(SERVER, f"long.{DOMAIN}", "TXT", answer_s=0.5))
    assert not isinstance(seen, NoAnswer)
    assert seen.tcp
    assert len(seen.answers) == 12


# ---- NTP -------------------------------------------------------------------------------------------------------------


def test_a_server_that_is_not_synchronised_is_named(roles: Roles) -> None:
    roles.start("ntp", synchronised=False)
    assert kinds(ntp(roles)) == ["ntp-unsynchronised"]


@pytest.mark.parametrize("ahead_s", [-3600.0, 3600.0])
def test_a_clock_that_is_off_is_named(roles: Roles, ahead_s: float) -> None:
    (verdict,) = ntp(roles, ahead_s)
    assert verdict.kind == "ntp-skew"
    assert ("ahead of" if ahead_s < 0 else "behind") in verdict.found


# ---- HTTP ------------------------------------------------------------------------------------------------------------


def test_a_proxy_is_told_apart_from_an_archive_that_is_down(roles: Roles) -> None:
    roles.stop("upstream")
    assert kinds(proxy(roles)) == ["proxy-upstream"]


def test_a_proxy_that_lets_us_not_through_is_named(roles: Roles) -> None:
    roles.start("proxy", allow="198.51.100.0/24")
    assert kinds(proxy(roles)) == ["proxy-forbids"]


def test_a_page_that_is_no_release_file_is_named(roles: Roles) -> None:
    roles.start("upstream", page="<html>accept the terms of use</html>")
    assert kinds(proxy(roles)) == ["proxy-other-page"]


def test_an_address_without_a_way_says_nothing_of_the_server(roles: Roles) -> None:
    seen = roles.inside(lambda: get("http://198.51.100.7/", answer_s=2))
    assert isinstance(seen, NoAnswer)
    assert seen.why is Why.UNREACHABLE


def test_the_lab_is_what_it_says(roles: Roles) -> None:
    assert CLIENT != SERVER
    assert roles.inside(lambda: get(PAGE, answer_s=2))
