"""One BMC's requests over both transports: login, reads, writes, logout."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from fabricctl.errors import BmcLoginError, BmcNotFoundError
from provision.redfish.bmc import Bmc
from tests.provision.redfish.conftest import Asker
from tests.provision.redfish.tiny import SESSIONS, Tiny


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
