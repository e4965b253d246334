"""The narrow edge to MAAS: one session, bounded requests, the API key on each; collisions are sent again."""

from __future__ import annotations

import asyncio
import random
import secrets
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import orjson
from yarl import URL

from provision.bmc.secret import Secret
from provision.maas.lost import unreadable
from provision.maas.retry import Patience, Sleep, disturbance, refusal
from provision.maas.settings import MaasSettings, api_key, authorization
from provision.maas.wire import Answer, Ask, address, encode_form, masked

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes. A commissioned machine with 9 disks has 32 KB, so 511 of them have 16 MB."""
CONNECT_S = 10.0
"""Seconds until a connection must stand, TLS included."""
KEEP_ALIVE_S = 15.0
"""Seconds an idle connection is kept: less than MAAS or a proxy keeps it, so that no write goes into a closing one."""


class MaasTransport:
    """Requests to one MAAS. Must be made on the event loop it is used on.

    :param sleep: waits between two tries; :param dice: a number from 0 to 1; :param clock: seconds since 1970.
    :raises ProvisionerLoginError: the key is none; :raises OSError: the file of authorities cannot be read.
    """

    def __init__(
        self,
        settings: MaasSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        dice: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
        nonce: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        self.requests = 0
        self._settings = settings
        self._key = api_key(settings.key)
        self._clock, self._nonce = clock, nonce
        self._patience = Patience(settings.conflicts, sleep, dice)
        context = ssl.create_default_context(cafile=settings.ca_file or None)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=settings.requests, keepalive_timeout=KEEP_ALIVE_S, ssl=context, ttl_dns_cache=300
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept": "application/json", "User-Agent": "fabricctl"},
            trust_env=False,
        )
        # aiohttp sends a GET or DELETE a second time when its connection breaks; that is decided here
        self._session._retry_connection = False
        # time spent waiting for a free connection is not time MAAS takes to answer
        self._free = asyncio.Semaphore(settings.requests)

    async def send(self, ask: Ask) -> Answer:
        """Send a request; see :class:`provision.maas.wire.Sender`."""
        return await self._patience.with_(lambda: self._once(ask))

    async def _once(self, ask: Ask) -> Answer:
        deadline_s = ask.deadline_s or self._settings.answer_s
        async with self._free:
            self.requests += 1
            try:
                status, headers, raw = await self._exchange(ask, deadline_s)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as exc:
                raise disturbance(ask.asked, exc, deadline_s) from exc
        if 200 <= status < 300:
            return Answer(status, headers, self._parsed(ask, headers, raw))
        text = "" if ask.quiet else self._masked(ask, raw.decode("utf-8", "replace"))
        raise refusal(ask.asked, status, headers, text)

    async def _exchange(self, ask: Ask, deadline_s: float) -> tuple[int, dict[str, str], bytes]:
        body = encode_form(ask.form) if ask.asked.write else None
        headers = {"Authorization": authorization(self._key, self._clock, self._nonce)}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        async with self._session.request(
            ask.method,
            URL(self._settings.api + address(ask), encoded=True),
            data=body,
            headers=headers,
            skip_auto_headers=("Content-Type",),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=deadline_s, sock_connect=min(CONNECT_S, deadline_s)),
        ) as answer:
            raw = bytearray()
            async for chunk in answer.content.iter_any():
                raw += chunk
                if len(raw) > LARGEST_BODY:
                    raw.clear()
                    answer.close()
                    raise unreadable(ask.asked, f"an answer of more than {LARGEST_BODY / 2**20:g} MiB")
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, bytes(raw)

    def _parsed(self, ask: Ask, headers: Mapping[str, str], raw: bytes) -> Any:
        if "json" not in headers.get("content-type", ""):
            return raw.decode("utf-8", "replace")
        try:
            return orjson.loads(raw) if raw else ""
        except ValueError:
            begin = "" if ask.quiet else self._masked(ask, raw[:40].decode("utf-8", "replace"))
            shown = f" that begin with {begin!r}" if begin else ""
            raise unreadable(ask.asked, f"expected JSON, found {len(raw):,} bytes{shown}") from None

    def _masked(self, ask: Ask, text: str) -> str:
        return masked(text, (*ask.hidden, self._key.secret, Secret(self._key.token)))

    async def close(self) -> None:
        """Close its connections."""
        await self._session.close()
        await asyncio.sleep(0)
