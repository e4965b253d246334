"""Answers no BMC should give: without end or reason, with links to elsewhere, with waits until the year 9999."""

from __future__ import annotations

import asyncio
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import BmcCutError, BmcGarbledError, BmcLinkError, BmcNotReadyError, BmcTooLargeError
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import Limits
from provision.redfish.transport import LARGEST_BODY
from tests.provision.redfish.conftest import Asker, Clock
from tests.provision.redfish.tiny import SESSIONS, Tiny, TinyServer, message

PATH = "/redfish/v1/Systems/1/Things"
EXPANDED = f"{PATH}?$expand=*($levels=1)"
BUDGET_S = 180.0


def bare(request: web.Request) -> web.Response:
    return web.Response(status=503)


# --- answers without a reason ---------------------------------------------------------------------------------------


def test_a_503_without_a_reason_is_asked_for_three_times_within_seconds(
    tiny: Tiny, run: Asker, clock: Clock
) -> None:
    tiny.rules["GET", PATH] = bare
    outcome = run(lambda bmc: bmc.get(PATH))
    assert isinstance(outcome.error, BmcNotReadyError)
    assert not outcome.error.named
    assert "HTTP 503 without a reason, asked 3 times" in str(outcome.error)
    assert len(tiny.asked("GET", PATH)) == 3
    assert 5 < sum(clock.slept) < 20


def test_a_503_that_passes_is_waited_for(tiny: Tiny, run: Asker) -> None:
    answers: list[web.Response | None] = [web.Response(status=503), web.Response(status=503), None]
    tiny.rules["GET", PATH] = lambda request: answers.pop(0)
    tiny.tree[PATH] = {"Id": "1"}
    assert run(lambda bmc: bmc.get(PATH)).value.resource == {"Id": "1"}


def test_many_resources_without_a_reason_leave_most_of_the_budget(
    tiny: Tiny, run: Asker, clock: Clock
) -> None:
    paths = [f"{PATH}/{number}" for number in range(20)]
    for path in paths:
        tiny.rules["GET", path] = bare
    answers: list[web.Response | None] = [message(503, "SYS518", "Retry in 120 seconds"), None]
    tiny.rules["GET", PATH] = lambda request: answers.pop(0)
    tiny.tree[PATH] = {"Id": "1"}

    async def work(bmc: Bmc) -> Any:
        for path in paths:
            with pytest.raises(BmcNotReadyError):
                await bmc.get(path)
        mute = sum(clock.slept)
        return mute, (await bmc.get(PATH)).resource

    outcome = run(work)
    assert outcome.error is None, outcome.error
    mute, resource = outcome.value
    assert mute <= BUDGET_S / 6
    assert resource == {"Id": "1"}


def test_a_member_without_a_reason_is_noted_and_the_rest_is_read(tiny: Tiny, run: Asker) -> None:
    tiny.rules["GET", EXPANDED] = bare
    tiny.tree[PATH] = {"Members": [{"@odata.id": f"{PATH}/{number}"} for number in (1, 2)]}
    tiny.tree[f"{PATH}/1"] = {"Id": "1"}
    tiny.rules["GET", f"{PATH}/2"] = bare
    outcome = run(lambda bmc: bmc.members(PATH))
    assert (outcome.error, outcome.value) == (None, [{"Id": "1"}])
    assert any(note.path == f"{PATH}/2" and "HTTP 503" in note.text for note in outcome.notes)


def test_a_member_that_says_not_ready_itself_is_not_left_out(tiny: Tiny, run: Asker) -> None:
    tiny.rules["GET", EXPANDED] = lambda request: web.Response(status=501)
    tiny.tree[PATH] = {"Members": [{"@odata.id": f"{PATH}/1"}]}
    tiny.rules["GET", f"{PATH}/1"] = lambda request: message(503, "SYS518", "Retry in 30 seconds")
    outcome = run(lambda bmc: bmc.members(PATH))
    assert isinstance(outcome.error, BmcNotReadyError)
    assert outcome.error.named


def test_while_a_bmc_is_known_to_restart_its_web_server_may_say_503_for_minutes(
    tiny: Tiny, run: Asker, clock: Clock
) -> None:
    tiny.rules["GET", PATH] = lambda request: bare(request) if clock.now < 1400.0 else None
    tiny.tree[PATH] = {"Id": "1"}
    assert run(lambda bmc: bmc.get(PATH, absent_s=600.0)).value.resource == {"Id": "1"}
    assert len(tiny.asked("GET", PATH)) < 100


# --- when to come back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after",
    [
        "999999999",
        "9" * 40,
        "-5",
        "0",
        "1e9",
        "soon",
        "",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri, 32 Foo 99999 23:59:59 GMT",
        "\u0663\u0660",
    ],
)
def test_whatever_retry_after_says_the_budget_bounds_waits_and_requests(
    tiny: Tiny, run: Asker, clock: Clock, after: str
) -> None:
    tiny.rules["GET", PATH] = lambda request: web.Response(status=503, headers={"Retry-After": after})
    outcome = run(lambda bmc: bmc.get(PATH))
    assert isinstance(outcome.error, BmcNotReadyError)
    assert sum(clock.slept) <= BUDGET_S
    assert len(tiny.asked("GET", PATH)) <= 20


def test_a_wait_that_a_sentence_asks_for_is_bounded_by_the_budget(
    tiny: Tiny, run: Asker, clock: Clock
) -> None:
    tiny.rules["GET", PATH] = lambda request: message(503, "SYS518", "Retry in 99999 minutes")
    assert isinstance(run(lambda bmc: bmc.get(PATH)).error, BmcNotReadyError)
    assert clock.slept == []


# --- answers without end --------------------------------------------------------------------------------------------


async def endless(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": "application/json"})
    await answer.prepare(request)
    await answer.write(b"[")
    while True:  # until the client closes the connection
        await answer.write(b" " * 2**20)
        await asyncio.sleep(0)  # else it does not notice


def packed(raw: bytes, times: int = 1) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([*(packer.compress(raw) for _ in range(times)), packer.flush()])


BOMB = packed(b" " * 2**20, 160)


def bomb(request: web.Request) -> web.Response:
    return web.Response(body=BOMB, headers={"Content-Encoding": "gzip"})


@pytest.mark.parametrize("handler", [endless, bomb])
def test_an_answer_without_end_is_given_up_before_it_eats_the_memory(
    tiny: Tiny, run: Asker, handler: Callable[..., Any]
) -> None:
    tiny.rules["GET", PATH] = handler
    tracemalloc.start()
    try:
        outcome = run(lambda bmc: bmc.get(PATH), limits=Limits(quick_s=60.0))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(outcome.error, BmcTooLargeError)
    assert "an answer of more than 32 MiB" in str(outcome.error)
    assert len(tiny.asked("GET", PATH)) == 1
    assert peak < 3 * LARGEST_BODY


@pytest.mark.parametrize("encoding", ["gzip", "X-Gzip"])
def test_an_answer_that_is_packed_against_our_wish_is_read(tiny: Tiny, run: Asker, encoding: str) -> None:
    tiny.rules["GET", PATH] = lambda request: web.Response(
        body=packed(b'{"Id": "1"}'), headers={"Content-Encoding": encoding}
    )
    assert run(lambda bmc: bmc.get(PATH)).value.resource == {"Id": "1"}


@pytest.mark.parametrize(
    ("encoding", "body", "why"),
    [
        ("gzip", packed(b'{"Id": "1"}')[:-12], "cut short"),
        ("gzip", b"not packed at all", "damaged"),
        ("br", b"\x0b\x05\x80{}\x03", "packed as 'br'"),
    ],
)
def test_an_answer_that_cannot_be_unpacked_is_garbled(
    tiny: Tiny, run: Asker, encoding: str, body: bytes, why: str
) -> None:
    tiny.rules["GET", PATH] = lambda request: web.Response(body=body, headers={"Content-Encoding": encoding})
    outcome = run(lambda bmc: bmc.get(PATH))
    assert isinstance(outcome.error, BmcGarbledError)
    assert why in str(outcome.error)
    tiny.rules["POST", PATH] = lambda request: web.Response(
        status=400, body=body, headers={"Content-Encoding": encoding}
    )
    assert "HTTP 400" in str(run(lambda bmc: bmc.post(PATH)).error)  # a refusal stays one


@pytest.mark.parametrize("one", ["[", '{"a":'])
def test_an_answer_nested_without_end_is_garbled(tiny: Tiny, run: Asker, one: str) -> None:
    tiny.rules["GET", PATH] = lambda request: web.Response(text=one * 300_000)
    outcome = run(lambda bmc: bmc.get(PATH))
    assert isinstance(outcome.error, BmcGarbledError)
    tiny.rules["GET", PATH] = lambda request: web.Response(text=one * 300_000, status=400)
    assert "HTTP 400" in str(run(lambda bmc: bmc.get(PATH)).error)


# --- links to elsewhere ---------------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Tiny]:
    (tmp_path / "elsewhere").mkdir()
    with TinyServer(tmp_path / "elsewhere", address="127.0.0.2") as service:
        yield service


def odd_links(elsewhere: Tiny) -> list[str]:
    host = f"{elsewhere.address}:{elsewhere.port}"
    return [
        f"https://{host}/redfish/v1/X",
        f"//{host}/redfish/v1/X",
        f"https://127.0.0.1@{host}/redfish/v1/X",
        "/redfish/v1/../../X",
        "/redfish/v1/%2e%2e/X",
        "/redfish/v1/X\r\nX-Header: y",
        "/redfish/v1/\x1b[2JX",
    ]


def nobody_was_asked(tiny: Tiny, elsewhere: Tiny) -> bool:
    asked = [one.path for one in tiny.seen]
    return elsewhere.seen == [] and not any("X" in path or ".." in path for path in asked)


def test_a_link_to_elsewhere_is_refused_and_noted(tiny: Tiny, run: Asker, elsewhere: Tiny) -> None:
    links = odd_links(elsewhere)

    async def work(bmc: Bmc) -> None:
        await bmc.get(SESSIONS + "/1")  # logged in: there is a token to steal
        for link in links:
            for ask in (bmc.get, bmc.members, bmc.post, bmc.delete):
                with pytest.raises(BmcLinkError, match="not followed"):
                    await ask(link)  # type: ignore[operator]
            with pytest.raises(BmcLinkError, match="not followed"):
                await bmc.patch(link, {})

    outcome = run(work)
    assert outcome.error is None, outcome.error
    assert nobody_was_asked(tiny, elsewhere)
    assert len(outcome.notes) == len(links)
    assert all(note.path.isprintable() and "not followed" in note.text for note in outcome.notes)


def test_members_and_pages_elsewhere_are_left_out(tiny: Tiny, run: Asker, elsewhere: Tiny) -> None:
    for link in odd_links(elsewhere):
        tiny.rules["GET", EXPANDED] = lambda request, link=link: web.json_response(  # type: ignore[misc]
            {
                "Members": [{"@odata.id": link}, {"@odata.id": f"{PATH}/1", "Id": "1"}],
                "Members@odata.nextLink": link,
            }
        )
        outcome = run(lambda bmc: bmc.members(PATH))
        assert [member["Id"] for member in outcome.value] == ["1"]
        noted = [note.text for note in outcome.notes]
        assert isinstance(outcome.error, BmcCutError)
        assert len(noted) == 1
        assert nobody_was_asked(tiny, elsewhere)


def test_a_redirect_to_elsewhere_is_not_followed(tiny: Tiny, run: Asker, elsewhere: Tiny) -> None:
    for link in odd_links(elsewhere)[:5]:
        tiny.rules["GET", PATH] = lambda request, link=link: web.Response(  # type: ignore[misc]
            status=308, headers={"Location": link}
        )
        outcome = run(lambda bmc: bmc.get(PATH))
        assert "HTTP 308" in str(outcome.error)
        assert any("not followed" in note.text for note in outcome.notes)
        assert nobody_was_asked(tiny, elsewhere)


@pytest.mark.parametrize(
    "location", ["https://[", "http://", "https://127.0.0.1:port/", "https://192.0.2.1:99999/redfish/v1/Y"]
)
def test_a_redirect_to_nowhere_is_an_answer(tiny: Tiny, run: Asker, location: str) -> None:
    tiny.rules["GET", PATH] = lambda request: web.Response(status=302, headers={"Location": location})
    assert "HTTP 302" in str(run(lambda bmc: bmc.get(PATH)).error)
    tiny.rules["POST", PATH] = lambda request: web.Response(status=302, headers={"Location": location})
    assert "HTTP 302" in str(run(lambda bmc: bmc.post(PATH)).error)
    assert len(tiny.asked("POST", PATH)) == 1


def test_the_password_never_goes_where_a_root_says(tiny: Tiny, run: Asker, elsewhere: Tiny) -> None:
    host = f"{elsewhere.address}:{elsewhere.port}"
    tiny.tree["/redfish/v1"]["Links"]["Sessions"]["@odata.id"] = f"https://{host}/redfish/v1/X"
    tiny.tree[PATH] = {"Id": "1"}
    try:
        outcome = run(lambda bmc: bmc.get(PATH))
    finally:
        tiny.tree["/redfish/v1"]["Links"]["Sessions"]["@odata.id"] = SESSIONS
    assert outcome.value.resource == {"Id": "1"}
    assert nobody_was_asked(tiny, elsewhere)
    assert tiny.sessions == {}


def test_a_session_named_by_an_inner_address_is_ended_on_this_bmc(tiny: Tiny, run: Asker) -> None:
    def login(request: web.Request) -> web.Response:
        tiny.sessions[f"{SESSIONS}/7"] = ("root", "token-7")
        where = f"https://10.0.0.1{SESSIONS}/7"
        return web.json_response({}, status=201, headers={"Location": where, "X-Auth-Token": "token-7"})

    tiny.rules["POST", SESSIONS] = login
    tiny.tree[PATH] = {"Id": "1"}
    assert run(lambda bmc: bmc.get(PATH)).value.resource == {"Id": "1"}
    assert tiny.sessions == {}
