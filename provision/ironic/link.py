"""HTTP to Ironic: one request, its answer or its error, and waiting for nodes that Ironic itself has locked."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from fabricctl.errors import (
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerUnreachableError,
)
from provision.ironic.answers import error_of, told
from provision.ironic.settings import IronicSettings
from provision.ironic.version import Version, agreed, written

HEADER = "X-OpenStack-Ironic-API-Version"
CONNECT_S = 10.0
LARGEST = 64 * 2**20
IDLE_S = 4.0
"""Ironic closes connections that are idle for ten seconds; a write on one of them would be lost."""
AGAIN_S = 2.0
SHORTEST = 4
"""Shorter secrets are not looked for: they stand in every other word."""


class IronicLink:
    """One Ironic. Made on the event loop it is used on."""

    def __init__(
        self,
        settings: IronicSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.sleep, self.clock = settings, sleep, clock
        self.requests = 0
        self._gate = asyncio.Semaphore(settings.requests)
        self._version: Version | None = None
        self._secrets: set[str] = set()
        secret = settings.password
        if secret:
            self.learn(secret.reveal())
        context = ssl.create_default_context(cafile=settings.ca_file) if settings.ca_file else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context, limit=settings.requests, keepalive_timeout=IDLE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=_headers(settings),
            timeout=aiohttp.ClientTimeout(total=settings.answer_s, sock_connect=CONNECT_S),
            trust_env=False,
        )
        # aiohttp sends some requests a second time when a connection breaks; no write may be sent twice
        self._session._retry_connection = False

    def learn(self, secret: str) -> None:
        """A secret that is sent: it is taken out of everything Ironic says."""
        if len(secret) >= SHORTEST:
            self._secrets |= {secret, json.dumps(secret)[1:-1]}

    def clean(self, text: str) -> str:
        """A text of Ironic without the secrets that were sent to it."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    async def version(self) -> Version:
        """The microversion that is spoken; asked once. :raises ProvisionerUnsupportedError: there is none."""
        if self._version is None:
            self._version = agreed(await self._once("GET", "/", None, None))
        return self._version

    async def get(self, path: str) -> Any:
        """Read something. :raises ProvisionerError: as the table of ``answers`` says."""
        return await self._once("GET", path, None, await self.version())

    async def write(self, method: str, path: str, body: Any = None) -> Any:
        """Change something; sent again only where Ironic said that it did nothing because the node was locked.

        :raises ProvisionerBusyError: it was still locked when the time was spent.
        :raises ProvisionerOutcomeUnknownError: no answer, or Ironic's own failure.
        """
        version = await self.version()
        until = self.clock() + self.settings.locked_s
        while True:
            try:
                return await self._once(method, path, body, version)
            except ProvisionerBusyError:
                if self.clock() + AGAIN_S > until:
                    raise
            await self.sleep(AGAIN_S)

    async def list(self, path: str, key: str) -> list[dict[str, Any]]:
        """All entries of a collection, page by page (Ironic gives at most 1,000 at once)."""
        found: list[dict[str, Any]] = []
        following = path
        while following:
            body = await self.get(following)
            page = body.get(key) if isinstance(body, dict) else None
            if not isinstance(page, list):
                raise ProvisionerGarbledError(f"Ironic: expected a list of {key} at {path}, found none")
            found += [one for one in page if isinstance(one, dict)]
            onward = body.get("next")
            at = onward.find("/v1/") if isinstance(onward, str) else -1
            following = onward[at:] if at >= 0 and page else ""
        return found

    async def close(self) -> None:
        """Close connections."""
        await self._session.close()

    async def _once(self, method: str, path: str, body: Any, version: Version | None) -> Any:
        write = method != "GET"
        asked = f"{method} {path.partition('?')[0]}"
        headers = {HEADER: written(version)} if version else {}
        async with self._gate:
            self.requests += 1
            try:
                async with self._session.request(
                    method, self.settings.url + path, json=body, headers=headers, allow_redirects=False
                ) as answer:
                    status, raw = answer.status, await answer.content.read(LARGEST + 1)
                    while not answer.content.at_eof() and len(raw) <= LARGEST:
                        raw += await answer.content.read(LARGEST + 1)
            except (aiohttp.ClientError, TimeoutError, OSError) as exc:
                raise self._lost(exc, asked, write=write) from None
        if status >= 300:
            raise error_of(status, self.clean(told(raw)), asked, write=write)
        return self._parsed(raw, asked, write=write)

    def _lost(self, exc: BaseException, asked: str, *, write: bool) -> ProvisionerError:
        """No answer, or half of one."""
        url = self.settings.url
        if isinstance(exc, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
            return ProvisionerUnreachableError(
                f"{url}: its certificate is not trusted", hint="name its authorities as ironic.ca"
            )
        if isinstance(exc, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return ProvisionerUnreachableError(f"{url}: no connection: {_said(exc)}")
        if write:
            return ProvisionerOutcomeUnknownError(f"{url}: no answer to {asked}: {_said(exc)}")
        if isinstance(exc, TimeoutError):
            return ProvisionerDeadlineError(f"{url}: no answer to {asked} in {self.settings.answer_s:g} s")
        return ProvisionerUnreachableError(f"{url}: {asked}: {_said(exc)}")

    def _parsed(self, raw: bytes, asked: str, *, write: bool) -> Any:
        if not raw.strip():
            return None
        kind = ProvisionerOutcomeUnknownError if write else ProvisionerGarbledError
        if len(raw) > LARGEST:
            raise kind(f"Ironic: {asked}: more than {LARGEST >> 20} MiB")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            start = self.clean(raw[:40].decode("utf-8", "replace"))
            raise kind(f"Ironic: {asked}: expected JSON, found {start!r}") from None


def _headers(settings: IronicSettings) -> dict[str, str]:
    headers = {"Accept": "application/json", "User-Agent": "fabricctl"}
    if settings.user and settings.password:
        basic = base64.b64encode(f"{settings.user}:{settings.password.reveal()}".encode()).decode()
        headers["Authorization"] = f"Basic {basic}"
    return headers


def _said(exc: BaseException) -> str:
    inner = getattr(exc, "os_error", None)
    text = str(getattr(inner, "strerror", None) or exc)
    return text or type(exc).__name__
