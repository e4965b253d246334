"""Decisions of the workflows that need no machine: addresses, deadlines, waves, boot NICs, replaced parts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.mac import Mac
from fabricctl.nodes.facts import NodeFact, StoredFact, Value
from fabricctl.nodes.model import Fact, Identity, IdentityKind
from provision.install.addresses import bmc_address
from provision.install.adoption import Choice, Known, adoption, collisions
from provision.install.boot_nics import boot_macs
from provision.install.deadlines import overdue_words, remaining
from provision.install.machine import Machine, Nic, Phase, Stage
from provision.install.replacement import replacement
from provision.install.waves import STALE_S, Watched, startable, to_read
from tests.provision.install.flow_kit import hosts_of, mac_of, spec_of

WHEN = datetime(2026, 11, 1, tzinfo=UTC)
A, B, C, D = (Mac(f"52:54:00:00:00:0{at}") for at in "abcd")


def machine(host: str, *macs: Mac, id: str = "", **more: object) -> Machine:
    nics = tuple(Nic(str(at), f"eno{at}", mac) for at, mac in enumerate(macs, 1))
    return replace(Machine(id or f"id-{host}", host, Stage.NEW, "New", nics=nics), **more)  # type: ignore[arg-type]


def known(*machines: Machine, bmc: dict[str, str] | None = None) -> Known:
    return Known({one.id: one for one in machines}, bmc or {})


# -- addresses and adoption ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("https://192.0.2.7", "192.0.2.7"),
        ("https://192.0.2.7:443/redfish", "192.0.2.7"),
        ("192.0.2.7:8443", "192.0.2.7"),
        ("2001:DB8::0001", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("https://[2001:db8::1]/", "2001:db8::1"),
        ("BMC-7.example", "bmc-7.example"),
    ],
)
def test_one_bmc_has_one_address_however_it_is_written(text: str, same: str) -> None:
    assert bmc_address(text) == same


def test_a_bmc_address_is_taken_however_the_provisioner_writes_it() -> None:
    there = machine("gpu009", A)
    decision = adoption(spec_of("gpu001"), known(there, bmc={there.id: "https://192.0.2.2:443"}))
    assert decision.words == "its BMC address 192.0.2.2 is also that of gpu009 (id-gpu009)"


def test_macs_on_two_machines_are_refused_naming_both() -> None:
    spec = spec_of("gpu001", macs=(A, B))
    decision = adoption(spec, known(machine("gpu001", A), machine("gpu002", B)))
    assert decision.choice is Choice.REFUSE
    assert "gpu001 (id-gpu001) and gpu002 (id-gpu002)" in decision.words


def test_a_name_that_another_machine_has_beside_the_mac_is_refused() -> None:
    decision = adoption(spec_of("gpu001"), known(machine("gpu001", B), machine("gpu007", mac_of("gpu001"))))
    assert decision.choice is Choice.REFUSE


@given(
    st.lists(st.tuples(st.sampled_from(hosts_of(5)), st.sampled_from(hosts_of(5))), max_size=8), st.randoms()
)
def test_collisions_of_a_request_do_not_depend_on_its_order(
    pairs: list[tuple[str, str]], dice: object
) -> None:
    specs = [spec_of(host, macs=(mac_of(other),)) for host, other in pairs]
    shuffled = list(specs)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert set(collisions(specs)) == set(collisions(shuffled))
    hosts = [host for host, _ in pairs]
    assert all(host in collisions(specs) for host in hosts if hosts.count(host) > 1)


# -- deadlines and waves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("since", "left"),
    [(None, 600.0), (0.0, 600.0), (200.0, 400.0), (600.0, 0.0), (9000.0, 0.0), (-5.0, 600.0)],
)
def test_what_is_left_of_a_phase_that_began_before(since: float | None, left: float) -> None:
    assert remaining(600, since) == left


def test_why_a_phase_was_given_up_is_one_sentence() -> None:
    words = overdue_words(Phase.DEPLOY, 3600, "Deploying")
    assert words == "deploy took longer than 60 min and is still Deploying"


@given(st.integers(0, 600), st.integers(0, 600), st.integers(1, 64), st.integers(1, 400))
def test_neither_a_wave_nor_the_limit_is_ever_exceeded(
    waiting: int, flowing: int, wave: int, at_once: int
) -> None:
    number = startable(waiting, flowing, wave=wave, at_once=at_once)
    assert 0 <= number <= min(waiting, wave)
    assert number == 0 or flowing + number <= at_once


WATCHED = st.builds(Watched, st.floats(0, 10_000), st.floats(0, 5_000), st.none() | st.floats(0, 5_000))


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), WATCHED, max_size=30), st.integers(1, 10))
def test_at_most_so_many_are_read_and_those_that_are_due_come_first(
    watched: dict[str, Watched], most: int
) -> None:
    now = 5_000.0
    ids = to_read(watched, now, most)
    assert len(ids) == len(set(ids)) <= most
    due = {id for id, one in watched.items() if one.due <= now}
    assert set(ids) <= due or len(due & set(ids)) == len(due)
    for id in ids:
        one = watched[id]
        assert one.due <= now or one.urgent is not None or now - one.read >= STALE_S


def test_nobody_is_forgotten_when_more_changed_than_may_be_read() -> None:
    watched = {f"m{at}": Watched(9e9, 0.0, float(at)) for at in range(25)}
    seen: list[str] = []
    for tick in range(3):
        ids = to_read(watched, 100.0 + tick, 10)
        seen += ids
        for id in ids:
            watched[id] = Watched(9e9, 100.0 + tick)
    assert sorted(seen) == sorted(watched)


# -- boot NICs -------------------------------------------------------------------------------------------------


def facts(part: str, **fields: Value) -> list[StoredFact]:
    return [
        StoredFact(0, NodeFact(part, f"nic.{name}", value, "redfish"), WHEN, WHEN)
        for name, value in fields.items()
    ]


def mac_identity(mac: str, part: str, until: datetime | None = None, source: str = "redfish") -> Identity:
    return Identity(Fact(IdentityKind.MAC, mac, part, source), WHEN, WHEN, until)


EMBEDDED = facts("NIC.Embedded.1-1-1", technology="ethernet", mac_permanent=A, mac_current=A, pxe=True)
SLOT = facts("NIC.Slot.3-1-1", technology="ethernet", mac_permanent=B, mac_current=B, pxe=False)
HCA = facts("InfiniBand.Slot.7-1", technology="infiniband", mac_permanent=C)
USB = facts("NIC.USB.1", technology="ethernet", mac_permanent=D)
IDENTITIES = [
    mac_identity(A, "NIC.Embedded.1-1-1"),
    mac_identity(B, "NIC.Slot.3-1-1"),
    mac_identity(C, "InfiniBand.Slot.7-1"),
    mac_identity("52:54:00:00:00:ff", "bmc"),
]


def test_the_nics_that_boot_from_the_network_are_enrolled() -> None:
    assert boot_macs("", [*EMBEDDED, *SLOT, *HCA, *USB], IDENTITIES) == (A,)


def test_where_the_bmc_does_not_tell_which_boot_all_ethernet_nics_are() -> None:
    silent = [one for one in [*EMBEDDED, *SLOT, *HCA, *USB] if one.fact.field != "nic.pxe"]
    assert boot_macs("", silent, IDENTITIES) == (A, B)


def test_the_mac_in_use_is_what_dhcp_sees() -> None:
    virtual = facts("NIC.Embedded.1-1-1", technology="ethernet", mac_permanent=A, mac_current=D, pxe=True)
    assert boot_macs("", virtual, IDENTITIES) == (D,)


def test_the_site_file_names_a_nic_or_a_mac() -> None:
    assert boot_macs("nic.slot.3-1-1", [*EMBEDDED, *SLOT], IDENTITIES) == (B,)
    assert boot_macs("52-54-00-00-00-0C", [], []) == (C,)


@pytest.mark.parametrize(
    ("boot_nic", "told", "words"),
    [
        ("", [], "no MAC is known: run fabricctl bmc harvest for it, or give boot_nic a MAC"),
        (
            "NIC.Slot.9-1-1",
            EMBEDDED,
            "boot_nic NIC.Slot.9-1-1 is not among its Ethernet NICs (NIC.Embedded.1-1-1)",
        ),
        ("", SLOT, "none of its Ethernet NICs boots from the network (NIC.Slot.3-1-1): name one as boot_nic"),
    ],
)
def test_why_a_host_has_no_mac_to_be_enrolled_with(boot_nic: str, told: list[StoredFact], words: str) -> None:
    found = boot_macs(boot_nic, told, IDENTITIES if told else [])
    assert isinstance(found, str)
    assert found.startswith(words)


def test_macs_an_operator_told_are_used_where_nothing_was_harvested() -> None:
    told = [mac_identity(B, "eno1", source="operator"), mac_identity(D, "bmc", source="operator")]
    assert boot_macs("", [], told) == (B,)


def test_an_older_harvest_without_nics_says_what_to_run() -> None:
    found = boot_macs("", [], IDENTITIES)
    assert isinstance(found, str)
    assert found.startswith(
        "its MACs are known, but not which NICs boot with them: run fabricctl bmc harvest"
    )


# -- replaced parts --------------------------------------------------------------------------------------------


def test_nothing_is_changed_where_all_is_as_it_should_be() -> None:
    assert replacement(
        spec_of("gpu001", macs=(A,)), known(machine("gpu001", A), bmc={"id-gpu001": "192.0.2.2"})
    ).nothing


def test_the_record_tells_which_nic_got_another_mac() -> None:
    own = machine("gpu001", A, B)
    told = [
        mac_identity(A, "NIC.Slot.1", until=WHEN),
        mac_identity(C, "NIC.Slot.1"),
        mac_identity(B, "NIC.Slot.2", until=WHEN),
        mac_identity(D, "NIC.Slot.2"),
    ]
    found = replacement(
        spec_of("gpu001", macs=(C, D), service_tag=""), known(own, bmc={own.id: "192.0.2.2"}), told
    )
    assert [(one.nic.name, one.nic.mac, one.mac) for one in found.nics] == [("eno1", A, C), ("eno2", B, D)]
    assert not found.power


def test_the_only_nic_with_an_unknown_mac_is_the_one_that_was_replaced() -> None:
    own = machine("gpu001", A, B)
    found = replacement(
        spec_of("gpu001", macs=(C,), service_tag=""),
        known(own, bmc={own.id: "192.0.2.2"}),
        [mac_identity(B, "NIC.Slot.2"), mac_identity(C, "NIC.Slot.1")],
    )
    assert [(one.nic.mac, one.mac) for one in found.nics] == [(A, C)]


def test_two_nics_that_cannot_be_told_apart_are_refused() -> None:
    own = machine("gpu001", A, B)
    found = replacement(spec_of("gpu001", macs=(C, D), service_tag=""), known(own, bmc={own.id: "192.0.2.2"}))
    assert "cannot be told" in found.refused
    assert "eno1 52:54:00:00:00:0a, eno2 52:54:00:00:00:0b" in found.refused
    assert not found.nics


@pytest.mark.parametrize(
    ("others", "bmc", "words"),
    [
        ([machine("gpu002", C)], {}, "its MAC 52:54:00:00:00:0c is on gpu002"),
        (
            [machine("gpu002", D)],
            {"id-gpu002": "192.0.2.2"},
            "its BMC address 192.0.2.2 is also that of gpu002",
        ),
    ],
)
def test_an_address_another_machine_has_is_refused(
    others: list[Machine], bmc: dict[str, str], words: str
) -> None:
    own = machine("gpu001", A)
    found = replacement(
        spec_of("gpu001", macs=(C,), service_tag=""), known(own, *others, bmc={own.id: "192.0.2.9", **bmc})
    )
    assert found.refused.startswith(words)


def test_another_machine_is_not_another_part() -> None:
    own = machine("gpu001", A, service_tag="OTHER01")
    found = replacement(spec_of("gpu001", macs=(C,)), known(own, bmc={own.id: "192.0.2.2"}))
    assert "this is another machine" in found.refused


def test_another_bmc_address_or_password_sets_the_power_parameters() -> None:
    own = machine("gpu001", A)
    spec = spec_of("gpu001", macs=(A,), service_tag="")
    assert replacement(spec, known(own, bmc={own.id: "192.0.2.9"})).power
    assert replacement(spec, known(own, bmc={own.id: "192.0.2.2"}), credentials=True).power
