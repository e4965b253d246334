"""MAAS and Ironic, when an answer does not come: both drivers tell the same of the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.http.asked import Asked
from provision.ironic.answers import error_of as ironic_error
from provision.ironic.driver import open_ironic
from provision.ironic.link import IronicLink
from provision.ironic.settings import IronicSettings
from provision.maas.answers import error_of as maas_error
from provision.maas.provisioner import open_maas
from provision.maas.settings import MaasSettings
from provision.maas.transport import MaasTransport
from provision.maas.wire import Ask
from tests.provision.maas.maas_script import KEY, Say, as_json, broken, late, plain, scripted

ROOT = json.dumps({"default_version": {"min_version": "1.1", "version": "1.115"}})
ANSWER_S = 0.5


async def no_wait(_: float) -> None:
    await asyncio.sleep(0)


async def by_maas(url: str, *, write: bool) -> Any:
    transport = MaasTransport(MaasSettings(f"{url}/MAAS", Secret(KEY), answer_s=ANSWER_S), sleep=no_wait)
    try:
        return await transport.send(
            Ask("POST", "machines/a/", "release") if write else Ask("GET", "machines/")
        )
    finally:
        await transport.close()


async def by_ironic(url: str, *, write: bool) -> Any:
    link = IronicLink(IronicSettings(url, answer_s=ANSWER_S), sleep=no_wait)
    try:
        if write:
            return await link.write("PUT", "/v1/nodes/a/states/provision", {"target": "deleted"})
        return await link.get("/v1/nodes")
    finally:
        await link.close()


DRIVERS: dict[str, Callable[..., Awaitable[Any]]] = {"MAAS": by_maas, "Ironic": by_ironic}


def telling(say: Say) -> Say:
    """Ironic's first question is answered; everything else as it is told."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return web.Response(text=ROOT, content_type="application/json")
        return await say(request)

    return answer


def of(driver: str, say: Say | None, *, write: bool, url: str = "") -> tuple[ProvisionerError, int]:
    """The error, and how many requests came beside Ironic's first question."""

    async def run() -> tuple[ProvisionerError, int]:
        async with scripted(telling(say or as_json({}))) as script:
            with pytest.raises(ProvisionerError) as caught:
                await DRIVERS[driver](url or script.url.removesuffix("/MAAS"), write=write)
            return caught.value, sum(got.path != "/" for got in script.got)

    return asyncio.run(asyncio.wait_for(run(), 30))


async def short(request: web.Request) -> web.StreamResponse:
    """Less than was promised."""
    response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"a"')
    assert request.transport is not None
    request.transport.close()
    return response


async def gibberish(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.write(b"gibberish\r\n\r\n")
    request.transport.close()
    return web.Response()


async def no_json(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>", content_type="application/json")


LOST: dict[str, tuple[Say, type[ProvisionerError]]] = {
    "the connection breaks": (broken(), ProvisionerUnreachableError),
    "it is cut short": (short, ProvisionerGarbledError),
    "it is no HTTP": (gibberish, ProvisionerGarbledError),
    "it is no JSON": (no_json, ProvisionerGarbledError),
    "it is late": (late(5), ProvisionerDeadlineError),
    "500": (plain(500, "x"), ProvisionerAnswerError),
    "502": (plain(502, "x"), ProvisionerUnreachableError),
    "503": (plain(503, "x"), ProvisionerUnreachableError),
    "504": (plain(504, "x"), ProvisionerDeadlineError),
}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("say", "kind"), LOST.values(), ids=list(LOST))
def test_a_read_without_a_good_answer_is_the_same_error_by_both(
    driver: str, say: Say, kind: type[ProvisionerError]
) -> None:
    assert type(of(driver, say, write=False)[0]) is kind


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("say", [say for say, _ in LOST.values()], ids=list(LOST))
def test_a_write_without_a_good_answer_may_have_been_carried_out_and_is_sent_once(
    driver: str, say: Say
) -> None:
    error, came = of(driver, say, write=True)
    assert type(error) is ProvisionerOutcomeUnknownError
    assert "may have been carried out" in str(error)
    assert came == 1


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("write", [False, True])
def test_a_redirect_is_not_followed(driver: str, write: bool) -> None:
    error, came = of(driver, plain(307, "", Location="/elsewhere"), write=write)
    assert type(error) is ProvisionerAnswerError
    assert came == 1


NOWHERE = {
    "http://127.0.0.1:1": "no connection to",
    "https://127.0.0.1:1": "no connection to",
    "http://no-such-host.invalid": "no connection to",
    "http://127.0.0.1:99999": "url is no address",
    "http://127.0.0.1:0": "url is no address",
    "http://[::1": "url is no address",
    "http://127.0.0.1:x": "url is no address",
    "http://a..b": "no connection to",
    "http://" + "a" * 70: "no connection to",
    "nothing": "url is no address",
    "": "url is no address",
}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(("url", "words"), NOWHERE.items(), ids=list(NOWHERE))
def test_a_request_that_was_never_sent_has_not_been_carried_out(
    driver: str, write: bool, url: str, words: str
) -> None:
    async def run() -> ProvisionerError:
        with pytest.raises(ProvisionerError) as caught:
            await DRIVERS[driver](url, write=write)
        return caught.value

    error = asyncio.run(asyncio.wait_for(run(), 30))
    assert type(error) is ProvisionerUnreachableError
    assert words in str(error)
    assert "may have been" not in str(error)


def test_a_write_to_a_server_that_accepts_and_says_nothing_of_tls_was_never_sent() -> None:
    async def run() -> list[ProvisionerError]:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        errors = []
        for driver in DRIVERS.values():
            with pytest.raises(ProvisionerError) as caught:
                await driver(url, write=True)
            errors.append(caught.value)
        server.close()
        return errors

    errors = asyncio.run(asyncio.wait_for(run(), 30))
    assert {type(error) for error in errors} == {ProvisionerUnreachableError}


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_of_authorities_that_cannot_be_read_is_named_by_both(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)

    async def ironic() -> None:
        async with open_ironic(IronicSettings("https://127.0.0.1:1", ca_file=str(path))):
            raise AssertionError

    async def maas() -> None:
        async with open_maas(MaasSettings("https://127.0.0.1:1/MAAS", Secret(KEY), str(path))):
            raise AssertionError

    for opened in (ironic, maas):
        with pytest.raises(ProvisionerUnreachableError, match="no authorities can be read") as caught:
            asyncio.run(opened())
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_answer_larger_than_any_that_makes_sense_is_not_read(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provision.http.edge.LARGEST_BODY", 1000)
    assert type(of(driver, plain(200, "x" * 100_000), write=False)[0]) is ProvisionerGarbledError
    assert type(of(driver, plain(200, "x" * 100_000), write=True)[0]) is ProvisionerOutcomeUnknownError


@pytest.mark.parametrize("status", range(500, 600))
@pytest.mark.parametrize("write", [False, True])
def test_a_servers_own_failure_is_the_same_error_in_both_tables(status: int, write: bool) -> None:
    asked = Asked("POST" if write else "GET", "x")
    ours = ironic_error(status, "boom", str(asked), write=write)
    assert type(ours) is type(maas_error(asked, status, {}, "boom"))
