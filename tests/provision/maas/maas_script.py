"""A small MAAS that answers as it is told, on the event loop of the test; it keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web

from fabricctl.errors import ProvisionerError
from provision.bmc.secret import Secret
from provision.maas.provisioner import MaasProvisioner
from provision.maas.settings import MaasSettings
from provision.maas.transport import MaasTransport
from provision.maas.wire import Answer, Ask

MACHINE = {"system_id": "abcdef", "hostname": "gpu001", "status": 4, "status_name": "Ready"}
KEY = "ConsumerKey0:TokenKey0:TokenSecret0"
T = TypeVar("T")


@dataclass(frozen=True)
class Got:
    """A request as it came."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: bytes
    headers: Mapping[str, str]
    form: tuple[tuple[str, str], ...]

    @property
    def op(self) -> str:
        return dict(self.query).get("op", "")


Say = Callable[[web.Request], Awaitable[web.StreamResponse]]


def plain(status: int, text: str = "", **headers: str) -> Say:
    """A text, as MAAS says what is wrong with a state."""

    async def say(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=text, headers=named)

    return say


def as_json(body: object, status: int = 200) -> Say:
    """JSON."""

    async def say(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status)

    return say


def broken() -> Say:
    """The connection ends without an answer."""

    async def say(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return say


def late(seconds: float) -> Say:
    """An answer after some time."""

    async def say(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return web.json_response({})

    return say


@dataclass
class Script:
    """Answers in their order, the last one again and again; what was asked; the waits between tries."""

    answers: list[Say]
    url: str = ""
    got: list[Got] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    peers: set[Any] = field(default_factory=set)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            body = await request.read()
            posted = await request.post() if request.content_type.endswith("urlencoded") else {}
            assert request.transport is not None
            self.peers.add(request.transport.get_extra_info("peername"))
            self.got.append(
                Got(
                    request.method,
                    request.path,
                    tuple(request.query.items()),
                    body,
                    dict(request.headers),
                    tuple((name, str(value)) for name, value in posted.items()),
                )
            )
            say = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
            return await say(request)
        finally:
            self.under_way -= 1

    async def sleep(self, seconds: float) -> None:
        """Does not wait."""
        self.slept.append(seconds)

    def transport(self, **options: Any) -> MaasTransport:
        """A client of it."""
        settings = MaasSettings(**{"url": self.url, "key": Secret(KEY), "answer_s": 5.0, **options})
        return MaasTransport(settings, sleep=self.sleep, dice=lambda: 0.5)


@asynccontextmanager
async def scripted(*answers: Say, context: ssl.SSLContext | None = None) -> AsyncIterator[Script]:
    """A server with these answers. :param context: it speaks TLS."""
    script = Script(list(answers))
    runner = web.AppRunner(app := web.Application(), shutdown_timeout=0.1)
    app.router.add_route("*", "/{path:.*}", script.handle)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    script.url = f"http{'s' if context else ''}://127.0.0.1:{port}/MAAS"
    try:
        yield script
    finally:
        await runner.cleanup()


def asked(
    work: Callable[[MaasProvisioner], Coroutine[Any, Any, T]], *answers: Say, **options: Any
) -> tuple[T | ProvisionerError, Script]:
    """What a method of the provisioner does with these answers: its value or error, and what was sent."""

    async def run() -> tuple[T | ProvisionerError, Script]:
        async with scripted(*answers) as script:
            maas = MaasProvisioner(script.transport(**options), answer_s=5.0)
            try:
                return await work(maas), script
            except ProvisionerError as exc:
                return exc, script
            finally:
                await maas.close()

    return asyncio.run(asyncio.wait_for(run(), 30))


def body_of(path: Any) -> Any:
    """The JSON of a recorded answer."""
    return json.loads(path.read_text("utf-8"))["response"]["json"]


READ = Ask("GET", "machines/", query=(("id", "abcdef"),))
WRITE = Ask("POST", "machines/abcdef/", "release", host="gpu001")
CONFLICT = plain(409, "", Retry_After="5")


def sent(ask: Ask, *answers: Say, **options: Any) -> tuple[Answer | ProvisionerError, Script]:
    async def run() -> tuple[Answer | ProvisionerError, Script]:
        async with scripted(*answers) as script:
            transport = script.transport(**options)
            try:
                return await transport.send(ask), script
            except ProvisionerError as exc:
                return exc, script
            finally:
                await transport.close()

    return asyncio.run(asyncio.wait_for(run(), 30))


def lines(script: Script) -> list[str]:
    """What was asked, in short."""
    return [
        f"{got.method} {got.path.partition('/api/2.0/')[2]}{f' {got.op}' if got.op else ''}"
        for got in script.got
    ]
