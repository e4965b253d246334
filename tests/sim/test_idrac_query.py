"""Query options, pages, ETags and readiness of the simulated iDRAC."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac.etags import EtagRule, Etags
from tests.sim.idrac.filters import matches
from tests.sim.idrac.shapes import resource
from tests.sim.idrac_asker import CHASSIS, MANAGER, RESET, SYSTEM, Asker

INTERFACES = f"{SYSTEM}/EthernetInterfaces"
MANY = f"{MANAGER}/Oem/Dell/Many"


def asker(profile: Profile = Profile.IDRAC9_7) -> Asker:
    return Asker(Simulator(profile=profile, speed=0)[0])


def with_many(count: int = 120) -> Asker:
    """A BMC with a paged collection of so many members."""
    who = asker()
    paths = [f"{MANY}/{number}" for number in range(count)]
    who.bmc.tree.collection(MANY, "ManyCollection", paths, paged=True)
    for number, path in enumerate(paths):
        who.bmc.tree.fixed(path, resource(path, "Many", "v1_0_0", Id=str(number), Even=number % 2 == 0))
    return who


def test_a_collection_lists_links_and_expands_on_request() -> None:
    who = asker()
    links = who.get(INTERFACES).body["Members"]
    assert [set(link) for link in links] == [{"@odata.id"}] * 5
    for how in ("*($levels=1)", ".($levels=1)", ".", "*"):
        members = who.get(f"{INTERFACES}?$expand={how}").body["Members"]
        assert [member["@odata.id"] for member in members] == [link["@odata.id"] for link in links]
        assert all(member["MACAddress"] for member in members)


@pytest.mark.parametrize("option", ["$expand=*($levels=2)", "$expand=maybe", "$skip=-1", "$top=x"])
def test_what_an_option_cannot_be_is_a_400(option: str) -> None:
    said = asker().get(f"{INTERFACES}?{option}")
    assert (said.status, said.keys) == (400, ["QueryParameterValueFormatError"])


def test_an_option_that_is_not_known_is_refused_and_one_without_dollar_ignored() -> None:
    who = asker()
    assert who.get(f"{INTERFACES}?$apply=x").status == 501
    assert who.get(f"{INTERFACES}?pretty=1").status == 200


def test_select_keeps_what_was_asked_for_and_the_identity_of_the_resource() -> None:
    body = asker().get(f"{SYSTEM}?$select=SKU,Boot/BootSourceOverrideTarget").body
    assert set(body) == {"@odata.context", "@odata.id", "@odata.type", "SKU", "Boot"}
    assert body["Boot"] == {"BootSourceOverrideTarget": "None"}


def test_only_gives_the_one_member_itself() -> None:
    assert asker().get("/redfish/v1/Systems?only").body["@odata.id"] == SYSTEM


def test_expanding_a_resource_puts_what_is_below_it_in_place_of_links() -> None:
    body = asker().get(f"{SYSTEM}?$expand=.($levels=1)").body
    assert body["EthernetInterfaces"]["Members@odata.count"] == 5
    assert set(body["Links"]["Chassis"][0]) == {"@odata.id"}


def test_a_paged_collection_comes_in_fifties_expanded_or_not() -> None:
    for option in ("", "?$expand=*($levels=1)"):
        who, seen, path = with_many(), [], MANY + option
        sizes = []
        while path:
            body = who.get(path).body
            assert body["Members@odata.count"] == 120
            sizes.append(len(body["Members"]))
            seen += [member["@odata.id"] for member in body["Members"]]
            path = body.get("Members@odata.nextLink", "")
        assert sizes == [50, 50, 20]
        assert seen == [f"{MANY}/{number}" for number in range(120)]


def test_standard_collections_are_not_paged() -> None:
    body = asker().get(f"{SYSTEM}/Memory").body
    assert len(body["Members"]) == 32
    assert "Members@odata.nextLink" not in body


def test_skip_and_top_cut_and_filter_chooses() -> None:
    who = with_many()
    body = who.get(f"{MANY}?$skip=10&$top=3").body
    assert [member["@odata.id"].rpartition("/")[2] for member in body["Members"]] == ["10", "11", "12"]
    body = who.get(f"{MANY}?$filter=Even eq true and Id ne '0'").body
    assert body["Members@odata.count"] == 59
    assert who.get(f"{MANY}?$filter=Even is true").status == 400


@given(st.integers(-5, 5), st.integers(-5, 5))
def test_filters_compare_as_python_does(have: int, want: int) -> None:
    body = {"N": have, "In": {"S": "it's"}}
    words = {"eq": have == want, "ne": have != want, "gt": have > want, "ge": have >= want, "lt": have < want}
    for word, expected in words.items():
        assert matches(body, f"N {word} {want}") is expected
        assert matches(body, f"not (N {word} {want}) or In/S eq 'it''s'") is True


def test_a_link_that_dangles_is_a_404_with_sys403() -> None:
    who = asker(Profile.IDRAC9_6)
    function = f"{CHASSIS}/NetworkAdapters/InfiniBand.Slot.31/NetworkDeviceFunctions/InfiniBand.Slot.31-1"
    port = who.get(function).body["PhysicalPortAssignment"]["@odata.id"]
    said = who.get(port)
    assert (said.status, said.keys) == (404, ["SYS403", "ResourceMissingAtURI"])


def test_a_method_that_is_not_allowed_is_a_405_with_allow() -> None:
    said = asker().patch(f"{SYSTEM}/Memory/DIMM.Socket.A1", {})
    assert said.status == 405
    assert said.headers["Allow"] == "GET, HEAD"


def test_bodies_that_are_no_json_are_refused() -> None:
    assert asker().ask("PATCH", SYSTEM, b"{nonsense").keys == ["MalformedJSON"]


def test_an_etag_is_weak_or_strong_by_firmware() -> None:
    assert asker(Profile.IDRAC9_6).get(SYSTEM).headers["ETag"].startswith('"')
    assert asker(Profile.IDRAC9_7).get(SYSTEM).headers["ETag"].startswith('W/"')


def test_if_match_must_be_the_etag_that_was_told() -> None:
    who = asker()
    etag = who.get(SYSTEM).headers["ETag"]
    assert who.patch(SYSTEM, {"AssetTag": "a"}, if_match=etag).status == 200
    assert who.patch(SYSTEM, {"AssetTag": "b"}, if_match=etag).status == 412, "it has changed since"
    assert who.patch(SYSTEM, {"AssetTag": "b"}, if_match="*").status == 200
    assert who.patch(SYSTEM, {"AssetTag": "c"}).status == 200, "none is needed by default"


def test_rules_of_other_firmware_428_strong_only_and_never() -> None:
    who = asker()
    rules = who.bmc.part(Etags)
    etag = who.get(SYSTEM).headers["ETag"]
    rules.rule = EtagRule.REQUIRED
    assert who.patch(SYSTEM, {"HostName": ""}).status == 428
    rules.rule = EtagRule.STRONG_ONLY
    assert who.patch(SYSTEM, {"HostName": ""}, if_match=etag).status == 412
    assert who.patch(SYSTEM, {"HostName": ""}, if_match=etag.removeprefix("W/")).status == 200
    rules.rule = EtagRule.NEVER
    assert who.patch(SYSTEM, {"HostName": ""}, if_match="*").status == 412
    assert who.patch(SYSTEM, {"HostName": ""}).status == 200


def test_a_stale_etag_is_refused_once_and_not_again() -> None:
    who = asker()
    who.bmc.part(Etags).stale = 1
    etag = who.get(SYSTEM).headers["ETag"]
    assert who.patch(SYSTEM, {"AssetTag": "a"}, if_match=etag).status == 412
    assert who.patch(SYSTEM, {"AssetTag": "a"}, if_match=etag).status == 200


def test_an_action_with_if_match_is_a_412_and_not_carried_out() -> None:
    who = asker()
    assert who.post(RESET, {"ResetType": "ForceOff"}, if_match="*").status == 412
    assert who.bmc.power.actions == []


def test_not_ready_windows_answer_as_real_ones_and_end() -> None:
    simulator = Simulator(speed=0)
    who = Asker(simulator[0])
    who.bmc.readiness.not_ready("SYS518", 30)
    said = who.get(SYSTEM)
    assert (said.status, said.keys) == (503, ["SYS518", "ServiceTemporarilyUnavailable"])
    assert said.headers["Retry-After"] == "30"
    assert "Retry in 30 seconds" in said.body["error"]["@Message.ExtendedInfo"][1]["Message"]
    assert who.get("/redfish/v1").status == 200
    simulator.clock.advance(31)
    who.bmc.readiness.not_ready("SWC0700", 30)
    assert (who.get(SYSTEM).status, who.get(SYSTEM).keys) == (400, ["SWC0700"])
    simulator.clock.advance(31)
    who.bmc.readiness.empty_systems(120)
    assert who.get("/redfish/v1/Systems").body["Members"] == []
    simulator.clock.advance(121)
    assert len(who.get("/redfish/v1/Systems").body["Members"]) == 1


def test_a_changed_field_shows_and_a_removed_resource_dangles() -> None:
    who = asker()
    path = f"{INTERFACES}/NIC.Embedded.1-1-1"
    who.bmc.change(path, MACAddress="", PermanentMACAddress="")
    assert who.get(path).body["MACAddress"] == ""
    assert "" in [member["MACAddress"] for member in who.get(f"{INTERFACES}?$expand=.").body["Members"]]
    who.bmc.remove(path)
    assert who.get(path).status == 404
    assert {"@odata.id": path} in who.get(INTERFACES).body["Members"]


def test_a_resource_of_one_bmc_alone_joins_its_collection() -> None:
    simulator = Simulator(count=2, speed=0)
    who, other = Asker(simulator[0]), Asker(simulator[1])
    path = f"{MANAGER}/EthernetInterfaces/usb0"
    who.bmc.add(path, {"Id": "usb0", "MACAddress": "02:00:00:00:00:01"}, into=f"{MANAGER}/EthernetInterfaces")
    members = who.get(f"{MANAGER}/EthernetInterfaces?$expand=*($levels=1)").body["Members"]
    assert [member["Id"] for member in members] == ["NIC.1", "usb0"]
    assert other.get(path).status == 404
    assert other.get(f"{MANAGER}/EthernetInterfaces").body["Members@odata.count"] == 1


def test_soon_after_a_boot_and_a_restart_data_may_not_be_ready() -> None:
    simulator = Simulator(speed=0)
    who = Asker(simulator[0])
    who.bmc.readiness.busy_after_post_s = 60
    who.reset("ForceRestart")
    assert who.get(SYSTEM).keys[0] == "SYS518"
    simulator.clock.advance(61)
    assert who.get(SYSTEM).status == 200
    who.bmc.readiness.settling_s = 30
    who.bmc.readiness.restart(60)
    simulator.clock.advance(70)
    assert Asker(who.bmc).get(SYSTEM).keys == ["SWC0700"]
    simulator.clock.advance(30)
    assert Asker(who.bmc).get(SYSTEM).status == 200
