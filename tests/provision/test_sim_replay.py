"""The dump replay server answers as the dump's BMC did."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.sim.idrac.replay import SESSIONS, Replay

ROOT = "/redfish/v1"
DUMP = {
    ROOT: {"@odata.id": ROOT, "Chassis": {"@odata.id": ROOT + "/Chassis"}},
    ROOT + "/Chassis": {
        "@odata.id": ROOT + "/Chassis",
        "@odata.etag": 'W/"1"',
        "Members": [{"@odata.id": ROOT + "/Chassis/A"}, {"@odata.id": ROOT + "/Chassis/Gone"}],
        "Members@odata.count": 2,
        "Links": {"Near": {"@odata.id": ROOT + "/Chassis/A"}},
    },
    ROOT + "/Chassis/A": {"@odata.id": ROOT + "/Chassis/A", "Name": "A", "Part": {"@odata.id": ROOT + "/B"}},
    ROOT + "/B": {"@odata.id": ROOT + "/B", "Name": "B"},
    ROOT + "/Chassis?$skip=50": {"Members": []},
    ROOT + "/Licensed": {"error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.7.LIC501"}]}},
    ROOT + "/Gone": {"error": {"@Message.ExtendedInfo": [{"MessageId": "IDRAC.2.7.SYS403"}]}},
}
R750 = "redfish/dell_r750_h100_ib_idrac9_6.00.30.json"
DGX = "redfish/nvidia_dgx_h100_8xCX7.json"


def call(
    server: Replay, path: str, *, method: str = "GET", body: Any = None, token: str = "", basic: bool = True
) -> tuple[int, Any, dict[str, str]]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    headers = {"Content-Type": "application/json"}
    if token:
        headers["X-Auth-Token"] = token
    elif basic:
        headers["Authorization"] = (
            "Basic " + base64.b64encode(f"{server.user}:{server.password}".encode()).decode()
        )
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data=data, headers=headers, method=method)  # noqa: S310
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:  # noqa: S310
            text = answer.read()
            return answer.status, json.loads(text) if text else None, dict(answer.headers)
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read()), dict(refused.headers)


def test_a_session_is_opened_used_and_closed() -> None:
    with Replay(DUMP) as server:
        login = {"UserName": server.user, "Password": server.password}
        status, _, headers = call(server, SESSIONS, method="POST", body=login, basic=False)
        assert status == 201
        token, where = headers["X-Auth-Token"], headers["Location"]
        assert call(server, ROOT + "/Chassis", token=token)[0] == 200
        assert call(server, where, method="DELETE", token=token)[0] == 204
        assert call(server, ROOT + "/Chassis", token=token)[0] == 401
        assert server.sessions == {}
        assert [asked.status for asked in server.requests] == [201, 200, 204, 401]


def test_only_the_root_is_told_to_strangers() -> None:
    with Replay(DUMP) as server:
        assert call(server, ROOT, basic=False)[0] == 200
        assert call(server, ROOT + "/", basic=False)[0] == 200
        assert call(server, ROOT + "/Chassis", basic=False)[0] == 401


@pytest.mark.parametrize(
    ("path", "status"), [("/Licensed", 403), ("/Gone", 404), ("/Never", 404), ("/Chassis", 200)]
)
def test_errors_of_a_dump_go_out_with_their_status(path: str, status: int) -> None:
    with Replay(DUMP, tls=False) as server:
        assert call(server, ROOT + path)[0] == status


def test_a_page_that_was_captured_is_served_and_a_tag_comes_as_header() -> None:
    with Replay(DUMP, tls=False) as server:
        assert call(server, ROOT + "/Chassis?$skip=50")[1] == {"Members": []}
        assert call(server, ROOT + "/Chassis")[2]["ETag"] == 'W/"1"'


def test_expanded_members_come_whole_and_dangling_ones_stay_links() -> None:
    with Replay(DUMP, tls=False) as server:
        body = call(server, ROOT + "/Chassis?$expand=*($levels=1)")[1]
        assert body["Members"] == [DUMP[ROOT + "/Chassis/A"], {"@odata.id": ROOT + "/Chassis/Gone"}]
        assert body["Links"]["Near"]["Name"] == "A"
        outside_links = call(server, ROOT + "/Chassis?$expand=.($levels=2)")[1]
        assert outside_links["Members"][0]["Part"]["Name"] == "B"
        assert outside_links["Links"] == {"Near": {"@odata.id": ROOT + "/Chassis/A"}}


def test_select_keeps_annotations() -> None:
    with Replay(DUMP, tls=False) as server:
        body = call(server, ROOT + "/Chassis?$select=Members")[1]
        assert set(body) == {"@odata.id", "@odata.etag", "Members", "Members@odata.count"}


@pytest.mark.captures
@pytest.mark.parametrize(
    ("dump", "path", "status"),
    [
        (
            R750,
            "/Chassis/System.Embedded.1/NetworkAdapters/InfiniBand.Slot.7/NetworkPorts/InfiniBand.Slot.7",
            404,
        ),
        (R750, "/AccountService/ExternalAccountProviders", 403),
        (R750, "/Systems/System.Embedded.1/Oem/Dell/DellSlots?$skip=50", 200),
        (DGX, "/Oem/Ami/InventoryData", 403),
        (DGX, "/Chassis/DGX/Sensors?$skip=225", 200),
    ],
)
def test_real_dumps_answer_as_their_bmcs_did(captures: Path, dump: str, path: str, status: int) -> None:
    with Replay(captures / dump, tls=False) as server:
        assert call(server, ROOT + path)[0] == status
