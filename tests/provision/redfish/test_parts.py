"""Small pure parts of the driver."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcLinkError
from provision.bmc.session_list import Whose, judge, still_ours
from provision.bmc.target import Target
from provision.redfish.collection import expand_query, is_bare
from provision.redfish.etag import ladder
from provision.redfish.layout import choose_manager, choose_system, generation_of, idrac_layout
from provision.redfish.paths import own_path, plain_path
from provision.redfish.reaper import strays

BMC = Target("gpu001", "192.0.2.9", 8443)


@pytest.mark.parametrize(
    ("first", "anew", "tags"),
    [
        ('W/"1"', 'W/"2"', ['W/"2"', '"2"', ""]),
        ('W/"1"', 'W/"1"', ['"1"', ""]),
        ('"1"', '"1"', [""]),
        ("", '"1"', ['"1"']),
        ("1720649379", '"1720649379"', ['"1720649379"', ""]),
    ],
)
def test_the_ladder_of_etags_goes_from_exact_to_strong_to_none(
    first: str, anew: str, tags: list[str]
) -> None:
    assert list(ladder(first, anew)) == tags


@given(st.text(max_size=8), st.text(max_size=8))
def test_no_etag_is_tried_twice_and_never_more_than_three(first: str, anew: str) -> None:
    tags = list(ladder(first, anew))
    assert len(set(tags)) == len(tags) <= 3
    assert first not in tags


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("/redfish/v1/Systems/System.Embedded.1", "/redfish/v1/Systems/System.Embedded.1"),
        ("/redfish/v1/X?$expand=*($levels=1)", "/redfish/v1/X?$expand=*($levels=1)"),
        ("https://192.0.2.9/redfish/v1/X?$skip=50", "/redfish/v1/X?$skip=50"),
        ("https://192.0.2.9:8443/redfish/v1/X", "/redfish/v1/X"),
        ("/redfish/v1/Drive.0..1", "/redfish/v1/Drive.0..1"),
        ("/redfish/v1/a%20b", "/redfish/v1/a%20b"),
        ("/redfish/v1/Chassis/1/Thermal#/Fans/0", "/redfish/v1/Chassis/1/Thermal"),
        ("/redfish/v1/a b", "/redfish/v1/a%20b"),
        ("redfish/v1/X", "/redfish/v1/X"),
    ],
)
def test_a_link_becomes_a_path_of_the_same_bmc(link: str, path: str) -> None:
    assert own_path(link, BMC) == path


@pytest.mark.parametrize(
    "link",
    [
        "//evil.example/redfish/v1/X",
        "///evil.example/redfish/v1/X",
        "https://evil.example/redfish/v1/X",
        "https://192.0.2.9.evil.example/redfish/v1/X",
        "https://192.0.2.9@evil.example/redfish/v1/X",
        "https://someone@192.0.2.9/redfish/v1/X",
        "https://192.0.2.9:22/redfish/v1/X",
        "https://192.0.2.9:port/redfish/v1/X",
        "https://[::1/redfish/v1/X",
        "https://192.0.2.9//evil.example/X",
        "https:/redfish/v1/X",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "/redfish/v1/../../admin",
        "/redfish/v1/%2e%2E/admin",
        "/redfish/v1/%2e%2e%2fadmin",
        "..",
        "\\\\evil.example\\X",
        "/redfish/v1/x\r\nHost: y",
        "/redfish/v1/x%0d%0aHost: y",
        "/redfish/v1/\x00",
        "",
    ],
)
def test_a_link_to_another_host_or_of_an_odd_form_is_refused(link: str) -> None:
    with pytest.raises(BmcLinkError, match="not followed") as caught:
        own_path(link, BMC)
    assert str(caught.value).isprintable()


def test_an_ipv6_address_is_the_same_however_it_is_written() -> None:
    target = Target("gpu001", "2001:db8::1")
    assert own_path("https://[2001:DB8:0::1]/redfish/v1/X", target) == "/redfish/v1/X"
    with pytest.raises(BmcLinkError):
        own_path("https://[2001:db8::2]/redfish/v1/X", target)


@given(st.text() | st.text("/.%2eE:?#@\\\\ a[]"))
def test_whatever_a_link_says_it_is_one_clean_path(link: str) -> None:
    try:
        path = own_path(link, BMC)
    except BmcLinkError:
        return
    assert path.startswith("/")
    assert not path.startswith("//")
    assert path.isascii()
    assert path.isprintable()
    assert " " not in path
    assert ".." not in path.partition("?")[0].split("/")
    assert own_path(path, BMC) == path == plain_path(path)


@pytest.mark.parametrize(
    ("model", "generation"),
    [("13G Monolithic", 8), ("14G Monolithic", 9), ("15G Monolithic", 9), ("16G Monolithic", 9),
     ("17G Monolithic", 10), ("77171220", 0), ("", 0)],
)  # fmt: skip
def test_the_generation_of_an_idrac_is_told_by_its_model(model: str, generation: int) -> None:
    assert generation_of(model) == generation


def test_only_an_idrac_gets_the_layout_of_an_idrac() -> None:
    assert idrac_layout({"Vendor": "Dell", "Oem": {"Dell": {"ServiceTag": "X"}}}) is not None
    assert idrac_layout({"Vendor": "Dell", "Product": "Integrated Dell Remote Access Controller"}) is not None
    assert idrac_layout({"Vendor": "Dell", "Product": "OpenManage Enterprise Modular"}) is None
    assert idrac_layout({"Vendor": "AMI", "Product": "AMI Redfish Server"}) is None


def test_the_system_that_can_be_reset_is_the_system() -> None:
    board = {"@odata.id": "/a"}
    host = {"@odata.id": "/b", "Actions": {"#ComputerSystem.Reset": {"target": "/b/r"}}, "Boot": {}}
    assert choose_system([board, host]) == host
    assert choose_system([]) == {}
    assert choose_manager([{"ManagerType": "Service"}, {"ManagerType": "BMC", "Id": "x"}])["Id"] == "x"


@pytest.mark.parametrize(
    ("offered", "query"),
    [
        ({"ExpandAll": True, "Levels": True, "NoLinks": True}, "$expand=*($levels=1)"),
        ({"ExpandAll": False, "Levels": True, "NoLinks": True}, "$expand=.($levels=1)"),
        ({"ExpandAll": True}, "$expand=*"),
        ({"Links": True}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_expand_is_asked_as_the_service_offers_it(offered: object, query: str) -> None:
    assert expand_query({"ProtocolFeaturesSupported": {"ExpandQuery": offered}}) == query


def test_a_member_that_is_only_a_link_is_told_from_one_that_is_whole() -> None:
    assert is_bare({"@odata.id": "/x"})
    assert is_bare({"@odata.id": "/x", "@odata.type": "#Port"})
    assert not is_bare({"@odata.id": "/x", "Id": "1"})


def session(address: str | None = "10.0.0.5", user: str = "root", **more: object) -> dict[str, object]:
    return {"UserName": user, "ClientOriginIPAddress": address, "SessionType": "Redfish", **more}


def test_a_session_that_we_wrote_down_is_ours_only_while_user_and_address_say_so() -> None:
    own = session(Id="9")
    assert still_ours(own, session(Id="8"))
    assert not still_ours(own, session("10.0.0.6", Id="8"))
    assert not still_ours(own, session(user="admin", Id="8"))
    assert not still_ours(own, session(Id="8") | {"SessionType": "WebUI"})
    nobody = {"UserName": "root", "Id": "9"}
    assert not still_ours(nobody, {"UserName": "root", "Id": "8"})
    assert still_ours(nobody, {"UserName": "root", "Id": "ff1aba5a0240535833d1980541659ab4"})


def test_sessions_are_told_apart_by_user_address_and_kind() -> None:
    # the three of the capture of an R750 (6.00.30), and two more
    members = [
        {"@odata.id": "/S/274", **session("10.180.49.130")},
        {"@odata.id": "/S/273", **session("10.180.49.130"), "SessionType": "WebUI"},
        {"@odata.id": "/S/272", **session("10.180.248.27"), "SessionType": "ManagerConsole"},
        {"@odata.id": "/S/271", **session("10.180.49.130")},
        {"@odata.id": "/S/270", **session("10.180.49.130")},
    ]
    found = {one.uri: one.whose for one in judge(members, "/S/274", ["/S/270"])}
    assert found == {
        "/S/274": Whose.THIS,
        "/S/273": Whose.OTHER,
        "/S/272": Whose.OTHER,
        "/S/271": Whose.OWN,
        "/S/270": Whose.RUNNING,
    }
    assert {one.whose for one in judge(members, "", [])} == {Whose.OTHER}


def test_a_lost_session_is_the_one_opened_since_by_the_times_of_the_bmc() -> None:
    at = "2024-07-02T02:40:{:02}+00:00".format
    sessions = {
        "/S/9": session(CreatedTime=at(30)),
        "/S/8": session(CreatedTime=at(28)),
        "/S/7": session(CreatedTime=at(2)),
        "/S/6": session("10.0.0.6", CreatedTime=at(28)),
        "/S/5": session(CreatedTime=None),
    }
    assert strays("/S/9", sessions, elapsed_s=3.0, number=5) == ["/S/8"]


def test_a_lost_session_is_the_last_one_below_where_the_bmc_tells_no_times() -> None:
    sessions = {f"/S/{number}": session() for number in (272, 273, 274)}
    assert strays("/S/274", sessions, elapsed_s=3.0) == ["/S/273"]
    assert strays("/S/272", sessions, elapsed_s=3.0) == []


def test_without_client_addresses_no_session_is_taken_for_a_lost_one() -> None:
    sessions = {"/S/9": session(None), "/S/8": session(None)}
    assert strays("/S/9", sessions, elapsed_s=3.0) == []
