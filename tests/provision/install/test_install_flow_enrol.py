"""Enrolling on the double: nothing is created twice, nothing strange is adopted, nothing is commissioned."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabricctl.nodes.facts import Value
from fabricctl.nodes.model import NodeState
from provision.bmc.secret import Secret
from provision.install.outcome import End, NodeResult, Told
from provision.install.spec import EnrolSpec, Power
from provision.workflows.install_enrol import enrol
from tests.provision.install.flow_kit import Client, Kit, by_host, flow_kit, hosts_of, mac_of, spec_of


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def enrolled(kit: Kit, *specs: EnrolSpec) -> dict[str, NodeResult]:
    return by_host(kit.run(lambda client: enrol(client.maas, specs, client.options)))


def creates(kit: Kit, host: str = "") -> int:
    return sum(1 for one in kit.maas.double.requests if one.op == "create" and host in ("", one.machine))


def noted(kit: Kit, host: str) -> dict[str, Value]:
    return {one.fact.field: one.fact.value for one in kit.store.facts.current([host]).get(host, [])}


def test_a_host_is_created_and_not_commissioned(kit: Kit) -> None:
    result = enrolled(kit, spec_of("gpu001", tags=("gpu", "h100")))["gpu001"]
    machine = kit.maas.double.machine("gpu001")
    assert (result.outcome, result.end, result.before) == (Told.OK, End.ENROLLED, "not there")
    assert machine.status.value == "New"
    assert set(machine.tags) == {"gpu", "h100"}
    assert noted(kit, "gpu001") == {"install.machine_id": machine.system_id}
    assert kit.states(["gpu001"]) == {"gpu001": NodeState.PROVISIONING}


def test_a_second_time_it_is_known_and_nothing_is_sent(kit: Kit) -> None:
    specs = [spec_of(host, tags=("gpu",)) for host in hosts_of(3)]
    enrolled(kit, *specs)
    before = len([one for one in kit.maas.double.requests if one.method != "GET"])
    again = enrolled(kit, *specs)
    assert {one.end for one in again.values()} == {End.KNOWN}
    assert len([one for one in kit.maas.double.requests if one.method != "GET"]) == before


def test_looking_costs_a_few_requests_however_many_hosts_there_are(kit: Kit) -> None:
    specs = [spec_of(host) for host in hosts_of(60)]
    enrolled(kit, *specs)
    kit.run(lambda client: enrol(client.maas, specs, client.options))
    assert kit.requests <= 4


@pytest.mark.parametrize("kind", ["503-after-commit", "drop-after", "drop-before", "error"])
def test_whatever_the_answer_to_create_there_is_one_machine(kit: Kit, kind: str) -> None:
    kit.maas.double.faults.add(kind, "gpu001", "create")
    result = enrolled(kit, spec_of("gpu001"), spec_of("gpu002"))
    assert {one.end for one in result.values()} == {End.ENROLLED}
    assert sorted(one.hostname for one in kit.maas.double.machines.values()) == ["gpu001", "gpu002"]
    assert creates(kit, "gpu001") == (1 if "after" in kind else 2)


def test_a_create_that_goes_on_behind_a_504_is_waited_for_and_adopted(kit: Kit) -> None:
    kit.maas.double.faults.add("504-continues", "gpu001", "create", later=35)
    assert enrolled(kit, spec_of("gpu001"))["gpu001"].end is End.ENROLLED
    assert creates(kit) == 1


def test_a_create_that_comes_true_after_the_second_is_still_one_machine(kit: Kit) -> None:
    kit.maas.double.faults.add("504-continues", "gpu001", "create", later=75)
    assert enrolled(kit, spec_of("gpu001"))["gpu001"].end is End.ENROLLED
    kit.maas.advance(200)
    assert len(kit.maas.double.machines) == 1


def test_a_create_that_never_succeeds_is_could_not_tell_and_was_sent_twice_at_most(kit: Kit) -> None:
    kit.maas.double.faults.add("error", "gpu001", "create", count=None)
    result = enrolled(kit, spec_of("gpu001"))["gpu001"]
    assert (result.outcome, result.end) == (Told.UNKNOWN, End.UNKNOWN)
    assert creates(kit) == 2


def test_the_event_of_a_lost_create_tells_what_was_found(kit: Kit) -> None:
    kit.maas.double.faults.add("503-after-commit", "gpu001", "create")
    enrolled(kit, spec_of("gpu001"))
    (event,) = [one for one in kit.store.events.all() if one.kind.value == "node.enrol"]
    assert event.before == "not there"
    assert event.after == f"answer lost; it was created: {kit.maas.double.machine('gpu001').system_id}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"host": "gpu009"}, "its MAC 52:54:00:00:00:01 is on gpu001 ({id}), expected gpu009"),
        ({"service_tag": "OTHER01"}, "gpu001 ({id}) has service tag"),
        (
            {"macs": (mac_of("gpu009"),)},
            "the name gpu001 is taken by gpu001 ({id}) with MACs 52:54:00:00:00:01",
        ),
    ],
)
def test_another_machine_is_never_adopted(kit: Kit, change: dict[str, Any], words: str) -> None:
    kit.run(lambda client: client.enrol(["gpu001"]))
    kit.run(lambda client: client.commission(["gpu001"]))
    before = creates(kit)
    spec = replace(spec_of("gpu001"), **change)
    result = enrolled(kit, spec)[spec.host]
    assert (result.outcome, result.end) == (Told.FINDING, End.REFUSED)
    assert words.format(id=kit.maas.double.machine("gpu001").system_id) in result.reason
    assert creates(kit) == before


def power(address: str) -> Power:
    return Power("redfish", address, "root", Secret("calvin"))


def test_a_bmc_address_that_a_machine_has_is_refused_before_the_call_naming_it(kit: Kit) -> None:
    enrolled(kit, spec_of("gpu001"))
    spec = spec_of("gpu002", power=power(spec_of("gpu001").power.address))
    result = enrolled(kit, spec)["gpu002"]
    assert result.end is End.REFUSED
    assert "its BMC address 192.0.2.2 is also that of gpu001" in result.reason
    assert creates(kit, "gpu002") == 0


def test_a_bmc_that_was_replaced_is_refused_and_leads_to_replace(kit: Kit) -> None:
    enrolled(kit, spec_of("gpu001"))
    result = enrolled(kit, spec_of("gpu001", power=power("192.0.2.200")))["gpu001"]
    assert result.end is End.REFUSED
    assert "has BMC address 192.0.2.2, expected 192.0.2.200" in result.reason
    assert "use replace" in result.reason


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"power": spec_of("gpu001").power}, "BMC address 192.0.2.2 is asked for twice: gpu001 and gpu002"),
        ({"macs": (mac_of("gpu001"),)}, "MAC 52:54:00:00:00:01 is asked for twice: gpu001 and gpu002"),
    ],
)
def test_hosts_of_one_request_that_cannot_be_told_apart_are_both_refused(
    kit: Kit, second: dict[str, Any], words: str
) -> None:
    results = enrolled(kit, spec_of("gpu001"), spec_of("gpu002", **second), spec_of("gpu003"))
    assert {host: one.end for host, one in results.items()} == {
        "gpu001": End.REFUSED,
        "gpu002": End.REFUSED,
        "gpu003": End.ENROLLED,
    }
    assert results["gpu001"].reason == words
    assert creates(kit) == 1


def test_values_maas_refuses_are_a_finding_with_its_words(kit: Kit) -> None:
    result = enrolled(kit, spec_of("gpu001", pool="nowhere"))["gpu001"]
    assert (result.outcome, result.end) == (Told.FINDING, End.NOT_STARTED)
    assert "pool" in result.reason


def test_a_machine_without_a_bmc_address_gets_it(kit: Kit) -> None:
    kit.maas.double.add_machine("gpu001", [mac_of("gpu001")])
    assert enrolled(kit, spec_of("gpu001"))["gpu001"].outcome is Told.OK
    addresses = kit.run(lambda client: client.maas.bmc_addresses())
    assert list(addresses.values()) == ["192.0.2.2"]


def test_a_machine_that_somebody_else_created_at_the_same_time_is_told_as_such(kit: Kit) -> None:
    hosts = hosts_of(3)

    async def both(client: Client) -> list[list[NodeResult]]:
        return list(await asyncio.gather(client.enrol(hosts), client.enrol(hosts)))

    first, second = kit.run(both)
    assert len(kit.maas.double.machines) == 3
    for one, other in zip(first, second, strict=True):
        assert {one.end, other.end} == {End.ENROLLED, End.KNOWN}
        id = kit.maas.double.machine(one.host).system_id
        told = {
            event.after for event in kit.store.events.all(subjects=[one.host]) if "enrol" in event.kind.value
        }
        assert told == {f"created: {id}", f"refused: somebody else has created it: {id}"}


def test_pool_and_zone_of_an_adopted_machine_are_left_and_what_to_do_is_told(kit: Kit) -> None:
    enrolled(kit, spec_of("gpu001"))
    (note,) = enrolled(kit, spec_of("gpu001", pool="training"))["gpu001"].notes
    assert (
        note
        == "it is in pool default, expected training: move it there in MAAS, or write pool: default in the site file"
    )
