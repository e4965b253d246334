"""One server by HTTP: bounded requests, each sent once, no redirect followed, no more read than fits in memory."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
from yarl import URL

from fabricctl.errors import ProvisionerError, ProvisionerUnreachableError
from provision.http.asked import Asked
from provision.http.lost import Named, lost, no_address, not_sent, unreadable

LARGEST_BODY = 64 * 2**20
"""Bytes. A commissioned machine with 9 disks has 32 KB in MAAS, so 511 of them have 16 MB."""
CONNECT_S = 10.0
"""Seconds until a connection must stand, TLS included."""


class LostError(Exception):
    """A request has no answer. :param error: for people; :param again: a read that may be sent once more."""

    def __init__(self, error: ProvisionerError, *, again: bool) -> None:
        super().__init__()
        self.error, self.again = error, again


@dataclass(frozen=True)
class Request:
    """What goes over the wire. :param url: whole, as it is sent; :param body: None when there is none."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Reply:
    """An answer, whatever it says. :param headers: names in lower case."""

    status: int
    headers: Mapping[str, str]
    raw: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """The body of an error, as text; of a very long one the beginning."""
        return self.raw[: 1 << 16].decode("utf-8", "replace")


@dataclass(frozen=True)
class Limits:
    """:param requests: under way at once; :param answer_s: seconds one answer may take.

    :param idle_s: seconds an idle connection is kept: less than the server keeps it, so that no write goes into one
        that is being closed.
    """

    requests: int
    answer_s: float
    idle_s: float


class Edge:
    """Carries requests to one server. Must be made on the event loop it is used on.

    :param ca_file: PEM file of authorities, empty means the system's.
    :raises ProvisionerUnreachableError: that file cannot be read.
    """

    def __init__(self, named: Named, limits: Limits, ca_file: str = "") -> None:
        self.requests = 0
        self._named, self._limits = named, limits
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=limits.requests,
                keepalive_timeout=limits.idle_s,
                ssl=_context(named, ca_file),
                ttl_dns_cache=300,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept": "application/json", "User-Agent": "fabricctl"},
            trust_env=False,
            trace_configs=[_connections()],
        )
        # aiohttp sends some requests a second time when their connection breaks; whoever asks decides about that
        self._session._retry_connection = False
        # time spent waiting for a free connection is not time the server takes to answer
        self._free = asyncio.Semaphore(limits.requests)

    async def send(self, asked: Asked, request: Request, deadline_s: float | None = None) -> Reply:
        """Send a request, once.

        :raises LostError: no whole answer; its error tells of a write whether it may have arrived.
        :raises ProvisionerError: an answer larger than any that makes sense.
        """
        deadline_s = deadline_s or self._limits.answer_s
        try:
            url = URL(request.url, encoded=True)
            fits = bool(url.host) and url.port != 0
        except ValueError:
            fits = False
        if not fits:
            raise no_address(self._named, asked.host)
        way = SimpleNamespace(stands=False)
        async with self._free:
            self.requests += 1
            try:
                return await self._exchange(asked, request, url, way, deadline_s)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as exc:
                if not way.stands:
                    raise LostError(not_sent(self._named, asked, exc), again=False) from None
                error, again = lost(asked, exc, deadline_s)
                raise LostError(error, again=again) from None

    async def _exchange(
        self, asked: Asked, request: Request, url: URL, way: SimpleNamespace, deadline_s: float
    ) -> Reply:
        async with self._session.request(
            request.method,
            url,
            data=request.body,
            headers=request.headers,
            skip_auto_headers=("Content-Type",),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=deadline_s, sock_connect=min(CONNECT_S, deadline_s)),
            trace_request_ctx=way,
        ) as answer:
            raw = bytearray()
            async for chunk in answer.content.iter_any():
                raw += chunk
                if len(raw) > LARGEST_BODY:
                    answer.close()
                    raise unreadable(asked, f"an answer of more than {LARGEST_BODY / 2**20:g} MiB")
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return Reply(answer.status, headers, bytes(raw))

    async def close(self) -> None:
        """Close its connections."""
        await self._session.close()
        await asyncio.sleep(0)


def _context(named: Named, ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as exc:
        raise ProvisionerUnreachableError(
            f"{ca_file}: no authorities can be read from it", hint=f"{named.section}.ca names it"
        ) from exc


def _connections() -> aiohttp.TraceConfig:
    """Tells of each request whether a connection stood for it: before that, none of it can have arrived."""

    async def stands(session: aiohttp.ClientSession, context: SimpleNamespace, params: Any) -> None:  # noqa: ARG001
        context.trace_request_ctx.stands = True

    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(stands)
    config.on_connection_reuseconn.append(stands)
    return config
