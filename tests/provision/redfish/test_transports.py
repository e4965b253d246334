"""What both transports must do alike at the edge to the network."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import (
    BmcDeadlineError,
    BmcError,
    BmcFingerprintError,
    BmcGarbledError,
    BmcTlsError,
    BmcUnreachableError,
)
from provision.bmc.reply import Reply
from provision.bmc.target import Target, Trust, Verify
from provision.redfish.aio import AiohttpTransport
from provision.redfish.dmtf import DmtfTransport
from provision.redfish.transport import Transport
from tests.provision.plain_server import plain_server
from tests.provision.redfish.conftest import target_of
from tests.provision.redfish.tiny import Tiny, TinyServer, self_signed

PATH = "/redfish/v1/X"
Send = Callable[..., Reply]


@pytest.fixture
def send(writes: bool) -> Send:
    """Send one request over one of the transports."""

    def sending(target: Target, method: str = "GET", path: str = PATH, **more: Any) -> Reply:
        fields = {"deadline_s": 5.0, "headers": {}, **more}

        async def once(transport: Transport) -> Reply:
            try:
                return await transport.send(method, path, **fields)
            finally:
                await transport.close()

        async def run() -> Reply:
            if not writes:
                return await once(AiohttpTransport(target))
            with ThreadPoolExecutor(2) as threads:
                return await once(DmtfTransport(target, threads))

        return asyncio.run(run())

    return sending


def rule(tiny: Tiny, method: str, handler: Callable[[web.Request], Any]) -> None:
    tiny.rules[method, PATH] = handler


def body_of(size: int) -> web.Response:
    return web.Response(body=b"[" + b" " * size + b"]", content_type="application/json")


async def cut(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Length": "1000"})
    await answer.prepare(request)
    await answer.write(b'{"a": ')
    assert request.transport is not None
    request.transport.close()
    return answer


async def cut_chunked(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse()
    answer.enable_chunked_encoding()
    await answer.prepare(request)
    await answer.write(b'{"a": ')
    assert request.transport is not None
    request.transport.close()
    return answer


async def dribble(request: web.Request) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Length": "1000"})
    await answer.prepare(request)
    for _ in range(1000):
        await answer.write(b" ")
        await asyncio.sleep(0.02)
    return answer


async def hang(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response()


def reset(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def test_an_answer_comes_as_it_was_whatever_its_status(tiny: Tiny, send: Send) -> None:
    rule(tiny, "GET", lambda request: web.json_response({"a": 1}, status=503, headers={"Retry-After": "7"}))
    reply = send(target_of(tiny))
    assert (reply.path, reply.status, reply.body, reply.headers["retry-after"]) == (PATH, 503, {"a": 1}, "7")


def test_the_request_is_sent_as_given(tiny: Tiny, send: Send) -> None:
    query = "?$expand=*($levels=1)&$filter=Created%20ge%20'2024-01-01'"
    send(target_of(tiny), "PATCH", PATH + query, headers={"X-Auth-Token": "t"}, body={"ä": None})
    seen = tiny.seen[0]
    assert (seen.method, seen.body) == ("PATCH", {"ä": None})
    assert seen.headers["x-auth-token"] == "t"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH"])
def test_nothing_is_sent_twice_when_the_connection_breaks(tiny: Tiny, send: Send, method: str) -> None:
    rule(tiny, method, reset)
    with pytest.raises(BmcUnreachableError) as caught:
        send(target_of(tiny), method, body={})
    assert caught.value.sent
    assert len(tiny.seen) == 1


@pytest.mark.parametrize("handler", [hang, dribble])
def test_the_deadline_is_of_the_whole_answer_and_nothing_is_sent_twice(
    tiny: Tiny, send: Send, handler: Any
) -> None:
    rule(tiny, "POST", handler)  # would take 20 s and more
    with pytest.raises(BmcDeadlineError) as caught:
        send(target_of(tiny), "POST", body={}, deadline_s=1.0)
    assert caught.value.sent
    assert len(tiny.seen) == 1


@pytest.mark.parametrize("handler", [cut, cut_chunked])
def test_a_body_cut_short_is_garbled(tiny: Tiny, send: Send, handler: Any) -> None:
    rule(tiny, "GET", handler)
    with pytest.raises(BmcGarbledError, match="cut short"):
        send(target_of(tiny))


def test_a_success_that_is_no_json_is_garbled_and_an_error_is_not(tiny: Tiny, send: Send) -> None:
    rule(tiny, "GET", lambda request: web.Response(text="<html>", content_type="text/html"))
    with pytest.raises(BmcGarbledError, match="expected JSON"):
        send(target_of(tiny))
    rule(tiny, "GET", lambda request: web.Response(text="<html>", status=400))
    assert send(target_of(tiny)).body is None


def test_bytes_that_are_no_utf8_do_not_cost_the_answer(tiny: Tiny, send: Send) -> None:
    rule(tiny, "GET", lambda request: web.Response(body=b'{"SerialNumber": "\xff\xff\x01"}'))
    assert send(target_of(tiny)).body["SerialNumber"] == "\ufffd\ufffd\x01"


def test_a_redirect_is_an_answer(tiny: Tiny, send: Send) -> None:
    rule(tiny, "GET", lambda request: web.Response(status=308, headers={"Location": "/redfish/v1/Y"}))
    assert send(target_of(tiny)).location == "/redfish/v1/Y"
    assert len(tiny.seen) == 1


def test_nobody_listens(tiny: Tiny, send: Send) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    with pytest.raises(BmcUnreachableError, match="refused") as caught:
        send(Target("gpu001", "127.0.0.1", free, trust=Trust(fingerprint="0" * 64)))
    assert not caught.value.sent


def test_a_name_nobody_knows(send: Send) -> None:
    with pytest.raises(BmcUnreachableError) as caught:
        send(Target("gpu001", "bmc.invalid", trust=Trust(fingerprint="0" * 64)))
    assert not caught.value.sent


def test_another_certificate_than_the_pinned_one_gets_nothing(tiny: Tiny, send: Send) -> None:
    with pytest.raises(BmcFingerprintError) as caught:
        send(target_of(tiny, trust=Trust(fingerprint="ab" * 32)), "POST", body={"Password": "x"})
    text = str(caught.value)
    assert "expected the pinned certificate " + "ab" * 32 in text
    assert f"found {tiny.fingerprint}" in text
    assert not caught.value.sent
    assert tiny.seen == []


def test_an_authority_vouches(tiny: Tiny, send: Send, tmp_path: Path) -> None:
    rule(tiny, "GET", lambda request: web.json_response({}))
    ours = Trust(Verify.CA, ca_file=tiny.ca_file)
    assert send(target_of(tiny, trust=ours)).ok
    (tmp_path / "other").mkdir()
    other, _, _ = self_signed(tmp_path / "other")
    with pytest.raises(BmcTlsError, match="do not vouch") as caught:
        send(target_of(tiny, trust=Trust(Verify.CA, ca_file=str(other))))
    assert not caught.value.sent


def test_an_authority_vouches_for_the_address_only(tiny: Tiny, send: Send) -> None:
    trust = Trust(Verify.CA, ca_file=tiny.ca_file)
    with pytest.raises(BmcTlsError, match="vouch"):
        send(Target("gpu001", "localhost", tiny.port, trust=trust))


def test_a_file_of_authorities_that_is_not_there_says_so(tiny: Tiny, send: Send) -> None:
    with pytest.raises(BmcTlsError, match=r"authorities in /nowhere/ca.pem cannot be read"):
        send(target_of(tiny, trust=Trust(Verify.CA, ca_file="/nowhere/ca.pem")))


def test_verification_is_off_only_where_it_was_switched_off(tiny: Tiny, send: Send) -> None:
    rule(tiny, "GET", lambda request: web.json_response({}))
    assert send(target_of(tiny, trust=Trust(Verify.OFF, "ab" * 32))).ok


def only_tls_1_1(context: ssl.SSLContext) -> None:
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_tls_needs_a_lowered_floor_and_is_still_pinned(tmp_path: Path, send: Send) -> None:
    with TinyServer(tmp_path, only_tls_1_1) as tiny:
        rule(tiny, "GET", lambda request: web.json_response({}))
        pin = tiny.fingerprint
        with pytest.raises((BmcTlsError, BmcUnreachableError), match="tls_floor") as caught:
            send(target_of(tiny))
        assert not caught.value.sent
        assert send(target_of(tiny, trust=Trust(fingerprint=pin, tls_floor="1.0"))).ok
        with pytest.raises(BmcFingerprintError):
            send(target_of(tiny, trust=Trust(fingerprint="ab" * 32, tls_floor="1.0")))


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\x00" * 64])
def test_a_server_that_speaks_no_tls_gets_nothing(send: Send, answer: bytes) -> None:
    with plain_server(answer) as port:
        target = Target("gpu001", "127.0.0.1", port, trust=Trust(fingerprint="ab" * 32))
        with pytest.raises(BmcError) as caught:
            send(target)
    assert isinstance(caught.value, (BmcTlsError, BmcUnreachableError))
    assert not caught.value.sent


def test_environment_proxies_and_netrc_are_not_used(
    tiny: Tiny, send: Send, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password elsewhere\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    rule(tiny, "GET", lambda request: web.json_response({}))
    assert send(target_of(tiny)).ok
    assert "authorization" not in tiny.seen[0].headers


def test_nothing_secret_is_logged_even_at_debug(
    tiny: Tiny, send: Send, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    word = 'pass"word-of-the-test'
    rule(tiny, "POST", lambda request: web.json_response({}, headers={"X-Auth-Token": "token-of-the-test"}))
    send(target_of(tiny), "POST", headers={"X-Auth-Token": "token-of-the-test"}, body={"Password": word})
    logged = json.dumps([record.getMessage() for record in caplog.records])
    assert "of-the-test" not in logged


def test_a_cancelled_request_ends_at_once(tiny: Tiny, writes: bool) -> None:
    came, ended = threading.Event(), threading.Event()

    async def held(request: web.Request) -> web.StreamResponse:
        came.set()
        try:
            return await hang(request)
        finally:
            ended.set()  # the connection was closed: nobody waits for the answer any more

    rule(tiny, "GET", held)

    async def run() -> None:
        with ThreadPoolExecutor(1) as threads:
            target = target_of(tiny)
            transport: Transport = DmtfTransport(target, threads) if writes else AiohttpTransport(target)
            task = asyncio.ensure_future(transport.send("GET", PATH, deadline_s=600.0, headers={}))
            await asyncio.to_thread(came.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await transport.close()

    asyncio.run(run())
    assert ended.wait(20)


def test_an_answer_without_end_is_given_up(tiny: Tiny, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("provision.redfish.aio", "provision.redfish.dmtf"):
        monkeypatch.setattr(f"{module}.LARGEST_BODY", 100_000)
    rule(tiny, "GET", lambda request: body_of(200_000))
    with pytest.raises(BmcGarbledError):
        send(target_of(tiny))
