"""A server between the driver and an Ironic: passes requests on, and loses an answer, or answers by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

Reply = tuple[int, str]


class Between:
    """Listens on loopback.

    :param to: URL of the Ironic, empty when it answers all by itself. :ivar asked: method and path of each request.
    :ivar lose: number of the request (from 1) whose answer is lost: it is passed on, then the connection breaks.
    :ivar answer: answers a request by itself, None passes it on.
    """

    def __init__(self, to: str = "") -> None:
        self.to = to
        self.asked: list[tuple[str, str]] = []
        self.lose = 0
        self.answer: Callable[[str, str], Reply | None] = lambda method, path: None
        self.url = ""

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One request."""
        self.asked.append((request.method, request.path))
        number = len(self.asked)
        own = self.answer(request.method, request.path_qs)
        status, raw, kind = (
            (own[0], own[1].encode(), "application/json") if own else await self._pass_on(request)
        )
        if number == self.lose and request.transport is not None:
            request.transport.abort()
        return web.Response(status=status, body=raw, headers={"Content-Type": kind})

    async def _pass_on(self, request: web.Request) -> tuple[int, bytes, str]:
        names = ("Authorization", "X-OpenStack-Ironic-API-Version", "Content-Type")
        headers = {name: request.headers[name] for name in names if name in request.headers}
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, self.to + request.path_qs, data=await request.read(), headers=headers
            ) as answer,
        ):
            return answer.status, await answer.read(), answer.headers.get("Content-Type", "application/json")


@asynccontextmanager
async def between(to: str = "") -> AsyncIterator[Between]:
    """Serving; ends with the block."""
    made = Between(to)
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", made.serve)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        made.url = f"http://127.0.0.1:{port}"
        yield made
    finally:
        await runner.cleanup()
