"""One BMC's requests over both transports: login, reads, writes, logout."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import BmcLoginError, BmcNotFoundError, BmcOutcomeUnknownError, BmcPasswordChangeError
from provision.redfish.bmc import Bmc
from provision.redfish.session import Session
from tests.provision.redfish.conftest import Asker, Clock
from tests.provision.redfish.test_ledger import fill_the_disk
from tests.provision.redfish.tiny import SESSIONS, Tiny, message


def test_a_read_logs_in_once_and_logs_out(tiny: Tiny, run: Asker) -> None:
    tiny.tree["/redfish/v1/Systems/System.Embedded.1"] = {"PowerState": "On"}

    async def work(bmc: Bmc) -> Any:
        first = await bmc.get("/redfish/v1/Systems/System.Embedded.1")
        await bmc.get("/redfish/v1/Systems/System.Embedded.1")
        return first.resource["PowerState"]

    outcome = run(work)
    assert (outcome.error, outcome.value) == (None, "On")
    assert [(one.method, one.path) for one in tiny.seen] == [
        ("GET", "/redfish/v1"),
        ("POST", SESSIONS),
        ("GET", "/redfish/v1/Systems/System.Embedded.1"),
        ("GET", "/redfish/v1/Systems/System.Embedded.1"),
        ("DELETE", f"{SESSIONS}/1"),
    ]
    assert tiny.sessions == {}
    assert outcome.requests == 5


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_disk_that_gets_full_between_login_and_logout_costs_no_bmc(
    tiny: Tiny, run: Asker, tmp_path: Path
) -> None:
    tiny.tree["/redfish/v1/X"] = {"Id": "1"}
    real = tiny.sessions

    def login(request: web.Request) -> None:
        fill_the_disk(tmp_path / "ledger")  # before the session is written down

    tiny.rules["POST", SESSIONS] = login
    outcome = run(lambda bmc: bmc.get("/redfish/v1/X"), reaper=True, ledger=tmp_path / "ledger")
    assert (outcome.error, outcome.value.resource) == (None, {"Id": "1"})
    assert real == {}


def test_a_logout_that_goes_wrong_costs_no_result(
    tiny: Tiny, run: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.tree["/redfish/v1/X"] = {"Id": "1"}

    async def broken(self: object) -> bool:
        raise RuntimeError

    monkeypatch.setattr(Session, "close", broken)
    outcome = run(lambda bmc: bmc.get("/redfish/v1/X"))
    assert (outcome.error, outcome.value.resource) == (None, {"Id": "1"})
    assert any("could not be ended" in note.text for note in outcome.notes)


ACCOUNT = "/redfish/v1/AccountService/Accounts/2"
CHANGE = {"MessageId": "Base.1.18.PasswordChangeRequired", "Message": "Change it.", "MessageArgs": [ACCOUNT]}


@pytest.mark.parametrize("at_login", [True, False])
def test_a_password_to_be_changed_is_told_with_its_account(tiny: Tiny, run: Asker, at_login: bool) -> None:
    def made(request: web.Request) -> web.Response:
        tiny.sessions[f"{SESSIONS}/7"] = ("root", "token-7")
        headers = {"Location": f"{SESSIONS}/7", "X-Auth-Token": "token-7"}
        return web.json_response({"@Message.ExtendedInfo": [CHANGE]}, status=201, headers=headers)

    if at_login:
        tiny.rules["POST", SESSIONS] = made
    tiny.rules["GET", "/redfish/v1/X"] = lambda request: web.json_response(
        {"error": {"@Message.ExtendedInfo": [CHANGE]}}, status=403
    )
    outcome = run(lambda bmc: bmc.get("/redfish/v1/X"))
    assert isinstance(outcome.error, BmcPasswordChangeError)
    assert outcome.error.account == ACCOUNT
    assert tiny.sessions == {}


def test_the_root_needs_no_login(tiny: Tiny, run: Asker) -> None:
    async def work(bmc: Bmc) -> Any:
        return (await bmc.root())["Oem"]["Dell"]["ServiceTag"]

    outcome = run(work, credentials=None)
    assert outcome.value == "TAG0001"
    assert [one.method for one in tiny.seen] == ["GET"]
    assert "x-auth-token" not in tiny.seen[0].headers
    assert "authorization" not in tiny.seen[0].headers


def test_a_refused_password_is_sent_once(tiny: Tiny, run: Asker) -> None:
    tiny.users["root"] = "another"

    async def work(bmc: Bmc) -> Any:
        for _ in range(3):
            try:
                await bmc.get("/redfish/v1/Systems")
            except BmcLoginError as exc:
                kept = exc
        raise kept

    outcome = run(work)
    assert isinstance(outcome.error, BmcLoginError)
    assert len(tiny.asked("POST", SESSIONS)) == 1


def test_a_missing_resource_says_so(tiny: Tiny, run: Asker) -> None:
    outcome = run(lambda bmc: bmc.get("/redfish/v1/Nothing"))
    assert isinstance(outcome.error, BmcNotFoundError)
    assert "SYS403" in str(outcome.error)
    assert str(outcome.error).startswith(f"gpu001 (127.0.0.1 port {tiny.port}): ")
    assert tiny.sessions == {}


def test_writes_are_sent_with_their_bodies(tiny: Tiny, run: Asker) -> None:
    path = "/redfish/v1/Systems/System.Embedded.1"
    tiny.tree[path] = {"@odata.etag": 'W/"7"'}
    tiny.rules["POST", f"{path}/Actions/Reset"] = lambda request: web.json_response({}, status=202)

    async def work(bmc: Bmc) -> Any:
        await bmc.get(path)
        await bmc.patch(path, {"AssetTag": "x"})
        await bmc.post(f"{path}/Actions/Reset", {"ResetType": "On"})
        await bmc.post(f"{path}/Actions/Reset")
        return await bmc.delete("/redfish/v1/Nothing")

    outcome = run(work)
    assert outcome.error is None
    patch = tiny.asked("PATCH")[0]
    assert (patch.body, patch.headers["if-match"]) == ({"AssetTag": "x"}, 'W/"7"')
    assert [one.body for one in tiny.asked("POST")[1:]] == [{"ResetType": "On"}, {}]
    assert all("if-match" not in one.headers for one in tiny.asked("POST"))
    assert all(one.headers["content-type"] == "application/json" for one in tiny.asked("POST"))


def test_members_are_expanded_over_all_pages(tiny: Tiny, run: Asker) -> None:
    path = "/redfish/v1/Chassis/1/Sensors"
    expand = "$expand=*($levels=1)"
    tiny.rules["GET", f"{path}?{expand}"] = lambda request: web.json_response(
        {
            "Members": [{"@odata.id": f"{path}/{n}", "Id": str(n)} for n in range(2)],
            "Members@odata.nextLink": f"{path}?$skip=2",
        }
    )
    tiny.rules["GET", f"{path}?$skip=2"] = lambda request: web.json_response(
        {"Members": [{"@odata.id": f"{path}/2", "Id": "2"}]}
    )

    async def work(bmc: Bmc) -> Any:
        return [member["Id"] for member in await bmc.members(path)]

    assert run(work).value == ["0", "1", "2"]


def test_one_page_under_ever_new_links_ends_the_walk(tiny: Tiny, run: Asker) -> None:
    path = "/redfish/v1/Managers/1/LogServices/Log/Entries"
    pages = iter(range(50, 10**6, 50))

    def page(request: web.Request) -> web.Response:
        members = [{"@odata.id": f"{path}/{n}", "Id": str(n)} for n in range(50)]
        link = f"{path}?$skip={next(pages)}"
        tiny.rules["GET", link] = page
        return web.json_response({"Members": members, "Members@odata.nextLink": link})

    tiny.rules["GET", f"{path}?$expand=*($levels=1)"] = page
    outcome = run(lambda bmc: bmc.members(path))
    assert len(outcome.value) == 50
    assert len([one for one in tiny.asked("GET") if "LogServices" in one.path]) <= 3
    assert any("no new member" in note.text for note in outcome.notes)


def test_a_root_that_is_closed_to_strangers_is_read_after_the_login(tiny: Tiny, run: Asker) -> None:
    def closed(request: web.Request) -> web.Response | None:
        return None if "x-auth-token" in request.headers else message(401, "AccessDenied")

    tiny.rules["GET", "/redfish/v1"] = closed
    tiny.tree["/redfish/v1/Systems/1"] = {"Id": "1"}

    async def work(bmc: Bmc) -> Any:
        return (await bmc.get("/redfish/v1/Systems/1")).resource["Id"], (await bmc.root())["Vendor"]

    assert run(work).value == ("1", "Dell")
    assert tiny.sessions == {}
    assert isinstance(run(work, credentials=None).error, BmcLoginError)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_read_follows_a_moved_resource_on_the_same_bmc(tiny: Tiny, run: Asker, status: int) -> None:
    tiny.rules["GET", "/redfish/v1/Old"] = lambda request: web.Response(
        status=status, headers={"Location": f"https://127.0.0.1:{tiny.port}/redfish/v1/New"}
    )
    tiny.tree["/redfish/v1/New"] = {"Id": "new"}
    outcome = run(lambda bmc: bmc.get("/redfish/v1/Old"))
    assert outcome.value.resource == {"Id": "new"}


def test_a_resource_that_moves_in_circles_is_an_error(tiny: Tiny, run: Asker) -> None:
    tiny.rules["GET", "/redfish/v1/Old"] = lambda request: web.Response(
        status=308, headers={"Location": "/redfish/v1/Old"}
    )
    outcome = run(lambda bmc: bmc.get("/redfish/v1/Old"))
    assert "308" in str(outcome.error)
    assert len(tiny.asked("GET", "/redfish/v1/Old")) == 3


def test_odd_members_are_noted_and_the_rest_is_read(tiny: Tiny, run: Asker) -> None:
    path = "/redfish/v1/Systems/1/Things"
    licence = {
        "error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.7.LIC501", "Message": "No license."}]}
    }
    tiny.rules["GET", f"{path}?$expand=*($levels=1)"] = lambda request: web.json_response(
        {
            "Members": [
                {"@odata.id": f"{path}/1", "Id": "1"},
                None,
                {"@odata.id": f"{path}/gone"},
                {"@odata.id": f"{path}/bare"},
                {"@odata.id": f"{path}/licence", **licence},
                {"@odata.id": f"{path}/1", "Id": "1"},
                {},
            ],
            "Members@odata.nextLink": f"{path}?$skip=7",
        }
    )
    tiny.tree[f"{path}/bare"] = {"@odata.id": f"{path}/bare", "Id": "bare"}
    tiny.rules["GET", f"{path}?$skip=7"] = lambda request: web.json_response(
        {"Members": [{"@odata.id": f"{path}/9", "Id": "9"}], "Members@odata.nextLink": f"{path}?$skip=7"}
    )

    async def work(bmc: Bmc) -> Any:
        return [member["Id"] for member in await bmc.members(path)]

    outcome = run(work)
    assert outcome.value == ["1", "bare", "9"]
    noted = " | ".join(f"{note.path} {note.text}" for note in outcome.notes)
    for text in ("no object", f"{path}/gone listed, but not there", "LIC501", "listed twice", "pages repeat"):
        assert text in noted


@pytest.mark.parametrize("answer", [{"Members": None}, {"Members": {}}, {}])
def test_a_collection_without_members_is_empty_and_noted(tiny: Tiny, run: Asker, answer: Any) -> None:
    tiny.rules["GET", "/redfish/v1/Fabrics?$expand=*($levels=1)"] = lambda request: web.json_response(answer)
    outcome = run(lambda bmc: bmc.members("/redfish/v1/Fabrics"))
    assert (outcome.value, outcome.error) == ([], None)
    assert outcome.notes


def test_a_bare_503_to_a_command_is_not_followed_by_a_second_command(tiny: Tiny, run: Asker) -> None:
    path = "/redfish/v1/Systems/1/Actions/Reset"
    tiny.rules["POST", path] = lambda request: web.Response(status=503)
    assert run(lambda bmc: bmc.post(path, {})).error is not None
    assert len(tiny.asked("POST", path)) == 1
    tiny.rules["POST", path] = lambda request: web.Response(status=504)
    assert isinstance(run(lambda bmc: bmc.post(path, {})).error, BmcOutcomeUnknownError)
    assert len(tiny.asked("POST", path)) == 2


def test_a_command_refused_by_name_as_not_ready_is_sent_again(tiny: Tiny, run: Asker, clock: Clock) -> None:
    path = "/redfish/v1/Systems/1/Actions/Reset"
    answers = [message(503, "SYS518", "Retry in 30 seconds"), web.Response(status=204)]
    tiny.rules["POST", path] = lambda request: answers.pop(0)
    assert run(lambda bmc: bmc.post(path, {})).value.status == 204
    assert [30 <= seconds <= 33 for seconds in clock.slept] == [True]


def test_a_bmc_that_is_waited_for_is_told_of_until_it_goes_on(tiny: Tiny, run: Asker) -> None:
    tiny.tree["/redfish/v1/X"] = {"Id": "1"}
    said: list[tuple[str, bool]] = []
    left = [message(503, "SYS518", "iDRAC is not ready. Retry in 30 seconds.") for _ in range(2)]
    tiny.rules["GET", "/redfish/v1/X"] = lambda request: left.pop() if left else None
    outcome = run(
        lambda bmc: bmc.get("/redfish/v1/X"), waiting=lambda target, waits: said.append((target.host, waits))
    )
    assert outcome.error is None
    assert said == [("gpu001", True), ("gpu001", True), ("gpu001", False)]
