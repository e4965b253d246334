"""Machines as they are created, chosen, changed and tagged, and what the event log says about them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas_asker import Asker

FIRST, SECOND, THIRD = (f"52:54:00:00:00:0{number}" for number in (1, 2, 3))


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as served:
        yield served


@pytest.fixture
def ask(maas: ServedDouble) -> Asker:
    return Asker(maas.url, maas.api_key)


def _named(ask: Asker, query: str) -> list[str]:
    return [one["hostname"] for one in ask("GET", f"machines/?{query}").json]


def test_a_machine_is_commissioned_at_once_unless_it_is_told_not_to(ask: Asker) -> None:
    assert ask.create("gpu001", FIRST).json["status_name"] == "New"
    assert ask.create("gpu002", SECOND, commission="true").json["status_name"] == "Commissioning"


def test_a_mac_written_in_another_way_is_the_same_mac(ask: Asker) -> None:
    ask.create("gpu001", "52:54:00:00:00:AB")
    said = ask.create("gpu002", "52-54-00-00-00-ab")
    assert said.status == 400
    assert said.json["mac_addresses"] == ["MAC address 52:54:00:00:00:ab already in use on gpu001."]


def test_two_machines_with_one_bmc_are_taken_without_a_word(ask: Asker) -> None:
    assert ask.create("gpu001", FIRST).status == 200
    assert ask.create("gpu002", SECOND).status == 200


def test_a_parameter_that_is_missing_is_named(ask: Asker) -> None:
    said = ask.create("gpu001", FIRST, power_parameters_power_user="")
    assert said.json == {"power_parameters": ["Redfish user: This field is required."]}


def test_power_parameters_may_be_json(ask: Asker) -> None:
    given = '{"power_address": "10.1.0.4", "power_user": "u", "power_pass": "p", "node_id": "1"}'
    form = {"power_parameters": given, "power_type": "redfish", "commission": "false"}
    said = ask(
        "POST", "machines/", hostname="gpu004", architecture="amd64/generic", mac_addresses=FIRST, **form
    )
    shown = ask("GET", f"machines/{said.json['system_id']}/?op=power_parameters").json
    assert shown == {"power_address": "10.1.0.4", "power_user": "u", "power_pass": "p", "node_id": "1"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["gpu001", "gpu002", "gpu003"]),
        ("hostname=gpu001&hostname=gpu003", ["gpu001", "gpu003"]),
        (f"mac_address={SECOND}", ["gpu002"]),
        (f"mac_address={SECOND.upper().replace(':', '-')}&mac_address={THIRD}", ["gpu002", "gpu003"]),
        ("status=new", ["gpu001", "gpu003"]),
        ("status=commissioning&status=ready", ["gpu002"]),
        ("pool=default&zone=default&domain=maas", ["gpu001", "gpu002", "gpu003"]),
        ("pool=nosuch", []),
        ("tags=rack-a1", ["gpu003"]),
        ("not_tags=rack-a1", ["gpu001", "gpu002"]),
    ],
)
def test_machines_are_chosen_by(ask: Asker, query: str, found: list[str]) -> None:
    for number, mac in enumerate((FIRST, SECOND, THIRD), 1):
        ask.create(f"gpu00{number}", mac)
    ids = {one["hostname"]: one["system_id"] for one in ask("GET", "machines/").json}
    ask.act(ids["gpu002"], "commission")
    ask("POST", "tags/", name="rack-a1")
    ask("POST", "tags/rack-a1/?op=update_nodes", add=ids["gpu003"])
    assert _named(ask, query) == found


def test_a_status_or_mac_that_is_none_is_refused(ask: Asker) -> None:
    said = ask("GET", "machines/?status=bogus")
    assert said.json == {"status": ["Select a valid choice. bogus is not one of the available choices."]}
    assert ask("GET", "machines/?mac_address=zz").json == {
        "mac_address": ["'zz' is not a valid MAC address."]
    }


def test_an_unknown_machine_is_not_tagged_and_nobody_says_so(ask: Asker) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    ask("POST", "tags/", name="t")
    assert ask("POST", "tags/t/?op=update_nodes", add=["zzzzzz", name]).json == {"added": 1, "removed": 0}
    # again: MAAS counts the machines it found, whatever their tags were
    assert ask("POST", "tags/t/?op=update_nodes", add=[name]).json == {"added": 1, "removed": 0}
    assert ask.read(name)["tag_names"] == ["t"]
    assert ask("POST", "tags/t/?op=update_nodes", remove=[name]).json == {"added": 0, "removed": 1}
    assert ask.read(name)["tag_names"] == []


def test_a_tag_that_is_deleted_is_on_no_machine_any_more(ask: Asker) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    ask("POST", "tags/", name="t")
    ask("POST", "tags/t/?op=update_nodes", add=name)
    assert [one["system_id"] for one in ask("GET", "tags/t/?op=machines").json] == [name]
    assert ask("DELETE", "tags/t/").status == 204
    assert ask.read(name)["tag_names"] == []


def test_a_mac_of_another_machine_is_refused_and_ones_own_may_be_written_again(ask: Asker) -> None:
    one = ask.create("gpu001", FIRST).json
    ask.create("gpu002", SECOND)
    place = f"nodes/{one['system_id']}/interfaces/{one['interface_set'][0]['id']}/"
    said = ask("PUT", place, mac_address=SECOND)
    assert said.json == {"mac_address": ["This MAC address is already in use by eth0 (physical) on gpu002."]}
    assert ask("PUT", place, mac_address=FIRST).status == 200
    assert ask("PUT", place, mac_address=THIRD).json["mac_address"] == THIRD
    assert _named(ask, f"mac_address={THIRD}") == ["gpu001"]


def test_a_name_changes_while_it_is_being_installed(ask: Asker, maas: ServedDouble) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    ask.act(name, "commission")
    maas.advance(3600)
    ask.act(name, "deploy")
    assert ask("PUT", f"machines/{name}/", hostname="renamed").json["fqdn"] == "renamed.maas"


def test_power_is_changed_and_everything_else_stays(ask: Asker) -> None:
    before = ask.create("gpu001", FIRST).json
    place = f"machines/{before['system_id']}/"
    after = ask("PUT", place, power_type="redfish", power_parameters_power_address="10.9.9.9").json
    assert {key for key in before if before[key] != after[key]} == set()
    shown = ask("GET", f"{place}?op=power_parameters").json
    assert (shown["power_address"], shown["power_user"]) == ("10.9.9.9", "maas")


def test_a_deleted_machine_is_gone_and_its_name_and_mac_are_free(ask: Asker) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    assert ask("DELETE", f"machines/{name}/").status == 204
    assert ask.create("gpu001", FIRST).status == 200


def test_gpus_are_listed_among_the_devices_and_the_bmcs_graphics_too(ask: Asker, maas: ServedDouble) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    assert ask("GET", f"nodes/{name}/devices/?hardware_type=gpu").json == []
    ask.act(name, "commission")
    maas.advance(3600)
    found = ask("GET", f"nodes/{name}/devices/?hardware_type=gpu").json
    assert [one["vendor_id"] for one in found] == ["102b", *["10de"] * 8]
    assert len(ask("GET", f"nodes/{name}/devices/?vendor_id=10DE").json) == 8


def test_pools_and_zones_are_made_and_used(ask: Asker) -> None:
    assert ask("POST", "resourcepools/", name="quarantine").json["id"] == 1
    assert ask("POST", "zones/", name="hall-b").status == 200
    said = ask.create("gpu001", FIRST, pool="quarantine", zone="hall-b").json
    assert (said["pool"]["name"], said["zone"]["name"]) == ("quarantine", "hall-b")
    assert ask.create("gpu002", SECOND, pool="nosuch").status == 400


def test_events_are_newest_first_and_resumed_by_their_ids(ask: Asker, maas: ServedDouble) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    ask.act(name, "commission")
    maas.advance(3600)
    every = ask("GET", "events/?op=query&level=DEBUG&limit=1000").json
    ids = [one["id"] for one in every["events"]]
    assert ids == sorted(ids, reverse=True)
    assert every["count"] == len(ids)
    later = ask("GET", f"events/?op=query&level=DEBUG&limit=2&after={ids[5]}").json["events"]
    assert [one["id"] for one in later] == [ids[3], ids[4]]
    earlier = ask("GET", f"events/?op=query&level=DEBUG&limit=2&before={ids[5]}").json["events"]
    assert [one["id"] for one in earlier] == ids[6:8]


def test_events_below_the_level_are_left_out_and_transitions_are_debug(
    ask: Asker, maas: ServedDouble
) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    ask.act(name, "commission")
    maas.advance(3600)
    usual = {one["type"] for one in ask("GET", "events/?op=query").json["events"]}
    assert {"Commissioning", "Ready"} <= usual
    assert "Node changed status" not in usual
    every = ask("GET", f"events/?op=query&level=DEBUG&id={name}").json["events"]
    changes = [one["description"] for one in every if one["type"] == "Node changed status"]
    assert changes == ["From 'Commissioning' to 'Ready'", "From 'New' to 'Commissioning'"]


def test_an_event_says_when_in_simulated_time_as_maas_writes_it(ask: Asker, maas: ServedDouble) -> None:
    name = ask.create("gpu001", FIRST).json["system_id"]
    maas.advance(24 * 3600)
    ask.act(name, "commission")
    created = ask("GET", "events/?op=query").json["events"][-1]["created"]
    at = datetime.strptime(created, "%a, %d %b. %Y %H:%M:%S").replace(tzinfo=UTC)
    assert 86300 < (at - datetime.now(UTC)).total_seconds() < 86500


def test_events_of_other_machines_are_left_out(ask: Asker) -> None:
    ids = [ask.create(f"gpu00{number}", mac).json["system_id"] for number, mac in ((1, FIRST), (2, SECOND))]
    for name in ids:
        ask.act(name, "commission")
    for query in (f"id={ids[1]}", "hostname=gpu002", f"mac_address={SECOND}"):
        found = ask("GET", f"events/?op=query&level=DEBUG&{query}").json["events"]
        assert {one["node"] for one in found} == {ids[1]}, query


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("limit=5000", "Requested number of events 5000 is greater than limit: 1000"),
        ("level=LOUD", "Unrecognised log level: LOUD"),
        ("after=1&before=2", "There is undetermined behaviour when both `after` and `before` are specified."),
    ],
)
def test_a_query_of_events_that_makes_no_sense_is_refused(ask: Asker, query: str, text: str) -> None:
    said = ask("GET", f"events/?op=query&{query}")
    assert (said.status, said.text) == (400, text)
